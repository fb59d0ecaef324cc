//! Memory of a donated state. A test binary of its own: the peak is that of
//! the whole process.

use ramie_core::{Array, DType, jit};

fn peak_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.split_whitespace()
        .next()?
        .parse::<usize>()
        .ok()
        .map(|kb| kb * 1024)
}

/// One gigabyte of state, updated in place: the whole process stays below 1.2
/// times that.
#[test]
fn a_donated_state_takes_its_own_memory_once() {
    const ELEMENTS: usize = 1 << 28;
    let state_bytes = ELEMENTS * 4;
    let step = jit(|s: &mut Array, by: Array| *s = &*s * 0.5 + by);
    let mut state = Array::full(&[ELEMENTS / 1024, 1024], 1, DType::F32);
    for _ in 0..4 {
        step(&mut state, Array::from(1.0f32));
    }
    state.block_until_ready();
    // What the state holds: 1 → 1.5 → 1.75 → …
    let first = jit(|s: Array| s.reshape(&[ELEMENTS]).sum_over(0))(state.clone());
    let mean = f64::from(first.item::<f32>()) / ELEMENTS as f64;
    assert!((mean - 1.9375).abs() < 1e-3, "{mean}");
    if let Some(peak) = peak_bytes() {
        let ratio = peak as f64 / state_bytes as f64;
        println!("peak {:.0} MB, {ratio:.3} of the state", peak as f64 / 1e6);
        assert!(ratio < 1.2, "the peak is {ratio:.2} times the state");
    }
}
