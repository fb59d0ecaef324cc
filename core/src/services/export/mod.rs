//! Exporting functions: programs as bytes that other processes, other versions and JAX can run.
//!
//! An exported function is a file in the format of `jax.export`: the program in StableHLO, with
//! the types and structure of its arguments and results. `jax.export.deserialize` reads functions
//! exported by Ramie, and vice versa.
//!
//! ```no_run
//! use ramie_core::export::{Exported, export};
//! use ramie_core::{Array, DType, jit};
//! let f = jit(|x: Array| x.sin() * 2.0);
//! let bytes = export(&f, (Array::shape_dtype_struct(&[3], DType::F32),))?.serialize();
//!
//! let f = Exported::deserialize(&bytes)?;
//! let y = f.call((Array::from([0.0f32, 1.0, 2.0]),))?;
//! assert_eq!(y[0].shape(), [3]);
//! # Ok::<(), ramie_core::Error>(())
//! ```

mod artifact;
mod flatbuffer;
mod pytree;

pub use pytree::PyTree;

use crate::client::{self, ModuleBytes};
use crate::execution::aot::{self, CompiledFor, Target};
use crate::execution::eager;
use crate::program::jaxpr::{Atom, ClosedJaxpr, Jaxpr, Var};
use crate::program::lower::{Module, strip_locations};
use crate::program::tree;
use crate::stages::Jitted;
use crate::{Array, Aval, Error, Result, Tree};
use ramie_pjrt::{Buffer, Executable};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// An exported function.
#[derive(Clone)]
pub struct Exported {
    /// Name of the function.
    pub name: String,
    /// Structure of the arguments: a tuple of positional arguments and a dictionary of named
    /// ones.
    pub in_tree: PyTree,
    /// Types of the arguments' arrays.
    pub in_avals: Vec<Aval>,
    /// Structure of the result.
    pub out_tree: PyTree,
    /// Types of the result's arrays.
    pub out_avals: Vec<Aval>,
    /// Target platform: `cpu`, `cuda` or `tpu`.
    pub platform: String,
    /// The program in StableHLO, as text or in its portable binary form.
    pub module: Vec<u8>,
    /// Indices of the arguments that the program takes.
    kept: Vec<usize>,
    executable: Arc<OnceLock<Result<Executable>>>,
}

/// Exports a compiled function for arguments like these, passed as a tuple (`jax.export.export`).
/// Arrays without elements ([`Array::shape_dtype_struct`]) are accepted.
///
/// Structs and maps become dictionaries, vectors become lists. Captured arrays become part of the
/// program.
///
/// # Errors
/// Returns an error if the program calls functions of this process (`debug::print`, callbacks),
/// if it is sharded over the devices of a mesh, if an argument or a result has a dtype that the
/// format does not support (`i2`, `u2`), or if the elements of captured arrays cannot be read.
///
/// # Panics
/// Panics if the traced function panics.
#[track_caller]
pub fn export<A: Tree, R: Tree, C: ?Sized>(
    f: &Jitted<'_, (), A, R, C>,
    args: A,
) -> Result<Exported> {
    let (positional, in_order) = PyTree::of(&args);
    let positional = match positional {
        PyTree::None => PyTree::Tuple(Vec::new()),
        some => some,
    };
    let lowered = f.lower(args)?;
    if let Some(mesh) = lowered.mesh() {
        return Err(Error::Export(format!(
            "`{}` runs on {mesh:?}, but only functions for a single device can be exported\n  \
             help: export a function without shard_map, sharding constraints and out_shardings, \
             for arguments on one device",
            f.name()
        )));
    }
    let (out_tree, out_order) = PyTree::of(lowered.result());
    let program = reordered(lowered.program(), &in_order, &out_order);
    let module = Module::lower_whole(f.name(), &program, client::platform())?;
    if module.calls_back {
        return Err(Error::Export(format!(
            "`{}` calls functions of this process, which are not available in others\n  help: \
             remove debug::print and callbacks from the exported function",
            f.name()
        )));
    }
    let (in_avals, out_avals) = (program.jaxpr.in_avals(), program.jaxpr.out_avals());
    artifact::check_dtypes(f.name(), &in_avals)?;
    artifact::check_dtypes(f.name(), &out_avals)?;
    Ok(Exported {
        name: f.name().to_string(),
        in_tree: PyTree::Tuple(vec![positional, PyTree::Dict(Vec::new())]),
        in_avals,
        out_tree,
        out_avals,
        platform: client::runtime()?.client().platform_name().to_string(),
        module: strip_locations(&module.text).into_bytes(),
        kept: (0..in_order.len()).collect(),
        executable: Arc::default(),
    })
}

/// Returns the program with arguments and results in another order.
fn reordered(program: &ClosedJaxpr, ins: &[usize], outs: &[usize]) -> ClosedJaxpr {
    let jaxpr = &program.jaxpr;
    let invars: Vec<Var> = ins.iter().map(|&i| jaxpr.invars[i]).collect();
    let outvars: Vec<Atom> = outs.iter().map(|&i| jaxpr.outvars[i]).collect();
    let jaxpr = Jaxpr::new(
        jaxpr.constvars.clone(),
        invars,
        jaxpr.eqns.clone(),
        outvars,
        jaxpr.avals().to_vec(),
    );
    ClosedJaxpr {
        jaxpr: Arc::new(jaxpr),
        consts: program.consts.clone(),
    }
}

impl Exported {
    /// Returns the bytes in the format of `jax.export`.
    ///
    /// # Panics
    /// Panics if `in_avals` or `out_avals` was changed to a dtype that the format does not support.
    pub fn serialize(&self) -> Vec<u8> {
        artifact::write(self)
    }

    /// Reads bytes written by [`serialize`](Exported::serialize) or JAX.
    ///
    /// # Errors
    /// Returns an error if the bytes are damaged, or use features that Ramie does not support:
    /// several devices, symbolic shapes, effects, Python types.
    pub fn deserialize(bytes: &[u8]) -> Result<Exported> {
        artifact::read(bytes)
    }

    /// Calls the function with a tuple of its arguments and returns the arrays of the result, in
    /// the order of [`out_tree`](Exported::out_tree).
    ///
    /// Only the arrays of the arguments matter, so any tree with the same arrays in the order of
    /// [`in_tree`](Exported::in_tree) is accepted. Named values are ordered by their names.
    ///
    /// # Errors
    /// Returns an error if the function was exported for another platform than that of this
    /// process, if the program cannot be compiled here, or if running fails.
    ///
    /// # Panics
    /// Panics if the number or the types of the arrays differ from those for which the function
    /// was exported.
    #[track_caller]
    pub fn call<A: Tree>(&self, args: A) -> Result<Vec<Array>> {
        self.run(&tree::leaves(&args), &PyTree::of(&args).1)
    }

    /// Calls the function like [`call`](Exported::call), but returns the result as a tree with
    /// the structure of `like`.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`call`](Exported::call).
    ///
    /// # Panics
    /// Panics in the same cases as [`call`](Exported::call), and if the number of arrays of
    /// `like` is not that of the result.
    #[track_caller]
    pub fn call_like<A: Tree, R: Tree>(&self, args: A, like: &R) -> Result<R> {
        let (_, order) = PyTree::of(like);
        assert_eq!(
            order.len(),
            self.out_avals.len(),
            "{}: the function returns {} arrays ({}), but `like` has {}",
            self.name,
            self.out_avals.len(),
            self.out_tree,
            order.len()
        );
        let outs = self.call(args)?;
        // The leaves of a Rust tree may be ordered differently.
        let mut own: Vec<Option<Array>> = vec![None; outs.len()];
        for (index, out) in order.iter().zip(outs) {
            own[*index] = Some(out);
        }
        Ok(tree::with_leaves(like, own.into_iter().flatten()))
    }

    #[track_caller]
    fn run(&self, args: &[Array], order: &[usize]) -> Result<Vec<Array>> {
        assert_eq!(
            args.len(),
            self.in_avals.len(),
            "{}: the function takes {} arrays {}, got {}",
            self.name,
            self.in_avals.len(),
            self.in_tree,
            args.len()
        );
        let args: Vec<&Array> = order.iter().map(|&i| &args[i]).collect();
        for (i, (arg, expected)) in args.iter().zip(&self.in_avals).enumerate() {
            assert!(
                arg.aval().strong() == expected.strong(),
                "{}: the function takes {expected} as array {i} of {}, got {}\n  help: export the \
                 function again for these shapes and dtypes, or convert the argument",
                self.name,
                self.in_tree,
                arg.describe()
            );
        }
        crate::program::trace::refuse_in_callback(&self.name);
        self.check_platform()?;
        let executable = self
            .executable
            .get_or_init(|| self.compile())
            .as_ref()
            .map_err(Clone::clone)?;
        let device = executable.devices()[0];
        let (_, operands) = eager::place_on(device, &args)?;
        let buffers: Vec<&Buffer> = self.kept.iter().map(|&i| &operands[i].buffers[0]).collect();
        let mut outs = Vec::with_capacity(self.out_avals.len());
        executable.execute(&buffers, &[], &mut outs)?;
        let sharding = crate::sharding::Sharding::SingleDevice(device);
        Ok(outs
            .into_iter()
            .zip(&self.out_avals)
            .map(|(b, a)| Array::from_device(*a, b, sharding))
            .collect())
    }

    /// Checks that the function was exported for the platform of this process.
    fn check_platform(&self) -> Result<()> {
        let here = client::runtime()?.client().platform_name();
        if self.platform.split(',').any(|platform| platform == here) {
            return Ok(());
        }
        Err(Error::Export(format!(
            "`{}` was exported for the platform `{}`, but this process runs on `{here}`\n  help: \
             export it on `{here}`, or set RAMIE_PLATFORM={} for this process",
            self.name, self.platform, self.platform
        )))
    }

    /// Compiles the program for hardware that need not be present; see
    /// [`Lowered::compile_for`](crate::stages::Lowered::compile_for).
    ///
    /// # Errors
    /// Returns an error if the target's plugin is not installed, or if XLA rejects the program.
    pub fn compile_for(&self, target: &Target) -> Result<CompiledFor> {
        aot::compile_module(&self.name, &self.module, target)
    }

    fn compile(&self) -> Result<Executable> {
        let inputs = self.kept.iter().map(|&i| self.in_avals[i].buffer_type());
        let program = ModuleBytes {
            name: &self.name,
            module: &self.module,
            inputs: inputs.collect(),
        };
        client::compile_module(&program, client::runtime()?.default_device())
    }
}

impl fmt::Debug for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |avals: &[Aval]| {
            let texts: Vec<String> = avals.iter().map(ToString::to_string).collect();
            texts.join(", ")
        };
        write!(
            f,
            "Exported({}: {} of {} -> {} of {}, for {})",
            self.name,
            self.in_tree,
            list(&self.in_avals),
            self.out_tree,
            list(&self.out_avals),
            self.platform
        )
    }
}
