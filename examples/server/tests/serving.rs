//! The server and real HTTP clients.

mod common;

use common::{Server, TINY, agent, events, greedy, send, streamed};
use serde_json::{Value, json};
use server::Limits;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

fn tiny(slots: usize, queue: usize, max_length: usize) -> Server {
    let limits = Limits {
        slots,
        queue,
        max_length,
    };
    Server::start(Path::new(TINY), limits)
}

fn text(answer: &Value) -> &str {
    let choice = &answer["choices"][0];
    let text = choice["text"].as_str();
    let text = text.or(choice["message"]["content"].as_str());
    text.unwrap_or_else(|| panic!("{answer}"))
}

/// Waits until a condition holds.
#[track_caller]
fn wait_until(mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "it takes too long"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn answers_are_those_of_openai() {
    let server = tiny(2, 8, 64);
    let (status, whole) = server.post("/v1/completions", &greedy("Hello", 10));
    assert_eq!(status, 200, "{whole}");
    assert_eq!(whole["object"], "text_completion");
    assert!(
        whole["id"]
            .as_str()
            .is_some_and(|id| id.starts_with("cmpl-"))
    );
    assert_eq!(whole["choices"][0]["finish_reason"], "length");
    let usage = &whole["usage"];
    assert_eq!(usage["completion_tokens"], 10);
    let sum = usage["prompt_tokens"].as_u64().map(|n| n + 10);
    assert_eq!(usage["total_tokens"].as_u64(), sum);

    let url = format!("{}/v1/completions", server.url);
    let mut request = greedy("Hello", 10);
    request["stream"] = true.into();
    let parts = streamed(send(&agent(), &url, &request));
    assert_eq!(parts, (text(&whole).to_owned(), "length".to_owned()));

    // The text ends before the stop string.
    let stop: String = text(&whole).chars().skip(2).take(2).collect();
    let (before, _) = text(&whole).split_once(&stop).expect("a part");
    let mut request = greedy("Hello", 10);
    request["stop"] = json!([stop]);
    let (_, answer) = server.post("/v1/completions", &request);
    assert_eq!(text(&answer), before);
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    server.stop();
}

#[test]
fn chats_are_those_of_openai() {
    let server = tiny(2, 8, 128);
    let mut request = json!({
        "messages": [{"role": "user", "content": "Hi"}],
        "max_tokens": 12,
        "temperature": 0.9,
        "top_p": 0.9,
        "top_k": 40,
        "min_p": 0.01,
        "seed": 3,
    });
    let (status, whole) = server.post("/v1/chat/completions", &request);
    assert_eq!(status, 200, "{whole}");
    assert_eq!(whole["object"], "chat.completion");
    assert_eq!(whole["choices"][0]["message"]["role"], "assistant");
    let (_, again) = server.post("/v1/chat/completions", &request);
    assert_eq!(text(&again), text(&whole), "the same seed");

    request["stream"] = true.into();
    request["stream_options"] = json!({"include_usage": true});
    let url = format!("{}/v1/chat/completions", server.url);
    let all: Vec<String> = events(send(&agent(), &url, &request)).collect();
    let (done, parts) = all.split_last().expect("events");
    assert_eq!(done, "[DONE]");
    let parts: Vec<Value> = parts
        .iter()
        .map(|part| serde_json::from_str(part).unwrap())
        .collect();
    assert_eq!(parts[0]["choices"][0]["delta"]["role"], "assistant");
    let deltas = parts
        .iter()
        .filter_map(|part| part["choices"][0]["delta"]["content"].as_str());
    assert_eq!(deltas.collect::<String>(), text(&whole));
    let (usage, parts) = parts.split_last().expect("parts");
    assert_eq!(usage["usage"], whole["usage"]);
    assert_eq!(usage["choices"], json!([]));
    let last = &parts[parts.len() - 1]["choices"][0];
    assert_eq!(last["finish_reason"], whole["choices"][0]["finish_reason"]);
    server.stop();
}

#[test]
fn mistakes_are_explained() {
    let server = tiny(1, 1, 32);
    let long = "word ".repeat(100);
    let chat = "/v1/chat/completions";
    for (path, request, status, param, message) in [
        (
            "/v1/completions",
            json!({}),
            400,
            "prompt",
            "`prompt` is missing. Pass a string.",
        ),
        ("/v1/completions", json!([]), 400, "", "Send an object"),
        (
            "/v1/completions",
            json!({"prompt": 3}),
            400,
            "prompt",
            "`prompt` is 3. Use a string.",
        ),
        (
            "/v1/completions",
            json!({"prompt": ""}),
            400,
            "prompt",
            "prompts of 1 to 31 tokens",
        ),
        (
            "/v1/completions",
            json!({"prompt": long}),
            400,
            "prompt",
            "prompts of 1 to 31 tokens",
        ),
        (
            "/v1/completions",
            json!({"prompt": "a", "n": 2}),
            400,
            "n",
            "`n` is 2. Use 1.",
        ),
        (
            "/v1/completions",
            json!({"prompt": "a", "best_of": 2}),
            400,
            "best_of",
            "not supported. Remove it",
        ),
        (
            "/v1/completions",
            json!({"prompt": "a", "temperature": -1}),
            400,
            "temperature",
            "from 0 to 2",
        ),
        (
            "/v1/completions",
            json!({"prompt": "a", "top_p": 0}),
            400,
            "top_p",
            "above 0",
        ),
        (
            "/v1/completions",
            json!({"prompt": "a", "top_k": 0}),
            400,
            "top_k",
            "positive",
        ),
        (
            "/v1/completions",
            json!({"prompt": "a", "min_p": 2}),
            400,
            "min_p",
            "from 0 to 1",
        ),
        (
            "/v1/completions",
            json!({"prompt": "a", "max_tokens": 0}),
            400,
            "max_tokens",
            "positive",
        ),
        (
            "/v1/completions",
            json!({"prompt": "a", "stop": [""]}),
            400,
            "stop",
            "not empty",
        ),
        (
            "/v1/completions",
            json!({"prompt": "a", "seed": "x"}),
            400,
            "seed",
            "Use an integer.",
        ),
        (
            "/v1/completions",
            json!({"prompt": "a", "model": "x"}),
            404,
            "model",
            "The model `x` does not exist. Use",
        ),
        (
            chat,
            json!({"messages": []}),
            400,
            "messages",
            "`messages` is []. Use a list of one or more messages.",
        ),
        (
            chat,
            json!({"messages": [{"role": "robot", "content": "a"}]}),
            400,
            "messages",
            "a role of system",
        ),
        (
            chat,
            json!({"messages": [{"role": "user"}]}),
            400,
            "messages",
            "Use {\"role\"",
        ),
        (
            "/v1/nothing",
            json!({}),
            404,
            "",
            "There is nothing at this path.",
        ),
        ("/health", json!({}), 405, "", "another method"),
    ] {
        let (found, answer) = server.post(path, &request);
        let error = &answer["error"];
        assert_eq!(found, status, "{request}: {answer}");
        assert_eq!(error["type"], "invalid_request_error");
        assert_eq!(
            error["param"].as_str().unwrap_or_default(),
            param,
            "{answer}"
        );
        let found = error["message"].as_str().expect("a message");
        assert!(found.contains(message), "{answer}");
    }
    server.stop();
}

#[test]
fn models_health_and_metrics_are_reported() {
    let server = tiny(1, 1, 64);
    let (status, models) = server.get("/v1/models");
    let models: Value = serde_json::from_str(&models).expect("JSON");
    assert_eq!((status, &models["object"]), (200, &json!("list")));
    let name = models["data"][0]["id"].clone();
    assert_eq!(server.get("/health").0, 200);
    let mut request = greedy("Hello", 5);
    request["model"] = name;
    assert_eq!(server.post("/v1/completions", &request).0, 200);
    assert_eq!(
        server.metric("requests_total{path=\"/v1/completions\",status=\"200\"}"),
        1.0
    );
    assert_eq!(server.metric("generated_tokens_total"), 5.0);
    assert_eq!(server.metric("time_to_first_token_seconds_count"), 1.0);
    assert_eq!(server.metric("queue_length"), 0.0);
    wait_until(|| server.metric("active_requests") == 0.0);
    server.stop();
}

#[test]
fn a_full_queue_is_reported() {
    let server = tiny(1, 1, 2048);
    let url = format!("{}/v1/completions", server.url);
    let mut long = greedy("Hello", 2000);
    long["stream"] = true.into();
    // One in the slot, one in the queue.
    let mut first = events(send(&agent(), &url, &long));
    first.next().expect("an event");
    let second = thread::spawn({
        let (url, request) = (url.clone(), greedy("Hello", 1));
        move || send(&agent(), &url, &request).status().as_u16()
    });
    wait_until(|| server.metric("queue_length") == 1.0);
    let response = send(&agent(), &url, &greedy("Hello", 1));
    assert_eq!(response.status().as_u16(), 503);
    assert_eq!(response.headers().get("retry-after").expect("a time"), "1");
    // The client of the first goes away, and the second gets its slot.
    drop(first);
    assert_eq!(second.join().expect("an answer"), 200);
    assert_eq!(server.metric("requests_abandoned_total"), 1.0);
    server.stop();
}

#[test]
fn stopping_finishes_requests_in_flight() {
    let mut server = tiny(1, 8, 512);
    let url = format!("{}/v1/completions", server.url);
    let mut long = greedy("Hello", 400);
    long["stream"] = true.into();
    let waiting = thread::spawn({
        let (url, request) = (url.clone(), long.clone());
        move || streamed(send(&agent(), &url, &request))
    });
    wait_until(|| server.metric("active_requests") == 1.0);
    server.interrupt();
    let (_, reason) = waiting.join().expect("the whole answer");
    assert_eq!(reason, "length");
    assert!(agent().get(&url).call().is_err(), "it still listens");
    server.stop();
}
