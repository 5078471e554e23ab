//! Keeps a served certificate as new as its files, as long as the server runs.

use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tracing::{info, warn};

use super::Certificate;
use super::pair::Content;
use crate::metrics::{Metrics, Reload};

/// Time between two looks at the files: a renewed certificate is in use long before the old
/// one expires, and two small reads a half-minute cost nothing.
const LOOK_EACH: Duration = Duration::from_secs(30);

/// Looks at the files for ever.
pub(crate) async fn keep_new(mut certificate: Certificate, metrics: Metrics) {
    metrics.set_not_after(certificate.not_after());
    let mut last_fault = None;
    loop {
        sleep(LOOK_EACH).await;
        let files = certificate.files.clone();
        // A network file system may hold a read up for long.
        let Ok(read) = spawn_blocking(move || Content::read(&files)).await else {
            continue;
        };
        match certificate.take(read) {
            Ok(false) => {}
            Ok(true) => {
                metrics.count_reload(Reload::Ok);
                metrics.set_not_after(certificate.not_after());
                info!("certificate is renewed");
                last_fault = None;
            }
            Err(error) => {
                metrics.count_reload(Reload::Failed);
                let fault = words(&error);
                // One that lasts is said once.
                if last_fault.as_ref() != Some(&fault) {
                    warn!(fault, "new certificate is not usable, the old one is kept");
                    last_fault = Some(fault);
                }
            }
        }
    }
}

fn words(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}
