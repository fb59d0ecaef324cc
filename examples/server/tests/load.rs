//! Many clients at once. With `RAMIE_TEST_MODELS=1`, they run for a minute, and SmolLM2 answers, too.

mod common;
#[path = "../../common/src/files/smollm2.rs"]
mod smollm2;

use common::{Server, TINY, agent, greedy, send, streamed};
use ramie::checkpoint::gguf::GgufFile;
use ramie::data::readers::bpe::ByteLevelBpe;
use ramie::models::{Decoding, Llama, Sampling};
use ramie::random;
use ramie_testing::models::{are_wanted, fetched};
use serde_json::{Value, json};
use server::Limits;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Servers share the processor; the throughput of one is measured alone.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const CLIENTS: usize = 64;
const LENGTH: usize = 128;
const LIMITS: Limits = Limits {
    slots: 8,
    queue: CLIENTS,
    max_length: LENGTH,
};

/// The number of tokens of an answer.
fn max_tokens(i: usize) -> usize {
    1 + i % 16
}

/// Prompts of different lengths, with their answers by decoding each alone.
fn alone(count: usize) -> Vec<(String, String)> {
    let path = Path::new(TINY);
    let tokenizer = ByteLevelBpe::load(path).expect("a tokenizer");
    let file = GgufFile::open(path).expect("a file");
    let model = Llama::from_gguf(&file).expect("a model");
    let mut decoding = Decoding::new(&model, Sampling::greedy(), LENGTH);
    if let Some(token) = tokenizer.eos_token_id() {
        decoding = decoding.eos_token_id(token);
    }
    let prompt = |i: usize| -> String {
        let words = ["the", " sea", " and", " ships", " of", " 1851"]
            .iter()
            .cycle();
        words.skip(i).take(1 + i * 5 % 23).copied().collect()
    };
    let answer = |i: usize| {
        decoding.set_tokens(&tokenizer.encode(&prompt(i)));
        let mut text = tokenizer.stream();
        let tokens = decoding.generate(max_tokens(i), &random::key(0));
        let parts: String = tokens
            .map(|token| text.push(token).expect("a token"))
            .collect();
        (prompt(i), parts + &text.finish())
    };
    (0..count).map(answer).collect()
}

/// Times from the request to the first part and to the end of its answer.
#[derive(Clone, Copy)]
struct Times {
    first: Duration,
    whole: Duration,
}

fn print(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: f64| times[(part * (times.len() - 1) as f64) as usize].as_secs_f64() * 1e3;
    println!("{name}: p50 {:.1} ms, p95 {:.1} ms", at(0.5), at(0.95));
}

/// Requests answers until a time has passed, every other one as a stream. Returns the times.
fn client(number: usize, url: &str, expected: &[(String, String)], end: Instant) -> Vec<Duration> {
    let (agent, mut times) = (agent(), Vec::new());
    while Instant::now() < end {
        let i = (number + 7 * times.len()) % expected.len();
        let (prompt, answer) = &expected[i];
        let mut request = greedy(prompt, max_tokens(i));
        request["stream"] = (times.len() % 2 == 1).into();
        let start = Instant::now();
        let mut response = send(&agent, url, &request);
        assert_eq!(response.status(), 200);
        let text = match request["stream"] == true {
            true => streamed(response).0,
            false => {
                let whole: Value = response.body_mut().read_json().expect("JSON");
                whole["choices"][0]["text"]
                    .as_str()
                    .expect("a text")
                    .to_owned()
            }
        };
        assert_eq!(&text, answer, "{prompt:?}");
        times.push(start.elapsed());
    }
    times
}

#[test]
fn nothing_is_lost_and_answers_are_those_alone() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let expected = alone(32);
    let server = Server::start(Path::new(TINY), LIMITS);
    let url = format!("{}/v1/completions", server.url);
    let models = are_wanted(smollm2::SMOLLM2.wheels[0].bytes);
    let seconds = if models { 60 } else { 3 };
    let end = Instant::now() + Duration::from_secs(seconds);
    let times: Vec<Duration> = thread::scope(|scope| {
        let spawn = |number| {
            let (url, expected) = (&url, &expected);
            scope.spawn(move || client(number, url, expected, end))
        };
        let clients: Vec<_> = (0..CLIENTS).map(spawn).collect();
        let times = clients
            .into_iter()
            .map(|client| client.join().expect("no mistakes"));
        times.flatten().collect()
    });
    let answered = server.metric("requests_total{path=\"/v1/completions\",status=\"200\"}");
    assert_eq!(answered as usize, times.len());
    assert_eq!(server.metric("requests_abandoned_total"), 0.0);
    assert_eq!(server.metric("queue_length"), 0.0);
    println!(
        "{} requests by {CLIENTS} clients in {seconds} s, none lost",
        times.len()
    );
    print("time to the answer", times);
    server.stop();
}

/// Requests an answer of a chat. Returns it with its times, and the number of tokens.
fn chat(url: &str, request: &Value) -> (String, Times, u64) {
    let start = Instant::now();
    let response = send(&agent(), url, request);
    let (mut first, mut text, mut tokens) = (None, String::new(), 0);
    for event in common::events(response) {
        let Ok(event) = serde_json::from_str::<Value>(&event) else {
            continue;
        };
        if let Some(part) = event["choices"][0]["delta"]["content"].as_str() {
            text += part;
            if !part.is_empty() {
                first.get_or_insert(start.elapsed());
            }
        }
        tokens += event["usage"]["completion_tokens"].as_u64().unwrap_or(0);
    }
    let whole = start.elapsed();
    let first = first.unwrap_or(whole);
    (text, Times { first, whole }, tokens)
}

#[test]
fn smollm2_knows_the_capital_of_france() {
    let Some([path]) = fetched([&smollm2::SMOLLM2]) else {
        return;
    };
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let server = Server::start(
        &path,
        Limits {
            max_length: 256,
            ..LIMITS
        },
    );
    let url = format!("{}/v1/chat/completions", server.url);
    let question = |text: &str| {
        json!({
            "messages": [{"role": "user", "content": text}],
            "temperature": 0,
            "max_tokens": 64,
        })
    };
    let mut request = question("What is the capital of France?");
    let (status, answer) = server.post("/v1/chat/completions", &request);
    let whole = answer["choices"][0]["message"]["content"]
        .as_str()
        .unwrap_or_default();
    assert!(status == 200 && whole.contains("Paris"), "{answer}");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    request["stream"] = true.into();
    let (streamed, reason) = streamed(send(&agent(), &url, &request));
    assert_eq!((streamed.as_str(), reason.as_str()), (whole, "stop"));

    for clients in [1, 8, CLIENTS] {
        let mut request = question("Write a long story about the sea and a ship.");
        request["stream"] = true.into();
        request["stream_options"] = json!({"include_usage": true});
        let start = Instant::now();
        let answers: Vec<(String, Times, u64)> = thread::scope(|scope| {
            let spawn = |_| scope.spawn(|| chat(&url, &request));
            let clients: Vec<_> = (0..clients).map(spawn).collect();
            clients
                .into_iter()
                .map(|c| c.join().expect("an answer"))
                .collect()
        });
        let seconds = start.elapsed().as_secs_f64();
        assert!(answers.iter().all(|(text, ..)| *text == answers[0].0));
        let tokens: u64 = answers.iter().map(|(.., tokens)| tokens).sum();
        let speed = tokens as f64 / seconds;
        println!("{clients} clients: {tokens} tokens, {speed:.1} tokens per second");
        print(
            "  time to the first token",
            answers.iter().map(|a| a.1.first).collect(),
        );
        print(
            "  time to the answer",
            answers.iter().map(|a| a.1.whole).collect(),
        );
    }
    server.stop();
}
