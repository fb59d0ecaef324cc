//! Compiled programs.

use crate::graph::{Devices, Functions, Graph};
use crate::host::HostFunctions;
use crate::memory::{Buffer, Context, Pool, Tensors};
use crate::partition::Partition;
use crate::sharding::{Meshes, Sharding};
use crate::text::Attributes;
use crate::{Error, Result, TensorType};
use std::sync::Arc;

/// Attributes of parameters whose memory a run may use for results.
const DONATED: [&str; 2] = ["tf.aliasing_output", "jax.buffer_donor"];

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

/// A StableHLO module, compiled. Its function `@main` runs.
pub struct Program {
    name: String,
    donated: Vec<bool>,
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
        let table = crate::ops::table();
        let meshes = Meshes::of(&module, options.partitions)?;
        let graph = Functions::new(&module, &table, &meshes, &options.hosts).graph("main", 1)?;
        let types = |u: &crate::graph::Use| graph.types[u.slot as usize].clone();
        let results: Vec<TensorType> = graph.results.iter().map(types).collect();
        let main = &module.functions[module.by_name["main"]];
        let types = [&graph.types[..graph.parameters], &results];
        let partition = Partition::read(&module, &meshes, types, &options.free_results)?;
        let parts = |shardings: &[Option<Sharding>], types: &[TensorType]| {
            let all = shardings.iter().zip(types);
            all.map(|(s, ty)| Partition::part(s.as_ref(), ty)).collect()
        };
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        let is_donated =
            |attributes: &Attributes| DONATED.iter().any(|name| attributes.get(name).is_some());
        Ok(Program {
            name: module.name.clone(),
            donated: main.argument_attributes.iter().map(is_donated).collect(),
            parameters: parts(&partition.arguments, &graph.types[..graph.parameters]),
            results: parts(&partition.results, &results),
            graph,
            replicas: options.replicas,
            partition,
            context: Context {
                pool: Arc::new(Pool::default()),
                threads,
            },
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
        let all = results.into_iter();
        all.map(|t| t.into_buffer(&self.context)).collect()
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
        self.partition.split(context, results, parts)
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
