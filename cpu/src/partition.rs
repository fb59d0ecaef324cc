//! Arguments and results of programs on several devices.

use crate::graph::Graph;
use crate::memory::{Buffer, Context, Tensor, Tensors, row_major};
use crate::sharding::{Meshes, Sharding};
use crate::text::{self, Attribute, Attributes, Function};
use crate::{Result, TensorType};

/// How the arguments and results of a program are split over its devices. `None` are those that every
/// device has as a whole.
#[derive(Debug)]
pub struct Partition {
    /// Number of devices.
    pub devices: usize,
    /// The arguments.
    pub arguments: Vec<Option<Sharding>>,
    /// The results.
    pub results: Vec<Option<Sharding>>,
    /// For each result the argument whose memory it uses again.
    donors: Vec<Option<usize>>,
}

/// The parts of an argument by device, whose memory results use again.
pub type Parts = Vec<Tensor>;

fn sharding(
    attributes: &Attributes,
    ty: &TensorType,
    meshes: &Meshes,
    line: usize,
) -> Result<Option<Sharding>> {
    let Some(text) = attributes.get("sdy.sharding").and_then(Attribute::text) else {
        return Ok(None);
    };
    let sharding = meshes.sharding(&text::sharding::sharding(text, line)?, ty, line)?;
    Ok(Some(sharding).filter(|s| !s.is_whole()))
}

impl Partition {
    /// Reads the shardings in the attributes of `@main`.
    ///
    /// # Errors
    /// Returns an error if a sharding does not fit to its type.
    pub fn read(
        main: &Function,
        graph: &Graph,
        results: &[TensorType],
        meshes: &Meshes,
    ) -> Result<Partition> {
        let read = |(attributes, ty): (&Attributes, &TensorType)| {
            sharding(attributes, ty, meshes, main.line)
        };
        let arguments = main.argument_attributes.iter().zip(&graph.types).map(read);
        let mut donors = vec![None; results.len()];
        for (argument, attributes) in main.argument_attributes.iter().enumerate() {
            if let Some(Attribute::Integer(result)) = attributes.get("tf.aliasing_output")
                && let Some(donor) = usize::try_from(*result)
                    .ok()
                    .and_then(|r| donors.get_mut(r))
            {
                *donor = Some(argument);
            }
        }
        Ok(Partition {
            devices: meshes.devices,
            arguments: arguments.collect::<Result<_>>()?,
            results: main
                .result_attributes
                .iter()
                .zip(results)
                .map(read)
                .collect::<Result<_>>()?,
            donors,
        })
    }

    /// Returns the type of a part.
    pub fn part(sharding: Option<&Sharding>, ty: &TensorType) -> TensorType {
        let part = sharding.and_then(|s| s.part(ty));
        part.unwrap_or_else(|| ty.clone())
    }

    /// Returns the whole arguments, given those of each device, and the parts of each.
    ///
    /// # Errors
    /// Returns [`crate::Error::Memory`] if an argument does not fit into memory.
    pub fn join(
        &self,
        context: &Context,
        types: &[TensorType],
        arguments: Vec<Vec<Buffer>>,
    ) -> Result<(Vec<Tensor>, Vec<Parts>)> {
        let mut all: Vec<Parts> = vec![Parts::new(); types.len()];
        for argument in arguments {
            for (parts, part) in all.iter_mut().zip(argument) {
                parts.push(part.into_tensor());
            }
        }
        let mut whole = Vec::with_capacity(all.len());
        for ((parts, sharding), ty) in all.iter_mut().zip(&self.arguments).zip(types) {
            whole.push(match sharding {
                Some(sharding) => sharding.assemble(context, ty, parts.iter().enumerate())?,
                // Without its other owners, the memory may be used again.
                None => parts.drain(..).next().expect("a program has devices"),
            });
        }
        Ok((whole, all))
    }

    /// Returns the results of each device, given the whole ones and the parts of the arguments.
    ///
    /// # Errors
    /// Returns [`crate::Error::Memory`] if a result does not fit into memory.
    pub fn split(
        &self,
        context: &Context,
        results: Tensors,
        mut parts: Vec<Parts>,
    ) -> Result<Vec<Vec<Buffer>>> {
        let mut all = vec![Vec::with_capacity(results.len()); self.devices];
        for (i, whole) in results.into_iter().enumerate() {
            let Some(sharding) = &self.results[i] else {
                let whole = whole.into_buffer(context)?;
                all.iter_mut().for_each(|list| list.push(whole.clone()));
                continue;
            };
            let donated = self.donors[i].map(|argument| std::mem::take(&mut parts[argument]));
            let mut donated = donated.unwrap_or_default().into_iter();
            for (device, list) in all.iter_mut().enumerate() {
                let part = sharding.split(&whole, device);
                list.push(match donated.next().filter(|t| t.ty == part.ty) {
                    Some(memory) => {
                        let mut fresh = memory.into_fresh(context)?;
                        fresh.write(&part, 0, &row_major(part.shape()));
                        fresh.finish().into_buffer(context)?
                    }
                    None => part.into_buffer(context)?,
                });
            }
        }
        Ok(all)
    }
}
