//! Compiled programs.

use crate::graph::{Devices, Functions, Graph};
use crate::host::HostFunctions;
use crate::memory::{Buffer, Context, Tensors};
use crate::partition::{self, Partition};
use crate::sharding::Meshes;
use crate::text::{Attribute, Attributes};
use crate::{Error, Result, TensorType};
use std::sync::Arc;

/// The devices on which a program runs, and the functions that it calls.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of devices that run the program with arguments of their own.
    pub replicas: usize,
    /// Number of devices over which each array may be split.
    pub partitions: usize,
    /// For each result whether the compiler may choose its sharding if the program does not name one. A
    /// single value is for all results.
    pub free_results: Vec<bool>,
    /// Functions that the program may call.
    pub hosts: HostFunctions,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            replicas: 1,
            partitions: 1,
            free_results: Vec::new(),
            hosts: HostFunctions::new(),
        }
    }
}

/// Returns for each argument the result that takes its memory: the one that the program names, or, of
/// those that may be given to any, the first of its size.
fn aliases(
    attributes: &[&Attributes],
    parameters: &[TensorType],
    results: &[TensorType],
) -> Vec<Option<usize>> {
    let mut aliases = vec![None; parameters.len()];
    for (i, attributes) in attributes.iter().enumerate() {
        if let Some(Attribute::Integer(result)) = attributes.get("tf.aliasing_output") {
            aliases[i] = usize::try_from(*result).ok().filter(|r| *r < results.len());
        }
    }
    for (i, attributes) in attributes.iter().enumerate() {
        if attributes.get("jax.buffer_donor").is_some() && aliases[i].is_none() {
            let size = parameters[i].byte_size();
            let mut free = (0..results.len()).filter(|r| !aliases.contains(&Some(*r)));
            aliases[i] = free.find(|r| results[*r].byte_size() == size);
        }
    }
    aliases
}

/// Adds the location of the operation in the source of the program that wrote the text.
fn located(mut error: Error, text: &str) -> Error {
    if let Error::Text { line, message } | Error::Unsupported { line, message } = &mut error
        && let Some(location) = crate::text::location::of_line(text, *line)
    {
        *message = format!("{location}: {message}");
    }
    error
}

/// A StableHLO module, compiled. Its function `@main` runs.
pub struct Program {
    name: String,
    aliases: Vec<Option<usize>>,
    graph: Arc<Graph>,
    parameters: Vec<TensorType>,
    results: Vec<TensorType>,
    replicas: usize,
    partition: Partition,
    context: Context,
}

impl Program {
    /// Compiles the text of a module for one device.
    ///
    /// # Errors
    /// Returns the same errors as [`compile_for`](Program::compile_for).
    pub fn compile(text: &str) -> Result<Program> {
        Program::compile_for(text, &Options::default())
    }

    /// Compiles the text of a module.
    ///
    /// # Errors
    /// Returns [`Error::Text`] if the text is no module or contradicts itself, and
    /// [`Error::Unsupported`] if it contains something that is not implemented.
    pub fn compile_for(text: &str, options: &Options) -> Result<Program> {
        Program::read(text, options).map_err(|error| located(error, text))
    }

    fn read(text: &str, options: &Options) -> Result<Program> {
        if options.replicas > 1 && options.partitions > 1 {
            return Err(Error::Unsupported {
                line: 1,
                message: format!(
                    "{} replicas of a program over {} devices",
                    options.replicas, options.partitions
                ),
            });
        }
        let module = crate::text::parse(text)?;
        let meshes = Meshes::of(&module, options.partitions)?;
        let mut functions = Functions::new(&module, &crate::ops::TABLE, &meshes, &options.hosts);
        let mut graph = Arc::unwrap_or_clone(functions.graph("main", 1)?);
        if graph.is_scalar() {
            graph.fuse();
        }
        let (parameters, results) = (&graph.types[..graph.parameters], graph.result_types());
        let free = &options.free_results;
        let partition = Partition::read(&module, &meshes, [parameters, &results], free)?;
        let parameters = partition::parts(&partition.arguments, parameters);
        let results = partition::parts(&partition.results, &results);
        let main = &module.functions[module.by_name["main"]];
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        let aliases = aliases(&main.tensor_attributes()[0], &parameters, &results);
        graph.order(|p| aliases.get(p).is_none_or(Option::is_none));
        graph.finish();
        Ok(Program {
            name: module.name.clone(),
            aliases,
            parameters,
            results,
            graph: Arc::new(graph),
            replicas: options.replicas,
            partition,
            context: Context { threads },
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

    /// Returns for each parameter the result that takes its memory, if there is one.
    pub fn aliases(&self) -> &[Option<usize>] {
        &self.aliases
    }

    /// Returns an upper bound of the bytes of a run on each device, without those of the parameters.
    pub fn peak(&self) -> usize {
        self.graph.peak() / self.partition.devices
    }

    /// Returns how arguments and results are split.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Returns the number of devices.
    pub fn devices(&self) -> usize {
        self.replicas * self.partition.devices
    }

    /// Returns the types of the parameters on each device.
    pub fn parameters(&self) -> &[TensorType] {
        &self.parameters
    }

    /// Returns the types of the results on each device.
    pub fn results(&self) -> &[TensorType] {
        &self.results
    }

    fn check(&self, arguments: &[Buffer]) -> Result<()> {
        if arguments.len() != self.parameters.len() {
            let (got, expected) = (arguments.len(), self.parameters.len());
            return Err(Error::Arguments(format!(
                "got {got} arguments, expected {expected}"
            )));
        }
        for (i, (argument, ty)) in arguments.iter().zip(&self.parameters).enumerate() {
            if argument.ty() != ty {
                let message = format!("argument {i} has type {}, expected {ty}", argument.ty());
                return Err(Error::Arguments(message));
            }
        }
        Ok(())
    }

    fn buffers(&self, results: Tensors) -> Result<Vec<Buffer>> {
        // A collected list of results would grow step by step.
        let mut buffers = Vec::with_capacity(results.len());
        for tensor in results {
            buffers.push(tensor.into_buffer(&self.context)?);
        }
        Ok(buffers)
    }

    /// Runs a program for one device with arguments whose memory it may use again if nothing else shares
    /// it.
    ///
    /// # Errors
    /// Returns the same errors as [`run`](Program::run).
    pub fn run_owned(&self, arguments: Vec<Buffer>) -> Result<Vec<Buffer>> {
        if self.devices() != 1 {
            return Ok(self.run_on_devices(vec![arguments])?.remove(0));
        }
        self.check(&arguments)?;
        let arguments = arguments.into_iter().map(Buffer::into_tensor);
        self.buffers(self.graph.run(&self.context, arguments)?)
    }

    /// Runs the program with the arguments of each device, whose memory it may use again if nothing else
    /// shares it. Returns the results of each device.
    ///
    /// # Errors
    /// Returns the same errors as [`run`](Program::run).
    pub fn run_on_devices(&self, arguments: Vec<Vec<Buffer>>) -> Result<Vec<Vec<Buffer>>> {
        if arguments.len() != self.devices() {
            let (got, expected) = (arguments.len(), self.devices());
            return Err(Error::Arguments(format!(
                "got arguments of {got} devices, expected {expected}"
            )));
        }
        for list in &arguments {
            self.check(list)?;
        }
        let context = &self.context;
        if self.replicas > 1 {
            let devices = Devices::all(self.replicas, true);
            let tensors = arguments
                .into_iter()
                .map(|list| list.into_iter().map(Buffer::into_tensor));
            let results = self.graph.run_on(context, &devices, tensors)?;
            return results.into_iter().map(|r| self.buffers(r)).collect();
        }
        let types = &self.graph.types[..self.graph.parameters];
        let (whole, parts) = self.partition.join(context, types, arguments)?;
        let results = self.graph.run(context, whole)?;
        self.partition.split(context, results, parts, &self.aliases)
    }

    /// Runs a program for one device.
    ///
    /// # Errors
    /// Returns [`Error::Arguments`] if the arguments do not have the parameters' types,
    /// [`Error::Memory`] if a value does not fit into memory, and [`Error::Failed`] if an operation fails.
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
