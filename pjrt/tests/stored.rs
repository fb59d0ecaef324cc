//! Loading stored executables writes nothing to standard error.
mod common;

use common::{client, f32s};
use ramie_pjrt::CompileOptions;
use std::process::Command;

const CHILD: &str = "STORED_TEST_CHILD";

#[test]
fn loading_writes_nothing() {
    if std::env::var_os(CHILD).is_some() {
        let program = "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
            %y = stablehlo.sine %x : tensor<64xf32>
            return %y : tensor<64xf32> }";
        let stored = common::compile(program, &[f32s(&[64])], &[])
            .serialize()
            .unwrap();
        let options = CompileOptions::default();
        let loaded = client()
            .load_executable(&stored, &options, &[f32s(&[64])], &[])
            .unwrap();
        let x = common::put(&[0.5; 64], &[64], common::device(0));
        let y = common::get(&common::run(&loaded, &[&x]).unwrap()[0]);
        assert!((y[63] - 0.5f32.sin()).abs() < 1e-6, "{y:?}");
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "loading_writes_nothing", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(errors, "");
}
