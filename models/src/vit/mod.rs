//! Vision transformers.

mod config;
mod positions;
mod weights;

pub use config::{VitConfig, VitFamily};

use crate::activation::{self, Activation};
use crate::layers::Layers;

use ramie_core::{Array, DType, concatenate, where_};
use ramie_nn::{
    AttentionInputs, Conv, Dropout, LayerNorm, Linear, Module, MultiHeadAttention, Param, Rngs,
    init,
};

/// A vision transformer (Dosovitskiy et al., *An Image is Worth 16x16 Words: Transformers for Image
/// Recognition at Scale*, 2020), also in the form of DINOv2 (Oquab et al., *DINOv2: Learning Robust
/// Visual Features without Supervision*, 2023): an encoder of images.
///
/// [`from_pretrained`](crate::Pretrained::from_pretrained) loads published checkpoints. Those of DINOv2 expect
/// images scaled to numbers from 0 to 1 and normalized:
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_models::{Pretrained, Vit};
/// # fn main() -> Result<(), ramie_models::PretrainedError> {
/// let mut model = Vit::from_pretrained("checkpoints/dinov2-small")?;
/// let images = Array::zeros(&[1, 518, 518, 3], DType::F32);
/// let mean = Array::from([0.485f32, 0.456, 0.406]);
/// let deviation = Array::from([0.229f32, 0.224, 0.225]);
/// let features = model.forward(&((images - mean) / deviation));
/// let pooled = model.pool(&features); // [1, 384]
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Module)]
pub struct Vit {
    /// The embeddings of patches.
    pub embeddings: VitEmbeddings,
    /// The blocks.
    pub layers: Vec<VitBlock>,
    /// The final normalization.
    pub layer_norm: LayerNorm,
    /// The linear layer of [`pool`](Vit::pool), which DINOv2 does not have. Checkpoints without it
    /// are loaded without it.
    pub pooler: Option<Linear>,
    /// The linear layer of [`classify`](Vit::classify). New models have none. A checkpoint with one is
    /// loaded with it.
    pub classifier: Option<Linear>,
    /// The family of the model.
    #[tree(fixed)]
    pub family: VitFamily,
}

/// The embeddings of the patches of an image and of its class, with their positions.
#[derive(Clone, Debug, Module)]
pub struct VitEmbeddings {
    /// The embedding of the class, `[1, 1, features]`, which precedes those of the patches.
    pub cls_token: Param,
    /// The embedding of masked patches, `[1, features]`. Models of the family
    /// [`Vit`](VitFamily::Vit) do not have it. Checkpoints of DINOv2 without it are loaded without it.
    pub mask_token: Option<Param>,
    /// The embeddings of the positions of the class and of all patches, `[1, 1 + patches, features]`.
    pub position_embeddings: Param,
    /// The convolution of each patch by itself.
    pub projection: Conv,
    /// The dropout of the sum.
    pub dropout: Dropout,
    /// Height and width in pixels of the images for which there are position embeddings.
    #[tree(fixed)]
    pub image_size: usize,
}

/// A block: attention and an MLP, each with a normalization of its input and a residual connection.
#[derive(Clone, Debug, Module)]
pub struct VitBlock {
    /// The normalization before attention.
    pub norm1: LayerNorm,
    /// The attention.
    pub attention: MultiHeadAttention,
    /// The factors of the features of the attention's output, if any.
    pub layer_scale1: Option<Param>,
    /// The normalization before the MLP.
    pub norm2: LayerNorm,
    /// The linear layer to the hidden features.
    pub fc1: Linear,
    /// The linear layer back to the input's features.
    pub fc2: Linear,
    /// The factors of the features of the MLP's output, if any.
    pub layer_scale2: Option<Param>,
    /// The dropout of both outputs.
    pub dropout: Dropout,
    /// The activation of the hidden features.
    #[tree(fixed)]
    pub activation: Activation,
}

impl VitConfig {
    fn layers(&self) -> Layers {
        Layers {
            features: self.hidden_size,
            epsilon: self.layer_norm_eps,
            deviation: self.initializer_range,
            attention_dropout: self.attention_probs_dropout_prob,
            attention_fn: self.attention_fn.clone(),
            compute_dtype: self.compute_dtype,
            param_dtype: self.param_dtype,
        }
    }

    #[track_caller]
    fn attention(&self, rngs: &mut Rngs) -> MultiHeadAttention {
        let mut attention = self.layers().attention(self.num_attention_heads, rngs);
        if !self.qkv_bias {
            for projection in [
                &mut attention.query,
                &mut attention.key,
                &mut attention.value,
            ] {
                projection.bias = None;
            }
        }
        attention
    }
}

impl VitEmbeddings {
    #[track_caller]
    fn new(config: &VitConfig, rngs: &mut Rngs) -> VitEmbeddings {
        let (features, dtype) = (config.hidden_size, config.param_dtype);
        let (image, patch) = (config.image_size, config.patch_size);
        assert!(
            (1..=image).contains(&patch),
            "VitConfig: the patch_size is {patch} for an image_size of {image}\n  help: use patches of at \
             least one pixel that fit into the image"
        );
        let patches = (image / patch).pow(2);
        let layers = config.layers();
        let mut table = |length| {
            let shape = [1, length, features];
            Param::new(layers.weights().draw(&rngs.params(), &shape, dtype))
        };
        let mask_token = || Param::new(Array::zeros(&[1, features], dtype));
        VitEmbeddings {
            cls_token: table(1),
            mask_token: (config.model_type == VitFamily::Dinov2).then(mask_token),
            position_embeddings: table(1 + patches),
            projection: Conv::features(features, [patch; 2])
                .strides(patch)
                .padding("VALID")
                .dtype(layers.dtype())
                .param_dtype(dtype)
                .kernel_init(layers.weights())
                .build(config.num_channels, rngs),
            dropout: Dropout::new(config.hidden_dropout_prob, rngs),
            image_size: image,
        }
    }

    #[track_caller]
    fn forward(&mut self, images: &Array, masked: Option<&Array>) -> Array {
        let x = self.projection.forward(images);
        let (grid, batch, features) = ([x.shape()[1], x.shape()[2]], x.shape()[0], x.shape()[3]);
        let mut x = x.collapse(1, 3);
        if let Some(masked) = masked {
            x = self.mask(x, masked);
        }
        let class = self.cls_token.astype(x.dtype());
        let class = class.broadcast_to(&[batch, 1, features]);
        let x = concatenate(&[class, x], 1);
        let positions = positions::resized(&self.position_embeddings, grid);
        self.dropout.forward(&(&x + positions.astype(x.dtype())))
    }

    /// Replaces the embeddings of masked patches.
    #[track_caller]
    fn mask(&self, x: Array, masked: &Array) -> Array {
        let Some(token) = &self.mask_token else {
            panic!(
                "Vit::forward_masked: the model has no embedding of masked patches\n  help: load a \
                 checkpoint of DINOv2 with the tensor `embeddings.mask_token`"
            )
        };
        let shape = &x.shape()[..2];
        assert!(
            masked.shape() == shape && masked.dtype() == DType::Bool,
            "Vit::forward_masked: the mask is {}, expected bool{shape:?}\n  help: pass a boolean for \
             each patch, row by row",
            masked.aval()
        );
        where_(masked.expand_dims(&[2]), token.astype(x.dtype()), x)
    }
}

impl VitBlock {
    #[track_caller]
    fn new(config: &VitConfig, rngs: &mut Rngs) -> VitBlock {
        let (features, inner) = (config.hidden_size, config.intermediate_size);
        let layers = config.layers();
        let scale = || {
            let value = config.layerscale_value;
            let scale = Array::full(&[features], value, config.param_dtype);
            (config.model_type == VitFamily::Dinov2).then(|| Param::new(scale))
        };
        VitBlock {
            norm1: layers.norm(rngs),
            attention: config.attention(rngs),
            layer_scale1: scale(),
            norm2: layers.norm(rngs),
            fc1: layers.linear(features, inner, rngs),
            fc2: layers.linear(inner, features, rngs),
            layer_scale2: scale(),
            dropout: Dropout::new(config.hidden_dropout_prob, rngs),
            activation: activation::named("VitConfig", &config.hidden_act),
        }
    }

    #[track_caller]
    fn forward(&mut self, x: &Array) -> Array {
        let y = AttentionInputs::of(&self.norm1.forward(x));
        let y = scaled(self.attention.forward_with(&y), &self.layer_scale1);
        let x = x + self.dropout.forward(&y);
        let y = self.fc1.forward(&self.norm2.forward(&x));
        let y = self.fc2.forward(&(self.activation)(&y));
        &x + self.dropout.forward(&scaled(y, &self.layer_scale2))
    }
}

/// Multiplies each feature by its factor, if there are any.
fn scaled(x: Array, factors: &Option<Param>) -> Array {
    match factors {
        Some(factors) => &x * factors.astype(x.dtype()),
        None => x,
    }
}

impl Vit {
    /// Creates a model with random weights, in training mode.
    ///
    /// # Panics
    /// Panics if the number of heads does not divide the number of features, if the patches have no
    /// pixels or do not fit into the image, or if the activation is unknown.
    #[track_caller]
    pub fn new(config: &VitConfig, rngs: &mut Rngs) -> Vit {
        let features = config.hidden_size;
        let has_pooler = config.model_type == VitFamily::Vit;
        let embeddings = VitEmbeddings::new(config, rngs);
        let mut blocks = Vec::with_capacity(config.num_hidden_layers);
        for _ in 0..config.num_hidden_layers {
            blocks.push(VitBlock::new(config, rngs));
        }
        let layers = config.layers();
        Vit {
            embeddings,
            layers: blocks,
            layer_norm: layers.norm(rngs),
            pooler: has_pooler.then(|| layers.linear(features, features, rngs)),
            classifier: None,
            family: config.model_type,
        }
    }

    /// Returns a classifier, whose weights must then be set.
    pub(crate) fn new_classifier(&self, classes: usize) -> Linear {
        let features = self.embeddings.cls_token.size();
        let inputs = match self.family {
            VitFamily::Vit => features,
            VitFamily::Dinov2 => 2 * features,
        };
        Linear::features(classes)
            .dtype(self.layer_norm.config.dtype)
            .param_dtype(self.embeddings.cls_token.dtype())
            .kernel_init(init::zeros())
            .build(inputs, &mut Rngs::new(0))
    }

    /// Computes the features of each patch in its context: from images `[batch, image_size,
    /// image_size, num_channels]` to `[batch, 1 + patches, hidden_size]`. The first features are
    /// those of the class; those of the patches follow row by row.
    ///
    /// DINOv2 also takes images of another height and width, whose position embeddings are
    /// interpolated bicubically. Pixels beyond the last whole patch are ignored.
    ///
    /// # Panics
    /// Panics if the images have another size or number of channels, or if an image for DINOv2 is
    /// smaller than a patch.
    #[track_caller]
    pub fn forward(&mut self, images: &Array) -> Array {
        self.features(images, None)
    }

    /// Computes [`forward`](Vit::forward) without the contents of some patches, as in the training of
    /// DINOv2: where `masked`, booleans `[batch, patches]`, is true, the embedding of masked patches
    /// replaces the patch. The patches are counted row by row.
    ///
    /// # Panics
    /// Panics like `forward`, if the mask has another shape or dtype, or if the model has no embedding
    /// of masked patches.
    #[track_caller]
    pub fn forward_masked(&mut self, images: &Array, masked: &Array) -> Array {
        self.features(images, Some(masked))
    }

    #[track_caller]
    fn features(&mut self, images: &Array, masked: Option<&Array>) -> Array {
        self.expect_images(images);
        let mut x = self.embeddings.forward(images, masked);
        for layer in &mut self.layers {
            x = layer.forward(&x);
        }
        self.layer_norm.forward(&x)
    }

    /// Panics if the model does not take images of this shape.
    #[track_caller]
    fn expect_images(&self, images: &Array) {
        let [patch, _, channels, _] = self.embeddings.projection.kernel.shape()[..] else {
            unreachable!("the convolution has two axes")
        };
        let (shape, size) = (images.shape(), self.embeddings.image_size);
        let has_channels = shape.len() == 4 && shape[3] == channels;
        match self.family {
            VitFamily::Vit => assert!(
                has_channels && shape[1..3] == [size; 2],
                "Vit: the images are {}, expected [batch, {size}, {size}, {channels}]\n  help: resize \
                 them to {size} × {size} pixels, because the model has an embedding per position",
                images.aval()
            ),
            VitFamily::Dinov2 => assert!(
                has_channels && shape[1].min(shape[2]) >= patch,
                "Vit: the images are {}, expected [batch, height, width, {channels}]\n  help: pass \
                 images of at least {patch} × {patch} pixels",
                images.aval()
            ),
        }
    }

    /// Computes features of each image for classifiers, `[batch, hidden_size]`, from those of
    /// [`forward`](Vit::forward): the features of the class. If the model has a pooler, a linear
    /// layer with `tanh` follows.
    ///
    /// # Panics
    /// Panics if the features do not have three axes.
    #[track_caller]
    pub fn pool(&self, features: &Array) -> Array {
        let class = features.index_in_dim(0, 1).squeeze(&[1]);
        match &self.pooler {
            Some(pooler) => pooler.forward(&class).tanh(),
            None => class,
        }
    }

    /// Computes the logits of the classes of each image, `[batch, classes]`, from the features of
    /// [`forward`](Vit::forward): a linear layer from the features of the class. That of DINOv2 also
    /// gets the mean of the patches' features, after those of the class.
    ///
    /// # Panics
    /// Panics if the model has no classifier, or if the features do not have three axes.
    #[track_caller]
    pub fn classify(&self, features: &Array) -> Array {
        let Some(classifier) = &self.classifier else {
            panic!(
                "Vit::classify: the model has no classifier\n  help: load a checkpoint of a \
                 classifier, or train one: model.classifier = Some(Linear::new(inputs, classes, &mut \
                 rngs))"
            )
        };
        let class = features.index_in_dim(0, 1).squeeze(&[1]);
        classifier.forward(&match self.family {
            VitFamily::Vit => class,
            VitFamily::Dinov2 => {
                let patches = features.slice_in_dim(1, features.shape()[1], 1, 1);
                concatenate(&[class, patches.mean_over(1)], 1)
            }
        })
    }
}
