//! Loops and branches.

use super::arrays::index;
use super::{Read, lift};
use crate::ElementType::*;
use crate::graph::{Devices, Graph, Operands, Operation, Region, Source};
use crate::memory::{Context, Tensor, Tensors};
use crate::{Dims, Result, TensorType};
use smallvec::{SmallVec, smallvec};

/// A loop.
#[derive(Debug)]
struct While {
    carries: usize,
    condition: Graph,
    body: Graph,
    /// Values by number that no iteration changes and that the body had better find in another order of axes.
    orders: Vec<(usize, Order)>,
}

/// An order of axes in memory.
type Order = SmallVec<[usize; 6]>;

impl While {
    /// Brings values into the order that all operations of the body prefer: once, not in each iteration.
    fn arrange(&self, context: &Context, values: &mut [Tensor]) -> Result<()> {
        for (i, order) in &self.orders {
            let mut back: Order = smallvec![0; order.len()];
            order
                .iter()
                .enumerate()
                .for_each(|(i, axis)| back[*axis] = i);
            let arranged = values[*i].permute(order).contiguous(context)?;
            values[*i] = arranged.permute(&back);
        }
        Ok(())
    }
}

/// Returns the values that a body captures after its carries, or carries unchanged, and that its operations all prefer
/// in one other order.
fn preferred_orders(body: &Graph, carries: usize) -> Vec<(usize, Order)> {
    let mut orders: Vec<Option<Option<Order>>> = vec![None; body.parameters];
    for node in &body.nodes {
        for (i, used) in node.operands.iter().enumerate() {
            let order = node.operation.preferred_order(i);
            let Some(known) = orders.get_mut(used.slot as usize) else {
                continue;
            };
            if *known.get_or_insert_with(|| order.clone()) != order {
                *known = Some(None);
            }
        }
    }
    let is_fixed = |i: &usize| *i >= carries || body.results[*i].slot as usize == *i;
    let orders = orders.into_iter().enumerate();
    let orders = orders.filter_map(|(i, order)| Some((i, order??)));
    orders.filter(|(i, _)| is_fixed(i)).collect()
}

impl Operation for While {
    fn run(&self, context: &Context, mut operands: Operands) -> Result<Tensors> {
        self.arrange(context, &mut operands)?;
        let captures: Vec<Tensor> = operands.drain(self.carries..).collect();
        let mut carries: Tensors = operands.into_iter().collect();
        loop {
            let arguments = carries.iter().chain(&captures).cloned();
            let condition = self.condition.run(context, arguments)?;
            if condition[0].scalar::<u8>() == 0 {
                return Ok(carries);
            }
            // The body owns the carries, so that updates happen in place.
            carries = self
                .body
                .run(context, carries.into_iter().chain(captures.iter().cloned()))?;
        }
    }

    fn graphs(&self) -> Vec<&Graph> {
        vec![&self.condition, &self.body]
    }

    /// Devices leave the loop when their own conditions are false.
    fn run_on(
        &self,
        context: &Context,
        devices: &Devices,
        mut all: Vec<Operands>,
    ) -> Result<Vec<Tensors>> {
        let split = |o: &mut Operands| -> Vec<Tensor> { o.drain(self.carries..).collect() };
        let captures: Vec<Vec<Tensor>> = all.iter_mut().map(split).collect();
        let mut carries: Vec<Tensors> = all.into_iter().map(|o| o.into_iter().collect()).collect();
        let mut inside: Vec<usize> = (0..carries.len()).collect();
        let mut some = devices.clone();
        loop {
            let arguments = inside
                .iter()
                .map(|i| carries[*i].iter().chain(&captures[*i]).cloned());
            let conditions = self.condition.run_on(context, &some, arguments)?;
            let mut conditions = conditions.iter().map(|c| c[0].scalar::<u8>() != 0);
            inside.retain(|_| conditions.next() == Some(true));
            if inside.is_empty() {
                return Ok(carries);
            }
            if inside.len() < some.numbers.len() {
                some = devices.subset(&inside);
            }
            let arguments: Vec<_> = inside
                .iter()
                .map(|i| {
                    std::mem::take(&mut carries[*i])
                        .into_iter()
                        .chain(captures[*i].iter().cloned())
                })
                .collect();
            let results = self.body.run_on(context, &some, arguments)?;
            for (i, result) in inside.iter().zip(results) {
                carries[*i] = result;
            }
        }
    }
}

/// Reads `stablehlo.while`.
pub fn read_while(source: &Source<'_>) -> Read {
    let carries = source.operands.len();
    source.check(source.regions.len() == 2, "needs a condition and a body")?;
    let [condition, body] = [&source.regions[0], &source.regions[1]];
    let matches = |region: &Region| region.graph.types[..region.parameters] == source.operands[..];
    let boolean = TensorType::new(&[], Bool);
    source.check(
        source.results == source.operands,
        "the results must have the operands' types",
    )?;
    source.check(
        matches(condition) && condition.graph.result_types() == [boolean],
        "the condition must compute a boolean of the operands",
    )?;
    source.check(
        matches(body) && body.graph.result_types() == source.operands,
        "the body must compute values of the operands' types",
    )?;
    lift(While {
        orders: preferred_orders(&body.graph, carries),
        carries,
        condition: condition.graph.clone(),
        body: body.graph.clone(),
    })
}

/// A choice among graphs.
#[derive(Debug)]
struct Case {
    /// Whether the first operand is a boolean, whose first branch is for `true`.
    boolean: bool,
    branches: Vec<Graph>,
}

impl Case {
    /// Removes the selector from the operands and returns the number of the branch.
    fn branch(&self, operands: &mut Operands) -> usize {
        let selector = operands.remove(0);
        let last = self.branches.len() - 1;
        if self.boolean {
            usize::from(selector.scalar::<u8>() == 0)
        } else {
            usize::try_from(index(&selector)).map_or(last, |i| i.min(last))
        }
    }
}

impl Operation for Case {
    fn run(&self, context: &Context, mut operands: Operands) -> Result<Tensors> {
        let branch = self.branch(&mut operands);
        self.branches[branch].run(context, operands)
    }

    fn graphs(&self) -> Vec<&Graph> {
        self.branches.iter().collect()
    }

    /// The devices of each branch run it without the others.
    fn run_on(
        &self,
        context: &Context,
        devices: &Devices,
        mut all: Vec<Operands>,
    ) -> Result<Vec<Tensors>> {
        let chosen: Vec<usize> = all.iter_mut().map(|o| self.branch(o)).collect();
        let mut results = vec![Tensors::new(); all.len()];
        for (branch, graph) in self.branches.iter().enumerate() {
            let inside: Vec<usize> = (0..all.len()).filter(|i| chosen[*i] == branch).collect();
            let arguments: Vec<Operands> = inside
                .iter()
                .map(|i| std::mem::take(&mut all[*i]))
                .collect();
            if inside.is_empty() {
                continue;
            }
            let computed = graph.run_on(context, &devices.subset(&inside), arguments)?;
            for (i, result) in inside.into_iter().zip(computed) {
                results[i] = result;
            }
        }
        Ok(results)
    }
}

/// Reads `stablehlo.case` and `stablehlo.if`.
pub fn case(source: &Source<'_>) -> Read {
    source.check(
        source.operands.len() == 1 && !source.regions.is_empty(),
        "needs one operand and branches",
    )?;
    let boolean = source.syntax.name == "stablehlo.if";
    let expected = TensorType {
        shape: Dims::new(),
        element: if boolean { Bool } else { I32 },
    };
    let selector = &source.operands[0];
    source.check(
        *selector == expected,
        format_args!("the operand has type {selector}, expected {expected}"),
    )?;
    source.check(!boolean || source.regions.len() == 2, "needs two branches")?;
    for region in &source.regions {
        source.check(
            region.parameters == 0 && region.graph.result_types() == source.results,
            "the branches must compute the results without parameters",
        )?;
    }
    lift(Case {
        boolean,
        branches: source.regions.iter().map(|r| r.graph.clone()).collect(),
    })
}
