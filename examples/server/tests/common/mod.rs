//! A running server and its clients.

use serde_json::{Value, json};
use server::{Engine, Limits, Model, serve};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use ureq::Agent;
use ureq::Body;
use ureq::http::Response;

/// A model with random weights, a tokenizer and a chat template.
pub const TINY: &str = "../../tests/golden/data/gguf/chat.gguf";

/// A server in this process.
pub struct Server {
    pub url: String,
    engine: Arc<Engine>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start(path: &Path, limits: Limits) -> Server {
        let model = Model::load(path).expect("a model");
        let engine = Arc::new(Engine::start(model, limits).expect("an engine"));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .expect("threads");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"));
        let listener = listener.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let served = engine.clone();
        let thread = thread::spawn(move || {
            let stopped = async { _ = stopped.await };
            let outcome = runtime.block_on(serve(listener, served, stopped));
            outcome.expect("the server ends well");
        });
        Server {
            url,
            engine,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Sends a request. Returns the status and the JSON of the answer.
    pub fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let mut response = send(&agent(), &format!("{}{path}", self.url), body);
        let status = response.status().as_u16();
        (status, response.body_mut().read_json().expect("JSON"))
    }

    pub fn get(&self, path: &str) -> (u16, String) {
        let response = agent().get(format!("{}{path}", self.url)).call();
        let mut response = response.expect("an answer");
        let text = response.body_mut().read_to_string().expect("text");
        (response.status().as_u16(), text)
    }

    /// The value of a metric.
    pub fn metric(&self, name: &str) -> f64 {
        let (_, text) = self.get("/metrics");
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(&format!("ramie_{name} ")));
        let line = line.unwrap_or_else(|| panic!("{name} in\n{text}"));
        line.parse().expect("a number")
    }

    /// Asks the server to stop, as Ctrl-C does.
    pub fn interrupt(&mut self) {
        _ = self.stop.take().expect("it runs").send(());
    }

    /// Stops the server and waits for its end.
    pub fn stop(mut self) {
        if self.stop.is_some() {
            self.interrupt();
        }
        let thread = self.thread.take().expect("it runs");
        thread.join().expect("the server does not panic");
        self.engine.stop().expect("the model does not panic");
    }
}

/// A client, with connections of its own.
pub fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into()
}

pub fn send(agent: &Agent, url: &str, body: &Value) -> Response<Body> {
    agent.post(url).send_json(body).expect("an answer")
}

/// The data of server-sent events.
pub fn events(response: Response<Body>) -> impl Iterator<Item = String> {
    let kind = response.headers().get("content-type").expect("a type");
    assert_eq!(kind, "text/event-stream");
    let lines = BufReader::new(response.into_body().into_reader()).lines();
    let lines = lines
        .map(|line| line.expect("text"))
        .filter(|line| !line.is_empty());
    lines.map(|line| line.strip_prefix("data: ").expect("data").to_owned())
}

/// The text of a streamed answer, and the reason for its end.
pub fn streamed(response: Response<Body>) -> (String, String) {
    let (mut text, mut reason, mut is_done) = (String::new(), String::new(), false);
    for event in events(response) {
        assert!(!is_done, "{event} after the end");
        if event == "[DONE]" {
            is_done = true;
            continue;
        }
        let event: Value = serde_json::from_str(&event).expect("JSON");
        let choice = &event["choices"][0];
        let part = choice["text"]
            .as_str()
            .or(choice["delta"]["content"].as_str());
        text += part.unwrap_or_default();
        reason += choice["finish_reason"].as_str().unwrap_or_default();
    }
    assert!(is_done, "the stream ended after {text:?}");
    (text, reason)
}

/// The parameters of a completion by the most likely tokens.
pub fn greedy(prompt: &str, max_tokens: usize) -> Value {
    json!({"prompt": prompt, "max_tokens": max_tokens, "temperature": 0})
}
