//! Accepts connections and serves each in a task of its own, which the accepting task owns.

use std::{pin::pin, sync::Arc, time::Duration};

use axum::body::Body;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::routes::{self, App};

/// How long connections may take to finish their requests at shutdown, before they are cut.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// How long to rest after a failed accept: it fails when descriptors run out, and those take time.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Accepts until the server stops, then lets the connections finish.
pub(super) async fn accept(listener: TcpListener, app: Arc<App>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = app.stop.cancelled() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, Arc::clone(&app)));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_RETRY).await;
                }
            },
        }
    }
    drop(listener);
    let finish = async { while connections.join_next().await.is_some() {} };
    if timeout(SHUTDOWN_GRACE, finish).await.is_err() {
        tracing::warn!("connections were cut at shutdown");
        connections.shutdown().await;
    }
}

async fn serve(stream: TcpStream, app: Arc<App>) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set nodelay");
    }
    let service = service_fn(|request: http::Request<Incoming>| {
        let app = Arc::clone(&app);
        async move { routes::serve(&app, request.map(Body::new)).await }
    });
    // An idle connection stays: closing it could meet a request on its way, and a client cannot know
    // whether a write that got no answer was done.
    let mut builder = http1::Builder::new();
    builder.header_read_timeout(None);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = app.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}
