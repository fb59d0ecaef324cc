//! The compiled program of a call, for one device or for those of a mesh.

use super::place::Plan;
use crate::Result;
use crate::client::sharded::{self, Layout, Site};
use crate::client::{self, Origin, Program};
use crate::program::jaxpr::Jaxpr;
use ramie_pjrt::{Device, Executable, OptionOverride};

/// A program compiled for a call.
pub(crate) struct CompiledCall {
    pub executable: Executable,
    pub ordered: bool,
    pub device: Device,
    pub layout: Option<Box<Layout>>,
    /// See [`Plan::kept`].
    pub kept: Vec<bool>,
}

impl CompiledCall {
    /// Compiles the program of a plan, or loads it from the compilation cache.
    pub fn compile(
        program: Program,
        jaxpr: &Jaxpr,
        plan: &Plan,
        flags: &[(String, OptionOverride)],
    ) -> Result<(CompiledCall, Origin)> {
        match plan.site {
            Site::Device(device) => {
                let (executable, origin) = client::compile_or_load(&program, device, flags)?;
                let made = CompiledCall {
                    executable,
                    ordered: program.ordered,
                    device,
                    layout: None,
                    kept: plan.kept.clone(),
                };
                Ok((made, origin))
            }
            Site::Mesh(mesh) => {
                let compiled = sharded::compile(program, jaxpr, &plan.attributes, mesh, flags)?;
                let made = CompiledCall {
                    executable: compiled.executable,
                    ordered: false,
                    device: mesh.devices()[0],
                    layout: Some(Box::new(compiled.layout)),
                    kept: Vec::new(),
                };
                Ok((made, compiled.origin))
            }
        }
    }
}
