//! Damaged files by chance, for every reader.
//!
//! `RAMIE_FUZZ_INPUTS=1000000 cargo test -p ramie-data --all-features --test fuzz -- --nocapture`
//! is a long run.

mod common;

use common::{CSV, EXAMPLE, JSON_LINES, cifar10, gzip, idx, matrix, npz, safetensors, tfrecord};
use ramie_data::Source;
use ramie_data::readers::bpe::ByteLevelBpe;
use ramie_data::readers::cifar::{self, Classes};
use ramie_data::readers::jsonl::JsonLines;
use ramie_data::readers::safetensors::Safetensors;
use ramie_data::readers::text::Lines;
use ramie_data::readers::tfrecord::{Example, TfRecords};
use ramie_data::readers::tokens::{TokenFile, TokenType};
use ramie_data::readers::{csv, idx as idx_files, npy, wav};
use ramie_testing::fuzz::{at_path, fuzz};

#[test]
fn damaged_files_are_refused() {
    fuzz("idx", &[idx(), gzip(&idx())], |b| {
        idx_files::parse("f", b).is_ok()
    });
    fuzz("cifar", &[cifar10()[..3073].to_vec()], |b| {
        let hundred = cifar::parse("f", b, Classes::Hundred).is_ok();
        cifar::parse("f", b, Classes::Ten).is_ok() || hundred
    });
    fuzz("csv", &[CSV.into()], |b| {
        let table = csv::parse("f", b, &csv::Options::default());
        table.is_ok_and(|t| {
            let names = t.names().to_vec();
            names
                .iter()
                .for_each(|n| drop((t.column::<f32>(n), t.classes(n))));
            true
        })
    });
    fuzz("npy", &[npy::to_bytes(&matrix()).unwrap()], |b| {
        npy::parse("f", b).is_ok()
    });
    fuzz("wav", &[common::wav(3, 32, &[0; 24])], |b| {
        wav::parse("f", b).is_ok()
    });
    fuzz("npz", &[npz()], |b| npy::parse_npz("f", b).is_ok());
    at_path("bpe", &[common::gguf_tokenizer()], |path| {
        let tokenizer = ByteLevelBpe::load(path);
        tokenizer.is_ok_and(|t| t.decode(&t.encode("It's <|im_end|> é 12")).is_ok())
    });
    at_path("jsonl", &[JSON_LINES.into()], |path| {
        let lines: JsonLines<serde_json::Value> = JsonLines::open(path).unwrap();
        lines.iter().all(|l| l.is_ok())
    });
    at_path(
        "lines",
        &[b"one\ntwo\r\n\nthree".to_vec(), "\u{e9}\n".into()],
        |path| Lines::open(path).unwrap().iter().all(|l| l.is_ok()),
    );
    at_path("tokens", &[(0..64).collect()], |path| {
        let file = TokenFile::open(path, TokenType::U32);
        file.is_ok_and(|f| f.next_token_windows(3).iter().all(|w| w.is_ok()))
    });
    at_path("tfrecord", &[tfrecord()], |path| {
        let records = TfRecords::open(path);
        records.is_ok_and(|r| r.iter().all(|r| r.is_ok()))
    });
    fuzz("example", &[EXAMPLE.into()], |b| Example::parse(b).is_ok());
    at_path("safetensors", &[safetensors()], |path| {
        let file = Safetensors::open(path);
        file.is_ok_and(|f| {
            f.names().all(|n| {
                let rows = f.rows(n).map(|r| r.iter().take(100).count());
                f.get(n).is_ok() | rows.is_ok()
            })
        })
    });
    #[cfg(feature = "images")]
    fuzz("images", &common::images(), |b| {
        ramie_data::readers::images::decode("f", b).is_ok()
    });
    #[cfg(feature = "parquet")]
    at_path("parquet", &common::parquet_and_arrow(), |path| {
        let table = ramie_data::readers::parquet::load(path);
        table.is_ok_and(|t| {
            let names: Vec<String> = t.names().map(String::from).collect();
            names.iter().for_each(|n| drop((t.column(n), t.texts(n))));
            true
        })
    });
    #[cfg(feature = "tokenizers")]
    fuzz("tokenizers", &[common::TOKENIZER.into()], |b| {
        let tokenizer = ramie_data::readers::tokenizers::Tokenizer::parse("f", b);
        tokenizer.is_ok_and(|t| t.encode("hello world").is_ok())
    });
}
