//! Format strings with placeholders for arrays: `"x = {}, loss = {loss:.2}"`.

use crate::Array;
use crate::program::array::aligned;
use std::fmt::Alignment;

/// Arrays for the placeholders of a format string.
///
/// `&[&x, &y]` fills `{}` in order; `[("x", &x), ("y", &y)]` fills `{x}` and `{y}` by name.
pub trait FormatArgs<'a> {
    /// Returns the arrays with their names, which are empty for positional arrays.
    fn named(&self) -> Vec<(&'a str, &'a Array)>;
}
impl<'a> FormatArgs<'a> for &[&'a Array] {
    fn named(&self) -> Vec<(&'a str, &'a Array)> {
        self.iter().map(|array| ("", *array)).collect()
    }
}
impl<'a, const N: usize> FormatArgs<'a> for &[&'a Array; N] {
    fn named(&self) -> Vec<(&'a str, &'a Array)> {
        self.as_slice().named()
    }
}
impl<'a, const N: usize> FormatArgs<'a> for [(&'a str, &'a Array); N] {
    fn named(&self) -> Vec<(&'a str, &'a Array)> {
        self.to_vec()
    }
}

/// The remedy for a format string that does not match its arrays.
const HELP: &str = "help: `{}` takes the next array of `&[&x, &y]`, `{loss}` the array of this name in \
                    `[(\"loss\", &x)]`";

/// A format string, parsed once and filled in often.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Format(Vec<Piece>);

impl Format {
    /// Parses the format `text` for arrays with these names.
    ///
    /// # Panics
    /// Panics if it is malformed, or if the placeholders do not match the arrays.
    #[track_caller]
    pub fn new(operation: &str, text: &str, names: &[&str]) -> Format {
        let mut pieces = match parse(text, names) {
            Ok(pieces) => pieces,
            Err(why) => panic!("{operation}: {why} in {text:?}\n  {HELP}"),
        };
        let mut positional = 0;
        let mut used = vec![false; names.len()];
        for piece in &mut pieces {
            if let Piece::Placeholder { arg, .. } = piece {
                let at = arg.unwrap_or(positional);
                positional += usize::from(arg.is_none());
                *arg = Some(at);
                if let Some(used) = used.get_mut(at) {
                    *used = true;
                }
            }
        }
        // Without a name, an unused array is found by the number of placeholders below.
        let unused = names
            .iter()
            .zip(&used)
            .find(|(name, used)| !**used && !name.is_empty());
        if let Some((name, _)) = unused {
            panic!(
                "{operation}: {text:?} has no placeholder {{{name}}} for the array `{name}`\n  {HELP}"
            );
        }
        let count = names.len();
        let found = pieces
            .iter()
            .filter(|p| !matches!(p, Piece::Text(_)))
            .count();
        assert!(
            positional <= count && used.iter().all(|used| *used),
            "{operation}: {text:?} has {found} placeholders, but {count} arrays were passed\n  {HELP}"
        );
        Format(pieces)
    }

    /// Returns the string with the arrays filled in.
    pub fn fill(&self, arrays: &[Array]) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Placeholder { arg, spec } => {
                    spec.write(&mut text, &arrays[arg.unwrap_or(0)])
                }
            }
        }
        text
    }
}

/// A part of a format string.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Piece {
    Text(String),
    /// A placeholder for the array with this index, or for the next one.
    Placeholder {
        arg: Option<usize>,
        spec: Spec,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Kind {
    #[default]
    Plain,
    /// With the dtype.
    Typed,
    Exponent,
}

/// The part of a placeholder after the colon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Spec {
    fill: Option<char>,
    align: Option<char>,
    sign: bool,
    zero: bool,
    width: usize,
    digits: Option<usize>,
    kind: Kind,
}

impl Spec {
    /// Parses `[[fill]align][+][0][width][.digits][kind]`.
    fn parse(text: &str) -> Option<Spec> {
        let mut spec = Spec::default();
        let is_align = |c: &char| matches!(c, '<' | '^' | '>');
        let chars: Vec<char> = text.chars().collect();
        let mut rest = &chars[..];
        // Two characters are tried first, since the fill character may be `<`, `^` or `>`, too.
        if let [fill, align, after @ ..] = rest
            && is_align(align)
        {
            (spec.fill, spec.align, rest) = (Some(*fill), Some(*align), after);
        } else if let [align, after @ ..] = rest
            && is_align(align)
        {
            (spec.align, rest) = (Some(*align), after);
        }
        let mut flag = |c: char| {
            let found = rest.first() == Some(&c);
            rest = &rest[usize::from(found)..];
            found
        };
        spec.sign = flag('+');
        spec.zero = flag('0');
        let number = |rest: &mut &[char]| {
            let end = rest
                .iter()
                .position(|c| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            let (digits, after) = rest.split_at(end);
            *rest = after;
            digits.iter().collect::<String>().parse().ok()
        };
        spec.width = number(&mut rest).unwrap_or(0);
        if let ['.', after @ ..] = rest {
            rest = after;
            spec.digits = Some(number(&mut rest)?);
        }
        spec.kind = match rest {
            [] | ['d' | 'f' | 's'] => Kind::Plain,
            ['?'] => Kind::Typed,
            ['e'] => Kind::Exponent,
            _ => return None,
        };
        Some(spec)
    }

    fn write(&self, line: &mut String, array: &Array) {
        let mut text = match (self.kind, self.digits) {
            (Kind::Plain, None) => format!("{array}"),
            (Kind::Plain, Some(n)) => format!("{array:.n$}"),
            (Kind::Typed, None) => format!("{array:?}"),
            (Kind::Typed, Some(n)) => format!("{array:.n$?}"),
            (Kind::Exponent, None) => format!("{array:e}"),
            (Kind::Exponent, Some(n)) => format!("{array:.n$e}"),
        };
        if self.sign && !text.starts_with('-') {
            text.insert(0, '+');
        }
        if self.zero {
            let missing = self.width.saturating_sub(text.chars().count());
            // Zeros follow the sign: `-007`.
            let at = usize::from(text.starts_with(['-', '+']));
            text.insert_str(at, &"0".repeat(missing));
        }
        let align = self.align.map(|c| match c {
            '<' => Alignment::Left,
            '^' => Alignment::Center,
            _ => Alignment::Right,
        });
        line.push_str(&aligned(&text, self.width, align, self.fill.unwrap_or(' ')));
    }
}

fn parse(format: &str, names: &[&str]) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // A doubled brace stands for itself.
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
                pieces.push(placeholder(&inside, names)?);
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
fn placeholder(inside: &str, names: &[&str]) -> Result<Piece, String> {
    let (name, spec) = inside.split_once(':').unwrap_or((inside, ""));
    let arg = match name {
        "" => None,
        name => {
            // Names are looked up before positions.
            let number = name.parse().ok().filter(|n| *n < names.len());
            let found = names.iter().position(|n| *n == name).or(number);
            Some(found.ok_or_else(|| {
                let names: Vec<&str> = names.iter().copied().filter(|n| !n.is_empty()).collect();
                if names.is_empty() {
                    format!(
                        "`{{{inside}}}` names an array, but the arrays have no names; pass \
                     `[(\"{name}\", &array)]`"
                    )
                } else {
                    format!(
                        "there is no array `{name}`; there are: {}",
                        names.join(", ")
                    )
                }
            })?)
        }
    };
    let spec = Spec::parse(spec).ok_or_else(|| {
        format!(
            "`{{{inside}}}` is not a valid placeholder; after the colon, use `.3` for decimal \
             places, `8` or `>8` for a width, `e` for an exponent, `?` for the dtype"
        )
    })?;
    Ok(Piece::Placeholder { arg, spec })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(format: &str, args: &[(&str, Array)]) -> String {
        let (names, arrays): (Vec<&str>, Vec<Array>) = args.iter().cloned().unzip();
        Format::new("print", format, &names).fill(&arrays)
    }

    #[test]
    fn formats_are_those_of_rust() {
        let third = || ("", Array::scalar(1.0 / 3.0, crate::DType::F32));
        let n = || ("", Array::scalar(42, crate::DType::I32));
        assert_eq!(
            filled("x = {}, {{{:.3}}}", &[n(), third()]),
            "x = 42, {0.333}"
        );
        assert_eq!(
            filled("{:8.2}|{:<6}|{:^6}|", &[third(), n(), n()]),
            "    0.33|42    |  42  |"
        );
        assert_eq!(
            filled("{:+}|{:05}|{:*>5d}", &[n(), n(), n()]),
            "+42|00042|***42"
        );
        assert_eq!(filled("{:.2e} {:.1f}", &[third(), third()]), "3.33e-1 0.3");
        assert_eq!(filled("{1} {0}", &[n(), third()]), "0.33333334 42");
        let named = [("loss", third().1), ("step", n().1)];
        assert_eq!(
            filled("{step}: {loss:.3} {step:>4}", &named),
            "42: 0.333   42"
        );
    }

    #[test]
    fn mistakes_are_named() {
        for wrong in ["{", "}", "{x}", "{:.a}", "{:3x}"] {
            assert!(parse(wrong, &[""]).is_err(), "{wrong}");
        }
        let why = parse("{los}", &["loss", "step"]).expect_err("unknown");
        assert_eq!(why, "there is no array `los`; there are: loss, step");
    }
}
