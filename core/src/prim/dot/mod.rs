//! `dot_general`: products summed over contracted axes.

mod collapse;
mod contraction;
mod precision;
mod ragged;
mod sharding;

pub use contraction::Contraction;
pub use precision::{Precision, default_matmul_precision};
pub(crate) use precision::{current_default, default_code, process_default, set_process_default};
pub use ragged::{RaggedDotDimensionNumbers, RaggedDotGeneral};

use crate::extend::ShardingRule;
use crate::passes::add_tangents;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, one,
};
use crate::program::checks::Errors;
use crate::program::class::Class;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::sharding::OutSharding;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError};
use std::fmt;

/// The correspondence of the axes of a product's operands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct DotDimensionNumbers {
    /// Contracted axes of the left operand.
    pub lhs_contracting: Dims,
    /// Corresponding axes of the right operand.
    pub rhs_contracting: Dims,
    /// Batch axes of the left operand, which the result keeps.
    pub lhs_batch: Dims,
    /// Corresponding axes of the right operand.
    pub rhs_batch: Dims,
}

/// Returns the axes of an operand that are in neither list.
fn remaining(rank: usize, a: &[usize], b: &[usize]) -> Dims {
    (0..rank)
        .filter(|d| !a.contains(d) && !b.contains(d))
        .collect()
}

/// Returns the partners of `axes`, sorted by axis.
fn partners(axes: &[usize], partners: &[usize]) -> impl Iterator<Item = usize> {
    let mut pairs: Vec<(usize, usize)> =
        axes.iter().copied().zip(partners.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.into_iter().map(|p| p.1)
}

/// Moves each axis of the array to the index that `axes` gives for it.
fn ordered(x: &Array, axes: impl Iterator<Item = usize>) -> Array {
    let mut permutation = vec![0isize; x.ndim()];
    for (from, to) in axes.enumerate() {
        permutation[to] = from as isize;
    }
    x.transpose(&permutation)
}

impl DotDimensionNumbers {
    /// Creates dimension numbers from contracting and batch axes, each as a pair of lists for the
    /// left and right operand.
    pub fn new(contracting: [&[usize]; 2], batch: [&[usize]; 2]) -> DotDimensionNumbers {
        DotDimensionNumbers {
            lhs_contracting: contracting[0].into(),
            rhs_contracting: contracting[1].into(),
            lhs_batch: batch[0].into(),
            rhs_batch: batch[1].into(),
        }
    }

    /// Creates the dimension numbers of batched matrix products over the last two of `rank` axes.
    pub(crate) fn matrices(rank: usize) -> DotDimensionNumbers {
        let batch: Dims = (0..rank - 2).collect();
        DotDimensionNumbers::new([&[rank - 1], &[rank - 2]], [&batch, &batch])
    }

    /// Returns the free axes of the left operand.
    fn lhs_free(&self, rank: usize) -> Dims {
        remaining(rank, &self.lhs_contracting, &self.lhs_batch)
    }

    /// Returns the free axes of the right operand.
    fn rhs_free(&self, rank: usize) -> Dims {
        remaining(rank, &self.rhs_contracting, &self.rhs_batch)
    }

    /// Returns the same numbers with the operands exchanged.
    fn swapped(&self) -> DotDimensionNumbers {
        DotDimensionNumbers {
            lhs_contracting: self.rhs_contracting.clone(),
            rhs_contracting: self.lhs_contracting.clone(),
            lhs_batch: self.rhs_batch.clone(),
            rhs_batch: self.lhs_batch.clone(),
        }
    }

    pub(crate) fn check(&self, lhs: Aval, rhs: Aval) -> Result<(), ShapeError> {
        for (name, aval, contracting, batch) in [
            ("lhs", lhs, &self.lhs_contracting, &self.lhs_batch),
            ("rhs", rhs, &self.rhs_contracting, &self.rhs_batch),
        ] {
            let mut seen = Dims::new();
            for &d in contracting.iter().chain(batch) {
                crate::ensure_shape!(
                    d < aval.ndim() && !seen.contains(&d),
                    "{name} axes {contracting:?} and {batch:?} are not distinct axes of {aval}"
                );
                seen.push(d);
            }
        }
        for (what, left, right) in [
            ("contracted", &self.lhs_contracting, &self.rhs_contracting),
            ("batch", &self.lhs_batch, &self.rhs_batch),
        ] {
            crate::ensure_shape!(
                left.len() == right.len(),
                "lhs has {} {what} axes, rhs has {}",
                left.len(),
                right.len()
            );
            for (&l, &r) in left.iter().zip(right) {
                let (m, n) = (lhs.shape()[l], rhs.shape()[r]);
                if m != n {
                    return Err(ShapeError::new(format!(
                        "{what} sizes differ: lhs axis {l} is {m}, rhs axis {r} is {n}"
                    ))
                    .help(remedy(lhs, rhs, l, r)));
                }
            }
        }
        Ok(())
    }

    /// Returns the shape of the product: batch axes, then the free axes of each operand.
    fn shape(&self, lhs: &[usize], rhs: &[usize]) -> Dims {
        let batch = self.lhs_batch.iter().map(|&d| lhs[d]);
        let left = self.lhs_free(lhs.len()).into_iter().map(|d| lhs[d]);
        let right = self.rhs_free(rhs.len()).into_iter().map(|d| rhs[d]);
        batch.chain(left).chain(right).collect()
    }
}

/// Suggests a fix if axis `l` of `lhs` and axis `r` of `rhs` differ in size.
fn remedy(lhs: Aval, rhs: Aval, l: usize, r: usize) -> String {
    let (m, n) = (lhs.shape()[l], rhs.shape()[r]);
    let tail = (0..l)
        .rev()
        .find(|&start| lhs.shape()[start..].iter().product::<usize>() == n);
    match tail {
        Some(start) if l + 1 == lhs.ndim() => {
            format!("flatten the last axes of lhs first: x.flatten({start}..)")
        }
        _ if lhs.shape().contains(&n) || rhs.shape().contains(&m) => {
            "the axis of that size has another position: transpose an operand, or use tensordot or \
             einsum"
                .into()
        }
        _ => "corresponding axes must have the same size".into(),
    }
}

/// Formats the numbers like JAX: `(([1], [0]), ([], []))`.
impl fmt::Display for DotDimensionNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self;
        write!(
            f,
            "(({:?}, {:?}), ({:?}, {:?}))",
            n.lhs_contracting, n.rhs_contracting, n.lhs_batch, n.rhs_batch
        )
    }
}

/// Products of elements, summed over the contracted axes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DotGeneral {
    /// Correspondence of the operands' axes.
    pub dimension_numbers: DotDimensionNumbers,
    /// Precision of products; `None` lets the platform choose.
    pub precision: Option<Precision>,
    /// Dtype of the result, in which products are accumulated; `None` is the operands' dtype.
    pub preferred_element_type: Option<DType>,
    /// Sharding of the result. Defaults to that of the operands, if it is unambiguous.
    pub out_sharding: Option<OutSharding>,
}

impl DotGeneral {
    fn with(&self, dimension_numbers: DotDimensionNumbers) -> DotGeneral {
        DotGeneral {
            dimension_numbers,
            ..self.clone()
        }
    }

    /// Computes the cotangent of the left operand `x` from that of the result and the right
    /// operand `y`; with `swapped` the operands are exchanged.
    fn transpose_lhs(&self, ct: &Array, x: Aval, y: &Array, swapped: bool) -> Array {
        let n = if swapped {
            self.dimension_numbers.swapped()
        } else {
            self.dimension_numbers.clone()
        };
        let x_free = n.lhs_free(x.ndim());
        let y_free = n.rhs_free(y.ndim());
        // The result has the batch axes, then those of its left operand, then those of its right
        // one.
        let batch = n.lhs_batch.len();
        let start = if swapped { batch } else { batch + x_free.len() };
        let numbers = DotDimensionNumbers {
            lhs_contracting: (start..start + y_free.len()).collect(),
            rhs_contracting: y_free,
            lhs_batch: (0..batch).collect(),
            rhs_batch: n.rhs_batch.clone(),
        };
        // Its axes are those of `x`: batch, free, and contracted in the order of `y`.
        let contracted = partners(&n.rhs_contracting, &n.lhs_contracting);
        let axes = n.lhs_batch.iter().copied().chain(x_free).chain(contracted);
        let axes: Dims = axes.collect();
        let out = OutSharding::of_cotangent(x, &[ct.aval(), y.aval()]);
        let dot = DotGeneral {
            out_sharding: out.map(|out| out.gathered(&axes)),
            ..self.with(numbers)
        };
        let product = bind1(dot, &[ct, y]);
        ordered(&product, axes.into_iter()).astype(x.dtype())
    }
}

impl Primitive for DotGeneral {
    fn name(&self) -> &'static str {
        "dot_general"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            checks: Errors::NAN,
            out_sharding: self.out_sharding,
            ..Facts::default()
        }
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let mut params = vec![("dimension_numbers", Param::new(&self.dimension_numbers))];
        if let Some(p) = self.precision {
            params.push(("precision", Param::Text(p.of_both())));
        }
        if let Some(d) = self.preferred_element_type {
            params.push(("preferred_element_type", Param::new(d.numpy_name())));
        }
        params
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 2, "expects 2 operands, got {}", args.len());
        let (lhs, rhs) = (args[0], args[1]);
        Class::Any.check(lhs.dtype())?;
        Class::Any.check(rhs.dtype())?;
        let floats = lhs.dtype().is_float() && rhs.dtype().is_float();
        crate::ensure_shape!(
            lhs.dtype() == rhs.dtype() || floats,
            "operands have different dtypes, {} and {}",
            lhs.dtype(),
            rhs.dtype()
        );
        self.dimension_numbers.check(lhs, rhs)?;
        let common = DType::try_promote((lhs.dtype(), false), (rhs.dtype(), false));
        let Some(dtype) = self.preferred_element_type.or(common.map(|c| c.0)) else {
            return Err(ShapeError::new(format!(
                "products of {} and {} have no default dtype",
                lhs.dtype(),
                rhs.dtype()
            ))
            .help("pass the dtype of the accumulation as preferred_element_type"));
        };
        crate::ensure_shape!(
            dtype.is_float() == lhs.dtype().is_float()
                && dtype.is_complex() == lhs.dtype().is_complex()
                && (dtype == DType::Bool) == (lhs.dtype() == DType::Bool),
            "a product of {} cannot be accumulated in {dtype}",
            lhs.dtype()
        );
        one(Aval::new(
            &self.dimension_numbers.shape(lhs.shape(), rhs.shape()),
            dtype,
        ))
    }
    fn sharding(&self, args: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        self.rule(args[0], args[1])
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |p, t, _| {
                let left = t[0].as_ref().map(|t| bind1(self.clone(), &[t, &p[1]]));
                let right = t[1].as_ref().map(|t| bind1(self.clone(), &[&p[0], t]));
                vec![add_tangents(left, right)]
            },
            |cts, operands| {
                let Some(ct) = &cts[0] else {
                    return vec![None, None];
                };
                let (x, y) = (&operands[0], &operands[1]);
                vec![
                    y.known()
                        .filter(|_| x.is_linear())
                        .map(|y| self.transpose_lhs(ct, x.aval(), y, false)),
                    x.known()
                        .filter(|_| y.is_linear())
                        .map(|x| self.transpose_lhs(ct, y.aval(), x, true)),
                ]
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        let n = &self.dimension_numbers;
        let past = |dims: &[usize], at: usize| -> Dims {
            dims.iter().map(|&d| d + usize::from(d >= at)).collect()
        };
        let mut numbers = n.clone();
        if let Some(l) = axes[0] {
            numbers.lhs_contracting = past(&n.lhs_contracting, l);
            numbers.lhs_batch = past(&n.lhs_batch, l);
        }
        if let Some(r) = axes[1] {
            numbers.rhs_contracting = past(&n.rhs_contracting, r);
            numbers.rhs_batch = past(&n.rhs_batch, r);
        }
        // A batch axis that only one operand has becomes another free axis.
        let before = |free: Dims, at: usize| free.iter().filter(|&&d| d < at).count();
        let out = match (axes[0], axes[1]) {
            (Some(l), Some(r)) => {
                numbers.lhs_batch.insert(0, l);
                numbers.rhs_batch.insert(0, r);
                0
            }
            (Some(l), None) => {
                numbers.lhs_batch.len() + before(numbers.lhs_free(args[0].ndim()), l)
            }
            (None, r) => {
                let r = r.expect("a batched operand");
                let left = args[0].ndim() - numbers.lhs_contracting.len();
                left + before(numbers.rhs_free(args[1].ndim()), r)
            }
        };
        let (operand, from) = match axes[0] {
            Some(at) => (&args[0], at),
            None => (&args[1], axes[1].expect("a batched operand")),
        };
        let dot = DotGeneral {
            out_sharding: self
                .out_sharding
                .map(|s| s.batched(out, operand.aval(), from)),
            ..self.with(numbers)
        };
        batched(bind1(dot, &[&args[0], &args[1]]), Some(out))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let mut operands = [args[0], args[1]];
        // Backends require operands of one dtype, and do not support two-bit integers.
        let mut out = outs[0];
        if out.dtype() == DType::Bool {
            // Whether any product is true: whether the count is above 0, rounded or not.
            out = out.with_dtype(DType::F32);
        } else if out.dtype().bits() < 4 {
            out = out.with_dtype(DType::I32);
        }
        let [l, r] = operands.map(|x| x.dtype());
        if l != r || l.bits() < 8 {
            operands = operands.map(|x| ctx.convert(x, out.dtype()));
        }
        let precision = self.precision.unwrap_or_default();
        let product = collapse::dot(ctx, operands, &self.dimension_numbers, precision, out);
        vec![ctx.convert(product, outs[0].dtype())]
    }
}

impl Array {
    /// Computes a general product of two arrays of one dtype (`jax.lax.dot_general`): the result
    /// has the batch axes, the free axes of `self`, and those of `rhs`. For booleans, an element is
    /// true if any of its products is.
    ///
    /// # Panics
    /// Panics if the dtypes differ, if an axis is out of range or occurs twice, or if
    /// corresponding axes have different sizes.
    #[track_caller]
    pub fn dot_general(&self, rhs: &Array, dimension_numbers: DotDimensionNumbers) -> Array {
        self.dot_general_with(rhs, dimension_numbers, Contraction::new())
    }

    /// Same as [`dot_general`](Array::dot_general), with options for the precision, the dtype of
    /// accumulation and of the result, and the sharding of the result over explicit mesh axes.
    ///
    /// # Panics
    /// Panics in the same cases as `dot_general`, if integers would be accumulated as floats,
    /// floats as integers or booleans as numbers, and if the sharding does not fit the mesh or the shape.
    #[track_caller]
    pub fn dot_general_with(
        &self,
        rhs: &Array,
        dimension_numbers: DotDimensionNumbers,
        how: impl Into<Contraction>,
    ) -> Array {
        let how = how.into();
        let n = &dimension_numbers;
        let rank = self.ndim() + rhs.ndim()
            - (2 * n.lhs_contracting.len() + n.lhs_batch.len()).min(self.ndim() + rhs.ndim());
        let out_sharding = how
            .out_sharding
            .map(|s| OutSharding::new("dot_general", &[self.aval(), rhs.aval()], &s, rank));
        let dot = DotGeneral {
            dimension_numbers,
            precision: how.precision.or_else(current_default),
            preferred_element_type: how.preferred_element_type,
            out_sharding,
        };
        bind1(dot, &[self, rhs])
    }
}
