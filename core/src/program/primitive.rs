//! The trait of primitives: each operation is a struct of its parameters that implements all its
//! rules, and states what the passes may assume of it.

use super::nested::{Jaxprs, Nested};
use super::rules::{BatchAxis, Batched, Differentiation};
use crate::extend::{Outputs, ShardingRule};
use crate::program::checks::Errors;
use crate::program::lower::{Lowering, Value};
use crate::sharding::{AxisName, OutSharding};
use crate::{Array, Aval, Mesh, ShapeError};
use smallvec::SmallVec;
use std::any::Any;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The types of a primitive's results.
pub type Avals = SmallVec<[Aval; 1]>;

/// An operation with all its rules.
pub trait Primitive: Debug + DynPrimitive + Send + Sync + 'static {
    /// Returns the name in a printed jaxpr, which is JAX's if JAX has the primitive.
    fn name(&self) -> &'static str;

    /// Returns the parameters as a jaxpr prints them for operands of these types, in alphabetical
    /// order. Like JAX, some are omitted if they have their default values.
    fn params(&self, _operands: &[Aval]) -> Vec<(&'static str, Param)> {
        Vec::new()
    }

    /// Implements the shape and dtype rule.
    ///
    /// # Errors
    /// Returns an error if the operands are invalid.
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError>;

    /// Returns how the operation is differentiated.
    fn differentiation(&self) -> Differentiation<'_>;

    /// Implements the batching rule: `axes[i]` is the batch axis of `args[i]`, with `axis.size`
    /// examples, or `None` if the operand is the same for all. Operations that contain programs
    /// pass `axis` on to them. Operations that refer to the axis by name ([`Facts::axes`]) are
    /// batched even if no operand is.
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched;

    /// Implements the sharding rule: how results are sharded if operand types are sharded over
    /// explicit mesh axes. `outs` contains the results' types without their shardings.
    ///
    /// # Errors
    /// Returns an error if the sharding is ambiguous or invalid.
    fn sharding(&self, _args: &[Aval], _outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Unknown)
    }

    /// Implements the lowering to StableHLO. The results have the types `outs`.
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value>;

    /// Runs the operation outside programs without compiling it, if it supports that: calls of
    /// host functions.
    fn evaluate(&self, _args: &[&Array]) -> Option<crate::Result<Outputs>> {
        None
    }

    /// Returns what the passes may assume of the operation.
    fn facts(&self) -> Facts<'_> {
        Facts::default()
    }

    /// Returns the programs that the operation runs; `None` for most operations.
    fn nested(&self) -> Option<&dyn Nested> {
        None
    }
}

impl dyn Primitive {
    /// Returns the programs that the operation runs.
    pub fn jaxprs(&self) -> Jaxprs<'_> {
        self.nested().map(Nested::jaxprs).unwrap_or_default()
    }

    /// Returns whether the operation, or one in a program it runs, has side effects.
    pub(crate) fn has_effects(&self) -> bool {
        self.facts().effects != Effects::None || self.jaxprs().iter().any(|p| p.has_effects())
    }

    /// Returns whether the operation has no effects other than observing values.
    pub(crate) fn only_observes(&self) -> bool {
        self.facts().effects == Effects::Observes || !self.has_effects()
    }

    /// Returns whether the operation, or one in a program it runs, refers to an axis of this name
    /// that a transformation around it maps.
    pub(crate) fn uses_axis(&self, name: AxisName) -> bool {
        let within = |nested: &dyn Nested| {
            !nested.binds(name) && nested.jaxprs().iter().any(|p| p.uses_axis(name))
        };
        self.facts().axes.contains(&name) || self.nested().is_some_and(within)
    }

    /// Returns the checks of `checkify` that apply to the operation.
    pub(crate) fn checks(&self) -> Errors {
        let facts = self.facts();
        match facts.positions {
            Some(_) => facts.checks | Errors::INDEX,
            None => facts.checks,
        }
    }

    /// Returns the mesh on whose devices the operation runs, if it is known.
    pub(crate) fn mesh(&self) -> Option<Mesh> {
        let Facts {
            mesh, out_sharding, ..
        } = self.facts();
        mesh.or_else(|| out_sharding?.mesh())
    }

    /// Returns whether the result for operands that remain to be summed over mesh axes remains to
    /// be summed over the same axes.
    pub(crate) fn keeps_unreduced(&self) -> bool {
        self.facts().keeps_unreduced || matches!(self.differentiation(), Differentiation::Linear(_))
    }
}

/// Properties of a primitive that the passes rely on. The default is right for an operation without
/// effects whose result has the dtype of its operands.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The checks of [`checkify`](crate::transform::checkify::checkify) that apply:
    /// [`NAN`](Errors::NAN) if the operation can produce NaN from other numbers,
    /// [`DIV`](Errors::DIV) if it divides by its second operand.
    pub checks: Errors,
    /// The positions that the operation reads or writes, if they may be out of bounds. Checked as
    /// [`INDEX`](Errors::INDEX).
    pub positions: Option<&'a dyn PositionRule>,
    /// Side effects of the operation.
    pub effects: Effects,
    /// The mapped axes that the operation refers to by name.
    pub axes: &'a [AxisName],
    /// Whether a compiler can compute the result within the loops of its users, as for elementwise
    /// operations and those that rearrange elements. On a CPU, the lowering stores the result of
    /// many such operations if several use it.
    pub fuses: bool,
    /// Whether results are weakly typed if all operands are. Operations that choose the dtype
    /// themselves set weak types in `infer`.
    pub propagates_weak_type: bool,
    /// Whether `infer` handles the placement of operands and results on a mesh, as for operations
    /// that contain programs or refer to mesh axes. For all other operations, operands that vary
    /// over fewer manual axes than the others are converted to vary over the same ones, as do the
    /// results.
    pub places_results: bool,
    /// Whether partial sums of the operands give partial sums of the result. It always is so for
    /// operations whose differentiation is `Linear`.
    pub keeps_unreduced: bool,
    /// The sharding of the result that the caller requested, for operations that accept one.
    pub out_sharding: Option<OutSharding>,
    /// The mesh on whose devices the operation runs, if it is known and not that of `out_sharding`.
    pub mesh: Option<Mesh>,
}

impl Default for Facts<'_> {
    fn default() -> Self {
        Facts {
            checks: Errors::NONE,
            positions: None,
            effects: Effects::None,
            axes: &[],
            fuses: false,
            propagates_weak_type: true,
            places_results: false,
            keeps_unreduced: false,
            out_sharding: None,
            mesh: None,
        }
    }
}

impl Facts<'_> {
    /// Returns the facts of an operation that computes each element of the result from one element
    /// of each operand: it fuses.
    pub fn elementwise() -> Self {
        Facts {
            fuses: true,
            ..Facts::default()
        }
    }

    /// Returns the facts of an operation that chooses the dtype of its results itself.
    pub fn strong() -> Self {
        Facts {
            propagates_weak_type: false,
            ..Facts::default()
        }
    }

    /// Returns the facts of an operation whose `infer` returns the results' exact types: their
    /// placement, and whether they are weak. Operations whose results are those of programs that
    /// they contain are of this kind.
    pub fn exact() -> Self {
        Facts {
            places_results: true,
            ..Facts::strong()
        }
    }
}

/// Side effects of an operation. The effects of programs that it contains
/// are found by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effects {
    /// Nothing: an operation whose results are not used is removed.
    None,
    /// Observes values, such as printing. This may also happen for values that are not used.
    Observes,
    /// Acts on the world: it happens exactly as often as the program says.
    Acts,
}

/// An operation that reads or writes its first operand at computed positions.
pub trait PositionRule {
    /// Returns the positions for these operands; `None` if there are none.
    fn positions(&self, args: &[Array]) -> Option<Positions>;
}

/// Positions in an operand.
pub struct Positions {
    /// Start positions: vectors along the last axis.
    pub starts: Array,
    /// Axes of the operand to which the vector's elements refer.
    pub axes: Vec<usize>,
    /// Number of elements of each axis that are read or written from there.
    pub sizes: Vec<usize>,
}

/// A parameter as a jaxpr prints it.
#[derive(Clone, Debug)]
pub enum Param {
    /// A string.
    Text(String),
    /// A nested program.
    Jaxpr(Arc<crate::extend::Jaxpr>),
    /// Several nested programs, such as the branches of a `cond`.
    Jaxprs(Vec<Arc<crate::extend::Jaxpr>>),
}

impl Param {
    /// Returns the nested programs.
    pub fn jaxprs(&self) -> &[Arc<crate::extend::Jaxpr>] {
        match self {
            Param::Text(_) => &[],
            Param::Jaxpr(jaxpr) => std::slice::from_ref(jaxpr),
            Param::Jaxprs(jaxprs) => jaxprs,
        }
    }

    /// Creates a parameter that is printed by its `Display` implementation.
    pub fn new(value: impl std::fmt::Display) -> Param {
        Param::Text(value.to_string())
    }

    /// Creates a boolean, printed as in Python.
    pub fn flag(value: bool) -> Param {
        Param::Text(if value { "True" } else { "False" }.into())
    }

    /// Creates an optional value, printed as `None` if it is missing.
    pub(crate) fn optional(value: Option<impl std::fmt::Display>) -> Param {
        value.map_or_else(|| Param::new("None"), Param::new)
    }

    /// Creates the padding of a window, before and after each axis.
    pub(crate) fn padding(pads: &[(isize, isize)]) -> Param {
        Param::tuple(pads.iter().map(|(low, high)| format!("({low}, {high})")))
    }

    /// Creates a tuple of numbers, printed as in Python.
    pub fn tuple<T: std::fmt::Display>(values: impl IntoIterator<Item = T>) -> Param {
        Param::Text(tuple_text(values))
    }
}

/// Formats values as a tuple of Python.
pub(crate) fn tuple_text<T: std::fmt::Display>(values: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = values.into_iter().map(|v| v.to_string()).collect();
    match items.as_slice() {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    }
}

/// Equality, hashing and cloning of primitives behind a pointer; implemented
/// for every `Clone + PartialEq + Hash` type.
pub trait DynPrimitive {
    /// Returns the value as [`Any`].
    fn as_any(&self) -> &dyn Any;
    /// Returns whether `other` is the same primitive with the same parameters.
    fn dyn_eq(&self, other: &dyn Any) -> bool;
    /// Hashes the type and the parameters.
    fn dyn_hash(&self, state: &mut dyn Hasher);
    /// Returns a shared copy.
    fn to_arc(&self) -> Arc<dyn Primitive>;
}

impl<T: Primitive + Clone + PartialEq + Hash> DynPrimitive for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn dyn_eq(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>() == Some(self)
    }
    fn dyn_hash(&self, mut state: &mut dyn Hasher) {
        std::any::TypeId::of::<T>().hash(&mut state);
        self.hash(&mut state);
    }
    fn to_arc(&self) -> Arc<dyn Primitive> {
        Arc::new(self.clone())
    }
}

/// Returns the types of a primitive's results, weak types included.
pub(crate) fn infer(primitive: &dyn Primitive, args: &[Aval]) -> Result<Avals, ShapeError> {
    let facts = primitive.facts();
    let placed =
        !facts.places_results && (args.iter().any(Aval::is_placed) || facts.out_sharding.is_some());
    let mut outs = if placed {
        primitive.infer(&args.iter().map(Aval::unplaced).collect::<Avals>())?
    } else {
        primitive.infer(args)?
    };
    if facts.propagates_weak_type {
        let weak = !args.is_empty() && args.iter().all(Aval::weak_type);
        for out in &mut outs {
            *out = out.with_weak_type(weak);
        }
    }
    if placed {
        crate::program::sharding_rule::place_results(primitive, args, &mut outs)?;
    }
    outs.iter().try_for_each(Aval::check_size)?;
    Ok(outs)
}

/// Returns the types of a single result.
pub(crate) fn one(aval: Aval) -> Result<Avals, ShapeError> {
    Ok(SmallVec::from_buf([aval]))
}

/// Returns a single batched result.
pub(crate) fn batched(out: Array, axis: Option<usize>) -> Batched {
    (Outputs::from_buf([out]), SmallVec::from_buf([axis]))
}
