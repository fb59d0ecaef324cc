//! `rng_bit_generator`: random bits from the device's own generator.

use crate::extend::ShardingRule;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, move_batch_axis,
};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError, concatenate};
use smallvec::smallvec;
use std::fmt;

/// The algorithm of [`RngBitGenerator`].
#[doc(alias = "RandomAlgorithm")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RngAlgorithm {
    /// The device's default.
    #[default]
    Default,
    /// ThreeFry.
    ThreeFry,
    /// Philox.
    Philox,
}

impl fmt::Display for RngAlgorithm {
    /// Formats the algorithm as in a jaxpr.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RngAlgorithm::Default => "RNG_DEFAULT",
            RngAlgorithm::ThreeFry => "RNG_THREE_FRY",
            RngAlgorithm::Philox => "RNG_PHILOX",
        })
    }
}

/// Draws random bits from a state `u32[4]` or `u64[2]`: returns the state after the draw, and an
/// array of unsigned integers. A batch of states is drawn as one array, from the first state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RngBitGenerator {
    /// Algorithm to use.
    pub algorithm: RngAlgorithm,
    /// Dtype of the bits, which is unsigned.
    pub dtype: DType,
    /// Shape of the bits.
    pub shape: Dims,
}

impl Primitive for RngBitGenerator {
    fn name(&self) -> &'static str {
        "rng_bit_generator"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("algorithm", Param::new(self.algorithm)),
            ("dtype", Param::new(self.dtype.numpy_name())),
            ("out_sharding", Param::new("None")),
            ("shape", Param::tuple(&self.shape)),
        ]
    }
    fn facts(&self) -> Facts<'_> {
        Facts::strong()
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 1, "expects a state, got {}", args.len());
        let state = args[0];
        let fits = matches!(
            (state.dtype(), state.shape()),
            (DType::U32, [4]) | (DType::U64, [2])
        );
        if !fits {
            return Err(
                ShapeError::new(format!("expects a state u32[4] or u64[2], got {state}")).help(
                    "create one with `random::key_with(seed, KeyImpl::Rbg)` and `random::key_data`",
                ),
            );
        }
        if !(self.dtype.is_unsigned() && self.dtype.bits() >= 8) {
            return Err(
                ShapeError::new(format!("cannot generate bits of dtype {}", self.dtype))
                    .help("use U8, U16, U32 or U64"),
            );
        }
        Ok(smallvec![
            state.strong(),
            Aval::new(&self.shape, self.dtype)
        ])
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::batch(args, outs, &[1]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Zero
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let states = move_batch_axis(&args[0], axes[0], 0, axis);
        let shape: Dims = std::iter::once(axis.size)
            .chain(self.shape.iter().copied())
            .collect();
        if axis.size == 0 {
            let bits = Array::zeros(&shape, self.dtype);
            return (smallvec![states, bits], smallvec![Some(0), Some(0)]);
        }
        let draw = RngBitGenerator {
            shape,
            ..self.clone()
        };
        let first = states.slice_in_dim(0, 1, 1, 0);
        let drawn = bind(draw, &[&first.squeeze(&[0])]);
        let (after, bits) = (&drawn[0], drawn[1].clone());
        let rest = states.slice_in_dim(1, axis.size, 1, 0);
        let states = concatenate(&[&after.expand_dims(&[0]), &rest], 0);
        (smallvec![states, bits], smallvec![Some(0), Some(0)])
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        // The operation takes a state of two 64-bit words on every device.
        let wide = Aval::new(&[2], DType::U64);
        let narrow = args[0].dtype() == DType::U32;
        let mut state = args[0];
        if narrow {
            state = ctx.reshape(state, &[2, 2]);
            state = ctx.op1("bitcast_convert", &[state], wide, "");
        }
        let algorithm = match self.algorithm {
            RngAlgorithm::Default => "DEFAULT",
            RngAlgorithm::ThreeFry => "THREE_FRY",
            RngAlgorithm::Philox => "PHILOX",
        };
        let attributes = format!("rng_algorithm = #stablehlo<rng_algorithm {algorithm}>");
        let results = [wide, outs[1]];
        let mut drawn = ctx.op("rng_bit_generator", &[state], &results, &attributes, &[]);
        if narrow {
            let pairs = outs[0].with_shape(&[2, 2]);
            let pairs = ctx.op1("bitcast_convert", &drawn[..1], pairs, "");
            drawn[0] = ctx.reshape(pairs, outs[0].shape());
        }
        drawn
    }
}

/// Draws random bits from the device's own generator (`jax.lax.rng_bit_generator`): returns the
/// state after the draw, and an array of `shape` of the unsigned `dtype`. The state is `u32[4]`
/// or `u64[2]`. The bits may differ between devices and versions of the compiler.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_core::prim::random::{RngAlgorithm, rng_bit_generator};
/// let state = Array::from([0u32, 42, 0, 42]);
/// let (state, bits) = rng_bit_generator(&state, &[3], DType::U32, RngAlgorithm::Default);
/// assert_eq!((state.shape(), bits.shape()), (&[4][..], &[3][..]));
/// ```
///
/// # Panics
/// Panics if the state has another type, or if `dtype` is not an unsigned integer dtype.
#[track_caller]
pub fn rng_bit_generator(
    state: &Array,
    shape: &[usize],
    dtype: DType,
    algorithm: RngAlgorithm,
) -> (Array, Array) {
    let draw = RngBitGenerator {
        algorithm,
        dtype,
        shape: shape.into(),
    };
    let mut results = bind(draw, &[state]).into_iter();
    let mut next = || results.next().expect("a state and bits");
    (next(), next())
}
