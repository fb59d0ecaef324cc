//! Arguments and results of programs on several devices.

use crate::memory::{Buffer, Context, Layout, Tensor, Tensors};
use crate::propagate;
use crate::sharding::{Meshes, Sharding};
use crate::text::sharding::ShardingText;
use crate::text::{self, Attribute, Attributes, Module};
use crate::{Result, TensorType};

/// The shardings of a program's arguments and results over its devices. Every device has the whole array
/// if there is none.
#[derive(Debug)]
pub struct Partition {
    /// Number of devices.
    pub devices: usize,
    /// The arguments.
    pub arguments: Vec<Option<Sharding>>,
    /// The results.
    pub results: Vec<Option<Sharding>>,
}

/// The parts of an argument by device, whose memory results use again.
pub type Parts = Vec<Tensor>;

/// Returns the shardings in the attributes of arguments or results.
fn texts(all: &[&Attributes], line: usize) -> Result<Vec<Option<ShardingText>>> {
    let text = |attributes: &&Attributes| {
        let text = attributes.get("sdy.sharding").and_then(Attribute::text);
        text.map(|text| text::sharding::sharding(text, line))
            .transpose()
    };
    all.iter().map(text).collect()
}

/// Returns the types of the parts of arrays.
pub fn parts(shardings: &[Option<Sharding>], types: &[TensorType]) -> Vec<TensorType> {
    let part = |(sharding, ty): (&Option<Sharding>, &TensorType)| {
        let part = sharding.as_ref().and_then(|s| s.part(ty));
        part.unwrap_or_else(|| ty.clone())
    };
    shardings.iter().zip(types).map(part).collect()
}

impl Partition {
    /// Reads the shardings in the attributes of `@main`, and chooses those of results that have none and
    /// are `free`.
    ///
    /// # Errors
    /// Returns an error if a sharding does not fit to its type.
    pub fn read(
        module: &Module,
        meshes: &Meshes,
        [arguments, results]: [&[TensorType]; 2],
        free: &[bool],
    ) -> Result<Partition> {
        let main = &module.functions[module.by_name["main"]];
        let attributes = main.tensor_attributes();
        let mut given = texts(&attributes[0], main.line)?;
        let mut named = texts(&attributes[1], main.line)?;
        if meshes.devices == 1 {
            given.fill(None);
            named.fill(None);
        }
        let read = |texts: &[Option<ShardingText>], types: &[TensorType]| {
            let read = |(text, ty): (&Option<ShardingText>, &TensorType)| {
                let Some(text) = text else { return Ok(None) };
                let sharding = meshes.sharding(text, ty, main.line)?;
                Ok(Some(sharding).filter(|s| !s.is_whole()))
            };
            let all = texts.iter().zip(types).map(read);
            all.collect::<Result<Vec<_>>>()
        };
        let arguments = read(&given, arguments)?;
        let may_choose = |i: &usize| match free {
            [all] => *all,
            each => each.get(*i) == Some(&true),
        };
        let open = (0..named.len()).filter(|i| named[*i].is_none() && may_choose(i));
        let open: Vec<usize> = open.collect();
        if meshes.devices > 1 && !open.is_empty() {
            let mut chosen = propagate::results(module, &main.body, given);
            chosen.resize(named.len(), None);
            for i in open {
                let fits = |text: &ShardingText| meshes.sharding(text, &results[i], 0).is_ok();
                named[i] = chosen[i].take().filter(fits);
            }
        }
        Ok(Partition {
            devices: meshes.devices,
            arguments,
            results: read(&named, results)?,
        })
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

    /// Returns the results of each device, given the whole ones, the parts of the arguments, and the
    /// results that have the arguments' memory.
    ///
    /// # Errors
    /// Returns [`crate::Error::Memory`] if a result does not fit into memory.
    pub fn split(
        &self,
        context: &Context,
        results: Tensors,
        mut parts: Vec<Parts>,
        aliases: &[Option<usize>],
    ) -> Result<Vec<Vec<Buffer>>> {
        let mut all = vec![Vec::with_capacity(results.len()); self.devices];
        for (i, whole) in results.into_iter().enumerate() {
            let Some(sharding) = &self.results[i] else {
                let whole = whole.into_buffer(context)?;
                all.iter_mut().for_each(|list| list.push(whole.clone()));
                continue;
            };
            let donor = aliases.iter().position(|alias| *alias == Some(i));
            let donated = donor.map(|argument| std::mem::take(&mut parts[argument]));
            let mut donated = donated.unwrap_or_default().into_iter();
            for (device, list) in all.iter_mut().enumerate() {
                let mut part = sharding.split(&whole, device);
                let layout = Layout::dense(part.ty.clone());
                let memory = donated.next().filter(|t| t.ty == part.ty);
                if let Some(mut memory) = memory.and_then(|t| t.into_memory(&layout)) {
                    memory.write(&part, 0, &layout.strides);
                    part = memory.finish();
                }
                list.push(part.into_buffer(context)?);
            }
        }
        Ok(all)
    }
}
