//! The paths of the server.

use crate::api::{Head, Kind};
use crate::engine::{End, Engine, Event};
use crate::error::ApiError;
use crate::options::Options;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use futures_util::StreamExt;
use futures_util::stream;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;
use tokio::sync::mpsc::UnboundedReceiver;

/// The state that the paths share.
struct App {
    engine: Arc<Engine>,
    created: u64,
    next_number: AtomicU64,
}

type Shared = State<Arc<App>>;

/// Serves an engine until `stop` is ready, and finishes the requests in flight.
///
/// # Errors
/// Returns an error if the listener fails.
pub async fn serve(
    listener: TcpListener,
    engine: Arc<Engine>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let app = Arc::new(App {
        engine,
        created: now(),
        next_number: AtomicU64::new(0),
    });
    let router = Router::new()
        .route("/v1/completions", post(completions))
        .route("/v1/chat/completions", post(chat))
        .route("/v1/models", get(models))
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .fallback(|| async { ApiError::unknown_path() })
        .method_not_allowed_fallback(|| async { ApiError::unknown_method() })
        .with_state(app);
    // Otherwise the end of a stream waits for the client's acknowledgement.
    let listener = listener.tap_io(|connection| _ = connection.set_nodelay(true));
    axum::serve(listener, router)
        .with_graceful_shutdown(stop)
        .await
}

async fn completions(State(app): Shared, body: Bytes) -> Response {
    app.counted(
        "/v1/completions",
        app.generate(Kind::Completion, &body).await,
    )
}

async fn chat(State(app): Shared, body: Bytes) -> Response {
    app.counted(
        "/v1/chat/completions",
        app.generate(Kind::Chat, &body).await,
    )
}

async fn models(State(app): Shared) -> Response {
    let model = json!({
        "id": app.engine.model.name,
        "object": "model",
        "created": app.created,
        "owned_by": "ramie",
    });
    let answer = json(&json!({"object": "list", "data": [model]}));
    app.counted("/v1/models", Ok(answer))
}

async fn health(State(app): Shared) -> Response {
    let answer = match app.engine.is_running() {
        true => Ok(json(&json!({"status": "ok"}))),
        false => Err(ApiError::stopped()),
    };
    app.counted("/health", answer)
}

async fn metrics(State(app): Shared) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, app.engine.metrics.render()).into_response()
}

fn json(value: &Value) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, value.to_string()).into_response()
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| time.as_secs())
}

impl App {
    /// Counts an answer in the metrics.
    fn counted(&self, path: &'static str, answer: Result<Response, ApiError>) -> Response {
        let status = answer
            .as_ref()
            .map_or_else(ApiError::status, |_| StatusCode::OK);
        self.engine.metrics.answered(path, status.as_u16());
        answer.into_response()
    }

    async fn generate(&self, kind: Kind, body: &[u8]) -> Result<Response, ApiError> {
        let (model, limits) = (&self.engine.model, &self.engine.limits);
        let options = match kind {
            Kind::Completion => Options::completion(body, model, limits)?,
            Kind::Chat => Options::chat(body, model, limits)?,
        };
        let head = Head {
            kind,
            number: self.next_number.fetch_add(1, Ordering::Relaxed),
            created: now(),
            model: model.name.clone(),
            prompt_tokens: options.prompt.len(),
        };
        let (streams, include_usage) = (options.stream, options.include_usage);
        let answer = self.engine.submit(options)?;
        match streams {
            true => Ok(streamed(head, answer, include_usage)),
            false => whole(&head, answer).await,
        }
    }
}

/// Waits for the whole answer. If the client goes away, the future is dropped, and the answer ends.
async fn whole(head: &Head, mut answer: UnboundedReceiver<Event>) -> Result<Response, ApiError> {
    let mut text = String::new();
    loop {
        match answer.recv().await {
            Some(Event::Text(part)) => text += &part,
            Some(Event::End(end)) => return Ok(json(&head.whole(&text, end))),
            None => return Err(ApiError::stopped()),
        }
    }
}

/// Streams an answer as server-sent events.
fn streamed(head: Head, answer: UnboundedReceiver<Event>, include_usage: bool) -> Response {
    let first: String = head.first().iter().map(event).collect();
    let last = move |head: &Head, end: End| {
        let parts: String = head.last(end, include_usage).iter().map(event).collect();
        parts + "data: [DONE]\n\n"
    };
    let rest = stream::unfold(Some(answer), move |answer| {
        let head = head.clone();
        async move {
            let mut answer = answer?;
            match answer.recv().await {
                Some(Event::Text(text)) => Some((event(&head.text(&text)), Some(answer))),
                Some(Event::End(end)) => Some((last(&head, end), None)),
                None => Some((event(&ApiError::stopped().body()), None)),
            }
        }
    });
    let parts = stream::iter(Some(first).filter(|first| !first.is_empty())).chain(rest);
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    let body = Body::from_stream(parts.map(Ok::<String, Infallible>));
    (kind, body).into_response()
}

/// Returns a server-sent event. JSON has no line breaks.
fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}
