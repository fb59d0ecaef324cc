//! `Bidirectional`: a pair of recurrent layers, forward and backward.

use super::cell::{RNNCell, RNNCellConfig};
use super::rnn::{Carry, RNN, RNNConfig, RNNInput, RNNOptions, ReturnCarry, go, linen_sequences};
use crate::linen::{self, Adopted};
use crate::model::observed;
use crate::setters::setters;
use crate::{Forward, Module, RngStream};
use ramie_core::{Array, concatenate, random};
use std::borrow::Cow;

/// A function that merges the outputs of the forward and backward layers.
pub type MergeFunction = fn(&Array, &Array) -> Array;

/// A pair of recurrent layers, one forward and one backward in time, whose outputs are merged
/// (`nnx.Bidirectional`, `nn.Bidirectional`).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Bidirectional, GRUCell, RNN, Rngs};
/// let rngs = &mut Rngs::new(0);
/// let forward = RNN::new(GRUCell::new(3, 8, rngs));
/// let backward = RNN::new(GRUCell::new(3, 8, rngs));
/// let mut both = Bidirectional::new(forward, backward);
/// let x = Array::zeros(&[2, 20, 3], DType::F32);
/// assert_eq!(both.forward(&x).shape(), [2, 20, 16]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Bidirectional<F, B> {
    /// The forward layer.
    pub forward_rnn: RNN<F>,
    /// The backward layer.
    pub backward_rnn: RNN<B>,
    /// The source of the RNG keys for initial carries.
    pub rngs: Option<RngStream>,
    /// The function that merges both outputs. Defaults to concatenation along the last axis.
    #[tree(fixed)]
    pub merge_fn: MergeFunction,
    /// Whether the time axis is the first one. Defaults to `false`.
    pub time_major: bool,
}

fn side_by_side(a: &Array, b: &Array) -> Array {
    concatenate(&[a, b], -1)
}

/// Returns the input of each direction.
fn inputs<A, B>(input: RNNInput<(A, B)>) -> (RNNInput<A>, RNNInput<B>) {
    let (forward, backward) = match input.initial_carry {
        Some((a, b)) => (Some(a), Some(b)),
        None => (None, None),
    };
    let mut keys = input.init_key.map(|key| key.split(2).into_iter());
    let mut next_key = || keys.as_mut().and_then(Iterator::next);
    let forward = RNNInput {
        initial_carry: forward,
        seq_lengths: input.seq_lengths.clone(),
        init_key: next_key(),
        time_major: input.time_major,
        ..RNNInput::new(input.inputs.clone())
    };
    let backward = RNNInput {
        initial_carry: backward,
        seq_lengths: input.seq_lengths,
        init_key: next_key(),
        time_major: input.time_major,
        ..RNNInput::new(input.inputs)
    };
    (forward, backward)
}

/// Returns the options of each direction.
fn ways(time_major: bool, forward: RNNOptions, backward: RNNOptions) -> (RNNOptions, RNNOptions) {
    let forward = RNNOptions {
        time_major,
        reverse: false,
        ..forward
    };
    let backward = RNNOptions {
        time_major,
        reverse: true,
        keep_order: true,
        ..backward
    };
    (forward, backward)
}

impl<F: RNNCell, B: RNNCell> Bidirectional<F, B> {
    /// Creates a bidirectional layer that concatenates the outputs of both directions. Keys for
    /// initial carries come from a stream with seed 0.
    pub fn new(forward_rnn: RNN<F>, backward_rnn: RNN<B>) -> Bidirectional<F, B> {
        Bidirectional {
            forward_rnn,
            backward_rnn,
            rngs: Some(RngStream::new(random::key(0))),
            merge_fn: side_by_side,
            time_major: false,
        }
    }

    /// Returns the merged outputs of all steps.
    ///
    /// # Panics
    /// Panics if the input has too few axes, or does not match the cells.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        observed!(mut self, |layer, x| layer.forward_with(RNNInput::new(x.clone())))
    }

    /// Like [`forward`](Bidirectional::forward), for sequences with lengths, initial carries or
    /// a key.
    ///
    /// # Panics
    /// Panics as [`forward`](Bidirectional::forward) does, and if the carries or lengths do not
    /// match the input.
    #[track_caller]
    pub fn forward_with(&mut self, input: RNNInput<(F::Carry, B::Carry)>) -> Array {
        self.forward_and_carry(input).1
    }

    /// Returns the last carries of both directions and the merged outputs of all steps
    /// (`return_carry=True`).
    ///
    /// # Panics
    /// Panics as [`forward_with`](Bidirectional::forward_with) does.
    #[track_caller]
    pub fn forward_and_carry(
        &mut self,
        input: RNNInput<(F::Carry, B::Carry)>,
    ) -> ((F::Carry, B::Carry), Array) {
        let (first, second) = inputs(input);
        let (forward, backward) = (&self.forward_rnn, &self.backward_rnn);
        let (way, back) = ways(self.time_major, forward.options, backward.options);
        let (carry, a) = go(&forward.cell, &way, first, &mut self.rngs);
        let (back_carry, b) = go(&backward.cell, &back, second, &mut self.rngs);
        ((carry, back_carry), (self.merge_fn)(&a, &b))
    }
}

impl<F: RNNCell, B: RNNCell> Forward for Bidirectional<F, B> {
    #[track_caller]
    fn forward(&mut self, x: &Array) -> Array {
        Bidirectional::forward(self, x)
    }
}

/// Options of a [`Bidirectional`] as a Linen module, with the submodules `forward_rnn` and
/// `backward_rnn`.
///
/// Its argument is an array of sequences or an [`RNNInput`], and it returns the outputs. With
/// [`RNNInput::return_carry`], it returns the last carries and the outputs.
#[derive(Clone, Debug)]
pub struct BidirectionalConfig<F, B> {
    forward_rnn: RNNConfig<F>,
    backward_rnn: RNNConfig<B>,
    merge_fn: MergeFunction,
    time_major: bool,
}

impl<F: RNNCellConfig, B: RNNCellConfig> BidirectionalConfig<F, B> {
    /// Name of the Linen class.
    pub const CLASS: &'static str = "Bidirectional";

    /// Creates the options of a module that concatenates the outputs of both directions.
    pub fn new(forward_rnn: RNNConfig<F>, backward_rnn: RNNConfig<B>) -> Self {
        BidirectionalConfig {
            forward_rnn,
            backward_rnn,
            merge_fn: side_by_side,
            time_major: false,
        }
    }

    setters! {
        /// Sets the function that merges both outputs. Defaults to concatenation along the last
        /// axis.
        merge_fn: [MergeFunction],
        /// Sets whether the time axis is the first one. Defaults to `false`.
        time_major: [bool],
    }

    #[track_caller]
    fn go(
        &self,
        scope: &mut linen::Scope,
        input: RNNInput<(Carry<F>, Carry<B>)>,
    ) -> ((Carry<F>, Carry<B>), Array) {
        let (first, second) = inputs(input);
        let (forward, backward) = (&self.forward_rnn, &self.backward_rnn);
        let (way, back) = ways(self.time_major, forward.options, backward.options);
        let (carry, a) = forward.go(&mut scope.enter("forward_rnn"), &way, first);
        let (back_carry, b) = backward.go(&mut scope.enter("backward_rnn"), &back, second);
        ((carry, back_carry), (self.merge_fn)(&a, &b))
    }

    fn parts(&self) -> Vec<Adopted> {
        let rnn = |name, cell: &'static str| {
            Adopted::new(name, "RNN").with_parts(vec![Adopted::new("cell", cell)])
        };
        vec![
            rnn("forward_rnn", self.forward_rnn.cell.class()),
            rnn("backward_rnn", self.backward_rnn.cell.class()),
        ]
    }
}

/// The initial or last carries of both directions.
type Carries<F, B> = (Carry<F>, Carry<B>);

linen_sequences! {
    (F, B) BidirectionalConfig<F, B>, Carries<F, B>, |this, scope, input| this.go(scope, input)
}
