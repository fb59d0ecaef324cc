//! Shardings of results that the compiler may choose: they follow from those of the arguments, so that
//! arrays that programs compute stay split as those they are computed from.
//!
//! Any choice is right. Programs run on whole arrays, and only their results are split.

use crate::text::sharding::{self, ShardingText};
use crate::text::{Attribute, Block, Module, Operation, Type, ValueId};
use foldhash::{HashMap, HashMapExt};

/// Number of operations that are looked at, those of called functions at each call.
const MOST_OPERATIONS: usize = 1 << 16;
/// Number of calls within each other that are followed. Chains of calls can be longer than the stack.
const MOST_CALLS: usize = 100;

/// The shape of a value and its sharding, if it is known.
#[derive(Clone, Default)]
struct KnownValue<'m> {
    shape: &'m [usize],
    sharding: Option<ShardingText>,
}

/// Returns the shardings of the results of a block, given those of its arguments.
pub fn results(
    module: &Module,
    block: &Block,
    arguments: Vec<Option<ShardingText>>,
) -> Vec<Option<ShardingText>> {
    let mut search = Search {
        module,
        operations: MOST_OPERATIONS,
        calls: MOST_CALLS,
    };
    search.block(block, arguments)
}

fn shape(ty: &Type) -> &[usize] {
    match ty {
        Type::Tensor(tensor) => &tensor.shape,
        Type::Token | Type::Tuple(_) => &[],
    }
}

/// The module, and how far the search goes on.
struct Search<'m> {
    module: &'m Module,
    /// Number of operations that are still looked at.
    operations: usize,
    /// Number of calls within each other that are still followed.
    calls: usize,
}

impl<'m> Search<'m> {
    fn block(
        &mut self,
        block: &'m Block,
        arguments: Vec<Option<ShardingText>>,
    ) -> Vec<Option<ShardingText>> {
        let mut values: HashMap<ValueId, KnownValue<'m>> = HashMap::new();
        let mut arguments = arguments.into_iter();
        for (value, ty) in &block.arguments {
            let sharding = arguments.next().flatten();
            let shape = shape(ty);
            values.insert(*value, KnownValue { shape, sharding });
        }
        for operation in &block.operations {
            let known = |v: &ValueId| values.get(v).cloned().unwrap_or_default();
            let operands: Vec<KnownValue<'m>> = operation.operands.iter().map(known).collect();
            if operation.name.ends_with("return") {
                return operands.into_iter().map(|o| o.sharding).collect();
            }
            self.operations = self.operations.saturating_sub(1);
            if self.operations == 0 {
                break;
            }
            let mut found = self.named(operation, &operands).into_iter();
            for (i, (value, ty)) in operation.results.iter().enumerate() {
                let shape = shape(ty);
                let sharding = match found.next() {
                    Some(sharding) => sharding,
                    None => one(operation, &operands, i, shape),
                };
                values.insert(*value, KnownValue { shape, sharding });
            }
        }
        Vec::new()
    }

    /// Returns the shardings of the results of a called function, or those that an operation names.
    fn named(
        &mut self,
        operation: &'m Operation,
        operands: &[KnownValue<'m>],
    ) -> Vec<Option<ShardingText>> {
        let text = |name: &str| operation.attributes.get(name).and_then(Attribute::text);
        match operation.name.as_str() {
            "func.call" | "call" => self.called(operation, operands).unwrap_or_default(),
            "sdy.sharding_constraint" => {
                let sharding = text("sharding").and_then(|t| sharding::sharding(t, 0).ok());
                vec![sharding]
            }
            "sdy.manual_computation" => {
                let all = text("out_shardings").and_then(|t| sharding::shardings(t, 0).ok());
                all.into_iter().flatten().map(Some).collect()
            }
            _ => Vec::new(),
        }
    }

    fn called(
        &mut self,
        operation: &'m Operation,
        operands: &[KnownValue<'m>],
    ) -> Option<Vec<Option<ShardingText>>> {
        let Some(Attribute::Symbol(name)) = operation.attributes.get("callee") else {
            return None;
        };
        let function = &self.module.functions[*self.module.by_name.get(name)?];
        self.calls = self.calls.checked_sub(1)?;
        let arguments = operands.iter().map(|o| o.sharding.clone()).collect();
        let results = self.block(&function.body, arguments);
        self.calls += 1;
        Some(results)
    }
}

/// Returns the sharding of a result. For each of its axes, `sources` lists axes of operands along which it
/// is computed.
fn one(
    operation: &Operation,
    operands: &[KnownValue<'_>],
    index: usize,
    shape: &[usize],
) -> Option<ShardingText> {
    let mut sources: Vec<Vec<(usize, usize)>> = vec![Vec::new(); shape.len()];
    let mut link = |axis: usize, operand: usize, from: usize| {
        if let Some(list) = sources.get_mut(axis) {
            list.push((operand, from));
        }
    };
    let list = |name: &str| -> Vec<usize> { operation.attributes.integers(name) };
    let first = operands.first().map_or(&[][..], |o| o.shape);
    match operation.name.as_str() {
        "stablehlo.transpose" => {
            let permutation = list("permutation");
            (0..)
                .zip(permutation)
                .for_each(|(axis, from)| link(axis, 0, from));
        }
        "stablehlo.broadcast_in_dim" => {
            let axes = list("broadcast_dimensions");
            let same = (0..)
                .zip(axes)
                .filter(|(i, axis)| first.get(*i) == shape.get(*axis));
            same.for_each(|(from, axis)| link(axis, 0, from));
        }
        "stablehlo.reduce" => {
            let reduced = list("dimensions");
            let kept = (0..first.len()).filter(|axis| !reduced.contains(axis));
            kept.enumerate()
                .for_each(|(axis, from)| link(axis, index, from));
        }
        "stablehlo.reshape" => {
            let before = |shape: &[usize], axis: usize| shape[..axis].iter().product::<usize>();
            for axis in 0..shape.len() {
                let start = before(shape, axis);
                let same =
                    (0..first.len()).filter(|f| before(first, *f) == start && first[*f] != 1);
                same.filter(|_| shape[axis] != 1)
                    .for_each(|from| link(axis, 0, from));
            }
        }
        "stablehlo.dot_general" => product(operation, operands, &mut link),
        _ => {
            for (number, operand) in operands.iter().enumerate() {
                if operand.shape == shape {
                    (0..shape.len()).for_each(|axis| link(axis, number, axis));
                }
            }
        }
    }
    combine(operands, &sources)
}

/// Links the axes of a product: batch axes, then the other axes of both operands.
fn product(
    operation: &Operation,
    operands: &[KnownValue<'_>],
    link: &mut impl FnMut(usize, usize, usize),
) {
    let Some(Attribute::Structure { fields, .. }) =
        operation.attributes.get("dot_dimension_numbers")
    else {
        return;
    };
    let mut axis = 0;
    let sides = [(0, "lhs"), (1, "rhs")];
    let axes = sides.map(|(_, side)| {
        ["batching", "contracting"]
            .map(|kind| fields.integers(&format!("{side}_{kind}_dimensions")))
    });
    for pair in axes[0][0].iter().zip(&axes[1][0]) {
        link(axis, 0, *pair.0);
        link(axis, 1, *pair.1);
        axis += 1;
    }
    for (number, operand) in operands.iter().enumerate().take(2) {
        for from in 0..operand.shape.len() {
            if !axes[number].iter().any(|list| list.contains(&from)) {
                link(axis, number, from);
                axis += 1;
            }
        }
    }
}

/// Combines the shardings of operands: each axis of the result has the first that splits it, without axes of
/// the mesh that split another.
fn combine(operands: &[KnownValue<'_>], sources: &[Vec<(usize, usize)>]) -> Option<ShardingText> {
    let mesh = operands
        .iter()
        .find_map(|o| o.sharding.as_ref())?
        .mesh
        .clone();
    let mut axes: Vec<Vec<String>> = Vec::with_capacity(sources.len());
    for list in sources {
        let split = |(operand, axis): &(usize, usize)| {
            let sharding = operands.get(*operand)?.sharding.as_ref()?;
            let names = sharding.axes.get(*axis)?;
            let is_new = |name| !axes.iter().flatten().any(|used| used == name);
            let fits = sharding.mesh == mesh && !names.is_empty() && names.iter().all(is_new);
            fits.then(|| names.clone())
        };
        let names = list.iter().find_map(split).unwrap_or_default();
        axes.push(names);
    }
    Some(ShardingText { mesh, axes })
}
