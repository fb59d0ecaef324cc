//! From a jaxpr to a loaded executable.

use super::runtime;
use crate::lower::{ArgumentAttribute, Module};
use crate::{Aval, Error, Jaxpr, Result};
use ramie_pjrt::{BufferType, CompileOptions, Device, Executable};

/// A program ready to compile.
pub(crate) struct Program {
    /// For messages and for the module's name.
    pub name: String,
    /// StableHLO with source locations.
    pub text: String,
    /// Types of the arguments, captured values first.
    pub inputs: Vec<BufferType>,
    /// Which arguments give their buffer away.
    pub donated: Vec<bool>,
}

impl Program {
    /// Lowers a jaxpr; `attributes` has an entry for every argument, captured
    /// values first, or none.
    pub fn lower(name: &str, jaxpr: &Jaxpr, attributes: &[ArgumentAttribute]) -> Program {
        let inputs: Vec<BufferType> = jaxpr
            .constvars
            .iter()
            .chain(&jaxpr.invars)
            .map(|v| Aval::buffer_type(&jaxpr.var_aval(*v)))
            .collect();
        let donated = (0..inputs.len())
            .map(|i| matches!(attributes.get(i), Some(ArgumentAttribute::AliasedTo(_))))
            .collect();
        Program {
            name: name.to_string(),
            text: Module::lower(name, jaxpr, attributes),
            inputs,
            donated,
        }
    }
}

/// Compiles for one device.
pub(crate) fn compile(program: &Program, device: Device) -> Result<Executable> {
    let runtime = runtime()?;
    let options = CompileOptions {
        device_assignment: Some(vec![device.id()]),
        ..CompileOptions::default()
    };
    runtime
        .client()
        .compile(&program.text, &options, &program.inputs, &program.donated)
        .map_err(|source| Error::Compile {
            name: program.name.clone(),
            source,
        })
}
