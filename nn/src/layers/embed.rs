//! `Embed`: a table of vectors.

use super::hyperparameters::{hyperparameters, linen_layer};
use super::promote::promote;
use crate::init::{self, Distribution, FanMode, Initializer};
use crate::linen;
use crate::nnx::observed;
use crate::{Module, Param, Rngs, Vars};
use ramie_core::{Array, DType, PartitionSpec, auto_axes};

/// A table of vectors, one for each of the first integers (`nnx.Embed`,
/// `nn.Embed`).
///
/// The same table may say how well vectors fit the integers, which ties the
/// weights of a language model's first and last layers:
/// [`attend`](Embed::attend).
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
    /// `[num_embeddings, features]`.
    pub embedding: Param,
    /// The element type of the vectors; by default that of the table.
    pub dtype: Option<DType>,
}

hyperparameters! {
    /// The hyperparameters of an [`Embed`] layer, which is Linen's module
    /// `Embed`.
    EmbedConfig as "Embed" (num_embeddings: usize, features: usize) {
        /// The element type of the vectors; by default that of the table.
        dtype: [Option<DType>] = None,
        /// The element type of the table, `f32` by default.
        param_dtype: [DType] = DType::F32,
        /// How the table is drawn; normal of variance `1 / features` by default.
        embedding_init: [Initializer] =
            init::variance_scaling(1.0, FanMode::FanIn, Distribution::Normal).out_axes(&[0]),
    }
}

impl Embed {
    /// A table of `num_embeddings` vectors of `features` numbers, normal of
    /// variance `1 / features`.
    #[track_caller]
    pub fn new(num_embeddings: usize, features: usize, rngs: &mut Rngs) -> Embed {
        Embed::features(num_embeddings, features).build(rngs)
    }

    /// The hyperparameters of a table of `num_embeddings` vectors of `features`
    /// numbers, to be changed before [`build`](EmbedConfig::build) makes the
    /// layer.
    pub fn features(num_embeddings: usize, features: usize) -> EmbedConfig {
        EmbedConfig::new(num_embeddings, features)
    }

    /// The vectors of integers of any shape, along a new last axis. Negative
    /// integers count from the end; those beyond the table give NaN.
    ///
    /// # Panics
    /// If the input is not of integers.
    #[track_caller]
    pub fn forward(&self, indices: &Array) -> Array {
        observed!(self, |layer, indices| layer.compute(indices))
    }

    #[track_caller]
    fn compute(&self, indices: &Array) -> Array {
        let table = self.table(indices);
        if table.shape()[0] == 1 {
            let shape = [indices.shape(), &table.shape()[1..]].concat();
            return table.squeeze(&[0]).broadcast_to(&shape);
        }
        table.take(indices, 0)
    }

    /// [`forward`](Embed::forward) with the result sharded by `out_sharding` over
    /// explicit axes of a mesh.
    ///
    /// # Panics
    /// As `forward`, or if `out_sharding` does not fit the mesh or the shape.
    #[track_caller]
    pub fn forward_sharded(
        &self,
        indices: &Array,
        out_sharding: impl Into<PartitionSpec>,
    ) -> Array {
        let table = self.table(indices);
        let take = |table: Array, indices: Array| table.take(&indices, 0);
        auto_axes(take, [], out_sharding.into())(table, indices.clone())
    }

    /// The product of vectors with each of the table's: the logits of a model
    /// whose last layer has the weights of its first (Press and Wolf, 2017).
    ///
    /// As both uses are of one variable, its gradient is the sum of both.
    ///
    /// # Panics
    /// If the last axis of the input is not that of the table.
    #[track_caller]
    pub fn attend(&self, query: &Array) -> Array {
        let [query, table] = self.queried(query);
        query.matmul(table.transpose(&[1, 0]))
    }

    /// [`attend`](Embed::attend) with the result sharded by `out_sharding` over
    /// explicit axes of a mesh.
    ///
    /// # Panics
    /// As `attend`, or if `out_sharding` does not fit the mesh or the shape.
    #[track_caller]
    pub fn attend_sharded(&self, query: &Array, out_sharding: impl Into<PartitionSpec>) -> Array {
        let [query, table] = self.queried(query);
        query.matmul_sharded(table.transpose(&[1, 0]), out_sharding)
    }

    #[track_caller]
    fn table(&self, indices: &Array) -> Array {
        assert!(
            indices.dtype().is_integer(),
            "Embed: the input is {}, expected integers\n  help: pass the places of the vectors in \
             the table; if they are whole numbers already, x.astype(DType::I32)",
            indices.aval()
        );
        match self.dtype {
            Some(dtype) => self.embedding.astype(dtype),
            None => self.embedding.value().clone(),
        }
    }

    #[track_caller]
    fn queried(&self, query: &Array) -> [Array; 2] {
        let features = self.embedding.shape()[1];
        assert!(
            query.shape().last() == Some(&features),
            "Embed::attend: the input is {}, expected a last axis of {features}\n  table {}\n  help: \
             the vectors that go in have as many features as those of the table",
            query.aval(),
            self.embedding.aval()
        );
        promote(self.dtype, [query, &self.embedding])
    }
}

impl EmbedConfig {
    /// The layer, its table from `Rngs` or a scope.
    ///
    /// With `Rngs` the layer computes in the type of the table unless told
    /// otherwise; in a scope [`attend`](Embed::attend) then computes in what
    /// table and query promote to.
    #[track_caller]
    pub fn build<'a>(&self, vars: impl Into<Vars<'a>>) -> Embed {
        let vars = &mut vars.into();
        let shape = [self.num_embeddings, self.features];
        let dtype = match vars.in_scope() {
            true => self.dtype,
            false => Some(self.dtype.unwrap_or(self.param_dtype)),
        };
        Embed {
            embedding: vars.param("embedding", &self.embedding_init, &shape, self.param_dtype),
            dtype,
        }
    }

    /// [`Embed::attend`] in the scope of the module: a second method of a part
    /// made with [`Scope::setup`](linen::Scope::setup).
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
        linen::in_scope!(scope, |vars| self.build(vars), |layer| layer.attend(query))
    }
}

linen_layer!(EmbedConfig);
