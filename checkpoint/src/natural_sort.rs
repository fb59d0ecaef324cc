//! Natural order of names: by the numbers in them.

use std::cmp::Ordering;

/// Sorts names by the numbers in them (`flax.training.checkpoints.natural_sort`). A hyphen after a
/// letter or a digit is no sign: `model-10` is after `model-9`.
///
/// ```
/// use ramie_checkpoint::checkpoints::natural_sort;
/// let mut names = ["file_1".to_owned(), "file_10".into(), "file_2".into()];
/// natural_sort(&mut names);
/// assert_eq!(names, ["file_1", "file_2", "file_10"]);
/// ```
pub fn natural_sort(names: &mut [String]) {
    names.sort_by(|a, b| compare(a, b));
}

/// Compares two names in natural order; ties are broken by comparing the strings.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    let (mut pieces, mut others) = (Pieces::of(a), Pieces::of(b));
    loop {
        let (x, y) = match (pieces.next(), others.next()) {
            (Some(x), Some(y)) => (x, y),
            (x, y) => return x.is_some().cmp(&y.is_some()).then_with(|| a.cmp(b)),
        };
        let order = x.0.cmp(y.0).then_with(|| match (x.1, y.1) {
            (Some(x), Some(y)) => x.total_cmp(&y),
            (x, y) => x.is_some().cmp(&y.is_some()),
        });
        if order.is_ne() {
            return order;
        }
    }
}

/// Returns the last number in a name.
pub(crate) fn last_number(name: &str) -> Option<f64> {
    Pieces::of(name).filter_map(|(_, number)| number).last()
}

/// Splits a name into pieces of text, each with the number that follows it.
struct Pieces<'a> {
    rest: &'a str,
    /// Whether a number ends where the rest begins.
    after_number: bool,
}

impl<'a> Pieces<'a> {
    fn of(rest: &'a str) -> Pieces<'a> {
        Pieces {
            rest,
            after_number: false,
        }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = (&'a str, Option<f64>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let whole = self.rest;
        let bytes = whole.as_bytes();
        let joined = |at: usize| match at.checked_sub(1) {
            Some(before) => bytes[before].is_ascii_alphanumeric(),
            None => self.after_number,
        };
        let found = (0..whole.len()).find_map(|at| Some((at, number(bytes, at, joined(at))?)));
        let Some((start, end)) = found else {
            self.rest = "";
            return Some((whole, None));
        };
        (self.rest, self.after_number) = (&whole[end..], true);
        // The number consists of a sign, digits, a decimal point and an exponent, which Rust
        // parses as well.
        let number = whole[start..end].parse().expect("a number");
        Some((&whole[..start], Some(number)))
    }
}

/// Returns the end of the number that begins at `start`: `-1`, `2.`, `.5`, `1e-3`. After a letter or a
/// digit, a hyphen is no sign.
fn number(text: &[u8], start: usize, joined: bool) -> Option<usize> {
    let is = |at: usize, what: &[u8]| text.get(at).is_some_and(|b| what.contains(b));
    let digits = |at: usize| {
        let rest = text.get(at..).unwrap_or(&[]);
        at + rest.iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let sign: &[u8] = if joined { b"+" } else { b"+-" };
    let first = start + usize::from(is(start, sign));
    let mut end = digits(first);
    let whole = end > first;
    if is(end, b".") {
        let fraction = digits(end + 1);
        if whole || fraction > end + 1 {
            end = fraction;
        }
    }
    if end == first {
        return None;
    }
    if is(end, b"eE") {
        let exponent = end + 1 + usize::from(is(end + 1, b"+-"));
        if digits(exponent) > exponent {
            end = digits(exponent);
        }
    }
    Some(end)
}
