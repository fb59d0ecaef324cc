//! Damaged files by chance, for every reader.
//!
//! `RAMIE_FUZZ_INPUTS=1000000 cargo test -p ramie-data --all-features --test fuzz -- --nocapture`
//! is a long run.

mod common;

use common::{CSV, EXAMPLE, JSON_LINES, cifar10, gzip, idx, matrix, npz, safetensors, tfrecord};
use ramie_data::readers::bpe::ByteLevelBpe;
use ramie_data::readers::cifar::{self, Classes};
use ramie_data::readers::jsonl::JsonLines;
use ramie_data::readers::safetensors::Safetensors;
use ramie_data::readers::text::Lines;
use ramie_data::readers::tfrecord::{Example, TfRecords};
use ramie_data::readers::tokens::{TokenFile, TokenType};
use ramie_data::readers::{csv, idx as idx_files, npy, wav};
use ramie_data::{Result, Source};
use ramie_testing::fuzz::{at_path, fuzz, is_read};

#[test]
fn damaged_files_are_refused() {
    fuzz("idx", &[idx(), gzip(&idx())], |b| {
        is_read(idx_files::parse("f", b))
    });
    fuzz("cifar", &[cifar10()[..3073].to_vec()], |b| {
        let hundred = is_read(cifar::parse("f", b, Classes::Hundred));
        is_read(cifar::parse("f", b, Classes::Ten)) || hundred
    });
    fuzz("csv", &[CSV.into()], |b| {
        let table = csv::parse("f", b, &csv::Options::default());
        is_read(table.map(|t| {
            for name in t.names() {
                is_read(t.column::<f32>(name));
                is_read(t.classes(name));
            }
        }))
    });
    fuzz("npy", &[npy::to_bytes(&matrix()).unwrap()], |b| {
        is_read(npy::parse("f", b))
    });
    fuzz("wav", &[common::wav(3, 32, &[0; 24])], |b| {
        is_read(wav::parse("f", b))
    });
    fuzz("npz", &[npz()], |b| is_read(npy::parse_npz("f", b)));
    at_path("bpe", &[common::gguf_tokenizer()], |path| {
        let tokenizer = ByteLevelBpe::load(path);
        is_read(tokenizer.and_then(|t| t.decode(&t.encode("It's <|im_end|> é 12"))))
    });
    at_path("jsonl", &[JSON_LINES.into()], |path| {
        let lines: JsonLines<serde_json::Value> = JsonLines::open(path).unwrap();
        lines.iter().all(is_read)
    });
    at_path(
        "lines",
        &[b"one\ntwo\r\n\nthree".to_vec(), "\u{e9}\n".into()],
        |path| Lines::open(path).unwrap().iter().all(is_read),
    );
    at_path("tokens", &[(0..64).collect()], |path| {
        let file = TokenFile::open(path, TokenType::U32);
        let windows = file.map(|f| f.next_token_windows(3));
        is_read(windows.and_then(|w| w.iter().collect::<Result<Vec<_>>>()))
    });
    at_path("tfrecord", &[tfrecord()], |path| {
        let records = TfRecords::open(path);
        is_read(records.and_then(|r| r.iter().collect::<Result<Vec<_>>>()))
    });
    fuzz("example", &[EXAMPLE.into()], |b| is_read(Example::parse(b)));
    at_path("safetensors", &[safetensors()], |path| {
        let file = Safetensors::open(path);
        is_read(file.map(|file| {
            for name in file.names() {
                is_read(file.get(name));
                is_read(file.rows(name).map(|rows| rows.iter().take(100).count()));
            }
        }))
    });
    #[cfg(feature = "images")]
    fuzz("images", &common::images(), |b| {
        is_read(ramie_data::readers::images::decode("f", b))
    });
    #[cfg(feature = "parquet")]
    at_path("parquet", &common::parquet_and_arrow(), |path| {
        let table = ramie_data::readers::parquet::load(path);
        is_read(table.map(|t| {
            for name in t.names() {
                is_read(t.column(name));
                is_read(t.texts(name));
            }
        }))
    });
    #[cfg(feature = "tokenizers")]
    fuzz("tokenizers", &[common::TOKENIZER.into()], |b| {
        let tokenizer = ramie_data::readers::tokenizers::Tokenizer::parse("f", b);
        is_read(tokenizer.and_then(|t| t.encode("hello world")))
    });
}
