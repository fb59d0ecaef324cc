//! The program of an executable in XLA's binary form, from which costs, collectives, shardings and text
//! are read as those of a plugin's programs are.
//!
//! Field numbers are those of XLA's `HloModuleProto` and the messages in it.

use ramie_cpu::sharding::Sharding;
use ramie_cpu::text::{self, Attribute, Block, Module, Operation, Type, ValueId};
use ramie_cpu::{Error, Program, TensorType};
use ramie_formats::hlo::element_name;
use ramie_formats::proto::Writer;
use std::collections::HashMap;

/// The types of tokens and tuples.
const TOKEN: i64 = 17;
const TUPLE: i64 = 13;

/// Returns the module of a program in XLA's binary form.
pub(super) fn encode(text: &str, program: &Program) -> Result<Vec<u8>, Error> {
    let module = text::parse(text)?;
    let mut encoder = Encoder {
        module: &module,
        out: Writer::default(),
        computations: module.functions.len() as i64,
        instructions: 0,
    };
    encoder.out.bytes(1, module.name.as_bytes());
    for (id, function) in (0..).zip(&module.functions) {
        let mut types = HashMap::new();
        collect(&function.body, &mut types);
        encoder.computation(id, &function.name, &function.body, &types);
    }
    let mut out = encoder.out;
    let main = module.by_name.get("main").copied().unwrap_or(0);
    out.message(4, |shape| {
        for ty in program.parameters() {
            shape.message(1, |w| tensor_shape(w, ty));
        }
    });
    out.int(6, main as i64);
    aliases(&mut out, program);
    if program.devices() > 1 {
        shardings(&mut out, program);
    }
    Ok(out.0)
}

/// Writes which result has the memory of which argument.
fn aliases(out: &mut Writer, program: &Program) {
    let aliases = (0..).zip(program.aliases());
    let pairs: Vec<(i64, usize)> = aliases.filter_map(|(i, r)| Some((i, (*r)?))).collect();
    if pairs.is_empty() {
        return;
    }
    out.message(8, |config| {
        for (argument, result) in pairs {
            config.message(1, |entry| {
                if program.results().len() > 1 {
                    ints(entry, 1, &[result as i64]);
                }
                entry.int(2, argument);
                entry.int(4, 1);
            });
        }
    });
}

fn shardings(out: &mut Writer, program: &Program) {
    let partition = program.partition();
    let devices = program.devices();
    out.message(12, |tuple| {
        tuple.int(1, 2);
        for sharding in &partition.results {
            tuple.message(5, |w| tiles(w, sharding, devices));
        }
    });
    for sharding in &partition.arguments {
        out.message(14, |w| tiles(w, sharding, devices));
    }
}

/// Writes the sharding of an array as an `OpSharding`.
fn tiles(out: &mut Writer, sharding: &Option<Sharding>, devices: usize) {
    let Some(sharding) = sharding else { return };
    let tiles = &sharding.tiles;
    let count: usize = tiles.iter().product();
    let mut order: Vec<usize> = (0..devices).collect();
    order.sort_by_key(|device| sharding.tile(*device));
    let sizes: Vec<i64> = tiles.iter().map(|n| *n as i64).collect();
    // The last dimension counts the devices that have the same part.
    ints(out, 3, &[&sizes[..], &[(devices / count) as i64]].concat());
    ints(out, 4, &order.iter().map(|d| *d as i64).collect::<Vec<_>>());
    out.int(1, 3);
    out.int(6, 1);
}

fn ints(out: &mut Writer, field: u32, list: &[i64]) {
    let mut packed = Writer::default();
    list.iter().for_each(|n| packed.varint(*n as u64));
    out.bytes(field, &packed.0);
}

/// Returns XLA's number of an element type with this name in StableHLO.
fn element(name: &str) -> i64 {
    let xla = match name {
        "i1" => "pred".to_owned(),
        "complex<f32>" => "c64".to_owned(),
        "complex<f64>" => "c128".to_owned(),
        _ => match (name.strip_prefix("ui"), name.strip_prefix('i')) {
            (Some(bits), _) => format!("u{bits}"),
            (_, Some(bits)) => format!("s{bits}"),
            _ => name.to_ascii_lowercase(),
        },
    };
    (0..)
        .take_while(|n| element_name(*n) != "?")
        .find(|n| element_name(*n) == xla)
        .unwrap_or(0)
}

fn tensor_shape(out: &mut Writer, ty: &TensorType) {
    out.int(2, element(ty.element.name()));
    ints(
        out,
        3,
        &ty.shape.iter().map(|n| *n as i64).collect::<Vec<_>>(),
    );
    let order: Vec<i64> = (0..ty.shape.len() as i64).rev().collect();
    out.message(5, |layout| ints(layout, 1, &order));
}

fn shape<'t>(out: &mut Writer, types: impl ExactSizeIterator<Item = &'t Type>) {
    let is_one = types.len() == 1;
    if !is_one {
        out.int(2, TUPLE);
    }
    for ty in types {
        let part = |w: &mut Writer| match ty {
            Type::Tensor(tensor) => tensor_shape(w, tensor),
            Type::Token => w.int(2, TOKEN),
            Type::Tuple(list) => shape(w, list.iter()),
        };
        if is_one {
            part(out)
        } else {
            out.message(4, part)
        }
    }
}

/// Collects the types of the values of a block and the blocks in it.
fn collect<'m>(block: &'m Block, types: &mut HashMap<ValueId, &'m Type>) {
    types.extend(block.arguments.iter().map(|(value, ty)| (*value, ty)));
    for operation in &block.operations {
        types.extend(operation.results.iter().map(|(value, ty)| (*value, ty)));
        operation
            .regions
            .iter()
            .for_each(|region| collect(region, types));
    }
}

/// Writes the computations of a module: its functions, and the regions of operations.
struct Encoder<'m> {
    module: &'m Module,
    out: Writer,
    /// Number of computations so far, which have these numbers, functions first.
    computations: i64,
    /// Number of instructions so far.
    instructions: i64,
}

/// A computation that is being written.
#[derive(Default)]
struct Computation {
    out: Writer,
    /// The numbers of the instructions that compute values.
    ids: HashMap<ValueId, i64>,
    parameters: i64,
}

/// Returns XLA's name of an operation.
fn opcode(name: &str) -> String {
    let (_, word) = name.split_once('.').unwrap_or(("", name));
    match word {
        "dot_general" => "dot",
        "broadcast_in_dim" => "broadcast",
        "if" | "case" => "conditional",
        "composite" | "manual_computation" => "call",
        "optimization_barrier" | "sharding_constraint" => "opt-barrier",
        "create_token" => "after-all",
        "" => name,
        other => return other.replace('_', "-"),
    }
    .to_owned()
}

impl<'m> Encoder<'m> {
    fn computation(
        &mut self,
        id: i64,
        name: &str,
        block: &'m Block,
        types: &HashMap<ValueId, &'m Type>,
    ) {
        let mut computation = Computation::default();
        for (value, ty) in &block.arguments {
            self.parameter(&mut computation, *value, ty);
        }
        let mut root = 0;
        for operation in &block.operations {
            if operation.results.is_empty() && operation.name.ends_with("return") {
                let operands = self.operands(&mut computation, &operation.operands, types);
                root = match operands[..] {
                    [one] => one,
                    _ => {
                        let all = operation
                            .operands
                            .iter()
                            .filter_map(|o| types.get(o).copied());
                        let all: Vec<&Type> = all.collect();
                        self.instruction(&mut computation, "tuple", all.into_iter(), |w| {
                            ints(w, 36, &operands)
                        })
                    }
                };
            } else {
                self.operation(&mut computation, operation, types);
            }
        }
        self.out.message(3, |w| {
            w.bytes(1, name.as_bytes());
            w.0.extend_from_slice(&computation.out.0);
            w.int(5, id);
            w.int(6, root);
        });
    }

    /// Writes an instruction and returns its number.
    fn instruction<'t>(
        &mut self,
        computation: &mut Computation,
        opcode: &str,
        types: impl ExactSizeIterator<Item = &'t Type>,
        attributes: impl FnOnce(&mut Writer),
    ) -> i64 {
        self.instructions += 1;
        let id = self.instructions;
        computation.out.message(2, |w| {
            w.bytes(1, format!("{opcode}.{id}").as_bytes());
            w.bytes(2, opcode.as_bytes());
            w.message(3, |w| shape(w, types));
            w.int(35, id);
            attributes(w);
        });
        id
    }

    fn parameter(&mut self, computation: &mut Computation, value: ValueId, ty: &Type) -> i64 {
        let number = computation.parameters;
        computation.parameters += 1;
        let id = self.instruction(computation, "parameter", [ty].into_iter(), |w| {
            w.int(9, number)
        });
        computation.ids.insert(value, id);
        id
    }

    /// Returns the numbers of operands. Values of the computation around this one become parameters.
    fn operands(
        &mut self,
        computation: &mut Computation,
        values: &[ValueId],
        types: &HashMap<ValueId, &'m Type>,
    ) -> Vec<i64> {
        let id = |value: &ValueId| match computation.ids.get(value) {
            Some(id) => *id,
            None => self.parameter(computation, *value, types[value]),
        };
        values.iter().map(id).collect()
    }

    fn operation(
        &mut self,
        computation: &mut Computation,
        operation: &'m Operation,
        types: &HashMap<ValueId, &'m Type>,
    ) {
        let opcode = opcode(&operation.name);
        let operands = self.operands(computation, &operation.operands, types);
        let mut called = self.callee(operation);
        for region in &operation.regions {
            let id = self.computations;
            self.computations += 1;
            called.push(id);
            self.computation(id, &format!("{opcode}_region.{id}"), region, types);
        }
        if opcode == "while" {
            // XLA has the body first.
            called.reverse();
        }
        let results = operation.results.iter().map(|(_, ty)| ty);
        let id = self.instruction(computation, &opcode, results, |w| {
            ints(w, 36, &operands);
            ints(w, 38, &called);
            attributes(w, operation);
        });
        if let [(value, _)] = operation.results[..] {
            computation.ids.insert(value, id);
            return;
        }
        for (i, (value, ty)) in (0..).zip(&operation.results) {
            let part = self.instruction(computation, "get-tuple-element", [ty].into_iter(), |w| {
                w.int(13, i);
                ints(w, 36, &[id]);
            });
            computation.ids.insert(*value, part);
        }
    }

    /// Returns the number of the function that an operation calls.
    fn callee(&self, operation: &Operation) -> Vec<i64> {
        let names = ["callee", "decomposition"].into_iter();
        let called = names.filter_map(|name| match operation.attributes.get(name) {
            Some(Attribute::Symbol(name)) => self.module.by_name.get(name).map(|i| *i as i64),
            _ => None,
        });
        called.collect()
    }
}

/// Writes the attributes that identify operations and determine costs.
fn attributes(out: &mut Writer, operation: &Operation) {
    let list = |name: &str| -> Vec<i64> { operation.attributes.integers(name) };
    for name in [
        "dimensions",
        "broadcast_dimensions",
        "permutation",
        "dimension",
        "iota_dimension",
    ] {
        match &list(name)[..] {
            [] => {}
            dimensions => ints(out, 14, dimensions),
        }
    }
    if let Some(Attribute::Integer(index)) = operation.attributes.get("index") {
        out.int(13, *index as i64);
    }
    let bounds = ["start_indices", "limit_indices", "strides"].map(list);
    for i in 0..bounds[1].len() {
        out.message(17, |slice| {
            let all = (1..).zip(&bounds);
            all.for_each(|(field, list)| slice.int(field, list.get(i).copied().unwrap_or(0)));
        });
    }
    if let Some(Attribute::Structure { fields, .. }) =
        operation.attributes.get("dot_dimension_numbers")
    {
        out.message(30, |dot| {
            let axes = ["contracting", "batching"]
                .into_iter()
                .flat_map(|kind| ["lhs", "rhs"].map(|side| format!("{side}_{kind}_dimensions")));
            (1..)
                .zip(axes)
                .for_each(|(field, name)| ints(dot, field, &fields.integers(&name)));
        });
    }
    if let Some(Attribute::Structure { fields, .. }) = operation.attributes.get("dimension_numbers")
    {
        let features = fields.integers("kernel_output_feature_dimension");
        features
            .iter()
            .for_each(|n| out.message(16, |w| w.int(4, *n)));
    }
    let window = list("window_dimensions");
    if !window.is_empty() {
        out.message(15, |w| {
            window.iter().for_each(|n| w.message(1, |d| d.int(1, *n)))
        });
    }
    if let Some(Attribute::Dense { ty, data }) = operation.attributes.get("value") {
        out.message(8, |w| literal(w, ty, data));
    }
    for (name, field) in [("call_target_name", 28), ("comparison_direction", 63)] {
        if let Some(Attribute::Text(word) | Attribute::Word(word)) = operation.attributes.get(name)
        {
            out.bytes(field, word.as_bytes());
        }
    }
}

/// Writes the elements of a constant of few elements.
fn literal(out: &mut Writer, ty: &TensorType, data: &[u8]) {
    let width = ty.element.bytes();
    let count = ty.shape.iter().product::<usize>();
    if count > 8 || data.is_empty() {
        return;
    }
    // Equal elements are written once in the text.
    let repeated = data.repeat(count * width / data.len());
    let integers = |extend: fn(i64) -> i64| {
        let integer = |e: &[u8]| {
            let mut bytes = [0; 8];
            bytes[..width].copy_from_slice(e);
            extend(i64::from_le_bytes(bytes))
        };
        repeated.chunks(width).map(integer).collect::<Vec<i64>>()
    };
    match ty.element.name() {
        "i1" => ints(out, 2, &integers(|n| n)),
        "i32" => ints(out, 4, &integers(|n| i64::from(n as i32))),
        "i64" => ints(out, 5, &integers(|n| n)),
        "ui32" => ints(out, 6, &integers(|n| n)),
        "ui64" => ints(out, 7, &integers(|n| n)),
        "f32" => out.bytes(8, &repeated),
        "f64" => out.bytes(9, &repeated),
        _ => {}
    }
}
