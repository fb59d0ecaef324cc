//! The parameters of requests.

use crate::engine::{Limits, Model};
use crate::error::ApiError;
use crate::template::Message;
use ramie::models::Sampling;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::time::{SystemTime, UNIX_EPOCH};

type Result<T> = std::result::Result<T, ApiError>;

/// Number of new tokens of a completion without `max_tokens`, as OpenAI's.
const COMPLETION_TOKENS: usize = 16;

/// Maximum number of stop strings, as OpenAI's.
const STOPS: usize = 4;

/// The parameters of a request.
pub(crate) struct Options {
    pub(crate) prompt: Vec<i32>,
    pub(crate) max_tokens: usize,
    pub(crate) sampling: Sampling,
    pub(crate) seed: i64,
    pub(crate) stops: Vec<String>,
    /// Whether the text is streamed, and whether the number of tokens follows.
    pub(crate) stream: bool,
    pub(crate) include_usage: bool,
}

impl Options {
    /// Reads the body of a completion.
    pub(crate) fn completion(body: &[u8], model: &Model, limits: &Limits) -> Result<Options> {
        let mut fields = Fields::parse(body)?;
        let text: String = fields.need("prompt", "a string")?;
        let max_tokens = fields.max_tokens("max_tokens")?;
        let prompt = model.tokenizer.encode(&text);
        fields.finish(
            prompt,
            max_tokens.or(Some(COMPLETION_TOKENS)),
            model,
            limits,
        )
    }

    /// Reads the body of a chat.
    pub(crate) fn chat(body: &[u8], model: &Model, limits: &Limits) -> Result<Options> {
        let mut fields = Fields::parse(body)?;
        let expected = "a list of one or more messages";
        let messages: Vec<Value> = fields.need("messages", expected)?;
        if messages.is_empty() {
            return Err(wrong("messages", &messages.into(), expected));
        }
        let messages: Vec<Message> = messages.into_iter().map(message).collect::<Result<_>>()?;
        // The newer name takes precedence.
        let older = fields.max_tokens("max_tokens")?;
        let max_tokens = fields.max_tokens("max_completion_tokens")?.or(older);
        let text = model.template.render(&messages).map_err(|e| {
            let message = format!(
                "The chat template refuses the messages: {e}. Change their roles or their order."
            );
            ApiError::invalid("messages", message)
        })?;
        fields.finish(model.tokenizer.encode(&text), max_tokens, model, limits)
    }
}

/// Reads a message of a chat.
fn message(value: Value) -> Result<Message> {
    let wrong = || {
        let message = format!(
            "A message is {value}. Use {{\"role\": \"user\", \"content\": \"...\"}} with a role of \
             system, user or assistant."
        );
        ApiError::invalid("messages", message)
    };
    let (role, content) = (value["role"].as_str(), value["content"].as_str());
    let role = ["system", "user", "assistant"]
        .into_iter()
        .find(|known| Some(*known) == role);
    match (role, content) {
        (Some(role), Some(content)) => Ok(Message {
            role,
            content: content.to_owned(),
        }),
        _ => Err(wrong()),
    }
}

/// The fields of a request that are not read yet.
struct Fields(Map<String, Value>);

impl Fields {
    fn parse(body: &[u8]) -> Result<Fields> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => Ok(Fields(fields)),
            Ok(_) => Err(ApiError::invalid(
                "",
                "The body is not a JSON object. Send an object with the parameters.".into(),
            )),
            Err(e) => {
                let message =
                    format!("The body is not valid JSON: {e}. Send an object with the parameters.");
                Err(ApiError::invalid("", message))
            }
        }
    }

    /// Reads a field; `null` is a missing one.
    fn take<T: DeserializeOwned>(&mut self, name: &str, expected: &str) -> Result<Option<T>> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match T::deserialize(&value) {
                Ok(read) => Ok(Some(read)),
                Err(_) => Err(wrong(name, &value, expected)),
            },
        }
    }

    fn need<T: DeserializeOwned>(&mut self, name: &str, expected: &str) -> Result<T> {
        let missing = || ApiError::invalid(name, format!("`{name}` is missing. Pass {expected}."));
        self.take(name, expected)?.ok_or_else(missing)
    }

    /// Reads a field whose value must satisfy `accepts`.
    fn checked<T: DeserializeOwned + Copy + Into<Value>>(
        &mut self,
        name: &str,
        expected: &str,
        accepts: impl Fn(T) -> bool,
    ) -> Result<Option<T>> {
        match self.take(name, expected)? {
            Some(value) if !accepts(value) => Err(wrong(name, &value.into(), expected)),
            value => Ok(value),
        }
    }

    fn max_tokens(&mut self, name: &str) -> Result<Option<usize>> {
        self.checked(name, "a positive integer", |n: usize| n > 0)
    }

    fn sampling(&mut self) -> Result<Sampling> {
        let number = "a number from 0 to 2";
        let temperature = self.checked("temperature", number, |t| (0.0..=2.0).contains(&t))?;
        let top_k = self.checked("top_k", "a positive integer", |k: usize| k > 0)?;
        let top_p = "a number above 0 and at most 1";
        let top_p = self.checked("top_p", top_p, |p| p > 0.0 && p <= 1.0)?;
        let min_p = self.checked("min_p", "a number from 0 to 1", |p| {
            (0.0..=1.0).contains(&p)
        })?;
        let temperature = temperature.unwrap_or(1.0);
        // The others have no effect on the most likely token.
        if temperature == 0.0 {
            return Ok(Sampling::greedy());
        }
        let mut sampling = Sampling::greedy().temperature(temperature);
        if let Some(k) = top_k {
            sampling = sampling.top_k(k);
        }
        if let Some(p) = top_p.filter(|p| *p < 1.0) {
            sampling = sampling.top_p(p);
        }
        if let Some(p) = min_p.filter(|p| *p > 0.0) {
            sampling = sampling.min_p(p);
        }
        Ok(sampling)
    }

    fn stops(&mut self) -> Result<Vec<String>> {
        let expected = "a string, or a list of 1 to 4 strings that are not empty";
        let Some(value) = self.take::<Value>("stop", expected)? else {
            return Ok(Vec::new());
        };
        let stops: Option<Vec<String>> = match &value {
            Value::String(stop) => Some(vec![stop.clone()]),
            Value::Array(stops) => {
                let stops = stops.iter().map(|stop| stop.as_str().map(str::to_owned));
                stops.collect()
            }
            _ => None,
        };
        let fits = |stops: &Vec<String>| {
            (1..=STOPS).contains(&stops.len()) && stops.iter().all(|stop| !stop.is_empty())
        };
        stops
            .filter(fits)
            .ok_or_else(|| wrong("stop", &value, expected))
    }

    /// Reads whether the text is streamed, and whether the number of tokens follows.
    fn stream(&mut self) -> Result<(bool, bool)> {
        let stream = self.take("stream", "true or false")?.unwrap_or(false);
        let expected = "{\"include_usage\": true or false}, together with `stream`";
        let options: Option<Map<String, Value>> = self.take("stream_options", expected)?;
        let include_usage = match options {
            None => false,
            Some(options) => match options.get("include_usage") {
                Some(Value::Bool(include)) if stream && options.len() == 1 => *include,
                _ => return Err(wrong("stream_options", &options.into(), expected)),
            },
        };
        Ok((stream, include_usage))
    }

    /// Reads the parameters that completions and chats share. Fails if others are left.
    fn finish(
        mut self,
        prompt: Vec<i32>,
        max_tokens: Option<usize>,
        model: &Model,
        limits: &Limits,
    ) -> Result<Options> {
        if let Some(name) = self.take::<String>("model", "the name of the model")?
            && name != model.name
        {
            return Err(ApiError::unknown_model(&name, &model.name));
        }
        let sampling = self.sampling()?;
        let seed = self.take("seed", "an integer")?.unwrap_or_else(any_seed);
        let stops = self.stops()?;
        let (stream, include_usage) = self.stream()?;
        self.checked("n", "1", |n: usize| n == 1)?;
        for name in ["frequency_penalty", "presence_penalty"] {
            self.checked(name, "0", |penalty: f64| penalty == 0.0)?;
        }
        self.take::<String>("user", "a string")?;
        if let Some((name, _)) = self.0.iter().next() {
            let message = format!("`{name}` is not supported. Remove it from the request.");
            return Err(ApiError::invalid(name, message));
        }
        let room = limits.max_length.saturating_sub(prompt.len());
        if prompt.is_empty() || room == 0 {
            let message = format!(
                "The prompt has {} tokens, but prompts of 1 to {} tokens are supported. Change its \
                 length.",
                prompt.len(),
                limits.max_length - 1
            );
            let error = ApiError::invalid("prompt", message);
            return Err(error.with_code("context_length_exceeded"));
        }
        Ok(Options {
            prompt,
            max_tokens: max_tokens.unwrap_or(room).min(room),
            sampling,
            seed,
            stops,
            stream,
            include_usage,
        })
    }
}

fn wrong(name: &str, found: &Value, expected: &str) -> ApiError {
    ApiError::invalid(name, format!("`{name}` is {found}. Use {expected}."))
}

/// Returns a seed that differs between requests.
fn any_seed() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| time.as_nanos() as i64)
}
