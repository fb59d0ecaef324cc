//! Compiled programs.

use crate::graph::{Functions, Graph};
use crate::memory::{Buffer, Context};
use crate::text::Attributes;
use crate::{Error, Result, TensorType};
use std::sync::Arc;

/// Attributes of parameters whose memory a run may use for results.
const DONATED: [&str; 2] = ["tf.aliasing_output", "jax.buffer_donor"];

/// A StableHLO module, compiled. Its function `@main` runs.
pub struct Program {
    name: String,
    donated: Vec<bool>,
    graph: Arc<Graph>,
    results: Vec<TensorType>,
    context: Context,
}

impl Program {
    /// Compiles the text of a module.
    ///
    /// # Errors
    /// Returns [`Error::Text`] if the text is no module or contradicts itself, and
    /// [`Error::Unsupported`] if it contains something that is not implemented.
    pub fn compile(text: &str) -> Result<Program> {
        let module = crate::text::parse(text)?;
        let table = crate::ops::table();
        let graph = Functions::new(&module, &table).graph("main", 1)?;
        let results = graph
            .results
            .iter()
            .map(|u| graph.types[u.slot as usize].clone())
            .collect();
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        let context = Context { threads };
        let main = &module.functions[module.by_name["main"]];
        let is_donated =
            |attributes: &Attributes| DONATED.iter().any(|name| attributes.get(name).is_some());
        let donated = main.argument_attributes.iter().map(is_donated).collect();
        Ok(Program {
            name: module.name.clone(),
            donated,
            graph,
            results,
            context,
        })
    }

    /// Returns the program with at most this number of threads per operation. The results do not depend on it.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Program {
        self.context.threads = threads.max(1);
        self
    }

    /// Returns the name of the module.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns which parameters give up their memory to a run.
    pub fn donated(&self) -> &[bool] {
        &self.donated
    }

    /// Returns the types of the parameters.
    pub fn parameters(&self) -> &[TensorType] {
        &self.graph.types[..self.graph.parameters]
    }

    /// Returns the types of the results.
    pub fn results(&self) -> &[TensorType] {
        &self.results
    }

    /// Runs the program with arguments whose memory it may use again if nothing else shares it.
    ///
    /// # Errors
    /// Returns the same errors as [`run`](Program::run).
    pub fn run_owned(&self, arguments: Vec<Buffer>) -> Result<Vec<Buffer>> {
        let parameters = self.parameters();
        if arguments.len() != parameters.len() {
            let (got, expected) = (arguments.len(), parameters.len());
            return Err(Error::Arguments(format!(
                "got {got} arguments, expected {expected}"
            )));
        }
        for (i, (argument, ty)) in arguments.iter().zip(parameters).enumerate() {
            if argument.ty() != ty {
                let message = format!("argument {i} has type {}, expected {ty}", argument.ty());
                return Err(Error::Arguments(message));
            }
        }
        let results = self.graph.run(
            &self.context,
            arguments.into_iter().map(Buffer::into_tensor),
        )?;
        results
            .into_iter()
            .map(|t| t.into_buffer(&self.context))
            .collect()
    }

    /// Runs the program.
    ///
    /// # Errors
    /// Returns [`Error::Arguments`] if the arguments do not have the parameters' types, and
    /// [`Error::Memory`] if a value does not fit into memory.
    pub fn run(&self, arguments: &[&Buffer]) -> Result<Vec<Buffer>> {
        self.run_owned(arguments.iter().map(|a| (*a).clone()).collect())
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Program({} parameters, {} results)",
            self.graph.parameters,
            self.results.len()
        )
    }
}
