//! The trait of primitives: each operation is a struct of its parameters that implements all its
//! rules.

use super::rules::{BatchAxis, Batched, Differentiation};
use super::state_pass::{Positions, StatePass};
use crate::program::checks::Errors;
use crate::program::lower::{Lowering, Value};
use crate::{Array, Aval, AxisName, Mesh, OutSharding, Outputs, ShapeError, ShardingRule};
use smallvec::SmallVec;
use std::any::Any;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The programs that a primitive runs.
pub type Jaxprs<'a> = SmallVec<[&'a Arc<crate::Jaxpr>; 2]>;

/// The types of a primitive's results.
pub type Avals = SmallVec<[Aval; 1]>;

/// An operation with all its rules.
pub trait Primitive: Debug + DynPrimitive + Send + Sync + 'static {
    /// Returns the name in a printed jaxpr, which is JAX's if JAX has the primitive.
    fn name(&self) -> &'static str;

    /// Implements the shape and dtype rule.
    ///
    /// # Errors
    /// Returns an error if the operands are invalid.
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError>;

    /// Returns how the operation is differentiated.
    fn differentiation(&self) -> Differentiation<'_>;

    /// Implements the batching rule: `axes[i]` is the batch axis of `args[i]`, with `axis.size`
    /// examples, or `None` if the operand is the same for all. Operations that contain programs
    /// pass `axis` on to them. Operations that refer to the axis by name
    /// ([`uses_axis`](Primitive::uses_axis)) are batched even if no operand is.
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched;

    /// Returns the programs that the operation runs; none for most operations.
    fn jaxprs(&self) -> Jaxprs<'_> {
        Jaxprs::new()
    }

    /// Applies the operation with a state that is threaded through the programs it runs:
    /// [`checkify`](crate::transform::checkify::checkify) passes its error this way. Returns the new state
    /// followed by the results, or `None` if the operation does not support it.
    fn thread_state(&self, _pass: &StatePass<'_>, _args: &[Array]) -> Option<Vec<Array>> {
        None
    }

    /// Returns the checks of [`checkify`](crate::transform::checkify::checkify) that apply to the operation:
    /// [`NAN`](Errors::NAN) if it can produce NaN from other numbers, [`DIV`](Errors::DIV) if it
    /// divides by its second operand, [`INDEX`](Errors::INDEX) if it has
    /// [`positions`](Primitive::positions).
    fn checks(&self) -> Errors {
        Errors::NONE
    }

    /// Returns the positions at which the operation reads or writes its first operand, and which
    /// may be out of bounds.
    fn positions(&self, _args: &[Array]) -> Option<Positions> {
        None
    }

    /// Returns whether the operation, or one in a program it runs, uses a mapped axis of this
    /// name.
    fn uses_axis(&self, name: AxisName) -> bool {
        self.jaxprs().iter().any(|jaxpr| jaxpr.uses_axis(name))
    }

    /// Returns whether the operation has no effects other than observing values, such as
    /// printing. Such effects may also happen for values that are not used.
    fn only_observes(&self) -> bool {
        !self.has_effects()
    }

    /// Runs the operation outside programs without compiling it, if it supports that: calls of
    /// host functions.
    fn evaluate(&self, _args: &[&Array]) -> Option<crate::Result<Outputs>> {
        None
    }

    /// Implements the sharding rule: how results are sharded if operand types are sharded over
    /// explicit mesh axes. `outs` contains the results' types without their shardings.
    ///
    /// # Errors
    /// Returns an error if the sharding is ambiguous or invalid.
    fn sharding(&self, _args: &[Aval], _outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Unknown)
    }

    /// Returns whether [`infer`](Primitive::infer) handles the placement of operands and results
    /// on a mesh, as for operations that contain programs or refer to mesh axes. For all other
    /// operations, operands that vary over fewer manual axes than the others are converted to
    /// vary over the same ones, as do the results.
    fn places_results(&self) -> bool {
        self.infers_exactly()
    }

    /// Returns the sharding of the result that the caller requested, for operations that accept
    /// one.
    fn out_sharding(&self) -> Option<OutSharding> {
        None
    }

    /// Returns the mesh on whose devices the operation runs, if it is known.
    fn mesh(&self) -> Option<Mesh> {
        self.out_sharding().and_then(|out| out.mesh())
    }

    /// Returns the program that the operation calls with its operands, if it does nothing else. A
    /// printed jaxpr uses the same names for the program's results as for the operation's.
    fn callee(&self) -> Option<&Arc<crate::Jaxpr>> {
        None
    }

    /// Returns whether the result for operands that remain to be summed over mesh axes remains to
    /// be summed over the same axes, as for linear operations.
    fn keeps_unreduced(&self) -> bool {
        matches!(self.differentiation(), Differentiation::Linear(_))
    }

    /// Returns whether a compiler can compute the result within the loops of its users,
    /// as for elementwise operations and those that rearrange elements.
    fn fuses(&self) -> bool {
        false
    }

    /// Implements the lowering to StableHLO. The results have the types `outs`.
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value>;

    /// Returns the parameters as a jaxpr prints them, in alphabetical order. Like JAX, some are
    /// omitted if they have their default values.
    fn params(&self) -> Vec<(&'static str, Param)> {
        Vec::new()
    }

    /// Returns the parameters as they are printed for operands of these types: [`params`], unless
    /// a parameter's text depends on the types.
    ///
    /// [`params`]: Primitive::params
    fn params_for(&self, _operands: &[Aval]) -> Vec<(&'static str, Param)> {
        self.params()
    }

    /// Returns whether results are weakly typed if all operands are. Operations that choose the
    /// dtype themselves return `false` and set weak types in `infer`.
    fn propagates_weak_type(&self) -> bool {
        !self.infers_exactly()
    }

    /// Returns whether [`infer`](Primitive::infer) returns the results' exact types: their
    /// placement, and whether they are weak. Operations whose results are those of programs that
    /// they contain return `true`.
    fn infers_exactly(&self) -> bool {
        false
    }

    /// Returns whether the operation has side effects.
    fn has_effects(&self) -> bool {
        self.jaxprs().iter().any(|jaxpr| jaxpr.has_effects())
    }
}

/// A parameter as a jaxpr prints it.
#[derive(Clone, Debug)]
pub enum Param {
    /// A string.
    Text(String),
    /// A nested program.
    Jaxpr(Arc<crate::Jaxpr>),
    /// Several nested programs, such as the branches of a `cond`.
    Jaxprs(Vec<Arc<crate::Jaxpr>>),
}

impl Param {
    /// Returns the nested programs.
    pub fn jaxprs(&self) -> &[Arc<crate::Jaxpr>] {
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
        let items: Vec<String> = values.into_iter().map(|v| v.to_string()).collect();
        Param::Text(match items.as_slice() {
            [one] => format!("({one},)"),
            many => format!("({})", many.join(", ")),
        })
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
    let placed = !primitive.places_results()
        && (args.iter().any(Aval::is_placed) || primitive.out_sharding().is_some());
    let mut outs = if placed {
        primitive.infer(&args.iter().map(Aval::unplaced).collect::<Avals>())?
    } else {
        primitive.infer(args)?
    };
    if primitive.propagates_weak_type() {
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
