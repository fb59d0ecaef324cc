//! Values of attributes, and the elements of constants.

use crate::{attribute, error, function};
use ramie_cpu::text::{Attribute, Attributes};

/// Returns the bytes of a constant.
fn data(constant: &str) -> Vec<u8> {
    match attribute(constant) {
        Attribute::Dense { data, .. } => data,
        other => panic!("{other:?}"),
    }
}

fn bytes<const N: usize, T>(values: &[T], bytes: fn(&T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(bytes).collect()
}

#[test]
fn integers_have_the_bytes_of_their_type() {
    let i16s = |v: &[i16]| bytes(v, |x| x.to_le_bytes());
    assert_eq!(data("dense<[1, -2]> : tensor<2xi16>"), i16s(&[1, -2]));
    assert_eq!(data("dense<65535> : tensor<i16>"), i16s(&[-1]));
    assert_eq!(data("dense<[0x10, 3]> : tensor<2xi16>"), i16s(&[16, 3]));
    assert_eq!(data("dense<[-1, 7]> : tensor<2xi4>"), [255, 7]);
    assert_eq!(data("dense<[15, 3]> : tensor<2xui4>"), [15, 3]);
    assert_eq!(data("dense<[true, false, 1]> : tensor<3xi1>"), [1, 0, 1]);
    assert_eq!(data("dense<18446744073709551615> : tensor<ui64>"), [255; 8]);
    assert_eq!(
        data("dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>"),
        [1, 2, 3, 4]
    );
}

#[test]
fn floats_have_the_bytes_of_their_type() {
    let f32s = |v: &[f32]| bytes(v, |x| x.to_le_bytes());
    assert_eq!(
        data("dense<[1.0, -2.5e-1]> : tensor<2xf32>"),
        f32s(&[1.0, -0.25])
    );
    assert_eq!(
        data("dense<0xFF800000> : tensor<f32>"),
        f32s(&[f32::NEG_INFINITY])
    );
    assert_eq!(
        data("dense<[-0.0, 0.0]> : tensor<2xf32>"),
        f32s(&[-0.0, 0.0])
    );
    assert_eq!(data("dense<1.5> : tensor<f64>"), 1.5f64.to_le_bytes());
    assert_eq!(
        data("dense<[1.0, 3.1415]> : tensor<2xbf16>"),
        [0x80, 0x3F, 0x49, 0x40]
    );
    assert_eq!(data("dense<0x7E00> : tensor<f16>"), [0, 0x7E]);
    assert_eq!(
        data("dense<[1.0, 0xFF]> : tensor<2xf8E4M3FN>"),
        [0x38, 0xFF]
    );
    assert_eq!(data("dense<6.0> : tensor<f4E2M1FN>"), [7]);
    assert_eq!(
        data("dense<[(1.0, -1.0), (0x7FC00000, 2.0)]> : tensor<2xcomplex<f32>>"),
        f32s(&[1.0, -1.0, f32::from_bits(0x7FC0_0000), 2.0])
    );
}

#[test]
fn equal_elements_are_stored_once() {
    assert_eq!(data("dense<7> : tensor<1000000x1000000xi8>"), [7]);
    assert_eq!(data("dense<[7, 7, 7]> : tensor<3xi8>"), [7]);
    assert_eq!(data("dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>"), [0; 8]);
    assert_eq!(data("dense<\"0x0707\"> : tensor<2xi8>"), [7]);
    assert_eq!(data("dense<[0.0, -0.0]> : tensor<2xf32>").len(), 8);
    for empty in ["", "7", "[[], []]", "\"0x\""] {
        assert!(data(&format!("dense<{empty}> : tensor<2x0xi8>")).is_empty());
    }
}

#[test]
fn hexadecimal_strings_contain_bytes() {
    assert_eq!(data("dense<\"0x01020304\"> : tensor<2xi16>"), [1, 2, 3, 4]);
    assert_eq!(data("dense<\"0x0F01\"> : tensor<2xi4>"), [255, 1]);
    assert_eq!(
        data("dense<\"0x8102\"> : tensor<10xi1>"),
        [1, 0, 0, 0, 0, 0, 0, 1, 0, 1]
    );
    assert_eq!(
        data("dense<\"0x000100010000000000\"> : tensor<9xi1>"),
        [0, 1, 0, 1, 0, 0, 0, 0, 0]
    );
    assert_eq!(data("dense<\"0xFF\"> : tensor<20xi1>"), [1]);
}

#[test]
fn wrong_elements_are_errors() {
    for (constant, message) in [
        ("dense<[1, 2]> : tensor<3xi8>", "expected `,`, found `]`"),
        ("dense<[1, 2]> : tensor<1xi8>", "expected `]`, found `,`"),
        ("dense<256> : tensor<i8>", "256 is not a value of i8"),
        ("dense<-1> : tensor<ui8>", "-1 is not a value of ui8"),
        (
            "dense<1.0> : tensor<i8>",
            "expected an integer, found `1.0`",
        ),
        (
            "dense<true> : tensor<i8>",
            "expected an integer, found `true`",
        ),
        (
            "dense<0x1FFFF> : tensor<f16>",
            "is not the bits of a value of f16",
        ),
        ("dense<> : tensor<2xi8>", "expected an integer, found `>`"),
        (
            "dense<\"0x010\"> : tensor<i16>",
            "is not a hexadecimal string",
        ),
        (
            "dense<\"0x010203\"> : tensor<i16>",
            "tensor<i16> has another size than its 3 bytes",
        ),
        ("dense<1.0 : tensor<f32>", "expected `:`, found `}`"),
        (
            "dense_resource<x> : tensor<f32>",
            "`dense_resource` are not supported",
        ),
        (
            "dense<1> : tensor<99999999999x99999999999xi8>",
            "larger than the address space",
        ),
        (
            "dense<1> : tensor<99999999999999999999xi8>",
            "of an axis is too large",
        ),
        ("dense<1> : tensor<i7>", "unknown element type `i7`"),
    ] {
        let text = function(
            "",
            &format!("\"test.op\"() <{{a = {constant}}}> : () -> ()"),
        );
        let error = error(&text);
        assert!(error.contains(message), "{constant}: {error}");
        assert!(error.contains("line 2: test.op: "), "{error}");
    }
}

#[test]
fn attributes_have_their_values() {
    let word = |w: &str| Attribute::Word(w.into());
    for (text, value) in [
        ("-5 : i32", Attribute::Integer(-5)),
        ("0x1F", Attribute::Integer(31)),
        ("1.5e3 : f32", Attribute::Float(1500.0)),
        ("-1.0", Attribute::Float(-1.0)),
        ("0x7F800000 : f32", Attribute::Float(f64::INFINITY)),
        ("true", Attribute::Bool(true)),
        ("unit", Attribute::Unit),
        (r#""a\22\n\\\C3\A9é""#, Attribute::Text("a\"\n\\éé".into())),
        ("@f", Attribute::Symbol("f".into())),
        ("@\"a b\"::@c", Attribute::Symbol("a b::c".into())),
        (
            "[1, true]",
            Attribute::List(vec![Attribute::Integer(1), Attribute::Bool(true)]),
        ),
        (
            "array<i1: false>",
            Attribute::List(vec![Attribute::Bool(false)]),
        ),
        (
            "array<f32: 1.0>",
            Attribute::List(vec![Attribute::Float(1.0)]),
        ),
        ("#stablehlo<precision HIGHEST>", word("HIGHEST")),
        ("#stablehlo.result_accuracy_mode<DEFAULT>", word("DEFAULT")),
        ("#chlo<comparison_direction LT>", word("LT")),
        (
            "{a, b = 2}",
            Attribute::Dictionary(Attributes(vec![
                ("a".into(), Attribute::Unit),
                ("b".into(), Attribute::Integer(2)),
            ])),
        ),
    ] {
        assert_eq!(attribute(text), value, "{text}");
    }
}

#[test]
fn channel_handles_are_structures() {
    let Attribute::Structure { name, fields } =
        attribute("#stablehlo.channel_handle<handle = 1, type = 2>")
    else {
        panic!("not a structure");
    };
    assert_eq!(name, "channel_handle");
    assert_eq!(fields.get("type"), Some(&Attribute::Integer(2)));
}
