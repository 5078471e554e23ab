//! HTTP in, HTTP out: finds what a request is about, lets faults strike, serves it, counts it.
//!
//! Each verb has a file of its own below; they read the request, call the store, and write the answer.

mod answer;
mod apply;
mod discovery;
mod list;
mod openapi;
mod path;
mod post;
mod query;
mod remove;
mod request;
mod review;
mod scale;
mod write;

use std::time::Duration;

use axum::body::Body;
use http::{Request, Response};
use tokio_util::sync::CancellationToken;

use crate::{
    faults::{Fault, Faults, Strike},
    resources::Subresource,
    stats::Stats,
    status::Status,
    store::Store,
    verb::Verb,
};
use path::{Place, Route};
use request::Call;

/// What every request is served with.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) store: Store,
    pub(crate) faults: Faults,
    pub(crate) stats: Stats,
    pub(crate) bookmark_period: Duration,
    /// Ends watches and hanging requests.
    pub(crate) stop: CancellationToken,
}

/// The request shall get no answer: its connection is to be closed.
#[derive(Debug, thiserror::Error)]
#[error("the answer was dropped by a fault")]
pub(crate) struct Dropped;

/// Serves a request.
pub(crate) async fn serve(app: &App, request: Request<Body>) -> Result<Response<Body>, Dropped> {
    match path::parse(request.uri().path()) {
        Ok(Route::Text(text)) => Ok(answer::text(text)),
        Ok(Route::Document(document)) => Ok(answer::json(200, &document)),
        Ok(Route::Bytes(kind, bytes)) => Ok(answer::bytes(kind, bytes)),
        Ok(Route::Review(review)) => {
            let answered = review.answer(request).await;
            Ok(answered.unwrap_or_else(|status| answer::status(&status)))
        }
        Ok(Route::Place(place)) => serve_place(app, place, request).await,
        Err(status) => Ok(answer::status(&status)),
    }
}

async fn serve_place(
    app: &App,
    place: Place,
    request: Request<Body>,
) -> Result<Response<Body>, Dropped> {
    let verb = match request::verb(&request, &place) {
        Ok(verb) => verb,
        Err(status) => return Ok(answer::status(&status)),
    };
    let label = place.label();
    let user_agent = request::header(&request, http::header::USER_AGENT).to_owned();
    let strike = app.faults.strike(verb, &label, place.name.as_deref());
    let loses = matches!(
        &strike,
        Some(Strike {
            fault: Fault::LoseAnswer,
            ..
        })
    );
    let answered = match strike {
        Some(strike) => suffer(app, strike).await,
        None => Ok(()),
    };
    let answered = match answered {
        Ok(()) => dispatch(app, verb, place, request).await,
        Err(status) => Err(status),
    };
    let response = answered.unwrap_or_else(|status| answer::status(&status));
    app.stats
        .record(verb, &label, response.status().as_u16(), &user_agent);
    if loses { Err(Dropped) } else { Ok(response) }
}

/// Does what a fault does before a request is served.
async fn suffer(app: &App, strike: Strike) -> Result<(), Status> {
    match strike.fault {
        Fault::Answer(status) => return Err(status),
        Fault::LoseAnswer => {}
        Fault::Hang => tokio::select! {
            () = strike.release.cancelled() => {}
            () = app.stop.cancelled() => {}
        },
        Fault::Delay(time) => tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = app.stop.cancelled() => {}
        },
    }
    Ok(())
}

async fn dispatch(
    app: &App,
    verb: Verb,
    place: Place,
    request: Request<Body>,
) -> Result<Response<Body>, Status> {
    let call = Call::read(place, request).await?;
    if call.place.subresource == Some(Subresource::Scale) {
        return match verb {
            Verb::Get => scale::get(app, &call),
            _ => scale::write(app, &call, verb),
        };
    }
    match verb {
        Verb::Get => list::get(app, &call),
        Verb::List => list::list(app, &call),
        Verb::Watch => list::watch(app, &call),
        Verb::Create => post::post(app, &call),
        Verb::Update => write::update(app, &call),
        Verb::Patch => write::patch(app, &call),
        Verb::Delete => remove::delete(app, &call),
        Verb::DeleteCollection => remove::delete_collection(app, &call),
    }
}
