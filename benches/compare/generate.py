"""Measures greedy decoding of SmolLM2-135M in `transformers`; a JSON line per batch size.

    cargo bench --bench steps -- generate      # Ramie's lines; writes the model to out/smollm2
    pip install torch==1.12.1 transformers==4.44.2 "numpy<2"
    python generate.py ../../out/smollm2

Prompts of 32 tokens are continued by 64 tokens in float32. `prompt_s` is the time of the first token alone.
"""

import argparse
import json
import statistics
import time

import torch
import transformers

PROMPT, NEW = 32, 64


def measure(model, batch, samples, warmup):
    numbers = torch.arange(batch * PROMPT)
    tokens = (1000 + numbers * 7919 % 40_000).reshape(batch, PROMPT)

    def run(count):
        times = []
        for i in range(warmup + samples):
            begin = time.perf_counter()
            out = model.generate(tokens, attention_mask=torch.ones_like(tokens), do_sample=False, min_new_tokens=count,
                                 max_new_tokens=count, pad_token_id=0, eos_token_id=None)
            times.append(time.perf_counter() - begin)
        return times[warmup:], int(out[0, -1])

    (first, _), (times, last) = run(1), run(NEW)
    median = statistics.median(times)
    return {"workload": "generate", "framework": "transformers", "batch": batch, "median_s": median,
            "best_s": min(times), "samples": samples, "prompt_s": statistics.median(first),
            "tokens_per_s": round(batch * NEW / median, 1), "last": last}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="the checkpoint")
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=3)
    args = parser.parse_args()
    torch.set_grad_enabled(False)
    model = transformers.LlamaForCausalLM.from_pretrained(args.folder).float().eval()
    for batch in (1, 8):
        line = measure(model, batch, args.samples, args.warmup)
        print(json.dumps(line | {"torch": torch.__version__, "transformers": transformers.__version__}), flush=True)


main()
