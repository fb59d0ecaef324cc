//! Loops and branches.

use super::arrays::index;
use super::{Read, lift};
use crate::ElementType::*;
use crate::graph::{Graph, Operands, Operation, Region, Source};
use crate::memory::{Context, Tensor, Tensors};
use crate::{Dims, Result, TensorType};

/// A loop.
#[derive(Debug)]
struct While {
    carries: usize,
    condition: Graph,
    body: Graph,
}

impl Operation for While {
    fn run(&self, context: &Context, mut operands: Operands) -> Result<Tensors> {
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
}

fn result_types(graph: &Graph) -> Vec<TensorType> {
    graph
        .results
        .iter()
        .map(|u| graph.types[u.slot as usize].clone())
        .collect()
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
        matches(condition) && result_types(&condition.graph) == [boolean],
        "the condition must compute a boolean of the operands",
    )?;
    source.check(
        matches(body) && result_types(&body.graph) == source.operands,
        "the body must compute values of the operands' types",
    )?;
    lift(While {
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

impl Operation for Case {
    fn run(&self, context: &Context, mut operands: Operands) -> Result<Tensors> {
        let selector = operands.remove(0);
        let last = self.branches.len() - 1;
        let branch = match self.boolean {
            true => usize::from(selector.scalar::<u8>() == 0),
            false => usize::try_from(index(&selector)).map_or(last, |i| i.min(last)),
        };
        self.branches[branch].run(context, operands)
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
        format!("the operand has type {selector}, expected {expected}"),
    )?;
    source.check(!boolean || source.regions.len() == 2, "needs two branches")?;
    for region in &source.regions {
        source.check(
            region.parameters == 0 && result_types(&region.graph) == source.results,
            "the branches must compute the results without parameters",
        )?;
    }
    lift(Case {
        boolean,
        branches: source.regions.iter().map(|r| r.graph.clone()).collect(),
    })
}
