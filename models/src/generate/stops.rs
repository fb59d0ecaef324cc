//! Sequences of tokens that end a text, and texts that a model continues until they end.

use ramie_core::Array;
use std::ops::ControlFlow;

/// Receives the index of a prompt and its next token. Returns whether the text goes on.
pub(crate) type OnToken<'a> = &'a mut dyn FnMut(usize, i32) -> ControlFlow<()>;

/// The sequences of tokens that end a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stops(Vec<Vec<i32>>);

impl Stops {
    /// Adds a sequence.
    #[track_caller]
    pub(crate) fn add(&mut self, class: &str, sequence: &[i32]) {
        assert!(
            !sequence.is_empty(),
            "{class}: a stop sequence is empty\n  help: pass one or more tokens, such as those of \
             \"\\n\\n\""
        );
        self.0.push(sequence.to_vec());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the new tokens of a text end with one of the sequences.
    pub(crate) fn end(&self, tokens: &[i32]) -> bool {
        self.0.iter().any(|sequence| tokens.ends_with(sequence))
    }
}

/// The new tokens of several texts.
pub(crate) struct Texts<'a> {
    rows: Vec<Row>,
    stops: &'a Stops,
    on_token: Option<OnToken<'a>>,
}

#[derive(Clone, Default)]
struct Row {
    tokens: Vec<i32>,
    has_ended: bool,
}

impl<'a> Texts<'a> {
    pub(crate) fn new(count: usize, stops: &'a Stops, on_token: Option<OnToken<'a>>) -> Texts<'a> {
        Texts {
            rows: vec![Row::default(); count],
            stops,
            on_token,
        }
    }

    /// Returns whether texts can end before the maximum number of tokens, or are streamed: then
    /// each step is added before the next one.
    pub(crate) fn are_watched(&self) -> bool {
        self.on_token.is_some() || !self.stops.is_empty()
    }

    /// Adds the next tokens, `[count]` each, to the texts that have not ended. Returns whether
    /// all have ended.
    pub(crate) fn add(&mut self, steps: impl IntoIterator<Item = Array>) -> bool {
        for next in steps {
            for (i, (row, token)) in self.rows.iter_mut().zip(next.to_vec::<i32>()).enumerate() {
                if row.has_ended {
                    continue;
                }
                row.tokens.push(token);
                let flow = self.on_token.as_mut().map(|f| f(i, token));
                row.has_ended = self.stops.end(&row.tokens) || flow.is_some_and(|f| f.is_break());
            }
        }
        self.rows.iter().all(|row| row.has_ended)
    }

    /// Returns the new tokens of each text.
    pub(crate) fn into_tokens(self) -> Vec<Vec<i32>> {
        self.rows.into_iter().map(|row| row.tokens).collect()
    }
}
