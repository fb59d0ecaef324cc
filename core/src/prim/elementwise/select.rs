//! Selection between arrays (`select_n`, `clamp`), and dtype conversion.

use crate::extend::ShardingRule;
use crate::passes::add_tangents;
use crate::prim::elementwise::parts;
use crate::prim::operands;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, in_front,
    move_batch_axis, one,
};
use crate::program::class::{Class, broadcast_rule, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, DType, IntoArray, ShapeError};

/// Selects, for each element, from one of several arrays of the same shape and dtype: the first
/// operand is the index (`false`/0 selects the first case). It has the cases' shape or is 0-d.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SelectN;

impl Primitive for SelectN {
    fn name(&self) -> &'static str {
        "select_n"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            propagates_weak_type: false,
            ..Facts::elementwise()
        }
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() >= 2, "expects a selector and at least one case");
        let (which, cases) = (args[0], &args[1..]);
        if cases.iter().any(|c| c.strong() != cases[0].strong()) {
            return Err(ShapeError::new("cases differ in shape or dtype")
                .help("`where_` broadcasts and promotes its operands"));
        }
        crate::ensure_shape!(
            which.ndim() == 0 || which.shape() == cases[0].shape(),
            "the selector's shape {:?} is neither [] nor that of the cases, {:?}",
            which.shape(),
            cases[0].shape()
        );
        let ok = match which.dtype() {
            DType::Bool => cases.len() <= 2,
            d => d == DType::I32,
        };
        crate::ensure_shape!(
            ok,
            "a selector of {} cannot choose among {} cases (bool chooses among 2, i32 among any)",
            which.dtype(),
            cases.len()
        );
        let weak = cases.iter().all(Aval::weak_type);
        one(cases[0].with_weak_type(weak))
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |p, t, outs| {
                if t[1..].iter().all(Option::is_none) {
                    return vec![None];
                }
                let cases: Vec<Array> = t[1..]
                    .iter()
                    .map(|t| t.clone().unwrap_or_else(|| outs[0].zeros_like()))
                    .collect();
                let mut args = vec![&p[0]];
                args.extend(&cases);
                vec![Some(bind1(SelectN, &args))]
            },
            |cts, operands| {
                let mut out = vec![None; operands.len()];
                let (Some(ct), Some(which)) = (&cts[0], operands[0].known()) else {
                    return out;
                };
                let zeros = ct.zeros_like();
                for i in (1..operands.len()).filter(|&i| operands[i].is_linear()) {
                    let cases = (1..operands.len()).map(|j| if i == j { ct } else { &zeros });
                    let args: Vec<&Array> = std::iter::once(which).chain(cases).collect();
                    out[i] = Some(bind1(SelectN, &args));
                }
                out
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        if args[0].ndim() == 0 && axes[0].is_none() {
            let moved = in_front(&args[1..], &axes[1..], axis);
            let mut refs = vec![&args[0]];
            refs.extend(&moved);
            return batched(bind1(SelectN, &refs), Some(0));
        }
        let mut moved = in_front(args, axes, axis);
        if moved[0].ndim() < moved[1].ndim() {
            moved[0] = moved[0].broadcast_in_dim(moved[1].shape(), &[0]);
        }
        let refs: Vec<&Array> = moved.iter().collect();
        batched(bind1(SelectN, &refs), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        if args[0].dtype() == DType::Bool && args.len() == 3 {
            return vec![ctx.select(args[0], args[2], args[1])];
        }
        // A cascade of selects: the last case, unless an earlier index matches.
        let which = ctx.broadcast_to(args[0], outs[0].shape());
        let mut chosen = args[args.len() - 1];
        for i in (1..args.len() - 1).rev() {
            let number = ctx.splat((i - 1) as i64, which.aval());
            let direction = if i == 1 { "LE" } else { "EQ" };
            let here = ctx.compare(direction, [which, number]);
            chosen = ctx.select(here, args[i], chosen);
        }
        vec![chosen]
    }
}

/// Clamps each element to the interval between two bounds, which are 0-d or have the operand's
/// shape. The operands are lower bound, array, upper bound.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Clamp;

impl Primitive for Clamp {
    fn name(&self) -> &'static str {
        "clamp"
    }
    fn facts(&self) -> Facts<'_> {
        Facts::elementwise()
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        infer_same(Class::Ordered, args, 3)?;
        crate::ensure_shape!(
            broadcast_rule(args)?.as_slice() == args[1].shape(),
            "bounds must be 0-d or have the operand's shape {:?}",
            args[1].shape()
        );
        one(args[1])
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::jvp(|p, t, outs| {
            let (lo, x, hi) = (&p[0], &p[1], &p[2]);
            let part = |t: &Option<Array>, here: Array| {
                t.as_ref().map(|t| {
                    let t = t.broadcast_to(outs[0].shape());
                    let here = here.broadcast_to(outs[0].shape());
                    here.select(&t, &t.zeros_like())
                })
            };
            let inside = x.gt(lo).bitwise_and(x.lt(hi));
            // If the bounds are in the wrong order, the result is the upper one.
            let below = lo.gt(x).bitwise_and(lo.lt(hi));
            let sum = add_tangents(part(&t[0], below), part(&t[1], inside));
            vec![add_tangents(sum, part(&t[2], hi.lt(x)))]
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let x = move_batch_axis(&args[1], axes[1], 0, axis);
        let bound = |i: usize| match axes[i] {
            None if args[i].ndim() == 0 => args[i].clone(),
            ax => {
                let b = move_batch_axis(&args[i], ax, 0, axis);
                if b.ndim() < x.ndim() {
                    b.broadcast_in_dim(x.shape(), &[0])
                } else {
                    b
                }
            }
        };
        batched(bind1(Clamp, &[&bound(0), &x, &bound(2)]), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let args = ctx.broadcast_operands(args, outs[0]);
        if outs[0].dtype() == DType::Bool {
            // XLA does not support `clamp` of booleans outside larger computations.
            let low = ctx.op1("maximum", &args[..2], outs[0], "");
            return vec![ctx.op1("minimum", &[low, args[2]], outs[0], "")];
        }
        vec![ctx.op1("clamp", &args, outs[0], "")]
    }
}

/// Converts the dtype.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConvertElementType {
    /// Dtype of the result.
    pub new_dtype: DType,
    /// Whether the result is weakly typed.
    pub weak_type: bool,
}

impl Primitive for ConvertElementType {
    fn name(&self) -> &'static str {
        "convert_element_type"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("new_dtype", Param::new(self.new_dtype.numpy_name())),
            ("weak_type", Param::flag(self.weak_type)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        one(args[0]
            .with_dtype(self.new_dtype)
            .with_weak_type(self.weak_type))
    }
    elementwise_rules!(propagates_weak_type: false);
    fn differentiation(&self) -> Differentiation<'_> {
        if !self.new_dtype.is_inexact() {
            return Differentiation::Zero;
        }
        Differentiation::linear(|ct, operand| ct.astype(operand.dtype()))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        let (from, to) = (args[0].dtype(), self.new_dtype);
        if to == DType::Bool && from != DType::Bool {
            let zero = ctx.splat(0, args[0].aval());
            return vec![ctx.compare("NE", [args[0], zero])];
        }
        if from.is_complex() && !to.is_complex() {
            let re = ctx.part("real", args[0]);
            return vec![ctx.convert(re, to)];
        }
        vec![ctx.convert(args[0], to)]
    }
}

impl Array {
    /// Converts the array to another dtype; returns the array itself if it already has that
    /// dtype.
    ///
    /// Floats are truncated to integers; numbers become booleans by comparison with zero.
    #[doc(alias = "convert_element_type")]
    #[track_caller]
    pub fn astype(&self, dtype: DType) -> Array {
        if let Some(l) = self.as_literal() {
            return Array::scalar(l.value(), dtype);
        }
        if self.dtype() == dtype && !self.aval().weak_type() {
            return self.clone();
        }
        self.convert(dtype, false)
    }

    /// Binds [`ConvertElementType`].
    #[track_caller]
    pub(crate) fn convert(&self, new_dtype: DType, weak_type: bool) -> Array {
        let to = ConvertElementType {
            new_dtype,
            weak_type,
        };
        bind1(to, &[self])
    }

    /// Selects from `on_true` where the boolean element is true, and from `on_false` otherwise.
    /// Both have the same dtype and the shape of `self`, or `self` is 0-d.
    #[track_caller]
    pub(crate) fn select(&self, on_true: &Array, on_false: &Array) -> Array {
        bind1(SelectN, &[self, on_false, on_true])
    }

    /// Clamps each element to the interval from `lo` to `hi` (`jnp.clip`, with promotion and
    /// broadcasting; [`lax::clamp`](crate::lax::clamp) has neither). A bound of `None` is open.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([-2, 0, 5]);
    /// assert_eq!(x.clip(-1, 1).to_vec::<i32>(), [-1, 0, 1]);
    /// assert_eq!(x.clip(None, 1).to_vec::<i32>(), [-2, 0, 1]);
    /// ```
    ///
    /// # Panics
    /// Panics if the bounds do not broadcast to the array's shape, or if an operand is complex.
    #[track_caller]
    pub fn clip(&self, lo: impl IntoBound, hi: impl IntoBound) -> Array {
        let (lo, hi) = (lo.into_bound(), hi.into_bound());
        let given = [&lo, &hi].map(|bound| bound.as_ref().unwrap_or(self));
        parts::require_real("clip", &[self, given[0], given[1]]);
        let above = match lo {
            Some(lo) => self.maximum(lo),
            None => self.clone(),
        };
        match hi {
            Some(hi) => above.minimum(hi),
            None => above,
        }
    }
}

/// A bound of [`Array::clip`]: an operand, or `None`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a bound",
    label = "not an array, a number or `None`",
    note = "pass an `Array`, `&Array`, a number, or `None` for an open bound"
)]
pub trait IntoBound {
    /// Converts the bound to an array.
    fn into_bound(self) -> Option<Array>;
}

impl<T: IntoArray> IntoBound for T {
    fn into_bound(self) -> Option<Array> {
        Some(self.into_array())
    }
}
impl IntoBound for Option<Array> {
    fn into_bound(self) -> Option<Array> {
        self
    }
}

/// Clamps each element of `x` to the interval from `min` to `max`, each of which is 0-d or has the
/// shape of `x` (`jax.lax.clamp`). The result is `max` for an empty interval,
/// where `min` exceeds `max`.
///
/// ```no_run
/// use ramie_core::{Array, lax};
/// let x = Array::from([-2.0f32, 0.5, 7.0]);
/// assert_eq!(lax::clamp(0.0, &x, 1.0).to_vec::<f32>(), [0.0, 0.5, 1.0]);
/// ```
///
/// # Panics
/// Panics if a bound is neither 0-d nor of the shape of `x`, if its dtype does not promote to that
/// of `x`, or if the elements are complex.
#[track_caller]
pub fn clamp(min: impl IntoArray, x: &Array, max: impl IntoArray) -> Array {
    let min = operands::as_dtype_of("clamp", x, &min.into_array());
    let max = operands::as_dtype_of("clamp", x, &max.into_array());
    bind1(Clamp, &[&min, x, &max])
}

/// Selects each element from one of `cases`, which have the same shape and dtype
/// (`jax.lax.select_n`). `which` is the index of the case, in `i32`, or a boolean that selects the
/// second of two cases. It has the shape of the cases or is 0-d. An index below 0 selects the first
/// case and one beyond the last selects the last.
///
/// ```no_run
/// use ramie_core::{Array, lax};
/// let cases = [Array::from([1, 2, 3]), Array::from([10, 20, 30]), Array::from([7, 8, 9])];
/// let chosen = lax::select_n(&Array::from([2, 0, 1]), &cases);
/// assert_eq!(chosen.to_vec::<i32>(), [7, 2, 30]);
/// ```
///
/// # Panics
/// Panics if there are no cases, if they differ in shape or dtype, or if `which` is neither `i32`
/// nor a boolean for at most two cases, or has another shape.
#[track_caller]
pub fn select_n(which: &Array, cases: &[Array]) -> Array {
    let args: Vec<&Array> = std::iter::once(which).chain(cases).collect();
    bind1(SelectN, &args)
}

/// Selects from `on_true` where `condition` is true, and from `on_false` otherwise. Operands are
/// promoted and broadcast (`jnp.where`).
///
/// ```no_run
/// use ramie_core::{Array, where_};
/// let x = Array::from([-1.0f32, 4.0]);
/// let roots = where_(x.gt(0.0), x.sqrt(), 0.0);
/// assert_eq!(roots.to_vec::<f32>(), [0.0, 2.0]);
/// ```
///
/// # Panics
/// Panics if the shapes do not broadcast.
#[doc(alias = "select_n")]
#[track_caller]
pub fn where_(
    condition: impl IntoArray,
    on_true: impl IntoArray,
    on_false: impl IntoArray,
) -> Array {
    let (a, b) = operands::promote("where", &on_true.into_array(), &on_false.into_array());
    let condition = condition.into_array().astype(DType::Bool);
    let shape = operands::common_shape("where", &[&condition, &a, &b]);
    let condition = if condition.ndim() == 0 {
        condition
    } else {
        condition.broadcast_to(&shape)
    };
    condition.select(&a.broadcast_to(&shape), &b.broadcast_to(&shape))
}
