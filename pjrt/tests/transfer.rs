//! Moving data between host and devices.

mod common;
use common::*;
use ramie_pjrt::{AlignedBytes, BufferType, ElementType, Error, HostData};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Host memory that tells when it is dropped.
struct Watched {
    bytes: AlignedBytes,
    offset: usize,
    dropped: Arc<AtomicBool>,
}

// SAFETY: a fixed part of owned heap memory without interior mutability.
unsafe impl HostData for Watched {
    fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.offset..]
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::SeqCst);
    }
}

fn watched(len: usize, offset: usize) -> (Watched, Arc<AtomicBool>) {
    let mut bytes = AlignedBytes::zeroed(len + offset);
    bytes
        .iter_mut()
        .enumerate()
        .for_each(|(i, b)| *b = (i % 251) as u8);
    let dropped = Arc::new(AtomicBool::new(false));
    (
        Watched {
            bytes,
            offset,
            dropped: dropped.clone(),
        },
        dropped,
    )
}

/// Waits for a drop that may happen on a thread of the plugin.
fn becomes_true(flag: &AtomicBool) -> bool {
    (0..2000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        flag.load(Ordering::SeqCst)
    })
}

fn u8s(len: usize) -> BufferType {
    BufferType::new(ElementType::U8, &[len as i64])
}

#[test]
fn aligned_memory_is_shared_and_dropped_with_the_buffer() {
    let (data, dropped) = watched(1 << 20, 0);
    let address = data.as_bytes().as_ptr().addr();
    let buffer = client()
        .buffer_from_owned(data, u8s(1 << 20), device(2))
        .unwrap();
    // The linked backend copies arrays of the host, so that it needs no events.
    assert_eq!(buffer.address().unwrap() == address, !is_linked());
    assert_eq!(
        dropped.load(Ordering::SeqCst),
        is_linked(),
        "the buffer still reads it"
    );
    let mut back = vec![0; 1 << 20];
    buffer.copy_to_host(&mut back).unwrap();
    assert_eq!(back[250], 250);
    drop(buffer);
    assert!(becomes_true(&dropped));
}

#[test]
fn unaligned_memory_is_copied_and_dropped_early() {
    for len in [100, 1 << 20] {
        let (data, dropped) = watched(len, 8);
        let address = data.as_bytes().as_ptr().addr();
        let buffer = client()
            .buffer_from_owned(data, u8s(len), device(2))
            .unwrap();
        assert!(becomes_true(&dropped), "the copy of {len} bytes is done");
        assert_ne!(buffer.address().unwrap(), address);
        let mut back = vec![0; len];
        buffer.copy_to_host(&mut back).unwrap();
        assert_eq!((back[0], back[99]), (8, 107));
    }
}

#[test]
fn transfers_are_waited_for() {
    const LEN: usize = 64 << 20;
    for _ in 0..3 {
        let data = watched(LEN, 8).0;
        let buffer = client()
            .buffer_from_owned(data, u8s(LEN), device(0))
            .unwrap();
        client().wait();
        assert!(buffer.is_ready().unwrap());
        let copy = buffer.copy_to_device(device(1)).unwrap();
        client().wait();
        assert!(copy.is_ready().unwrap());
    }
}

#[test]
fn shared_memory_survives_donation_of_its_buffer() {
    let negate = compile(
        "func.func @main(%x: tensor<256xf32> {tf.aliasing_output = 0 : i32}) -> tensor<256xf32> {
          %0 = stablehlo.negate %x : tensor<256xf32> return %0 : tensor<256xf32> }",
        &[f32s(&[256])],
        &[true],
    );
    let data: Arc<AlignedBytes> = Arc::new(AlignedBytes::from(&1f32.to_ne_bytes().repeat(256)[..]));
    let buffer = client()
        .buffer_from_owned(data.clone(), f32s(&[256]), device(0))
        .unwrap();
    let result = run(&negate, &[&buffer]).unwrap().remove(0);
    assert_eq!(get(&result), [-1.; 256]);
    drop(buffer);
    assert_eq!(
        data[..4],
        1f32.to_ne_bytes(),
        "read-only memory is not written to"
    );
    let freed = || Arc::strong_count(&data) == 1;
    assert!((0..2000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        freed()
    }));
}

#[test]
fn vectors_and_shared_slices_are_owners() {
    let rows = client()
        .buffer_from_owned(vec![1f32, 2., 3.], f32s(&[3]), device(0))
        .unwrap();
    assert_eq!(get(&rows), [1., 2., 3.]);
    let shared: Arc<[f32]> = Arc::from(&[4f32; 100_000][..]);
    let buffer = client()
        .buffer_from_owned(shared.clone(), f32s(&[100_000]), device(0))
        .unwrap();
    assert_eq!(get(&buffer)[99_999], 4.);
    let flags = BufferType::new(ElementType::Pred, &[2]);
    let bools = client()
        .buffer_from_owned(vec![true, false], flags, device(0))
        .unwrap();
    let mut back = [9; 2];
    bools.copy_to_host(&mut back).unwrap();
    assert_eq!(back, [1, 0]);
}

#[test]
fn every_element_type_survives_the_round_trip() {
    for &ty in ElementType::ALL {
        if ty == ElementType::Token {
            continue;
        }
        let ty = BufferType::new(ty, &[2, 3]);
        // Small values that every type can hold; a whole byte for narrow types.
        let bytes: Vec<u8> = (0..ty.size_bytes()).map(|i| (i % 2) as u8).collect();
        let buffer = client()
            .buffer_from_host(&bytes, ty, device(1))
            .unwrap_or_else(|e| panic!("{ty}: {e}"));
        let mut back = vec![0xee; ty.size_bytes()];
        buffer
            .copy_to_host(&mut back)
            .unwrap_or_else(|e| panic!("{ty}: {e}"));
        assert_eq!(back, bytes, "{ty}");
        assert_eq!(
            &*buffer.to_host_async().unwrap().wait().unwrap(),
            &bytes[..],
            "{ty}"
        );
    }
}

#[test]
fn empty_arrays_and_scalars_work() {
    let empty = put(&[], &[3, 0], device(0));
    assert!(get(&empty).is_empty());
    assert!(empty.to_host_async().unwrap().wait().unwrap().is_empty());
    let owned = client()
        .buffer_from_owned(AlignedBytes::zeroed(0), f32s(&[0]), device(0))
        .unwrap();
    owned.wait().unwrap();
    assert_eq!(get(&put(&[2.5], &[], device(0))), [2.5]);
}

#[test]
fn transposed_results_are_read_row_major() {
    let transpose = compile(
        "func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
          %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32> return %0 : tensor<3x2xf32> }",
        &[f32s(&[2, 3])],
        &[],
    );
    let x = put(&[1., 2., 3., 4., 5., 6.], &[2, 3], device(0));
    let y = run(&transpose, &[&x]).unwrap().remove(0);
    assert_eq!(get(&y), [1., 4., 2., 5., 3., 6.]);
}

#[test]
fn wrong_lengths_are_refused() {
    let error = client()
        .buffer_from_host(&[0; 11], f32s(&[3]), device(0))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "buffer_from_host: f32[3] takes 12 bytes, got 11"
    );
    let error = client()
        .buffer_from_owned(vec![0f32; 4], f32s(&[3]), device(0))
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::HostSize {
                got: 16,
                expected: 12,
                ..
            }
        ),
        "{error}"
    );
    let error = put(&[1., 2.], &[2], device(0))
        .copy_to_host(&mut [0; 4])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "copy_to_host: f32[2] takes 8 bytes, got 4"
    );
}

#[test]
fn buffers_are_copied_between_devices() {
    let x = put(&[1., 2.], &[2], device(1));
    for to in 0..8 {
        let y = x.copy_to_device(device(to)).unwrap();
        assert_eq!((y.device(), get(&y)), (device(to), vec![1., 2.]));
        // All devices of the linked backend have the memory of the process, and share arrays.
        assert_eq!(y.address().unwrap() == x.address().unwrap(), is_linked());
    }
    assert_eq!(get(&x), [1., 2.]);
}

#[test]
fn a_copy_under_way_may_be_dropped() {
    let x = put(&vec![1.; 1 << 20], &[1 << 20], device(0));
    for _ in 0..20 {
        drop(x.to_host_async().unwrap());
    }
    let copy = x.to_host_async().unwrap();
    drop(x);
    assert_eq!(copy.wait().unwrap()[..4], 1f32.to_ne_bytes());
}
