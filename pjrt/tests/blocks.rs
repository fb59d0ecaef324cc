//! Blocks of the CPU plugin's memory; of the tests here, one alone takes large ones.
#![cfg(target_os = "linux")]

mod common;

use common::{client, compile, device, f32s, get, is_linked, put};
use ramie_pjrt::{Buffer, Client, ClientOptions, HostBlocks, host_blocks};
use std::time::{Duration, Instant};

const MB: usize = 1 << 20;

/// What the blocks are once this holds; buffers are freed by other threads.
fn once(what: &str, holds: impl Fn(HostBlocks) -> bool) -> HostBlocks {
    let start = Instant::now();
    loop {
        let blocks = host_blocks();
        if holds(blocks) {
            return blocks;
        }
        let waited = start.elapsed();
        assert!(waited < Duration::from_secs(20), "{what}: {blocks:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_is_freed_is_used_again() {
    if is_linked() {
        // The allocator serves XLA's plugin. The linked backend has a pool of its own.
        return;
    }
    client();
    assert_eq!(host_blocks().in_use, 0, "small memory does not count");
    let n = 4 * MB;
    let data: Vec<f32> = (0..n).map(|i| (i % 251) as f32).collect();

    let first = put(&data, &[n as i64], device(0));
    let one = once("a copy on the device", |b| b.in_use >= 16 * MB);
    assert!(one.in_use < 17 * MB, "{one:?}");
    assert_eq!(get(&first), data);
    drop(first);
    let kept = once("given back", |b| b.in_use == 0);
    assert_eq!(kept.kept, one.in_use, "kept");
    let second = put(&data, &[n as i64], device(0));
    once("used again", |b| b.kept == 0 && b.in_use == one.in_use);
    assert_eq!(host_blocks().peak, one.peak, "nothing more");
    assert_eq!(get(&second), data);

    // A program with 16 MB of temporaries and as much of results, run many times.
    let program = format!(
        "func.func @main(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
           %0 = stablehlo.reverse %x, dims = [0] : tensor<{n}xf32>
           %1 = stablehlo.reshape %0 : (tensor<{n}xf32>) -> {matrix}
           %2 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [0] : ({matrix}, {matrix}) -> {matrix}
           %3 = stablehlo.reshape %2 : ({matrix}) -> tensor<{n}xf32>
           return %3 : tensor<{n}xf32>
         }}",
        matrix = "tensor<2048x2048xf32>"
    );
    let run = compile(&program, &[f32s(&[n as i64])], &[]);
    let mut outputs: Vec<Buffer> = Vec::new();
    let mut expected: Option<Vec<f32>> = None;
    let mut peak = 0;
    for step in 0..6 {
        outputs.clear();
        run.execute(&[&second], &[], &mut outputs).unwrap();
        let values = get(&outputs[0]);
        assert_eq!(expected.get_or_insert_with(|| values.clone()), &values);
        if step == 1 {
            peak = host_blocks().peak;
        }
    }
    assert!(peak >= 32 * MB, "{peak}");
    assert_eq!(
        host_blocks().peak,
        peak,
        "later runs take what earlier ones gave back"
    );
    drop((outputs, second));
    once("all given back", |b| b.in_use == 0);
}

#[test]
fn a_second_client_of_the_plugin_works_as_the_first() {
    let first = client();
    let second = Client::new(first.plugin(), &ClientOptions::new().cpu_device_count(1)).unwrap();
    let (n, data) = (1000, [1.5f32; 1000]);
    let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_ne_bytes()).collect();
    let there = second.addressable_devices()[0];
    for _ in 0..3 {
        let buffer = second.buffer_from_host(&bytes, f32s(&[n]), there);
        assert_eq!(get(&buffer.unwrap()), data);
        assert_eq!(get(&put(&data, &[n], device(0))), data);
    }
}
