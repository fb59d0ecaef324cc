"""A small language model of Flax's Linen: logits and gradients."""

import flax.linen as nn
import jax.numpy as jnp

from flax_layers import Recorder

r = Recorder()


class Block(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x, mask):
        features = x.shape[-1]
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(self.heads)(y, mask=mask)
        y = nn.Dense(4 * features)(nn.LayerNorm()(x))
        return x + nn.Dense(features)(nn.gelu(y))


class Transformer(nn.Module):
    vocabulary: int
    features: int
    heads: int
    layers: int

    @nn.compact
    def __call__(self, tokens):
        embed = nn.Embed(self.vocabulary, self.features, name="embed")
        places = self.param("places", nn.initializers.normal(0.02), (16, self.features))
        x = embed(tokens) + places[: tokens.shape[1]]
        mask = nn.combine_masks(
            nn.make_causal_mask(tokens), nn.make_attention_mask(tokens > 0, tokens > 0)
        )
        for _ in range(self.layers):
            x = Block(self.heads)(x, mask)
        return embed.attend(nn.LayerNorm(name="norm")(x))


tokens = jnp.array([[3, 1, 4, 1, 5, 9, 2, 6], [5, 3, 5, 8, 9, 7, 0, 0]])
r.linen("transformer", Transformer(11, 12, 3, 2), tokens)
r.write("flax_transformer")
