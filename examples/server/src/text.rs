//! The text of an answer, which ends before a stop string.

use ramie::data::readers::bpe::{ByteLevelBpe, TextStream};

/// The text of tokens that arrive one by one.
pub(crate) struct Text<'a> {
    stream: TextStream<'a>,
    stops: Vec<String>,
    /// Text that can be the beginning of a stop string.
    held: String,
}

impl<'a> Text<'a> {
    pub(crate) fn new(tokenizer: &'a ByteLevelBpe, stops: Vec<String>) -> Text<'a> {
        Text {
            stream: tokenizer.stream(),
            stops,
            held: String::new(),
        }
    }

    /// Returns the text that is complete with the next token, and whether a stop string follows.
    pub(crate) fn push(&mut self, token: i32) -> (String, bool) {
        let text = self.stream.push(token);
        self.held += &text.expect("the model's tokens are in the vocabulary");
        let stops = self.stops.iter();
        if let Some(end) = stops.filter_map(|stop| self.held.find(stop)).min() {
            self.held.truncate(end);
            return (std::mem::take(&mut self.held), true);
        }
        let keeps = |at: &usize| {
            let rest = &self.held[*at..];
            self.stops.iter().any(|stop| stop.starts_with(rest))
        };
        let mut starts = self.held.char_indices().map(|(at, _)| at);
        let end = starts.find(keeps).unwrap_or(self.held.len());
        let held = self.held.split_off(end);
        (std::mem::replace(&mut self.held, held), false)
    }

    /// Returns the rest of a text that no stop string ends.
    pub(crate) fn finish(self) -> String {
        self.held + &self.stream.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_before_a_stop_string_that_spans_tokens() {
        let path = "../../tests/golden/data/gguf/tokenizer.gguf";
        let tokenizer = ByteLevelBpe::load(path).expect("a tokenizer");
        let read = |text: &str, stops: &[&str]| {
            let stops = stops.iter().map(|stop| stop.to_string()).collect();
            let mut out = Text::new(&tokenizer, stops);
            let mut parts = Vec::new();
            // One character at a time, each with tokens of its own.
            for token in text.chars().flat_map(|c| tokenizer.encode(&c.to_string())) {
                let (part, ends) = out.push(token);
                parts.push(part);
                if ends {
                    return (parts, true);
                }
            }
            parts.push(out.finish());
            (parts, false)
        };
        let (parts, ends) = read("one\n\ntwo", &["\n\n", "x"]);
        assert_eq!((parts.concat().as_str(), ends), ("one", true));
        assert_eq!(parts, ["o", "n", "e", "", ""]);
        // A beginning that does not become a stop string.
        let (parts, ends) = read("one\nt wo\n", &["\nt\n", "\n\n"]);
        assert_eq!((parts.concat().as_str(), ends), ("one\nt wo\n", false));
        let (parts, _) = read("aab", &["ab"]);
        assert_eq!(parts.concat(), "a");
        let (parts, _) = read("é", &[]);
        assert_eq!(parts.concat(), "é");
    }
}
