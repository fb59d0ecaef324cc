//! Storing and describing executables, and compiler errors.

mod common;
use common::*;
use ramie_pjrt::{CompileOptions, OptionOverride, Value};

const LAYER: &str = "module @layer {
  func.func @main(%x: tensor<8x8xf32> {tf.aliasing_output = 0 : i32}, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<f32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.tanh %0 : tensor<8x8xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    return %1, %s : tensor<8x8xf32>, tensor<f32>
  }
}";

fn layer() -> ramie_pjrt::Executable {
    compile(LAYER, &[f32s(&[8, 8]); 2], &[true, false])
}

#[test]
fn a_serialised_executable_gives_the_same_results_and_still_donates() {
    let first = layer();
    let bytes = first.serialize().unwrap();
    let options = CompileOptions::default();
    let inputs = [f32s(&[8, 8]); 2];
    let second = client()
        .load_executable(&bytes, &options, &inputs, &[true, false])
        .unwrap();
    assert_eq!(second.signature(), first.signature());
    assert_eq!(second.name(), "layer");
    let data: Vec<f32> = (0..64).map(|i| i as f32 * 0.01).collect();
    let results = [&first, &second].map(|executable| {
        let (x, w) = (
            put(&data, &[8, 8], device(0)),
            put(&data, &[8, 8], device(0)),
        );
        let results = run(executable, &[&x, &w]).unwrap();
        assert!(x.is_deleted() && !w.is_deleted());
        (get(&results[0]), get(&results[1]))
    });
    assert_eq!(results[0], results[1]);
}

#[test]
fn damaged_bytes_are_an_error() {
    let bytes = layer().serialize().unwrap();
    let load = |bytes: &[u8]| {
        client().load_executable(
            bytes,
            &CompileOptions::default(),
            &[f32s(&[8, 8]); 2],
            &[true, false],
        )
    };
    for damaged in [
        &bytes[..bytes.len() / 2],
        &bytes[..10],
        b"not an executable",
    ] {
        let error = load(damaged).unwrap_err().to_string();
        assert!(error.starts_with("loading an executable: "), "{error}");
    }
    load(&bytes).unwrap();
}

#[test]
fn cost_and_memory_are_those_of_the_program() {
    let executable = layer();
    let costs = executable.cost_analysis().unwrap();
    let flops = costs
        .iter()
        .find(|(name, _)| name == "flops")
        .expect("flops are estimated");
    // The product alone is 2 · 8³.
    assert!(
        matches!(flops.1, Value::F32(flops) if flops >= 1024.),
        "{costs:?}"
    );
    let memory = executable.memory_analysis().unwrap();
    assert_eq!((memory.argument, memory.alias), (512, 256));
    assert!(memory.output >= 260 && memory.peak > 0, "{memory:?}");
}

#[test]
fn the_optimized_program_is_shown() {
    let text = layer().optimized_text().unwrap();
    let expected = [
        "HloModule layer, input_output_alias={ {0}: (0, {}, may-alias) }",
        "ENTRY main",
        " = f32[8,8]{1,0} parameter(1)",
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        " tanh(",
        "constant(0)",
        "ROOT ",
    ];
    for part in expected {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert!(
        !text.contains('?'),
        "all names and types are known:\n{text}"
    );
}

#[test]
fn fingerprints_tell_programs_apart() {
    let (one, same) = (
        layer().fingerprint().unwrap(),
        layer().fingerprint().unwrap(),
    );
    assert!(one.is_some());
    assert_eq!(one, same);
    let other = compile(
        &LAYER.replace("tanh", "logistic"),
        &[f32s(&[8, 8]); 2],
        &[true, false],
    );
    assert_ne!(one, other.fingerprint().unwrap());
}

fn compile_error(program: &str) -> String {
    client()
        .compile(program, &CompileOptions::default(), &[], &[])
        .unwrap_err()
        .to_string()
}

#[test]
fn compiler_errors_name_the_programs_own_lines() {
    let error = compile_error(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = \"stablehlo.transpose\"(%x) {permutation = array<i64: 1>} : (tensor<2xf32>) -> tensor<2xf32> loc(\"model.rs\":42:7)
          return %0 : tensor<2xf32>
        }",
    );
    assert!(
        error.starts_with("compiling: ") && error.contains("model.rs:42:7"),
        "{error}"
    );
    assert!(
        !error.contains("Failed to parse using StableHLO"),
        "{error}"
    );
}

#[test]
fn text_is_read_to_its_end_and_no_further() {
    let both = "garbage, and more";
    let error = compile_error(&both[.."garbage".len()]);
    assert!(
        error.contains("garbage") && !error.contains("more"),
        "{error}"
    );
}

#[test]
fn bytecode_is_named_where_only_text_is_read() {
    if !is_linked() {
        // XLA's plugin reads both forms.
        return;
    }
    let options = CompileOptions::default();
    let error = client().compile_module(b"ML\xefR\x0d", &options, &[], &[]);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("MLIR bytecode"), "{error}");
    assert!(error.contains("ramie plugin install cpu"), "{error}");
}

#[test]
fn flags_are_set_for_one_compilation() {
    if is_linked() {
        // The flags are those of XLA's compiler.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().to_str().unwrap().to_string();
    let set = |name: &str, value| CompileOptions {
        env_overrides: vec![(name.into(), value)],
        ..CompileOptions::default()
    };
    let program = "func.func @main() { return }";
    client()
        .compile(
            program,
            &set("xla_dump_to", OptionOverride::String(dump)),
            &[],
            &[],
        )
        .unwrap();
    assert!(
        folder.path().read_dir().unwrap().count() > 0,
        "the compiler wrote its dump"
    );
    let error = client()
        .compile(
            program,
            &set("xla_no_such_flag", OptionOverride::Bool(true)),
            &[],
            &[],
        )
        .unwrap_err();
    assert!(error.to_string().contains("xla_no_such_flag"), "{error}");
}

#[test]
fn a_donation_list_of_the_wrong_length_is_refused() {
    let error = client()
        .compile(
            LAYER,
            &CompileOptions::default(),
            &[f32s(&[8, 8]); 2],
            &[true],
        )
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "compile options: donated has 1 entries for 2 inputs"
    );
}
