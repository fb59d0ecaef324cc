//! `ragged_dot_general`: products over groups of different sizes, as in mixtures of experts.

use super::{
    Contraction, DotDimensionNumbers, DotGeneral, Precision, current_default, ordered, partners,
};
use crate::passes::{add_tangents, transpose_of};
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Operand, Param, Primitive, batched,
    move_batch_axis, one,
};
use crate::program::class::Class;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError};
use std::fmt;

/// The correspondence of the axes of a grouped product's operands, and the axis that is divided
/// into groups.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RaggedDotDimensionNumbers {
    /// Axes of the product.
    pub dot: DotDimensionNumbers,
    /// Axis of the left operand that is divided into groups: a free, a contracted or a batch
    /// axis.
    pub lhs_ragged: usize,
    /// Axis of the right operand with an element for each group, if `lhs_ragged` is a free axis.
    pub rhs_group: Option<usize>,
}

impl RaggedDotDimensionNumbers {
    /// Creates the numbers of a matrix whose rows are in groups, with one matrix for each group.
    pub fn rows() -> RaggedDotDimensionNumbers {
        RaggedDotDimensionNumbers {
            dot: DotDimensionNumbers::new([&[1], &[1]], [&[], &[]]),
            lhs_ragged: 0,
            rhs_group: Some(0),
        }
    }

    /// Returns the batch axes and the axes of the same kind before the divided one: each
    /// combination of their elements may have its own group sizes.
    fn prefix(&self, rank: usize, ragged: usize, batch: &[usize], contracting: &[usize]) -> Dims {
        let before = |list: &[usize]| -> Dims {
            list.iter().copied().take_while(|&d| d != ragged).collect()
        };
        if batch.contains(&ragged) {
            return before(batch);
        }
        let free: Dims = (0..rank)
            .filter(|d| !batch.contains(d) && !contracting.contains(d))
            .collect();
        let kind = if contracting.contains(&ragged) {
            contracting
        } else {
            &free[..]
        };
        batch.iter().copied().chain(before(kind)).collect()
    }

    fn lhs_prefix(&self, rank: usize) -> Dims {
        self.prefix(
            rank,
            self.lhs_ragged,
            &self.dot.lhs_batch,
            &self.dot.lhs_contracting,
        )
    }

    /// Returns whether the divided axis is contracted: then there is a result for each group.
    fn sums_groups(&self) -> bool {
        self.dot.lhs_contracting.contains(&self.lhs_ragged)
    }
}

/// Formats the numbers like JAX.
impl fmt::Display for RaggedDotDimensionNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tuple = |list: &[usize]| match Param::tuple(list) {
            Param::Text(text) => text,
            _ => unreachable!("a tuple is text"),
        };
        let (n, group) = (&self.dot, self.rhs_group.as_slice());
        write!(
            f,
            "RaggedDotDimensionNumbers(dot_dimension_numbers=(({}, {}), ({}, {})), \
             lhs_ragged_dimensions={}, rhs_group_dimensions={})",
            tuple(&n.lhs_contracting),
            tuple(&n.rhs_contracting),
            tuple(&n.lhs_batch),
            tuple(&n.rhs_batch),
            tuple(&[self.lhs_ragged]),
            tuple(group)
        )
    }
}

/// A grouped product. The operands are both factors and the group sizes, in order along the
/// divided axis; elements after the last group count as zeros.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RaggedDotGeneral {
    /// Correspondence of the operands' axes, and the divided axis.
    pub dimension_numbers: RaggedDotDimensionNumbers,
    /// Precision of products; `None` lets the platform choose.
    pub precision: Option<Precision>,
    /// Dtype of the result; `None` is the operands' dtype.
    pub preferred_element_type: Option<DType>,
}

/// Returns the group membership of elements: `mask[…, g, i]` is whether element `i` of `n` is in
/// group `g`.
fn membership(sizes: &Array, n: usize) -> Array {
    let rank = sizes.ndim();
    let mut shape: Dims = sizes.shape().into();
    shape.push(n);
    let kept: Dims = (0..rank).collect();
    // Sizes `[2, 3]` give the ends `[2, 5]` and the starts `[0, 2]`.
    let ends = sizes.cumsum(-1);
    let starts = &ends - sizes;
    let index = Array::iota(&shape, rank, sizes.dtype());
    let repeated = |x: &Array| x.broadcast_in_dim(&shape, &kept);
    repeated(&starts)
        .le(&index)
        .bitwise_and(index.lt(repeated(&ends)))
}

/// Repeats `x` for each group along a new first axis, with zeros for the elements of other
/// groups. Groups divide axis `ragged`; `prefix` contains the axes of `sizes` before that of
/// groups.
fn expanded(x: &Array, ragged: usize, prefix: &[usize], sizes: &Array) -> Array {
    let groups = sizes.shape()[prefix.len()];
    let mask = membership(sizes, x.shape()[ragged]);
    let mut shape = Dims::from_elem(groups, 1);
    shape.extend_from_slice(x.shape());
    // Target axes of the mask, in increasing order.
    let mut targets: Vec<(usize, usize)> = prefix.iter().map(|d| d + 1).zip(0..).collect();
    targets.push((0, prefix.len()));
    targets.push((ragged + 1, prefix.len() + 1));
    targets.sort_unstable();
    let order: Vec<isize> = targets.iter().map(|p| p.1 as isize).collect();
    let to: Dims = targets.iter().map(|p| p.0).collect();
    let mask = mask.transpose(&order).broadcast_in_dim(&shape, &to);
    let every: Dims = (1..shape.len()).collect();
    let repeated = x.broadcast_in_dim(&shape, &every);
    mask.select(&repeated, &repeated.zeros_like())
}

fn past_first(list: &[usize]) -> Dims {
    list.iter().map(|d| d + 1).collect()
}

fn with_first(list: &[usize]) -> Dims {
    std::iter::once(0).chain(past_first(list)).collect()
}

impl RaggedDotGeneral {
    fn with(&self, dimension_numbers: RaggedDotDimensionNumbers) -> RaggedDotGeneral {
        RaggedDotGeneral {
            dimension_numbers,
            ..self.clone()
        }
    }

    /// Returns the ungrouped product.
    fn product(&self, dimension_numbers: DotDimensionNumbers) -> DotGeneral {
        DotGeneral {
            dimension_numbers,
            precision: self.precision,
            preferred_element_type: self.preferred_element_type,
            out_sharding: None,
        }
    }

    /// Broadcasts group sizes over the axes before the divided one.
    fn all_sizes(&self, lhs: &[usize], sizes: &Array) -> Array {
        let prefix = self.dimension_numbers.lhs_prefix(lhs.len());
        if sizes.ndim() == prefix.len() + 1 {
            return sizes.clone();
        }
        let mut shape: Dims = prefix.iter().map(|&d| lhs[d]).collect();
        shape.push(sizes.shape()[0]);
        sizes.broadcast_in_dim(&shape, &[prefix.len()])
    }

    /// Computes the product densely, with zeros for the elements of other groups.
    fn dense(&self, lhs: &Array, rhs: &Array, sizes: &Array) -> Array {
        let numbers = &self.dimension_numbers;
        let n = &numbers.dot;
        let sizes = self.all_sizes(lhs.shape(), sizes);
        let expand_lhs = || {
            let prefix = numbers.lhs_prefix(lhs.ndim());
            expanded(lhs, numbers.lhs_ragged, &prefix, &sizes)
        };
        if let Some(group) = numbers.rhs_group {
            let mut wide = DotDimensionNumbers {
                lhs_contracting: past_first(&n.lhs_contracting),
                lhs_batch: past_first(&n.lhs_batch),
                ..n.clone()
            };
            // `[groups, m, k] × [groups, k, n] → [m, n]`: the group is contracted with `k`. A row
            // is zero in all groups but its own, so the sum over groups has one nonzero term.
            wide.lhs_contracting.push(0);
            wide.rhs_contracting.push(group);
            return bind1(self.product(wide), &[&expand_lhs(), rhs]);
        }
        if !numbers.sums_groups() {
            return bind1(self.product(n.clone()), &[lhs, rhs]);
        }
        // `[groups, m, k] × [groups, k, n] → [groups, m, n]` with groups along `k`: the group is a
        // batch axis, which both factors need.
        let pair = n.lhs_contracting.iter().zip(&n.rhs_contracting);
        let mut pair = pair.filter(|(l, _)| **l == numbers.lhs_ragged);
        let ragged = *pair.next().expect("the divided axis is contracted").1;
        let prefix = numbers.prefix(rhs.ndim(), ragged, &n.rhs_batch, &n.rhs_contracting);
        let wide = DotDimensionNumbers {
            lhs_contracting: past_first(&n.lhs_contracting),
            rhs_contracting: past_first(&n.rhs_contracting),
            lhs_batch: with_first(&n.lhs_batch),
            rhs_batch: with_first(&n.rhs_batch),
        };
        let rhs = expanded(rhs, ragged, &prefix, &sizes);
        bind1(self.product(wide), &[&expand_lhs(), &rhs])
    }

    /// Computes the cotangent of the left operand, if groups divide one of its free axes.
    fn transpose_lhs(&self, ct: &Array, x: Aval, y: &Array, sizes: &Array) -> Array {
        let numbers = &self.dimension_numbers;
        let n = &numbers.dot;
        let group = numbers.rhs_group.expect("an axis of groups");
        let x_free = n.lhs_free(x.ndim());
        let mut y_free = n.rhs_free(y.ndim());
        y_free.retain(|d| *d != group);
        // The cotangent has the axes of the product: batch axes, free axes of `x`, free axes of
        // `y`. It is multiplied by the matrix of its group, so the result has groups along the same
        // axis.
        let (batch, rows) = (n.lhs_batch.len(), x_free.len());
        let position = x_free.iter().position(|&d| d == numbers.lhs_ragged);
        let transposed = RaggedDotDimensionNumbers {
            dot: DotDimensionNumbers {
                lhs_contracting: (batch + rows..batch + rows + y_free.len()).collect(),
                rhs_contracting: y_free,
                lhs_batch: (0..batch).collect(),
                rhs_batch: n.rhs_batch.clone(),
            },
            lhs_ragged: batch + position.expect("a divided axis of the left operand"),
            rhs_group: Some(group),
        };
        let out = bind1(self.with(transposed), &[ct, y, sizes]);
        // The other axes of the result are the contracted axes of `x`, in the order of their partners
        // in `y`.
        let contracted = partners(&n.rhs_contracting, &n.lhs_contracting);
        let axes = n.lhs_batch.iter().copied().chain(x_free).chain(contracted);
        ordered(&out, axes).astype(x.dtype())
    }

    /// Computes the cotangent of the right operand, if groups divide a free axis of the left one.
    fn transpose_rhs(&self, ct: &Array, x: &Array, y: Aval, sizes: &Array) -> Array {
        let numbers = &self.dimension_numbers;
        let n = &numbers.dot;
        let group = numbers.rhs_group.expect("an axis of groups");
        let x_free = n.lhs_free(x.ndim());
        let mut y_free = n.rhs_free(y.ndim());
        y_free.retain(|d| *d != group);
        let batch = n.lhs_batch.len();
        let transposed = RaggedDotDimensionNumbers {
            dot: DotDimensionNumbers {
                // The divided axis, a free axis of `x`, is now contracted: there is a product for
                // each group, along a first axis, which is the axis of groups of `y`.
                rhs_contracting: (batch..batch + x_free.len()).collect(),
                lhs_contracting: x_free,
                lhs_batch: n.lhs_batch.clone(),
                rhs_batch: (0..batch).collect(),
            },
            lhs_ragged: numbers.lhs_ragged,
            rhs_group: None,
        };
        let out = bind1(self.with(transposed), &[x, ct, sizes]);
        let contracted = partners(&n.lhs_contracting, &n.rhs_contracting);
        // The product may have a wider `preferred_element_type` than the operand.
        let axes = std::iter::once(group).chain(n.rhs_batch.iter().copied());
        ordered(&out, axes.chain(contracted).chain(y_free)).astype(y.dtype())
    }

    /// Computes the cotangent of one factor by transposing the dense product.
    fn transpose_dense(&self, ct: &Array, operands: &[Operand], factor: usize) -> Option<Array> {
        let sizes = operands[2].known().expect("sizes are known");
        let other = operands[1 - factor].known()?;
        let aval = operands[factor].aval();
        let linear = |x: &Array| match factor {
            0 => self.dense(x, other, sizes),
            _ => self.dense(other, x, sizes),
        };
        let operand = Aval::new(aval.shape(), aval.dtype());
        Some(transpose_of(linear, operand, ct))
    }
}

impl RaggedDotGeneral {
    /// Returns the number of groups.
    fn group_count(&self, lhs: Aval, sizes: Aval) -> Result<usize, ShapeError> {
        let prefix = self.dimension_numbers.lhs_prefix(lhs.ndim());
        let expected: Dims = prefix.iter().map(|&d| lhs.shape()[d]).collect();
        let groups = sizes.shape().last().copied();
        let fits = sizes.ndim() == 1
            || (sizes.ndim() == expected.len() + 1 && sizes.shape().starts_with(&expected));
        let (Some(groups), true, true) = (groups, fits, sizes.dtype().is_integer()) else {
            return Err(ShapeError::new(format!(
                "the group sizes are {sizes}, expected integers of shape [groups] or {expected:?} \
                 followed by groups"
            ))
            .help(
                "pass one list of sizes for all, or one for each element of the preceding axes",
            ));
        };
        Ok(groups)
    }

    /// Returns the product of one group and the right operand without the axis of groups.
    fn one_group(&self, rhs: Aval, groups: usize) -> Result<(DotGeneral, Aval), ShapeError> {
        let n = &self.dimension_numbers.dot;
        let mut product = self.product(n.clone());
        let mut right = rhs;
        if let Some(group) = self.dimension_numbers.rhs_group {
            let free = group < rhs.ndim()
                && !n.rhs_contracting.contains(&group)
                && !n.rhs_batch.contains(&group);
            crate::ensure_shape!(
                free,
                "the axis of groups, {group}, is not a free axis of rhs {rhs}"
            );
            let matrices = rhs.shape()[group];
            if matrices != groups {
                return Err(ShapeError::new(format!(
                    "got the sizes of {groups} groups, but rhs {rhs} has {matrices} matrices along \
                     axis {group}"
                ))
                .help(format!("pass {matrices} sizes, one for each matrix")));
            }
            // The axis of groups is not an axis of the result.
            let mut shape: Dims = rhs.shape().into();
            shape.remove(group);
            right = rhs.with_shape(&shape);
            let past = |d: &usize| d - usize::from(*d > group);
            let numbers = &mut product.dimension_numbers;
            numbers.rhs_contracting = n.rhs_contracting.iter().map(past).collect();
            numbers.rhs_batch = n.rhs_batch.iter().map(past).collect();
        }
        Ok((product, right))
    }
}

impl Primitive for RaggedDotGeneral {
    fn name(&self) -> &'static str {
        "ragged_dot_general"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("group_offset", Param::new("None")),
            ("out_sharding", Param::new("None")),
            (
                "precision",
                Param::optional(self.precision.map(Precision::of_both)),
            ),
            (
                "preferred_element_type",
                Param::optional(self.preferred_element_type.map(|d| d.numpy_name())),
            ),
            (
                "ragged_dot_dimension_numbers",
                Param::new(&self.dimension_numbers),
            ),
        ]
    }
    fn facts(&self) -> Facts<'_> {
        Facts::strong()
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(
            args.len() == 3,
            "expects two factors and the group sizes, got {} operands",
            args.len()
        );
        let (lhs, rhs, sizes) = (args[0].strong(), args[1].strong(), args[2]);
        Class::Number.check(lhs.dtype())?;
        let numbers = &self.dimension_numbers;
        let n = &numbers.dot;
        crate::ensure_shape!(
            numbers.lhs_ragged < lhs.ndim(),
            "groups divide axis {} of {lhs}, which is out of range",
            numbers.lhs_ragged
        );
        // Groups along a free axis choose matrices of rhs; along other axes there is nothing to
        // choose.
        let own = !n.lhs_contracting.contains(&numbers.lhs_ragged)
            && !n.lhs_batch.contains(&numbers.lhs_ragged);
        crate::ensure_shape!(
            own == numbers.rhs_group.is_some(),
            "groups divide axis {} of lhs, and the axis of groups of rhs is {:?}: there must be \
             one exactly if the divided axis is a free axis",
            numbers.lhs_ragged,
            numbers.rhs_group
        );
        let groups = self.group_count(lhs, sizes)?;
        let (product, right) = self.one_group(rhs, groups)?;
        let out = product.infer(&[lhs, right])?[0];
        if !numbers.sums_groups() {
            return one(out);
        }
        let shape: Dims = std::iter::once(groups)
            .chain(out.shape().iter().copied())
            .collect();
        one(out.with_shape(&shape))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |p, t, _| {
                let again = |x: &Array, y: &Array| bind1(self.clone(), &[x, y, &p[2]]);
                let lhs = t[0].as_ref().map(|t| again(t, &p[1]));
                let rhs = t[1].as_ref().map(|t| again(&p[0], t));
                vec![add_tangents(lhs, rhs)]
            },
            |cts, operands| {
                let Some(ct) = &cts[0] else {
                    return vec![None, None, None];
                };
                if self.dimension_numbers.rhs_group.is_none() {
                    let back = |factor| self.transpose_dense(ct, operands, factor);
                    return vec![back(0), back(1), None];
                }
                let (x, y) = (&operands[0], &operands[1]);
                let sizes = operands[2].known().expect("sizes are known");
                vec![
                    y.known()
                        .map(|y| self.transpose_lhs(ct, x.aval(), y, sizes)),
                    x.known()
                        .map(|x| self.transpose_rhs(ct, x, y.aval(), sizes)),
                    None,
                ]
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let numbers = &self.dimension_numbers;
        // Each example has its own sizes, with a list for each combination of elements of the
        // preceding axes.
        let mut lhs: Dims = args[0].shape().into();
        if let Some(at) = axes[0] {
            lhs.remove(at);
        }
        let prefix: Dims = numbers
            .lhs_prefix(lhs.len())
            .iter()
            .map(|&d| lhs[d])
            .collect();
        let mut sizes = move_batch_axis(&args[2], axes[2], 0, axis);
        // `[batch, groups]` fits no operand with preceding axes: the shape rule wants one list for
        // all, or one for each combination of elements.
        if sizes.ndim() == 2 && !prefix.is_empty() {
            let groups = sizes.shape()[1];
            let shape: Dims = [axis.size]
                .into_iter()
                .chain(prefix)
                .chain([groups])
                .collect();
            sizes = sizes.broadcast_in_dim(&shape, &[0, shape.len() - 1]);
        }
        let moved = RaggedDotDimensionNumbers {
            dot: DotDimensionNumbers {
                lhs_contracting: past_first(&numbers.dot.lhs_contracting),
                rhs_contracting: past_first(&numbers.dot.rhs_contracting),
                lhs_batch: with_first(&numbers.dot.lhs_batch),
                rhs_batch: with_first(&numbers.dot.rhs_batch),
            },
            lhs_ragged: numbers.lhs_ragged + 1,
            rhs_group: numbers.rhs_group.map(|d| d + 1),
        };
        let lhs = move_batch_axis(&args[0], axes[0], 0, axis);
        let rhs = move_batch_axis(&args[1], axes[1], 0, axis);
        let out = bind1(self.with(moved), &[&lhs, &rhs, &sizes]);
        // An axis of groups precedes the batch axes in the result.
        batched(out, Some(usize::from(numbers.sums_groups())))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        ctx.traced("ragged_dot_general", args, |a| {
            vec![self.dense(&a[0], &a[1], &a[2])]
        })
    }
}

impl Array {
    /// Multiplies the rows of a matrix in groups of `group_sizes` rows, each group by its own
    /// matrix of `rhs` (`jax.lax.ragged_dot`). Shapes are `[m, k]`, `[groups, k, n]` and
    /// `[groups]`; rows after the last group yield zeros.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType, array};
    /// let tokens = Array::ones(&[5, 2], DType::F32);
    /// let experts = array([[[1.0], [1.0]], [[10.0], [10.0]]]);
    /// let out = tokens.ragged_dot(&experts, &Array::from([2, 3]));
    /// assert_eq!(out.to_vec::<f32>(), [2.0, 2.0, 20.0, 20.0, 20.0]);
    /// ```
    ///
    /// # Panics
    /// Panics if shapes or dtypes do not fit, or if sizes are not integers.
    #[track_caller]
    pub fn ragged_dot(&self, rhs: &Array, group_sizes: &Array) -> Array {
        self.ragged_dot_general(
            rhs,
            group_sizes,
            RaggedDotDimensionNumbers::rows(),
            Contraction::new(),
        )
    }

    /// Computes a product over groups of different sizes (`jax.lax.ragged_dot_general`). Groups
    /// divide one axis of the left operand, in order. The role of that axis determines the
    /// result:
    ///
    /// - a free axis: each group is multiplied by its own element of `rhs` along the axis of
    ///   groups;
    /// - a contracted axis: there is a product for each group, along a new first axis of the
    ///   result;
    /// - a batch axis: groups have no effect.
    ///
    /// `group_sizes` has the shape `[groups]`, optionally preceded by the sizes of the batch axes
    /// and of the axes of the same kind before the divided one.
    ///
    /// # Panics
    /// Panics if axes, shapes or dtypes do not fit, or if sizes are not integers.
    #[track_caller]
    pub fn ragged_dot_general(
        &self,
        rhs: &Array,
        group_sizes: &Array,
        dimension_numbers: RaggedDotDimensionNumbers,
        how: impl Into<Contraction>,
    ) -> Array {
        let how = how.into();
        assert!(
            how.out_sharding.is_none(),
            "ragged_dot_general: got an out_sharding, which it does not support\n  help: pass the \
             result to reshard"
        );
        let dot = RaggedDotGeneral {
            dimension_numbers,
            precision: how.precision.or_else(current_default),
            preferred_element_type: how.preferred_element_type,
        };
        bind1(dot, &[self, rhs, group_sizes])
    }
}
