//! Lowering of composites: calls of functions as named operations.

use super::{Lowering, Value};
use crate::extend::Jaxpr;
use std::sync::Arc;

impl Lowering<'_> {
    /// Emits the call of a program as `stablehlo.composite`: an operation of the given name and
    /// further attributes (`version`, `composite_attributes`), which a compiler that does not
    /// know it replaces by the program.
    pub fn composite(
        &mut self,
        name: &str,
        jaxpr: &Arc<Jaxpr>,
        args: &[Value],
        attributes: &str,
    ) -> Vec<Value> {
        let callee = self.module.function(name, jaxpr, self.axes);
        if callee.ordered {
            // A composite has no operand for the order of effects.
            return self.call(name, jaxpr, args);
        }
        let attributes = format!(
            "name = {name:?}, decomposition = @{}, {attributes}",
            callee.name
        );
        self.op("composite", args, &jaxpr.out_avals(), &attributes, &[])
    }
}
