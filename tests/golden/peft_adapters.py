"""LoRA adapters as `peft` writes them, on the tiny models of `hf_models.py` and `bert.py`.

Each folder `data/peft/<model>` has `adapter_config.json` and `adapter_model.safetensors`, as `save_pretrained`
writes them, and `reference.safetensors`:

    tokens    [batch, length] int32
    output    [batch, length, ..] float32: the logits, or the features of BERT, with the adapter

    python peft_adapters.py --check MODEL FOLDER

compares the output with an adapter in another folder, such as one that Ramie wrote.

It needs `torch`, `transformers` and `peft`, which the other scripts do not. The files were made with torch
1.12.1, transformers 4.44.2 and peft 0.12.0.
"""

import pathlib
import shutil
import sys

import peft
import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import BertModel, GPT2LMHeadModel, LlamaForCausalLM

DATA = pathlib.Path(__file__).parent / "data"
CLASSES = {"llama": LlamaForCausalLM, "gpt2": GPT2LMHeadModel, "bert": BertModel}
CONFIGS = {
    # Ranks and factors that differ between layers.
    "llama": LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"],
                        rank_pattern={"down_proj": 2}, alpha_pattern={"v_proj": 3, "layers.1.self_attn.q_proj": 5}),
    # One matrix for queries, keys and values.
    "gpt2": LoraConfig(r=3, lora_alpha=6, target_modules=["c_attn", "c_fc"], fan_in_fan_out=True),
    # The factor is divided by the square root of the rank.
    "bert": LoraConfig(r=4, lora_alpha=6, target_modules=["query", "value", "intermediate.dense"], use_rslora=True),
}


def base(name):
    return CLASSES[name].from_pretrained(DATA / f"hf_{name}").eval()


def output(model, tokens):
    with torch.no_grad():
        out = model(tokens.long())
    return (out.logits if hasattr(out, "logits") else out.last_hidden_state).contiguous()


def record(name):
    generator = torch.Generator().manual_seed(5)
    tokens = torch.randint(1, 53, (2, 9), generator=generator)
    plain = output(base(name), tokens)
    model = get_peft_model(base(name), CONFIGS[name]).eval()
    for path, p in model.named_parameters():
        if "lora_" in path:
            p.data = torch.randn(p.shape, generator=generator) * 0.3
    folder = DATA / "peft" / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    config = folder / "adapter_config.json"
    # The path of the base model depends on the machine.
    config.write_text(config.read_text().replace(str(DATA / f"hf_{name}"), f"hf_{name}") + "\n")
    adapted = output(model, tokens)
    meta = {"peft": peft.__version__, "transformers": transformers.__version__}
    save_file({"tokens": tokens.int(), "output": adapted}, folder / "reference.safetensors", metadata=meta)
    print(name, [f.name for f in folder.iterdir()], (adapted - plain).abs().max().item())


def check(name, folder):
    reference = load_file(DATA / "peft" / name / "reference.safetensors")
    model = PeftModel.from_pretrained(base(name), folder).eval()
    difference = (output(model, reference["tokens"]) - reference["output"]).abs().max().item()
    scale = reference["output"].abs().max().item()
    print(name, difference, scale)
    assert difference < 1e-5 * scale


if sys.argv[1:2] == ["--check"]:
    check(*sys.argv[2:])
else:
    for name in CONFIGS:
        record(name)
