//! Natural order of names: by the numbers in them.

use std::cmp::Ordering;

/// Sorts names by the numbers in them, including their signs
/// (`flax.training.checkpoints.natural_sort`).
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
    let (mut pieces, mut others) = (Pieces(a), Pieces(b));
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
    Pieces(name).filter_map(|(_, number)| number).last()
}

/// Splits a name into pieces of text, each with the number that follows it.
struct Pieces<'a>(&'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = (&'a str, Option<f64>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let whole = self.0;
        let found = (0..whole.len()).find_map(|at| Some((at, number(whole.as_bytes(), at)?)));
        let Some((start, end)) = found else {
            self.0 = "";
            return Some((whole, None));
        };
        self.0 = &whole[end..];
        // The number consists of a sign, digits, a decimal point and an exponent, which Rust
        // parses as well.
        let number = whole[start..end].parse().expect("a number");
        Some((&whole[..start], Some(number)))
    }
}

/// Returns the end of the number that begins at `start`: `-1`, `2.`, `.5`, `1e-3`.
fn number(text: &[u8], start: usize) -> Option<usize> {
    let is = |at: usize, what: &[u8]| text.get(at).is_some_and(|b| what.contains(b));
    let digits = |at: usize| {
        let rest = text.get(at..).unwrap_or(&[]);
        at + rest.iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let first = start + usize::from(is(start, b"+-"));
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
