//! `map_variables`: transforms the variables that a module accesses.

use super::axes::Lifted;
use super::pack::Pack;
use crate::linen::{CollectionFilter, Module, Scope, Variables};
use crate::setters::setters;
use ramie_core::sharding::AxisName;
use ramie_core::{Tree, tree};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

type Change = Arc<dyn Fn(Variables) -> Variables + Send + Sync>;

/// A module that accesses transformed variables. [`map_variables`] creates it.
#[derive(Clone)]
pub struct MapVariables<M> {
    module: M,
    mapped: CollectionFilter,
    change_in: Change,
    change_out: Change,
    initialized: bool,
    mutable: bool,
    rngs: CollectionFilter,
    variables: CollectionFilter,
}

impl<M: fmt::Debug> fmt::Debug for MapVariables<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("MapVariables");
        out.field("module", &self.module)
            .field("mapped", &self.mapped);
        out.finish_non_exhaustive()
    }
}

/// Transforms the variables of some collections before a module accesses them
/// (`flax.linen.map_variables`), for example to tie, normalize or quantize kernels. The
/// variables have their paths relative to the module. The default name is that of the class
/// with the prefix `Map_variables`.
///
/// By default the module can neither change nor create these variables; see
/// [`initialized`](MapVariables::initialized) and [`mutable`](MapVariables::mutable).
///
/// ```no_run
/// use ramie_core::{Array, DType, random};
/// use ramie_nn::linen::{self, Dense, Module};
/// // A layer that computes with the signs of its parameters.
/// let signs = linen::map_variables(Dense::new(3), "params", |mut variables| {
///     let params = variables.params().map(|a| a.sign());
///     variables.set("params", params);
///     variables
/// });
/// let signs = signs.initialized();
/// let variables = signs.init(random::key(0), Array::ones(&[2, 4], DType::F32));
/// ```
pub fn map_variables<M>(
    module: M,
    mapped: impl Into<CollectionFilter>,
    change_in: impl Fn(Variables) -> Variables + Send + Sync + 'static,
) -> MapVariables<M> {
    MapVariables {
        module,
        mapped: mapped.into(),
        change_in: Arc::new(change_in),
        change_out: Arc::new(|variables| variables),
        initialized: false,
        mutable: false,
        rngs: CollectionFilter::All,
        variables: CollectionFilter::All,
    }
}

impl<M> MapVariables<M> {
    /// Sets the transformation of variables that the module created or changed, before they are
    /// stored. Defaults to the identity.
    #[must_use]
    pub fn change_out(
        mut self,
        change: impl Fn(Variables) -> Variables + Send + Sync + 'static,
    ) -> Self {
        self.change_out = Arc::new(change);
        self
    }

    setters! {
        /// Initializes the variables by a first call of the module, before they are transformed.
        initialized: [true],
        /// Allows the module to change and create the transformed variables.
        mutable: [true],
        /// Sets the RNG streams that the module can access. Defaults to all.
        rngs: [CollectionFilter as into],
        /// Sets the other collections that the module can access. Defaults to all.
        variables: [CollectionFilter as into],
    }
}

impl<A: Tree, O: Tree, M: Module<A, O>> Module<A, O> for MapVariables<M> {
    #[track_caller]
    fn call(&self, scope: &mut Scope, args: A) -> O {
        let pack = Pack::of(scope, "map_variables");
        let mut mapped = pack.variables(&self.mapped);
        let others = pack.variables(&self.mapped.not().and(&self.variables));
        let streams = pack.streams(&self.rngs);
        let comes_out = self.initialized || self.mutable;
        let all = self.mapped.or(&self.variables);
        if self.initialized && *pack.mutable() != CollectionFilter::None {
            let variables = mapped.clone().joined_with(others.clone());
            let args = tree::copy(&args);
            let call = |scope: &mut Scope| self.module.call(scope, args);
            let (_, made) = pack.call(variables, streams.clone(), &all, call);
            let (made, _) = made.split(&self.mapped);
            mapped = mapped.joined_with((self.change_out)(made));
        }
        let seen = (self.change_in)(mapped);
        let mutable = if comes_out {
            all
        } else {
            all.and(&self.mapped.not())
        };
        let variables = others.joined_with(seen);
        let call = |scope: &mut Scope| self.module.call(scope, args);
        let (out, changed) = pack.call(variables, streams, &mutable, call);
        let (kept, rest) = changed.split(&self.mapped);
        let changed = if comes_out {
            rest.joined_with((self.change_out)(kept))
        } else {
            rest
        };
        pack.publish(scope, &changed);
        out
    }

    fn class_name(&self) -> Cow<'static, str> {
        Cow::Owned(format!("Map_variables{}", self.module.class_name()))
    }
}

/// Adds an axis to the shardings of a module's variables in some collections
/// (`flax.linen.add_metadata_axis`); the module itself sees them without it. Use it for
/// hand-written loops or maps over layers.
///
/// ```no_run
/// use ramie_nn::linen::{self, Dense};
/// let layer = linen::add_metadata_axis(Dense::new(8), "params", 0, "layers");
/// ```
pub fn add_metadata_axis<M>(
    module: M,
    collections: impl Into<CollectionFilter>,
    axis: isize,
    partition_name: impl Into<AxisName>,
) -> MapVariables<M> {
    const NAME: &str = "add_metadata_axis";
    let collections = collections.into();
    let lifted = Lifted {
        axes: vec![(collections.clone(), axis.into())],
        rngs: Vec::new(),
        partition_name: Some(partition_name.into()),
    };
    let outwards = lifted.clone();
    map_variables(module, collections, move |v| lifted.without_axis(NAME, v))
        .change_out(move |v| outwards.with_axis(NAME, v))
        .mutable()
}
