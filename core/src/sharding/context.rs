//! The mesh that is current on a thread, and how its axes are used there.

use super::{AbstractMesh, AxisType, LogicalAxisRules, Mesh};
use std::cell::Cell;
use std::marker::PhantomData;

/// What operations traced on this thread know of meshes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Context {
    /// The mesh that [`set_mesh`] made current.
    pub mesh: Option<Mesh>,
    /// Its axes as they are here: in the body of a `shard_map` some are manual.
    pub axes: Option<AbstractMesh>,
    /// Whether types say over which manual axes values vary.
    pub checks_varying: bool,
    /// What names of dimensions mean here.
    pub rules: Option<LogicalAxisRules>,
}

thread_local! {
    static CONTEXT: Cell<Context> = const {
        Cell::new(Context { mesh: None, axes: None, checks_varying: false, rules: None })
    };
}

/// Restores what was current.
struct Restore(Context);
impl Drop for Restore {
    fn drop(&mut self) {
        CONTEXT.set(self.0);
    }
}

impl Context {
    pub fn current() -> Context {
        CONTEXT.get()
    }

    /// Runs `f` in this context.
    pub fn within<R>(self, f: impl FnOnce() -> R) -> R {
        let _restore = Restore(CONTEXT.replace(self));
        f()
    }

    /// Numbers on which programs traced here may depend; 0 outside of meshes.
    pub fn numbers(self) -> [usize; 4] {
        [
            self.mesh.map_or(0, |m| m.address()),
            self.axes.map_or(0, |a| a.address()),
            self.rules.map_or(0, |r| r.address()),
            self.checks_varying.into(),
        ]
    }

    /// Makes it current as long as the result lives.
    pub fn enter(self) -> MeshGuard {
        MeshGuard {
            _restore: Restore(CONTEXT.replace(self)),
            _thread: PhantomData,
        }
    }
}

/// Keeps a mesh, or logical axis rules, current until it is dropped; from
/// [`set_mesh`] and [`set_logical_axis_rules`](crate::set_logical_axis_rules).
#[must_use = "what was made current is so until this is dropped"]
pub struct MeshGuard {
    _restore: Restore,
    /// What is current is a matter of one thread.
    _thread: PhantomData<*const ()>,
}

/// Makes `mesh` current on this thread, as long as the result lives
/// (`jax.set_mesh`): partition specs without a mesh mean it, and
/// [`shard_map`](crate::shard_map) goes over it.
///
/// ```no_run
/// use ramie_core::{AxisType, P, Array, DType, device_put, make_mesh_with, set_mesh};
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

/// The current mesh, if there is one (`jax.sharding.get_mesh`).
pub fn get_mesh() -> Option<Mesh> {
    Context::current().mesh
}

/// The axes of the current mesh as they are here, if there is one: in the body
/// of a [`shard_map`](crate::shard_map) some are manual
/// (`jax.sharding.get_abstract_mesh`).
pub fn get_abstract_mesh() -> Option<AbstractMesh> {
    Context::current().axes
}

/// Whether a mesh has axes that are manual here.
pub(crate) fn any_manual() -> bool {
    Context::current()
        .axes
        .is_some_and(|a| a.has(AxisType::Manual))
}
