//! The compiler's information about an executable: cost, memory use, and the optimized program.

use crate::error::{Error, ErrorCode, Result, owned_string};
use crate::sys;
use crate::unloaded::UnloadedExecutable;
use crate::value::Value;
use ramie_formats::collectives::{self, Collective};
use ramie_formats::{cost, hlo};

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

    /// Returns the collective operations of the compiled program, sorted by kind.
    ///
    /// # Errors
    /// Returns the plugin's error, or `Unimplemented` if the program's format is unknown.
    pub fn collectives(&self) -> Result<Vec<Collective>> {
        Ok(collectives::of_module(&self.module()?))
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
    fn optimized_program(&self) -> Result<(String, Vec<u8>)> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BufferType, Client, ClientOptions, ElementType, Plugin};
    use ramie_plugins::{Platform, find};

    /// Programs, the operands' shape, and what XLA counts: floating-point operations and
    /// transcendental functions.
    const PROGRAMS: [(&str, &str, f64, f64); 7] = [
        ("stablehlo.add %x, %x : !t", "8x16xf32", 128.0, 0.0),
        ("stablehlo.tanh %x : !t", "8x16xf32", 0.0, 128.0),
        ("stablehlo.transpose %x, dims = [1, 0] : (!t) -> !t", "16x16xf32", 0.0, 0.0),
        (
            "stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (!t, !t) -> !t",
            "64x64xf32",
            524_288.0,
            0.0,
        ),
        (
            "stablehlo.while(%a = %x) : !t
             cond { %c = stablehlo.constant dense<true> : tensor<i1> stablehlo.return %c : tensor<i1> }
             do { %b = stablehlo.sine %a : !t stablehlo.return %b : !t }",
            "100xf32",
            0.0,
            100.0,
        ),
        (
            "\"stablehlo.reduce_window\"(%x, %zero) <{window_dimensions = array<i64: 3>,
                padding = dense<1> : tensor<1x2xi64>}> ({
                ^bb0(%a: tensor<f32>, %b: tensor<f32>):
                %c = stablehlo.add %a, %b : tensor<f32>
                stablehlo.return %c : tensor<f32> }) : (!t, tensor<f32>) -> !t",
            "50xf32",
            100.0,
            0.0,
        ),
        (
            "\"stablehlo.sort\"(%x) <{dimension = 0 : i64, is_stable = true}> ({
                ^bb0(%a: tensor<f32>, %b: tensor<f32>):
                %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
                stablehlo.return %c : tensor<i1> }) : (!t) -> !t",
            "1000xf32",
            10_000.0,
            0.0,
        ),
    ];

    /// On plugins with estimates of their own, both must agree.
    #[test]
    fn counts_are_those_of_xla() {
        let plugin = Plugin::load(find(Some(Platform::Cpu)).unwrap().path).unwrap();
        let client = Client::new(&plugin, &ClientOptions::new().cpu_device_count(1)).unwrap();
        for (body, shape, flops, transcendentals) in PROGRAMS {
            let text = format!(
                "!t = tensor<{shape}>
                 func.func @main(%x: !t) -> !t {{
                 %zero = stablehlo.constant dense<0.0> : tensor<f32>
                 %y = {body}
                 return %y : !t }}"
            );
            let dims: Vec<i64> = shape.split('x').filter_map(|d| d.parse().ok()).collect();
            let input = BufferType::new(ElementType::F32, &dims);
            let program = client
                .compile(&text, &Default::default(), &[input], &[])
                .unwrap();
            let program = program.unloaded();
            let counted = cost::of_module(&program.module().unwrap());
            assert_eq!(
                (counted.flops, counted.transcendentals),
                (flops, transcendentals),
                "{body}"
            );
            assert!(
                counted.bytes >= 8.0 * dims.iter().product::<i64>() as f64,
                "{body}"
            );
            let costs = program.cost_analysis().unwrap();
            let value = |name| {
                let cost = costs.iter().find(|(n, _)| n == name);
                cost.map_or(0.0, |(_, v)| {
                    if let Value::F32(v) = v {
                        f64::from(*v)
                    } else {
                        f64::NAN
                    }
                })
            };
            let own = (value("flops"), value("transcendentals"));
            assert_eq!(own, (flops, transcendentals), "{body}: {costs:?}");
            println!(
                "{} {counted:?} {costs:?}",
                program.optimized_text().unwrap()
            );
        }
    }
}
