//! Error messages: runs programs with a mistake and compares their messages with the recorded ones.
//!
//! A case has a title and a closure that makes a mistake. `errors/messages.txt` records the title and the
//! message. If a message changes, the test fails, and
//!
//! ```text
//! RAMIE_BLESS=1 cargo test --test errors
//! ```
//!
//! records the new one. Review the diff: messages are part of the interface.
//!
//! The test also writes the entries of the book's page, each with its program, to `target/tmp/errors.md`.

mod algebra;
mod arrays;
mod checkpoints;
mod control;
mod data;
mod document;
mod indexing;
mod meshes;
mod numbers;
mod optimizers;
mod rules;
mod shapes;
mod tracing;
mod transformations;
mod trees;

use document::{Section, sections};
use ramie::State;
use ramie::checkpoint;
use ramie::core::export::Exported;
use ramie::data::readers::text::Lines;
use ramie::models::{Bert, Pretrained};
use ramie::train::writers::JsonLinesWriter;

fn all() -> Vec<Section> {
    sections![
        arrays "Creating and reading arrays";
        shapes "Shapes, axes and matrix products";
        indexing "Indexing";
        numbers "Arithmetic, reductions, sorting and random numbers";
        algebra "Convolutions, pooling and linear algebra";
        transformations "Gradients and vmap";
        control "Control flow and training loops";
        rules "Custom derivatives, collectives, callbacks and export";
        tracing "Tracing and jit";
        meshes "Meshes, sharding and shard_map";
        trees "Pytrees and states";
        optimizers "Optimizers";
        checkpoints "Checkpoints";
        data "Data loading";
    ]
}

#[test]
fn messages_match_the_record() {
    // The cases with meshes need 8 virtual CPU devices.
    ramie_testing::cpu_devices(8);
    let (record, page, problems) = document::render(&all());
    let entries = concat!(env!("CARGO_TARGET_TMPDIR"), "/errors.md");
    std::fs::write(entries, page).expect("the entries can be written");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/errors/messages.txt");
    if std::env::var_os("RAMIE_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(path, &record).expect("the record can be written");
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    let recorded = std::fs::read_to_string(path).expect("the record can be read");
    for (i, (now, then)) in record.lines().zip(recorded.lines()).enumerate() {
        assert!(
            now == then,
            "tests/errors/messages.txt, line {}, differs:\n  expected {then}\n  got {now}\n  help: to accept \
             the new messages, run RAMIE_BLESS=1 cargo test --test errors",
            i + 1
        );
    }
    assert_eq!(record.lines().count(), recorded.lines().count());
}

/// `unwrap`, and a `main` that returns an error, print its `Debug` form.
#[test]
fn unwrap_reports_the_message() {
    #[track_caller]
    fn check<T>(result: Result<T, impl std::error::Error>) {
        let error = result.err().expect("an error");
        assert_eq!(format!("{error:?}"), error.to_string());
    }
    let missing = "missing/file";
    check(Exported::deserialize(b"not a program"));
    check(State::default().apply_to(&mut ramie::Array::from(1.0f32)));
    check(Lines::open(missing));
    check(Bert::from_pretrained(missing));
    check(JsonLinesWriter::create("Cargo.toml/file"));
    check(ramie_plot::Plot::new().save(missing));
    check("gpu".parse::<ramie::pjrt::Target>());
    let message = ramie_testing::panic_message(|| checkpoint::load_state(missing).unwrap());
    assert_eq!(
        message,
        "called `Result::unwrap()` on an `Err` value: missing/file: cannot be read: No such file or directory \
         (os error 2)\n  help: check the path; a relative path starts in the working directory"
    );
}
