//! Compilation of jaxprs to loaded executables, through the persistent cache.

use super::{cache, runtime};
use crate::base::events;
use crate::extend::Jaxpr;
use crate::program::lower::{ArgumentAttribute, Module, Partition, order};
use crate::{Aval, Error, Result};
use ramie_pjrt::{BufferType, Callback, CompileOptions, Device, Executable, OptionOverride};
use ramie_plugins::Platform;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A program ready to compile.
pub(crate) struct Program {
    /// Name for messages and for the module.
    pub name: String,
    /// StableHLO with source locations.
    pub text: String,
    /// Types of the arguments on each device, captured values first.
    pub inputs: Vec<BufferType>,
    /// Devices of the program and layouts of its arguments, if it runs on several.
    pub partition: Partition,
    /// Whether each argument is donated.
    pub donated: Vec<bool>,
    /// Whether the last argument and the last result are the state of ordered
    /// effects; see [`ordered`](super::ordered).
    pub ordered: bool,
    /// Whether the program calls functions of this process.
    pub calls_back: bool,
}

impl Program {
    /// Lowers a jaxpr; `attributes` has an entry for every argument, captured values first, or is
    /// empty.
    pub fn lower(
        name: &str,
        jaxpr: &Jaxpr,
        attributes: &[ArgumentAttribute],
        partition: Partition,
    ) -> Program {
        Program::lower_for(None, name, jaxpr, attributes, partition)
    }

    /// Lowers like [`lower`](Program::lower), for a platform; `None` is this process's.
    pub fn lower_for(
        platform: Option<Platform>,
        name: &str,
        jaxpr: &Jaxpr,
        attributes: &[ArgumentAttribute],
        partition: Partition,
    ) -> Program {
        let _event = events::span(|| events::Event::named(format!("lower {name}")));
        let platform = platform.or_else(super::platform);
        let module = Module::lower(name, jaxpr, attributes, &partition, platform);
        let mut inputs: Vec<BufferType> = jaxpr
            .constvars
            .iter()
            .chain(&jaxpr.invars)
            .map(|v| jaxpr.var_aval(*v))
            .enumerate()
            .map(|(i, aval)| match partition.ins.get(i) {
                Some(sharding) => aval.with_shape(&sharding.shard_shape(aval.shape())),
                None => aval,
            })
            .map(|aval| Aval::buffer_type(&aval))
            .collect();
        if module.ordered {
            inputs.push(order::aval().buffer_type());
        }
        let donated = (0..inputs.len())
            .map(|i| {
                attributes
                    .get(i)
                    .is_some_and(|a| *a != ArgumentAttribute::None)
            })
            .collect();
        Program {
            name: name.to_string(),
            text: module.text,
            inputs,
            partition,
            donated,
            ordered: module.ordered,
            calls_back: module.calls_back,
        }
    }
}

/// Counts of the programs of this process, by origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompilationStats {
    /// Number of programs compiled by XLA.
    pub compiled: usize,
    /// Number of programs loaded from the persistent cache.
    pub loaded: usize,
}

static COMPILED: AtomicUsize = AtomicUsize::new(0);
static LOADED: AtomicUsize = AtomicUsize::new(0);

/// Returns how many programs this process has compiled, and how many it has loaded from the
/// persistent cache.
pub fn compilation_stats() -> CompilationStats {
    CompilationStats {
        compiled: COMPILED.load(Ordering::Relaxed),
        loaded: LOADED.load(Ordering::Relaxed),
    }
}

/// The origin of an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Compiled by XLA in this call.
    Compiled,
    /// Loaded from the persistent cache.
    Cache,
}

/// Same as [`compile_or_load`], without the origin.
pub(crate) fn compile(
    program: &Program,
    device: Device,
    flags: &[(String, OptionOverride)],
) -> Result<Executable> {
    compile_or_load(program, device, flags).map(|(executable, _)| executable)
}

/// Returns the compile options for one device, or for those of a partition.
fn options(
    device: Device,
    program: &Program,
    flags: &[(String, OptionOverride)],
) -> Result<CompileOptions> {
    let partition = &program.partition;
    let mut options = if partition.devices.is_empty() {
        CompileOptions::on_device(device.id())
    } else {
        let ids: Vec<i32> = partition.devices.iter().map(|d| d.id()).collect();
        CompileOptions {
            propagate_to_outputs: partition.outs.iter().map(Option::is_none).collect(),
            ..CompileOptions::partitioned(&ids)
        }
    };
    let runtime = runtime()?;
    if runtime.location.platform == Platform::Cpu && !runtime.location.is_linked() {
        // By default the maximum and minimum of XLA's CPU plugin drop NaN.
        let name = "xla_cpu_enable_fast_min_max".to_owned();
        options.env_overrides = vec![(name, OptionOverride::Bool(false))];
    }
    options.env_overrides.extend_from_slice(flags);
    Ok(options)
}

/// Compiles for one device, or loads the program from the persistent cache.
pub(crate) fn compile_or_load(
    program: &Program,
    device: Device,
    flags: &[(String, OptionOverride)],
) -> Result<(Executable, Origin)> {
    let runtime = runtime()?;
    super::dump::dump(program)?;
    let client = runtime.client();
    let options = options(device, program, flags)?;
    if program.calls_back {
        Callback::check(*client)?;
    }
    // Programs refer to callbacks by numbers that are only valid in this process.
    let entry = runtime
        .cache()
        .filter(|_| !program.calls_back)
        .map(|cache| cache.entry(runtime, &program.text, &options.encode(), device));
    if let Some(entry) = &entry
        && let Some(bytes) = entry.read()
    {
        let _event = events::span(|| events::Event::named(format!("load {}", program.name)));
        match client.load_executable(&bytes, &options, &program.inputs, &program.donated) {
            Ok(executable) => {
                LOADED.fetch_add(1, Ordering::Relaxed);
                return Ok((executable, Origin::Cache));
            }
            Err(e) => entry.discard(&e.to_string()),
        }
    }
    let _event = events::span(|| events::Event::named(format!("compile {}", program.name)));
    let executable = client
        .compile(&program.text, &options, &program.inputs, &program.donated)
        .map_err(|source| Error::Compile {
            name: program.name.clone(),
            source,
        })?;
    COMPILED.fetch_add(1, Ordering::Relaxed);
    if let Some(entry) = entry {
        match executable.serialize() {
            Ok(bytes) => entry.write(&bytes),
            Err(e) => tracing::debug!(name = %program.name, "cannot be cached: {e}"),
        }
    }
    Ok((executable, Origin::Compiled))
}

/// A program from bytes: StableHLO as text or in its binary form.
pub(crate) struct ModuleBytes<'a> {
    /// Name for messages.
    pub name: &'a str,
    /// The module.
    pub module: &'a [u8],
    /// Types of the arguments.
    pub inputs: Vec<BufferType>,
}

/// Compiles a module for one device, or loads it from the persistent cache.
pub(crate) fn compile_module(program: &ModuleBytes<'_>, device: Device) -> Result<Executable> {
    let text = std::str::from_utf8(program.module);
    let readable = Program {
        name: program.name.to_string(),
        text: text.unwrap_or_default().to_string(),
        inputs: program.inputs.clone(),
        partition: Partition::default(),
        donated: vec![false; program.inputs.len()],
        ordered: false,
        calls_back: false,
    };
    if text.is_ok() {
        return compile(&readable, device, &[]);
    }
    let options = options(device, &readable, &[])?;
    let executable = runtime()?
        .client()
        .compile_module(
            program.module,
            &options,
            &readable.inputs,
            &readable.donated,
        )
        .map_err(|source| Error::Compile {
            name: readable.name,
            source,
        })?;
    COMPILED.fetch_add(1, Ordering::Relaxed);
    Ok(executable)
}

pub(crate) use cache::Cache;
