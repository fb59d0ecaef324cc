//! Primitives: each is one block that holds its parameters and all its rules.
//!
//! A primitive is a struct whose fields are its parameters, and an
//! implementation of [`Primitive`], whose required methods are its rules. A
//! missing rule does not compile.

pub mod call;
pub mod callback;
mod catalogue;
pub mod check;
pub mod collective;
pub mod composite;
pub mod control;
pub mod conv;
pub mod cumulative;
pub mod custom;
pub mod dot;
pub mod elementwise;
pub mod fft;
pub mod index;
pub mod linalg;
pub(crate) mod nested;
pub mod random;
pub mod reduce;
pub mod remat;
mod rules;
pub mod shape;
pub mod sharding;
pub mod sort;
mod state_pass;
pub mod window;

use crate::checkify::Errors;
use crate::lower::{Lowering, Value};
use crate::{Array, Aval, AxisName, Mesh, OutSharding, Outputs, ShapeError, ShardingRule};
use smallvec::SmallVec;
use std::any::Any;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub use catalogue::{CatalogueEntry, catalogue};
pub use rules::{
    BatchAxis, Batched, Differentiation, NestedDifferentiation, Operand, move_batch_axis,
    sum_to_shape,
};
pub use state_pass::{Positions, StatePass};

/// Programs that a primitive runs.
pub type Jaxprs<'a> = SmallVec<[&'a Arc<crate::Jaxpr>; 2]>;

/// Types of a primitive's results.
pub type Avals = SmallVec<[Aval; 1]>;

/// An operation with all its rules.
pub trait Primitive: Debug + DynPrimitive + Send + Sync + 'static {
    /// The name in a printed jaxpr, JAX's where JAX has the primitive.
    fn name(&self) -> &'static str;

    /// The shape and dtype rule.
    ///
    /// # Errors
    /// What is wrong with the operands.
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError>;

    /// How the operation is differentiated.
    fn differentiation(&self) -> Differentiation<'_>;

    /// The batching rule: `axes[i]` is the axis of `args[i]` that runs over the
    /// `axis.size` examples, `None` where the operand is the same for all.
    /// Operations that hold programs hand `axis` on to them; those that speak of
    /// it by its name ([`uses_axis`](Primitive::uses_axis)) are asked also when
    /// no operand is batched.
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched;

    /// The programs that the operation runs; none for most operations.
    fn jaxprs(&self) -> Jaxprs<'_> {
        Jaxprs::new()
    }

    /// The operation with a state that passes through the programs it runs:
    /// [`checkify`](crate::checkify::checkify) passes its error this way. Returns the
    /// new state and then the results, or nothing if the operation cannot do it.
    fn thread_state(&self, _pass: &StatePass<'_>, _args: &[Array]) -> Option<Vec<Array>> {
        None
    }

    /// The checks of [`checkify`](crate::checkify::checkify) that apply to the operation:
    /// [`NAN`](Errors::NAN) if it can make NaN of numbers, [`DIV`](Errors::DIV) if it
    /// divides by its second operand, [`INDEX`](Errors::INDEX) if it has
    /// [`positions`](Primitive::positions).
    fn checks(&self) -> Errors {
        Errors::NONE
    }

    /// The positions at which the operation reads or writes its first operand, and
    /// which may be out of bounds.
    fn positions(&self, _args: &[Array]) -> Option<Positions> {
        None
    }

    /// Whether the operation, or one in a program it runs, uses a mapped axis of
    /// this name.
    fn uses_axis(&self, name: AxisName) -> bool {
        self.jaxprs().iter().any(|jaxpr| jaxpr.uses_axis(name))
    }

    /// Whether the effects of the operation only look at values, so that they may
    /// happen for values that are not used: printing, as against writing.
    fn only_observes(&self) -> bool {
        !self.has_effects()
    }

    /// The operation outside of programs, for those that do not run by being
    /// compiled: functions of the host.
    fn evaluate(&self, _args: &[&Array]) -> Option<crate::Result<Outputs>> {
        None
    }

    /// The sharding rule: how results are sharded for operands whose types are
    /// sharded over explicit axes of a mesh. `outs` are the results' types
    /// without their shardings.
    ///
    /// # Errors
    /// What is ambiguous or wrong.
    fn sharding(&self, _args: &[Aval], _outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Unknown)
    }

    /// Whether [`infer`](Primitive::infer) takes operands with their placement
    /// on a mesh and says that of results, as operations do that hold programs
    /// or speak of axes. For all others operands that vary over fewer manual
    /// axes are made to vary as the others do, and results do as well.
    fn places_results(&self) -> bool {
        false
    }

    /// How the caller wants the result sharded, for operations that can be
    /// told.
    fn out_sharding(&self) -> Option<OutSharding> {
        None
    }

    /// The mesh whose devices the operation runs on, for those that know it.
    fn mesh(&self) -> Option<Mesh> {
        self.out_sharding().and_then(|out| out.mesh())
    }

    /// The lowering to StableHLO.
    fn lower(
        &self,
        ctx: &mut Lowering<'_>,
        args: &[Value],
        ins: &[Aval],
        outs: &[Aval],
    ) -> Vec<Value>;

    /// Parameters as a jaxpr prints them, in alphabetical order, without those
    /// that say nothing: JAX leaves some out at their defaults.
    fn params(&self) -> Vec<(&'static str, Param)> {
        Vec::new()
    }

    /// The parameters as they print for operands of these types: [`params`],
    /// unless the text of one depends on them.
    ///
    /// [`params`]: Primitive::params
    fn params_for(&self, _operands: &[Aval]) -> Vec<(&'static str, Param)> {
        self.params()
    }

    /// Whether results are weakly typed where all operands are. Operations
    /// with a dtype of their own answer `false` and set it in `infer`.
    fn propagates_weak_type(&self) -> bool {
        true
    }

    /// Whether running the operation does more than compute its results.
    fn has_effects(&self) -> bool {
        self.jaxprs().iter().any(|jaxpr| jaxpr.has_effects())
    }
}

/// A parameter as a jaxpr prints it.
#[derive(Clone, Debug)]
pub enum Param {
    /// Text.
    Text(String),
    /// A nested program.
    Jaxpr(Arc<crate::Jaxpr>),
    /// Several nested programs, such as the branches of a choice.
    Jaxprs(Vec<Arc<crate::Jaxpr>>),
}

impl Param {
    /// The nested programs.
    pub fn jaxprs(&self) -> &[Arc<crate::Jaxpr>] {
        match self {
            Param::Text(_) => &[],
            Param::Jaxpr(jaxpr) => std::slice::from_ref(jaxpr),
            Param::Jaxprs(jaxprs) => jaxprs,
        }
    }

    /// A parameter printed by its `Display`.
    pub fn new(value: impl std::fmt::Display) -> Param {
        Param::Text(value.to_string())
    }

    /// A truth value, as Python prints it.
    pub fn flag(value: bool) -> Param {
        Param::Text(if value { "True" } else { "False" }.into())
    }

    /// A value that may be left out, which Python prints as `None`.
    pub(crate) fn optional(value: Option<impl std::fmt::Display>) -> Param {
        value.map_or_else(|| Param::new("None"), Param::new)
    }

    /// The padding of a window, before and after each axis.
    pub(crate) fn padding(pads: &[(isize, isize)]) -> Param {
        Param::tuple(pads.iter().map(|(low, high)| format!("({low}, {high})")))
    }

    /// A tuple of numbers, as Python prints it.
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
    /// The value as [`Any`].
    fn as_any(&self) -> &dyn Any;
    /// Whether the other is the same primitive with the same parameters.
    fn dyn_eq(&self, other: &dyn Any) -> bool;
    /// Feeds the type and the parameters.
    fn dyn_hash(&self, state: &mut dyn Hasher);
    /// A shared copy.
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

/// The types of a primitive's results, weak types included.
pub(crate) fn infer(primitive: &dyn Primitive, args: &[Aval]) -> Result<Avals, ShapeError> {
    let placed = !primitive.places_results()
        && (args.iter().any(Aval::is_placed) || primitive.out_sharding().is_some());
    let mut outs = match placed {
        // Rules of shapes compare types, which must not differ by placement.
        true => primitive.infer(&args.iter().map(Aval::unplaced).collect::<Avals>())?,
        false => primitive.infer(args)?,
    };
    if primitive.propagates_weak_type() {
        let weak = !args.is_empty() && args.iter().all(Aval::weak_type);
        for out in &mut outs {
            *out = out.with_weak_type(weak);
        }
    }
    if placed {
        crate::sharding::rule::place_results(primitive, args, &mut outs)?;
    }
    outs.iter().try_for_each(Aval::check_size)?;
    Ok(outs)
}

/// One result.
pub(crate) fn one(aval: Aval) -> Result<Avals, ShapeError> {
    Ok(SmallVec::from_buf([aval]))
}

/// One batched result.
pub(crate) fn batched(out: Array, axis: Option<usize>) -> Batched {
    (Outputs::from_buf([out]), SmallVec::from_buf([axis]))
}
