"""GGUF files by llama.cpp's package `gguf`, and what the reference reads from them.

    data/gguf/types.gguf           tensors of every type that Ramie reads, metadata of every type
    data/gguf/types.safetensors    the same tensors as `gguf.quants.dequantize` converts them
    data/gguf/llama.gguf           the model of data/hf_llama, as llama.cpp's converter writes it
    data/gguf/qwen2.gguf           the same of data/hf_qwen2
    data/gguf/qwen3.gguf           the same of data/hf_qwen3
    data/gguf/tokenizer.gguf       a small byte-level BPE tokenizer with a chat template
    data/gguf/chat.gguf            the same tokenizer with a tiny model of random weights
    data/gguf/tokenizer.json       texts with the tokens of the package `tokenizers`, and chats with
                                   the text of Jinja

With REAL_MODEL set to SmolLM2-135M-Instruct.Q4_1.gguf, it also writes

    data/gguf/smollm2.json         texts with their tokens by that file's tokenizer

It needs `gguf`, `tokenizers` and `jinja2`, which the other scripts do not.
"""

import json
import os
import pathlib

import gguf
import jinja2
import numpy as np
import tokenizers
from gguf import GGMLQuantizationType as Type
from gguf import GGUFReader, GGUFValueType as Kind, GGUFWriter
from gguf.quants import dequantize, quantize
from safetensors import safe_open
from safetensors.numpy import save_file
from tokenizers import decoders, models, pre_tokenizers, trainers

DATA = pathlib.Path(__file__).parent / "data"
OUT = DATA / "gguf"

TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nBe brief.<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

TEXTS = [
    "",
    "Hello, world!",
    "The quick brown fox jumps over the lazy dog.",
    "  two  spaces,   three\n\n\nlines \t tab\r\n",
    "don't we'll they've I'M it's 'tis",
    "12345 3.14 2026-11-26 ½ ² Ⅷ ٣",
    "naïve café Ünïcode ß ǅ ʰ",
    "日本語のテキスト。 한국어 भाषा हिन्दी ไทย עברית العربية",
    "emoji 🦀👩‍👩‍👧 and e\u0301 combining",
    "<|im_start|>user\nHi<|im_end|>\n",
    "<|im_start|><|im_end|> <|im_start",
    "x" * 300,
    "a\u00a0b\u2003c\u3000d \u200b.",
    "snake_case camelCase __init__ #!/bin/sh && || != <= >>= \\",
    " leading and trailing ",
    "\n",
]


def written(path, fill, arch="llama"):
    writer = GGUFWriter(path, arch)
    fill(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def halves(rng, blocks, at, positions):
    """Puts ordinary half-precision numbers into blocks of random bytes."""
    for position in positions:
        numbers = rng.normal(size=(blocks.shape[0], 1)) * at
        blocks[:, position : position + 2] = numbers.astype(np.float16).view(np.uint8)
    return blocks


def types():
    rng = np.random.default_rng(37)
    expected = {}

    def fill(w):
        for kind, value in [
            ("uint8", 255), ("int8", -128), ("uint16", 65535), ("int16", -32768),
            ("uint32", 2**32 - 1), ("int32", -(2**31)), ("uint64", 2**64 - 1),
            ("int64", -(2**63)), ("float32", 1e-5), ("float64", 0.1), ("bool", True),
            ("string", "naïve \"text\"\n"),
        ]:
            getattr(w, f"add_{kind}")(f"test.{kind}", value)
        for sub, value in [
            (Kind.UINT8, [1, 255]), (Kind.INT8, [-1, 1]), (Kind.UINT16, [65535]),
            (Kind.INT16, [-32768]), (Kind.UINT32, [2**32 - 1]), (Kind.INT32, [-5, 6]),
            (Kind.UINT64, [2**64 - 1]), (Kind.INT64, [-(2**63)]), (Kind.FLOAT32, [0.5, -2.0]),
            (Kind.FLOAT64, [0.1]), (Kind.BOOL, [True, False]), (Kind.STRING, ["a", "", "ß"]),
        ]:
            w.add_key_value(f"test.array.{sub.name.lower()}", value, Kind.ARRAY, sub_type=sub)
        w.add_key_value("test.array.nested", [[1, 2], [3]], Kind.ARRAY)

        x = rng.normal(size=(3, 4)).astype(np.float32)
        plain = {"f32": x, "f16": x.astype(np.float16), "f64": x.astype(np.float64)}
        plain |= {f"i{n}": np.array([-(2 ** (n - 1)), 0, 2 ** (n - 1) - 1], f"i{n // 8}") for n in (8, 16, 32, 64)}
        plain["scalar_row"] = np.array([2.5], np.float32)
        for name, array in plain.items():
            w.add_tensor(name, array)
            expected[name] = array
        bf16 = quantize(x, Type.BF16)
        w.add_tensor("bf16", bf16, raw_dtype=Type.BF16)
        expected["bf16"] = dequantize(bf16, Type.BF16).reshape(x.shape)

        # Blocks of random bytes have every value of every field; the halves are their scales.
        scales = {
            Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0],
            Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208],
        }
        for kind, positions in scales.items():
            length, size = gguf.GGML_QUANT_SIZES[kind]
            rows, each = 3, 512 // length if length == 256 else 4
            blocks = rng.integers(0, 256, size=(rows * each, size), dtype=np.uint8)
            blocks = halves(rng, blocks, 0.1, positions).reshape(rows, each * size)
            name = kind.name.lower()
            w.add_tensor(name, blocks, raw_dtype=kind)
            expected[name] = dequantize(blocks, kind).reshape(rows, each * length)
        # Types that Ramie lists, but does not read.
        w.add_tensor("q2_k", np.zeros((1, 84), np.uint8), raw_dtype=Type.Q2_K)

    written(OUT / "types.gguf", fill, "test")
    arrays = {n: np.ascontiguousarray(a, a.dtype if a.dtype.kind == "i" or a.dtype == np.float64 else np.float32) for n, a in expected.items()}
    save_file(arrays, OUT / "types.safetensors", metadata={"gguf": "0.19.0"})


def permuted(w, heads):
    """The order of rotary features in llama.cpp: pairs side by side."""
    return w.reshape(heads, 2, w.shape[0] // heads // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
}


def model(arch):
    folder = DATA / f"hf_{arch}"
    config = json.loads((folder / "config.json").read_text())
    heads, kv = config["num_attention_heads"], config["num_key_value_heads"]

    def fill(w):
        w.add_block_count(config["num_hidden_layers"])
        w.add_context_length(config["max_position_embeddings"])
        w.add_embedding_length(config["hidden_size"])
        w.add_feed_forward_length(config["intermediate_size"])
        w.add_head_count(heads)
        w.add_head_count_kv(kv)
        w.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
        w.add_layer_norm_rms_eps(config["rms_norm_eps"])
        if arch == "llama":
            w.add_vocab_size(config["vocab_size"])
            w.add_rope_dimension_count(config["hidden_size"] // heads)
        elif "head_dim" in config:
            w.add_key_length(config["head_dim"])
            w.add_value_length(config["head_dim"])
        w.add_bos_token_id(0)
        w.add_eos_token_id(0)
        for shard in sorted(folder.glob("model*.safetensors")):
            with safe_open(shard, "np") as tensors:
                for name in tensors.keys():
                    array = tensors.get_tensor(name)
                    parts = name.split(".")
                    if name == "lm_head.weight":
                        to = "output.weight"
                    elif name == "model.embed_tokens.weight":
                        to = "token_embd.weight"
                    elif name == "model.norm.weight":
                        to = "output_norm.weight"
                    else:
                        to = f"blk.{parts[2]}.{NAMES['.'.join(parts[3:-1])]}.{parts[-1]}"
                    # The converter only changes the order of this architecture.
                    if arch == "llama" and (".attn_q." in to or ".attn_k." in to):
                        array = permuted(array, heads if ".attn_q." in to else kv)
                    w.add_tensor(to, np.ascontiguousarray(array))

    written(OUT / f"{arch}.gguf", fill, arch)


def reference(tokens, merges, special, digits):
    """The tokenizer of the package `tokenizers` with a file's tokens."""
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges))
    parts = [pre_tokenizers.Digits(individual_digits=True)] if digits else []
    parts.append(pre_tokenizers.ByteLevel(add_prefix_space=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([tokens[i] for i in special])
    return tokenizer


def rows(tokenizer):
    return [{"text": t, "tokens": tokenizer.encode(t).ids} for t in TEXTS]


def dump(path, value, lists):
    """Writes JSON with one row per line."""
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in value.items() if k not in lists]
    for key in lists:
        inner = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in value[key])
        lines.append(f"{json.dumps(key)}: [\n  {inner}\n ]")
    path.write_text("{\n " + ",\n ".join(lines) + "\n}\n")


def tiny_model(w, vocabulary):
    """A Llama model with one block, quantized, whose output is its embedding."""
    rng = np.random.default_rng(5)
    w.add_block_count(1)
    w.add_context_length(64)
    w.add_embedding_length(32)
    w.add_feed_forward_length(64)
    w.add_head_count(4)
    w.add_head_count_kv(2)
    w.add_layer_norm_rms_eps(1e-5)

    def add(name, kind, *shape):
        array = rng.normal(size=shape).astype(np.float32)
        w.add_tensor(name, quantize(array, kind), raw_dtype=kind)

    add("token_embd.weight", Type.Q8_0, vocabulary, 32)
    for name, rows, columns in [
        ("attn_q", 32, 32), ("attn_k", 16, 32), ("attn_v", 16, 32), ("attn_output", 32, 32),
        ("ffn_gate", 64, 32), ("ffn_up", 64, 32), ("ffn_down", 32, 64),
    ]:
        add(f"blk.0.{name}.weight", Type.Q4_1, rows, columns)
    for name in ["blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"]:
        add(f"{name}.weight", Type.F32, 32)


def tokenizer():
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    trained = tokenizers.Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=420, special_tokens=special, initial_alphabet=alphabet, show_progress=False)
    sources = [p.read_text() for p in sorted(pathlib.Path(__file__).parent.glob("*.md"))]
    trained.train_from_iterator(sources + TEXTS, trainer)
    model = json.loads(trained.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    merges = [tuple(m) for m in model["merges"]]

    def fill(w, name="tokenizer"):
        w.add_name(name)
        w.add_tokenizer_model("gpt2")
        w.add_tokenizer_pre("smollm")
        w.add_token_list(tokens)
        w.add_token_types([3 if t in special else 1 for t in tokens])
        w.add_token_merges([" ".join(m) for m in merges])
        w.add_bos_token_id(1)
        w.add_eos_token_id(2)
        w.add_chat_template(TEMPLATE)

    written(OUT / "tokenizer.gguf", fill)
    written(OUT / "chat.gguf", lambda w: (fill(w, "tiny model"), tiny_model(w, len(tokens))))
    chats = [
        [{"role": "user", "content": "What is the capital of France?"}],
        [
            {"role": "system", "content": "Answer <b>in French</b>."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Salut"},
            {"role": "user", "content": "'Bye' & \"thanks\""},
        ],
    ]
    # The options that `transformers` compiles templates with.
    template = jinja2.Environment(trim_blocks=True, lstrip_blocks=True).from_string(TEMPLATE)
    chats = [
        {"messages": m, "text": template.render(messages=m, add_generation_prompt=True)} for m in chats
    ]
    value = {
        "tokenizers": tokenizers.__version__,
        "smollm": rows(reference(tokens, merges, range(3), digits=True)),
        "gpt-2": rows(reference(tokens, merges, range(3), digits=False)),
        "chats": chats,
    }
    dump(OUT / "tokenizer.json", value, ["smollm", "gpt-2", "chats"])


def real(path):
    fields = GGUFReader(path).fields
    get = lambda key: fields[f"tokenizer.ggml.{key}"].contents()
    merges = [tuple(m.split(" ")) for m in get("merges")]
    special = [i for i, t in enumerate(get("token_type")) if t == 3]
    made = reference(get("tokens"), merges, special, digits=True)
    dump(OUT / "smollm2.json", {"tokenizers": tokenizers.__version__, "rows": rows(made)}, ["rows"])


OUT.mkdir(exist_ok=True)
types()
for arch in ["llama", "qwen2", "qwen3"]:
    model(arch)
tokenizer()
if "REAL_MODEL" in os.environ:
    real(os.environ["REAL_MODEL"])
for file in sorted(OUT.iterdir()):
    print(file.name, f"{file.stat().st_size / 1000:.0f} kB")
