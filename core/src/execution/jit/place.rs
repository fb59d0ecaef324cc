//! Placement of a jitted function's arguments and results.

use super::donate;
use super::signature::Inputs;
use super::trace::Trace;
use crate::client::Program;
use crate::client::sharded::{self, Site, SiteFinder, input_sharding};
use crate::program::array::Repr;
use crate::program::jaxpr::Jaxpr;
use crate::program::lower::{ArgumentAttribute, Partition};
use crate::program::specs::Shardings;
use crate::program::tree::{self, Walk};
use crate::types::sharding::{NamedSharding, Placed, Sharding};
use crate::{Array, Error, Platform, Result, Tree};

/// Returns the device or mesh on which a call with these arguments runs.
pub(crate) fn site_of(inputs: Inputs<'_>) -> Result<Site> {
    let mut finder = SiteFinder::default();
    for (root, walk) in [("state", inputs.state), ("args", inputs.args)] {
        tree::walk_with_path(walk, &mut |path, _, array| {
            finder.look(array, || format!("`{root}.{path}`"));
        });
    }
    finder.site()
}

/// Moves the arguments to the shardings of `in_shardings`.
pub(super) fn placed<A: Tree>(args: A, wanted: &Shardings) -> Result<A> {
    let arrays = placed_arrays(&|v| args.walk(v), wanted)?;
    Ok(tree::with_leaves(&args, arrays))
}

fn placed_arrays(args: &Walk<'_>, wanted: &Shardings) -> Result<Vec<Array>> {
    let paths = tree::paths_of(args);
    let wanted = wanted
        .of_paths("in_shardings", &paths)
        .map_err(Error::Configuration)?;
    let mut outs = Vec::with_capacity(paths.len());
    for ((array, to), path) in tree::leaves_of(args).into_iter().zip(wanted).zip(&paths) {
        outs.push(match to {
            None => array,
            Some(to) => placed_array(array, &to, path)?,
        });
    }
    Ok(outs)
}

fn placed_array(array: Array, to: &Placed, path: &str) -> Result<Array> {
    let to = to.sharding("in_shardings");
    let here = array.sharding();
    if here == Some(to) {
        return Ok(array);
    }
    if let Some(Sharding::Named(here)) = here {
        return Err(Error::Configuration(format!(
            "in_shardings requires argument `{path}` to be sharded as {to}, but it is sharded as \
             {here}\n  help: move it with `device_put(&array, sharding)` before the call, or omit \
             it from in_shardings"
        )));
    }
    match (&array.0, to) {
        // Without elements there is nothing to move; the sharding is recorded for the trace.
        (Repr::Abstract(aval, _), Sharding::Named(to)) => Ok(Array::shape_dtype_struct_with(
            aval.shape(),
            aval.dtype(),
            to,
        )),
        (Repr::Abstract(..), _) => Ok(array),
        _ => Ok(crate::device_put(&array, to)),
    }
}

/// The plan of a call: donated inputs, and the layouts on the devices of a mesh, if it runs
/// on one.
pub(super) struct Plan {
    pub site: Site,
    pub attributes: Vec<ArgumentAttribute>,
    pub partition: Partition,
    /// Whether each output is an array of the state that the function leaves unchanged. Such an output
    /// is not a result of the program. Empty if there are none.
    pub kept: Vec<bool>,
}

impl Plan {
    /// Lowers the call's program to text.
    pub fn lower(&self, name: &str, jaxpr: &Jaxpr) -> Program {
        self.lower_for(None, name, jaxpr)
    }

    /// Lowers the call's program for another platform than this process's.
    pub fn lower_for(&self, platform: Option<Platform>, name: &str, jaxpr: &Jaxpr) -> Program {
        let partition = self.partition.clone();
        let lower =
            |jaxpr: &Jaxpr| Program::lower_for(platform, name, jaxpr, &self.attributes, partition);
        if self.kept.is_empty() {
            lower(jaxpr)
        } else {
            let results = changed(&self.kept, jaxpr.outvars.clone());
            lower(&jaxpr.with_interface(jaxpr.invars.clone(), results))
        }
    }
}

/// Plans a call at `site`, whose inputs are donated as `attributes` specifies.
pub(super) fn plan(
    trace: &Trace,
    site: Site,
    inputs: Inputs<'_>,
    mut attributes: Vec<ArgumentAttribute>,
    out_shardings: Option<&Shardings>,
) -> Result<Plan> {
    let jaxpr = &trace.program.jaxpr;
    // A captured array on a mesh makes this a program for that mesh, to which arguments on one
    // device move.
    let captured = |a: &Array| a.sharding()?.named().map(|n| n.mesh());
    let mut site = match trace.program.consts.iter().find_map(captured) {
        Some(mesh) if matches!(site, Site::Device(_)) => Site::Mesh(mesh),
        _ => site.of_program(jaxpr),
    };
    let asked = match out_shardings {
        Some(shardings) => wanted(shardings, trace)?,
        None => Vec::new(),
    };
    // So does a mesh in `out_shardings`.
    let asked_mesh = asked.iter().flatten().map(NamedSharding::mesh).next();
    if let (Site::Device(_), Some(mesh)) = (site, asked_mesh) {
        site = Site::Mesh(mesh);
    }
    let Site::Mesh(mesh) = site else {
        return Ok(on_device(trace, site, attributes));
    };
    let consts = &trace.program.consts;
    // Captured values are the first inputs of the program, followed by the state.
    let ins: Vec<NamedSharding> = consts
        .iter()
        .chain(&inputs.leaves())
        .map(|a| input_sharding(a, mesh))
        .collect();
    let outs = result_shardings(trace, &ins[consts.len()..], asked);
    check_parts(jaxpr, &outs)?;
    let partition = sharded::partition(jaxpr, mesh, ins, &outs);
    // An input can only alias a result with the same layout; otherwise it is donated without a
    // fixed result.
    for (i, attribute) in attributes.iter_mut().enumerate() {
        if let ArgumentAttribute::AliasedTo(out) = *attribute
            && partition.outs[out] != Some(partition.ins[i])
        {
            *attribute = ArgumentAttribute::Donated;
        }
    }
    Ok(Plan {
        site,
        attributes,
        partition,
        kept: Vec::new(),
    })
}

/// Plans a call on a single device.
fn on_device(trace: &Trace, site: Site, mut attributes: Vec<ArgumentAttribute>) -> Plan {
    // The call returns the input's handle for such an output, which is therefore neither donated
    // nor a result of the program: other handles of the array stay valid without a copy.
    let kept = trace.unchanged();
    donate::skip(&kept, trace.program.consts.len(), &mut attributes);
    Plan {
        site,
        attributes,
        partition: Partition::default(),
        kept,
    }
}

/// Returns the items of the outputs that are results of the program.
pub(super) fn changed<T>(kept: &[bool], mut outputs: Vec<T>) -> Vec<T> {
    let mut kept = kept.iter();
    outputs.retain(|_| kept.next() != Some(&true));
    outputs
}

/// Returns the requested shardings of the result's arrays.
pub(super) fn wanted(shardings: &Shardings, trace: &Trace) -> Result<Vec<Option<NamedSharding>>> {
    let paths = tree::paths_of(&|v| trace.trees.walk_result(v));
    let requested = shardings
        .of_paths("out_shardings", &paths)
        .map_err(Error::Configuration)?;
    requested
        .iter()
        .zip(&paths)
        .map(|(to, path)| match to.as_ref().map(|to| to.sharding("out_shardings")) {
            None => Ok(None),
            Some(Sharding::Named(named)) => Ok(Some(named)),
            Some(Sharding::SingleDevice(device)) => Err(Error::Configuration(format!(
                "out_shardings requires the result `{path}` to be on {}\n  help: results are on \
                 the devices on which the program runs; use a NamedSharding or a PartitionSpec, or \
                 move the result with device_put",
                device.description()
            ))),
        })
        .collect()
}

/// Returns the shardings of all outputs: state keeps its sharding.
fn result_shardings(
    trace: &Trace,
    ins: &[NamedSharding],
    asked: Vec<Option<NamedSharding>>,
) -> Vec<Option<NamedSharding>> {
    // The new state has the sharding of the old one, so that it can take over the buffers and the
    // next call finds the same program.
    let state = (0..trace.state_outs).map(|i| {
        let same = trace.keeps_state(i);
        ins.get(i).copied().filter(|_| same)
    });
    state.chain(asked).collect()
}

fn check_parts(jaxpr: &Jaxpr, outs: &[Option<NamedSharding>]) -> Result<()> {
    for (aval, sharding) in jaxpr.out_avals().iter().zip(outs) {
        if let Some(sharding) = sharding
            && let Err(e) = sharding.try_shard_shape(aval.shape())
        {
            return Err(Error::Configuration(e.render("out_shardings", &[])));
        }
    }
    Ok(())
}
