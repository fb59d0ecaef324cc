//! Texts that contradict themselves give errors, not panics.

use crate::function;
use ramie_cpu::{Error, Program};

fn error(text: &str) -> Error {
    Program::compile(text).expect_err("the text is wrong")
}

#[test]
fn wrong_types_name_the_line_and_the_operation() {
    let text = function(
        "(%x: tensor<2xf32>) -> tensor<3xf32>",
        "%0 = \"stablehlo.add\"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>\nreturn %0 : tensor<3xf32>",
    );
    let message = error(&text).to_string();
    assert_eq!(
        message,
        "StableHLO line 3: stablehlo.add: result 0 has type tensor<2xf32>, not tensor<3xf32>"
    );
}

#[test]
fn unknown_operations_are_unsupported() {
    let text = function(
        "(%x: tensor<2xf32>) -> tensor<2xf32>",
        "%0 = \"stablehlo.nonsense\"(%x) : (tensor<2xf32>) -> tensor<2xf32>\nreturn %0 : tensor<2xf32>",
    );
    let Error::Unsupported { line: 3, message } = error(&text) else {
        panic!("another error")
    };
    assert_eq!(message, "operation stablehlo.nonsense is not implemented");
}

#[test]
fn recursion_and_huge_arrays_are_errors() {
    let recursive = "module {\n func.func @main() {\n call @main() : () -> ()\n return\n }\n}";
    assert!(error(recursive).to_string().contains("calls itself"));
    let huge = function(
        "(%x: tensor<9223372036854775807x9223372036854775807xf32>) -> ()",
        "return",
    );
    assert!(matches!(
        error(&huge),
        Error::Text { .. } | Error::Unsupported { .. }
    ));
}

#[test]
fn arrays_without_memory_are_errors() {
    let text = function(
        "() -> tensor<1152921504606846975xf64>",
        "%0 = stablehlo.iota dim = 0 : tensor<1152921504606846975xf64>\nreturn %0 : tensor<1152921504606846975xf64>",
    );
    let program = Program::compile(&text).unwrap();
    assert!(matches!(program.run(&[]), Err(Error::Memory(_))));
}

/// Each function contains loops in loops and calls the one before it.
#[test]
fn deep_nesting_is_unsupported() {
    let mut text = String::from("module {\n");
    for i in 0..20 {
        let inner = if i == 0 {
            "%r = stablehlo.add %x, %x : tensor<i1>".into()
        } else {
            format!(
                "%r = func.call @f{}(%x) : (tensor<i1>) -> tensor<i1>",
                i - 1
            )
        };
        let mut body = format!("{inner}\n stablehlo.return %r : tensor<i1>\n");
        for depth in 0..40 {
            let end = if depth == 39 {
                "return"
            } else {
                "stablehlo.return"
            };
            body = format!(
                "%c{depth} = \"stablehlo.if\"(%x) ({{\n{body} }}, {{\n stablehlo.return %x : tensor<i1>\n }}) : (tensor<i1>) -> tensor<i1>\n {end} %c{depth} : tensor<i1>\n"
            );
        }
        text += &format!("func.func private @f{i}(%x: tensor<i1>) -> tensor<i1> {{\n{body}}}\n");
    }
    for (last, allowed) in [(2, true), (19, false)] {
        let calls: String = (0..=last)
            .map(|i| format!("%{i} = func.call @f{i}(%x) : (tensor<i1>) -> tensor<i1>\n"))
            .collect();
        let main = format!(
            "func.func public @main(%x: tensor<i1>) -> tensor<i1> {{\n{calls} return %0 : tensor<i1>\n}}\n}}\n"
        );
        match Program::compile(&(text.clone() + &main)) {
            Ok(_) => assert!(allowed),
            Err(Error::Unsupported { .. }) => assert!(!allowed),
            Err(other) => panic!("{other}"),
        }
    }
}
