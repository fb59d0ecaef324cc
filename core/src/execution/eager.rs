//! Eager execution of primitives: one small program per primitive and operand types, compiled at
//! the first use and cached.

use crate::base::hash::FastHasher;
use crate::base::location;
use crate::base::program_cache::{ProgramCache, Slot};
use crate::client::put;
use crate::client::sharded::{self, Site, SiteFinder};
use crate::client::{self, Program};
use crate::dtypes::Literal;
use crate::execution::{fill, numerics};
use crate::extend::Outputs;
use crate::prim::fused;
use crate::prim::shape::BroadcastInDim;
use crate::prim::{self, Primitive};
use crate::program::array::{DeviceArray, Repr};
use crate::program::backend::{Backend, Failure, HostElements, Registration};
use crate::program::jaxpr::{Atom, Eqn, Jaxpr, Scope, Var};
use crate::program::lower::Partition;
use crate::sharding::Sharding;
use crate::types::sharding::{Mesh, NamedSharding, typed};
use crate::typing::Dims;
use crate::{Array, Aval, Error, Platform};
use ramie_pjrt::{Buffer, Device, Executable};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;

type Operands = SmallVec<[Arc<DeviceArray>; 4]>;

/// The key of a primitive's program: the primitive, the operands' types, and the device or mesh.
struct Key<I, P> {
    primitive: Arc<dyn Primitive>,
    ins: SmallVec<[I; 4]>,
    site: P,
}

type EagerCache<I, P, T> = ProgramCache<Key<I, P>, T>;
type ProgramSlot<I, P, T> = Arc<Slot<Key<I, P>, T>>;

impl<I: Hash + Eq + Clone, P: Hash + Eq + Clone, T> EagerCache<I, P, T> {
    /// Returns the program of a primitive for these operands, and creates it at the first use.
    fn program(
        &self,
        primitive: &dyn Primitive,
        ins: &[I],
        site: &P,
        make: impl FnOnce(Arc<dyn Primitive>, &[I], &P) -> Result<T, Failure>,
    ) -> Result<ProgramSlot<I, P, T>, Failure> {
        // Hash and comparison use borrowed parts, so that a call that finds its program allocates
        // no key.
        let mut hasher = FastHasher::default();
        primitive.dyn_hash(&mut hasher);
        ins.hash(&mut hasher);
        site.hash(&mut hasher);
        let is_key = |key: &Key<I, P>| {
            key.site == *site && *key.ins == *ins && key.primitive.dyn_eq(primitive.as_any())
        };
        self.get_or_make(hasher.finish(), is_key, || {
            let primitive = primitive.to_arc();
            let program = make(primitive.clone(), ins, site)?;
            let key = Key {
                primitive,
                ins: ins.into(),
                site: site.clone(),
            };
            Ok((key, program))
        })
    }
}

/// A program for one device.
struct OnDevice {
    outs: prim::Avals,
    executable: Executable,
    ordered: bool,
}

static ON_DEVICES: EagerCache<Aval, Device, OnDevice> = ProgramCache::new();
static ON_MESHES: EagerCache<(Aval, NamedSharding), Mesh, sharded::Compiled> = ProgramCache::new();

/// Returns the device that stores all operands, or their mesh.
fn site(operation: &str, primitive: &dyn Primitive, args: &[&Array]) -> Result<Site, Error> {
    let mut device: Option<Device> = None;
    let mut mesh = primitive.mesh().is_some();
    // Usually all operands are on one device. This loop finds it without the names that the
    // messages of `SiteFinder` need.
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
        // A primitive can refer to a mesh although its operands are on one device.
        return Ok(match (finder.site()?, primitive.mesh()) {
            (Site::Device(_), Some(mesh)) => Site::Mesh(mesh),
            (site, _) => site,
        });
    }
    match device {
        Some(d) => Ok(Site::Device(d)),
        None => Ok(Site::Device(client::runtime()?.default_device())),
    }
}

/// Returns the device that stores all operands.
pub(crate) fn device_of(primitive: &dyn Primitive, args: &[&Array]) -> Result<Device, Error> {
    match site(primitive.name(), primitive, args)? {
        Site::Device(device) => Ok(device),
        Site::Mesh(mesh) => Err(Error::Configuration(format!(
            "operands are on the devices of {mesh:?}, but outside `jit` this operation supports a \
             single device\n  help: call it in a jitted function"
        ))),
    }
}

/// Returns the operands on `device`, where scalars are copied if necessary.
pub(crate) fn place_on(device: Device, args: &[&Array]) -> Result<(Device, Operands), Error> {
    let operands = args
        .iter()
        .map(|arg| {
            let held = arg.device_array()?;
            if let Sharding::Named(named) = held.sharding {
                return Err(Error::Configuration(format!(
                    "{} is sharded by {named}, but the program runs on one device\n  help: move it \
                     there with `device_put(&array, device)`",
                    arg.aval()
                )));
            }
            match (&arg.0, arg.as_literal()) {
                // The cached copy of a scalar is on the default device.
                (Repr::Literal(_), Some(l)) if held.sharding.single() != Some(device) => {
                    client::put_scalar_on(l, device)
                }
                _ => Ok(held.clone()),
            }
        })
        .collect::<Result<_, Error>>()?;
    Ok((device, operands))
}

/// Runs one primitive, bound at `caller`.
fn run(
    primitive: &dyn Primitive,
    args: &[&Array],
    caller: &'static Location<'static>,
) -> Result<Outputs, Failure> {
    let device = match site(primitive.name(), primitive, args)? {
        Site::Device(device) => device,
        Site::Mesh(mesh) => return run_sharded(primitive, args, mesh),
    };
    if let Some(filled) = fill::small(primitive, args, device)? {
        return Ok(Outputs::from_iter([filled]));
    }
    let (device, operands) = place_on(device, args)?;
    let made = on_device(primitive, args, device, caller)?;
    let program = &made.value;
    let buffers: SmallVec<[&Buffer; 4]> = operands.iter().map(|o| &o.buffers[0]).collect();
    let mut outs = Vec::with_capacity(program.outs.len());
    client::ordered::execute(
        &program.executable,
        program.ordered,
        &buffers,
        &[],
        &mut outs,
    )?;
    Ok(outs
        .into_iter()
        .zip(&program.outs)
        .map(|(b, a)| Array::from_device(*a, b, Sharding::SingleDevice(device)))
        .collect())
}

/// Returns the program that runs a primitive, bound at `caller`, on a device.
fn on_device(
    primitive: &dyn Primitive,
    args: &[&Array],
    device: Device,
    caller: &'static Location<'static>,
) -> Result<ProgramSlot<Aval, Device, OnDevice>, Failure> {
    let ins: SmallVec<[Aval; 4]> = args.iter().map(|a| a.aval()).collect();
    ON_DEVICES.program(primitive, &ins, &device, |primitive, ins, &device| {
        let outs = prim::infer(&*primitive, ins).map_err(Failure::Shape)?;
        let name = primitive.name();
        let jaxpr = single(primitive, ins, &outs);
        let program = Program::lower(name, &jaxpr, &[], Partition::default());
        let start = ramie_base::clock::Instant::now();
        let executable = client::compile(&program, device, &[])?;
        if crate::execution::jit::logs_compiles() {
            let at = location::current_location().unwrap_or(caller);
            crate::execution::eager_log::note(at, start.elapsed());
        }
        Ok(OnDevice {
            outs,
            executable,
            ordered: program.ordered,
        })
    })
}

/// Runs one primitive on the devices of a mesh.
fn run_sharded(primitive: &dyn Primitive, args: &[&Array], mesh: Mesh) -> Result<Outputs, Failure> {
    let ins: SmallVec<[(Aval, NamedSharding); 4]> = args
        .iter()
        .map(|a| (a.aval(), sharded::input_sharding(a, mesh)))
        .collect();
    let made = on_mesh(primitive, &ins, mesh)?;
    let program = &made.value;
    let held: SmallVec<[Arc<DeviceArray>; 4]> = args
        .iter()
        .zip(&program.layout.ins)
        .map(|(a, to)| put::follow(a, *to))
        .collect::<Result<_, Error>>()?;
    let refs: SmallVec<[&Arc<DeviceArray>; 4]> = held.iter().collect();
    let mut outs = Outputs::new();
    program
        .layout
        .run(&program.executable, &refs, &[], |a| outs.push(a))?;
    Ok(outs)
}

/// Returns the program that runs a primitive on the devices of a mesh.
fn on_mesh(
    primitive: &dyn Primitive,
    ins: &[(Aval, NamedSharding)],
    mesh: Mesh,
) -> Result<ProgramSlot<(Aval, NamedSharding), Mesh, sharded::Compiled>, Failure> {
    ON_MESHES.program(primitive, ins, &mesh, |primitive, ins, &mesh| {
        let avals: SmallVec<[Aval; 4]> = ins.iter().map(|(a, _)| *a).collect();
        let outs = prim::infer(&*primitive, &avals).map_err(Failure::Shape)?;
        let name = primitive.name();
        let jaxpr = single(primitive, &avals, &outs);
        let shardings = ins.iter().map(|(_, s)| *s).collect();
        let partition = sharded::partition(&jaxpr, mesh, shardings, &[]);
        let program = Program::lower(name, &jaxpr, &[], partition);
        Ok(sharded::compile(program, &jaxpr, &[], mesh, &[])?)
    })
}

/// Reshards an array over the same devices, by running a program.
fn reshard(array: &Array, sharding: NamedSharding) -> crate::Result<Array> {
    let primitive = crate::prim::sharding::ShardingConstraint { sharding };
    let ins = [(
        array.aval().with_sharding(None),
        sharded::input_sharding(array, sharding.mesh()),
    )];
    let failed = |e| error_of("device_put", e);
    let made = on_mesh(&primitive, &ins, sharding.mesh()).map_err(failed)?;
    let held = array.device_array()?;
    let mut out = None;
    let program = &made.value;
    program
        .layout
        .run(&program.executable, &[held], &[], |a| out = Some(a))?;
    Ok(out.expect("the program has one result"))
}

/// Creates an array filled with a scalar. Each device fills its own shard.
fn full(value: Literal, shape: &[usize], to: Sharding) -> crate::Result<Array> {
    if let Sharding::Named(named) = to
        && named.memory_kind().is_some()
    {
        return put::place(&full(value, shape, named.in_device_memory().into())?, to);
    }
    let aval = typed(value.aval().with_shape(shape), to);
    let (scalar, caller) = (Array::literal(value), Location::caller());
    let buffers = put::buffers(aval, to, |_, local, device| {
        let fill = BroadcastInDim {
            shape: local.shape().into(),
            broadcast_dimensions: Dims::new(),
            sharding: None,
        };
        let filled = client::with_default_device(device, || run(&fill, &[&scalar], caller));
        let filled = filled.map_err(|e| error_of("full", e))?.remove(0);
        Ok(client::assemble::into_buffers(filled)?.remove(0))
    })?;
    Ok(Array::from_parts(aval, buffers, to))
}

/// Returns the error of an operation that has no operands of the caller.
fn error_of(operation: &str, failure: Failure) -> Error {
    match failure {
        Failure::Runtime(e) => e,
        Failure::Shape(e) => Error::Configuration(e.render(operation, &[])),
        Failure::Value(message) => Error::Configuration(message),
    }
}

/// Computes with the process's client.
struct Eager;

inventory::submit!(Registration(&Eager));

impl Backend for Eager {
    fn run(
        &self,
        primitive: &dyn Primitive,
        args: &[&Array],
        caller: &'static Location<'static>,
    ) -> Result<Outputs, Failure> {
        let outs = run(primitive, args, caller)?;
        if numerics::is_checked() {
            // Operations composed of others are run again one by one, so that the message names the
            // first bad result.
            let again = || _ = primitive.evaluate(args);
            numerics::check_operation(primitive.name(), args, &outs, again, caller)
                .map_err(Failure::Value)?;
        }
        Ok(outs)
    }

    fn put(&self, elements: HostElements<'_>, aval: Aval) -> crate::Result<Array> {
        let device = client::runtime()?.default_device();
        match elements {
            HostElements::Borrowed(bytes) => client::put(bytes, aval, device),
            HostElements::Owned(data) => client::put_owned(data, aval, device),
        }
    }

    fn put_scalar(&self, literal: Literal) -> crate::Result<Arc<DeviceArray>> {
        client::put_scalar(literal)
    }

    fn full(&self, value: Literal, shape: &[usize], to: Sharding) -> crate::Result<Array> {
        full(value, shape, to)
    }

    fn place(&self, array: &Array, to: Sharding) -> crate::Result<Array> {
        put::place(array, to)
    }

    fn reshard(&self, array: &Array, to: NamedSharding) -> crate::Result<Array> {
        reshard(array, to)
    }

    fn platform(&self) -> crate::Result<Platform> {
        Ok(client::runtime()?.plugin().platform)
    }
}

/// Removes all compiled programs of this process (`jax.clear_caches`): those of operations
/// outside `jit`, and those of every jitted function. [`clear_cache`](crate::stages::Jitted::clear_cache)
/// removes the programs of one function only. Programs in the persistent cache are kept.
///
/// Otherwise the process caches the most recently used programs: 256 for each jitted function
/// ([`JitOptions::cache_limit`](crate::options::JitOptions::cache_limit)), and 4096 of operations outside
/// `jit`.
pub fn clear_caches() {
    ON_DEVICES.clear();
    ON_MESHES.clear();
    fused::forget_fused();
    crate::execution::jit::forget_all();
}

/// Returns a program with one equation.
fn single(primitive: Arc<dyn Primitive>, ins: &[Aval], outs: &[Aval]) -> Jaxpr {
    // Variables are numbered in the order of their types below: operands first, then results.
    let invars: Vec<Var> = (0..ins.len() as u32).map(Var).collect();
    let outvars: SmallVec<[Var; 1]> = (0..outs.len() as u32)
        .map(|i| Var(ins.len() as u32 + i))
        .collect();
    let eqn = Eqn {
        primitive,
        inputs: invars.iter().map(|v| Atom::Var(*v)).collect(),
        outputs: outvars.clone(),
        // The cached program serves calls from any line, so it contains none of the user's.
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
