//! `vmap` for modules.

use super::axes::{Axes, AxisCount, Lifted, VariableAxis};
use super::pack::Pack;
use crate::linen::{CollectionFilter, Module, Scope, Streams, Variables};
use crate::setters::setters;
use ramie_core::lock::lock;
use ramie_core::options::VmapOptions;
use ramie_core::sharding::AxisName;
use ramie_core::typing::{AxisNames, MapAxes};
use ramie_core::{Tree, tree, vmap_with};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A module that is applied to all batch elements at once. [`vmap`] creates it.
#[derive(Clone, Debug)]
pub struct Vmap<M> {
    module: M,
    lifted: Lifted,
    in_axes: Axes,
    out_axes: Axes,
    axis_size: Option<usize>,
    axis_name: Option<AxisName>,
    spmd_axis_name: Option<AxisNames>,
}

/// Applies a module to all batch elements at once (`flax.linen.vmap`).
///
/// [`variable_axes`](Vmap::variable_axes) sets the collections that the module can access, and
/// whether each batch element has its own variables in them. [`split_rngs`](Vmap::split_rngs)
/// sets the RNG streams, and whether each batch element has its own keys. The default name of
/// the module is that of the class with the prefix `Vmap`.
///
/// ```no_run
/// use ramie_core::{Array, DType, random};
/// use ramie_nn::linen::{self, Dense, Module};
/// // Three models, each with its own input.
/// let models = linen::vmap(Dense::new(2)).variable_axes("params", 0).split_rngs("params", true);
/// let x = Array::ones(&[3, 4], DType::F32);
/// let variables = models.init(random::key(0), x);
/// assert_eq!(variables["params"]["kernel"].shape(), [3, 4, 2]);
/// ```
pub fn vmap<M>(module: M) -> Vmap<M> {
    Vmap {
        module,
        lifted: Lifted::default(),
        in_axes: 0.into(),
        out_axes: 0.into(),
        axis_size: None,
        axis_name: None,
        spmd_axis_name: None,
    }
}

impl<M> Vmap<M> {
    /// Adds collections that the module can access. With an axis, each batch element has its
    /// own variables; with `None`, all share them.
    #[must_use]
    pub fn variable_axes(
        mut self,
        collections: impl Into<CollectionFilter>,
        axis: impl Into<VariableAxis>,
    ) -> Self {
        self.lifted.axes.push((collections.into(), axis.into()));
        self
    }

    /// Adds RNG streams. If `split` is true, each batch element has its own keys.
    #[must_use]
    pub fn split_rngs(mut self, streams: impl Into<CollectionFilter>, split: bool) -> Self {
        self.lifted.rngs.push((streams.into(), split));
        self
    }

    setters! {
        /// Sets the batch axes of the arguments. Defaults to the first axis.
        in_axes: [Axes as into],
        /// Sets the batch axes of the results. Defaults to the first axis.
        out_axes: [Axes as into],
        /// Sets the number of batch elements. Required only if nothing has a batch axis.
        axis_size: [Option<usize>],
        /// Sets the name of the mapped axis, for collectives in the module. Defaults to none.
        axis_name: [Option<AxisName> as into],
        /// Sets the mesh axes over which the batch elements are sharded. Defaults to none.
        spmd_axis_name: [Option<AxisNames> as into],
    }

    /// Sets the name of the new axis in the shardings of variables (`metadata_params` of Flax).
    /// Defaults to none.
    #[must_use]
    pub fn partition_name(mut self, name: impl Into<AxisName>) -> Self {
        self.lifted.partition_name = Some(name.into());
        self
    }

    /// Returns the number of batch elements.
    #[track_caller]
    fn size<A: Tree>(&self, args: &A, axes: &[Option<isize>], variables: &Variables) -> usize {
        let mut examples = AxisCount {
            operation: "vmap",
            counts: "batch sizes",
            purpose: "map over",
            help: "set in_axes or variable_axes to None for arrays that all batch elements share",
            known: self.axis_size.map(|n| (n, "axis_size".to_owned())),
        };
        for ((array, axis), path) in tree::leaves(args).iter().zip(axes).zip(tree::paths(args)) {
            if let Some(axis) = axis {
                examples.see(format!("the argument `{path}`"), array, *axis);
            }
        }
        for (collection, state) in variables.iter() {
            let Some(Some(axis)) = self.lifted.input(collection) else {
                continue;
            };
            for (path, array) in state.iter() {
                let what = format!("the variable `{path}` of `{collection}`");
                examples.see(what, array, axis);
            }
        }
        match examples.known {
            Some((n, _)) => n,
            None => panic!(
                "linen::vmap: the number of batch elements is unknown, because no argument and \
                 no variable has a batch axis\n  help: set it: .axis_size(n)"
            ),
        }
    }
}

/// Returns the collection of a path in the tree of variables: its first component.
fn collection(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

impl<A: Tree, O: Tree, M: Module<A, O> + Send + Sync> Module<A, O> for Vmap<M> {
    #[track_caller]
    fn call(&self, scope: &mut Scope, args: A) -> O {
        let pack = Pack::of(scope, "vmap");
        let variables = pack.variables(&self.lifted.inputs());
        let of_args = self.in_axes.of("vmap", "in_axes", &args);
        let size = self.size(&args, &of_args, &variables);
        let variables = self.lifted.without_axis("vmap", variables);
        let streams = pack.streams(&self.lifted.streams());
        let streams = self.lifted.split_streams(&streams, size);
        let mutable = self.lifted.outputs();

        let arg_axes: HashMap<String, Option<isize>> =
            tree::paths(&args).into_iter().zip(of_args).collect();
        let lifted = self.lifted.clone();
        let in_axes = MapAxes::by_path(move |path| match path.split_once('.') {
            Some(("0", rest)) => lifted.input(collection(rest)).flatten(),
            Some(("1", rest)) => {
                let stream = rest.strip_prefix("keys.").unwrap_or(rest);
                lifted.splits(stream).then_some(0)
            }
            Some(("2", rest)) => arg_axes.get(rest).copied().flatten(),
            _ => arg_axes.get("").copied().flatten(),
        });
        let found: Arc<Mutex<HashMap<String, Option<isize>>>> = Arc::default();
        let (lifted, of_out) = (self.lifted.clone(), found.clone());
        let out_axes = MapAxes::by_path(move |path| match path.split_once('.') {
            Some(("1", rest)) => lifted.output(collection(rest)).flatten(),
            Some(("0", rest)) => lock(&of_out).get(rest).copied().flatten(),
            _ => lock(&of_out).get("").copied().flatten(),
        });
        let body = |variables: Variables, streams: Streams, args: A| {
            let call = |scope: &mut Scope| self.module.call(scope, args);
            let (out, changed) = pack.call(variables, streams, &mutable, call);
            let axes = self.out_axes.of("vmap", "out_axes", &out);
            lock(&found).extend(tree::paths(&out).into_iter().zip(axes));
            (out, changed)
        };
        let options = VmapOptions {
            in_axes,
            out_axes,
            axis_name: self.axis_name,
            spmd_axis_name: self.spmd_axis_name.clone(),
            axis_size: Some(size),
            sum_match: false,
        };
        let (out, changed): (O, Variables) = vmap_with(body, options)(variables, streams, args);
        pack.publish(scope, &self.lifted.with_axis("vmap", changed));
        out
    }

    fn class_name(&self) -> Cow<'static, str> {
        Cow::Owned(format!("Vmap{}", self.module.class_name()))
    }
}
