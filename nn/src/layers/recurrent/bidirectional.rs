//! `Bidirectional`: sequences from both ends.

use super::cell::{RNNCell, RNNCellConfig};
use super::rnn::{Carry, RNN, RNNConfig, RNNInput, RNNOptions, go};
use crate::linen::{self, Adopted};
use crate::nnx::observed;
use crate::{Forward, Module, RngStream};
use ramie_core::{Array, concatenate, random};
use std::borrow::Cow;

/// What makes one output of those of both directions.
pub type MergeFunction = fn(&Array, &Array) -> Array;

/// Two recurrent layers, one from the first element to the last, one back, and
/// their outputs side by side (`nnx.Bidirectional`, `nn.Bidirectional`).
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
    /// What goes forward.
    pub forward_rnn: RNN<F>,
    /// What goes back.
    pub backward_rnn: RNN<B>,
    /// Where the keys of first carries come from.
    pub rngs: Option<RngStream>,
    /// What makes one output of both.
    #[tree(fixed)]
    pub merge_fn: MergeFunction,
    /// Whether the axis of time is the first one.
    pub time_major: bool,
}

fn side_by_side(a: &Array, b: &Array) -> Array {
    concatenate(&[a, b], -1)
}

/// The input of each direction.
fn inputs<A, B>(input: RNNInput<(A, B)>) -> (RNNInput<A>, RNNInput<B>) {
    let (forward, backward) = match input.initial_carry {
        Some((a, b)) => (Some(a), Some(b)),
        None => (None, None),
    };
    let mut keys = input.init_key.map(|key| key.split(2).into_iter());
    let mut next_key = || keys.as_mut().and_then(Iterator::next);
    let forward = RNNInput {
        inputs: input.inputs.clone(),
        initial_carry: forward,
        seq_lengths: input.seq_lengths.clone(),
        init_key: next_key(),
    };
    let backward = RNNInput {
        inputs: input.inputs,
        initial_carry: backward,
        seq_lengths: input.seq_lengths,
        init_key: next_key(),
    };
    (forward, backward)
}

/// The ways of both directions.
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
    /// Both directions, their outputs side by side; keys of first carries come
    /// from a stream of seed 0.
    pub fn new(forward_rnn: RNN<F>, backward_rnn: RNN<B>) -> Bidirectional<F, B> {
        Bidirectional {
            forward_rnn,
            backward_rnn,
            rngs: Some(RngStream::new(random::key(0))),
            merge_fn: side_by_side,
            time_major: false,
        }
    }

    /// The merged outputs of all steps.
    ///
    /// # Panics
    /// If the input has too few axes, or does not fit the cells.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        observed!(mut self, |layer, x| layer.forward_with(RNNInput::new(x.clone())).1)
    }

    /// The last carries of both directions, and the merged outputs of all
    /// steps.
    ///
    /// # Panics
    /// As [`forward`](Bidirectional::forward), and if carries or lengths do not
    /// fit the input.
    #[track_caller]
    pub fn forward_with(
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

/// The hyperparameters of a [`Bidirectional`] in the way of Linen, its parts
/// `forward_rnn` and `backward_rnn`.
///
/// It is called with sequences, and gives outputs; or with an [`RNNInput`], and
/// gives the last carries too.
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

    /// Both directions, their outputs side by side.
    pub fn new(forward_rnn: RNNConfig<F>, backward_rnn: RNNConfig<B>) -> Self {
        BidirectionalConfig {
            forward_rnn,
            backward_rnn,
            merge_fn: side_by_side,
            time_major: false,
        }
    }

    /// What makes one output of both.
    #[must_use]
    pub fn merge_fn(mut self, merge_fn: MergeFunction) -> Self {
        self.merge_fn = merge_fn;
        self
    }

    /// Whether the axis of time is the first one.
    #[must_use]
    pub fn time_major(mut self, time_major: bool) -> Self {
        self.time_major = time_major;
        self
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

/// The first carries, or the last ones, of both directions.
type Carries<F, B> = (Carry<F>, Carry<B>);

impl<F, B> linen::Module<RNNInput<Carries<F, B>>, (Carries<F, B>, Array)>
    for BidirectionalConfig<F, B>
where
    F: RNNCellConfig,
    B: RNNCellConfig,
{
    fn call(
        &self,
        scope: &mut linen::Scope,
        input: RNNInput<Carries<F, B>>,
    ) -> (Carries<F, B>, Array) {
        self.go(scope, input)
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(Self::CLASS)
    }
    fn adopted(&self) -> Vec<Adopted> {
        self.parts()
    }
}

impl<F: RNNCellConfig, B: RNNCellConfig> linen::Module for BidirectionalConfig<F, B> {
    fn call(&self, scope: &mut linen::Scope, inputs: Array) -> Array {
        self.go(scope, inputs.into()).1
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(Self::CLASS)
    }
    fn adopted(&self) -> Vec<Adopted> {
        self.parts()
    }
}
