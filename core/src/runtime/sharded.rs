//! Programs over the devices of a mesh: how their arguments and results lie
//! there, and their runs.

use super::{Origin, Program, compile_or_load, ordered};
use crate::array::{DeviceArray, Repr};
use crate::lower::{ArgumentAttribute, Partition};
use crate::sharding::{AbstractMesh, Context, Mesh, NamedSharding, PartitionSpec, Sharding};
use crate::{Array, Aval, Error, Jaxpr, Result};
use ramie_pjrt::{Buffer, Device, Executable, OptionOverride, TileSharding};
use smallvec::SmallVec;
use std::sync::Arc;

/// Where a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    /// On one device.
    Device(Device),
    /// On the devices of a mesh, in their order.
    Mesh(Mesh),
}

impl Site {
    /// Where a program runs that was asked to run here.
    pub fn of_program(self, jaxpr: &Jaxpr) -> Site {
        match self {
            Site::Mesh(_) => self,
            Site::Device(_) => jaxpr.mesh().map_or(self, Site::Mesh),
        }
    }
}

/// Looks at arrays one by one, and tells where a call on them runs.
#[derive(Default)]
pub(crate) struct SiteFinder {
    device: Option<(Device, String)>,
    mesh: Option<(Mesh, String)>,
    clash: Option<String>,
}

impl SiteFinder {
    /// `name` is for messages.
    pub fn look(&mut self, array: &Array, name: impl Fn() -> String) {
        let sharding = match &array.0 {
            Repr::Device(held) => held.sharding,
            Repr::Abstract(_, Some(sharding)) => Sharding::Named(*sharding),
            _ => return,
        };
        if let Some(kind) = sharding.named().and_then(|n| n.memory_kind()) {
            self.clash.get_or_insert_with(|| {
                format!(
                    "{} is in {kind} memory, which programs do not read\n  help: move it to the devices' \
                     own with `device_put(&array, sharding)`, without a memory kind",
                    name()
                )
            });
        }
        match sharding {
            Sharding::SingleDevice(here) => match &self.device {
                None => self.device = Some((here, name())),
                Some((other, first)) if *other != here && self.clash.is_none() => {
                    self.clash = Some(format!(
                        "{first} on {}, {} on {}\n  help: move them together with \
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
                            "{first} is on the devices of {other:?}, {} on those of {:?}, which are \
                             others\n  help: move them to one mesh with `device_put(&array, sharding)`",
                            name(),
                            named.mesh()
                        )
                    });
                }
                Some(_) => {}
            },
        }
    }

    /// Where the call runs: on the arrays' devices, else on those of the current
    /// mesh, else on the default device.
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
            // What is on the default device was not put there; it goes along.
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
    a == b
        || a.devices() == b.devices()
        || (a.size() == b.size() && a.devices().iter().all(|d| b.devices().contains(d)))
}

/// How a program's arguments and results lie on the devices of a mesh.
pub(crate) struct Layout {
    pub ins: Vec<NamedSharding>,
    outs: Vec<(Aval, Sharding)>,
    /// For arguments whose mesh has the devices in another order than the
    /// program: where each device's part is.
    orders: Vec<Option<Vec<usize>>>,
    parts: usize,
}

/// Programs compiled for the devices of a mesh.
pub(crate) struct Compiled {
    pub executable: Executable,
    pub origin: Origin,
    pub layout: Layout,
}

/// The sharding that an array's type or place says, for a program on `mesh`.
pub(crate) fn input_sharding(array: &Array, mesh: Mesh) -> NamedSharding {
    let named = match &array.0 {
        Repr::Device(held) => held.sharding.named(),
        Repr::Abstract(_, sharding) => *sharding,
        _ => None,
    };
    named.unwrap_or_else(|| of_type(array.aval(), mesh).unwrap_or_else(|| whole(mesh)))
}

/// The sharding that a type says.
pub(crate) fn of_type(aval: Aval, mesh: Mesh) -> Option<NamedSharding> {
    aval.sharding()
        .map(|s| NamedSharding::new(on(mesh, s.mesh()), s.spec().clone()))
}

/// The devices of `mesh` with the axes of another that has as many.
fn on(mesh: Mesh, axes: AbstractMesh) -> Mesh {
    match mesh.abstract_mesh() == axes {
        true => mesh,
        false => mesh.with_abstract(axes),
    }
}

fn whole(mesh: Mesh) -> NamedSharding {
    NamedSharding::new(mesh, PartitionSpec::default())
}

/// The partition of a program on `mesh` with these arguments, captured values
/// first. Results are as `wanted`, else as their types say, else as the
/// compiler decides.
pub(crate) fn partition(
    jaxpr: &Jaxpr,
    mesh: Mesh,
    ins: Vec<NamedSharding>,
    wanted: &[Option<NamedSharding>],
) -> Partition {
    let outs = jaxpr.out_avals();
    // Where types say how values are sharded, one that says nothing is whole.
    let explicit = mesh.abstract_mesh().has(crate::AxisType::Explicit)
        && !mesh.abstract_mesh().has(crate::AxisType::Auto);
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
    loop {
        if program.ordered {
            return Err(Error::Configuration(format!(
                "{}: ordered effects are for programs on one device, and this one runs on {}\n  \
                 help: use unordered callbacks, or call the function on arrays of one device",
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

/// Types and shardings of the results as the compiler laid them out. A layout
/// that no spec says becomes a whole result in `partition`, to compile again
/// for; then there are none.
fn outs(
    executable: &Executable,
    jaxpr: &Jaxpr,
    partition: &mut Partition,
    mesh: Mesh,
) -> Result<Option<Vec<(Aval, Sharding)>>> {
    let avals = jaxpr.out_avals();
    let found = match partition.outs.iter().all(Option::is_some) {
        true => Vec::new(),
        false => executable.output_shardings()?,
    };
    let mut outs = Vec::with_capacity(avals.len());
    let mut again = false;
    for (i, aval) in avals.into_iter().enumerate() {
        let spec = match (partition.outs[i], found.get(i)) {
            (Some(known), _) => Some(known),
            (None, Some(TileSharding::Tiled { tiles, places })) => {
                crate::sharding::spec_of_tiles(mesh.abstract_mesh(), tiles, places)
                    .map(|spec| NamedSharding::new(mesh, spec))
            }
            (None, Some(TileSharding::Replicated)) | (None, None) => Some(whole(mesh)),
            (None, Some(TileSharding::Other(_))) => None,
        };
        match spec {
            Some(named) => {
                let sharding = Sharding::Named(named);
                outs.push((crate::sharding::typed(aval, sharding), sharding));
            }
            None => {
                partition.outs[i] = Some(whole(mesh));
                again = true;
            }
        }
    }
    Ok((!again).then_some(outs))
}

/// Where the parts of an array over `mesh` are, in the order of `program`'s
/// devices; `None` where the orders are the same.
fn order(program: Mesh, mesh: Mesh) -> Option<Vec<usize>> {
    if program.devices() == mesh.devices() {
        return None;
    }
    let theirs: Vec<Device> = mesh.local_devices().collect();
    let place = |d: Device| theirs.iter().position(|t| *t == d);
    Some(program.local_devices().filter_map(place).collect())
}

impl Layout {
    /// Runs the program on captured values and arguments that lie as it wants
    /// them, and hands each result to `each`.
    pub fn run(
        &self,
        executable: &Executable,
        args: &[&Arc<DeviceArray>],
        kept: &[usize],
        mut each: impl FnMut(Array),
    ) -> Result<()> {
        let mut buffers: SmallVec<[&Buffer; 64]> = SmallVec::new();
        for part in 0..self.parts {
            for (arg, order) in args.iter().zip(&self.orders) {
                let at = order.as_ref().map_or(part, |o| o[part]);
                buffers.push(&arg.buffers[at]);
            }
        }
        let count = self.outs.len();
        let mut outputs: Vec<Buffer> = Vec::with_capacity(count * self.parts);
        ordered::execute(executable, false, &buffers, kept, &mut outputs)?;
        // Device by device they come; result by result they go.
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
