//! `out_sharding`: result shardings that the caller requests from an operation.

use super::{
    AbstractMesh, AxisType, Context, Mesh, PartitionSpec, SpecEntry, TypeSharding, check_spec,
};
use crate::base::location;
use crate::sharding::AxisName;
use crate::{Aval, ShapeError};
use std::fmt;

/// The requested sharding of a result (`out_sharding`): a parameter of operations whose operands
/// do not determine it.
///
/// Functions with options, such as [`Array::matmul_with`](crate::Array::matmul_with), take it as a
/// [`PartitionSpec`] over the explicit axes of the current mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OutSharding {
    sharding: TypeSharding,
    mesh: Option<Mesh>,
}

impl OutSharding {
    /// Creates the sharding by `spec` over the mesh in the operands' types, or else the current
    /// one, for a result of `rank` dimensions.
    ///
    /// # Panics
    /// Panics if there is no mesh, if `spec` does not fit it, or if `spec` names axes that are
    /// not explicit.
    #[track_caller]
    pub fn new(operation: &str, operands: &[Aval], spec: &PartitionSpec, rank: usize) -> Self {
        let context = Context::current();
        let found = operands.iter().find_map(Aval::sharding);
        let Some(axes) = found.map(|s| s.mesh()).or(context.axes) else {
            location::fail(&format!(
                "{operation}: out_sharding is {spec}, but no mesh is current\n  help: make a mesh \
                 with explicit axes current with `set_mesh(mesh)`"
            ))
        };
        if let Err(e) = check(axes, spec, rank) {
            location::fail(&e.render(operation, &[]));
        }
        OutSharding::over(axes, spec, rank)
    }

    fn over(axes: AbstractMesh, spec: &PartitionSpec, rank: usize) -> OutSharding {
        OutSharding {
            sharding: TypeSharding::new(axes, spec, rank),
            mesh: Context::current().mesh,
        }
    }

    /// Returns the sharding of a type, if it has one.
    pub(crate) fn of(aval: Aval) -> Option<OutSharding> {
        let sharding = aval.sharding()?;
        Some(OutSharding::over(
            sharding.mesh(),
            sharding.spec(),
            aval.ndim(),
        ))
    }

    /// Returns the sharding of the cotangent of a value of this type, if the type or one of the
    /// operands is sharded.
    pub(crate) fn of_cotangent(aval: Aval, operands: &[Aval]) -> Option<OutSharding> {
        let mut types = operands.iter().copied().chain([aval]);
        let mesh = types.find_map(|a| a.sharding()).map(|s| s.mesh())?;
        Some(OutSharding::over(
            mesh,
            &aval.spec().of_cotangent(),
            aval.ndim(),
        ))
    }

    /// Returns the sharding of a type with a new axis at `at`, sharded over `axes` of the current
    /// mesh; `None` if `axes` is empty.
    pub(crate) fn with_examples(aval: Aval, at: usize, axes: &[AxisName]) -> Option<Self> {
        if axes.is_empty() {
            return None;
        }
        let here = aval.sharding().map(|s| s.mesh());
        let mesh = here.or(Context::current().axes)?;
        let spec = aval.spec().inserted(at, SpecEntry::from(axes));
        Some(OutSharding::over(mesh, &spec, aval.ndim() + 1))
    }

    /// Returns the sharding of a result with a batch axis at `at`, sharded like axis `from` of
    /// `operand`.
    pub(crate) fn batched(&self, at: usize, operand: Aval, from: usize) -> OutSharding {
        let entry = operand.spec().entry(from).clone();
        let spec = self.spec().inserted(at, entry);
        OutSharding {
            sharding: TypeSharding::new(self.axes(), &spec, spec.entries().len()),
            mesh: self.mesh,
        }
    }

    /// Returns the sharding of a result whose dimension `d` is dimension `to[d]` of this one.
    pub(crate) fn gathered(&self, to: &[usize]) -> OutSharding {
        let spec = self.spec().gathered(to);
        OutSharding {
            sharding: TypeSharding::new(self.axes(), &spec, to.len()),
            mesh: self.mesh,
        }
    }

    /// Returns the sharding in the result's type.
    pub fn sharding(&self) -> TypeSharding {
        self.sharding
    }

    /// Returns the axes of the mesh.
    pub(crate) fn axes(&self) -> AbstractMesh {
        self.sharding.mesh()
    }

    /// Returns the mesh with its devices, if known.
    pub(crate) fn mesh(&self) -> Option<Mesh> {
        self.mesh
    }

    /// Returns the spec, which has an entry for every dimension.
    pub fn spec(&self) -> &'static PartitionSpec {
        self.sharding.spec()
    }
}

/// Checks that types can express this sharding of a value of `rank` dimensions.
pub(crate) fn check(
    axes: AbstractMesh,
    spec: &PartitionSpec,
    rank: usize,
) -> Result<(), ShapeError> {
    check_spec(axes, spec)?;
    if spec.entries().len() > rank {
        return Err(ShapeError::new(format!(
            "out_sharding {spec} has {} entries for a result of {rank} dimensions",
            spec.entries().len()
        ))
        .help("pass at most one entry for each dimension"));
    }
    let implicit = |n: &AxisName| axes.axis_type(*n) != Some(AxisType::Explicit);
    match spec.axes().find(implicit) {
        None => Ok(()),
        Some(name) => Err(ShapeError::new(format!(
            "out_sharding {spec} contains the axis {name:?} of the mesh ({}), which is not \
             explicit",
            axes.describe()
        ))
        .help(
            "only explicit axes are part of types: make the axis explicit with make_mesh_with or \
             explicit_axes, or use with_sharding_constraint instead",
        )),
    }
}

/// Formats the sharding like JAX.
impl fmt::Display for OutSharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = match self.spec().to_string() {
            // Python prints a 1-tuple with a trailing comma.
            text if self.spec().entries().len() == 1 => text.replace(')', ",)"),
            text => text,
        };
        write!(f, "NamedSharding(mesh={:?}, spec={spec})", self.axes())
    }
}
