//! Random bits.

use super::{Read, lift};
use crate::ElementType::*;
use crate::graph::{Operands, Operation, Source};
use crate::kernels::random::{philox_32, threefry_32, threefry_64};
use crate::memory::{Context, OutputTensor, Tensors, with_width};
use crate::{Result, TensorType};
use smallvec::smallvec;

/// Random bits from a state of a key and a counter.
#[derive(Debug)]
struct RandomBits {
    philox: bool,
    state: TensorType,
    ty: TensorType,
}

impl Operation for RandomBits {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let state = operands[0].contiguous(context)?;
        let state = state.slice::<u64>();
        let mut bits = OutputTensor::new(context, self.ty.clone())?;
        let width = self.ty.element.bytes();
        let size: usize = self.ty.shape.iter().product();
        let key = state[0];
        let next: [u64; 2] = if self.philox {
            let counter = match state[..] {
                [_, low, high, ..] => u128::from(low) | u128::from(high) << 64,
                // A short state's key is also the upper half of the counter.
                _ => u128::from(state[1]) | u128::from(key) << 64,
            };
            let (numbers, counter) =
                philox_32(key, counter, if width == 8 { 2 * size } else { size });
            write(&mut bits, &numbers);
            [counter as u64, (counter >> 64) as u64]
        } else if width == 8 {
            let (numbers, counter) = threefry_64(key, state[1], size);
            bits.slice_mut::<u64>().copy_from_slice(&numbers);
            [counter, 0]
        } else {
            let (numbers, counter) = threefry_32(key, state[1], &self.ty.shape);
            write(&mut bits, &numbers);
            [counter, 0]
        };
        let mut after = OutputTensor::new(context, self.state.clone())?;
        let words = after.slice_mut::<u64>();
        words[0] = key;
        words[1..]
            .iter_mut()
            .zip(next)
            .for_each(|(word, value)| *word = value);
        Ok(smallvec![after.finish(), bits.finish()])
    }
}

/// Writes numbers of 32 bits: two for an element of 64 bits, otherwise the lower bits of one.
fn write(bits: &mut OutputTensor, numbers: &[u32]) {
    let width = bits.ty.element.bytes();
    if width == 8 {
        return bits.slice_mut::<u32>().copy_from_slice(numbers);
    }
    with_width!(width, T => {
        bits.slice_mut::<T>().iter_mut().zip(numbers).for_each(|(bit, number)| *bit = *number as T);
    });
}

/// Reads `stablehlo.rng_bit_generator`.
pub fn rng_bit_generator(source: &Source<'_>) -> Read {
    source.counts(1, 2, 0)?;
    let (state, ty) = (&source.operands[0], &source.results[1]);
    source.result(0, state)?;
    let words = state.shape.iter().product::<usize>();
    let philox = match source.word("rng_algorithm")? {
        "PHILOX" | "DEFAULT" => true,
        "THREE_FRY" => false,
        other => return Err(source.unsupported(format!("algorithm {other}"))),
    };
    source.check(
        state.element == U64 && state.shape.len() == 1 && (words == 2 || philox && words == 3),
        format_args!("the state has type {state}"),
    )?;
    if matches!(ty.element, Bool | C64 | C128) || ty.element.bits() < 8 {
        return Err(source.unsupported(format!("bits of type {ty}")));
    }
    lift(RandomBits {
        philox,
        state: state.clone(),
        ty: ty.clone(),
    })
}
