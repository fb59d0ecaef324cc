//! The current mesh of a thread, and the types of its axes.

use super::{AbstractMesh, AxisType, LogicalAxisRules, Mesh};
use crate::base::scoped::{self, Scoped};
use std::cell::Cell;
use std::marker::PhantomData;

/// The mesh context of operations traced on this thread.
#[derive(Clone, Copy, Default)]
pub(crate) struct Context {
    /// Mesh set by [`set_mesh`].
    pub mesh: Option<Mesh>,
    /// The mesh's axes with their types at this point: in the body of a `shard_map` some are
    /// manual.
    pub axes: Option<AbstractMesh>,
    /// Whether types track the manual axes over which values vary.
    pub checks_varying: bool,
    /// Current logical axis rules.
    pub rules: Option<LogicalAxisRules>,
}

thread_local! {
    static CONTEXT: Cell<Context> = const {
        Cell::new(Context { mesh: None, axes: None, checks_varying: false, rules: None })
    };
}

impl Context {
    pub fn current() -> Context {
        CONTEXT.get()
    }

    /// Runs `f` in this context.
    pub fn within<R>(self, f: impl FnOnce() -> R) -> R {
        scoped::with(&CONTEXT, self, f)
    }

    /// Returns numbers that identify the context in signatures of programs traced here; 0 without
    /// a mesh.
    pub fn numbers(self) -> [usize; 4] {
        [
            self.mesh.map_or(0, |m| m.address()),
            self.axes.map_or(0, |a| a.address()),
            self.rules.map_or(0, |r| r.address()),
            self.checks_varying.into(),
        ]
    }

    /// Makes the context current as long as the result lives.
    pub fn enter(self) -> MeshGuard {
        MeshGuard {
            _scoped: Scoped::set(&CONTEXT, self),
            _thread: PhantomData,
        }
    }
}

/// A guard that keeps a mesh, or logical axis rules, current until it is dropped; returned by
/// [`set_mesh`] and [`set_logical_axis_rules`](crate::sharding::set_logical_axis_rules).
#[must_use = "the mesh or the rules are current only until this is dropped"]
pub struct MeshGuard {
    _scoped: Scoped<Context>,
    /// The context belongs to one thread, so guards are not `Send`.
    _thread: PhantomData<*const ()>,
}

/// Makes `mesh` current on this thread as long as the result lives (`jax.set_mesh`): partition
/// specs without a mesh refer to it, and [`shard_map`](crate::shard_map) runs over it.
///
/// ```no_run
/// use ramie_core::sharding::{make_mesh_with, AxisType};
/// use ramie_core::{device_put, set_mesh, Array, DType, P};
/// let mesh = make_mesh_with(&[4, 2], &["x", "y"], AxisType::Explicit)?;
/// let _current = set_mesh(mesh);
/// let x = device_put(&Array::zeros(&[8, 2], DType::I32), P!["x", "y"]);
/// assert_eq!((x * 2).aval().to_string(), "i32[8@x,2@y]");
/// # Ok::<(), ramie_core::Error>(())
/// ```
pub fn set_mesh(mesh: Mesh) -> MeshGuard {
    Context {
        mesh: Some(mesh),
        axes: Some(mesh.abstract_mesh()),
        checks_varying: false,
        rules: Context::current().rules,
    }
    .enter()
}

/// Runs `f` with `mesh` current (`with jax.set_mesh(mesh):`).
pub fn with_mesh<R>(mesh: Mesh, f: impl FnOnce() -> R) -> R {
    let _current = set_mesh(mesh);
    f()
}

/// Returns the current mesh (`jax.sharding.get_mesh`).
pub fn get_mesh() -> Option<Mesh> {
    Context::current().mesh
}

/// Returns the axes of the current mesh with their types at this point: in the body of a
/// [`shard_map`](crate::shard_map) some are manual (`jax.sharding.get_abstract_mesh`).
pub fn get_abstract_mesh() -> Option<AbstractMesh> {
    Context::current().axes
}

/// Returns whether the current mesh has manual axes at this point.
pub(crate) fn any_manual() -> bool {
    Context::current()
        .axes
        .is_some_and(|a| a.has(AxisType::Manual))
}
