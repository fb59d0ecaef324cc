//! Ending the process while programs run.

mod common;
use common::*;
use std::process::Command;

/// Set in the processes that the test starts.
const CHILD: &str = "RAMIE_TEST_EXIT_CHILD";

/// Launches products that take a while, and exits without waiting for them.
fn launch_and_exit() -> ! {
    let program = "func.func @main(%x: tensor<1024x1024xf32> {tf.aliasing_output = 0 : i32}, %w: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
      return %0 : tensor<1024x1024xf32>
    }";
    let square = f32s(&[1024, 1024]);
    let executable = compile(program, &[square; 2], &[true, false]);
    let zeros = vec![0.; 1024 * 1024];
    let w = put(&zeros, &[1024, 1024], device(0));
    let mut x = put(&zeros, &[1024, 1024], device(0));
    for _ in 0..10 {
        x = run(&executable, &[&x, &w]).unwrap().remove(0);
    }
    assert!(!x.is_ready().unwrap(), "the work is still under way");
    std::process::exit(7);
}

/// The plugin's threads would use objects that the exit has destroyed: without the wait
/// about two of three such processes end in a segmentation fault.
#[test]
fn an_exit_waits_for_the_programs_under_way() {
    if is_linked() {
        // It computes on the calling thread: no program runs when its launch returns.
        return;
    }
    if std::env::var_os(CHILD).is_some() {
        launch_and_exit();
    }
    for _ in 0..5 {
        let status = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "an_exit_waits_for_the_programs_under_way",
                "--nocapture",
            ])
            .env(CHILD, "1")
            .output()
            .unwrap()
            .status;
        assert_eq!(status.code(), Some(7), "{status}");
    }
}
