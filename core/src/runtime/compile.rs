//! From a jaxpr to a loaded executable, through the persistent cache.

use super::{cache, runtime};
use crate::lower::{ArgumentAttribute, Module, Partition, order};
use crate::{Aval, Error, Jaxpr, Result, profiler};
use ramie_pjrt::discover::Platform;
use ramie_pjrt::{BufferType, Callback, CompileOptions, Device, Executable, OptionOverride};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A program ready to compile.
pub(crate) struct Program {
    /// For messages and for the module's name.
    pub name: String,
    /// StableHLO with source locations.
    pub text: String,
    /// Types of the arguments on each device, captured values first.
    pub inputs: Vec<BufferType>,
    /// The devices it runs on, where these are several.
    pub partition: Partition,
    /// Which arguments give their buffer away.
    pub donated: Vec<bool>,
    /// Whether the last argument and the last result are the state of ordered
    /// effects; see [`ordered`](super::ordered).
    pub ordered: bool,
    /// Whether the program calls functions of this process.
    pub calls_back: bool,
}

impl Program {
    /// Lowers a jaxpr; `attributes` has an entry for every argument, captured
    /// values first, or none.
    pub fn lower(
        name: &str,
        jaxpr: &Jaxpr,
        attributes: &[ArgumentAttribute],
        partition: Partition,
    ) -> Program {
        Program::lower_for(None, name, jaxpr, attributes, partition)
    }

    /// [`lower`](Program::lower) for another platform than this process's.
    pub fn lower_for(
        platform: Option<Platform>,
        name: &str,
        jaxpr: &Jaxpr,
        attributes: &[ArgumentAttribute],
        partition: Partition,
    ) -> Program {
        let _event = profiler::span(|| profiler::Event::named(format!("lower {name}")));
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

/// How the programs of this process came to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompilationStats {
    /// Compiled by XLA.
    pub compiled: usize,
    /// Loaded from the persistent cache.
    pub loaded: usize,
}

static COMPILED: AtomicUsize = AtomicUsize::new(0);
static LOADED: AtomicUsize = AtomicUsize::new(0);

/// How many programs this process has compiled, and how many it found in the
/// persistent cache.
pub fn compilation_stats() -> CompilationStats {
    CompilationStats {
        compiled: COMPILED.load(Ordering::Relaxed),
        loaded: LOADED.load(Ordering::Relaxed),
    }
}

/// Where an executable came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// XLA compiled it now.
    Compiled,
    /// An earlier process did.
    Cache,
}

/// [`compile_or_load`], wherever from.
pub(crate) fn compile(
    program: &Program,
    device: Device,
    flags: &[(String, OptionOverride)],
) -> Result<Executable> {
    compile_or_load(program, device, flags).map(|(executable, _)| executable)
}

/// Arguments of so many bytes do not stay in a CPU's caches from one use to the
/// next.
const BEYOND_CACHES: usize = 64 << 20;

/// How programs over much memory are compiled for a CPU.
const FOR_LITTLE_MEMORY: [(&str, bool); 2] = [
    // The schedule for the most concurrency begins everything that can be begun:
    // small programs are faster by it, but one that passes over much memory
    // holds all its intermediate values at once.
    ("xla_cpu_enable_concurrency_optimized_scheduler", false),
    // A donated argument that two operations read, one of which writes its new
    // value, is not copied if the other can go first.
    ("xla_cpu_copy_insertion_use_region_analysis", true),
];

/// Options for one device, or for those of a partition.
fn options(
    device: Device,
    partition: &Partition,
    inputs: &[BufferType],
    flags: &[(String, OptionOverride)],
) -> Result<CompileOptions> {
    let mut options = match partition.devices.is_empty() {
        true => CompileOptions::on_device(device.id()),
        false => {
            let ids: Vec<i32> = partition.devices.iter().map(|d| d.id()).collect();
            CompileOptions {
                propagate_to_outputs: partition.outs.iter().map(Option::is_none).collect(),
                ..CompileOptions::partitioned(&ids)
            }
        }
    };
    if runtime()?.location.platform == Platform::Cpu {
        // By default this plugin's maximum and minimum drop NaN.
        let strict = OptionOverride::Bool(false);
        let name = "xla_cpu_enable_fast_min_max".to_string();
        options.env_overrides.push((name, strict));
        if inputs.iter().map(|i| i.size_bytes()).sum::<usize>() > BEYOND_CACHES {
            for (name, on) in FOR_LITTLE_MEMORY {
                options
                    .env_overrides
                    .push((name.to_string(), OptionOverride::Bool(on)));
            }
        }
    }
    options.env_overrides.extend_from_slice(flags);
    Ok(options)
}

/// Compiles for one device, or loads what an earlier process compiled.
pub(crate) fn compile_or_load(
    program: &Program,
    device: Device,
    flags: &[(String, OptionOverride)],
) -> Result<(Executable, Origin)> {
    let runtime = runtime()?;
    super::dump::dump(program)?;
    let client = runtime.client();
    let options = options(device, &program.partition, &program.inputs, flags)?;
    if program.calls_back {
        Callback::check(*client)?;
    }
    // Callbacks are known by numbers of this process.
    let entry = runtime
        .cache()
        .filter(|_| !program.calls_back)
        .map(|cache| cache.entry(runtime, &program.text, &options.encode(), device));
    if let Some(entry) = &entry
        && let Some(bytes) = entry.read()
    {
        let _event = profiler::span(|| profiler::Event::named(format!("load {}", program.name)));
        match client.load_executable(&bytes, &options, &program.inputs, &program.donated) {
            Ok(executable) => {
                LOADED.fetch_add(1, Ordering::Relaxed);
                return Ok((executable, Origin::Cache));
            }
            Err(e) => entry.discard(&e.to_string()),
        }
    }
    let _event = profiler::span(|| profiler::Event::named(format!("compile {}", program.name)));
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
            Err(e) => tracing::debug!(name = %program.name, "cannot be kept: {e}"),
        }
    }
    Ok((executable, Origin::Compiled))
}

/// A program that came as bytes: StableHLO as text or in its binary form.
pub(crate) struct ModuleBytes<'a> {
    /// For messages.
    pub name: &'a str,
    /// The module.
    pub module: &'a [u8],
    /// Types of the arguments.
    pub inputs: Vec<BufferType>,
}

/// Compiles a module for one device, or loads what an earlier process compiled.
pub(crate) fn compile_module(program: &ModuleBytes<'_>, device: Device) -> Result<Executable> {
    let donated = vec![false; program.inputs.len()];
    if let Ok(text) = std::str::from_utf8(program.module) {
        let program = Program {
            name: program.name.to_string(),
            text: text.to_string(),
            inputs: program.inputs.clone(),
            partition: Partition::default(),
            donated,
            ordered: false,
            calls_back: false,
        };
        return compile(&program, device, &[]);
    }
    let options = options(device, &Partition::default(), &program.inputs, &[])?;
    let executable = runtime()?
        .client()
        .compile_module(program.module, &options, &program.inputs, &donated)
        .map_err(|source| Error::Compile {
            name: program.name.to_string(),
            source,
        })?;
    COMPILED.fetch_add(1, Ordering::Relaxed);
    Ok(executable)
}

pub(crate) use cache::Cache;
