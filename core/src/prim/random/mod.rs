//! Primitives of random numbers: the counter-based `threefry2x32` with operations on its keys, and
//! `rng_bit_generator`.
//!
//! A key is two `u32` words, the last axis of an array of key data; the axes before it are those
//! of an array of keys. An operation on an array of keys puts the keys' axes first in its result,
//! so batching keys is exact: each example gets the same result as with its key alone.

mod generator;
mod hash;
pub(crate) mod key_impl;

use super::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, in_front, move_batch_axis,
    one,
};
use crate::extend::ShardingRule;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError};
use smallvec::smallvec;

pub use generator::{RngAlgorithm, RngBitGenerator, rng_bit_generator};

/// Scheme for splitting keys and for counting the words of a draw (`jax_threefry_partitionable` in
/// JAX).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum KeyLayout {
    /// Each element is hashed from its own 64-bit position, so that devices can draw their shards
    /// of an array independently. JAX's current default.
    #[default]
    Partitionable,
    /// Counters are hashed in two halves, as JAX did before version 0.5.
    Original,
}

impl KeyLayout {
    /// Returns the parameter as printed in a jaxpr; the default is omitted.
    fn param(self) -> Option<(&'static str, Param)> {
        (self == KeyLayout::Original).then(|| ("layout", Param::new("original")))
    }
}

/// The hash of Salmon and others, "Parallel random numbers: as easy as 1, 2, 3" (2011), in 20
/// rounds on two 32-bit words. Operands: two key words and two counter words, broadcast together;
/// results: two words.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Threefry2x32;

impl Primitive for Threefry2x32 {
    fn name(&self) -> &'static str {
        "threefry2x32"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 4, "expects 4 operands, got {}", args.len());
        for a in args {
            crate::ensure_shape!(a.dtype() == DType::U32, "expects u32 words, got {a}");
        }
        let shapes: Vec<&[usize]> = args.iter().map(Aval::shape).collect();
        let Some(shape) = crate::numpy::broadcast_shapes(&shapes) else {
            return Err(
                ShapeError::new("key and counter words do not broadcast together")
                    .help("pass them with the same shape, or 0-d key words"),
            );
        };
        let out = Aval::new(&shape, DType::U32);
        Ok(smallvec![out, out])
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Zero
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let size = axis.size;
        let rank = args
            .iter()
            .zip(axes)
            .map(|(a, ax)| a.ndim() - usize::from(ax.is_some()))
            .max()
            .unwrap_or(0);
        // The batch axis is first; the words' own axes are aligned at the end.
        let moved: Vec<Array> = args
            .iter()
            .zip(axes)
            .map(|(a, ax)| {
                let front = match ax {
                    None => a.clone(),
                    Some(_) => move_batch_axis(a, *ax, 0, size),
                };
                let missing = if ax.is_some() {
                    rank + 1 - front.ndim()
                } else {
                    0
                };
                let missing: Vec<isize> = (1..=missing as isize).collect();
                front.expand_dims(&missing)
            })
            .collect();
        let refs: Vec<&Array> = moved.iter().collect();
        (bind(Threefry2x32, &refs), smallvec![Some(0), Some(0)])
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let words = ctx.broadcast_operands(args, outs[0]);
        ctx.threefry([words[0], words[1]], [words[2], words[3]])
            .to_vec()
    }
}

/// Checks that the last axis of key data contains two words, and returns the axes before it.
fn key_axes(args: &[Aval]) -> Result<&'static [usize], ShapeError> {
    let keys = args[0];
    match keys.shape().split_last() {
        Some((2, axes)) if keys.dtype() == DType::U32 => Ok(axes),
        _ => Err(
            ShapeError::new(format!("expects key data u32[...,2], got {keys}"))
                .help("create keys with `random::key`, or from words with `random::wrap_key_data`"),
        ),
    }
}

/// Defines the methods of operations on arrays of keys, whose axes are also the first ones of the
/// result: operand `i` has `$ranks[i]` further axes.
macro_rules! maps_keys {
    ($ranks:expr) => {
        fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
            Ok(ShardingRule::batch(args, outs, &$ranks))
        }
        fn differentiation(&self) -> Differentiation<'_> {
            Differentiation::Zero
        }
        fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
            let args = in_front(args, axes, axis);
            let args: Vec<&Array> = args.iter().collect();
            (bind(self.clone(), &args), smallvec![Some(0)])
        }
    };
}

/// Creates key data from integer seeds: 64-bit seeds set both words, narrower ones only the
/// second.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RandomSeed;

impl Primitive for RandomSeed {
    fn name(&self) -> &'static str {
        "random_seed"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("impl", Param::new("fry"))]
    }
    fn facts(&self) -> Facts<'_> {
        Facts::strong()
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        if !args[0].dtype().is_integer() {
            return Err(
                ShapeError::new(format!("a seed must be an integer, got {}", args[0]))
                    .help("convert it first: x.astype(DType::I32)"),
            );
        }
        let shape: Dims = args[0].shape().iter().copied().chain([2]).collect();
        one(Aval::new(&shape, DType::U32))
    }
    maps_keys!([0]);
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        let seed = args[0];
        let words = if seed.dtype().bits() == 64 {
            let bits = ctx.bitcast(seed, DType::U64);
            ctx.halves(bits)
        } else {
            // Sign-extended to 32 bits.
            let signed = if seed.dtype().is_signed() {
                DType::I32
            } else {
                DType::U32
            };
            let full = ctx.convert(seed, signed);
            let full = ctx.bitcast(full, DType::U32);
            [ctx.splat(0, full.aval()), full]
        };
        vec![ctx.join_words(words)]
    }
}

/// Derives an array of new keys, of shape `shape`, from each key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RandomSplit {
    /// Shape of the array of new keys.
    pub shape: Dims,
    /// Layout of counters.
    pub layout: KeyLayout,
}

impl Primitive for RandomSplit {
    fn name(&self) -> &'static str {
        "random_split"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let shape = ("shape", Param::tuple(&self.shape));
        self.layout.param().into_iter().chain([shape]).collect()
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let keys = key_axes(args)?;
        let shape: Dims = keys.iter().chain(&self.shape).copied().chain([2]).collect();
        one(Aval::new(&shape, DType::U32))
    }
    maps_keys!([1]);
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        if outs[0].size() == 0 {
            return vec![ctx.splat(0, outs[0])];
        }
        let keys = match self.layout {
            KeyLayout::Partitionable => {
                let words = ctx.hash_positions(args[0], &self.shape);
                ctx.join_words(words)
            }
            KeyLayout::Original => {
                let n = 2 * self.shape.iter().product::<usize>();
                let words = ctx.hash_counters(args[0], n);
                ctx.reshape(words, outs[0].shape())
            }
        };
        vec![keys]
    }
}

/// Derives a new key from each key and an integer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RandomFoldIn;

impl Primitive for RandomFoldIn {
    fn name(&self) -> &'static str {
        "random_fold_in"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 2, "expects a key and data");
        let keys = key_axes(args)?;
        let data = args[1];
        crate::ensure_shape!(
            data.dtype() == DType::U32 && data.shape() == keys,
            "expects data u32{keys:?}, one word for each key, got {data}"
        );
        one(args[0])
    }
    maps_keys!([1, 0]);
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        let key = ctx.key_words(args[0], args[1].shape());
        let zero = ctx.splat(0, args[1].aval());
        let words = ctx.threefry(key, [zero, args[1]]);
        vec![ctx.join_words(words)]
    }
}

/// Draws uniform random bits: an array of `shape` for each key, of unsigned integers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RandomBits {
    /// Number of bits of an element: 8, 16, 32 or 64.
    pub bit_width: usize,
    /// Shape of a draw.
    pub shape: Dims,
    /// Layout of counters.
    pub layout: KeyLayout,
}

impl RandomBits {
    fn dtype(&self) -> Result<DType, ShapeError> {
        match self.bit_width {
            8 => Ok(DType::U8),
            16 => Ok(DType::U16),
            32 => Ok(DType::U32),
            64 => Ok(DType::U64),
            other => Err(ShapeError::new(format!(
                "bit widths are 8, 16, 32 and 64, got {other}"
            ))),
        }
    }
}

impl Primitive for RandomBits {
    fn name(&self) -> &'static str {
        "random_bits"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let width = ("bit_width", Param::new(self.bit_width));
        let shape = ("shape", Param::tuple(&self.shape));
        let layout = self.layout.param();
        [width].into_iter().chain(layout).chain([shape]).collect()
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let keys = key_axes(args)?;
        let shape: Dims = keys.iter().chain(&self.shape).copied().collect();
        one(Aval::new(&shape, self.dtype()?))
    }
    maps_keys!([1]);
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let out = outs[0];
        if out.size() == 0 {
            return vec![ctx.splat(0, out)];
        }
        let bits = match self.layout {
            KeyLayout::Partitionable => {
                let words = ctx.hash_positions(args[0], &self.shape);
                if self.bit_width == 64 {
                    ctx.widen(words)
                } else {
                    let bits = ctx.same("xor", &words);
                    ctx.convert(bits, out.dtype())
                }
            }
            KeyLayout::Original => {
                let n = self.shape.iter().product();
                ctx.original_bits(args[0], n, out)
            }
        };
        vec![bits]
    }
}
