//! Elements from the host and back.

use half::{bf16, f16};
use ndarray::{Array1, Array2, Array3, ArrayD, s as slice};
use ramie_core::typing::AlignedBytes;
use ramie_core::*;
use ramie_testing::panic_message;

fn back<T: Element>(values: &[T]) {
    let x = Array::from_slice(values, &[values.len()]);
    assert_eq!((x.dtype(), x.to_vec::<T>().as_slice()), (T::DTYPE, values));
    let owned = Array::from(values.to_vec());
    assert_eq!(owned.to_vec::<T>(), values);
    let bytes = x.try_to_bytes().unwrap();
    let again = Array::try_from_bytes(&bytes, &[values.len()], T::DTYPE).unwrap();
    assert_eq!(again.to_vec::<T>(), values);
}

#[test]
fn every_type_comes_back() {
    back(&[true, false, true]);
    back(&[i8::MIN, 0, i8::MAX]);
    back(&[i16::MIN, 0, i16::MAX]);
    back(&[i32::MIN, 0, i32::MAX]);
    back(&[i64::MIN, 0, i64::MAX]);
    back(&[0, 7, u8::MAX]);
    back(&[0, 7, u16::MAX]);
    back(&[0, 7, u32::MAX]);
    back(&[0, 7, u64::MAX]);
    back(&[f16::MIN, f16::from_f32(0.1), f16::INFINITY]);
    back(&[bf16::MIN, bf16::from_f32(0.1), bf16::INFINITY]);
    back(&[f32::MIN, 0.1, f32::INFINITY, f32::MIN_POSITIVE / 2.0]);
    back(&[f64::MIN, 0.1, f64::INFINITY]);
    back::<f32>(&[]);
    // Large enough for the device to copy or share in the background.
    back(&(0..100_000).map(|i| i as f32).collect::<Vec<_>>());
    back(&(0..1_000_003).map(|i| i % 3 == 0).collect::<Vec<_>>());
}

#[test]
fn aligned_memory_is_shared() {
    let values: Vec<f32> = (0..65_536).map(|i| i as f32).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let aligned = AlignedBytes::from(bytes.as_slice());
    let x = Array::try_from_aligned(aligned, &[256, 256], DType::F32).unwrap();
    assert_eq!((&x + 1.0).to_vec::<f32>()[65_535], 65_536.0);
    assert_eq!(x.to_vec::<f32>(), values);
}

#[test]
fn bytes_are_checked() {
    let error = Array::try_from_bytes(&[0; 7], &[2], DType::F32).unwrap_err();
    assert_eq!(
        error.to_string().lines().next(),
        Some("got 7 bytes for f32[2], which has 8")
    );
    let error = Array::try_from_bytes(&[0, 1, 2], &[3], DType::Bool).unwrap_err();
    assert_eq!(
        error.to_string().lines().next(),
        Some("byte 2 of bool[3] is 2, but a boolean must be 0 or 1")
    );
}

#[test]
fn ndarrays_of_any_layout() {
    let a = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (100 * i + 10 * j + k) as i32);
    let expected: Vec<i32> = a.iter().copied().collect();
    for x in [
        Array::from(&a),
        Array::from(a.view()),
        Array::from(a.clone()),
    ] {
        assert_eq!(x.shape(), [2, 3, 4]);
        assert_eq!(x.to_vec::<i32>(), expected);
    }
    let turned = a.clone().permuted_axes([2, 0, 1]);
    let expected: Vec<i32> = turned.iter().copied().collect();
    assert_eq!(Array::from(&turned).to_vec::<i32>(), expected);
    assert_eq!(Array::from(turned).to_vec::<i32>(), expected);
    let part = a.slice(slice![.., 1.., ..;-2]);
    let expected: Vec<i32> = part.iter().copied().collect();
    let x = Array::from(part);
    assert_eq!((x.shape(), x.to_vec::<i32>()), (&[2, 2, 2][..], expected));
    // Owned, row-major, and yet not the whole memory.
    let mut rows = Array2::from_shape_fn((4, 2), |(i, j)| (2 * i + j) as i32);
    rows.slice_collapse(slice![1..3, ..]);
    assert_eq!(Array::from(rows).to_vec::<i32>(), [2, 3, 4, 5]);
    let mut row = Array1::from(vec![1, 2, 3, 4]);
    row.slice_collapse(slice![1..2]);
    assert_eq!(Array::from(row).to_vec::<i32>(), [2]);
    assert_eq!(Array::from(ndarray::arr0(5.0f32)).item::<f32>(), 5.0);
    assert_eq!(
        Array::from(ArrayD::<f32>::zeros(vec![2, 0])).shape(),
        [2, 0]
    );
    let x = Array::from(&a).t();
    let turned: ArrayD<i32> = (&x).try_into().unwrap();
    assert_eq!(turned, a.t().into_dyn());
    let error = ArrayD::<f32>::try_from(x).unwrap_err().to_string();
    assert!(error.contains("dtype is i32, not f32"), "{error}");
}

#[test]
fn arrays_written_out() {
    let types = |x: Array| x.aval().to_string();
    assert_eq!(types(array(2.5)), "f32[]");
    assert_eq!(types(array([1, 2, 3])), "i32[3]");
    assert_eq!(types(array([1i64, 2])), "i32[2]");
    assert_eq!(types(array([1u64, 2])), "u32[2]");
    assert_eq!(types(array([1u8, 2])), "u8[2]");
    assert_eq!(types(array(vec![3usize])), "i32[1]");
    assert_eq!(types(array(f16::from_f32(1.0))), "f16[]");
    assert_eq!(types(array([[true, false]])), "bool[1,2]");
    assert_eq!(types(array([[[[1.0; 5]; 4]; 3]; 2])), "f32[2,3,4,5]");
    assert_eq!(types(array(Vec::<Vec<f64>>::new())), "f32[0,0]");
    assert_eq!(types(array(Vec::<[f64; 3]>::new())), "f32[0,3]");
    let x = array(vec![[1.0, 2.0], [3.0, 4.5]]);
    assert_eq!(x.to_vec::<f32>(), [1.0, 2.0, 3.0, 4.5]);
    assert_eq!(Array::from([1.0, 2.0]).dtype(), DType::F64);
}

#[test]
fn ragged_lists_and_large_integers_are_refused() {
    let text = panic_message(|| array(vec![vec![vec![1], vec![2]], vec![vec![3], vec![4, 5]]]));
    assert!(
        text.starts_with("array: ragged input: the list at [1][1] has 2 items"),
        "{text}"
    );
    let text = panic_message(|| array([1, 1i64 << 40]));
    assert!(
        text.starts_with("array: 1099511627776 does not fit in i32"),
        "{text}"
    );
}
