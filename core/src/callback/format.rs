//! Format strings with placeholders for arrays: `"x = {}, y = {:.2}"`.

use crate::Array;

/// A format string, parsed once and filled in often.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Format(Vec<Piece>);

impl Format {
    /// Parses the format `text` for `args` arrays.
    ///
    /// # Panics
    /// Panics if it is malformed, or if the number of placeholders is not the number of arrays.
    #[track_caller]
    pub fn new(operation: &str, text: &str, args: usize) -> Format {
        let pieces = match parse(text) {
            Ok(pieces) => pieces,
            Err(why) => panic!("{operation}: {why} in {text:?}"),
        };
        let places = pieces.iter().filter(|p| p.is_place()).count();
        assert_eq!(
            places, args,
            "{operation}: {text:?} has {places} placeholders, but {args} arrays were passed"
        );
        Format(pieces)
    }

    /// Returns the string with the arrays filled in.
    pub fn fill(&self, arrays: &[Array]) -> String {
        let mut text = String::new();
        let mut arrays = arrays.iter();
        for piece in &self.0 {
            piece.write(&mut text, &mut arrays);
        }
        text
    }
}

/// A part of a format string.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Piece {
    Text(String),
    Plain { digits: Option<usize> },
    Typed { digits: Option<usize> },
}

impl Piece {
    fn is_place(&self) -> bool {
        !matches!(self, Piece::Text(_))
    }

    fn write<'a>(&self, line: &mut String, arrays: &mut impl Iterator<Item = &'a Array>) {
        let text = match self {
            Piece::Text(text) => Some(text.clone()),
            Piece::Plain { digits: None } => arrays.next().map(|a| format!("{a}")),
            Piece::Plain { digits: Some(n) } => arrays.next().map(|a| format!("{a:.n$}")),
            Piece::Typed { digits: None } => arrays.next().map(|a| format!("{a:?}")),
            Piece::Typed { digits: Some(n) } => arrays.next().map(|a| format!("{a:.n$?}")),
        };
        line.push_str(&text.unwrap_or_default());
    }
}

fn parse(format: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if chars.peek() == Some(&c) => {
                chars.next();
                text.push(c);
            }
            '{' => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                let mut inside = String::new();
                loop {
                    match chars.next() {
                        Some('}') => break,
                        Some(c) => inside.push(c),
                        None => return Err("`{` without `}`".into()),
                    }
                }
                pieces.push(place(&inside)?);
            }
            '}' => return Err("`}` without `{`".into()),
            c => text.push(c),
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// Parses the characters between the braces of a placeholder.
fn place(inside: &str) -> Result<Piece, String> {
    let unknown = || {
        format!(
            "`{{{inside}}}` is not a valid placeholder; use `{{}}`, `{{:?}}`, `{{:.3}}` or \
             `{{:.3?}}` for the next array"
        )
    };
    if inside.is_empty() {
        return Ok(Piece::Plain { digits: None });
    }
    let spec = inside.strip_prefix(':').ok_or_else(unknown)?;
    let (spec, typed) = match spec.strip_suffix('?') {
        Some(rest) => (rest, true),
        None => (spec, false),
    };
    let digits = match spec.strip_prefix('.') {
        Some(n) => Some(n.parse().map_err(|_| unknown())?),
        None if spec.is_empty() => None,
        None => return Err(unknown()),
    };
    Ok(if typed {
        Piece::Typed { digits }
    } else {
        Piece::Plain { digits }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_rust() {
        let plain = |digits| Piece::Plain { digits };
        let text = |s: &str| Piece::Text(s.into());
        assert_eq!(
            parse("x = {}, {{{:.3}}}{:?}").unwrap(),
            [
                text("x = "),
                plain(None),
                text(", {"),
                plain(Some(3)),
                text("}"),
                Piece::Typed { digits: None }
            ]
        );
        for wrong in ["{", "}", "{x}", "{:>3}", "{:.a}"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
