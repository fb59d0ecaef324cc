//! A chat: messages, and answers that are printed while they are generated.

use crate::Options;
use ramie::checkpoint::gguf::GgufFile;
use ramie::data::readers::bpe::ByteLevelBpe;
use ramie::models::{Decoding, Llama, Sampling};
use ramie::random::{self, Key};
use ramie_examples::Result;
use ramie_examples::template::{Message, Template};
use std::fmt;
use std::io::Write;
use std::ops::AddAssign;
use std::time::{Duration, Instant};

/// Least number of tokens that remain for an answer.
const ROOM: usize = 16;

/// A model with the messages so far.
pub struct Chat {
    tokenizer: ByteLevelBpe,
    template: Template,
    decoding: Decoding<Llama>,
    messages: Vec<Message>,
    max_tokens: usize,
    key: Key,
}

/// Size and times of an answer.
#[derive(Default)]
pub struct Answer {
    prompt: usize,
    reading: Duration,
    generated: usize,
    writing: Duration,
}

impl Chat {
    /// Loads a model, and compiles its two programs: one for chunks of a prompt, and one for a
    /// token.
    // ANCHOR: load
    pub fn new(file: &GgufFile, sampling: Sampling, options: &Options) -> Result<Chat> {
        let tokenizer = ByteLevelBpe::load(file.path())?;
        let template = Template::new(tokenizer.chat_template(), &tokenizer)?;
        let mut decoding = Decoding::new(&Llama::from_gguf(file)?, sampling, options.length);
        if let Some(token) = tokenizer.eos_token_id() {
            decoding = decoding.eos_token_id(token);
        }
        decoding.set_tokens(&[0; 2]);
        let key = random::key(options.seed);
        for _ in 0..2 {
            decoding.next_token(&key);
        }
        // ANCHOR_END: load
        Ok(Chat {
            tokenizer,
            template,
            decoding,
            messages: Vec::new(),
            max_tokens: options.max_tokens,
            key,
        })
    }

    /// Adds a message.
    pub fn say(&mut self, role: &'static str, content: &str) {
        let content = content.to_owned();
        self.messages.push(Message { role, content });
    }

    /// Writes the answer to a message of the user, token by token.
    // ANCHOR: answer
    pub fn answer(&mut self, message: &str, out: &mut impl Write) -> Result<Answer> {
        self.say("user", message);
        let prompt = self
            .tokenizer
            .encode(&self.template.render(&self.messages)?);
        self.expect_room(prompt.len())?;
        // The beginning, which is that of the last turn, is cached.
        self.decoding.set_tokens(&prompt);
        let (mut text, mut content) = (self.tokenizer.stream(), String::new());
        let mut answer = Answer::default();
        let start = Instant::now();
        for token in self.decoding.generate(self.max_tokens, &self.key) {
            answer.count(prompt.len(), start.elapsed());
            // The token that ends the answer has no text.
            let part = text.push(token)?;
            write!(out, "{part}")?;
            out.flush()?;
            content.push_str(&part);
        }
        // ANCHOR_END: answer
        content.push_str(&text.finish());
        writeln!(out)?;
        self.say("assistant", &content);
        Ok(answer)
    }

    /// Returns an error if too few tokens remain for an answer.
    fn expect_room(&self, prompt: usize) -> Result {
        let length = self.decoding.max_length();
        if prompt + ROOM <= length {
            Ok(())
        } else {
            Err(format!(
                "the chat has {prompt} tokens, but --length is {length}\n  help: use a larger \
             --length, or start a new chat"
            )
            .into())
        }
    }
}

impl Answer {
    /// Counts a token, `time` after the prompt was given.
    fn count(&mut self, prompt: usize, time: Duration) {
        match self.prompt {
            // The first token follows from the prompt.
            0 => (self.prompt, self.reading) = (prompt, time),
            _ => {
                self.generated += 1;
                self.writing = time - self.reading;
            }
        }
    }
}

impl AddAssign for Answer {
    fn add_assign(&mut self, other: Answer) {
        self.prompt += other.prompt;
        self.reading += other.reading;
        self.generated += other.generated;
        self.writing += other.writing;
    }
}

/// Formats the times and the speeds.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reading, writing) = (self.reading.as_secs_f64(), self.writing.as_secs_f64());
        let speed = self.generated as f64 / writing.max(1e-9);
        writeln!(f, "Prompt: {} tokens in {reading:.2} s", self.prompt)?;
        write!(f, "Tokens per second: {speed:.1}")
    }
}
