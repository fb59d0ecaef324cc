//! Sequence-to-sequence tasks.

use super::RandomState;
use crate::source::IntoSource;
use ndarray::{Array2, Axis};

/// Sequences of input tokens and target tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequences {
    /// The inputs of a model: `[n, length]`.
    pub inputs: Array2<i32>,
    /// The expected outputs: `[n, length]`, of a different length for some tasks.
    pub targets: Array2<i32>,
}

impl IntoSource for Sequences {
    type Source = <(Array2<i32>, Array2<i32>) as IntoSource>::Source;
    fn into_source(self) -> Self::Source {
        (self.inputs, self.targets).into_source()
    }
}

/// Returns random tokens below `vocabulary`, drawn row by row.
#[track_caller]
fn tokens(count: usize, length: usize, vocabulary: usize, seed: u32) -> Array2<i32> {
    let mut r = RandomState::new(seed);
    Array2::from_shape_simple_fn((count, length), || r.randint(0, vocabulary as i64) as i32)
}

/// Creates the copy task, whose targets equal the inputs. The tokens are those of
/// `RandomState(seed).randint(vocabulary, size=(count, length))`.
///
/// # Panics
/// Panics if the vocabulary is empty.
#[track_caller]
pub fn copy(count: usize, length: usize, vocabulary: usize, seed: u32) -> Sequences {
    let inputs = tokens(count, length, vocabulary, seed);
    Sequences {
        targets: inputs.clone(),
        inputs,
    }
}

/// Creates the reverse task, whose targets are the inputs in reverse order.
///
/// ```
/// let s = ramie_data::synthetic::reverse(10, 16, 5, 0);
/// assert_eq!(s.inputs[[3, 0]], s.targets[[3, 15]]);
/// ```
///
/// # Panics
/// Panics if the vocabulary is empty.
#[track_caller]
pub fn reverse(count: usize, length: usize, vocabulary: usize, seed: u32) -> Sequences {
    let inputs = tokens(count, length, vocabulary, seed);
    let mut targets = inputs.clone();
    targets.invert_axis(Axis(1));
    Sequences {
        targets: targets.as_standard_layout().into_owned(),
        inputs,
    }
}

/// The characters of [`addition`], in the order of their tokens.
pub const ADDITION: &str = "0123456789+ ";

/// Creates the addition task, with sums as strings, such as `12+345 ` and `357 `. The numbers
/// have at most `digits` digits, and strings are padded with spaces to the maximum length. Tokens
/// are indices into [`ADDITION`].
///
/// ```
/// use ramie_data::synthetic::{ADDITION, addition};
/// let sums = addition(100, 3, 0);
/// assert_eq!((sums.inputs.dim(), sums.targets.dim()), ((100, 7), (100, 4)));
/// let text = |row: ndarray::ArrayView1<i32>| -> String {
///     row.iter().map(|t| ADDITION.as_bytes()[*t as usize] as char).collect()
/// };
/// let question = text(sums.inputs.row(0));
/// let (a, b) = question.trim().split_once('+').unwrap();
/// let sum = a.parse::<u32>()? + b.parse::<u32>()?;
/// assert_eq!(text(sums.targets.row(0)).trim(), sum.to_string());
/// # Ok::<(), std::num::ParseIntError>(())
/// ```
///
/// # Panics
/// Panics if `digits` is 0 or exceeds 17.
#[track_caller]
pub fn addition(count: usize, digits: usize, seed: u32) -> Sequences {
    assert!(
        (1..=17).contains(&digits),
        "addition: numbers of {digits} digits\n  help: pass 1 to 17"
    );
    let mut r = RandomState::new(seed);
    let beyond = 10i64.pow(digits as u32);
    let (mut inputs, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (a, b) = (r.randint(0, beyond), r.randint(0, beyond));
        spell(&mut inputs, &format!("{a}+{b}"), 2 * digits + 1);
        spell(&mut targets, &(a + b).to_string(), digits + 1);
    }
    let rows = |tokens, length| {
        Array2::from_shape_vec((count, length), tokens).expect("padded to one length")
    };
    Sequences {
        inputs: rows(inputs, 2 * digits + 1),
        targets: rows(targets, digits + 1),
    }
}

/// Appends the tokens of a string, padded with spaces to a length.
fn spell(tokens: &mut Vec<i32>, text: &str, length: usize) {
    let padded = text.chars().chain(std::iter::repeat(' ')).take(length);
    tokens.extend(padded.map(|c| ADDITION.find(c).expect("a character of sums") as i32));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_equal_and_reversals_reversed() {
        let s = copy(50, 6, 4, 1);
        assert_eq!(s.inputs, s.targets);
        assert!(s.inputs.iter().all(|t| (0..4).contains(t)));
        let back = reverse(50, 6, 4, 1);
        assert_eq!(back.inputs, s.inputs);
        for (a, b) in back.inputs.rows().into_iter().zip(back.targets.rows()) {
            assert!(a.iter().eq(b.iter().rev()));
        }
    }

    #[test]
    fn the_longest_sum_fits() {
        let mut tokens = Vec::new();
        spell(&mut tokens, "99+99", 5);
        spell(&mut tokens, "198", 3);
        assert_eq!(tokens, [9, 9, 10, 9, 9, 1, 9, 8]);
    }
}
