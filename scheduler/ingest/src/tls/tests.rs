//! Certificates from files that are as they should be, and from all others.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair, date_time_ymd};

use super::*;

/// Since the Unix epoch.
const SECOND_OF_JANUARY_2040: Duration = Duration::from_hours(613_632);

/// A folder of its own, gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plimsoll-tls-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn files(&self) -> Files {
        Files {
            cert: self.0.join("tls.crt"),
            key: self.0.join("tls.key"),
        }
    }

    fn write(&self, cert: &str, key: &str) {
        fs::write(self.files().cert, cert).unwrap();
        fs::write(self.files().key, key).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Certificate and key of a new scheduler, PEM.
fn pair() -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["plimsoll".to_owned()]).unwrap();
    params.not_after = date_time_ymd(2040, 1, 2);
    let cert = params.self_signed(&key).unwrap();
    (cert.pem(), key.serialize_pem())
}

fn said(error: &Error, folder: &Path) -> String {
    error
        .to_string()
        .replace(&folder.display().to_string(), "DIR")
}

#[test]
fn a_pair_is_served_over_http_2_only_and_its_end_is_known() {
    let folder = Folder::new("pair");
    let (cert, key) = pair();
    folder.write(&cert, &key);
    let certificate = Certificate::load(folder.files()).unwrap();
    assert_eq!(certificate.not_after(), Some(SECOND_OF_JANUARY_2040));
    assert_eq!(certificate.configs().borrow().alpn_protocols, [b"h2"]);
}

#[test]
fn what_cannot_be_served_is_refused_in_words_that_name_the_file() {
    let folder = Folder::new("words");
    let missing = Certificate::load(folder.files()).unwrap_err();
    assert_eq!(said(&missing, &folder.0), "cannot read DIR/tls.crt");

    let ((cert, key), (_, other)) = (pair(), pair());
    let broken = cert.replace("-----END CERTIFICATE-----", "");
    for (cert, key, words) in [
        ("", &*key, "there is no certificate in DIR/tls.crt"),
        (&*key, &*key, "there is no certificate in DIR/tls.crt"),
        (&*cert, "", "there is no private key in DIR/tls.key"),
        (&*cert, &*cert, "there is no private key in DIR/tls.key"),
        (&*broken, &*key, "DIR/tls.crt is not a PEM file"),
        (
            &*cert,
            &*other,
            "the key in DIR/tls.key does not belong to the certificate in DIR/tls.crt",
        ),
    ] {
        folder.write(cert, key);
        let error = Certificate::load(folder.files()).unwrap_err();
        assert_eq!(said(&error, &folder.0), words);
    }
}

#[test]
fn a_renewed_pair_is_taken_and_a_bad_one_leaves_the_old_in_use() {
    let folder = Folder::new("renew");
    let ((cert, key), (new_cert, new_key)) = (pair(), pair());
    folder.write(&cert, &key);
    let mut certificate = Certificate::load(folder.files()).unwrap();
    let served = certificate.configs();
    let first = Arc::clone(&served.borrow());
    let look = |certificate: &mut Certificate| certificate.take(Content::read(&folder.files()));

    assert!(!look(&mut certificate).unwrap(), "nothing is new");

    // Half of a renewal: the certificate is new, the key not yet.
    folder.write(&new_cert, &key);
    assert!(matches!(
        look(&mut certificate),
        Err(Error::Mismatch { .. })
    ));
    assert!(Arc::ptr_eq(&first, &served.borrow()));

    fs::remove_file(folder.files().key).unwrap();
    assert!(matches!(look(&mut certificate), Err(Error::Read { .. })));
    assert!(Arc::ptr_eq(&first, &served.borrow()));

    folder.write(&new_cert, &new_key);
    assert!(look(&mut certificate).unwrap());
    assert!(!Arc::ptr_eq(&first, &served.borrow()));
}
