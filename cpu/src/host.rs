//! Functions of the host, which programs call by custom calls.

use crate::TensorType;
use crate::text::Attributes;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A call of a function of the host. Arrays are in row-major order.
pub struct HostCall<'a> {
    /// The attribute `backend_config`.
    pub config: &'a Attributes,
    /// Types and bytes of the operands.
    pub operands: Vec<(&'a TensorType, &'a [u8])>,
    /// Types and bytes of the results, which the function writes.
    pub results: Vec<(&'a TensorType, &'a mut [u8])>,
}

/// A function of the host. The message of an error fails the run.
#[derive(Clone)]
pub struct HostFunction(Arc<dyn Fn(HostCall<'_>) -> Result<(), String> + Send + Sync>);

impl HostFunction {
    /// Wraps a function.
    pub fn new(
        function: impl Fn(HostCall<'_>) -> Result<(), String> + Send + Sync + 'static,
    ) -> HostFunction {
        HostFunction(Arc::new(function))
    }

    /// Calls the function.
    ///
    /// # Errors
    /// Returns the function's message.
    pub fn call(&self, call: HostCall<'_>) -> Result<(), String> {
        (self.0)(call)
    }
}

impl fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostFunction")
    }
}

/// Functions of the host by the targets of custom calls.
pub type HostFunctions = HashMap<String, HostFunction>;
