//! Damaged files by chance, for models in GGUF files.
//!
//! `RAMIE_FUZZ_INPUTS=100000 cargo test -p ramie-models --test fuzz -- --nocapture` is a long run.

use ramie_checkpoint::gguf::GgufFile;
use ramie_models::Llama;
use ramie_testing::fuzz::{at_path, is_read};
use ramie_testing::golden;

#[test]
fn damaged_files_are_refused() {
    let sound = ["gguf/llama.gguf", "gguf/chat.gguf", "gguf/qwen3.gguf"].map(golden::bytes);
    at_path("llama", &sound, |path| {
        is_read(GgufFile::open(path).map(|file| is_read(Llama::from_gguf(&file))))
    });
}
