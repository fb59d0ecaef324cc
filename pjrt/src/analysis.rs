//! The compiler's information about an executable: cost, memory use, and the optimized program.

use crate::error::{Error, ErrorCode, Result, owned_string};
use crate::sys;
use crate::unloaded::UnloadedExecutable;
use crate::value::Value;
use crate::{cost, hlo};

/// Memory that one run needs on each device, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryAnalysis {
    /// Size of the machine code.
    pub generated_code: i64,
    /// Size of the inputs.
    pub argument: i64,
    /// Size of the outputs.
    pub output: i64,
    /// Size of the outputs that reuse the memory of donated inputs.
    pub alias: i64,
    /// Size of intermediate values.
    pub temp: i64,
    /// Peak memory use, or 0 if the plugin does not report it.
    pub peak: i64,
    /// Size of the machine code in host memory.
    pub host_generated_code: i64,
    /// Size of the inputs in host memory.
    pub host_argument: i64,
    /// Size of the outputs in host memory.
    pub host_output: i64,
    /// Size of the outputs in host memory that reuse the memory of donated inputs.
    pub host_alias: i64,
    /// Size of intermediate values in host memory.
    pub host_temp: i64,
}

impl UnloadedExecutable {
    /// Returns estimates of the cost of a run on each device, sorted by name: `flops`,
    /// `transcendentals`, `bytes accessed`, and others that the plugin has. A loop counts
    /// once.
    ///
    /// Where the plugin has no estimates, these three are counted from the compiled program.
    ///
    /// # Errors
    /// Returns the plugin's error, or `Unimplemented` for a form of the program that this crate
    /// cannot read.
    pub fn cost_analysis(&self) -> Result<Vec<(String, Value)>> {
        match self.plugins_cost_analysis() {
            Err(error) if error.code() == ErrorCode::Unimplemented => {
                let cost = cost::of_module(&self.module()?);
                let named = [
                    ("bytes accessed", cost.bytes),
                    ("flops", cost.flops),
                    ("transcendentals", cost.transcendentals),
                ];
                let value =
                    |(name, value): (&str, f64)| (name.to_owned(), Value::F32(value as f32));
                Ok(named.into_iter().map(value).collect())
            }
            other => other,
        }
    }

    /// Returns the floating-point operations of a run on each device, as in
    /// [`cost_analysis`](UnloadedExecutable::cost_analysis).
    ///
    /// # Errors
    /// As [`cost_analysis`](UnloadedExecutable::cost_analysis).
    pub fn flops(&self) -> Result<f64> {
        let costs = self.cost_analysis()?;
        let flops = costs.iter().find_map(|(name, value)| match value {
            Value::F32(flops) if name == "flops" => Some(f64::from(*flops)),
            _ => None,
        });
        // A plugin may leave out what is zero.
        Ok(flops.unwrap_or(0.0))
    }

    fn plugins_cost_analysis(&self) -> Result<Vec<(String, Value)>> {
        let mut args = sys::zeroed::<sys::ExecutableGetCostAnalysis>();
        args.executable = self.raw();
        // SAFETY: the executable is live, and the list lives as long.
        let mut costs = unsafe {
            self.api().call(&mut args)?;
            Value::read_all(args.properties, args.num_properties)
        };
        costs.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(costs)
    }

    /// Returns the memory that one run needs on each device.
    ///
    /// # Errors
    /// Returns the plugin's error.
    pub fn memory_analysis(&self) -> Result<MemoryAnalysis> {
        let mut args = sys::zeroed::<sys::ExecutableGetCompiledMemoryStats>();
        args.executable = self.raw();
        // SAFETY: the executable is live.
        unsafe { self.api().call(&mut args) }?;
        Ok(MemoryAnalysis {
            generated_code: args.generated_code,
            argument: args.argument,
            output: args.output,
            alias: args.alias,
            temp: args.temp,
            peak: args.peak,
            host_generated_code: args.host_generated_code,
            host_argument: args.host_argument,
            host_output: args.host_output,
            host_alias: args.host_alias,
            host_temp: args.host_temp,
        })
    }

    /// Returns the optimized program as text.
    ///
    /// Plugins return the program in a binary form. The text contains the computations and, for
    /// each instruction, its name, shape, operation, operands and the attributes that identify
    /// it; constants of more than a few elements are omitted.
    ///
    /// # Errors
    /// Returns the plugin's error, or `Unimplemented` if the program's format is unknown.
    pub fn optimized_text(&self) -> Result<String> {
        let (format, code) = self.optimized_program()?;
        hlo::text(&format, &code)
            .ok_or_else(|| unknown_form(&format, &code, "showing the optimized program"))
    }

    /// Returns the optimized module in XLA's binary format.
    pub(crate) fn module(&self) -> Result<Vec<u8>> {
        let (format, code) = self.optimized_program()?;
        match hlo::module_of(&format, &code) {
            Some(module) => Ok(module.to_vec()),
            None => Err(unknown_form(
                &format,
                &code,
                "reading the optimized program",
            )),
        }
    }

    /// Returns the optimized program as the plugin stores it: the name of the format, and the
    /// bytes.
    pub(crate) fn optimized_program(&self) -> Result<(String, Vec<u8>)> {
        let mut program = sys::zeroed::<sys::Program>();
        let mut args = sys::zeroed::<sys::ExecutableOptimizedProgram>();
        args.executable = self.raw();
        let program_pointer = &raw mut program;
        args.program = program_pointer;
        // SAFETY: without space for the code, the call returns its size and format.
        unsafe { self.api().call(&mut args) }?;
        let mut code = vec![0u8; program.code_size];
        program.code = code.as_mut_ptr();
        args.program = &raw mut program;
        // SAFETY: now there is space for the code.
        unsafe { self.api().call(&mut args) }?;
        // SAFETY: the format's name is a static string of the plugin.
        Ok((
            unsafe { owned_string(program.format.cast(), program.format_size) },
            code,
        ))
    }
}

fn unknown_form(format: &str, code: &[u8], context: &str) -> Error {
    Error::Plugin {
        code: ErrorCode::Unimplemented,
        message: format!(
            "the plugin returns it in the unknown format `{format}` ({} bytes)",
            code.len()
        ),
        context: context.into(),
    }
}
