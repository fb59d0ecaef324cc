"""Writes data/sampling.json: what the logits processors of `transformers` leave of logits.

Every row has the options of one call of `generate` and `output`: the logits `[batch, vocabulary]` after
the processors that `generate` creates from them, in its order, with null for minus infinity. `logits`
and `tokens`, `[batch, length]`, are the inputs of all rows.

It needs `torch` and `transformers`, which the other scripts do not. The file was made with torch 1.12.1
and transformers 4.44.2.
"""

import json
import math
import pathlib

import torch
import transformers
from transformers import GenerationConfig, GPT2Config, GPT2LMHeadModel, LogitsProcessorList

ROWS = [
    {"repetition_penalty": 1.3},
    {"repetition_penalty": 0.8},
    {"temperature": 0.7},
    {"top_k": 3},
    {"top_p": 0.7},
    {"min_p": 0.2},
    {"min_p": 0.05, "temperature": 2.5},
    {"min_p": 1.0, "top_k": 5},
    {"top_k": 6, "top_p": 0.8, "min_p": 0.1},
    {"repetition_penalty": 1.5, "temperature": 0.6, "top_k": 8, "top_p": 0.9, "min_p": 0.02},
]
ORDER = ["RepetitionPenaltyLogitsProcessor", "TemperatureLogitsWarper", "TopKLogitsWarper", "TopPLogitsWarper",
         "MinPLogitsWarper"]

generator = torch.Generator().manual_seed(3)
logits = torch.randn((3, 12), generator=generator) * 2
tokens = torch.tensor([[3, 3, 7, 0], [11, 2, 5, 2], [9, 9, 9, 9]])
model = GPT2LMHeadModel(GPT2Config(vocab_size=12, n_embd=4, n_layer=1, n_head=1))


def processed(options):
    """The logits after the processors that the model creates for these options."""
    config = GenerationConfig(do_sample=True, **{"top_k": 0, **options})
    config._eos_token_tensor = None
    before = model._get_logits_processor(
        config, tokens.shape[1], encoder_input_ids=tokens, prefix_allowed_tokens_fn=None,
        logits_processor=LogitsProcessorList(), device="cpu",
    )
    after = model._get_logits_warper(config, device="cpu")
    names = [type(p).__name__ for p in [*before, *after]]
    assert names == [n for n in ORDER if n in names], names
    return after(tokens, before(tokens, logits.clone()))


def plain(array):
    return [[None if math.isinf(x) else x for x in row] for row in array.tolist()]


rows = [json.dumps({**options, "output": plain(processed(options))}) for options in ROWS]
versions = {"torch": torch.__version__, "transformers": transformers.__version__}
text = f'{{{json.dumps(versions)[1:-1]},\n"logits": {json.dumps(plain(logits))},\n"tokens": {json.dumps(tokens.tolist())},\n"rows": [\n'
path = pathlib.Path(__file__).parent / "data" / "sampling.json"
path.write_text(text + ",\n".join(rows) + "\n]}\n")
print(path.name, len(rows), "rows")
