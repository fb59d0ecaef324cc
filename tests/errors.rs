//! Error messages: runs every entry of `docs/errors.md`.
//!
//! The document is made of these tests. A case is a title and a closure that
//! makes a mistake; its source text and its message are what the document
//! shows. If one of them changes, the test fails, and
//!
//! ```text
//! RAMIE_BLESS=1 cargo test --test errors
//! ```
//!
//! writes the document anew. Read the difference: a message is part of the
//! interface.

#[path = "errors/algebra.rs"]
mod algebra;
#[path = "errors/arrays.rs"]
mod arrays;
#[path = "errors/checkpoints.rs"]
mod checkpoints;
#[path = "errors/control.rs"]
mod control;
#[path = "errors/document.rs"]
mod document;
#[path = "errors/indexing.rs"]
mod indexing;
#[path = "errors/meshes.rs"]
mod meshes;
#[path = "errors/numbers.rs"]
mod numbers;
#[path = "errors/optimizers.rs"]
mod optimizers;
#[path = "errors/rules.rs"]
mod rules;
#[path = "errors/shapes.rs"]
mod shapes;
#[path = "errors/tracing.rs"]
mod tracing;
#[path = "errors/transformations.rs"]
mod transformations;
#[path = "errors/trees.rs"]
mod trees;

use document::{Section, sections};

fn all() -> Vec<Section> {
    sections![
        arrays "Elements, types and devices";
        shapes "Shapes";
        indexing "Indices";
        numbers "Operations on numbers";
        algebra "Convolutions, windows and matrices";
        transformations "Transformations";
        control "Control flow";
        rules "Custom rules, axis names, callbacks, exports";
        tracing "Tracers and compiled functions";
        meshes "Meshes and shardings";
        trees "Trees and states";
        optimizers "Optimizers";
        checkpoints "Checkpoints";
    ]
}

#[test]
fn every_mistake_is_explained_as_the_document_shows() {
    // Mistakes on meshes are made with 8 virtual CPU devices.
    let options = ramie::RuntimeOptions {
        cpu_devices: Some(8),
        ..Default::default()
    };
    ramie::configure(options).expect("the first use of the runtime");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/errors.md");
    let (text, problems) = document::render(&all());
    if std::env::var_os("RAMIE_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(path, &text).expect("the document can be written");
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    let shown = std::fs::read_to_string(path).expect("the document can be read");
    for (i, (now, then)) in text.lines().zip(shown.lines()).enumerate() {
        assert!(
            now == then,
            "docs/errors.md, line {}, shows\n  {then}\nbut it is now\n  {now}\nhelp: if that is \
             right, RAMIE_BLESS=1 cargo test --test errors",
            i + 1
        );
    }
    assert_eq!(text.lines().count(), shown.lines().count());
}
