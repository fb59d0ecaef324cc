//! Texts that contradict themselves give errors, not panics.

use crate::damages::{Random, damage, inputs};
use crate::{buffer, elements, function, interpreter, run};
use ramie_cpu::{Buffer, ElementType, Error, Options, Program, TensorType};
use std::panic::{AssertUnwindSafe, catch_unwind};

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

#[test]
fn windows_without_elements_give_none() {
    let text = function(
        "(%x: tensor<3xf32>, %i: tensor<1xi32>) -> tensor<f32>",
        "%0 = \"stablehlo.gather\"(%x, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 0>} : (tensor<3xf32>, tensor<1xi32>) -> tensor<f32>\nreturn %0 : tensor<f32>",
    );
    let message = error(&text).to_string();
    assert!(
        message.ends_with("windows of [0] do not match tensor<3xf32>"),
        "{message}"
    );
}

#[test]
fn the_distance_to_no_other_element_is_ignored() {
    let text = function(
        "(%x: tensor<1xf32>, %y: tensor<f32>) -> tensor<2xf32>",
        "%0 = \"stablehlo.pad\"(%x, %y) {edge_padding_low = array<i64: 0>, edge_padding_high = array<i64: 1>, interior_padding = array<i64: 9223372036854775807>} : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>\nreturn %0 : tensor<2xf32>",
    );
    let operands = [
        buffer(&[1], ElementType::F32, &[1f32]),
        buffer(&[], ElementType::F32, &[2f32]),
    ];
    assert_eq!(elements::<f32>(&run(&text, &operands)[0]), [1.0, 2.0]);
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

/// Returns whether a damaged program compiles and whether it runs. One that is large or might not end does
/// not run.
pub fn compiles_and_runs(text: &str, options: &Options) -> (bool, bool) {
    let Ok(program) = Program::compile_for(text, options) else {
        return (false, false);
    };
    if text.contains("while") || program.peak() > 1 << 20 {
        return (true, false);
    }
    let zeros = |ty: &TensorType| {
        Buffer::from_bytes(ty.clone(), &vec![0; ty.byte_size().unwrap()]).unwrap()
    };
    let own: Vec<Buffer> = program.parameters().iter().map(zeros).collect();
    let devices = program.devices();
    (true, program.run_on_devices(vec![own; devices]).is_ok())
}

/// Returns the starts and ends of the words of a text that satisfy a condition.
fn words(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<(usize, usize)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let (mut found, mut start) = (Vec::new(), 0);
    for (end, c) in text.char_indices().filter(|(_, c)| !is_word(*c)) {
        if wanted(&text[start..end]) {
            found.push((start, end));
        }
        start = end + c.len_utf8();
    }
    found
}

/// Changes a number, an operation, or an element type everywhere, so that more than the parser sees it.
fn contradict(text: &str, other: &str, random: &mut Random) -> String {
    const TYPES: [&str; 10] = [
        "xf32>",
        "xi32>",
        "xi64>",
        "xi1>",
        "xf64>",
        "xbf16>",
        "xui8>",
        "xi4>",
        "xf8E4M3FN>",
        "xcomplex<f32>>",
    ];
    const NUMBERS: [&str; 8] = ["0", "1", "2", "3", "5", "-1", "64", "9223372036854775807"];
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    let is_operation = |word: &str| word.starts_with("stablehlo.") || word.starts_with("chlo.");
    let replaced = |from: &[(usize, usize)], by: &str, random: &mut Random| {
        let (start, end) = from[random.next(from.len())];
        format!("{}{by}{}", &text[..start], &text[end..])
    };
    let (numbers, operations) = (words(text, is_number), words(text, is_operation));
    let others = words(other, is_operation);
    match random.next(4) {
        0 => {
            let [from, to] = [(); 2].map(|()| TYPES[random.next(TYPES.len())]);
            text.replace(from, to)
        }
        1 if !operations.is_empty() && !others.is_empty() => {
            let (start, end) = others[random.next(others.len())];
            replaced(&operations, &other[start..end], random)
        }
        _ if !numbers.is_empty() => {
            let number = NUMBERS[random.next(NUMBERS.len())];
            replaced(&numbers, number, random)
        }
        _ => damage(text, other, random),
    }
}

#[test]
fn damaged_programs_do_not_panic() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/text");
    let recorded = std::fs::read_dir(folder).unwrap();
    let seeds: Vec<String> = recorded
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .chain(interpreter::cases().into_iter().map(|(_, text)| text))
        .filter(|text| text.len() < 20_000)
        .collect();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut compiled, mut ran) = (0, 0);
    for i in 0..inputs() {
        let mut text = seeds[random.next(seeds.len())].clone();
        let change = if i % 4 == 0 { damage } else { contradict };
        for _ in 0..1 + random.next(3) {
            text = change(&text, &seeds[random.next(seeds.len())], &mut random);
        }
        let options = Options {
            partitions: 1 + i % 2,
            ..Options::default()
        };
        let (accepted, ended) =
            catch_unwind(AssertUnwindSafe(|| compiles_and_runs(&text, &options)))
                .unwrap_or_else(|_| panic!("the panic above is of this program:\n{text}"));
        compiled += usize::from(accepted);
        ran += usize::from(ended);
    }
    println!(
        "of {} damaged programs, {compiled} compile and {ran} run",
        inputs()
    );
    assert!(ran > inputs() / 20, "{ran} run");
}
