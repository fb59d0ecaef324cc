"""An ALBERT checkpoint with tiny random weights, and what the published equations give for it.

The folder `data/hf_albert` has `config.json` and `model.safetensors` with the names and the layout that
`transformers` writes, and `reference.safetensors`:

    tokens, mask, segments    [batch, length] int32
    hidden                    [batch, length, features] float32: the features of tokens
    pooled                    [batch, features] float32: those of the pooler
    logits                    [batch, length, tokens] float32: the logits of masked tokens

The reference is written from the papers in NumPy with 64-bit floats, like that of `bert.py`, whose
blocks it uses.

With REAL_MODEL set to the unpacked folder of rxnmapper 0.4.3's albert_heads_8_uspto_all_1310k, it also
writes

    data/hf_albert/rxnmapper.safetensors    tokens of two reactions with masked atoms, the tokens without
                                            masks, and every 8th logit by that model
"""

import json
import os
import pathlib
import re

import numpy as np
from safetensors.numpy import save_file

from bert import Encoder, save, sentences
from pytorch_reader import load

OUT = pathlib.Path(__file__).parent / "data" / "hf_albert"
CONFIG = {
    "architectures": ["AlbertForMaskedLM"],
    "attention_probs_dropout_prob": 0,
    "classifier_dropout_prob": 0.1,
    "embedding_size": 8,
    "hidden_act": "gelu_new",
    "hidden_dropout_prob": 0,
    "hidden_size": 16,
    "initializer_range": 0.02,
    "inner_group_num": 2,
    "intermediate_size": 24,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 16,
    "model_type": "albert",
    "num_attention_heads": 4,
    "num_hidden_groups": 2,
    "num_hidden_layers": 3,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
    "torch_dtype": "float32",
    "type_vocab_size": 2,
    "vocab_size": 53,
}
NAMES = ["attention.query", "attention.key", "attention.value", "attention.dense", "attention.LayerNorm"]
NAMES += ["ffn", "ffn_output", "full_layer_layer_norm"]


def weights(rng):
    c = CONFIG
    d, e, inner = c["hidden_size"], c["embedding_size"], c["intermediate_size"]
    layers = {
        "albert.embeddings.LayerNorm": e,
        "albert.encoder.embedding_hidden_mapping_in": (d, e),
        "albert.pooler": (d, d),
        "predictions.dense": (e, d),
        "predictions.LayerNorm": e,
    }
    for g in range(c["num_hidden_groups"]):
        for i in range(c["inner_group_num"]):
            at = f"albert.encoder.albert_layer_groups.{g}.albert_layers.{i}"
            layers |= {f"{at}.attention.{name}": (d, d) for name in ["query", "key", "value", "dense"]}
            layers |= {f"{at}.{name}": d for name in ["attention.LayerNorm", "full_layer_layer_norm"]}
            layers |= {f"{at}.ffn": (inner, d), f"{at}.ffn_output": (d, inner)}
    draw = lambda *shape: rng.normal(size=shape) * 0.25
    counts = {"word": c["vocab_size"], "position": c["max_position_embeddings"], "token_type": c["type_vocab_size"]}
    arrays = {f"albert.embeddings.{name}_embeddings.weight": draw(count, e) for name, count in counts.items()}
    arrays["predictions.bias"] = draw(c["vocab_size"])
    for name, shape in layers.items():
        if isinstance(shape, int):
            arrays[f"{name}.weight"], arrays[f"{name}.bias"] = 1 + draw(shape), draw(shape)
        else:
            arrays[f"{name}.weight"], arrays[f"{name}.bias"] = draw(*shape), draw(shape[0])
    return {name: array.astype(np.float32) for name, array in arrays.items()}


class Albert(Encoder):
    def sentence(self, tokens, segments):
        c = self.config
        x = self.embed("albert.embeddings", tokens, segments)
        x = self.dense("albert.encoder.embedding_hidden_mapping_in", x)
        for layer in range(c["num_hidden_layers"]):
            group = int(layer / (c["num_hidden_layers"] / c["num_hidden_groups"]))
            for i in range(c["inner_group_num"]):
                x = self.block(f"albert.encoder.albert_layer_groups.{group}.albert_layers.{i}", NAMES, x)
        return x

    def logits(self, x):
        x = self.norm("predictions.LayerNorm", self.activation(self.dense("predictions.dense", x)))
        return x @ self.w["albert.embeddings.word_embeddings.weight"].T + self.w["predictions.bias"]


# The esterification of ethanol, and a Suzuki coupling.
REACTIONS = [
    "CC(=O)O.OCC>>CC(=O)OCC.O",
    "Brc1ccccc1.OB(O)c1ccc(F)cc1>>Fc1ccc(-c2ccccc2)cc1",
]
PARTS = r"\[[^]]+\]|Br|Cl|>>|%\d\d|[A-Za-z0-9().=#\-+\\/:~@?*$]"


def real(folder):
    config = json.loads((folder / "config.json").read_text())
    model = Albert(load(folder / "pytorch_model.bin"), config)
    vocabulary = {piece: i for i, piece in enumerate((folder / "vocab.txt").read_text().splitlines())}
    rows = [["[CLS]", *re.findall(PARTS, text), "[SEP]"] for text in REACTIONS]
    assert ["".join(row[1:-1]) for row in rows] == REACTIONS
    longest = max(map(len, rows))
    whole = np.array([[vocabulary[p] for p in row] + [0] * (longest - len(row)) for row in rows], np.int32)
    tokens = whole.copy()
    # An oxygen of the ester, and the fluorine of the product.
    for row, piece, count in [(0, "O", 4), (1, "F", 2)]:
        places = [i for i, part in enumerate(rows[row]) if part == piece]
        tokens[row, places[count - 1]] = vocabulary["[MASK]"]
    logits = np.zeros((2, longest, config["vocab_size"]))
    for row, parts in enumerate(rows):
        numbers = tokens[row, : len(parts)]
        logits[row, : len(parts)] = model.logits(model.sentence(numbers, np.zeros_like(numbers)))
    masked = tokens != whole
    print("masked", whole[masked], "predicted", logits[masked].argmax(-1), "greatest", np.abs(logits).max())
    arrays = {"tokens": tokens, "whole": whole, "logits": logits[:, :, ::8].astype(np.float32)}
    save_file(arrays, OUT / "rxnmapper.safetensors", metadata={"numpy": np.__version__})


def main():
    rng = np.random.default_rng(12)
    arrays = weights(rng)
    tokens, mask, segments, lengths = sentences(rng, CONFIG)
    model = Albert(arrays, CONFIG)
    hidden = np.zeros((*mask.shape, CONFIG["hidden_size"]))
    logits = np.zeros((*mask.shape, CONFIG["vocab_size"]))
    pooled = []
    for row, length in enumerate(lengths):
        x = model.sentence(tokens[row, :length], segments[row, :length].astype(int))
        hidden[row, :length], logits[row, :length] = x, model.logits(x)
        pooled.append(np.tanh(model.dense("albert.pooler", x[0])))
    integers = {"tokens": tokens, "mask": mask, "segments": segments}
    save(OUT, CONFIG, arrays, integers, {"hidden": hidden, "pooled": pooled, "logits": logits})
    if "REAL_MODEL" in os.environ:
        real(pathlib.Path(os.environ["REAL_MODEL"]))


if __name__ == "__main__":
    main()
