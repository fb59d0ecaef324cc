//! Running a primitive at once: one small program per primitive and operand
//! types, compiled at first use and kept.

use crate::array::{DeviceArray, Repr};
use crate::hash::{FastHasher, FastMap};
use crate::jaxpr::{Atom, Eqn, Jaxpr, Scope, Var};
use crate::lower::Partition;
use crate::prim::{self, Primitive};
use crate::runtime::sharded::{self, Site, SiteFinder};
use crate::runtime::{self, Program};
use crate::sharding::{Mesh, NamedSharding};
use crate::{Array, Aval, Error, Outputs, ShapeError, Sharding};
use ramie_pjrt::{Buffer, Device, Executable};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::{Arc, RwLock};

pub(crate) enum Failure {
    Shape(ShapeError),
    Runtime(Error),
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Failure::Runtime(e)
    }
}

type Operands = SmallVec<[Arc<DeviceArray>; 4]>;

struct Entry {
    primitive: Arc<dyn Primitive>,
    ins: SmallVec<[Aval; 4]>,
    device: Device,
    outs: prim::Avals,
    executable: Executable,
    ordered: bool,
}

static CACHE: RwLock<Option<FastMap<u64, SmallVec<[Arc<Entry>; 1]>>>> = RwLock::new(None);

/// The device that holds all operands, or the mesh that they are on.
fn site(operation: &str, primitive: &dyn Primitive, args: &[&Array]) -> Result<Site, Error> {
    let mut device: Option<Device> = None;
    let mut mesh = primitive.mesh().is_some();
    for arg in args {
        if let Repr::Device(d) = &arg.0 {
            match (device, d.sharding) {
                (_, Sharding::Named(_)) => mesh = true,
                (Some(other), Sharding::SingleDevice(here)) if other != here => {
                    return Err(Error::Configuration(format!(
                        "operands are on different devices, {} and {}\n  help: move one with \
                         `device_put(&array, device)` before `{operation}`",
                        other.description(),
                        here.description()
                    )));
                }
                (_, Sharding::SingleDevice(here)) => device = Some(here),
            }
        }
    }
    if mesh {
        let mut finder = SiteFinder::default();
        for (i, arg) in args.iter().enumerate() {
            finder.look(arg, || format!("operand {i}"));
        }
        return Ok(match (finder.site()?, primitive.mesh()) {
            (Site::Device(_), Some(mesh)) => Site::Mesh(mesh),
            (site, _) => site,
        });
    }
    match device {
        Some(d) => Ok(Site::Device(d)),
        None => Ok(Site::Device(runtime::runtime()?.default_device())),
    }
}

/// The device that holds all operands.
pub(crate) fn device_of(primitive: &dyn Primitive, args: &[&Array]) -> Result<Device, Error> {
    match site(primitive.name(), primitive, args)? {
        Site::Device(device) => Ok(device),
        Site::Mesh(mesh) => Err(Error::Configuration(format!(
            "operands are on the devices of {mesh:?}, and outside of programs the operation is for \
             one device\n  help: call it in a function that is jitted"
        ))),
    }
}

/// The operands on `device`, scalars put there.
pub(crate) fn place_on(device: Device, args: &[&Array]) -> Result<(Device, Operands), Error> {
    let operands = args
        .iter()
        .map(|arg| {
            let held = arg.device_array()?;
            if let Sharding::Named(named) = held.sharding {
                return Err(Error::Configuration(format!(
                    "{} is laid out as {named}, and the program is for one device\n  help: move it there \
                     with `device_put(&array, device)`",
                    arg.aval()
                )));
            }
            match (&arg.0, arg.as_literal()) {
                (Repr::Literal(_), Some(l)) if held.sharding.single() != Some(device) => {
                    runtime::put_scalar_on(l, device)
                }
                _ => Ok(held.clone()),
            }
        })
        .collect::<Result<_, Error>>()?;
    Ok((device, operands))
}

/// Runs one primitive.
pub(crate) fn run(primitive: &dyn Primitive, args: &[&Array]) -> Result<Outputs, Failure> {
    let device = match site(primitive.name(), primitive, args)? {
        Site::Device(device) => device,
        Site::Mesh(mesh) => return run_sharded(primitive, args, mesh),
    };
    let (device, operands) = place_on(device, args)?;
    let entry = lookup(primitive, args, device)?;
    let buffers: SmallVec<[&Buffer; 4]> = operands.iter().map(|o| &o.buffers[0]).collect();
    let mut outs = Vec::with_capacity(entry.outs.len());
    runtime::ordered::execute(&entry.executable, entry.ordered, &buffers, &[], &mut outs)?;
    Ok(outs
        .into_iter()
        .zip(&entry.outs)
        .map(|(b, a)| Array::from_device(*a, b, Sharding::SingleDevice(device)))
        .collect())
}

fn lookup(
    primitive: &dyn Primitive,
    args: &[&Array],
    device: Device,
) -> Result<Arc<Entry>, Failure> {
    let ins: SmallVec<[Aval; 4]> = args.iter().map(|a| a.aval()).collect();
    let mut hasher = FastHasher::default();
    primitive.dyn_hash(&mut hasher);
    ins.hash(&mut hasher);
    device.hash(&mut hasher);
    let key = hasher.finish();
    if let Ok(cache) = CACHE.read()
        && let Some(entries) = cache.as_ref().and_then(|c| c.get(&key))
    {
        let found = entries
            .iter()
            .find(|e| e.device == device && e.ins == ins && e.primitive.dyn_eq(primitive.as_any()));
        if let Some(entry) = found {
            return Ok(entry.clone());
        }
    }
    let outs = prim::infer(primitive, &ins).map_err(Failure::Shape)?;
    let shared = primitive.to_arc();
    let jaxpr = single(shared.clone(), &ins, &outs);
    let program = Program::lower(primitive.name(), &jaxpr, &[], Partition::default());
    let entry = Arc::new(Entry {
        primitive: shared,
        ins,
        device,
        outs,
        executable: runtime::compile(&program, device, &[])?,
        ordered: program.ordered,
    });
    let mut cache = CACHE.write().unwrap_or_else(|e| e.into_inner());
    cache
        .get_or_insert_default()
        .entry(key)
        .or_default()
        .push(entry.clone());
    Ok(entry)
}

struct ShardedEntry {
    primitive: Arc<dyn Primitive>,
    ins: SmallVec<[(Aval, NamedSharding); 4]>,
    mesh: Mesh,
    program: sharded::Compiled,
}

type ShardedCache = FastMap<u64, SmallVec<[Arc<ShardedEntry>; 1]>>;
static SHARDED: RwLock<Option<ShardedCache>> = RwLock::new(None);

/// Runs one primitive on the devices of a mesh.
fn run_sharded(primitive: &dyn Primitive, args: &[&Array], mesh: Mesh) -> Result<Outputs, Failure> {
    let ins: SmallVec<[(Aval, NamedSharding); 4]> = args
        .iter()
        .map(|a| (a.aval(), sharded::input_sharding(a, mesh)))
        .collect();
    let entry = lookup_sharded(primitive, ins, mesh)?;
    let held: SmallVec<[Arc<DeviceArray>; 4]> = args
        .iter()
        .zip(&entry.program.layout.ins)
        .map(|(a, to)| crate::sharding::follow(a, *to))
        .collect::<Result<_, Error>>()?;
    let refs: SmallVec<[&Arc<DeviceArray>; 4]> = held.iter().collect();
    let mut outs = Outputs::new();
    let program = &entry.program;
    program
        .layout
        .run(&program.executable, &refs, &[], |a| outs.push(a))?;
    Ok(outs)
}

fn lookup_sharded(
    primitive: &dyn Primitive,
    ins: SmallVec<[(Aval, NamedSharding); 4]>,
    mesh: Mesh,
) -> Result<Arc<ShardedEntry>, Failure> {
    let mut hasher = FastHasher::default();
    primitive.dyn_hash(&mut hasher);
    ins.hash(&mut hasher);
    mesh.hash(&mut hasher);
    let key = hasher.finish();
    let same = |e: &&Arc<ShardedEntry>| {
        e.mesh == mesh && e.ins == ins && e.primitive.dyn_eq(primitive.as_any())
    };
    if let Ok(cache) = SHARDED.read()
        && let Some(entries) = cache.as_ref().and_then(|c| c.get(&key))
        && let Some(entry) = entries.iter().find(same)
    {
        return Ok(entry.clone());
    }
    let avals: SmallVec<[Aval; 4]> = ins.iter().map(|(a, _)| *a).collect();
    let outs = prim::infer(primitive, &avals).map_err(Failure::Shape)?;
    let shared = primitive.to_arc();
    let jaxpr = single(shared.clone(), &avals, &outs);
    let shardings = ins.iter().map(|(_, s)| *s).collect();
    let partition = sharded::partition(&jaxpr, mesh, shardings, &[]);
    let program = Program::lower(primitive.name(), &jaxpr, &[], partition);
    let program = sharded::compile(program, &jaxpr, &[], mesh, &[])?;
    let entry = Arc::new(ShardedEntry {
        primitive: shared,
        ins,
        mesh,
        program,
    });
    let mut cache = SHARDED.write().unwrap_or_else(|e| e.into_inner());
    cache
        .get_or_insert_default()
        .entry(key)
        .or_default()
        .push(entry.clone());
    Ok(entry)
}

/// The array laid out otherwise over the same devices, by a program.
pub(crate) fn reshard(array: &Array, to: Sharding) -> crate::Result<Array> {
    let Sharding::Named(sharding) = to else {
        return crate::sharding::from_bytes(&array.try_to_bytes()?, array.aval(), to);
    };
    let primitive = crate::prim::sharding::ShardingConstraint { sharding };
    let ins = SmallVec::from_iter([(
        array.aval().with_sharding(None),
        sharded::input_sharding(array, sharding.mesh()),
    )]);
    let internal = |e| match e {
        Failure::Runtime(e) => e,
        Failure::Shape(e) => Error::Configuration(e.render("device_put", &[])),
    };
    let entry = lookup_sharded(&primitive, ins, sharding.mesh()).map_err(internal)?;
    let held = array.device_array()?;
    let mut out = None;
    let program = &entry.program;
    program
        .layout
        .run(&program.executable, &[held], &[], |a| out = Some(a))?;
    Ok(out.expect("the program has one result"))
}

/// Forgets the programs of operations that ran outside of `jit`
/// (`jax.clear_caches`). A jitted function forgets its own with
/// [`clear_cache`](crate::Jitted::clear_cache).
pub fn clear_caches() {
    *CACHE.write().unwrap_or_else(|e| e.into_inner()) = None;
    *SHARDED.write().unwrap_or_else(|e| e.into_inner()) = None;
}

/// A program of one equation.
fn single(primitive: Arc<dyn Primitive>, ins: &[Aval], outs: &[Aval]) -> Jaxpr {
    let invars: Vec<Var> = (0..ins.len() as u32).map(Var).collect();
    let outvars: SmallVec<[Var; 1]> = (0..outs.len() as u32)
        .map(|i| Var(ins.len() as u32 + i))
        .collect();
    let eqn = Eqn {
        primitive,
        inputs: invars.iter().map(|v| Atom::Var(*v)).collect(),
        outputs: outvars.clone(),
        location: Location::caller(),
        scope: Scope::default(),
    };
    Jaxpr::new(
        Vec::new(),
        invars,
        vec![eqn],
        outvars.into_iter().map(Atom::Var).collect(),
        ins.iter().chain(outs).copied().collect(),
    )
}
