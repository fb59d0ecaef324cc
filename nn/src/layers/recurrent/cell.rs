//! `RNNCell`: one step of a recurrent network.

use crate::layers::LinearConfig;
use crate::{Initializer, Linear, Param, PromoteDtypeFn, RngStream, Rngs, VarSource, Vars};
use ramie_core::random::Key;
use ramie_core::{Array, DType, Tree, concatenate, eval_shape};

/// An elementwise function, such as a gate: `|x| x.sigmoid()`.
pub type CellFunction = fn(&Array) -> Array;

/// A recurrent cell (`RNNCellBase`), which computes one step: from the previous carry and an
/// input to the next carry and an output.
#[doc(alias = "RNNCellBase")]
pub trait RNNCell: Tree {
    /// The state passed from one step to the next.
    type Carry: Tree + Clone;

    /// Number of arrays of the carry that are drawn with separate keys.
    const CARRIES: usize = 1;

    /// Computes one step.
    ///
    /// # Panics
    /// Panics if the carry or the input does not match the cell.
    #[track_caller]
    fn step(&self, carry: Self::Carry, x: &Array) -> (Self::Carry, Array);

    /// Creates the initial carry for inputs of a shape. `next_key` returns a key for each of
    /// its arrays.
    fn first_carry(&self, input_shape: &[usize], next_key: &mut dyn FnMut() -> Key) -> Self::Carry;

    /// Returns the number of axes of an input that are not batch axes: 1, or more for cells
    /// with spatial axes.
    fn num_feature_axes(&self) -> usize {
        1
    }

    /// Creates the initial carry for inputs of a shape, with keys from a stream.
    #[track_caller]
    fn initialize_carry(&self, input_shape: &[usize], stream: &mut RngStream) -> Self::Carry {
        self.first_carry(input_shape, &mut || stream.next_key())
    }

    /// Creates the initial carry for inputs of a shape from one key, as Linen does.
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

/// Options of a cell; also its Linen module.
pub trait RNNCellConfig: Clone + Send + Sync + 'static {
    /// The type of the cell.
    type Cell: RNNCell;

    /// Returns the name of the Linen class.
    fn class(&self) -> &'static str;

    /// Builds the cell for inputs of a shape, with variables from `Rngs` or a scope. Where
    /// Linen and NNX name variables differently, the names are those of the source.
    #[track_caller]
    fn cell(&self, input_shape: &[usize], vars: &mut Vars<'_>) -> Self::Cell;

    /// Creates the initial carry for inputs of a shape from one key, as Linen does
    /// (`cell.initialize_carry`). Parameters are neither needed nor drawn.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType, random};
    /// use ramie_nn::linen::{GRUCell, Module};
    /// use ramie_nn::RNNCellConfig;
    /// let (cell, x) = (GRUCell::new(8), Array::zeros(&[2, 3], DType::F32));
    /// let carry = cell.initialize_carry(&random::key(0), x.shape());
    /// let variables = cell.init(random::key(1), (carry.clone(), x.clone()));
    /// let (carry, y) = cell.apply(&variables, (carry, x));
    /// assert_eq!(y.shape(), [2, 8]);
    /// ```
    #[track_caller]
    fn initialize_carry(&self, key: &Key, input_shape: &[usize]) -> <Self::Cell as RNNCell>::Carry {
        let make = |()| self.cell(input_shape, &mut Rngs::new(0).vars());
        let cell = eval_shape(make, ());
        cell.initialize_carry_from(input_shape, key)
    }

    /// Returns the number of axes of an input that are not batch axes.
    fn num_feature_axes(&self) -> usize {
        1
    }
}

/// Implements Linen's module for a cell: from carry and input to carry and output.
macro_rules! linen_cell {
    ($config:ident, $cell:ident, $carry:ty) => {
        impl $crate::linen::Module<($carry, Array), ($carry, Array)> for $config {
            #[track_caller]
            fn call(
                &self,
                scope: &mut $crate::linen::Scope,
                (carry, x): ($carry, Array),
            ) -> ($carry, Array) {
                use $crate::layers::recurrent::{RNNCell, RNNCellConfig};
                $crate::layers::in_scope!(scope, |vars| self.cell(x.shape(), vars), |cell| cell
                    .step(carry, &x),)
            }
            fn class_name(&self) -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed($config::CLASS)
            }
        }
    };
}

/// Defines the options of a cell with `features`: its own and those that all of these cells
/// have. Also defines the constructors of the cell.
macro_rules! cell_hyperparameters {
    (
        $(#[$doc:meta])*
        $name:ident of $cell:ident as $class:literal { $($own:tt)* }
        calls { $($calls:tt)* }
    ) => {
        $crate::layers::hyperparameters::hyperparameters! {
            $(#[$doc])*
            $name as $class (features: usize) {
                $($own)*
                /// Sets the initializer of the input kernels. Defaults to
                /// [`lecun_normal`]($crate::init::lecun_normal).
                kernel_init: [$crate::Initializer] = $crate::init::lecun_normal(),
                /// Sets the initializer of the recurrent kernels. Defaults to
                /// [`orthogonal`]($crate::init::orthogonal).
                recurrent_kernel_init: [$crate::Initializer] = $crate::init::orthogonal(1.0, -1),
                /// Sets the dtype of the computation. Defaults to the dtype that the input, the
                /// carry and the parameters promote to.
                dtype: [Option<ramie_core::DType>] = None,
                /// Sets a custom rule by which the maps of the cell convert their input and their
                /// parameters. Defaults to none.
                promote_dtype: [Option<$crate::PromoteDtypeFn>] = None,
            } calls {
                $($calls)*
                /// Sets the activation of the new value. Defaults to `tanh`.
                activation_fn: [$crate::layers::recurrent::CellFunction] = |x| x.tanh(),
                /// Sets the dtype of the parameters and the initial carry. Defaults to `f32`.
                param_dtype: [ramie_core::DType] = ramie_core::DType::F32,
                /// Sets the initializer of the initial carry. Defaults to zeros.
                carry_init: [$crate::Initializer] = $crate::init::zeros(),
            }
        }

        impl $cell {
            /// Creates a cell from `in_features` to `hidden_features`.
            #[track_caller]
            pub fn new(
                in_features: usize,
                hidden_features: usize,
                rngs: &mut $crate::Rngs,
            ) -> $cell {
                $cell::features(hidden_features).build(in_features, rngs)
            }

            /// Returns the options of a cell with `hidden_features` features.
            pub fn features(hidden_features: usize) -> $name {
                $name::new(hidden_features)
            }
        }

        impl $name {
            /// Builds the cell for inputs of `in_features`.
            #[track_caller]
            pub fn build(
                &self,
                in_features: usize,
                vars: &mut impl $crate::VarSource,
            ) -> $cell {
                use $crate::layers::recurrent::RNNCellConfig;
                self.cell(&[in_features], &mut vars.vars())
            }

            /// Returns the options of maps of the input, without a bias.
            fn of_input(&self) -> $crate::layers::recurrent::cell::Maps<'_> {
                $crate::layers::recurrent::cell::Maps {
                    features: self.features,
                    kernel: &self.kernel_init,
                    dtype: self.dtype,
                    promote_dtype: &self.promote_dtype,
                    param_dtype: self.param_dtype,
                }
            }

            /// Returns the options of maps of the carry, without a bias.
            fn of_carry(&self) -> $crate::layers::recurrent::cell::Maps<'_> {
                $crate::layers::recurrent::cell::Maps {
                    kernel: &self.recurrent_kernel_init,
                    ..self.of_input()
                }
            }

            /// Draws one array of the carry.
            #[track_caller]
            fn carry(
                &self,
                input_shape: &[usize],
                next_key: &mut dyn FnMut() -> ramie_core::random::Key,
            ) -> ramie_core::Array {
                let shape =
                    $crate::layers::recurrent::cell::carry_shape(input_shape, self.features);
                self.carry_init.draw(&next_key(), &shape, self.param_dtype)
            }

            /// Checks the input of a step against the map of the input, and the carry.
            #[track_caller]
            fn expect(
                &self,
                x: &ramie_core::Array,
                map: &$crate::Linear,
                carry: &[&ramie_core::Array],
            ) {
                let (class, features) = (Self::CLASS, self.features);
                $crate::layers::recurrent::cell::expect_step(class, features, x, map, carry);
            }
        }
    };
}

pub(super) use {cell_hyperparameters, linen_cell};

/// Returns the shape of an array of the carry, for inputs of a shape.
pub(super) fn carry_shape(input_shape: &[usize], features: usize) -> Vec<usize> {
    let mut shape = input_shape.to_vec();
    if let Some(last) = shape.last_mut() {
        *last = features;
    }
    shape
}

/// Checks the input of a step against the map of the input, and the carry against both.
#[track_caller]
pub(super) fn expect_step(class: &str, features: usize, x: &Array, map: &Linear, carry: &[&Array]) {
    let in_features = map.kernel.shape()[0];
    assert!(
        x.shape().last() == Some(&in_features),
        "{class}: the input of a step is {}, expected a last axis of {in_features}\n  kernel \
         {}\n  help: create the cell with the number of features of its input: \
         {class}::new({}, features, rngs)",
        x.aval(),
        map.kernel.aval(),
        x.shape().last().copied().unwrap_or(1)
    );
    let shape = carry_shape(x.shape(), features);
    for carry in carry {
        assert!(
            carry.shape() == shape,
            "{class}: the carry is {}, expected shape {shape:?}\n  input {}, features \
             {features}\n  help: start with cell.initialize_carry(x.shape(), &mut stream), or with \
             a carry that has the batch axes of the input and the features of the cell",
            carry.aval(),
            x.aval(),
        );
    }
}

/// Options of the affine maps of a cell.
#[derive(Clone, Copy)]
pub(super) struct Maps<'a> {
    pub features: usize,
    pub kernel: &'a Initializer,
    pub dtype: Option<DType>,
    pub promote_dtype: &'a Option<PromoteDtypeFn>,
    pub param_dtype: DType,
}

impl Maps<'_> {
    fn config(&self, outputs: usize, bias: Option<&Initializer>) -> LinearConfig {
        let config = LinearConfig::new(outputs)
            .use_bias(bias.is_some())
            .kernel_init(self.kernel.clone())
            .dtype(self.dtype)
            .promote_dtype(self.promote_dtype.clone())
            .param_dtype(self.param_dtype);
        match bias {
            Some(bias) => config.bias_init(bias.clone()),
            None => config,
        }
    }

    /// Builds one map; in a scope, under a name.
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

    /// Builds several maps as one concatenated map. NNX draws one kernel for all of them; Linen
    /// draws one for each, under its own name. If some maps have a bias, those without one get
    /// zeros.
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
                    let mut map = self.config(all, None).build(inputs, vars);
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
