//! `shard_map`: a program that each device of a mesh runs on its shards.

use crate::base::location::fail;
use crate::prim::collective::vary_together;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Jaxprs, Nested, Param, Primitive, nested,
};
use crate::program::jaxpr::{ClosedJaxpr, Jaxpr};
use crate::program::lists;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::{bind, with_vary};
use crate::sharding::AxisName;
use crate::types::axis;
use crate::types::sharding::{
    AbstractMesh, AxisSet, AxisType, Context, Mesh, PartitionSpec, SpecEntry, TypeSharding,
    shard_shape,
};
use crate::{Array, Aval, ShapeError};
use smallvec::SmallVec;
use std::sync::Arc;

/// A program that each device runs on its shards of the arguments, along some axes of a mesh.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ShardMap {
    /// Program without captured values.
    pub jaxpr: Arc<Jaxpr>,
    /// Mesh with its axis types outside the program.
    pub axes: AbstractMesh,
    /// Devices of the mesh, if known.
    pub mesh: Option<Mesh>,
    /// Axes that are manual in the program, but not outside.
    pub manual: Vec<AxisName>,
    /// Specs by which arguments are split over the manual axes.
    pub in_specs: Vec<PartitionSpec>,
    /// Specs by which results are assembled over the manual axes.
    pub out_specs: Vec<PartitionSpec>,
    /// Whether types track the axes over which values may vary.
    pub check_vma: bool,
}

impl ShardMap {
    /// Returns the mesh with its axis types inside the program.
    pub(super) fn inner_axes(&self) -> AbstractMesh {
        self.axes.with_types(|n, t| {
            if self.manual.contains(&n) {
                AxisType::Manual
            } else {
                t
            }
        })
    }

    /// Runs `f` in the context of the program: its axes are bound, and types track varying axes
    /// if they do so in the program.
    pub(crate) fn scope<R>(&self, f: impl FnOnce() -> R) -> R {
        let sized = |n: &AxisName| (*n, self.axes.axis_size(*n).expect("an axis of the mesh"));
        let axes: Vec<(AxisName, usize)> = self.manual.iter().map(sized).collect();
        let context = Context {
            mesh: self.mesh.or(Context::current().mesh),
            axes: Some(self.inner_axes()),
            checks_varying: self.check_vma,
            ..Context::current()
        };
        context.within(|| with_vary(vary_together, || axis::with_axes(&axes, f)))
    }

    /// Returns the type of one device's shard of an argument.
    pub(crate) fn shard(&self, spec: &PartitionSpec, aval: Aval) -> Result<Aval, ShapeError> {
        let shape = shard_shape(self.axes, spec, aval.shape())?;
        let local = aval.with_shape(&shape);
        let inner = self.inner_axes();
        let sharding = aval
            .sharding()
            .map(|s| TypeSharding::new(inner, s.spec(), aval.ndim()));
        let mut varying = aval.varying_set();
        if self.check_vma {
            varying = varying.union(AxisSet::new(spec.axes()));
        }
        Ok(local.with_sharding(sharding).with_varying(varying))
    }

    /// Returns the type of a result that is assembled from such shards.
    pub(crate) fn unshard(&self, spec: &PartitionSpec, aval: Aval) -> Aval {
        let size = |n: &AxisName| self.axes.axis_size(*n).unwrap_or(1);
        let shape: Vec<usize> = aval
            .shape()
            .iter()
            .enumerate()
            .map(|(d, n)| n * spec.entry(d).axes().iter().map(size).product::<usize>())
            .collect();
        let inner = aval.sharding();
        let entry = |d: usize| {
            let within = inner.map_or(&[][..], |s| s.spec().entry(d).axes());
            let names: Vec<AxisName> = spec.entry(d).axes().iter().chain(within).copied().collect();
            SpecEntry::from(&names[..])
        };
        let whole = PartitionSpec::new((0..aval.ndim()).map(entry));
        let sharding = TypeSharding::new(self.axes, &whole, aval.ndim());
        aval.with_shape(&shape)
            .with_sharding(Some(sharding))
            .with_varying(aval.varying_set().without(&self.manual))
    }

    /// Returns the types of the program's arguments, from those outside.
    #[track_caller]
    pub(super) fn locals(&self, specs: &[PartitionSpec], avals: &[Aval]) -> Vec<Aval> {
        let local = |(spec, aval): (&PartitionSpec, &Aval)| match self.shard(spec, *aval) {
            Ok(local) => local,
            Err(e) => fail(&e.render("shard_map", &[])),
        };
        specs.iter().zip(avals).map(local).collect()
    }

    /// Binds a program over the same mesh; its captured values are the same on all devices.
    #[track_caller]
    pub(crate) fn bind(
        &self,
        program: ClosedJaxpr,
        args: &[Array],
        in_specs: &[PartitionSpec],
        out_specs: Vec<PartitionSpec>,
    ) -> Vec<Array> {
        let (jaxpr, consts) = self.scope(|| program.open());
        for array in &consts {
            let aval = array.aval();
            let sharded = |s: TypeSharding| s.spec().axes().any(|a| self.manual.contains(&a));
            if aval.sharding().is_some_and(sharded) {
                fail(&format!(
                    "shard_map: the function captures {aval}, whose shards are on different \
                     devices\n  help: pass it as an argument, with a spec in in_specs"
                ));
            }
        }
        let whole = consts.iter().map(|_| PartitionSpec::default());
        let map = ShardMap {
            jaxpr,
            in_specs: whole.chain(in_specs.iter().cloned()).collect(),
            out_specs,
            ..self.clone()
        };
        let all: SmallVec<[&Array; 8]> = consts.iter().chain(args).collect();
        bind(map, &all).into_vec()
    }
}

impl Primitive for ShardMap {
    fn name(&self) -> &'static str {
        "shard_map"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let names: Vec<String> = self.manual.iter().map(|n| format!("{n:?}")).collect();
        let mesh = match self.mesh {
            Some(mesh) => Param::new(format_args!("{:?}", mesh.with_abstract(self.axes))),
            None => Param::new(format_args!("{:?}", self.axes)),
        };
        let specs = |specs: &[PartitionSpec]| Param::tuple(specs.iter().map(|s| format!("{s:#}")));
        vec![
            ("check_vma", Param::flag(self.check_vma)),
            ("in_specs", specs(&self.in_specs)),
            ("jaxpr", Param::Jaxpr(self.jaxpr.clone())),
            ("mesh", mesh),
            (
                "newly_manual_axes",
                Param::new(format_args!("frozenset({{{}}})", names.join(", "))),
            ),
            ("out_specs", specs(&self.out_specs)),
        ]
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            mesh: self.mesh,
            ..Facts::exact()
        }
    }
    fn nested(&self) -> Option<&dyn Nested> {
        Some(self)
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let inner = self.jaxpr.in_avals();
        crate::ensure_shape!(
            args.len() == inner.len(),
            "the function takes {} arrays, got {}",
            inner.len(),
            args.len()
        );
        for (i, ((arg, spec), expected)) in args.iter().zip(&self.in_specs).zip(&inner).enumerate()
        {
            let local = self.shard(spec, *arg)?;
            crate::ensure_shape!(
                local.strong() == expected.strong(),
                "array {i} is {arg}, whose shards by {spec} are {local}; the program takes \
                 {expected}"
            );
        }
        let outs = self.jaxpr.out_avals();
        let whole = outs.iter().zip(&self.out_specs);
        Ok(whole.map(|(a, spec)| self.unshard(spec, *a)).collect())
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Nested(self)
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let spmd = axis.spmd_names();
        let used = self.in_specs.iter().chain(&self.out_specs);
        if let Some(name) = used.flat_map(|s| s.axes()).find(|a| spmd.contains(a)) {
            fail(&format!(
                "shard_map: the axis {name:?} is the spmd_axis_name of an enclosing vmap, and is \
                 also in the specs\n  help: map over another axis of the mesh"
            ));
        }
        let entry = SpecEntry::from(spmd);
        let with_batch = |spec: &PartitionSpec, at: Option<usize>| match at {
            Some(at) => spec.inserted(at, entry.clone()),
            None => spec.clone(),
        };
        let in_specs: Vec<PartitionSpec> = self
            .in_specs
            .iter()
            .zip(axes)
            .map(|(s, at)| with_batch(s, *at))
            .collect();
        // Along manual axes each device has its shard of the examples.
        let manual = |n: &&AxisName| self.manual.contains(n);
        let parts: usize = spmd
            .iter()
            .filter(manual)
            .map(|n| self.axes.axis_size(*n).unwrap_or(1))
            .product();
        let inner = BatchAxis {
            size: axis.size / parts,
            ..axis
        };
        let locals = self.locals(&in_specs, &lists::avals(args));
        let (program, out_axes) =
            self.scope(|| nested::batched(&self.jaxpr, &locals, axes, inner, |_, at| at));
        let out_specs = self
            .out_specs
            .iter()
            .zip(&out_axes)
            .map(|(s, at)| with_batch(s, *at))
            .collect();
        let outs = self.bind(program, args, &in_specs, out_specs);
        (outs.into(), out_axes.into())
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        self.scope(|| {
            ctx.manual_computation(
                &self.jaxpr,
                (self.axes, self.mesh),
                &self.manual,
                (args, &self.in_specs),
                (outs, &self.out_specs),
            )
        })
    }
}

impl Nested for ShardMap {
    fn jaxprs(&self) -> Jaxprs<'_> {
        Jaxprs::from_slice(&[&self.jaxpr])
    }
    fn binds(&self, name: AxisName) -> bool {
        self.manual.contains(&name)
    }
}
