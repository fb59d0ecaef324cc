//! The trait of primitives: each operation is a struct of its parameters that implements all its
//! rules.

use super::facts::{Effects, Facts};
use super::nested::{Jaxprs, Nested};
use super::rules::{BatchAxis, Batched, Differentiation};
use crate::program::checks::Errors;
use crate::program::lower::{Lowering, Value};
use crate::{Array, Aval, AxisName, Mesh, Outputs, ShapeError, ShardingRule};
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
