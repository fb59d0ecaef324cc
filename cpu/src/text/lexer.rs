//! The tokens of MLIR text.

use crate::{Error, Result};

/// A token. Names and numbers are slices of the text, without the mark that introduces them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// The end of the text.
    End,
    /// A bare identifier or keyword, which may contain dots.
    Word(&'a str),
    /// A decimal or hexadecimal integer without sign.
    Integer(&'a str),
    /// A decimal float without sign.
    Float(&'a str),
    /// A string, without quotes, its escapes as written.
    Text(&'a str),
    /// `%name`.
    Value(&'a str),
    /// `@name`, or `@"name"` with the opening quote but not the closing one.
    Symbol(&'a str),
    /// `^name`.
    Label(&'a str),
    /// `#name`.
    Hash(&'a str),
    /// `!name`.
    Bang(&'a str),
    /// A punctuation character.
    Mark(char),
    /// `->`.
    Arrow,
}

impl Token<'_> {
    /// Describes the token for error messages. Long tokens are shortened.
    pub fn describe(self) -> String {
        let (mark, text) = match self {
            Token::End => return "the end of the text".into(),
            Token::Mark(c) => return format!("`{c}`"),
            Token::Arrow => return "`->`".into(),
            Token::Word(t) | Token::Integer(t) | Token::Float(t) => ("", t),
            Token::Text(t) => ("\"", t),
            Token::Value(t) => ("%", t),
            Token::Symbol(t) => ("@", t),
            Token::Label(t) => ("^", t),
            Token::Hash(t) => ("#", t),
            Token::Bang(t) => ("!", t),
        };
        match text.char_indices().nth(40) {
            Some((end, _)) => format!("`{mark}{}…`", &text[..end]),
            None => format!("`{mark}{text}`"),
        }
    }
}

/// A position in the text, from which tokens are read.
#[derive(Clone, Copy)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    position: usize,
    line: usize,
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.')
}

fn is_name(b: u8) -> bool {
    is_word(b) || b == b'-'
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Lexer {
            text,
            position: 0,
            line: 1,
        }
    }

    /// Returns the byte at which the next token is searched for.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the line at which the next token is searched for.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the text between two positions.
    pub fn between(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or("")
    }

    fn peek(&self, ahead: usize) -> u8 {
        // No token contains a zero byte, so it can represent the end.
        let bytes = self.text.as_bytes();
        bytes.get(self.position + ahead).copied().unwrap_or(0)
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(Error::Text {
            line: self.line,
            message: message.into(),
        })
    }

    /// Moves to the start of the next token.
    pub fn skip_space(&mut self) {
        loop {
            match self.peek(0) {
                b'\n' => {
                    self.line += 1;
                    self.position += 1;
                }
                b' ' | b'\t' | b'\r' => self.position += 1,
                b'/' if self.peek(1) == b'/' => self.take(|b| b != b'\n'),
                _ => return,
            }
        }
    }

    fn take(&mut self, accepts: impl Fn(u8) -> bool) {
        let rest = self.text.as_bytes().get(self.position..).unwrap_or(&[]);
        let length = rest.iter().position(|b| !accepts(*b));
        self.position += length.unwrap_or(rest.len());
    }

    fn taken(&mut self, accepts: impl Fn(u8) -> bool) -> &'a str {
        let start = self.position;
        self.take(accepts);
        self.between(start, self.position)
    }

    /// Reads the name behind a mark: digits alone, or letters, digits and `$._-`.
    fn name(&mut self) -> &'a str {
        if self.peek(0).is_ascii_digit() {
            return self.taken(|b| b.is_ascii_digit());
        }
        // In `%a->`, the minus belongs to the arrow.
        let name = self.taken(is_name);
        if name.ends_with('-') && self.peek(0) == b'>' {
            self.position -= 1;
            return &name[..name.len() - 1];
        }
        name
    }

    /// Reads a name that must not be empty.
    fn named(&mut self, token: fn(&'a str) -> Token<'a>) -> Result<Token<'a>> {
        let mark = self.peek(0) as char;
        self.position += 1;
        match self.name() {
            "" => self.fail(format!("expected a name after `{mark}`")),
            name => Ok(token(name)),
        }
    }

    /// Reads a string, whose opening quote is at the current position, and returns its content.
    fn string(&mut self) -> Result<&'a str> {
        self.position += 1;
        let start = self.position;
        loop {
            self.take(|b| !matches!(b, b'"' | b'\\' | b'\n'));
            match self.peek(0) {
                b'"' => {
                    self.position += 1;
                    return Ok(self.between(start, self.position - 1));
                }
                // A multi-byte character after the backslash is an error of the reader of escapes.
                b'\\' if self.position + 1 < self.text.len() => self.position += 2,
                _ => return self.fail("the string has no closing quote"),
            }
        }
    }

    fn number(&mut self) -> Token<'a> {
        let start = self.position;
        if self.peek(0) == b'0' && self.peek(1) == b'x' && self.peek(2).is_ascii_hexdigit() {
            self.position += 2;
            self.take(|b| b.is_ascii_hexdigit());
            return Token::Integer(self.between(start, self.position));
        }
        self.take(|b| b.is_ascii_digit());
        if self.peek(0) != b'.' {
            return Token::Integer(self.between(start, self.position));
        }
        self.position += 1;
        self.take(|b| b.is_ascii_digit());
        let signed = usize::from(matches!(self.peek(1), b'+' | b'-'));
        if matches!(self.peek(0), b'e' | b'E') && self.peek(1 + signed).is_ascii_digit() {
            self.position += 1 + signed;
            self.take(|b| b.is_ascii_digit());
        }
        Token::Float(self.between(start, self.position))
    }

    fn symbol(&mut self) -> Result<Token<'a>> {
        if self.peek(1) != b'"' {
            return self.named(Token::Symbol);
        }
        let start = self.position + 1;
        self.position += 1;
        self.string()?;
        Ok(Token::Symbol(self.between(start, self.position - 1)))
    }

    /// Reads the next token. [`skip_space`](Self::skip_space) has moved to its start.
    pub fn next(&mut self) -> Result<Token<'a>> {
        match self.peek(0) {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Ok(Token::Word(self.taken(is_word))),
            b'0'..=b'9' => Ok(self.number()),
            b'"' => self.string().map(Token::Text),
            b'%' => self.named(Token::Value),
            b'^' => self.named(Token::Label),
            b'#' => self.named(Token::Hash),
            b'!' => self.named(Token::Bang),
            b'@' => self.symbol(),
            b'-' if self.peek(1) == b'>' => {
                self.position += 2;
                Ok(Token::Arrow)
            }
            b @ (b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b',' | b':' | b'='
            | b'-' | b'+' | b'*' | b'?' | b'/' | b'|' | b'.') => {
                self.position += 1;
                Ok(Token::Mark(b as char))
            }
            _ => match self.between(self.position, self.text.len()).chars().next() {
                None => Ok(Token::End),
                Some(c) => self.fail(format!("unexpected character {c:?}")),
            },
        }
    }

    /// Reads the sizes of a tensor's axes, `4x5x`, up to the element type. They are not tokens:
    /// `0x4` would be a hexadecimal number.
    pub fn size(&mut self) -> Result<Option<usize>> {
        self.skip_space();
        if !self.peek(0).is_ascii_digit() {
            return Ok(None);
        }
        let digits = self.taken(|b| b.is_ascii_digit());
        if self.peek(0) != b'x' {
            return self.fail(format!(
                "expected `x` after the size {digits:.40} of an axis"
            ));
        }
        self.position += 1;
        match digits.parse() {
            Ok(size) => Ok(Some(size)),
            Err(_) => self.fail(format!("the size {digits:.40} of an axis is too large")),
        }
    }
}
