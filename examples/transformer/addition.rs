//! Sums as text: the model continues `123+456=` with `579`.

use crate::model::Decoder;
use ndarray::Axis;
use ramie::data::{DataLoader, Error, Source};
use ramie::models::{Generator, Sampling};
use ramie::{Array, random};
use ramie_examples::Result;

/// Characters in the order of their tokens.
const CHARACTERS: &[u8] = b"0123456789+=";
/// Number of tokens.
pub const VOCABULARY: usize = CHARACTERS.len();

/// All sums of two numbers with this many digits. Numbers are written from their last digit to
/// their first, as in manual addition: each digit of the result then depends only on two digits
/// and a carry.
#[derive(Clone, Copy)]
pub struct Sums {
    pub digits: usize,
}

impl Sums {
    /// Returns the number of given tokens: two numbers and two signs.
    pub fn given(self) -> usize {
        2 * self.digits + 2
    }

    fn numbers(self) -> usize {
        10usize.pow(self.digits as u32)
    }

    /// Formats the sum in the usual digit order.
    fn text(self, tokens: &[i32]) -> String {
        let number = |tokens: &[i32]| -> String {
            let digits = tokens.iter().rev();
            digits
                .map(|t| char::from(CHARACTERS[*t as usize]))
                .collect()
        };
        let (a, rest) = tokens.split_at(self.digits);
        let (b, sum) = rest[1..].split_at(self.digits);
        format!("{}+{}={}", number(a), number(b), number(&sum[1..]))
    }
}

/// Appends the digits of a number, last digit first.
fn spell(tokens: &mut Vec<i32>, number: usize, digits: usize) {
    let digit = |i| (number / 10usize.pow(i as u32) % 10) as i32;
    tokens.extend((0..digits).map(digit));
}

impl Source for Sums {
    type Item = Vec<i32>;
    fn len(&self) -> usize {
        self.numbers() * self.numbers()
    }
    fn get(&self, index: usize) -> std::result::Result<Vec<i32>, Error> {
        let (a, b) = (index / self.numbers(), index % self.numbers());
        let mut tokens = Vec::with_capacity(self.given() + self.digits + 1);
        spell(&mut tokens, a, self.digits);
        tokens.push(10);
        spell(&mut tokens, b, self.digits);
        tokens.push(11);
        spell(&mut tokens, a + b, self.digits + 1);
        Ok(tokens)
    }
}

/// Returns how many sums the model continues with exactly the right result, and their total
/// number. Prints the first few.
pub fn exact_matches(
    model: &Decoder,
    sums: Sums,
    held_out: impl Source<Item = Vec<i32>> + 'static,
) -> Result<(usize, usize)> {
    let generator = Generator::new(Sampling::greedy(), sums.digits + 1);
    let (mut correct, mut total) = (0, 0);
    for batch in DataLoader::new(held_out).batch_size(500).iter() {
        let batch = batch?;
        let given = batch.slice_axis(Axis(1), (..sums.given()).into());
        // Greedy sampling is deterministic, so any key will do.
        let key = random::key(0);
        let made = generator.generate(model, &Array::from(&given.to_owned()), &key);
        let made = made.to_vec::<i32>();
        for (made, row) in made.chunks(batch.ncols()).zip(batch.rows()) {
            let right = row.iter().eq(made);
            if total < 5 {
                println!("{} {}", sums.text(made), if right { "✓" } else { "✗" });
            }
            correct += usize::from(right);
            total += 1;
        }
    }
    Ok((correct, total))
}
