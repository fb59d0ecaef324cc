//! Sorting and selection along an axis.

mod top_k;

pub use top_k::TopK;

use super::index::{Gather, GatherDimensionNumbers};
use super::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive, in_front};
use crate::extend::ShardingRule;
use crate::program::lower::{Lowering, Region, Value, avals};
use crate::program::trace::bind;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError};
use smallvec::SmallVec;

/// Sorts several arrays of the same shape together along an axis, lexicographically by the first
/// `num_keys` of them. NaN is sorted last; `-0.0` and `0.0` are equal. Complex numbers are
/// ordered by their real parts, then by their imaginary parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sort {
    /// Axis to sort along.
    pub dimension: usize,
    /// Whether equal elements keep their order.
    pub is_stable: bool,
    /// Number of operands that are compared; the others are permuted in the same way.
    pub num_keys: usize,
}

impl Primitive for Sort {
    fn name(&self) -> &'static str {
        "sort"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("dimension", Param::new(self.dimension)),
            ("is_stable", Param::flag(self.is_stable)),
            ("num_keys", Param::new(self.num_keys)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(!args.is_empty(), "expects at least one operand");
        if args.iter().any(|a| a.shape() != args[0].shape()) {
            return Err(ShapeError::new("operands have different shapes").help(
                "arrays that are sorted together must have the same shape: broadcast first",
            ));
        }
        crate::ensure_shape!(
            self.dimension < args[0].ndim(),
            "axis {} is out of range for {}",
            self.dimension,
            args[0]
        );
        crate::ensure_shape!(
            (1..=args.len()).contains(&self.num_keys),
            "{} of {} operands cannot be keys",
            self.num_keys,
            args.len()
        );
        Ok(args.into())
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::along(args, outs, &[self.dimension]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::jvp(|primals, tangents, _| {
            let shape = primals[0].shape();
            let mut operands = primals.to_vec();
            operands.push(Array::iota(shape, self.dimension, DType::U32));
            let refs: SmallVec<[&Array; 4]> = operands.iter().collect();
            let order = bind(self.clone(), &refs).pop().expect("positions");
            tangents
                .iter()
                .map(|t| t.as_ref().map(|t| along(t, &order, self.dimension)))
                .collect()
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let moved = in_front(args, axes, axis);
        let refs: SmallVec<[&Array; 4]> = moved.iter().collect();
        let sort = Sort {
            dimension: self.dimension + 1,
            ..self.clone()
        };
        let outs = bind(sort, &refs);
        let axes = SmallVec::from_elem(Some(0), outs.len());
        (outs, axes)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        // XLA's CPU compiler sorts elements of less than a byte incorrectly.
        let args: Vec<Value> = args
            .iter()
            .map(|x| ctx.convert(*x, x.dtype().whole_bytes()))
            .collect();
        let wide = avals(&args);
        let comparator = ctx.before(&wide, self.num_keys);
        let attributes = format!(
            "dimension = {} : i64, is_stable = {}",
            self.dimension, self.is_stable
        );
        let sorted = ctx.op("sort", &args, &wide, &attributes, &[comparator]);
        let pairs = sorted.into_iter().zip(outs);
        pairs.map(|(x, to)| ctx.convert(x, to.dtype())).collect()
    }
}

impl Lowering<'_> {
    /// Emits the comparison of a sort: by the first key, then by the second, …
    fn before(&mut self, operands: &[Aval], num_keys: usize) -> Region {
        let scalars: Vec<Aval> = operands
            .iter()
            .flat_map(|a| [Aval::scalar(a.dtype()); 2])
            .collect();
        self.region(&scalars, |ctx, args| {
            let mut before: Option<Value> = None;
            let keys: Vec<[Value; 2]> = (0..num_keys)
                .flat_map(|key| ctx.real_keys([args[2 * key], args[2 * key + 1]]))
                .collect();
            for pair in keys.into_iter().rev() {
                let pair = pair.map(|x| ctx.canonical(x));
                let less = ctx.total_order("LT", pair);
                before = Some(match before {
                    None => less,
                    Some(rest) => {
                        let equal = ctx.total_order("EQ", pair);
                        let tied = ctx.same("and", &[equal, rest]);
                        ctx.same("or", &[less, tied])
                    }
                });
            }
            vec![before.expect("there is a key")]
        })
    }

    /// Emits the pairs to compare for one key: for complex numbers the real parts, then the
    /// imaginary parts.
    fn real_keys(&mut self, pair: [Value; 2]) -> Vec<[Value; 2]> {
        if !pair[0].dtype().is_complex() {
            return vec![pair];
        }
        ["real", "imag"]
            .map(|part| pair.map(|x| self.part(part, x)))
            .into()
    }

    /// Emits a float with a single zero and a single NaN, since the total order distinguishes
    /// several.
    fn canonical(&mut self, x: Value) -> Value {
        if !x.dtype().is_float() {
            return x;
        }
        let zero = self.splat(0, x.aval());
        let nan = self.splat(f64::NAN, x.aval());
        let is_zero = self.compare("EQ", [x, zero]);
        let one_zero = self.select(is_zero, zero, x);
        let is_nan = self.compare("NE", [x, x]);
        self.select(is_nan, nan, one_zero)
    }

    fn total_order(&mut self, direction: &str, args: [Value; 2]) -> Value {
        if !args[0].dtype().is_float() {
            return self.compare(direction, args);
        }
        let attributes = format!(
            "comparison_direction = #stablehlo<comparison_direction {direction}>, \
             compare_type = #stablehlo<comparison_type TOTALORDER>"
        );
        let out = args[0].aval().with_dtype(DType::Bool);
        self.op1("compare", &args, out, &attributes)
    }
}

/// Gathers the elements of `x` at indices `order`, which are in bounds, along `axis`.
fn along(x: &Array, order: &Array, axis: usize) -> Array {
    let others: Dims = (0..x.ndim()).filter(|&d| d != axis).collect();
    let numbers =
        GatherDimensionNumbers::new(&[], &[axis], &[axis]).batching_dims(&others, &others);
    let sizes = Dims::from_elem(1, x.ndim());
    let gather = Gather::new(numbers, &sizes);
    x.gather(&order.expand_dims(&[-1]), gather)
}

/// Sorts several arrays of the same shape together along an axis, lexicographically by the first
/// `num_keys` of them (`jax.lax.sort`). NaN is sorted last, `-0.0` and `0.0` are equal, and equal
/// elements keep their order.
///
/// ```no_run
/// use ramie_core::lax::sort;
/// use ramie_core::Array;
/// let (key, value) = (Array::from([3, 1, 2]), Array::from([0.3f32, 0.1, 0.2]));
/// let sorted = sort(&[key, value], 0, 1);
/// assert_eq!(sorted[1].to_vec::<f32>(), [0.1, 0.2, 0.3]);
/// ```
///
/// # Panics
/// Panics if there are no operands, if shapes differ, if the axis is out of range, or if
/// `num_keys` is not between 1 and the number of operands.
#[track_caller]
pub fn sort(operands: &[Array], axis: isize, num_keys: usize) -> Vec<Array> {
    assert!(!operands.is_empty(), "sort: no operands were passed");
    let sort = Sort {
        dimension: operands[0].axis("sort", axis),
        is_stable: true,
        num_keys,
    };
    let refs: SmallVec<[&Array; 4]> = operands.iter().collect();
    bind(sort, &refs).into_vec()
}

impl Array {
    /// Sorts the elements along an axis in increasing order, NaN last. Complex numbers are
    /// ordered by their real parts, then by their imaginary parts.
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn sort(&self, axis: isize) -> Array {
        sort(std::slice::from_ref(self), axis, 1)
            .pop()
            .expect("one array is sorted")
    }

    /// Returns the indices (`i32`) that sort the array along an axis in increasing order, NaN
    /// last; equal elements keep their order.
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn argsort(&self, axis: isize) -> Array {
        let dimension = self.axis("argsort", axis);
        self.expect_i32_positions("argsort", dimension);
        let positions = Array::iota(self.shape(), dimension, DType::I32);
        sort(&[self.stop_gradient(), positions], axis, 1)
            .pop()
            .expect("positions")
    }
}
