//! Tests of the parser of StableHLO text.

mod checks;
mod damage;
#[path = "../common/damage.rs"]
mod damages;
mod elements;
mod forms;
mod modules;

use ramie_cpu::text::{Attribute, Attributes, Module, Operation, parse};
use std::path::PathBuf;

/// Returns the recorded modules: small programs of JAX's tests, in the pretty form, and of Ramie.
fn recorded() -> Vec<(PathBuf, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/text");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// Returns the text of a function with these arguments around an operation.
fn function(arguments: &str, operation: &str) -> String {
    format!(
        "func.func @f({arguments}) {{\n{operation}\nreturn\n}}\nfunc.func @g(%x: tensor<f32>) -> tensor<f32> {{\n  return %x : tensor<f32>\n}}\n"
    )
}

fn parsed(text: &str) -> Module {
    parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Returns the operation of [`function`].
fn operation(arguments: &str, text: &str) -> Operation {
    let mut module = parsed(&function(arguments, text));
    module.functions[0].body.operations.swap_remove(0)
}

/// Returns an attribute of an operation without operands, in the generic form.
fn attribute(value: &str) -> Attribute {
    let operation = operation("", &format!("\"test.op\"() <{{a = {value}}}> : () -> ()"));
    operation.attributes.get("a").unwrap().clone()
}

/// Sorts attributes by name and forgets lines, so that equal operations compare equal.
fn normalize(operation: &mut Operation) {
    fn sort(attributes: &mut Attributes) {
        attributes.0.sort_by(|a, b| a.0.cmp(&b.0));
    }
    operation.line = 0;
    sort(&mut operation.attributes);
    for block in &mut operation.regions {
        block.operations.iter_mut().for_each(normalize);
    }
}

/// Returns the message of the error for a text.
fn error(text: &str) -> String {
    match parse(text) {
        Ok(_) => panic!("no error:\n{text}"),
        Err(e) => e.to_string(),
    }
}
