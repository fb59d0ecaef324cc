//! `Within`: the transformation around a scope, for messages about what it does not pass.

use super::root::Root;

/// A transformation of a module, and what exists outside of it.
#[derive(Clone)]
pub(crate) struct LiftContext {
    operation: &'static str,
    collections: Vec<String>,
    streams: Vec<String>,
    initializing: bool,
}

impl LiftContext {
    /// Creates the description of a transformation from the state outside of it.
    pub fn of(operation: &'static str, outside: &Root) -> LiftContext {
        LiftContext {
            operation,
            collections: outside.variables.names().map(str::to_owned).collect(),
            streams: outside.streams.names().map(str::to_owned).collect(),
            initializing: outside.initializing,
        }
    }

    /// Returns the problem and the remedy if the transformation does not pass a collection to
    /// its module that exists outside, or that `init` creates.
    pub fn withholds_collection(&self, name: &str) -> Option<String> {
        if !self.initializing && !self.collections.iter().any(|c| c == name) {
            return None;
        }
        let remedy = match self.operation {
            "scan" => format!(
                ".variable_axes(\"{name}\", 0) for separate variables in each step, \
                 .variable_broadcast(\"{name}\") for shared ones, or .variable_carry(\"{name}\") \
                 to carry them"
            ),
            "vmap" => format!(
                ".variable_axes(\"{name}\", 0) for separate variables of each batch element, or \
                 .variable_axes(\"{name}\", None) for shared ones"
            ),
            "jit" | "remat" | "map_variables" => {
                format!("`{name}` to the collections in .variables(..)")
            }
            _ => return None,
        };
        Some(format!(
            "linen::{} does not pass the collection `{name}` to its module\n  help: add {remedy}",
            self.operation
        ))
    }

    /// Returns the problem and the remedy if the transformation does not pass an RNG stream to
    /// its module that exists outside.
    pub fn withholds_stream(&self, name: &str) -> Option<String> {
        let has = |name: &str| self.streams.iter().any(|s| s == name);
        // Without the stream, keys come from `params`.
        let name = [name, "params"].into_iter().find(|name| has(name))?;
        let remedy = match self.operation {
            "scan" | "while_loop" => format!(
                ".split_rngs(\"{name}\", true) for other keys in each step, or \
                 .split_rngs(\"{name}\", false) for the same keys"
            ),
            "vmap" => format!(
                ".split_rngs(\"{name}\", true) for other keys for each batch element, or \
                 .split_rngs(\"{name}\", false) for the same keys"
            ),
            "jit" | "remat" | "map_variables" => format!("`{name}` to the streams in .rngs(..)"),
            _ => return None,
        };
        Some(format!(
            "linen::{} does not pass the RNG stream `{name}` to its module\n  help: add {remedy}",
            self.operation
        ))
    }
}
