//! Texts that contradict themselves.

use crate::{error, function, parsed};

const X: &str = "%x: tensor<f32>";

/// Arguments of a function, its operations, and the message.
const WRONG: &[(&str, &str, &str)] = &[
    (
        X,
        "%0 = stablehlo.abs %y : tensor<f32>",
        "line 2: stablehlo.abs: %y is not defined here",
    ),
    (
        X,
        "%0 = stablehlo.abs %0 : tensor<f32>",
        "%0 is not defined here",
    ),
    (
        X,
        "%0 = stablehlo.abs %1 : tensor<f32>\n%1 = stablehlo.abs %x : tensor<f32>",
        "%1 is not defined here",
    ),
    (
        X,
        "%x = stablehlo.abs %x : tensor<f32>",
        "%x is defined twice",
    ),
    (
        "%x: tensor<f32>, %x: tensor<f32>",
        "",
        "%x is defined twice",
    ),
    (
        X,
        "%0 = stablehlo.abs %x : tensor<2xf32>",
        "stablehlo.abs: the type of operand 0 is not that of its value",
    ),
    (
        X,
        "%0 = \"stablehlo.abs\"(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>",
        "1 operands, but 2 types of operands",
    ),
    (
        X,
        "%0:2 = stablehlo.abs %x : tensor<f32>",
        "1 results, but names for 2",
    ),
    (
        X,
        "%0 = stablehlo.abs %x#1 : tensor<f32>",
        "%x has 1 values, so there is no #1",
    ),
    (
        X,
        "%0 = stablehlo.abs %x : tensor<?xf32>",
        "tensors of dynamic shape are not supported",
    ),
    (
        X,
        "%0 = stablehlo.frobnicate %x : tensor<f32>",
        "the pretty form of this operation is unknown",
    ),
    (
        X,
        "%0 = call @h(%x) : (tensor<f32>) -> tensor<f32>",
        "func.call: there is no function @h",
    ),
    (
        X,
        "call @f(%x) : (tensor<f32>) -> ()",
        "func.call: @f calls itself",
    ),
    (
        X,
        "%0 = call @g(%x) : (tensor<f32>) -> ()",
        "0 results, but names for 1",
    ),
    (
        X,
        "call @g(%x) : (tensor<f32>) -> ()",
        "the results do not have the types of @g's results",
    ),
    (
        X,
        "%0 = call @g() : () -> tensor<f32>",
        "the operands do not have the types of @g's arguments",
    ),
    (
        X,
        "\"test.op\"() ({}) : () -> ()",
        "the region does not end with `return`",
    ),
    (
        X,
        "\"test.op\"() ({ %y = stablehlo.abs %x : tensor<f32> }) : () -> ()",
        "test.op: the region does not end with `return`",
    ),
    (
        X,
        "\"test.op\"() ({ stablehlo.return\n stablehlo.return }) : () -> ()",
        "an operation follows the end of the block",
    ),
    (
        X,
        "\"test.op\"() ({ ^a: stablehlo.return\n ^b: stablehlo.return }) : () -> ()",
        "regions of several blocks are not supported",
    ),
    (
        X,
        "\"test.op\"() ({ %y = stablehlo.abs %x : tensor<f32>\n stablehlo.return }) : () -> ()
         %0 = stablehlo.abs %y : tensor<f32>",
        "line 4: stablehlo.abs: %y is not defined here",
    ),
    (
        X,
        "\"test.op\"() ({ %y = stablehlo.abs %x : tensor<f32>\n stablehlo.return },
         { stablehlo.return %y : tensor<f32> }) : () -> ()",
        "stablehlo.return: %y is not defined here",
    ),
    (
        X,
        "\"test.op\"() ({ %x = stablehlo.abs %x : tensor<f32>\n stablehlo.return }) : () -> ()",
        "%x is defined twice",
    ),
    (
        X,
        "return %x : tensor<f32>",
        "an operation follows the end of the block",
    ),
    (
        "",
        "\"test.op\"() {a, a = 1} : () -> ()",
        "the attribute `a` is given twice",
    ),
    (
        "",
        "\"test.op\"() <{a = #b}> : () -> ()",
        "unknown attribute `#b`",
    ),
    ("%x: !t", "", "unknown type `!t`"),
    (
        "%x: tensor<2x!quant.uniform<i8:f32, 1.0>>",
        "",
        "quantized types are not supported",
    ),
    (
        "%x: tensor<2xf32>, %y: tensor<f32>",
        "%0 = stablehlo.reduce(%x init: %y) applies stablehlo.sort across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>",
        "expected a commutative operation of two operands",
    ),
];

#[test]
fn contradictions_are_errors() {
    for (arguments, operations, message) in WRONG {
        let text = function(arguments, operations);
        let error = error(&text);
        assert!(
            error.contains(message),
            "{operations}\nexpected {message}\n{error}"
        );
    }
}

#[test]
fn wrong_functions_are_errors() {
    let f = "func.func @f() {\n return\n}\n";
    for (text, message) in [
        (
            format!("{f}{f}"),
            "line 4: func.func @f: there are two functions of this name",
        ),
        (
            "func.func @f() -> tensor<f32> {\n return\n}".into(),
            "types of the returned values",
        ),
        (
            "func.func @f() {\n stablehlo.return\n}".into(),
            "does not end with `return`",
        ),
        (
            "func.func private @f()".into(),
            "functions without bodies are not supported",
        ),
        (
            "func.func private @f(tensor<f32>)".into(),
            "functions without bodies",
        ),
        (
            "module {\n".into(),
            "line 2: expected a function, found the end of the text",
        ),
        (format!("module {{}}\n{f}"), "expected the end of the text"),
        (format!("{f}é"), "unexpected character 'é'"),
        (format!("{f}\"a"), "the string has no closing quote"),
        ("{-# #-}".into(), "resources are not supported"),
    ] {
        let error = error(&text);
        assert!(
            error.contains(message),
            "{text}\nexpected {message}\n{error}"
        );
    }
    assert!(parsed("").functions.is_empty());
}

#[test]
fn calls_in_a_circle_are_errors() {
    let function = |name: usize, callee: usize| {
        format!("func.func @f{name}() {{\ncall @f{callee}() : () -> ()\nreturn\n}}\n")
    };
    let mut text: String = (0..50_000).map(|i| function(i, i + 1)).collect();
    let end = "func.func @f50000() {\nreturn\n}\n";
    assert_eq!(parsed(&format!("{text}{end}")).functions.len(), 50_001);
    text.push_str(&function(50_000, 20_000));
    assert!(error(&text).contains("calls itself"));
}

/// Returns `inside` with `open` and `close` around it, `depth` times.
fn nested(depth: usize, open: &str, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn depth_is_limited() {
    let regions = |depth| {
        let open = "\"test.op\"() ({\n";
        function(
            "",
            &nested(
                depth,
                open,
                "stablehlo.return",
                "\n}) : () -> ()\nstablehlo.return",
            ),
        )
    };
    // The body of the function is a region, too.
    let text = regions(199).replace("stablehlo.return\nreturn", "return");
    assert_eq!(parsed(&text).functions.len(), 2);
    assert!(error(&regions(200)).contains("regions are nested more than 200 times"));
    assert!(error(&regions(200_000)).contains("regions are nested more than 200 times"));
    let attribute =
        |value: String| function("", &format!("\"test.op\"() <{{a = {value}}}> : () -> ()"));
    let message = "attributes and types are nested more than 100 times";
    parsed(&attribute(nested(99, "[", "1", "]")));
    for (open, inside, close) in [
        ("[", "1", "]"),
        ("{a = ", "1", "}"),
        ("tuple<", "tensor<f32>", ">"),
        ("#stablehlo.x<a = ", "1", ">"),
    ] {
        assert!(error(&attribute(nested(200_000, open, inside, close))).contains(message));
    }
    let axes = "1x".repeat(200_000);
    let constant = format!(
        "dense<{}> : tensor<{axes}f32>",
        nested(200_000, "[", "1.0", "]")
    );
    assert!(error(&attribute(constant)).contains(message));
}

#[test]
fn aliases_are_limited() {
    let attribute = |lines: String| format!("{lines}module {{}}");
    let chain = (1..200).map(|i| format!("#a{i} = [#a{}]\n", i - 1));
    let deep = attribute(format!("#a0 = 1\n{}", chain.collect::<String>()));
    assert!(error(&deep).contains("nested more than 100 times"));
    let chain = (1..60).map(|i| format!("#a{i} = [#a{0}, #a{0}]\n", i - 1));
    let wide = attribute(format!("#a0 = 1\n{}", chain.collect::<String>()));
    assert!(error(&wide).contains("the aliases expand to too many"));
    let chain = (1..60).map(|i| format!("!t{i} = tuple<!t{0}, !t{0}>\n", i - 1));
    let wide = attribute(format!("!t0 = tensor<f32>\n{}", chain.collect::<String>()));
    assert!(error(&wide).contains("the aliases expand to too many"));
}
