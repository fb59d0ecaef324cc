"""A MobileNetV2 with few features and random weights, and what the published equations give for it.

The folder `data/mobilenet_v2` has `model.safetensors` with torchvision's names, and
`reference.safetensors`:

    images    [batch, height, width, 3] float32
    logits    [batch, classes] float32

The reference is written from the paper in NumPy with 64-bit floats; the padding of the convolutions
and the constants of the normalizations are those of torchvision's `mobilenet_v2`.

With REAL_MODEL set to torchvision's mobilenet_v2-b0353104.pth, and PHOTOS to scikit-image's folder of
photos, it also writes

    data/mobilenet_v2/photos.safetensors    logits of the photos coffee.png and chelsea.png

whose classes are 967 (espresso) with a probability of 0.991 and 285 (Egyptian cat) with 0.720. torchvision
gives 0.992 and 0.717, because it rounds resized photos to bytes. Of such photos, this reference gives the same.
"""

import os
import pathlib

import numpy as np
from safetensors.numpy import save_file

from pytorch_reader import load

OUT = pathlib.Path(__file__).parent / "data" / "mobilenet_v2"
# Rows of expansion, features, blocks and strides.
STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
SMALL = {"features": 4, "stages": [(1, 6, 1, 1), (3, 8, 2, 2), (2, 8, 1, 1)], "last": 12, "classes": 5}


def blocks(stages, inputs):
    """Inputs, features, expansion and strides of each block."""
    for expansion, features, count, strides in stages:
        for i in range(count):
            yield inputs, features, expansion, strides if i == 0 else 1
            inputs = features


def weights(rng, features, stages, last, classes):
    """Random weights of a network in torchvision's layout."""
    arrays = {}

    def layer(conv, norm, *shape):
        arrays[f"{conv}.weight"] = rng.normal(size=shape) * np.sqrt(2 / np.prod(shape[1:]))
        for name, offset in [("weight", 1), ("bias", 0), ("running_mean", 0), ("running_var", 1)]:
            arrays[f"{norm}.{name}"] = offset + rng.uniform(-0.25, 0.25, shape[0])

    layer("features.0.0", "features.0.1", features, 3, 3, 3)
    at = 1
    for inputs, outputs, expansion, _ in blocks(stages, features):
        name, inner = f"features.{at}.conv", expansion * inputs
        if expansion > 1:
            layer(f"{name}.0.0", f"{name}.0.1", inner, inputs, 1, 1)
        n = int(expansion > 1)
        layer(f"{name}.{n}.0", f"{name}.{n}.1", inner, 1, 3, 3)
        layer(f"{name}.{n + 1}", f"{name}.{n + 2}", outputs, inner, 1, 1)
        at += 1
    layer(f"features.{at}.0", f"features.{at}.1", last, stages[-1][1], 1, 1)
    arrays["classifier.1.weight"] = rng.normal(size=(classes, last))
    arrays["classifier.1.bias"] = rng.normal(size=classes)
    return {name: array.astype(np.float32) for name, array in arrays.items()}


class MobileNetV2:
    """Computes with one image at a time, `[features, height, width]`."""

    def __init__(self, arrays, stages):
        self.w = {name: array.astype(np.float64) for name, array in arrays.items()}
        self.stages = stages

    def layer(self, conv, norm, x, strides=1):
        """A convolution with a normalization."""
        kernel = self.w[f"{conv}.weight"]
        size = kernel.shape[2]
        x = np.pad(x, [(0, 0), *(self.padding(n, size, strides) for n in x.shape[1:])])
        windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), (1, 2))[:, ::strides, ::strides]
        if kernel.shape[1] == 1:
            y = np.einsum("chwij,cij->chw", windows, kernel[:, 0])
        else:
            y = np.einsum("chwij,ocij->ohw", windows, kernel, optimize=True)
        scale, bias, mean, var = (self.w[f"{norm}.{n}"][:, None, None] for n in ["weight", "bias", "running_mean", "running_var"])
        return (y - mean) / np.sqrt(var + self.epsilon) * scale + bias

    epsilon = 1e-5

    def padding(self, length, size, strides):
        return size // 2, size // 2

    def logits(self, image):
        relu6 = lambda x: np.clip(x, 0, 6)
        x = relu6(self.layer("features.0.0", "features.0.1", image, 2))
        at = 1
        for inputs, features, expansion, strides in blocks(self.stages, len(x)):
            name, y = f"features.{at}.conv", x
            if expansion > 1:
                y = relu6(self.layer(f"{name}.0.0", f"{name}.0.1", y))
            n = int(expansion > 1)
            y = relu6(self.layer(f"{name}.{n}.0", f"{name}.{n}.1", y, strides))
            y = self.layer(f"{name}.{n + 1}", f"{name}.{n + 2}", y)
            x = x + y if strides == 1 and inputs == features else y
            at += 1
        x = relu6(self.layer(f"features.{at}.0", f"features.{at}.1", x))
        return self.w["classifier.1.weight"] @ x.mean((1, 2)) + self.w["classifier.1.bias"]


def resize(x, size):
    """Resizes the first axis with a triangle kernel, which widens when the image shrinks."""
    scale = len(x) / size
    reach = max(scale, 1)
    middles = (np.arange(size) + 0.5) * scale - 0.5
    kernel = np.maximum(0, 1 - np.abs(np.arange(len(x)) - middles[:, None]) / reach)
    return np.tensordot(kernel / kernel.sum(1, keepdims=True), x, 1)


def middle(path):
    """The middle of a photo, `[224, 224, 3]`, with numbers from 0 to 1."""
    from PIL import Image

    x = np.asarray(Image.open(path).convert("RGB")) / 255
    height, width = x.shape[:2]
    height, width = (256 * side // min(height, width) for side in (height, width))
    x = resize(resize(x, height).transpose(1, 0, 2), width).transpose(1, 0, 2)
    top, left = (height - 224) // 2, (width - 224) // 2
    return x[top : top + 224, left : left + 224]


def photo(path):
    """The middle of a photo, `[3, 224, 224]`, as the published weights expect it."""
    return ((middle(path) - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]).transpose(2, 0, 1)


def real(path, photos):
    model = MobileNetV2(load(path), STAGES)
    logits = np.array([model.logits(photo(photos / name)) for name in ["coffee.png", "chelsea.png"]])
    odds = np.exp(logits)
    print("classes", logits.argmax(1), "probabilities", (odds / odds.sum(1, keepdims=True)).max(1), "greatest", np.abs(logits).max())
    save_file({"logits": logits.astype(np.float32)}, OUT / "photos.safetensors", metadata={"numpy": np.__version__})


def main():
    rng = np.random.default_rng(13)
    arrays = weights(rng, **SMALL)
    images = rng.normal(size=(2, 13, 10, 3)).astype(np.float32)
    model = MobileNetV2(arrays, SMALL["stages"])
    logits = np.array([model.logits(image.transpose(2, 0, 1).astype(np.float64)) for image in images])
    OUT.mkdir(exist_ok=True)
    save_file(arrays, OUT / "model.safetensors", metadata={"format": "pt"})
    save_file({"images": images, "logits": logits.astype(np.float32)}, OUT / "reference.safetensors", metadata={"numpy": np.__version__})
    print(logits)
    if "REAL_MODEL" in os.environ:
        real(pathlib.Path(os.environ["REAL_MODEL"]), pathlib.Path(os.environ["PHOTOS"]))


if __name__ == "__main__":
    main()
