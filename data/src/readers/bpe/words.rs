//! Splitting a string into the words within which bytes are merged.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// A rule for splitting a string into words, within which bytes are merged
/// (`tokenizer.ggml.pre` in a GGUF file).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PreTokenizer {
    /// GPT-2's regular expression:
    /// `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.
    Gpt2,
    /// Each digit is a word; the rest is split as by GPT-2.
    SmolLm,
}

/// The classes of characters that words consist of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Letter,
    Number,
    Other,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' => Class::Letter,
        _ if c.is_numeric() => Class::Number,
        _ if c.is_whitespace() => Class::Space,
        _ if !c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Letter => {
            Class::Letter
        }
        _ => Class::Other,
    }
}

/// The endings that are words of their own.
const ENDINGS: [&str; 7] = ["'s", "'d", "'m", "'t", "'ll", "'ve", "'re"];

impl PreTokenizer {
    /// Returns the words of a string in order. They cover all of it.
    pub(super) fn split(self, text: &str) -> impl Iterator<Item = &str> {
        let mut rest = text;
        // The end of the part before the next digit.
        let mut part = 0;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            if part == 0 {
                part = self.part(rest);
            }
            let length = word(&rest[..part]);
            let (word, after) = rest.split_at(length);
            (rest, part) = (after, part - length);
            Some(word)
        })
    }

    /// Returns the length of the part that is split as by GPT-2.
    fn part(self, text: &str) -> usize {
        let first = text.chars().next().map_or(0, |c| {
            if c.is_numeric() {
                c.len_utf8()
            } else {
                text.find(char::is_numeric).unwrap_or(text.len())
            }
        });
        match self {
            PreTokenizer::Gpt2 => text.len(),
            PreTokenizer::SmolLm => first,
        }
    }
}

/// Returns the length of the first word of a string that is not empty.
fn word(text: &str) -> usize {
    if let Some(ending) = ENDINGS.iter().find(|ending| text.starts_with(**ending)) {
        return ending.len();
    }
    // One space may be part of the word after it.
    let (space, after) = match text.strip_prefix(' ') {
        Some(after) => (1, after),
        None => (0, text),
    };
    let first = after.chars().next().map(class);
    if let Some(first) = first.filter(|first| *first != Class::Space) {
        return space + run(after, first);
    }
    let spaces = run(text, Class::Space);
    let last = text[..spaces].chars().next_back().map_or(0, char::len_utf8);
    // The last space belongs to the next word, unless there are no others.
    if spaces == text.len() || spaces == last {
        spaces
    } else {
        spaces - last
    }
}

/// Returns the length of the prefix of characters of a class.
fn run(text: &str, of: Class) -> usize {
    text.find(|c: char| class(c) != of).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_expression() {
        let words = |by: PreTokenizer, text| by.split(text).collect::<Vec<_>>();
        let text = "I'll've  a\n\n b's 'S 10x² -- e\u{301}\t";
        let gpt2 = [
            "I", "'ll", "'ve", " ", " a", "\n\n", " b", "'s", " '", "S", " 10", "x", "²", " --",
            " e", "\u{301}", "\t",
        ];
        assert_eq!(words(PreTokenizer::Gpt2, text), gpt2);
        let digits = [
            "I", "'ll", "'ve", " ", " a", "\n\n", " b", "'s", " '", "S", " ", "1", "0", "x", "²",
            " --", " e", "\u{301}", "\t",
        ];
        assert_eq!(words(PreTokenizer::SmolLm, text), digits);
        assert_eq!(words(PreTokenizer::Gpt2, "a  1"), ["a", " ", " 1"]);
        assert_eq!(words(PreTokenizer::SmolLm, "a  1"), ["a", "  ", "1"]);
        assert!(words(PreTokenizer::Gpt2, "").is_empty());
    }
}
