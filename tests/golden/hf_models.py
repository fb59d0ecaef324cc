"""GPT-2, Llama, Mistral and Qwen checkpoints as `transformers` writes them, with tiny random
weights, and what the reference computes with them.

Each folder `data/hf_<model>` has `config.json` and the weights in one file or in
shards, as `save_pretrained` writes them, and `reference.safetensors`:

    tokens      [batch, length] int32
    logits      [batch, length, vocabulary] float32
    greedy      [batch, length + new] int32: the tokens continued greedily

It needs `torch` and `transformers`, which the other scripts do not.
"""

import pathlib
import shutil

import torch
import transformers
from safetensors.torch import save_file
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

DATA = pathlib.Path(__file__).parent / "data"
NEW = 10


def record(name, model, shard="5GB", tokens=(2, 9)):
    folder = DATA / f"hf_{name}"
    shutil.rmtree(folder, ignore_errors=True)
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for path, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator) * 0.25
            p.copy_(1 + noise if p.ndim == 1 and "bias" not in path else noise)
        model.eval()
        ids = torch.randint(0, model.config.vocab_size, tokens, generator=generator)
        logits = model(ids).logits
        greedy = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=NEW,
            min_new_tokens=NEW,
            do_sample=False,
            pad_token_id=0,
        )
    model.save_pretrained(folder, max_shard_size=shard)
    (folder / "generation_config.json").unlink(missing_ok=True)
    arrays = {"tokens": ids.int(), "logits": logits.contiguous(), "greedy": greedy.int().contiguous()}
    meta = {"transformers": transformers.__version__, "torch": torch.__version__}
    save_file(arrays, folder / "reference.safetensors", metadata=meta)
    size = sum(f.stat().st_size for f in folder.iterdir())
    print(name, sorted(f.name for f in folder.iterdir()), f"{size / 1000:.0f} kB")


gpt2 = GPT2Config(
    vocab_size=53, n_positions=24, n_embd=24, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0
)
record("gpt2", GPT2LMHeadModel(gpt2))

llama = dict(
    vocab_size=53,
    max_position_embeddings=32,
    num_hidden_layers=2,
    bos_token_id=0,
    eos_token_id=0,
    rms_norm_eps=1e-5,
)
sizes = dict(hidden_size=24, intermediate_size=40, num_attention_heads=4, num_key_value_heads=2)
record("llama", LlamaForCausalLM(LlamaConfig(**llama, **sizes)), shard="25KB")

# One matrix for the first and the last layer, frequencies scaled as in Llama 3,
# heads whose size does not follow from the others, and biases.
scaling = dict(
    rope_type="llama3",
    rope_theta=500.0,
    factor=4.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=16,
)
sizes = dict(hidden_size=16, intermediate_size=24, num_attention_heads=4, num_key_value_heads=1, head_dim=8)
tied = LlamaConfig(**llama, **sizes, tie_word_embeddings=True, rope_parameters=scaling, attention_bias=True)
record("llama_tied", LlamaForCausalLM(tied))

# A window that is shorter than the sequences.
sizes = dict(hidden_size=16, intermediate_size=24, num_attention_heads=4, num_key_value_heads=2)
mistral = MistralConfig(**llama, **sizes, sliding_window=4)
record("mistral", MistralForCausalLM(mistral))

# Biases of queries, keys and values, but not of the output.
record("qwen2", Qwen2ForCausalLM(Qwen2Config(**llama, **sizes)))

# Normalized queries and keys, and heads whose size does not follow from the others.
qwen3 = Qwen3Config(**llama, **sizes, head_dim=8, tie_word_embeddings=True)
record("qwen3", Qwen3ForCausalLM(qwen3))
