"""A BERT checkpoint with tiny random weights, and what the published equations give for it.

The folder `data/hf_bert` has `config.json` and `model.safetensors` with the names and the layout that
`transformers` writes, and `reference.safetensors`:

    tokens, mask, segments    [batch, length] int32
    hidden                    [batch, length, features] float32: the features of tokens
    pooled                    [batch, features] float32: those of the pooler
    embeddings                [batch, features] float32: normalized means over the tokens that count

The reference is written from the papers in NumPy with 64-bit floats, one sentence and one head at a
time, and without padding: a sentence is cut to the tokens that count.

With REAL_MODEL set to the unpacked folder of all-MiniLM-L6-v2, it also writes

    data/hf_bert/minilm.safetensors    tokens of three sentences, and their embeddings by that model

whose first cosines, 0.574 and 0.103, are also those of `transformers`.
"""

import json
import math
import os
import pathlib
import re

import numpy as np
from safetensors.numpy import load_file, save_file

OUT = pathlib.Path(__file__).parent / "data" / "hf_bert"
CONFIG = {
    "architectures": ["BertModel"],
    "attention_probs_dropout_prob": 0.1,
    "classifier_dropout": None,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 24,
    "initializer_range": 0.02,
    "intermediate_size": 40,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 16,
    "model_type": "bert",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
    "torch_dtype": "float32",
    "type_vocab_size": 2,
    "use_cache": True,
    "vocab_size": 53,
}


def weights(rng):
    c = CONFIG
    d, inner = c["hidden_size"], c["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (c["vocab_size"], d),
        "embeddings.position_embeddings.weight": (c["max_position_embeddings"], d),
        "embeddings.token_type_embeddings.weight": (c["type_vocab_size"], d),
        "embeddings.LayerNorm": d,
        "pooler.dense": (d, d),
    }
    for i in range(c["num_hidden_layers"]):
        shapes |= {f"encoder.layer.{i}.attention.self.{n}": (d, d) for n in ["query", "key", "value"]}
        shapes |= {
            f"encoder.layer.{i}.attention.output.dense": (d, d),
            f"encoder.layer.{i}.attention.output.LayerNorm": d,
            f"encoder.layer.{i}.intermediate.dense": (inner, d),
            f"encoder.layer.{i}.output.dense": (d, inner),
            f"encoder.layer.{i}.output.LayerNorm": d,
        }
    draw = lambda shape: rng.normal(size=shape) * 0.25
    arrays = {}
    for name, shape in shapes.items():
        if name.endswith(".weight"):
            arrays[name] = draw(shape)
        elif "LayerNorm" in name:
            arrays[f"{name}.weight"], arrays[f"{name}.bias"] = 1 + draw(shape), draw(shape)
        else:
            arrays[f"{name}.weight"], arrays[f"{name}.bias"] = draw(shape), draw(shape[0])
    return {name: array.astype(np.float32) for name, array in arrays.items()}


class Encoder:
    """BERT's layers, which ALBERT has, too: `albert.py` uses them with other names."""

    def __init__(self, arrays, config):
        self.w = {name: array.astype(np.float64) for name, array in arrays.items()}
        self.config = config

    def dense(self, name, x):
        return x @ self.w[f"{name}.weight"].T + self.w[f"{name}.bias"]

    def norm(self, name, x):
        centered = x - x.mean(-1, keepdims=True)
        scale = np.sqrt((centered**2).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return centered / scale * self.w[f"{name}.weight"] + self.w[f"{name}.bias"]

    def activation(self, x):
        if self.config["hidden_act"] == "gelu_new":
            return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
        assert self.config["hidden_act"] == "gelu"
        return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))

    def attention(self, query, key, value, out, x):
        heads = self.config["num_attention_heads"]
        size = x.shape[1] // heads
        q, k, v = (self.dense(part, x) for part in [query, key, value])
        parts = []
        for h in range(heads):
            part = slice(h * size, (h + 1) * size)
            scores = np.exp(q[:, part] @ k[:, part].T / math.sqrt(size))
            parts.append(scores / scores.sum(1, keepdims=True) @ v[:, part])
        return self.dense(out, np.concatenate(parts, 1))

    def block(self, at, names, x):
        """A block with the names of its layers: query, key, value, out, norm, up, down, norm."""
        *attention, first, up, down, second = [f"{at}.{name}" for name in names]
        x = self.norm(first, x + self.attention(*attention, x))
        return self.norm(second, x + self.dense(down, self.activation(self.dense(up, x))))

    def embed(self, at, tokens, segments):
        x = self.w[f"{at}.word_embeddings.weight"][tokens]
        x = x + self.w[f"{at}.position_embeddings.weight"][: len(tokens)]
        return self.norm(f"{at}.LayerNorm", x + self.w[f"{at}.token_type_embeddings.weight"][segments])

    def sentence(self, tokens, segments):
        """The features of the tokens of one sentence, `[length, features]`."""
        x = self.embed("embeddings", tokens, segments)
        for i in range(self.config["num_hidden_layers"]):
            x = self.block(f"encoder.layer.{i}", NAMES, x)
        return x


NAMES = [f"attention.self.{part}" for part in ["query", "key", "value"]]
NAMES += ["attention.output.dense", "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"]


def embedding(features):
    mean = features.mean(0)
    return mean / np.linalg.norm(mean)


def wordpieces(vocabulary, text):
    """The tokens of a text of letters and punctuation: the longest known parts of its words."""
    pieces = ["[CLS]"]
    for word in re.findall(r"\w+|[^\w\s]", text.lower()):
        start = 0
        while start < len(word):
            ends = (e for e in range(len(word), start, -1) if "##" * (start > 0) + word[start:e] in vocabulary)
            end = next(ends)
            pieces.append("##" * (start > 0) + word[start:end])
            start = end
    return np.array([vocabulary[piece] for piece in [*pieces, "[SEP]"]])


SENTENCES = ["A cat sits on the mat.", "A feline rests on a rug.", "The stock market fell today."]


def real(folder):
    config = json.loads((folder / "config.json").read_text())
    encoder = Encoder(load_file(folder / "model.safetensors"), config)
    vocabulary = {piece: i for i, piece in enumerate((folder / "vocab.txt").read_text().splitlines())}
    rows = [wordpieces(vocabulary, text) for text in SENTENCES]
    embeddings = np.array([embedding(encoder.sentence(row, np.zeros_like(row))) for row in rows])
    print("cosines", embeddings[0] @ embeddings.T)
    longest = max(map(len, rows))
    tokens = np.array([np.pad(row, (0, longest - len(row))) for row in rows], np.int32)
    arrays = {"tokens": tokens, "embeddings": embeddings.astype(np.float32)}
    save_file(arrays, OUT / "minilm.safetensors", metadata={"numpy": np.__version__})


def sentences(rng, config):
    """Random tokens, masks and segments of three sentences, and their lengths."""
    lengths, longest = [9, 4, 7], 9
    mask = np.arange(longest) < np.array(lengths)[:, None]
    tokens = np.where(mask, rng.integers(1, config["vocab_size"], size=mask.shape), 0)
    segments = np.where(mask, np.arange(longest) >= 5, 0)
    return tokens, mask, segments, lengths


def save(out, config, arrays, integers, floats):
    out.mkdir(exist_ok=True)
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    save_file(arrays, out / "model.safetensors", metadata={"format": "pt"})
    reference = {name: array.astype(np.int32) for name, array in integers.items()}
    reference |= {name: np.array(array, np.float32) for name, array in floats.items()}
    save_file(reference, out / "reference.safetensors", metadata={"numpy": np.__version__})
    print({name: array.shape for name, array in reference.items()})


def main():
    rng = np.random.default_rng(11)
    arrays = weights(rng)
    tokens, mask, segments, lengths = sentences(rng, CONFIG)
    encoder = Encoder(arrays, CONFIG)
    hidden = np.zeros((*mask.shape, CONFIG["hidden_size"]))
    embeddings, pooled = [], []
    for row, length in enumerate(lengths):
        x = encoder.sentence(tokens[row, :length], segments[row, :length].astype(int))
        hidden[row, :length] = x
        embeddings.append(embedding(x))
        pooled.append(np.tanh(encoder.dense("pooler.dense", x[0])))
    integers = {"tokens": tokens, "mask": mask, "segments": segments}
    save(OUT, CONFIG, arrays, integers, {"hidden": hidden, "pooled": pooled, "embeddings": embeddings})
    if "REAL_MODEL" in os.environ:
        real(pathlib.Path(os.environ["REAL_MODEL"]))


if __name__ == "__main__":
    main()
