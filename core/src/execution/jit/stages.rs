//! The stages of `jit`: tracing and lowering, compiling, and running, each callable separately
//! and each reporting failures as errors.

use super::call::{Jit, Programs};
use super::compiled_call::CompiledCall;
use super::donate;
use super::entry::Entry;
use super::place::{Plan, site_of};
use super::programs::{ProgramSlot, SharedCache};
use super::signature::{Description, Inputs, Signature, describe, inputs};
use super::trace::Trace;
use crate::client::Program;
use crate::client::sharded::Site;
use crate::execution::aot::{CompiledFor, Target};
use crate::extend::{ClosedJaxpr, Jaxpr};
use crate::program::lower::{ArgumentAttribute, strip_locations};
use crate::transform::ByValue;
use crate::{Aval, Error, Mesh, NamedSharding, Result, Tree};
use ramie_pjrt::{Executable, MemoryAnalysis, OptionOverride, Value};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

/// A function traced for given arguments (`jax.stages.Traced`); returned by
/// [`Jitted::trace`](super::Jitted::trace).
pub struct Traced<S, A, R> {
    stage: Stage,
    types: PhantomData<fn(S, A) -> R>,
}

/// A traced function, whatever its types.
struct Stage {
    name: Arc<str>,
    trace: Trace,
    plan: Plan,
    key: Signature,
    description: Description,
    compiler_options: Vec<(String, OptionOverride)>,
    args_info: Vec<ArgInfo>,
    /// Cache in which calls of the function look for programs.
    programs: SharedCache<Entry>,
}

impl Stage {
    fn new(programs: &Programs, inputs: Inputs<'_>, trace: &dyn Fn() -> Trace) -> Result<Stage> {
        let site = site_of(inputs)?;
        let trace = trace();
        let plan = programs.plan(&trace, site, inputs)?;
        Ok(Stage {
            args_info: args_info(&trace, &plan, inputs),
            name: programs.name.clone(),
            trace,
            plan,
            key: Signature::of(inputs),
            description: describe(inputs),
            compiler_options: programs.compiler_options().to_vec(),
            programs: programs.compiled.clone(),
        })
    }

    fn lower(&self) -> Program {
        self.plan.lower(&self.name, &self.trace.program.jaxpr)
    }

    fn compile(self, program: Program) -> Result<ProgramSlot<Entry>> {
        let jaxpr = &self.trace.program.jaxpr;
        let (made, _) = CompiledCall::compile(program, jaxpr, &self.plan, &self.compiler_options)?;
        let entry = Entry::new(self.trace, made, self.description)?;
        Ok(self.programs.insert(self.key, entry))
    }
}

/// An array of the arguments of a lowered function (`jax.stages.ArgInfo`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgInfo {
    /// Path of the array: `state` or `args`, followed by its path in the tree.
    pub path: String,
    /// Type of the array.
    pub aval: Aval,
    /// Whether the array donates its buffer to a result.
    pub donated: bool,
}

fn args_info(trace: &Trace, plan: &Plan, inputs: Inputs<'_>) -> Vec<ArgInfo> {
    let jaxpr = &trace.program.jaxpr;
    let donates = |i: usize| {
        let attribute = plan.attributes.get(jaxpr.constvars.len() + i);
        attribute.is_some_and(|a| *a != ArgumentAttribute::None)
    };
    let args = jaxpr
        .in_avals()
        .into_iter()
        .zip(donate::paths(inputs))
        .enumerate();
    let info = args.map(|(i, (aval, path))| ArgInfo {
        path,
        aval,
        donated: donates(i),
    });
    info.collect()
}

/// A function traced and lowered for given arguments; returned by
/// [`Jitted::lower`](super::Jitted::lower).
pub struct Lowered<S, A, R> {
    traced: Traced<S, A, R>,
    program: Program,
}

/// A compiled function for arguments of one signature.
pub struct Compiled<S, A, R> {
    name: Arc<str>,
    program: ProgramSlot<Entry>,
    types: PhantomData<fn(S, A) -> R>,
}

impl<S: Tree, A: Tree, R: Tree> Traced<S, A, R> {
    pub(super) fn new(
        jit: &Jit<'_, S, A, R>,
        state: &S,
        args: A,
        at: &'static Location<'static>,
    ) -> Result<Self> {
        let args = jit.placed(args)?;
        let inputs = inputs!(state, args);
        let stage = Stage::new(&jit.programs, inputs, &|| jit.trace(state, &args, at))?;
        Ok(Traced {
            stage,
            types: PhantomData,
        })
    }

    /// Returns the function's name.
    pub fn fun_name(&self) -> &str {
        &self.stage.name
    }

    /// Returns the program with the arrays that it captured.
    pub fn jaxpr(&self) -> &ClosedJaxpr {
        &self.stage.trace.program
    }

    /// Returns the result as arrays without elements.
    pub fn out_info(&self) -> R {
        self.stage.trace.out_info::<S, R>()
    }

    /// Lowers the program.
    pub fn lower(self) -> Lowered<S, A, R> {
        Lowered {
            program: self.stage.lower(),
            traced: self,
        }
    }
}

impl<S: Tree, A: Tree, R: Tree> Lowered<S, A, R> {
    /// Returns the program as a jaxpr.
    pub fn jaxpr(&self) -> &Jaxpr {
        &self.traced.stage.trace.program.jaxpr
    }

    /// Returns the program with the arrays that it captured.
    pub(crate) fn program(&self) -> &ClosedJaxpr {
        &self.traced.stage.trace.program
    }

    /// Returns the mesh of several devices over which the program is sharded, if any. A mesh that
    /// is current but not used does not count.
    pub(crate) fn mesh(&self) -> Option<Mesh> {
        let plan = &self.traced.stage.plan;
        let Site::Mesh(mesh) = plan.site else {
            return None;
        };
        let (ins, outs) = (&plan.partition.ins, plan.partition.outs.iter().flatten());
        let is_sharded = |sharding: &NamedSharding| sharding.spec().axes().next().is_some();
        let used = self.jaxpr().mesh().is_some() || ins.iter().chain(outs).any(is_sharded);
        (used && mesh.size() > 1).then_some(mesh)
    }

    /// Returns the path, the type and the donation of each array of the state and the arguments, in
    /// order (`Lowered.args_info`).
    ///
    /// ```no_run
    /// use ramie_core::options::JitOptions;
    /// use ramie_core::{Array, jit_with};
    /// let options = JitOptions { donate_argnums: vec![0], ..JitOptions::default() };
    /// let sum = jit_with(|x: Array, y: Array| x + y, options);
    /// let lowered = sum.lower((Array::from(1.0f32), Array::from(2.0f32)))?;
    /// let donated: Vec<bool> = lowered.args_info().iter().map(|arg| arg.donated).collect();
    /// assert_eq!(donated, [true, false]);
    /// # Ok::<(), ramie_core::Error>(())
    /// ```
    #[doc(alias = "in_avals")]
    pub fn args_info(&self) -> &[ArgInfo] {
        &self.traced.stage.args_info
    }

    /// Returns the result as arrays without elements (`Lowered.out_info`).
    pub fn out_info(&self) -> R {
        self.traced.out_info()
    }

    /// Returns the result, with tracers as leaves.
    pub(crate) fn result(&self) -> &R {
        &self.traced.stage.trace.typed::<S, R>().1
    }

    /// Returns the program in StableHLO.
    #[doc(alias = "compiler_ir")]
    pub fn as_text(&self) -> String {
        strip_locations(&self.program.text)
    }

    /// Returns the program in StableHLO with the source line of every operation.
    pub fn as_text_with_locations(&self) -> &str {
        &self.program.text
    }

    /// Compiles the program. Calls of the jitted function with arguments like these use it,
    /// without tracing or compiling again.
    ///
    /// ```no_run
    /// use ramie_core::{Array, jit};
    /// let double = jit(|x: Array| &x * 2.0);
    /// let x = Array::from(1.0f32);
    /// double.lower((x.clone(),))?.compile()?;
    /// assert_eq!(double(x).item::<f32>(), 2.0);
    /// assert_eq!(double.compilations(), 0);
    /// # Ok::<(), ramie_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if XLA rejects the program.
    pub fn compile(self) -> Result<Compiled<S, A, R>> {
        let Lowered { traced, program } = self;
        Ok(Compiled {
            name: traced.stage.name.clone(),
            program: traced.stage.compile(program)?,
            types: PhantomData,
        })
    }
}

impl<S: Tree, A: Tree, R: Tree> Lowered<S, A, R> {
    /// Compiles the program for hardware that need not be present, and reports the memory, FLOPs
    /// and communication that it needs there.
    ///
    /// A program over a mesh uses as many of the target's devices as the mesh has, in their
    /// order. The program is lowered again for the target's platform, but
    /// [`platform_dependent`](crate::lax::platform_dependent) already chose its branch when the
    /// function was traced.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType, aot::Target, jit};
    /// let product = jit(|(x, y): (Array, Array)| x.matmul(&y));
    /// let like = Array::shape_dtype_struct(&[4096, 4096], DType::BF16);
    /// let target: Target = "tpu:v5e:2x4".parse()?;
    /// let compiled = product.lower(((like.clone(), like),))?.compile_for(&target)?;
    /// println!("{compiled}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the target's plugin is not installed, if the target has fewer devices
    /// than the program needs, if the program calls functions of this process, or if XLA rejects
    /// it.
    pub fn compile_for(&self, target: &Target) -> Result<CompiledFor> {
        let platform = Some(target.platform());
        let traced = &self.traced.stage;
        let program = traced.plan.lower_for(platform, &traced.name, self.jaxpr());
        CompiledFor::of_program(&program, &traced.compiler_options, target)
    }
}

impl<S: Tree, A: Tree, R: Tree> Compiled<S, A, R> {
    /// Returns the program as optimized by the compiler.
    ///
    /// # Errors
    /// Returns an error if the plugin does not support this.
    pub fn as_text(&self) -> Result<String> {
        Ok(self.program.value.executable.optimized_text()?)
    }

    /// Returns estimates such as `flops` and `bytes accessed`: the plugin's, or, where it has none, what
    /// Ramie counts in the compiled program.
    ///
    /// # Errors
    /// Returns an error if the plugin does not provide the program.
    pub fn cost_analysis(&self) -> Result<Vec<(String, Value)>> {
        Ok(self.program.value.executable.cost_analysis()?)
    }

    /// Returns the memory that a run needs, in bytes.
    ///
    /// # Errors
    /// Returns an error if the plugin does not report it.
    pub fn memory_analysis(&self) -> Result<MemoryAnalysis> {
        Ok(self.program.value.executable.memory_analysis()?)
    }

    /// Returns the loaded executable.
    #[doc(alias = "runtime_executable")]
    pub fn executable(&self) -> &Executable {
        &self.program.value.executable
    }

    /// Runs the program on state and arguments of the signature for which it was lowered.
    ///
    /// # Errors
    /// Returns an error if the arguments have other types, structure or devices, or if running
    /// fails. The state is then unchanged.
    pub fn run_with(&self, state: &mut S, args: A) -> Result<R> {
        let inputs = inputs!(state, args);
        self.expect(inputs)?;
        (self.program.value).run(&self.name, state, ByValue(args))
    }

    /// Returns an error if the program was compiled for other inputs.
    fn expect(&self, inputs: Inputs<'_>) -> Result<()> {
        if self.program.key.matches(inputs) {
            return Ok(());
        }
        let why = describe(inputs).explain(std::iter::once(&self.program.value.description));
        Err(Error::Configuration(format!(
            "{}: called with arguments for which it was not compiled: {}\n  help: lower and \
             compile for these arguments, or call the jitted function, which compiles \
             automatically",
            self.name,
            why.unwrap_or_default()
        )))
    }
}

impl<A: Tree, R: Tree> Compiled<(), A, R> {
    /// Runs the program on arguments, passed as a tuple.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`run_with`](Self::run_with).
    pub fn run(&self, args: A) -> Result<R> {
        self.run_with(&mut (), args)
    }
}
