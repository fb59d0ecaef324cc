//! `Embed`: an embedding table.

use super::hyperparameters::{hyperparameters, linen_layer};
use super::promote::{Promotion, promote};
use crate::init::{self, Distribution, FanMode, Initializer};
use crate::layers::in_scope;
use crate::linen;
use crate::model::observed;
use crate::{Module, Param, PromoteDtypeFn, Rngs, VarSource};
use ramie_core::sharding::auto_axes;
use ramie_core::{Array, DType, PartitionSpec, where_};

/// An embedding table: maps the integers below `num_embeddings` to vectors (`nnx.Embed`,
/// `nn.Embed`).
///
/// [`attend`](Embed::attend) multiplies by the same table, to tie the input and output weights
/// of a language model.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::{Embed, Rngs};
/// let embed = Embed::new(1000, 64, &mut Rngs::new(0));
/// let tokens = Array::from([[3i32, 1, 4], [1, 5, 9]]);
/// let x = embed.forward(&tokens);
/// assert_eq!(x.shape(), [2, 3, 64]);
/// let logits = embed.attend(&x);
/// assert_eq!(logits.shape(), [2, 3, 1000]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Embed {
    /// The table, `[num_embeddings, features]`.
    pub embedding: Param,
    /// The dtype of the computation. Defaults to the dtype of the table.
    pub dtype: Option<DType>,
    /// A custom rule by which the input and the parameters are converted, if any.
    #[tree(fixed)]
    pub promote_dtype: Option<PromoteDtypeFn>,
}

hyperparameters! {
    /// Options of an [`Embed`] layer; also Linen's module `Embed`.
    EmbedConfig as "Embed" (num_embeddings: usize, features: usize) {
        /// Sets the dtype of the computation. Defaults to the dtype of the table.
        dtype: [Option<DType>] = None,
        /// Sets a custom rule by which the input and the parameters are converted before the
        /// computation. Defaults to none.
        promote_dtype: [Option<PromoteDtypeFn>] = None,
        /// Sets the dtype of the table. Defaults to `f32`.
        param_dtype: [DType] = DType::F32,
        /// Sets the initializer of the table. Defaults to a normal distribution of variance
        /// `1 / features`.
        embedding_init: [Initializer] =
            init::variance_scaling(1.0, FanMode::FanIn, Distribution::Normal).out_axes(&[0]),
    }
}

impl Embed {
    /// Creates a table of `num_embeddings` vectors of size `features`, drawn from a normal
    /// distribution of variance `1 / features`.
    #[track_caller]
    pub fn new(num_embeddings: usize, features: usize, rngs: &mut Rngs) -> Embed {
        Embed::features(num_embeddings, features).build(rngs)
    }

    /// Returns the options of a table of `num_embeddings` vectors of size `features`;
    /// [`build`](EmbedConfig::build) creates the layer.
    pub fn features(num_embeddings: usize, features: usize) -> EmbedConfig {
        EmbedConfig::new(num_embeddings, features)
    }

    /// Looks up the vectors of integers of any shape; the features are a new last axis.
    /// Negative integers count from the end.
    ///
    /// In a compiled function the values of the indices are unknown. There, an index outside
    /// the table gives NaN, as in Flax; `debug_nans(true)` and `checkify` report it.
    ///
    /// # Panics
    /// Panics if the input does not have an integer dtype, or if its values are known and one
    /// of them is outside the table.
    #[track_caller]
    pub fn forward(&self, indices: &Array) -> Array {
        observed!(self, |layer, indices| layer.compute(indices))
    }

    #[track_caller]
    fn compute(&self, indices: &Array) -> Array {
        let table = self.table(indices);
        if table.shape()[0] == 1 {
            let row = table.squeeze(&[0]);
            let mut inside = indices.eq(0);
            if indices.dtype().is_signed() {
                inside = inside.bitwise_or(indices.eq(-1));
            }
            let axes: Vec<isize> = (1..=row.ndim()).map(|axis| -(axis as isize)).collect();
            return where_(inside.expand_dims(&axes), row, f64::NAN);
        }
        table.take(indices, 0)
    }

    /// Like [`forward`](Embed::forward), with the result sharded by `out_sharding` over
    /// explicit axes of a mesh.
    ///
    /// # Panics
    /// Panics as `forward` does, or if `out_sharding` does not match the mesh or the shape.
    #[track_caller]
    pub fn forward_with(&self, indices: &Array, out_sharding: impl Into<PartitionSpec>) -> Array {
        let table = self.table(indices);
        let take = |table: Array, indices: Array| table.take(&indices, 0);
        auto_axes(take, [], out_sharding.into())(table, indices.clone())
    }

    /// Multiplies the query by the transposed table: the logits of a model whose output layer
    /// shares the weights of its embedding (Press and Wolf, 2017).
    ///
    /// Both uses read the same variable, so its gradient is the sum of both gradients.
    ///
    /// # Panics
    /// Panics if the last axis of the input does not have the size of the table's vectors.
    #[track_caller]
    pub fn attend(&self, query: &Array) -> Array {
        let [query, table] = self.queried(query);
        query.matmul(table.transpose(&[1, 0]))
    }

    /// Like [`attend`](Embed::attend), with the result sharded by `out_sharding` over explicit
    /// axes of a mesh.
    ///
    /// # Panics
    /// Panics as `attend` does, or if `out_sharding` does not match the mesh or the shape.
    #[track_caller]
    pub fn attend_with(&self, query: &Array, out_sharding: impl Into<PartitionSpec>) -> Array {
        let [query, table] = self.queried(query);
        query.matmul_with(table.transpose(&[1, 0]), out_sharding.into())
    }

    /// Returns the table in the dtype of the computation, and checks the indices.
    #[track_caller]
    fn table(&self, indices: &Array) -> Array {
        assert!(
            indices.dtype().is_integer(),
            "Embed: the input is {}, expected integers\n  help: pass indices into the table; \
             convert whole numbers with x.astype(DType::I32)",
            indices.aval()
        );
        let rows = self.embedding.shape()[0];
        let valid = -(rows as i128)..rows as i128;
        let mut ends = known_range(indices).into_iter().flatten();
        if let Some(index) = ends.find(|index| !valid.contains(index)) {
            panic!(
                "Embed: the index {index} is outside the table, which has {rows} rows\n  indices \
                 {}, table {}\n  help: pass indices from 0 to {}, or from -{rows} to count from \
                 the end; for more rows, create the layer with Embed::new({}, {}, rngs)",
                indices.aval(),
                self.embedding.aval(),
                rows as i128 - 1,
                (index + 1).max(-index),
                self.embedding.shape()[1]
            );
        }
        match (&self.promote_dtype, self.dtype) {
            (Some(_), _) => {
                let [table] = promote(self.promotion(), [&self.embedding]);
                table
            }
            (None, Some(dtype)) => self.embedding.astype(dtype),
            (None, None) => self.embedding.value().clone(),
        }
    }

    #[track_caller]
    fn queried(&self, query: &Array) -> [Array; 2] {
        let features = self.embedding.shape()[1];
        assert!(
            query.shape().last() == Some(&features),
            "Embed::attend: the input is {}, expected a last axis of {features}\n  table {}\n  \
             help: pass vectors with as many features as those of the table",
            query.aval(),
            self.embedding.aval()
        );
        promote(self.promotion(), [query, &self.embedding])
    }

    fn promotion(&self) -> Promotion<'_> {
        Promotion::new(self.dtype, &self.promote_dtype)
    }
}

/// Returns the smallest and the largest of the integers, so that a layer can reject invalid
/// indices.
///
/// Returns `None` if there are no integers or if their values are unknown: those of a traced
/// array, or of an array on the devices of several processes.
///
/// ```
/// use ramie_core::Array;
/// assert_eq!(ramie_nn::known_range(&Array::from([3, -1, 7])), Some([-1, 7]));
/// ```
pub fn known_range(indices: &Array) -> Option<[i128; 2]> {
    if indices.is_tracer() || indices.size() == 0 {
        return None;
    }
    let bytes = indices.try_to_bytes().ok()?;
    let width = bytes.len() / indices.size();
    let negative = |word: &[u8]| indices.dtype().is_signed() && word[width - 1] >> 7 == 1;
    let integers = bytes.chunks_exact(width).map(|word| {
        let start = if negative(word) { -1 } else { 0 };
        word.iter()
            .rev()
            .fold(start, |n: i128, byte| n << 8 | i128::from(*byte))
    });
    let (mut least, mut greatest) = (i128::MAX, i128::MIN);
    for index in integers {
        (least, greatest) = (least.min(index), greatest.max(index));
    }
    Some([least, greatest])
}

impl EmbedConfig {
    /// Builds the layer with its table from `Rngs` or a scope.
    ///
    /// If no dtype is set, a layer built from `Rngs` computes in the dtype of the table; in a
    /// scope, [`attend`](Embed::attend) computes in the dtype that the table and the query
    /// promote to.
    #[track_caller]
    pub fn build(&self, vars: &mut impl VarSource) -> Embed {
        let vars = &mut vars.vars();
        let shape = [self.num_embeddings, self.features];
        let dtype = if vars.in_scope() {
            self.dtype
        } else {
            Some(self.dtype.unwrap_or(self.param_dtype))
        };
        Embed {
            embedding: vars.param("embedding", &self.embedding_init, &shape, self.param_dtype),
            dtype,
            promote_dtype: self.promote_dtype.clone(),
        }
    }

    /// Calls [`Embed::attend`] in the scope of the module: the second method of a submodule
    /// created with [`Scope::setup`](linen::Scope::setup).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// use ramie_nn::linen::{Embed, Scope};
    /// fn logits(scope: &mut Scope, tokens: Array) -> Array {
    ///     let mut embed = scope.setup("embed", &Embed::new(1000, 64));
    ///     let x: Array = embed.call(tokens);
    ///     embed.with(|embed, scope| embed.attend(scope, &x))
    /// }
    /// ```
    #[track_caller]
    pub fn attend(&self, scope: &mut linen::Scope, query: &Array) -> Array {
        in_scope!(scope, |vars| self.build(vars), |layer| layer.attend(query))
    }
}

linen_layer!(EmbedConfig);
