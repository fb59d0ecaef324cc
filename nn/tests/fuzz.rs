//! Damaged files by chance, for models in GGUF files.
//!
//! `RAMIE_FUZZ_INPUTS=100000 cargo test -p ramie-nn --test fuzz -- --nocapture` is a long run.

#[path = "../../tests/common/fuzz.rs"]
mod fuzz;

use fuzz::at_path;
use ramie_checkpoint::gguf::GgufFile;
use ramie_nn::models::Llama;
use std::path::Path;

#[test]
fn damaged_files_are_refused() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/data/gguf");
    let sound = ["llama.gguf", "chat.gguf"].map(|name| std::fs::read(data.join(name)).unwrap());
    at_path("llama", &sound, |path| {
        GgufFile::open(path).is_ok_and(|file| Llama::from_gguf(&file).is_ok())
    });
}
