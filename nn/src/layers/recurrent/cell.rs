//! `RNNCell`: one step of a recurrent network.

use crate::layers::LinearConfig;
use crate::{Initializer, Linear, Param, RngStream, Vars};
use ramie_core::random::Key;
use ramie_core::{Array, DType, Tree, concatenate};

/// A function of each element, such as a gate: `|x| x.sigmoid()`.
pub type CellFunction = fn(&Array) -> Array;

/// One step of a recurrent network (`RNNCellBase`): from the carry of the step
/// before and an input to the next carry and an output.
pub trait RNNCell: Tree {
    /// What a step gives the next one.
    type Carry: Tree + Clone;

    /// How many arrays of the carry are drawn with a key of their own.
    const CARRIES: usize = 1;

    /// One step.
    ///
    /// # Panics
    /// If the carry or the input do not fit the cell.
    #[track_caller]
    fn step(&self, carry: Self::Carry, x: &Array) -> (Self::Carry, Array);

    /// The first carry for inputs of a shape, each of its arrays drawn with a
    /// key that `next_key` gives.
    fn first_carry(&self, input_shape: &[usize], next_key: &mut dyn FnMut() -> Key) -> Self::Carry;

    /// How many axes an input has that are not of the batch: 1, or more with
    /// axes of space.
    fn num_feature_axes(&self) -> usize {
        1
    }

    /// The first carry for inputs of a shape, its keys from a stream.
    #[track_caller]
    fn initialize_carry(&self, input_shape: &[usize], stream: &mut RngStream) -> Self::Carry {
        self.first_carry(input_shape, &mut || stream.next_key())
    }

    /// The first carry for inputs of a shape from one key, as Linen draws it.
    #[track_caller]
    fn initialize_carry_from(&self, input_shape: &[usize], key: &Key) -> Self::Carry {
        let keys = match Self::CARRIES {
            1 => vec![key.clone()],
            n => key.split(n),
        };
        let mut keys = keys.into_iter();
        self.first_carry(input_shape, &mut || {
            keys.next().expect("a key for each of the cell's carries")
        })
    }
}

/// The hyperparameters of a cell, which is Linen's module.
pub trait RNNCellConfig: Clone + Send + Sync + 'static {
    /// The cell.
    type Cell: RNNCell;

    /// Name of the Linen class.
    fn class(&self) -> &'static str;

    /// The cell for inputs of a shape, its variables from `Rngs` or a scope.
    /// Where Linen and NNX name variables in different ways, the source
    /// decides.
    #[track_caller]
    fn cell(&self, input_shape: &[usize], vars: &mut Vars<'_>) -> Self::Cell;

    /// How many axes an input has that are not of the batch.
    fn num_feature_axes(&self) -> usize {
        1
    }
}

/// Implements Linen's module of a cell: from carry and input to carry and
/// output.
macro_rules! linen_cell {
    ($config:ident, $cell:ident, $carry:ty) => {
        impl $crate::linen::Module<($carry, Array), ($carry, Array)> for $config {
            fn call(
                &self,
                scope: &mut $crate::linen::Scope,
                (carry, x): ($carry, Array),
            ) -> ($carry, Array) {
                use $crate::layers::recurrent::{RNNCell, RNNCellConfig};
                $crate::linen::in_scope!(scope, |vars| self.cell(x.shape(), vars), |cell| cell
                    .step(carry, &x),)
            }
            fn class_name(&self) -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed($config::CLASS)
            }
        }
    };
}

/// The configuration of a cell with `features`, with hyperparameters that all of
/// these cells have, and the functions that make a cell.
macro_rules! cell_hyperparameters {
    (
        $(#[$doc:meta])*
        $name:ident of $cell:ident as $class:literal { $($own:tt)* }
    ) => {
        $crate::layers::hyperparameters::hyperparameters! {
            $(#[$doc])*
            $name as $class (features: usize) {
                $($own)*
                /// What is applied to the new value, `tanh` by default.
                activation_fn: [$crate::layers::recurrent::CellFunction] = |x| x.tanh(),
                /// How kernels of the input are drawn,
                /// [`lecun_normal`]($crate::init::lecun_normal) by default.
                kernel_init: [$crate::Initializer] = $crate::init::lecun_normal(),
                /// How kernels of the carry are drawn,
                /// [`orthogonal`]($crate::init::orthogonal) by default.
                recurrent_kernel_init: [$crate::Initializer] = $crate::init::orthogonal(1.0, -1),
                /// Sets the dtype of the computation. Defaults to the dtype that the input, the
                /// carry and the parameters promote to.
                dtype: [Option<ramie_core::DType>] = None,
                /// Sets the dtype of the parameters and the initial carry. Defaults to `f32`.
                param_dtype: [ramie_core::DType] = ramie_core::DType::F32,
                /// How the first carry is drawn, zeros by default.
                carry_init: [$crate::Initializer] = $crate::init::zeros(),
            }
        }

        impl $cell {
            /// A cell from `in_features` to `hidden_features`.
            #[track_caller]
            pub fn new(
                in_features: usize,
                hidden_features: usize,
                rngs: &mut $crate::Rngs,
            ) -> $cell {
                $cell::features(hidden_features).build(in_features, rngs)
            }

            /// The hyperparameters of a cell of so many features.
            pub fn features(hidden_features: usize) -> $name {
                $name::new(hidden_features)
            }
        }

        impl $name {
            /// The cell for inputs of `in_features`.
            #[track_caller]
            pub fn build<'a>(
                &self,
                in_features: usize,
                vars: impl Into<$crate::Vars<'a>>,
            ) -> $cell {
                use $crate::layers::recurrent::RNNCellConfig;
                self.cell(&[in_features], &mut vars.into())
            }

            /// Affine maps of the input, without a bias.
            fn of_input(&self) -> $crate::layers::recurrent::cell::Maps<'_> {
                $crate::layers::recurrent::cell::Maps {
                    features: self.features,
                    kernel: &self.kernel_init,
                    dtype: self.dtype,
                    param_dtype: self.param_dtype,
                }
            }

            /// Affine maps of the carry, without a bias.
            fn of_carry(&self) -> $crate::layers::recurrent::cell::Maps<'_> {
                $crate::layers::recurrent::cell::Maps {
                    kernel: &self.recurrent_kernel_init,
                    ..self.of_input()
                }
            }

            fn first(&self) -> $crate::layers::recurrent::cell::First {
                $crate::layers::recurrent::cell::First {
                    init: self.carry_init.clone(),
                    features: self.features,
                    dtype: self.param_dtype,
                }
            }
        }
    };
}

pub(super) use {cell_hyperparameters, linen_cell};

/// The shape of an array of the carry for inputs of a shape.
pub(super) fn carry_shape(input_shape: &[usize], features: usize) -> Vec<usize> {
    let mut shape = input_shape.to_vec();
    if let Some(last) = shape.last_mut() {
        *last = features;
    }
    shape
}

/// How first carries are made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct First {
    /// How they are drawn.
    pub init: Initializer,
    /// The size of their last axis.
    pub features: usize,
    /// Their element type.
    pub dtype: DType,
}

impl First {
    /// One array of the carry.
    #[track_caller]
    pub(super) fn draw(&self, input_shape: &[usize], next_key: &mut dyn FnMut() -> Key) -> Array {
        let shape = carry_shape(input_shape, self.features);
        self.init.draw(&next_key(), &shape, self.dtype)
    }

    /// Memory and output.
    #[track_caller]
    pub(super) fn draw_two(
        &self,
        input_shape: &[usize],
        next_key: &mut dyn FnMut() -> Key,
    ) -> (Array, Array) {
        let memory = self.draw(input_shape, next_key);
        (memory, self.draw(input_shape, next_key))
    }

    /// Checks the input of a cell with this map of it.
    #[track_caller]
    pub(super) fn expect_input(class: &str, x: &Array, map: &Linear) {
        let in_features = map.kernel.shape()[0];
        assert!(
            x.shape().last() == Some(&in_features),
            "{class}: the input of a step is {}, expected a last axis of {in_features}\n  kernel {}\n  \
             help: give the cell the features of its input: {class}::new({}, features, rngs)",
            x.aval(),
            map.kernel.aval(),
            x.shape().last().copied().unwrap_or(1)
        );
    }

    /// Checks an array of the carry.
    #[track_caller]
    pub(super) fn expect(&self, class: &str, carry: &Array, x: &Array) {
        let shape = carry_shape(x.shape(), self.features);
        assert!(
            carry.shape() == shape,
            "{class}: the carry is {}, expected shape {shape:?}\n  input {}, features {}\n  help: \
             start with cell.initialize_carry(x.shape(), &mut stream), or with a carry that has the \
             batch axes of the input and the features of the cell",
            carry.aval(),
            x.aval(),
            self.features,
        );
    }
}

/// How affine maps to the features of a cell are made.
#[derive(Clone, Copy)]
pub(super) struct Maps<'a> {
    pub features: usize,
    pub kernel: &'a Initializer,
    pub dtype: Option<DType>,
    pub param_dtype: DType,
}

impl Maps<'_> {
    fn config(&self, outputs: usize, bias: Option<&Initializer>) -> LinearConfig {
        let config = LinearConfig::new(outputs)
            .use_bias(bias.is_some())
            .kernel_init(self.kernel.clone())
            .param_dtype(self.param_dtype);
        let config = match self.dtype {
            Some(dtype) => config.dtype(dtype),
            None => config,
        };
        match bias {
            Some(bias) => config.bias_init(bias.clone()),
            None => config,
        }
    }

    /// One map, in a scope under a name.
    #[track_caller]
    pub fn one(
        &self,
        name: &str,
        inputs: usize,
        bias: Option<&Initializer>,
        vars: &mut Vars<'_>,
    ) -> Linear {
        let config = self.config(self.features, bias);
        vars.child(name, |vars| config.build(inputs, vars))
    }

    /// Several maps as one, side by side. NNX draws one kernel for all of
    /// them, Linen one for each under its own name; a map without a bias has
    /// zeros if another one has a bias.
    #[track_caller]
    pub fn side_by_side(
        &self,
        names: &[(&str, Option<&Initializer>)],
        inputs: usize,
        vars: &mut Vars<'_>,
    ) -> Linear {
        if !vars.in_scope() {
            let all = self.features * names.len();
            let mut biases: Vec<&Initializer> = names.iter().filter_map(|(_, b)| *b).collect();
            biases.dedup();
            return match (&biases[..], names.iter().all(|(_, b)| b.is_some())) {
                ([], _) => self.config(all, None).build(inputs, vars),
                ([one], true) => self.config(all, Some(one)).build(inputs, vars),
                _ => {
                    let mut map = self.config(all, None).build(inputs, &mut *vars);
                    let bias = |(_, init): &(&str, Option<&Initializer>)| match init {
                        Some(init) => vars.param("bias", init, &[self.features], self.param_dtype),
                        None => Param::new(Array::zeros(&[self.features], self.param_dtype)),
                    };
                    let biases: Vec<Param> = names.iter().map(bias).collect();
                    map.bias = Some(Param::new(joined(biases.iter())));
                    map
                }
            };
        }
        let maps: Vec<Linear> = names
            .iter()
            .map(|(name, bias)| self.one(name, inputs, *bias, vars))
            .collect();
        let biased = maps.iter().any(|map| map.bias.is_some());
        let zeros = Param::new(Array::zeros(&[self.features], self.param_dtype));
        let bias = |map: &Linear| map.bias.clone().unwrap_or_else(|| zeros.clone());
        let biases: Vec<Param> = maps.iter().map(bias).collect();
        Linear {
            kernel: Param::new(joined(maps.iter().map(|map| &map.kernel))),
            bias: biased.then(|| Param::new(joined(biases.iter()))),
            ..maps.into_iter().next().expect("a cell has maps")
        }
    }
}

fn joined<'a>(parts: impl Iterator<Item = &'a Param>) -> Array {
    let parts: Vec<Array> = parts.map(|part| part.value().clone()).collect();
    concatenate(&parts, -1)
}
