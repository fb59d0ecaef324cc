//! The state of the parser: the current token, and what the text has defined so far.

use super::lexer::{Lexer, Token};
use super::scope::Scope;
use super::{Attribute, Type};
use crate::{Error, Result};
use foldhash::{HashMap, HashMapExt};

/// The maximum depth of regions in regions.
pub(super) const MAX_REGIONS: usize = 200;

/// The maximum depth of lists, dictionaries and types in each other.
pub(super) const MAX_LISTS: usize = 100;

/// A token with its position in the text. Assigning a copy returns to it.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub lexer: Lexer<'a>,
    pub token: Token<'a>,
    pub start: usize,
    pub line: usize,
}

/// The size of an attribute or type.
#[derive(Clone, Copy, Default)]
pub(super) struct Size {
    /// Number of values, with a value for every 16 bytes.
    pub values: usize,
    /// Depth of lists, dictionaries and tuples in each other.
    pub depth: usize,
}

impl Size {
    /// Adds a value one level below.
    pub fn include(self, inner: Size) -> Size {
        Size {
            values: self.values + inner.values,
            depth: self.depth.max(inner.depth + 1),
        }
    }

    /// Returns the size of a value of this many bytes.
    pub fn of_bytes(bytes: usize) -> Size {
        Size {
            values: 1 + bytes / 16,
            depth: 0,
        }
    }
}

/// A named attribute or type.
pub(super) struct Alias<T> {
    pub value: T,
    pub size: Size,
}

/// The state of the parser.
pub(super) struct Parser<'a> {
    pub cursor: Cursor<'a>,
    /// Name of the operation that is read, for error messages.
    pub operation: &'a str,
    pub scope: Scope<'a>,
    /// Attributes by alias.
    pub attributes: HashMap<&'a str, Alias<Attribute>>,
    /// Types by alias.
    pub types: HashMap<&'a str, Alias<Type>>,
    /// The size of aliases that may still be copied. Without a limit, aliases of aliases would need
    /// memory that grows exponentially with the length of the text.
    pub copies_left: usize,
    pub region_depth: usize,
    pub list_depth: usize,
}

impl<'a> Parser<'a> {
    /// Starts at the first token of the text.
    pub fn new(text: &'a str) -> Result<Self> {
        let lexer = Lexer::new(text);
        let mut parser = Parser {
            cursor: Cursor {
                lexer,
                token: Token::End,
                start: 0,
                line: 1,
            },
            operation: "",
            scope: Scope::default(),
            attributes: HashMap::new(),
            types: HashMap::new(),
            copies_left: text.len().saturating_mul(2).saturating_add(1 << 16),
            region_depth: 0,
            list_depth: 0,
        };
        parser.advance()?;
        Ok(parser)
    }

    /// Returns the current token.
    pub fn token(&self) -> Token<'a> {
        self.cursor.token
    }

    /// Moves to the next token.
    pub fn advance(&mut self) -> Result<()> {
        let cursor = &mut self.cursor;
        cursor.lexer.skip_space();
        cursor.start = cursor.lexer.position();
        cursor.line = cursor.lexer.line();
        let token = cursor.lexer.next().map_err(|e| self.in_operation(e))?;
        self.cursor.token = token;
        Ok(())
    }

    /// Returns an error at the current token.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::Text {
            line: self.cursor.line,
            message: self.named(message.into()),
        }
    }

    /// Adds the current operation to an error of the lexer.
    pub fn in_operation(&self, error: Error) -> Error {
        match error {
            Error::Text { line, message } => Error::Text {
                line,
                message: self.named(message),
            },
            other => other,
        }
    }

    /// Fails at the current token.
    pub fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(self.error(message))
    }

    /// Fails because the program needs what the backend does not implement.
    pub fn unsupported<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(Error::Unsupported {
            line: self.cursor.line,
            message: self.named(message.into()),
        })
    }

    fn named(&self, message: String) -> String {
        match self.operation {
            "" => message,
            name => format!("{name:.100}: {message}"),
        }
    }

    /// Fails because the current token is not the expected one.
    pub fn expected<T>(&self, what: &str) -> Result<T> {
        self.fail(format!(
            "expected {what}, found {}",
            self.token().describe()
        ))
    }

    /// Returns whether the current token is this punctuation.
    pub fn at(&self, mark: char) -> bool {
        self.token() == Token::Mark(mark)
    }

    /// Returns whether the current token is this word.
    pub fn at_word(&self, word: &str) -> bool {
        matches!(self.token(), Token::Word(w) if w == word)
    }

    /// Reads this punctuation, if it is the current token.
    pub fn accept(&mut self, mark: char) -> Result<bool> {
        let found = self.at(mark);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Reads this word, if it is the current token.
    pub fn accept_word(&mut self, word: &str) -> Result<bool> {
        let found = self.at_word(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Reads this punctuation.
    pub fn expect(&mut self, mark: char) -> Result<()> {
        if self.accept(mark)? {
            Ok(())
        } else {
            self.expected(&format!("`{mark}`"))
        }
    }

    /// Reads this word.
    pub fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.accept_word(word)? {
            Ok(())
        } else {
            self.expected(&format!("`{word}`"))
        }
    }

    /// Reads `->`.
    pub fn expect_arrow(&mut self) -> Result<()> {
        match self.token() {
            Token::Arrow => self.advance(),
            _ => self.expected("`->`"),
        }
    }

    /// Reads any word.
    pub fn word(&mut self) -> Result<&'a str> {
        match self.token() {
            Token::Word(word) => self.advance().map(|()| word),
            _ => self.expected("a word"),
        }
    }

    /// Reads items separated by commas, and the closing punctuation behind the last.
    pub fn items(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if self.accept(close)? {
            return Ok(());
        }
        loop {
            item(self)?;
            if !self.accept(',')? {
                return self.expect(close);
            }
        }
    }

    /// Reads an integer, with its sign.
    pub fn integer(&mut self) -> Result<i128> {
        let negative = self.accept('-')?;
        let Token::Integer(digits) = self.token() else {
            return self.expected("an integer");
        };
        let value = match digits.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        let Ok(value) = value else {
            return self.fail(format!("the integer {digits:.40} is too large"));
        };
        self.advance()?;
        Ok(if negative { -value } else { value })
    }

    /// Reads a list of integers in brackets.
    pub fn integers(&mut self) -> Result<Vec<Attribute>> {
        let mut list = Vec::new();
        self.expect('[')?;
        self.items(']', |p| {
            list.push(Attribute::Integer(p.integer()?));
            Ok(())
        })?;
        Ok(list)
    }

    /// Runs `read` one level deeper in lists, dictionaries or types.
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.list_depth >= MAX_LISTS {
            return self.too_deep();
        }
        self.list_depth += 1;
        let result = read(self);
        self.list_depth -= 1;
        result
    }

    /// Counts the copy of an alias.
    pub fn count_copy(&mut self, size: Size) -> Result<()> {
        if self.list_depth + size.depth > MAX_LISTS {
            return self.too_deep();
        }
        match self.copies_left.checked_sub(size.values) {
            Some(left) => {
                self.copies_left = left;
                Ok(())
            }
            None => self.unsupported("the aliases expand to too many attributes or types"),
        }
    }

    fn too_deep<T>(&self) -> Result<T> {
        self.unsupported(format!(
            "attributes and types are nested more than {MAX_LISTS} times"
        ))
    }

    /// Skips a location, `loc(…)`, if there is one.
    pub fn skip_location(&mut self) -> Result<()> {
        if !self.at_word("loc") {
            return Ok(());
        }
        self.advance()?;
        if !self.at('(') {
            return self.expected("`(`");
        }
        let mut depth = 0usize;
        loop {
            match self.token() {
                Token::Mark('(') => depth += 1,
                Token::Mark(')') => depth -= 1,
                Token::End => return self.fail("the location has no closing `)`"),
                _ => {}
            }
            self.advance()?;
            if depth == 0 {
                return Ok(());
            }
        }
    }
}
