//! Types used by rules, and helpers that rules share.

use crate::extend::Outputs;
use crate::sharding::{AxisName, OutSharding};
use crate::{Array, Aval};
use smallvec::SmallVec;

/// The axis that batching adds.
#[derive(Clone, Copy, Debug)]
pub struct BatchAxis {
    /// Number of examples.
    pub size: usize,
    /// Name of the axis, if collectives may refer to it.
    pub name: Option<AxisName>,
    /// Mesh axes along which the examples are sharded (`spmd_axis_name`).
    pub spmd: &'static [AxisName],
    /// Explicit mesh axes along which the examples are sharded, in the types of all batched
    /// arrays.
    pub explicit: &'static [AxisName],
}

impl From<usize> for BatchAxis {
    /// Creates an axis without a name.
    fn from(size: usize) -> BatchAxis {
        BatchAxis {
            size,
            name: None,
            spmd: &[],
            explicit: &[],
        }
    }
}

impl BatchAxis {
    /// Returns the mesh axes along which the examples are sharded.
    pub(crate) fn spmd_names(self) -> &'static [AxisName] {
        self.spmd
    }

    /// Returns whether a primitive must be batched because it refers to this axis.
    pub(crate) fn is_used_by(self, primitive: &dyn crate::program::primitive::Primitive) -> bool {
        self.name.is_some_and(|name| primitive.uses_axis(name))
    }
}

/// The results of a batching rule with the batch axis of each; `None` for a result that is the
/// same for all examples.
pub type Batched = (Outputs, SmallVec<[Option<usize>; 1]>);

/// `(primals, tangents, results) → tangents of the results`; `None` is zero.
pub type JvpRule<'a> = Box<dyn Fn(&[Array], &[Option<Array>], &[Array]) -> Vec<Option<Array>> + 'a>;

/// `(cotangents of the results, operands) → cotangents of the operands`, `None`
/// for zero and for operands that are not linear.
pub type TransposeRule<'a> = Box<dyn Fn(&[Option<Array>], &[Operand]) -> Vec<Option<Array>> + 'a>;

/// An operand in a transpose rule.
#[derive(Clone)]
pub enum Operand {
    /// An operand in which the operation is linear; its value is unknown.
    Linear(Aval),
    /// A known value.
    Known(Array),
}

impl Operand {
    /// Returns the type of the operand.
    pub fn aval(&self) -> Aval {
        match self {
            Operand::Linear(a) => *a,
            Operand::Known(a) => a.aval(),
        }
    }

    /// Returns whether the operation is transposed with respect to this operand.
    pub fn is_linear(&self) -> bool {
        matches!(self, Operand::Linear(_))
    }

    /// Returns the value, if known.
    pub fn known(&self) -> Option<&Array> {
        match self {
            Operand::Known(a) => Some(a),
            Operand::Linear(_) => None,
        }
    }

    /// Returns the operand in the trace of a nested program: of type `aval` if it is linear, the
    /// next of `known` otherwise.
    pub(crate) fn nested(&self, aval: Aval, known: &mut dyn Iterator<Item = Array>) -> Operand {
        match self {
            Operand::Linear(_) => Operand::Linear(aval),
            Operand::Known(_) => Operand::Known(known.next().expect("one per known operand")),
        }
    }
}

/// The differentiation rule of a primitive.
pub enum Differentiation<'a> {
    /// The tangent is zero wherever it exists, as for comparisons, integers and `floor`.
    Zero,
    /// There is no derivative.
    Undefined {
        /// The reason.
        why: &'static str,
        /// The remedy, in the imperative.
        help: &'static str,
    },
    /// The operation is linear in all operands jointly: the tangent is the same operation applied
    /// to tangents. Contains the transpose rule.
    Linear(TransposeRule<'a>),
    /// A rule for tangents and, for an operation that is linear in some operand (such as a
    /// product), the transpose in that operand.
    Jvp {
        /// The tangent rule.
        jvp: JvpRule<'a>,
        /// The transpose rule, if the operation has one.
        transpose: Option<TransposeRule<'a>>,
    },
    /// A primitive that contains programs.
    Nested(&'a dyn NestedDifferentiation),
}

impl<'a> Differentiation<'a> {
    /// Creates a tangent rule without a transpose.
    pub fn jvp(
        rule: impl Fn(&[Array], &[Option<Array>], &[Array]) -> Vec<Option<Array>> + 'a,
    ) -> Differentiation<'a> {
        Differentiation::Jvp {
            jvp: Box::new(rule),
            transpose: None,
        }
    }

    /// Creates a tangent rule and the transpose in the linear operands.
    pub fn bilinear(
        rule: impl Fn(&[Array], &[Option<Array>], &[Array]) -> Vec<Option<Array>> + 'a,
        transpose: impl Fn(&[Option<Array>], &[Operand]) -> Vec<Option<Array>> + 'a,
    ) -> Differentiation<'a> {
        Differentiation::Jvp {
            jvp: Box::new(rule),
            transpose: Some(Box::new(transpose)),
        }
    }

    /// Creates the transpose of an operation that is linear in its only operand.
    pub fn linear(rule: impl Fn(&Array, Aval) -> Array + 'a) -> Differentiation<'a> {
        Differentiation::Linear(Box::new(move |cts, operands| {
            vec![cts[0].as_ref().map(|ct| rule(ct, operands[0].aval()))]
        }))
    }
}

/// Tangents or cotangents of a list of arrays; `None` is zero.
pub type Tangents = Vec<Option<Array>>;

/// Differentiation of a primitive that contains programs.
pub trait NestedDifferentiation {
    /// Computes results and their tangents.
    fn jvp(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents);

    /// Computes the results in the trace below the linearization, and records their tangents in
    /// it. Computations that do not depend on tangents must be bound separately.
    fn linearize(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents);

    /// Computes the cotangents of the linear operands.
    fn transpose(&self, cts: &[Option<Array>], operands: &[Operand]) -> Vec<Option<Array>>;
}

/// Moves an array's batch axis to `to`. An array without a batch axis is broadcast over the
/// examples of `axis`, sharded like these.
pub fn move_batch_axis(
    array: &Array,
    from: Option<usize>,
    to: usize,
    axis: impl Into<BatchAxis>,
) -> Array {
    match from {
        Some(from) if from == to => array.clone(),
        Some(from) => array.move_axis(from as isize, to as isize),
        None => {
            let axis = axis.into();
            let mut shape = array.shape().to_vec();
            shape.insert(to, axis.size);
            let kept: Vec<usize> = (0..shape.len()).filter(|&d| d != to).collect();
            let sharding = OutSharding::with_examples(array.aval(), to, axis.explicit);
            array.repeated(&shape, &kept, sharding)
        }
    }
}

/// Moves the batch axes of arrays to the front, like [`move_batch_axis`].
pub(crate) fn in_front(
    arrays: &[Array],
    axes: &[Option<usize>],
    axis: impl Into<BatchAxis>,
) -> Vec<Array> {
    let axis = axis.into();
    let pairs = arrays.iter().zip(axes);
    pairs
        .map(|(x, at)| move_batch_axis(x, *at, 0, axis))
        .collect()
}

/// Reverses broadcasting: sums `array` over the axes along which an operand of `shape` was
/// repeated.
pub fn sum_to_shape(array: &Array, shape: &[usize]) -> Array {
    if array.shape() == shape {
        return array.clone();
    }
    let lead = array.ndim() - shape.len();
    let axes: Vec<isize> = (0..array.ndim())
        .filter(|&d| d < lead || (shape[d - lead] == 1 && array.shape()[d] != 1))
        .map(|d| d as isize)
        .collect();
    array.reduce_sum(&axes).reshape(shape)
}

/// Returns the type of one example: the type without its batch axis.
pub(crate) fn example(aval: Aval, axis: Option<usize>) -> Aval {
    axis.map_or(aval, |axis| aval.without_dimension(axis))
}
