//! The JSON of answers.

use crate::engine::End;
use serde_json::{Value, json};

/// The two kinds of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Completion,
    Chat,
}

/// The fields that all parts of an answer contain.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    pub(crate) number: u64,
    pub(crate) created: u64,
    pub(crate) model: String,
    pub(crate) prompt_tokens: usize,
}

impl Head {
    fn object(&self, object: &str, choices: Value) -> Value {
        let prefix = match self.kind {
            Kind::Completion => "cmpl",
            Kind::Chat => "chatcmpl",
        };
        json!({
            "id": format!("{prefix}-{}", self.number),
            "object": object,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        })
    }

    fn usage(&self, end: End) -> Value {
        json!({
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": end.generated,
            "total_tokens": self.prompt_tokens + end.generated,
        })
    }

    /// The answer as a whole.
    pub(crate) fn whole(&self, text: &str, end: End) -> Value {
        let (object, mut choice) = match self.kind {
            Kind::Completion => ("text_completion", json!({"text": text})),
            Kind::Chat => {
                let message = json!({"role": "assistant", "content": text});
                ("chat.completion", json!({"message": message}))
            }
        };
        choice["index"] = 0.into();
        choice["logprobs"] = Value::Null;
        choice["finish_reason"] = end.reason.into();
        let mut answer = self.object(object, json!([choice]));
        answer["usage"] = self.usage(end);
        answer
    }

    /// A part of a streamed answer: the beginning without a text, or the end with a reason.
    fn part(&self, text: Option<&str>, reason: Option<&str>) -> Value {
        let (object, mut choice) = match self.kind {
            Kind::Completion => ("text_completion", json!({"text": text.unwrap_or_default()})),
            Kind::Chat => {
                let delta = match (text, reason) {
                    (Some(text), _) => json!({"content": text}),
                    (None, None) => json!({"role": "assistant", "content": ""}),
                    (None, Some(_)) => json!({}),
                };
                ("chat.completion.chunk", json!({"delta": delta}))
            }
        };
        choice["index"] = 0.into();
        choice["logprobs"] = Value::Null;
        choice["finish_reason"] = reason.into();
        self.object(object, json!([choice]))
    }

    /// The parts before the text.
    pub(crate) fn first(&self) -> Option<Value> {
        (self.kind == Kind::Chat).then(|| self.part(None, None))
    }

    /// A part of the text.
    pub(crate) fn text(&self, text: &str) -> Value {
        self.part(Some(text), None)
    }

    /// The parts after the text.
    pub(crate) fn last(&self, end: End, include_usage: bool) -> Vec<Value> {
        let mut parts = vec![self.part(None, Some(end.reason))];
        if include_usage {
            let object = parts[0]["object"].as_str().unwrap_or_default();
            let mut usage = self.object(object, json!([]));
            usage["usage"] = self.usage(end);
            parts.push(usage);
        }
        parts
    }
}
