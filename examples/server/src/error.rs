//! Errors as OpenAI's clients expect them.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// An error that answers a request.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    message: String,
    param: Option<String>,
    code: Option<&'static str>,
}

/// Seconds after which a client should repeat a request that found the queue full.
const RETRY_AFTER: u64 = 1;

impl ApiError {
    /// A request with a wrong value. The message says what to do.
    pub(crate) fn invalid(param: &str, message: String) -> ApiError {
        ApiError {
            status: StatusCode::BAD_REQUEST,
            message,
            param: Some(param.to_owned()).filter(|param| !param.is_empty()),
            code: None,
        }
    }

    pub(crate) fn with_code(self, code: &'static str) -> ApiError {
        ApiError {
            code: Some(code),
            ..self
        }
    }

    /// Another model than the served one.
    pub(crate) fn unknown_model(name: &str, served: &str) -> ApiError {
        let message = format!("The model `{name}` does not exist. Use `{served}`.");
        ApiError {
            status: StatusCode::NOT_FOUND,
            ..ApiError::invalid("model", message).with_code("model_not_found")
        }
    }

    pub(crate) fn unknown_path() -> ApiError {
        let message = "There is nothing at this path. Use /v1/completions, /v1/chat/completions, \
                       /v1/models, /health or /metrics."
            .to_owned();
        ApiError {
            status: StatusCode::NOT_FOUND,
            ..ApiError::invalid("", message)
        }
    }

    pub(crate) fn unknown_method() -> ApiError {
        let message = "This path has another method. Use POST for completions, and GET for others.";
        ApiError {
            status: StatusCode::METHOD_NOT_ALLOWED,
            ..ApiError::invalid("", message.to_owned())
        }
    }

    pub(crate) fn queue_is_full() -> ApiError {
        let message = "The queue of requests is full. Repeat the request later.";
        ApiError {
            status: StatusCode::SERVICE_UNAVAILABLE,
            ..ApiError::invalid("", message.to_owned()).with_code("queue_full")
        }
    }

    pub(crate) fn stopped() -> ApiError {
        let message = "The model has stopped. Read the log of the server, and start it again.";
        ApiError {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            ..ApiError::invalid("", message.to_owned())
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The body of the answer.
    pub(crate) fn body(&self) -> Value {
        let kind = match self.status.is_client_error() {
            true => "invalid_request_error",
            false => "server_error",
        };
        json!({"error": {
            "message": self.message,
            "type": kind,
            "param": self.param,
            "code": self.code,
        }})
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let json = [(header::CONTENT_TYPE, "application/json")];
        let mut response = (self.status, json, self.body().to_string()).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, RETRY_AFTER.into());
        }
        response
    }
}
