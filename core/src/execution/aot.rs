//! Ahead-of-time compilation for hardware that is not present.
//!
//! The plugins for TPUs and GPUs can compile on machines without these devices. A program can
//! thus be checked for a [`Target`] in advance: whether it compiles, whether it fits into memory,
//! how many FLOPs it needs, and what its devices communicate.
//!
//! [`Lowered::compile_for`](crate::stages::Lowered::compile_for) compiles a function of this process,
//! [`Exported::compile_for`](crate::services::export::Exported::compile_for) compiles a function from a
//! file, and [`compile_module`] compiles a StableHLO module.

use crate::client::Program;
use crate::program::lower::Partition;
use crate::{Error, Result};
use ramie_base::clock::Instant;
use ramie_pjrt::{CompileOptions, MemoryAnalysis, OptionOverride, UnloadedExecutable, Value};
use std::fmt;
use std::time::Duration;

pub use ramie_formats::collectives::Collective;
pub use ramie_pjrt::{InvalidTarget, Target};

/// A program compiled for a [`Target`]. Its `Display` output is a report.
#[derive(Debug)]
pub struct CompiledFor {
    name: String,
    target: Target,
    kind: String,
    devices: usize,
    took: Duration,
    executable: UnloadedExecutable,
}

/// Compiles a StableHLO module, in text or in its portable binary form. `name` is used in
/// messages.
///
/// A module in text form contains its numbers of partitions and replicas as attributes, like
/// those of Ramie and JAX: `mhlo.num_partitions = 8 : i32`. A module in binary form is compiled
/// for one device.
///
/// ```no_run
/// use ramie_core::aot::compile_module;
/// let text = std::fs::read("step.mlir")?;
/// println!("{}", compile_module("step", &text, &"cuda:h200".parse()?)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if the target's plugin is not installed, if the target has fewer devices than
/// the program needs, or if XLA rejects the program.
pub fn compile_module(name: &str, module: &[u8], target: &Target) -> Result<CompiledFor> {
    let text = std::str::from_utf8(module).unwrap_or("");
    let options = CompileOptions {
        num_replicas: attribute(text, "mhlo.num_replicas"),
        num_partitions: attribute(text, "mhlo.num_partitions"),
        use_spmd: attribute(text, "mhlo.num_partitions") > 1,
        use_shardy: text.contains("sdy."),
        ..CompileOptions::default()
    };
    CompiledFor::new(name, module, options, target)
}

/// Returns the value of an integer attribute of a module, or 1 if it is missing.
fn attribute(text: &str, name: &str) -> usize {
    let number = || {
        let (_, after) = text.split_once(name)?;
        let after = after.trim_start().strip_prefix('=')?.trim_start();
        let end = after.find(|c: char| !c.is_ascii_digit())?;
        after[..end].parse().ok()
    };
    number().unwrap_or(1)
}

impl CompiledFor {
    pub(crate) fn of_program(
        program: &Program,
        flags: &[(String, OptionOverride)],
        target: &Target,
    ) -> Result<CompiledFor> {
        if program.calls_back {
            return Err(Error::Configuration(format!(
                "`{}` calls functions of this process, which are not available on {target}\n  help: \
                 remove debug::print and callbacks from the function",
                program.name
            )));
        }
        let Partition { devices, outs, .. } = &program.partition;
        let options = CompileOptions {
            env_overrides: flags.to_vec(),
            ..match devices.len() {
                0 => CompileOptions::default(),
                count => CompileOptions {
                    num_partitions: count,
                    use_spmd: true,
                    use_shardy: true,
                    propagate_to_outputs: outs.iter().map(Option::is_none).collect(),
                    ..CompileOptions::default()
                },
            }
        };
        CompiledFor::new(&program.name, program.text.as_bytes(), options, target)
    }

    /// Compiles a module for the first devices of the target.
    fn new(
        name: &str,
        module: &[u8],
        mut options: CompileOptions,
        target: &Target,
    ) -> Result<CompiledFor> {
        let devices = options.num_devices();
        let topology = target
            .topology(devices)
            .map_err(|e| Error::Plugin(e.to_string()))?;
        let there = topology.devices();
        if devices > there.len() {
            return Err(Error::Configuration(format!(
                "`{name}` needs {devices} devices, but {target} has {}\n  help: use a target with \
                 enough devices, such as tpu:v5e:2x4 or cuda:h200:8, which have 8",
                there.len()
            )));
        }
        options.device_assignment = Some(there[..devices].to_vec());
        let start = Instant::now();
        let executable = topology
            .compile(module, &options)
            .map_err(|source| Error::Compile {
                name: name.into(),
                source,
            })?;
        Ok(CompiledFor {
            name: name.into(),
            target: target.clone(),
            kind: topology.kind().into(),
            devices,
            took: start.elapsed(),
            executable,
        })
    }

    /// Returns the target for which the program was compiled.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns how many of the target's devices the program uses.
    pub fn devices(&self) -> usize {
        self.devices
    }

    /// Returns the memory that a run needs on each device, in bytes.
    ///
    /// # Errors
    /// Returns an error if the plugin does not report it.
    pub fn memory_analysis(&self) -> Result<MemoryAnalysis> {
        Ok(self.executable.memory_analysis()?)
    }

    /// Returns estimates for each device, such as `flops` and `bytes accessed`: the plugin's, or, where
    /// it has none, what Ramie counts in the compiled program.
    ///
    /// # Errors
    /// Returns an error if the plugin does not provide the program.
    pub fn cost_analysis(&self) -> Result<Vec<(String, Value)>> {
        Ok(self.executable.cost_analysis()?)
    }

    /// Returns the floating-point operations of a run on each device, as in
    /// [`cost_analysis`](CompiledFor::cost_analysis). Those in a loop count once.
    ///
    /// # Errors
    /// Returns an error if the plugin does not provide the program's text.
    pub fn flops(&self) -> Result<f64> {
        Ok(self.executable.flops()?)
    }

    /// Returns the collectives with which the devices communicate, by kind of operation.
    ///
    /// # Errors
    /// Returns an error if the plugin does not provide the program's text.
    pub fn collectives(&self) -> Result<Vec<Collective>> {
        Ok(self.executable.collectives()?)
    }

    /// Returns the program as optimized by the compiler.
    ///
    /// # Errors
    /// Returns an error if the plugin does not provide the program's text.
    pub fn as_text(&self) -> Result<String> {
        Ok(self.executable.optimized_text()?)
    }

    /// Returns the executable.
    pub fn executable(&self) -> &UnloadedExecutable {
        &self.executable
    }
}

/// Formats a quantity with three digits and a metric prefix: `64.6 MB`.
fn scaled(mut quantity: f64, unit: &str) -> String {
    let mut prefix = "";
    for larger in ["k", "M", "G", "T", "P"] {
        if quantity.abs() < 999.5 {
            break;
        }
        (quantity, prefix) = (quantity / 1e3, larger);
    }
    let digits = match quantity.abs() {
        q if prefix.is_empty() || q >= 99.5 => 0,
        q if q >= 9.95 => 1,
        _ => 2,
    };
    let text = format!("{quantity:.digits$} {prefix}{unit}");
    text.trim_end().into()
}

impl fmt::Display for CompiledFor {
    /// Writes name and target, and for each device memory, FLOPs and collectives.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} for {}: {} × {}, compiled in {:.1} s",
            self.name,
            self.target,
            self.devices,
            self.kind,
            self.took.as_secs_f64()
        )?;
        match self.memory_analysis() {
            Ok(m) => {
                // Results that alias arguments need no memory of their own.
                let parts = [
                    ("arguments", m.argument),
                    ("results", m.output - m.alias),
                    ("temporary", m.temp),
                    ("code", m.generated_code),
                ];
                let all: i64 = parts.iter().map(|(_, bytes)| bytes).sum();
                let all = scaled(all as f64, "B");
                let parts =
                    parts.map(|(name, bytes)| format!("{name} {}", scaled(bytes as f64, "B")));
                writeln!(f, "  memory       {all}: {}", parts.join(", "))?;
            }
            Err(e) => writeln!(f, "  memory       unknown: {e}")?,
        }
        match self.flops() {
            Ok(flops) => writeln!(f, "  FLOPs        {}", scaled(flops, ""))?,
            Err(e) => writeln!(f, "  FLOPs        unknown: {e}")?,
        }
        let collectives = match self.collectives() {
            Ok(all) if all.is_empty() => "none".into(),
            Ok(all) => {
                let each = all.iter().map(|c| {
                    let bytes = scaled(c.bytes as f64, "B");
                    format!("{} {} of {bytes}", c.count, c.kind)
                });
                each.collect::<Vec<_>>().join(", ")
            }
            Err(e) => format!("unknown: {e}"),
        };
        write!(f, "  collectives  {collectives}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_three_digits() {
        let cases = [
            (0.0, "0 B"),
            (512.0, "512 B"),
            (1024.0, "1.02 kB"),
            (64_586_272.0, "64.6 MB"),
            (999_700.0, "1.00 MB"),
            (5.99e18, "5990 PB"),
        ];
        for (quantity, text) in cases {
            assert_eq!(scaled(quantity, "B"), text);
        }
        assert_eq!(scaled(1e9, ""), "1.00 G");
    }

    #[test]
    fn attributes_of_modules_are_read() {
        let text = "module @f attributes {mhlo.num_partitions = 8 : i32} {}";
        assert_eq!(attribute(text, "mhlo.num_partitions"), 8);
        assert_eq!(attribute(text, "mhlo.num_replicas"), 1);
        assert_eq!(attribute("mhlo.num_replicas =", "mhlo.num_replicas"), 1);
    }
}
