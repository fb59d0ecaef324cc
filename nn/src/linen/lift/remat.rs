//! `remat` for modules: rematerialization in the backward pass.

use super::pack::Pack;
use super::{Axes, VariableAxis, scan};
use crate::linen::{CollectionFilter, Module, Scope, Streams, Variables};
use crate::setters::setters;
use ramie_core::options::CheckpointOptions;
use ramie_core::{CheckpointPolicy, Tree, checkpoint_with};
use std::borrow::Cow;

/// A module whose intermediate values are recomputed in the backward pass. [`remat`] creates
/// it.
#[derive(Clone)]
pub struct Remat<M> {
    module: M,
    options: CheckpointOptions,
    variables: CollectionFilter,
    rngs: CollectionFilter,
}

/// Recomputes the intermediate values of a module in the backward pass, instead of storing
/// them; only the arguments are stored (`flax.linen.remat`, `flax.linen.checkpoint`). The
/// default name is that of the class with the prefix `Checkpoint`.
///
/// ```no_run
/// use ramie_core::{Array, CheckpointPolicy};
/// use ramie_nn::linen::{self, Dense, Scope};
/// # fn f(scope: &mut Scope, x: Array) -> Array {
/// let x = scope.child(&linen::remat(Dense::new(8)), x);
/// scope.child(&linen::remat(Dense::new(8)).policy(CheckpointPolicy::everything_saveable()), x)
/// # }
/// ```
pub fn remat<M>(module: M) -> Remat<M> {
    Remat {
        module,
        options: CheckpointOptions::default(),
        variables: CollectionFilter::All,
        rngs: CollectionFilter::All,
    }
}

impl<M> Remat<M> {
    /// Sets the policy that selects values to store. Defaults to none.
    #[must_use]
    pub fn policy(mut self, policy: CheckpointPolicy) -> Self {
        self.options.policy = Some(policy);
        self
    }

    /// Sets whether to prevent the compiler from merging the recomputation with the first
    /// computation. Not needed inside a scan.
    #[must_use]
    pub fn prevent_cse(mut self, prevent: bool) -> Self {
        self.options.prevent_cse = prevent;
        self
    }

    setters! {
        /// Sets the collections that the module can access. Defaults to all.
        variables: [CollectionFilter as into],
        /// Sets the RNG streams that the module can access. Defaults to all.
        rngs: [CollectionFilter as into],
    }
}

impl<A: Tree, O: Tree, M: Module<A, O> + Send + Sync> Module<A, O> for Remat<M> {
    #[track_caller]
    fn call(&self, scope: &mut Scope, args: A) -> O {
        let pack = Pack::of(scope, "remat");
        let body = |variables: Variables, streams: Streams, args: A| {
            let call = |scope: &mut Scope| self.module.call(scope, args);
            pack.call(variables, streams, &self.variables, call)
        };
        let again = checkpoint_with(body, self.options.clone());
        let variables = pack.variables(&self.variables);
        let (out, changed) = again(variables, pack.streams(&self.rngs), args);
        // It borrows the pack, which `publish` consumes.
        drop(again);
        pack.publish(scope, &changed);
        out
    }

    fn class_name(&self) -> Cow<'static, str> {
        Cow::Owned(format!("Checkpoint{}", self.module.class_name()))
    }
}

/// A module that is applied many times with little memory. [`remat_scan`] creates it.
#[derive(Clone)]
pub struct RematScan<M> {
    module: M,
    lengths: Vec<usize>,
    policy: Option<CheckpointPolicy>,
    variable_broadcast: CollectionFilter,
    variable_carry: CollectionFilter,
    axes: Vec<(CollectionFilter, VariableAxis)>,
    rngs: Vec<(CollectionFilter, bool)>,
}

/// Applies a module to its own output, as often as the product of `lengths`, in nested loops
/// with recomputation (`flax.linen.remat_scan`). With `n` layers in two loops, about `sqrt(n)`
/// layers store values for the backward pass. Each layer has its own variables and keys.
///
/// ```no_run
/// use ramie_core::{Array, DType, random};
/// use ramie_nn::linen::{self, Dense, Module};
/// let deep = linen::remat_scan(Dense::new(8), &[10, 10]);
/// let variables = deep.init(random::key(0), Array::ones(&[2, 8], DType::F32));
/// assert_eq!(variables["params"]["kernel"].shape(), [10, 10, 8, 8]);
/// ```
pub fn remat_scan<M>(module: M, lengths: &[usize]) -> RematScan<M> {
    RematScan {
        module,
        lengths: lengths.to_vec(),
        policy: None,
        variable_broadcast: CollectionFilter::None,
        variable_carry: CollectionFilter::None,
        axes: vec![(CollectionFilter::All, 0.into())],
        rngs: vec![(CollectionFilter::All, true)],
    }
}

impl<M> RematScan<M> {
    setters! {
        /// Sets the policy that selects values to store. Defaults to none.
        policy: [Option<CheckpointPolicy>],
        /// Sets the collections whose variables all layers share. Defaults to none.
        variable_broadcast: [CollectionFilter as into],
        /// Sets the collections whose variables are carried from layer to layer. Defaults to none.
        variable_carry: [CollectionFilter as into],
    }

    /// Sets the collections of which each layer has its own variables, with their stacking
    /// axes. Defaults to all collections, at axis 0.
    #[must_use]
    pub fn variable_axes<const N: usize>(mut self, axes: [(&str, isize); N]) -> Self {
        self.axes = axes.map(|(name, axis)| (name.into(), axis.into())).to_vec();
        self
    }

    /// Sets the RNG streams, and whether each layer has its own keys. Defaults to all streams,
    /// split.
    #[must_use]
    pub fn split_rngs<const N: usize>(mut self, streams: [(&str, bool); N]) -> Self {
        self.rngs = streams.map(|(name, split)| (name.into(), split)).to_vec();
        self
    }
}

/// One level of the nested loops.
struct Level<'a, M> {
    whole: &'a RematScan<M>,
    lengths: &'a [usize],
}

impl<C: Tree, M: Module<C, C> + Send + Sync> Module<(C, ()), (C, ())> for Level<'_, M> {
    #[track_caller]
    fn call(&self, scope: &mut Scope, (carry, ()): (C, ())) -> (C, ()) {
        let whole = self.whole;
        // This is the body of the loop over the first length, so the loops within it have the
        // others.
        let [_, inner @ ..] = self.lengths else {
            return (whole.module.call(scope, carry), ());
        };
        let next = Level {
            whole,
            lengths: inner,
        };
        let body = super::method(|scope: &mut Scope, carry: C| next.looped(scope, carry));
        // One step of this loop stores its input only; the inner loops run again in its backward
        // pass. Within a loop the compiler cannot merge both computations, so a barrier is not
        // needed.
        let mut again = remat(body).prevent_cse(false);
        again.options.policy = whole.policy.clone();
        (again.call(scope, carry), ())
    }
}

/// The innermost body, which is not rematerialized separately.
struct Body<'a, M>(&'a M);

impl<C: Tree, M: Module<C, C>> Module<(C, ()), (C, ())> for Body<'_, M> {
    #[track_caller]
    fn call(&self, scope: &mut Scope, (carry, ()): (C, ())) -> (C, ()) {
        (self.0.call(scope, carry), ())
    }
}

impl<M> Level<'_, M> {
    fn looped<C: Tree>(&self, scope: &mut Scope, carry: C) -> C
    where
        M: Module<C, C> + Send + Sync,
    {
        match self.lengths {
            // The innermost loop repeats the module itself: while an outer step is recomputed, it
            // stores the values of its `last` layers.
            [last] => {
                self.scanned(Body(&self.whole.module), *last)
                    .call(scope, (carry, ()))
                    .0
            }
            [first, ..] => {
                self.scanned(
                    Level {
                        whole: self.whole,
                        lengths: self.lengths,
                    },
                    *first,
                )
                .call(scope, (carry, ()))
                .0
            }
            [] => self.whole.module.call(scope, carry),
        }
    }

    fn scanned<B>(&self, body: B, length: usize) -> scan::Scan<B> {
        let whole = self.whole;
        let mut looped = scan::scan(body)
            .variable_broadcast(whole.variable_broadcast.clone())
            .variable_carry(whole.variable_carry.clone())
            .in_axes(Axes::from(0))
            .length(length);
        for (filter, axis) in &whole.axes {
            looped = looped.variable_axes(filter.clone(), *axis);
        }
        for (filter, split) in &whole.rngs {
            looped = looped.split_rngs(filter.clone(), *split);
        }
        looped
    }
}

impl<C: Tree, M: Module<C, C> + Send + Sync> Module<C, C> for RematScan<M> {
    #[track_caller]
    fn call(&self, scope: &mut Scope, carry: C) -> C {
        let outermost = Level {
            whole: self,
            lengths: &self.lengths,
        };
        outermost.looped(scope, carry)
    }

    fn class_name(&self) -> Cow<'static, str> {
        Cow::Owned(format!("Remat_scan{}", self.module.class_name()))
    }
}
