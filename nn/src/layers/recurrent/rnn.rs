//! `RNN`: a layer that runs a cell over sequences.

use super::cell::{RNNCell, RNNCellConfig};
use super::sequence::{expect_lengths, flip_sequences, last_carry};
use crate::layers::in_scope;
use crate::linen::{self, Adopted};
use crate::model::observed;
use crate::setters::setters;
use crate::{Forward, Module, RngStream};
use ramie_core::lax::scan_with;
use ramie_core::options::ScanOptions;
use ramie_core::random::{self, Key};
use ramie_core::{Array, tree};
use ramie_derive::Tree;
use std::borrow::Cow;

/// Options of an [`RNN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RNNOptions {
    /// Whether the time axis is the first one, instead of the one after the batch axes.
    /// Defaults to `false`.
    pub time_major: bool,
    /// Whether to run from the last element to the first. Defaults to `false`.
    pub reverse: bool,
    /// Whether the outputs of a reverse run are returned in the order of the inputs. Defaults
    /// to `false`.
    pub keep_order: bool,
    /// Number of steps unrolled in each iteration of the loop. Defaults to 1.
    pub unroll: usize,
}

impl Default for RNNOptions {
    fn default() -> Self {
        RNNOptions {
            time_major: false,
            reverse: false,
            keep_order: false,
            unroll: 1,
        }
    }
}

impl RNNOptions {
    /// Returns these options with those that a call replaces.
    fn in_call<C>(self, input: &RNNInput<C>) -> RNNOptions {
        RNNOptions {
            time_major: input.time_major.unwrap_or(self.time_major),
            reverse: input.reverse.unwrap_or(self.reverse),
            keep_order: input.keep_order.unwrap_or(self.keep_order),
            ..self
        }
    }

    /// Returns the options of the loop over the steps.
    fn scan(self) -> ScanOptions {
        ScanOptions {
            unroll: self.unroll,
            ..ScanOptions::default()
        }
    }
}

/// The arguments of an [`RNN`]: sequences and optional settings.
#[derive(Clone, Debug, Tree)]
pub struct RNNInput<C> {
    /// The sequences.
    pub inputs: Array,
    /// The initial carry. Defaults to the cell's initial carry.
    pub initial_carry: Option<C>,
    /// The length of each sequence, of the shape of the batch axes. Defaults to the size of the
    /// time axis. In a compiled function, a length that is negative or above the size of the time
    /// axis gives a carry of NaN.
    pub seq_lengths: Option<Array>,
    /// The RNG key of the initial carry. Defaults to a key from the layer's stream in NNX
    /// style, and to the key of seed 0 in Linen style.
    pub init_key: Option<Key>,
    /// Replaces [`RNNOptions::time_major`] in this call.
    #[tree(fixed)]
    pub time_major: Option<bool>,
    /// Replaces [`RNNOptions::reverse`] in this call. A [`Bidirectional`](crate::Bidirectional)
    /// ignores it.
    #[tree(fixed)]
    pub reverse: Option<bool>,
    /// Replaces [`RNNOptions::keep_order`] in this call. A [`Bidirectional`](crate::Bidirectional)
    /// ignores it.
    #[tree(fixed)]
    pub keep_order: Option<bool>,
}

impl<C> From<Array> for RNNInput<C> {
    fn from(inputs: Array) -> Self {
        RNNInput {
            inputs,
            initial_carry: None,
            seq_lengths: None,
            init_key: None,
            time_major: None,
            reverse: None,
            keep_order: None,
        }
    }
}

impl<C> RNNInput<C> {
    /// Creates the arguments for an array of sequences, with default settings.
    pub fn new(inputs: Array) -> RNNInput<C> {
        inputs.into()
    }

    setters! {
        /// Sets the initial carry.
        initial_carry: [Option<C>],
        /// Sets the length of each sequence.
        seq_lengths: [Option<Array>],
        /// Sets the RNG key of the initial carry.
        init_key: [Option<Key>],
        /// Sets whether the time axis is the first one in this call.
        time_major: [Option<bool>],
        /// Sets whether this call runs from the last element to the first.
        reverse: [Option<bool>],
        /// Sets whether the outputs of a reverse run are returned in the order of the inputs.
        keep_order: [Option<bool>],
    }

    /// Returns the arguments with which a Linen module returns the last carry and the outputs
    /// (`return_carry=True`).
    pub fn return_carry(self) -> ReturnCarry<C> {
        ReturnCarry(self)
    }
}

/// The arguments with which a Linen [`RNN`] or [`Bidirectional`](crate::Bidirectional) returns
/// the last carry and the outputs, instead of the outputs alone. [`RNNInput::return_carry`]
/// creates it.
#[derive(Clone, Debug, Tree)]
pub struct ReturnCarry<C>(pub RNNInput<C>);

/// A layer that runs a cell over sequences (`nnx.RNN`, `nn.RNN`): from inputs
/// `[batch.., time, features..]` to outputs with the same axes.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{GRUCell, RNN, RNNInput, Rngs};
/// let mut rnn = RNN::new(GRUCell::new(3, 8, &mut Rngs::new(0)));
/// let x = Array::zeros(&[2, 20, 3], DType::F32);
/// assert_eq!(rnn.forward(&x).shape(), [2, 20, 8]);
/// let lengths = Array::from([20, 12]);
/// let input = RNNInput::new(x).seq_lengths(lengths);
/// assert_eq!(rnn.forward_with(input.clone()).shape(), [2, 20, 8]);
/// let (carry, outputs) = rnn.forward_and_carry(input);
/// assert_eq!(carry.shape(), [2, 8]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct RNN<C> {
    /// The cell, which computes one step.
    pub cell: C,
    /// The source of the RNG keys for initial carries.
    pub rngs: Option<RngStream>,
    /// Options of the run over a sequence.
    #[tree(fixed)]
    pub options: RNNOptions,
}

impl<C: RNNCell> RNN<C> {
    /// Creates a layer from a cell. Keys for initial carries come from a stream with seed 0.
    pub fn new(cell: C) -> RNN<C> {
        RNN {
            cell,
            rngs: Some(RngStream::new(random::key(0))),
            options: RNNOptions::default(),
        }
    }

    /// Sets the options of the run over a sequence.
    #[must_use]
    pub fn options(mut self, options: RNNOptions) -> RNN<C> {
        self.options = options;
        self
    }

    /// Returns the outputs of all steps.
    ///
    /// # Panics
    /// Panics if the input has too few axes, or does not match the cell.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        observed!(mut self, |layer, x| layer.forward_with(RNNInput::new(x.clone())))
    }

    /// Like [`forward`](RNN::forward), for sequences with lengths, an initial carry or a key.
    ///
    /// # Panics
    /// Panics as [`forward`](RNN::forward) does, if the carry or the lengths do not match the
    /// input, or if a known length is negative or above the size of the time axis.
    #[track_caller]
    pub fn forward_with(&mut self, input: RNNInput<C::Carry>) -> Array {
        self.forward_and_carry(input).1
    }

    /// Returns the last carry and the outputs of all steps (`return_carry=True`). If the
    /// sequences have lengths, the carry is that after the last element of each sequence, and the
    /// initial carry for an empty one.
    ///
    /// # Panics
    /// Panics as [`forward_with`](RNN::forward_with) does.
    #[track_caller]
    pub fn forward_and_carry(&mut self, input: RNNInput<C::Carry>) -> (C::Carry, Array) {
        go(&self.cell, &self.options, input, &mut self.rngs)
    }
}

impl<C: RNNCell> Forward for RNN<C> {
    #[track_caller]
    fn forward(&mut self, x: &Array) -> Array {
        RNN::forward(self, x)
    }
}

/// Returns an initial carry. Its key is `key`, otherwise from the stream, otherwise from seed 0.
fn new_carry<C: RNNCell>(
    cell: &C,
    shape: &[usize],
    key: Option<Key>,
    stream: &mut Option<RngStream>,
) -> C::Carry {
    match (key, stream) {
        (Some(key), _) => cell.initialize_carry_from(shape, &key),
        (None, Some(stream)) => cell.initialize_carry(shape, stream),
        (None, None) => cell.initialize_carry_from(shape, &random::key(0)),
    }
}

/// Runs a cell over sequences.
#[track_caller]
pub(super) fn go<C: RNNCell>(
    cell: &C,
    options: &RNNOptions,
    input: RNNInput<C::Carry>,
    stream: &mut Option<RngStream>,
) -> (C::Carry, Array) {
    let options = options.in_call(&input);
    let RNNInput {
        inputs,
        initial_carry,
        seq_lengths,
        init_key,
        ..
    } = input;
    let features = cell.num_feature_axes();
    assert!(
        inputs.ndim() > features,
        "RNN: the input is {}, expected a time axis and {features} feature axes\n  help: put \
         batch axes first, then time, then features: [batch, time, features]",
        inputs.aval()
    );
    let batch_dims = inputs.ndim() - features - 1;
    let time = if options.time_major { 0 } else { batch_dims };
    let lengths = seq_lengths.as_ref();
    if let Some(lengths) = lengths {
        let mut batch = inputs.shape()[..=batch_dims].to_vec();
        batch.remove(time);
        expect_lengths(lengths, &batch, inputs.shape()[time], &inputs);
    }
    let flip = |x: &Array| flip_sequences(x, lengths, batch_dims, options.time_major);
    let xs = if options.reverse {
        flip(&inputs)
    } else {
        inputs
    };
    let xs = xs.move_axis(time as isize, 0);
    let carry =
        initial_carry.unwrap_or_else(|| new_carry(cell, &xs.shape()[1..], init_key, stream));
    let scan = options.scan();
    let (carry, outputs) = match lengths {
        None => scan_with(|carry, x: Array| cell.step(carry, &x), carry, xs, scan),
        Some(lengths) => {
            let step = |carry: C::Carry, x: Array| {
                let (carry, y) = cell.step(carry, &x);
                (carry.clone(), (carry, y))
            };
            // The last carry of an empty sequence is the initial one.
            let initial = tree::copy(&carry);
            let (_, (carries, outputs)) = scan_with(step, carry, xs, scan);
            (last_carry(&initial, &carries, lengths), outputs)
        }
    };
    let outputs = outputs.move_axis(0, time as isize);
    if options.reverse && options.keep_order {
        (carry, flip(&outputs))
    } else {
        (carry, outputs)
    }
}

/// Implements Linen's module for a layer of sequences: the argument is an array or an
/// [`RNNInput`], which return the outputs, or a [`ReturnCarry`], which returns carry and outputs.
macro_rules! linen_sequences {
    (
        ($($cell:ident),+) $config:ty, $carry:ty,
        |$this:ident, $scope:ident, $input:ident| $go:expr
    ) => {
        $crate::layers::recurrent::rnn::linen_sequences! {
            @($($cell),+) $config, Array => Array,
            |$this, $scope, inputs| { let $input = inputs.into(); $go.1 }
        }
        $crate::layers::recurrent::rnn::linen_sequences! {
            @($($cell),+) $config, RNNInput<$carry> => Array,
            |$this, $scope, input| { let $input = input; $go.1 }
        }
        $crate::layers::recurrent::rnn::linen_sequences! {
            @($($cell),+) $config, ReturnCarry<$carry> => ($carry, Array),
            |$this, $scope, input| { let $input = input.0; $go }
        }
    };
    (
        @($($cell:ident),+) $config:ty, $args:ty => $out:ty,
        |$this:ident, $scope:ident, $input:ident| $go:expr
    ) => {
        impl<$($cell: RNNCellConfig),+> linen::Module<$args, $out> for $config {
            #[track_caller]
            fn call(&self, $scope: &mut linen::Scope, $input: $args) -> $out {
                let $this = self;
                $go
            }
            fn class_name(&self) -> Cow<'static, str> {
                Cow::Borrowed(Self::CLASS)
            }
            fn adopted(&self) -> Vec<Adopted> {
                self.parts()
            }
        }
    };
}
pub(super) use linen_sequences;

/// Options of an [`RNN`] as a Linen module, with the cell as the submodule `cell`.
///
/// Its argument is an array of sequences or an [`RNNInput`], and it returns the outputs. With
/// [`RNNInput::return_carry`], it returns the last carry and the outputs.
///
/// ```no_run
/// use ramie_core::{Array, DType, random};
/// use ramie_nn::RNNInput;
/// use ramie_nn::linen::{GRUCell, Module, RNN};
/// let x = Array::zeros(&[2, 20, 3], DType::F32);
/// let rnn = RNN::new(GRUCell::new(8));
/// let variables = rnn.init(random::key(0), x.clone());
/// assert_eq!(variables["params"]["cell.hn.kernel"].shape(), [8, 8]);
/// let y = rnn.apply(&variables, x.clone());
/// assert_eq!(y.shape(), [2, 20, 8]);
/// let input = RNNInput::new(x).seq_lengths(Array::from([20, 12]));
/// let (carry, y) = rnn.apply(&variables, input.return_carry());
/// assert_eq!(carry.shape(), [2, 8]);
/// ```
#[derive(Clone, Debug)]
pub struct RNNConfig<K> {
    pub(super) cell: K,
    pub(super) options: RNNOptions,
}

impl<K: RNNCellConfig> RNNConfig<K> {
    /// Name of the Linen class.
    pub const CLASS: &'static str = "RNN";

    /// Creates the options of a module that runs a cell over sequences.
    pub fn new(cell: K) -> RNNConfig<K> {
        RNNConfig {
            cell,
            options: RNNOptions::default(),
        }
    }

    /// Sets the options of the run over a sequence.
    #[must_use]
    pub fn options(mut self, options: RNNOptions) -> RNNConfig<K> {
        self.options = options;
        self
    }

    #[track_caller]
    pub(super) fn go(
        &self,
        scope: &mut linen::Scope,
        options: &RNNOptions,
        input: RNNInput<Carry<K>>,
    ) -> (Carry<K>, Array) {
        let inputs = &input.inputs;
        let features = self.cell.num_feature_axes();
        let shape = inputs.shape()[inputs.ndim().saturating_sub(features)..].to_vec();
        in_scope!(
            scope,
            |vars| vars.child("cell", |vars| self.cell.cell(&shape, vars)),
            |cell| go(cell, options, input, &mut None),
        )
    }
}

/// The carry type of a cell, given the type of its options.
pub(super) type Carry<K> = <<K as RNNCellConfig>::Cell as RNNCell>::Carry;

impl<K: RNNCellConfig> RNNConfig<K> {
    fn parts(&self) -> Vec<Adopted> {
        vec![Adopted::new("cell", self.cell.class())]
    }
}

linen_sequences! {
    (K) RNNConfig<K>, Carry<K>, |this, scope, input| this.go(scope, &this.options, input)
}
