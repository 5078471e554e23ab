//! A server that reads requests and plays answers byte for byte, with TLS or without.
//!
//! An answer that ends in `CLOSE` closes its connection; where there is no more answer, the
//! connection is held without a word.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

pub(crate) struct Server {
    address: SocketAddr,
    state: Arc<State>,
    _running: JoinSet<()>,
}

struct State {
    answers: Mutex<VecDeque<String>>,
    asked: Mutex<Vec<String>>,
    connections: Mutex<usize>,
    came: Semaphore,
    left: Semaphore,
}

impl Server {
    pub(crate) async fn start(answers: &[&str]) -> Self {
        Self::with(answers, None).await
    }

    /// With TLS, where there is an acceptor.
    pub(crate) async fn with(answers: &[&str], tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            answers: Mutex::new(answers.iter().map(ToString::to_string).collect()),
            asked: Mutex::default(),
            connections: Mutex::default(),
            came: Semaphore::new(0),
            left: Semaphore::new(0),
        });
        let mut running = JoinSet::new();
        running.spawn(accept(listener, tls, Arc::clone(&state)));
        Self {
            address,
            state,
            _running: running,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Every request so far, head and body.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.state.asked.lock().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        *self.state.connections.lock()
    }

    /// Waits for a request.
    pub(crate) async fn was_asked(&self) {
        self.state.came.acquire().await.unwrap().forget();
    }

    /// Waits until a client closes its connection.
    pub(crate) async fn was_left(&self) {
        self.state.left.acquire().await.unwrap().forget();
    }
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, state: Arc<State>) {
    let mut running = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        *state.connections.lock() += 1;
        let (tls, state) = (tls.clone(), Arc::clone(&state));
        running.spawn(async move {
            match tls {
                None => serve(stream, &state).await,
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        serve(stream, &state).await;
                    }
                }
            }
        });
    }
}

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, state: &State) {
    while let Some(request) = read(&mut stream).await {
        state.asked.lock().push(request);
        state.came.add_permits(1);
        let next = state.answers.lock().pop_front();
        let Some(answer) = next else { continue };
        let bytes = answer.trim_end_matches("CLOSE");
        stream.write_all(bytes.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        if bytes.len() < answer.len() {
            // A client that has left needs no farewell.
            drop(stream.shutdown().await);
            return;
        }
    }
    state.left.add_permits(1);
}

/// The next request; `None` when the client has closed.
async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let (mut text, mut chunk) = (String::new(), [0; 4096]);
    loop {
        let length = stream
            .read(&mut chunk)
            .await
            .ok()
            .filter(|length| *length > 0)?;
        text.push_str(&String::from_utf8_lossy(&chunk[..length]));
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let field = head
                .lines()
                .find_map(|line| line.strip_prefix("Content-Length: "));
            if body.len() >= field.map_or(0, |field| field.parse().unwrap()) {
                return Some(text);
            }
        }
    }
}
