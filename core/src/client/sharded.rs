//! Programs over the devices of a mesh: the layouts of their arguments and results, and their
//! execution.

use super::{Origin, Program, compile_or_load, ordered};
use crate::extend::Jaxpr;
use crate::program::array::{DeviceArray, Repr};
use crate::program::lower::{ArgumentAttribute, Partition};
use crate::types::sharding::{AbstractMesh, Context, Mesh, NamedSharding, PartitionSpec, Sharding};
use crate::{Array, Aval, Error, Result};
use ramie_formats::tile_sharding::TileSharding;
use ramie_pjrt::{Buffer, Device, Executable, OptionOverride};
use smallvec::SmallVec;
use std::sync::Arc;

/// The device or mesh on which a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    /// On one device.
    Device(Device),
    /// The devices of a mesh, in their order.
    Mesh(Mesh),
}

impl Site {
    /// Returns where a program runs that was called at this site.
    pub fn of_program(self, jaxpr: &Jaxpr) -> Site {
        match self {
            Site::Mesh(_) => self,
            Site::Device(_) => jaxpr.mesh().map_or(self, Site::Mesh),
        }
    }
}

/// Inspects arrays one by one, and finds the device or mesh of a call on them.
#[derive(Default)]
pub(crate) struct SiteFinder {
    device: Option<(Device, String)>,
    mesh: Option<(Mesh, String)>,
    clash: Option<String>,
}

impl SiteFinder {
    /// Inspects an array; `name` is used in messages.
    pub fn look(&mut self, array: &Array, name: impl Fn() -> String) {
        let sharding = match &array.0 {
            Repr::Device(held) => held.sharding,
            Repr::Abstract(_, Some(sharding)) => Sharding::Named(*sharding),
            _ => return,
        };
        if let Some(kind) = sharding.named().and_then(|n| n.memory_kind()) {
            self.clash.get_or_insert_with(|| {
                format!(
                    "{} is in {kind} memory, which programs cannot read\n  help: move it to device \
                     memory with `device_put(&array, sharding)`, without a memory kind",
                    name()
                )
            });
        }
        match sharding {
            Sharding::SingleDevice(here) => match &self.device {
                None => self.device = Some((here, name())),
                Some((other, first)) if *other != here && self.clash.is_none() => {
                    self.clash = Some(format!(
                        "{first} on {}, {} on {}\n  help: move them to the same device with \
                         `device_put(&array, device)`",
                        other.description(),
                        name(),
                        here.description()
                    ));
                }
                Some(_) => {}
            },
            Sharding::Named(named) => match &self.mesh {
                None => self.mesh = Some((named.mesh(), name())),
                Some((other, first)) if !same_devices(*other, named.mesh()) => {
                    self.clash.get_or_insert_with(|| {
                        format!(
                            "{first} is on the devices of {other:?}, {} on those of {:?}, which \
                             differ\n  help: move them to one mesh with `device_put(&array, \
                             sharding)`",
                            name(),
                            named.mesh()
                        )
                    });
                }
                Some(_) => {}
            },
        }
    }

    /// Returns the site of the call: the arrays' devices, or else those of the current mesh, or
    /// else the default device.
    pub fn site(self) -> Result<Site> {
        let mesh = self.mesh.or_else(|| {
            let current = Context::current().mesh;
            current.map(|mesh| (mesh, "the current mesh".into()))
        });
        if let Some(message) = self.clash {
            return Err(Error::Configuration(format!(
                "arguments are on different devices: {message}"
            )));
        }
        let default = super::runtime()?.default_device();
        match (mesh, self.device) {
            // Arrays on the default device may not have been placed explicitly, so they move to
            // the mesh.
            (Some((mesh, first)), Some((device, name)))
                if device != default && !mesh.devices().contains(&device) =>
            {
                Err(Error::Configuration(format!(
                    "arguments are on different devices: {first} is on the devices of {mesh:?}, \
                     {name} on {}\n  help: move it there with `device_put(&array, sharding)`",
                    device.description()
                )))
            }
            (Some((mesh, _)), _) => Ok(Site::Mesh(mesh)),
            (None, Some((device, _))) => Ok(Site::Device(device)),
            (None, None) => Ok(Site::Device(default)),
        }
    }
}

fn same_devices(a: Mesh, b: Mesh) -> bool {
    // In any order: `Layout::run` passes the shards in the order of the program's devices.
    a == b
        || a.devices() == b.devices()
        || (a.size() == b.size() && a.devices().iter().all(|d| b.devices().contains(d)))
}

/// Layouts of a program's arguments and results on the devices of a mesh.
pub(crate) struct Layout {
    pub ins: Vec<NamedSharding>,
    outs: Vec<(Aval, Sharding)>,
    /// For arguments whose mesh orders the devices differently: the position of each device's
    /// shard.
    orders: Vec<Option<Vec<usize>>>,
    parts: usize,
}

/// Programs compiled for the devices of a mesh.
pub(crate) struct Compiled {
    pub executable: Executable,
    pub origin: Origin,
    pub layout: Layout,
}

/// Returns the sharding of an array for a program on `mesh`, from its type or placement.
pub(crate) fn input_sharding(array: &Array, mesh: Mesh) -> NamedSharding {
    let named = match &array.0 {
        Repr::Device(held) => held.sharding.named(),
        Repr::Abstract(_, sharding) => *sharding,
        _ => None,
    };
    named.unwrap_or_else(|| of_type(array.aval(), mesh).unwrap_or_else(|| whole(mesh)))
}

/// Returns the sharding in a type.
pub(crate) fn of_type(aval: Aval, mesh: Mesh) -> Option<NamedSharding> {
    aval.sharding()
        .map(|s| NamedSharding::new(on(mesh, s.mesh()), s.spec().clone()))
}

/// Returns the devices of `mesh` with the axes of another mesh of the same size.
fn on(mesh: Mesh, axes: AbstractMesh) -> Mesh {
    if mesh.abstract_mesh() == axes {
        mesh
    } else {
        mesh.with_abstract(axes)
    }
}

fn whole(mesh: Mesh) -> NamedSharding {
    NamedSharding::new(mesh, PartitionSpec::default())
}

/// Returns the partition of a program on `mesh` with these arguments, captured values first.
/// Results are sharded as `wanted`, or else as in their types, or else as the compiler chooses.
pub(crate) fn partition(
    jaxpr: &Jaxpr,
    mesh: Mesh,
    ins: Vec<NamedSharding>,
    wanted: &[Option<NamedSharding>],
) -> Partition {
    let outs = jaxpr.out_avals();
    // If all axes are explicit, a value whose type has no sharding is replicated.
    let explicit = mesh
        .abstract_mesh()
        .has(crate::sharding::AxisType::Explicit)
        && !mesh.abstract_mesh().has(crate::sharding::AxisType::Auto);
    let outs = outs
        .iter()
        .enumerate()
        .map(|(i, aval)| {
            let asked = wanted.get(i).copied().flatten();
            asked
                .or_else(|| of_type(*aval, mesh))
                .or_else(|| explicit.then(|| whole(mesh)))
        })
        .collect();
    Partition {
        devices: mesh.devices().to_vec(),
        ins,
        outs,
    }
}

/// Compiles a program for the devices of a mesh.
pub(crate) fn compile(
    mut program: Program,
    jaxpr: &Jaxpr,
    attributes: &[ArgumentAttribute],
    mesh: Mesh,
    flags: &[(String, OptionOverride)],
) -> Result<Compiled> {
    // Each repetition fixes the sharding of at least one more result, so this ends.
    loop {
        if program.ordered {
            return Err(Error::Configuration(format!(
                "{}: ordered effects require a single device, but this program runs on {}\n  help: \
                 use unordered callbacks, or call the function with arrays on one device",
                program.name,
                mesh.size()
            )));
        }
        let device = mesh.devices()[0];
        let (executable, origin) = compile_or_load(&program, device, flags)?;
        let mut partition = std::mem::take(&mut program.partition);
        if let Some(outs) = outs(&executable, jaxpr, &mut partition, mesh)? {
            let layout = Layout {
                orders: partition
                    .ins
                    .iter()
                    .map(|s| order(mesh, s.mesh()))
                    .collect(),
                ins: partition.ins,
                outs,
                parts: mesh.local_devices().count(),
            };
            return Ok(Compiled {
                executable,
                origin,
                layout,
            });
        }
        program = Program::lower(&program.name, jaxpr, attributes, partition);
    }
}

/// Returns types and shardings of the results as chosen by the compiler. If no spec matches a
/// layout, returns `None` and makes the result replicated in `partition`, for another
/// compilation.
fn outs(
    executable: &Executable,
    jaxpr: &Jaxpr,
    partition: &mut Partition,
    mesh: Mesh,
) -> Result<Option<Vec<(Aval, Sharding)>>> {
    let avals = jaxpr.out_avals();
    // Without open results the shardings need not be read from the compiled program.
    let found = if partition.outs.iter().all(Option::is_some) {
        Vec::new()
    } else {
        executable.output_shardings()?
    };
    let mut outs = Vec::with_capacity(avals.len());
    let mut again = false;
    for (i, aval) in avals.into_iter().enumerate() {
        let spec = match (partition.outs[i], found.get(i)) {
            (Some(known), _) => Some(known),
            (None, Some(TileSharding::Tiled { tiles, coordinates })) => {
                crate::types::sharding::spec_of_tiles(mesh.abstract_mesh(), tiles, coordinates)
                    .map(|spec| NamedSharding::new(mesh, spec))
            }
            (None, Some(TileSharding::Replicated)) | (None, None) => Some(whole(mesh)),
            (None, Some(TileSharding::Other(_))) => None,
        };
        match spec {
            Some(named) => {
                let sharding = Sharding::Named(named);
                outs.push((crate::types::sharding::typed(aval, sharding), sharding));
            }
            None => {
                partition.outs[i] = Some(whole(mesh));
                again = true;
            }
        }
    }
    Ok((!again).then_some(outs))
}

/// Returns the positions of the shards of an array over `mesh`, in the order of the devices of
/// `program`; `None` if the orders are the same.
fn order(program: Mesh, mesh: Mesh) -> Option<Vec<usize>> {
    if program.devices() == mesh.devices() {
        return None;
    }
    let theirs: Vec<Device> = mesh.local_devices().collect();
    let position = |d: Device| theirs.iter().position(|t| *t == d);
    Some(program.local_devices().filter_map(position).collect())
}

impl Layout {
    /// Runs the program on captured values and arguments with the right layouts, and passes each
    /// result to `each`.
    pub fn run(
        &self,
        executable: &Executable,
        args: &[&Arc<DeviceArray>],
        kept: &[usize],
        mut each: impl FnMut(Array),
    ) -> Result<()> {
        let mut buffers: SmallVec<[&Buffer; 64]> = SmallVec::new();
        // The runtime takes all arguments on the first device, then those on the second, and so on.
        for part in 0..self.parts {
            for (arg, order) in args.iter().zip(&self.orders) {
                let at = order.as_ref().map_or(part, |o| o[part]);
                buffers.push(&arg.buffers[at]);
            }
        }
        let count = self.outs.len();
        let mut outputs: Vec<Buffer> = Vec::with_capacity(count * self.parts);
        ordered::execute(executable, false, &buffers, kept, &mut outputs)?;
        // Outputs are ordered by device first; regroup them by result.
        let mut results: SmallVec<[SmallVec<[Buffer; 1]>; 16]> = (0..count)
            .map(|_| SmallVec::with_capacity(self.parts))
            .collect();
        for (i, buffer) in outputs.into_iter().enumerate() {
            results[i % count].push(buffer);
        }
        for (buffers, (aval, sharding)) in results.into_iter().zip(&self.outs) {
            each(Array::from_parts(*aval, buffers, *sharding));
        }
        Ok(())
    }
}
