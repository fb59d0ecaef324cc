//! Programs for several devices: meshes, shardings of values, and manual computations.

use super::{Lowering, Module, Region, TensorType, Value, avals};
use crate::base::location;
use crate::extend::Jaxpr;
use crate::sharding::AxisName;
use crate::types::sharding::{
    AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec, sdy_sharding,
};
use crate::{Aval, DType};
use ramie_pjrt::Device;
use std::fmt::Write;
use std::sync::Arc;

/// The devices of a program, and the layouts of its arguments and results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Partition {
    /// Devices in the order of the program's partitions; empty for a program for one device.
    pub devices: Vec<Device>,
    /// Shardings of the arguments, captured values first.
    pub ins: Vec<NamedSharding>,
    /// Shardings of the results; the compiler chooses those that are `None`.
    pub outs: Vec<Option<NamedSharding>>,
}

impl Partition {
    /// Returns the number of partitions.
    pub(crate) fn count(&self) -> usize {
        self.devices.len().max(1)
    }
}

/// A mesh declared in the module.
pub(super) struct Declared {
    sizes: &'static [usize],
    names: &'static [AxisName],
    /// Indices of its devices among the program's, if these are in another order.
    order: Option<Vec<usize>>,
    symbol: String,
}

impl Module {
    /// Returns the symbol of a mesh with these devices, or with the program's.
    pub(super) fn mesh(&mut self, axes: AbstractMesh, devices: Option<&[Device]>) -> String {
        // Without an order, the devices of a mesh are the partitions in their own order.
        let order = devices
            .filter(|d| *d != self.partition.devices)
            .map(|devices| {
                let position = |d: &Device| self.partition.devices.iter().position(|p| p == d);
                devices.iter().filter_map(position).collect::<Vec<usize>>()
            });
        let same = |m: &&Declared| {
            m.sizes == axes.axis_sizes() && m.names == axes.axis_names() && m.order == order
        };
        if let Some(known) = self.meshes.iter().find(same) {
            return known.symbol.clone();
        }
        let symbol = match self.meshes.len() {
            0 => "mesh".to_string(),
            n => format!("mesh_{}", n - 1),
        };
        self.meshes.push(Declared {
            sizes: axes.axis_sizes(),
            names: axes.axis_names(),
            order,
            symbol: symbol.clone(),
        });
        symbol
    }

    /// Returns the declarations of meshes.
    pub(super) fn mesh_text(&self) -> String {
        let mut text = String::new();
        for mesh in &self.meshes {
            let axes = mesh.names.iter().zip(mesh.sizes);
            let axes: Vec<String> = axes.map(|(n, s)| format!("\"{n}\"={s}")).collect();
            let _ = write!(text, "  sdy.mesh @{} = <[{}]", mesh.symbol, axes.join(", "));
            if let Some(order) = &mesh.order {
                let _ = write!(text, ", device_ids={order:?}");
            }
            text.push_str(">\n");
        }
        text
    }

    /// Returns the sharding of an argument or result.
    pub(super) fn sharding(&mut self, sharding: NamedSharding, rank: usize) -> String {
        let mesh = sharding.mesh();
        let symbol = self.mesh(mesh.abstract_mesh(), Some(mesh.devices()));
        sdy_sharding(&symbol, sharding.spec(), rank, false)
    }
}

impl Lowering<'_> {
    /// Constrains `value` to be sharded by `spec` over the mesh. The compiler may shard `open`
    /// dimensions further.
    pub(crate) fn constrain(
        &mut self,
        value: Value,
        mesh: (AbstractMesh, Option<Mesh>),
        spec: &PartitionSpec,
        open: bool,
    ) -> Value {
        let symbol = self.module.mesh(mesh.0, mesh.1.as_ref().map(Mesh::devices));
        let sharding = sdy_sharding(&symbol, spec, value.ndim(), open);
        let attributes = format!("sharding = {sharding}");
        self.op1("sdy.sharding_constraint", &[value], value.aval, &attributes)
    }

    /// Constrains results to the shardings in their types.
    pub(super) fn constrain_typed(&mut self, values: &mut [Value], args: &[Value], outs: &[Aval]) {
        let ins = args.iter().map(Value::aval);
        let mut all = outs.iter().copied().chain(ins);
        let Some(axes) = all.find_map(|a| a.sharding().map(|s| s.mesh())) else {
            return;
        };
        // The compiler may only add shardings where some axes are left to it.
        let open = axes.has(AxisType::Auto);
        let whole = PartitionSpec::default();
        for (value, aval) in values.iter_mut().zip(outs) {
            let spec = aval.sharding().map_or(&whole, |s| s.spec());
            *value = self.constrain(*value, (axes, None), spec, open);
        }
    }

    /// Returns the mesh with its axis types at this point: some axes are manual inside manual
    /// computations.
    pub(crate) fn axes(&self) -> Option<AbstractMesh> {
        self.axes
    }

    /// Emits a program that each device runs on its shards: the `manual` axes of the mesh are not
    /// visible to the compiler.
    pub(crate) fn manual_computation(
        &mut self,
        jaxpr: &Arc<Jaxpr>,
        mesh: (AbstractMesh, Option<Mesh>),
        manual: &[AxisName],
        args: (&[Value], &[PartitionSpec]),
        outs: (&[Aval], &[PartitionSpec]),
    ) -> Vec<Value> {
        let open = mesh.0.axis_names().iter().any(|n| !manual.contains(n));
        let (mesh, local) = ((mesh.0, mesh.1, open), jaxpr.in_avals());
        self.manual(mesh, manual, (args.0, args.1, &local), outs, |ctx, args| {
            // Inline, since the compiler optimizes calls less well.
            let values = ctx.inline(jaxpr, args);
            if ctx.has_ordered_effects() {
                location::fail(
                    "shard_map: the function has ordered effects, but effects have no order \
                     across devices\n  help: use unordered callbacks",
                );
            }
            values
        })
    }

    /// Emits a computation in which the axes `names` of a mesh are manual. Operands have the
    /// types `local` in it. The compiler may shard dimensions further if the mesh is `open`.
    fn manual(
        &mut self,
        (axes, mesh, open): (AbstractMesh, Option<Mesh>, bool),
        names: &[AxisName],
        (args, in_specs, local): (&[Value], &[PartitionSpec], &[Aval]),
        (outs, out_specs): (&[Aval], &[PartitionSpec]),
        body: impl FnOnce(&mut Self, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let symbol = self.module.mesh(axes, mesh.as_ref().map(Mesh::devices));
        let shardings = |avals: &[Aval], specs: &[PartitionSpec]| {
            let one = |(a, s): (&Aval, &PartitionSpec)| {
                let text = sdy_sharding(&symbol, s, a.ndim(), open);
                // The list of shardings has elements without the prefix of the attribute.
                text.trim_start_matches("#sdy.sharding").to_string()
            };
            let all: Vec<String> = avals.iter().zip(specs).map(one).collect();
            format!("#sdy.sharding_per_value<[{}]>", all.join(", "))
        };
        let quoted: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
        let attributes = format!(
            "in_shardings = {}, manual_axes = #sdy<manual_axes{{{}}}>, out_shardings = {}",
            shardings(&avals(args), in_specs),
            quoted.join(", "),
            shardings(outs, out_specs)
        );
        let inner = axes.with_types(|n, t| {
            if names.contains(&n) {
                AxisType::Manual
            } else {
                t
            }
        });
        // Operations of the body see the mesh with these axes manual.
        let outer = self.axes.replace(inner);
        let region = self.region(local, body).ending_in("sdy.return");
        self.axes = outer;
        self.op("sdy.manual_computation", args, outs, &attributes, &[region])
    }

    /// Emits a value computed with all mesh axes manual, which is the same along the axes that
    /// are not manual here.
    pub(crate) fn in_manual_axes(
        &mut self,
        out: Aval,
        f: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let Some(here) = self.axes else {
            return f(self);
        };
        let rest = here.axis_names().iter().zip(here.axis_types());
        // Axes that are already manual cannot be made manual again.
        let rest = rest.filter(|(_, t)| **t != AxisType::Manual);
        let rest: Vec<AxisName> = rest.map(|(n, _)| *n).collect();
        let (mesh, whole) = ((here, None, false), [PartitionSpec::default()]);
        let f = |ctx: &mut Self, _: &[Value]| vec![f(ctx)];
        self.manual(mesh, &rest, (&[], &[], &[]), (&[out], &whole), f)[0]
    }

    /// Returns whether each device reaches this point with its own values: in a program for one
    /// device, and in a manual computation.
    pub(crate) fn runs_on_each_device(&self, operation: &str) -> bool {
        if self.module.partition.count() == 1 {
            return true;
        }
        let manual = |axes: AbstractMesh| {
            let types = axes.axis_types().iter();
            (
                types.filter(|t| **t == AxisType::Manual).count(),
                axes.axis_names().len(),
            )
        };
        match self.axes.map(manual) {
            None | Some((0, _)) => false,
            Some((manual, all)) if manual == all => true,
            Some(_) => {
                let refuse = || -> ! {
                    location::fail(&format!(
                        "{operation}: the enclosing shard_map leaves some axes of the mesh \
                         automatic, so it is undefined which devices call the function\n  help: \
                         set `axis_names` of ShardMapOptions to None, or call the function outside \
                         shard_map"
                    ))
                };
                match self.location {
                    Some((at, _)) => location::at_location(at, refuse),
                    None => refuse(),
                }
            }
        }
    }

    /// Emits an operation that only the first device runs, on whole arrays; the others get its
    /// results. XLA cannot partition operations with side effects.
    pub(crate) fn on_first_device(
        &mut self,
        args: &[Value],
        outs: &[Aval],
        f: impl FnOnce(&mut Self, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let partition = &self.module.partition;
        let count = partition.count();
        let known = partition.ins.iter().chain(partition.outs.iter().flatten());
        let mesh = known
            .map(|s| s.mesh())
            .next()
            .expect("a program for several devices has a mesh");
        let axes = mesh.abstract_mesh();
        // XLA would remove a computation without results.
        let mut outs = outs.to_vec();
        let results = outs.len();
        if outs.is_empty() {
            outs.push(Aval::scalar(DType::Bool));
        }
        // Every device has the whole operands and takes part in the gather below, though only the
        // first device uses them.
        let whole = vec![PartitionSpec::default(); args.len().max(outs.len())];
        let body = |ctx: &mut Self, args: &[Value]| {
            let id = ctx.op1("partition_id", &[], Aval::scalar(DType::U32), "");
            let zero = ctx.scalar(0, DType::U32);
            let first = ctx.compare("EQ", [id, zero]);
            let call = ctx.region(&[], |ctx, _| {
                let mut values = f(ctx, args);
                if values.is_empty() {
                    values.push(ctx.scalar(false, DType::Bool));
                }
                values
            });
            let skip = ctx.region(&[], |ctx, _| {
                outs.iter().map(|a| ctx.splat(0, *a)).collect()
            });
            let values = ctx.op("if", &[first], &outs, "", &[call, skip]);
            let all = values.into_iter();
            all.map(|value| ctx.of_first_device(value, count)).collect()
        };
        let mut values = self.manual(
            (axes, Some(mesh), false),
            axes.axis_names(),
            (args, &whole, &avals(args)),
            (&outs, &whole),
            body,
        );
        values.truncate(results);
        values
    }

    /// Emits the first device's value on all devices.
    fn of_first_device(&mut self, value: Value, count: usize) -> Value {
        // With `n` devices `[3]` becomes `[1, 3]`, gathered `[n, 3]`, of which row 0 is the first
        // device's.
        let one = self.reshape(value, &[&[1], value.shape()].concat());
        let all = value.aval.with_shape(&[&[count], value.shape()].concat());
        let groups = collective_attributes(&[(0..count).collect()]);
        let attributes = format!("all_gather_dim = 0 : i64, {groups}, use_global_device_ids");
        let gathered = self.op1("all_gather", &[one], all, &attributes);
        let first = self.slice_in_dim(gathered, 0, 0..1);
        self.reshape(first, value.shape())
    }

    /// Returns the indices of the program's partitions in groups along `names`, the
    /// slowest-varying first, each in the order of the axes.
    pub(crate) fn replica_groups(&self, names: &[AxisName]) -> Option<Vec<Vec<usize>>> {
        let mesh = self.axes?;
        let positions: Option<Vec<usize>> = names.iter().map(|n| mesh.position(*n)).collect();
        let positions = positions?;
        let mut groups: Vec<(Vec<usize>, Vec<(usize, usize)>)> = Vec::new();
        // On a mesh `[2, 3]` with axes `x` and `y` the groups along `y` are partitions 0, 1, 2 and
        // 3, 4, 5, whose coordinates differ only along `y`.
        for partition in 0..mesh.size() {
            let mut at = mesh.coordinates(partition);
            let rank = positions
                .iter()
                .fold(0, |r, &p| r * mesh.axis_sizes()[p] + at[p]);
            // Without its coordinates along `names`, a partition is identified with its group.
            for &p in &positions {
                at[p] = 0;
            }
            match groups.iter_mut().find(|(others, _)| *others == at) {
                Some((_, group)) => group.push((rank, partition)),
                None => groups.push((at, vec![(rank, partition)])),
            }
        }
        let ordered = |mut group: Vec<(usize, usize)>| {
            group.sort_unstable();
            group.into_iter().map(|(_, partition)| partition).collect()
        };
        Some(
            groups
                .into_iter()
                .map(|(_, group)| ordered(group))
                .collect(),
        )
    }
}

/// Formats the attributes of a collective between groups of partitions. Groups that are shorter than
/// others end in -1.
pub(crate) fn collective_attributes(groups: &[Vec<usize>]) -> String {
    let longest = groups.iter().map(Vec::len).max().unwrap_or(0);
    let filled = |group: &Vec<usize>| {
        let numbers = group.iter().map(|&n| n as i64);
        numbers.chain(std::iter::repeat(-1)).take(longest).collect()
    };
    let groups: Vec<Vec<i64>> = groups.iter().map(filled).collect();
    format!(
        "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{groups:?}> \
         : tensor<{}x{}xi64>",
        groups.len(),
        longest
    )
}

/// Formats an argument or a result of `@main`.
pub(super) fn typed(value: Option<Value>, aval: Aval, attributes: &[String]) -> String {
    let mut text = value.map_or(String::new(), |v| format!("{v}: "));
    let _ = write!(text, "{}", TensorType(aval));
    if !attributes.is_empty() {
        let _ = write!(text, " {{{}}}", attributes.join(", "));
    }
    text
}

impl Region {
    /// Returns the region with another terminator than `stablehlo.return`.
    fn ending_in(mut self, terminator: &'static str) -> Region {
        self.terminator = terminator;
        self
    }
}
