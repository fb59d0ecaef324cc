//! Running a primitive at once: one small program per primitive and operand
//! types, compiled at first use and kept.

use crate::array::{DeviceArray, Repr};
use crate::hash::{FastHasher, FastMap};
use crate::jaxpr::{Atom, Eqn, Jaxpr, Scope, Var};
use crate::prim::{self, Primitive};
use crate::runtime::{self, Program};
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

/// The device that holds all operands, and the operands there.
pub(crate) fn place(operation: &str, args: &[&Array]) -> Result<(Device, Operands), Error> {
    let mut device: Option<Device> = None;
    for arg in args {
        if let Repr::Device(d) = &arg.0 {
            let here = d.sharding.single();
            match device {
                Some(other) if other != here => {
                    return Err(Error::Configuration(format!(
                        "operands are on different devices, {} and {}\n  help: move one with \
                         `device_put(&array, device)` before `{operation}`",
                        other.description(),
                        here.description()
                    )));
                }
                _ => device = Some(here),
            }
        }
    }
    let device = match device {
        Some(d) => d,
        None => runtime::runtime()?.default_device(),
    };
    place_on(device, args)
}

/// The operands on `device`, scalars put there.
pub(crate) fn place_on(device: Device, args: &[&Array]) -> Result<(Device, Operands), Error> {
    let operands = args
        .iter()
        .map(|arg| {
            let held = arg.device_array()?;
            match (&arg.0, arg.as_literal()) {
                (Repr::Literal(_), Some(l)) if held.sharding.single() != device => {
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
    let (device, operands) = place(primitive.name(), args)?;
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
    let program = Program::lower(primitive.name(), &jaxpr, &[]);
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

/// Forgets the programs of operations that ran outside of `jit`
/// (`jax.clear_caches`). A jitted function forgets its own with
/// [`clear_cache`](crate::Jitted::clear_cache).
pub fn clear_caches() {
    *CACHE.write().unwrap_or_else(|e| e.into_inner()) = None;
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
