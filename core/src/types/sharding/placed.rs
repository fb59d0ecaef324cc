//! Targets of transfers and constraints: a device, a sharding, or a spec on the current mesh.

use super::{Context, NamedSharding, PartitionSpec, Sharding};
use crate::Aval;
use crate::base::location::fail;

/// A target for arrays: a device, a sharding over a mesh, or a partition spec on the current
/// mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed(Target);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Sharding(Sharding),
    Spec(Box<PartitionSpec>),
}

impl<T: Into<Sharding>> From<T> for Placed {
    fn from(sharding: T) -> Placed {
        Placed(Target::Sharding(sharding.into()))
    }
}
impl From<PartitionSpec> for Placed {
    fn from(spec: PartitionSpec) -> Placed {
        Placed(Target::Spec(Box::new(spec)))
    }
}

impl Placed {
    /// Returns the spec, or else the sharding.
    pub(crate) fn spec_or_sharding(&self) -> Result<&PartitionSpec, Sharding> {
        match &self.0 {
            Target::Spec(spec) => Ok(spec),
            Target::Sharding(sharding) => Err(*sharding),
        }
    }

    /// Returns the sharding; a spec refers to the current mesh.
    #[track_caller]
    pub(crate) fn sharding(&self, operation: &str) -> Sharding {
        match &self.0 {
            Target::Sharding(sharding) => *sharding,
            Target::Spec(spec) => Sharding::Named(on_current_mesh(operation, spec)),
        }
    }
}

/// Returns the sharding by `spec` over the current mesh.
#[track_caller]
pub(crate) fn on_current_mesh(operation: &str, spec: &PartitionSpec) -> NamedSharding {
    let Some(mesh) = Context::current().mesh else {
        fail(&format!(
            "{operation}: {spec} refers to the axes of a mesh, but no mesh is current\n  help: \
             make one current with `set_mesh(mesh)`, or pass `NamedSharding::new(mesh, {spec})`"
        ))
    };
    NamedSharding::new(mesh, spec.clone())
}

/// Returns the type of an array with this sharding.
pub(crate) fn typed(aval: Aval, sharding: Sharding) -> Aval {
    let named = sharding.named();
    aval.with_sharding(named.and_then(|n| n.type_sharding(aval.ndim())))
}
