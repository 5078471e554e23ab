//! An HTTP extender that does what the pod says, and keeps every request.
//!
//! What it answers stands in annotations of the pod, so that two schedulers are told the same
//! of the same pod. For each verb it can be told to hang, to close, to fail or to lie.

mod answers;
mod http;

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use plimsoll_tests::controlplane::Api;
use serde_json::Value;

use self::http::Request;

/// An extender that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Extender {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// One request that came.
#[derive(Debug, Clone)]
struct Asked {
    /// The whole path, such as `/names/filter`.
    path: String,
    /// The body.
    body: Value,
}

/// What becomes of a request.
#[derive(Debug, Clone, Default)]
pub(crate) enum Conduct {
    /// It is answered as the pod says.
    #[default]
    Honest,
    /// It is never answered.
    Hang,
    /// Its connection is closed.
    Close,
    /// It fails with this status.
    Fail(u16),
    /// It is answered by this body.
    Say(String),
}

#[derive(Debug, Default)]
struct Shared {
    conduct: Mutex<BTreeMap<String, Conduct>>,
    asked: Mutex<Vec<Asked>>,
    /// By which it binds.
    api: Mutex<Option<Api>>,
}

// === impl Extender ===

impl Extender {
    /// An extender on a port of its own.
    pub(crate) fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let given = Arc::clone(&shared);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                // Only the extender's owner holds the other half, and connections.
                if Arc::strong_count(&given) == 1 {
                    return;
                }
                let given = Arc::clone(&given);
                thread::spawn(move || given.serve(connection));
            }
        });
        Ok(Self { address, shared })
    }

    /// What stands before the paths of its verbs.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Lets it bind; without this it only says that it has.
    pub(crate) fn bind_by(&self, api: &Api) {
        *self.shared.api.lock() = Some(api.clone());
    }

    /// From now on requests of this verb are treated so.
    pub(crate) fn conduct(&self, verb: &str, conduct: Conduct) {
        self.shared.conduct.lock().insert(verb.to_owned(), conduct);
    }

    /// The first request on this path about this pod.
    pub(crate) fn first(&self, path: &str, pod: &str) -> Option<Value> {
        let asked = self.shared.asked.lock();
        let mut bodies = asked.iter().filter(|asked| asked.path == path);
        bodies
            .find(|asked| asked.pod() == pod)
            .map(|asked| asked.body.clone())
    }

    /// How often it was asked on this path about this pod.
    pub(crate) fn count(&self, path: &str, pod: &str) -> usize {
        let asked = self.shared.asked.lock();
        let found = asked
            .iter()
            .filter(|asked| asked.path == path && asked.pod() == pod);
        found.count()
    }
}

impl Drop for Extender {
    fn drop(&mut self) {
        self.shared = Arc::default();
        // Wakes the listener, which then sees that it is alone.
        drop(TcpStream::connect(self.address));
    }
}

// === impl Asked ===

impl Asked {
    /// The name of the pod that it is about.
    fn pod(&self) -> &str {
        let name = if self.path.ends_with("/bind") {
            &self.body["PodName"]
        } else {
            &self.body["Pod"]["metadata"]["name"]
        };
        name.as_str().unwrap_or_default()
    }
}

// === impl Shared ===

impl Shared {
    fn serve(&self, connection: TcpStream) {
        let mut connection = http::Connection::new(connection);
        while let Some(request) = connection.next() {
            let verb = request.path.rsplit('/').next().unwrap_or_default();
            let conduct = self.conduct.lock().get(verb).cloned().unwrap_or_default();
            self.asked.lock().push(Asked {
                path: request.path.clone(),
                body: request.body.clone(),
            });
            let said = match conduct {
                Conduct::Honest => connection.say(200, &self.answer(verb, &request)),
                Conduct::Hang => {
                    thread::sleep(Duration::from_mins(2));
                    return;
                }
                Conduct::Close => return,
                Conduct::Fail(status) => connection.say(status, "{}"),
                Conduct::Say(body) => connection.say(200, &body),
            };
            if said.is_err() {
                return;
            }
        }
    }

    fn answer(&self, verb: &str, request: &Request) -> String {
        let body = &request.body;
        let answer = match verb {
            "filter" => answers::filter(body),
            "prioritize" => answers::prioritize(body),
            "preempt" => answers::preempt(body),
            _ => answers::bind(self.api.lock().as_ref(), body),
        };
        answer.to_string()
    }
}
