//! Computations that each device of a mesh runs on its parts of arrays.

use super::collective::disagreement;
use super::{Read, lift};
use crate::graph::{Devices, Graph, Operands, Operation, Source};
use crate::memory::{Context, Tensor, Tensors};
use crate::sharding::Sharding;
use crate::text::sharding;
use crate::{Result, TensorType};

/// A computation that each device runs on its parts of the operands. Devices have values of their own along
/// the axes of the mesh that a computation around this one splits, and equal values along others.
#[derive(Debug)]
struct Manual {
    body: Graph,
    operands: Vec<Sharding>,
    results: Vec<(Sharding, TensorType)>,
    /// Number of devices of the mesh.
    count: usize,
}

impl Manual {
    /// Runs the body and returns the parts of the results.
    fn parts(
        &self,
        context: &Context,
        devices: &Devices,
        all: Vec<Operands>,
    ) -> Result<Vec<Tensors>> {
        let split = |(operands, device): (Operands, &usize)| {
            let split = |(i, x): (usize, Tensor)| match self.operands.get(i) {
                Some(sharding) => sharding.split(&x, *device),
                None => x,
            };
            let parts = operands.into_iter().enumerate().map(split);
            parts.collect::<Operands>()
        };
        let arguments: Vec<Operands> = all.into_iter().zip(&devices.numbers).map(split).collect();
        self.body.run_on(context, devices, arguments)
    }

    /// Returns the results of the device at a position from the parts of all.
    fn assemble(
        &self,
        context: &Context,
        devices: &Devices,
        parts: &[Tensors],
        position: usize,
    ) -> Result<Tensors> {
        let assemble = |(i, (sharding, ty)): (usize, &(Sharding, TensorType))| {
            if sharding.is_whole() {
                return Ok(parts[position][i].clone());
            }
            let device = devices.numbers[position];
            let all = devices.numbers.iter().zip(parts);
            let peers = all.filter(|(n, _)| sharding.are_peers(**n, device));
            if peers.clone().count() != sharding.tiles.iter().product() {
                return Err(disagreement("sdy.manual_computation", device));
            }
            sharding.assemble(context, ty, peers.map(|(n, results)| (*n, &results[i])))
        };
        self.results.iter().enumerate().map(assemble).collect()
    }
}

impl Operation for Manual {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let devices = Devices::all(self.count, false);
        let parts = self.parts(context, &devices, vec![operands; self.count])?;
        self.assemble(context, &devices, &parts, 0)
    }

    fn graphs(&self) -> Vec<&Graph> {
        vec![&self.body]
    }

    fn run_on(
        &self,
        context: &Context,
        devices: &Devices,
        all: Vec<Operands>,
    ) -> Result<Vec<Tensors>> {
        let parts = self.parts(context, devices, all)?;
        let own = |position| self.assemble(context, devices, &parts, position);
        (0..parts.len()).map(own).collect()
    }
}

/// Reads the shardings of operands or results along the manual axes.
fn shardings(
    source: &Source<'_>,
    name: &str,
    types: &[TensorType],
    manual: &[String],
) -> Result<Vec<Sharding>> {
    let line = source.syntax.line;
    let texts = sharding::shardings(text(source, name)?, line)?;
    source.check(
        texts.len() == types.len(),
        format_args!(
            "{name} must have a sharding for each of {} values",
            types.len()
        ),
    )?;
    let each = texts.into_iter().zip(types);
    each.map(|(mut text, ty)| {
        text.keep(manual);
        source.meshes.sharding(&text, ty, line)
    })
    .collect()
}

fn text<'s>(source: &'s Source<'_>, name: &str) -> Result<&'s str> {
    let text = source.attribute(name).and_then(|a| a.text());
    text.ok_or_else(|| source.error(format!("attribute {name} is missing")))
}

/// Reads `sdy.manual_computation`.
pub fn manual_computation(source: &Source<'_>) -> Read {
    let line = source.syntax.line;
    source.check(source.regions.len() == 1, "needs one region")?;
    let region = &source.regions[0];
    let manual = sharding::axes(text(source, "manual_axes")?, line)?;
    let operands = shardings(source, "in_shardings", &source.operands, &manual)?;
    let results = shardings(source, "out_shardings", &source.results, &manual)?;
    let parts = |all: &[Sharding], types: &[TensorType]| -> Option<Vec<TensorType>> {
        all.iter().zip(types).map(|(s, ty)| s.part(ty)).collect()
    };
    let graph = &region.graph;
    let fits = parts(&operands, &source.operands).as_deref()
        == Some(&graph.types[..region.parameters])
        && parts(&results, &source.results) == Some(graph.result_types());
    source.check(
        fits,
        "the body does not compute on parts of the operands and results",
    )?;
    lift(Manual {
        body: graph.clone(),
        operands,
        results: results.into_iter().zip(source.results.clone()).collect(),
        count: source.meshes.devices,
    })
}
