//! Builds graphs from the functions of a module.

use super::free::{Types, captured, collect_types};
use super::{Devices, Graph, Node, Operands, Operation, Region, Source, Use};
use crate::host::HostFunctions;
use crate::memory::{Context, Tensors};
use crate::sharding::Meshes;
use crate::text::{self, Attribute, Block, Function, Module, Type, ValueId};
use crate::{Error, Result, TensorType};
use foldhash::{HashMap, HashMapExt};
use smallvec::SmallVec;
use std::sync::Arc;

/// Functions of at most so many nodes become part of their callers.
const INLINE_NODES: usize = 64;
/// Largest depth of regions and calls within each other. Building and running a graph takes a few kilobytes
/// of stack for each.
const MAX_DEPTH: usize = 150;

/// An entry of the table of operations.
pub struct Entry {
    /// Full name, such as `stablehlo.add`.
    pub name: &'static str,
    /// Reads the attributes and checks the types.
    pub read: fn(&Source<'_>) -> Result<Arc<dyn Operation>>,
}

/// The functions of a module, built when they are first called.
pub struct Functions<'a> {
    module: &'a Module,
    table: &'a HashMap<&'static str, Entry>,
    meshes: &'a Meshes,
    hosts: &'a HostFunctions,
    built: HashMap<&'a str, Arc<Graph>>,
    depth: usize,
}

/// A call of a function that is too large for its callers.
#[derive(Debug)]
struct Call(Arc<Graph>);

impl Operation for Call {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        self.0.run(context, operands)
    }

    fn graphs(&self) -> Vec<&Graph> {
        vec![&self.0]
    }

    fn run_on(
        &self,
        context: &Context,
        devices: &Devices,
        all: Vec<Operands>,
    ) -> Result<Vec<Tensors>> {
        self.0.run_on(context, devices, all)
    }
}

/// A graph that grows, with the slots of each value of the text.
#[derive(Default)]
struct Scope {
    graph: Graph,
    slots: HashMap<ValueId, SmallVec<[u32; 1]>>,
}

/// Appends the types of the tensors in a type.
pub fn flatten(ty: &Type, types: &mut Vec<TensorType>) {
    match ty {
        Type::Tensor(tensor) => types.push(tensor.clone()),
        Type::Token => {}
        Type::Tuple(list) => list.iter().for_each(|t| flatten(t, types)),
    }
}

fn flat<'t>(list: impl IntoIterator<Item = &'t Type>) -> Vec<TensorType> {
    let mut types = Vec::new();
    list.into_iter().for_each(|t| flatten(t, &mut types));
    types
}

impl Scope {
    fn define(&mut self, value: ValueId, ty: &Type) -> SmallVec<[u32; 1]> {
        let first = self.graph.types.len() as u32;
        flatten(ty, &mut self.graph.types);
        let slots: SmallVec<[u32; 1]> = (first..self.graph.types.len() as u32).collect();
        self.slots.insert(value, slots.clone());
        slots
    }

    fn uses(&self, values: &[ValueId], line: usize) -> Result<Vec<u32>> {
        let mut slots = Vec::with_capacity(values.len());
        for value in values {
            let found = self.slots.get(value).ok_or_else(|| Error::Text {
                line,
                message: format!("value {} is used before it is defined", value.0),
            })?;
            slots.extend(found.iter().copied());
        }
        Ok(slots)
    }

    fn types_of(&self, slots: &[u32]) -> Vec<TensorType> {
        slots
            .iter()
            .map(|s| self.graph.types[*s as usize].clone())
            .collect()
    }

    /// Copies the nodes of a function to this graph and returns the slots of its results.
    fn inline(&mut self, callee: &Graph, arguments: &[u32]) -> Vec<u32> {
        let first = self.graph.types.len() as u32;
        let parameters = callee.parameters as u32;
        self.graph
            .types
            .extend_from_slice(&callee.types[callee.parameters..]);
        self.graph.height = self.graph.height.max(callee.height);
        let slot = |s: u32| {
            if s < parameters {
                arguments[s as usize]
            } else {
                first + s - parameters
            }
        };
        for node in &callee.nodes {
            let mut node = node.clone();
            node.operands.iter_mut().for_each(|u| u.slot = slot(u.slot));
            node.results
                .iter_mut()
                .flatten()
                .for_each(|r| *r = slot(*r));
            self.graph.nodes.push(node);
        }
        callee.results.iter().map(|u| slot(u.slot)).collect()
    }
}

impl<'a> Functions<'a> {
    /// Returns the functions of a module.
    pub fn new(
        module: &'a Module,
        table: &'a HashMap<&'static str, Entry>,
        meshes: &'a Meshes,
        hosts: &'a HostFunctions,
    ) -> Functions<'a> {
        Functions {
            module,
            table,
            meshes,
            hosts,
            built: HashMap::new(),
            depth: 0,
        }
    }

    /// Returns the graph of a function.
    ///
    /// # Errors
    /// Returns an error if the function does not exist or contains an invalid operation.
    pub fn graph(&mut self, name: &str, line: usize) -> Result<Arc<Graph>> {
        // Each function comes after those that it calls, so that a long chain of calls takes no stack.
        for index in &self.module.order {
            if let Some(graph) = self.built.get(name) {
                return Ok(graph.clone());
            }
            let function = &self.module.functions[*index];
            let graph = Arc::new(self.build(function)?);
            self.built.insert(&function.name, graph);
        }
        let missing = || Error::Text {
            line,
            message: format!("there is no function @{name}"),
        };
        self.built.get(name).cloned().ok_or_else(missing)
    }

    fn build(&mut self, function: &'a Function) -> Result<Graph> {
        let mut types = Types::new();
        collect_types(&function.body, &mut types, 0)?;
        let graph = self.block(&function.body, &[], &types, function.line)?;
        if graph.result_types() != flat(&function.results) {
            let name = &function.name;
            let message =
                format!("function @{name} returns values of other types than it declares");
            return Err(Error::Text {
                line: function.line,
                message,
            });
        }
        Ok(graph)
    }

    /// Builds the graph of a block whose parameters are the block's, then the captured values.
    fn block(
        &mut self,
        block: &'a Block,
        captured: &[ValueId],
        types: &Types<'a>,
        line: usize,
    ) -> Result<Graph> {
        self.depth += 1;
        check_depth(self.depth, line)?;
        let mut scope = Scope::default();
        for (value, ty) in &block.arguments {
            scope.define(*value, ty);
        }
        for value in captured {
            if let Some(ty) = types.get(value) {
                scope.define(*value, ty);
            }
        }
        scope.graph.parameters = scope.graph.types.len();
        for operation in &block.operations {
            if matches!(
                operation.name.as_str(),
                "stablehlo.return" | "func.return" | "return" | "sdy.return"
            ) {
                let slots = scope.uses(&operation.operands, operation.line)?;
                scope.graph.results = slots.into_iter().map(Use::of).collect();
                scope.graph.fold();
                scope.graph.simplify();
                scope.graph.arrange();
                scope.graph.absorb();
                scope.graph.merge();
                scope.graph.finish();
                // Scalar operations are left to the operations whose regions they are.
                if !scope.graph.is_scalar() {
                    scope.graph.recompute();
                    scope.graph.fuse();
                    scope.graph.finish();
                }
                self.depth -= 1;
                return Ok(scope.graph);
            }
            self.operation(&mut scope, operation, types)?;
        }
        Err(Error::Text {
            line,
            message: "the block does not return".into(),
        })
    }

    fn operation(
        &mut self,
        scope: &mut Scope,
        syntax: &'a text::Operation,
        types: &Types<'a>,
    ) -> Result<()> {
        let line = syntax.line;
        if let Some(Attribute::Symbol(name)) = text::callee(syntax) {
            return self.call(scope, syntax, name);
        }
        match syntax.name.as_str() {
            "stablehlo.tuple"
            | "stablehlo.optimization_barrier"
            | "stablehlo.create_token"
            | "stablehlo.after_all"
            | "sdy.sharding_constraint" => {
                let slots = scope.uses(&syntax.operands, line)?;
                return alias(scope, syntax, slots);
            }
            "stablehlo.get_tuple_element" => return tuple_element(scope, syntax, types),
            _ => {}
        }
        let Some(entry) = self.table.get(syntax.name.as_str()) else {
            return Err(Error::Unsupported {
                line,
                message: format!("operation {} is not implemented", syntax.name),
            });
        };
        let mut slots = scope.uses(&syntax.operands, line)?;
        let operands = scope.types_of(&slots);
        let captured = captured(syntax);
        slots.extend(scope.uses(&captured, line)?);
        let mut regions = Vec::with_capacity(syntax.regions.len());
        for region in &syntax.regions {
            let graph = self.block(region, &captured, types, line)?;
            scope.graph.height = scope.graph.height.max(graph.height + 1);
            check_depth(scope.graph.height, line)?;
            regions.push(Region {
                graph,
                parameters: region.arguments.iter().map(|(_, t)| t.tensors()).sum(),
            });
        }
        let results = flat(syntax.results.iter().map(|(_, t)| t));
        let operation = (entry.read)(&Source {
            syntax,
            operands,
            results,
            regions,
            meshes: self.meshes,
            hosts: self.hosts,
        })?;
        push(scope, syntax, operation, slots);
        Ok(())
    }

    /// Applies a function, whose name and types are checked.
    fn call(&self, scope: &mut Scope, syntax: &'a text::Operation, name: &str) -> Result<()> {
        let line = syntax.line;
        let graph = &self.built[name];
        let slots = scope.uses(&syntax.operands, line)?;
        if graph.nodes.len() <= INLINE_NODES {
            let results = scope.inline(graph, &slots);
            return alias(scope, syntax, results);
        }
        scope.graph.height = scope.graph.height.max(graph.height + 1);
        check_depth(scope.graph.height, line)?;
        push(scope, syntax, Arc::new(Call(graph.clone())), slots);
        Ok(())
    }
}

fn push(
    scope: &mut Scope,
    syntax: &text::Operation,
    operation: Arc<dyn Operation>,
    operands: Vec<u32>,
) {
    let mut results = SmallVec::new();
    for (value, ty) in &syntax.results {
        results.extend(scope.define(*value, ty).into_iter().map(Some));
    }
    let operands = operands.into_iter().map(Use::of).collect();
    scope.graph.nodes.push(Node {
        operation,
        operands,
        results,
        line: syntax.line,
    });
}

/// Checks a depth of regions and calls.
fn check_depth(depth: usize, line: usize) -> Result<()> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    let message = format!("regions and calls are nested more than {MAX_DEPTH} times");
    Err(Error::Unsupported { line, message })
}

/// Makes the results of an operation other names of values.
fn alias(scope: &mut Scope, syntax: &text::Operation, slots: Vec<u32>) -> Result<()> {
    let declared = flat(syntax.results.iter().map(|(_, t)| t));
    if scope.types_of(&slots) != declared {
        let message = format!("{}: the types of the results are wrong", syntax.name);
        return Err(Error::Text {
            line: syntax.line,
            message,
        });
    }
    let mut slots = slots.into_iter();
    for (value, ty) in &syntax.results {
        let count = ty.tensors();
        scope
            .slots
            .insert(*value, slots.by_ref().take(count).collect());
    }
    Ok(())
}

fn tuple_element(scope: &mut Scope, syntax: &text::Operation, types: &Types<'_>) -> Result<()> {
    let wrong = || Error::Text {
        line: syntax.line,
        message: format!("{}: there is no such element", syntax.name),
    };
    let tuple = syntax.operands.first().ok_or_else(wrong)?;
    let Some(Type::Tuple(list)) = types.get(tuple) else {
        return Err(wrong());
    };
    let Some(Attribute::Integer(index)) = syntax.attributes.get("index") else {
        return Err(wrong());
    };
    let index = usize::try_from(*index)
        .ok()
        .filter(|i| *i < list.len())
        .ok_or_else(wrong)?;
    let before: usize = list[..index].iter().map(Type::tensors).sum();
    let slots = scope.uses(&[*tuple], syntax.line)?;
    let count = list[index].tensors();
    alias(scope, syntax, slots[before..before + count].to_vec())
}
