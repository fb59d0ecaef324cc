"""Models as Flax's NNX has them: a perceptron and a residual network."""

import jax.numpy as jnp
from flax import nnx

from flax_layers import Recorder, draw

r = Recorder()


class Mlp(nnx.Module):
    def __init__(self, rngs):
        self.layers = nnx.List([nnx.Linear(5, 7, rngs=rngs), nnx.Linear(7, 6, rngs=rngs), nnx.Linear(6, 3, rngs=rngs)])
        self.dropout = nnx.Dropout(0.3, rngs=rngs)

    def __call__(self, x):
        *hidden, last = self.layers
        for layer in hidden:
            x = self.dropout(nnx.relu(layer(x)))
        return last(x)


def square(inputs, features, size, strides, rngs):
    he = nnx.initializers.he_normal()
    return nnx.Conv(inputs, features, (size, size), strides, use_bias=False, kernel_init=he, rngs=rngs)


class Block(nnx.Module):
    def __init__(self, inputs, features, strides, rngs):
        self.conv1 = square(inputs, features, 3, strides, rngs)
        self.norm1 = nnx.BatchNorm(features, rngs=rngs)
        self.conv2 = square(features, features, 3, 1, rngs)
        self.norm2 = nnx.BatchNorm(features, scale_init=nnx.initializers.zeros, rngs=rngs)
        self.projection = nnx.data(None)
        if inputs != features or strides != 1:
            conv = square(inputs, features, 1, strides, rngs)
            self.projection = nnx.List([conv, nnx.BatchNorm(features, rngs=rngs)])

    def __call__(self, x):
        y = nnx.relu(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        if self.projection is not None:
            conv, norm = self.projection
            x = norm(conv(x))
        return nnx.relu(x + y)


class ResNet(nnx.Module):
    def __init__(self, rngs):
        self.conv = square(2, 4, 3, 1, rngs)
        self.norm = nnx.BatchNorm(4, rngs=rngs)
        self.blocks = nnx.List([Block(4, 4, 1, rngs), Block(4, 8, 2, rngs), Block(8, 8, 1, rngs)])
        self.head = nnx.Linear(8, 3, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.norm(self.conv(x)))
        for block in self.blocks:
            x = block(x)
        return self.head(jnp.mean(x, axis=(1, 2)))


def open_blocks(model):
    """Gives the blocks a part in the result, which they have not at first."""
    for i, block in enumerate(model.blocks):
        block.norm2.scale[...] = draw(10 + i, block.norm2.scale.shape)


r.nnx("mlp", Mlp, draw(0, (4, 5)))
r.nnx("resnet", ResNet, draw(1, (3, 6, 6, 2)), changes=open_blocks)
r.write("flax_models")
