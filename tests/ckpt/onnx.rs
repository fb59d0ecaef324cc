//! `ramie inspect` of an ONNX file.

use super::look;
use ramie_testing::golden;

fn inspected() -> (i32, String, String) {
    let path = golden::path("onnx/dense.onnx");
    look(&["inspect", path.to_str().expect("text")])
}

#[cfg(feature = "onnx")]
#[test]
fn inspect_shows_an_onnx_file() {
    let (code, out, err) = inspected();
    assert_eq!((code, err.as_str()), (0, ""));
    let (_, out) = out.split_once("onnx/dense.onnx\n").expect("the path");
    let expected = "\
format      ONNX, IR version 8
operators   ONNX 17
producer    ramie
note license 'MIT'
parameters  8 in 2 tensors
memory      32 B

INPUT  TYPE
x      f32[batch,3]

OUTPUT  TYPE
y       f32[batch,2]

OPERATOR  NODES
Add           1
MatMul        1
Relu          1

LARGEST  TYPE      MEMORY
w        f32[3,2]    24 B
b        f32[2]       8 B
";
    assert_eq!(out, expected);
}

#[cfg(feature = "onnx")]
#[test]
fn inspect_explains_missing_and_damaged_onnx_files() {
    let (code, _, err) = look(&["inspect", "missing.onnx"]);
    let missing = "error: missing.onnx: cannot be read: ";
    assert!(code == 1 && err.starts_with(missing), "{err}");
    assert!(err.contains("\n  help: check the path"), "{err}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("half.onnx");
    std::fs::write(&file, &golden::bytes("onnx/dense.onnx")[..100]).expect("written");
    let (code, _, err) = look(&["inspect", file.to_str().expect("text")]);
    assert!(code == 1 && err.contains("half.onnx: "), "{err}");
    assert!(err.contains("\n  help: "), "{err}");
}

#[cfg(not(feature = "onnx"))]
#[test]
fn inspect_names_the_feature_for_onnx_files() {
    let (code, _, err) = inspected();
    assert_eq!(code, 1);
    assert!(err.contains("cargo install ramie --features onnx"), "{err}");
}
