//! `reshard`: changes the sharding in a value's type, or converts between explicit and automatic
//! axes.

use crate::program::lower::{Lowering, Value};
use crate::program::primitive::{Avals, Facts, Primitive, batched, one};
use crate::program::rules::{BatchAxis, Batched, Differentiation};
use crate::program::trace::bind1;
use crate::types::sharding::{
    AbstractMesh, AxisType, Context, Mesh, PartitionSpec, SpecEntry, TypeSharding, shard_shape,
};
use crate::{Array, Aval, ShapeError};

/// Returns the value with this sharding in its type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reshard {
    /// Mesh in the result's type, with its axis types where the result is used.
    pub axes: AbstractMesh,
    /// Devices of the mesh, if known.
    pub mesh: Option<Mesh>,
    /// Spec of the result.
    pub spec: PartitionSpec,
    /// Whether only the type changes, for a value that is converted between explicit and
    /// automatic axes.
    pub cast: bool,
}

impl Primitive for Reshard {
    fn name(&self) -> &'static str {
        "reshard"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        shard_shape(self.axes, &self.spec, args[0].shape())?;
        let sharding = TypeSharding::new(self.axes, &self.spec, args[0].ndim());
        one(args[0].with_sharding(Some(sharding)))
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            places_results: true,
            mesh: self.mesh,
            ..Facts::default()
        }
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, operand| {
            let was = operand.sharding();
            let spec = was.map(|s| s.spec().of_cotangent()).unwrap_or_default();
            let back = Reshard {
                axes: was.map_or(self.axes, |s| s.mesh()),
                mesh: self.mesh,
                spec,
                cast: self.cast,
            };
            bind1(back, &[ct])
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let at = axes[0].expect("the operand is batched");
        // The batch axis keeps its sharding.
        let entry = match (axis.spmd_names(), args[0].aval().sharding()) {
            ([], Some(s)) => s.spec().entry(at).clone(),
            (names, _) => SpecEntry::from(names),
        };
        let inner = Reshard {
            spec: self.spec.inserted(at, entry),
            ..self.clone()
        };
        batched(bind1(inner, &[&args[0]]), Some(at))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        let explicit = |n| self.axes.axis_type(n) == Some(AxisType::Explicit);
        let spec = self.spec.filtered(args[0].ndim(), explicit);
        let open = self.axes.has(AxisType::Auto);
        if self.cast && spec.is_trivial() {
            return args.to_vec();
        }
        vec![ctx.constrain(args[0], (self.axes, self.mesh), &spec, open)]
    }
}

/// Reshards `x` and its type.
#[track_caller]
pub(crate) fn resharded(x: &Array, axes: AbstractMesh, spec: &PartitionSpec) -> Array {
    retyped(x, axes, spec, false)
}

/// Converts `x` between axes tracked by types and axes managed by the compiler.
#[track_caller]
pub(crate) fn cast_sharding(x: &Array, axes: AbstractMesh, spec: &PartitionSpec) -> Array {
    retyped(x, axes, spec, true)
}

#[track_caller]
fn retyped(x: &Array, axes: AbstractMesh, spec: &PartitionSpec, cast: bool) -> Array {
    let reshard = Reshard {
        axes,
        mesh: Context::current().mesh,
        spec: spec.clone(),
        cast,
    };
    bind1(reshard, &[x])
}
