//! Memory of donated state. One test only: the measure is of the whole process.
#![cfg(target_os = "linux")]

mod common;
use common::*;

/// The most memory this process has had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<usize>()
        .unwrap()
        << 10
}

#[test]
fn updating_a_donated_state_needs_no_second_copy() {
    const N: usize = 64 << 20;
    let state = format!("tensor<{N}xf32>");
    let update = compile(
        &format!(
            "func.func @main(%x: {state} {{tf.aliasing_output = 0 : i32}}) -> {state} {{
              %0 = stablehlo.add %x, %x : {state} return %0 : {state} }}"
        ),
        &[f32s(&[N as i64])],
        &[true],
    );
    let init = compile(
        &format!(
            "func.func @main() -> {state} {{ %c = stablehlo.constant dense<1.0> : tensor<f32>
              %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> {state} return %0 : {state} }}"
        ),
        &[],
        &[],
    );
    let before = peak();
    let mut x = run(&init, &[]).unwrap().remove(0);
    x.wait().unwrap();
    for _ in 0..10 {
        x = run(&update, &[&x]).unwrap().remove(0);
    }
    x.wait().unwrap();
    let used = peak() - before;
    assert!(
        used < 4 * N * 6 / 5,
        "a state of {} bytes took {used}",
        4 * N
    );
}
