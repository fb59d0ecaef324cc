//! Errors of creating and reading arrays.

use crate::document::{Case, case, error, f32};
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("from_vec: elements do not fill the shape", || {
            Array::from_vec(vec![1.0f32, 2.0, 3.0], &[2, 2])
        }),
        case("array: ragged input", || {
            array(vec![vec![1.0, 2.0], vec![3.0]])
        }),
        case("zeros: more bytes than a process can address", || {
            Array::zeros(&[1 << 31, 1 << 31, 4], DType::F32)
        }),
        case("array: an integer does not fit in i32", || {
            array([3_000_000_000_i64])
        }),
        error(
            "try_from_bytes: wrong number of bytes for the shape",
            || Array::try_from_bytes(&[0; 7], &[2], DType::F32),
        ),
        error("try_from_bytes: a boolean must be 0 or 1", || {
            Array::try_from_bytes(&[0, 1, 2], &[3], DType::Bool)
        }),
        case("to_vec: the array has another dtype", || {
            let x = f32(&[3]);
            x.to_vec::<i32>()
        }),
        case("item: the array has another dtype", || {
            let x = f32(&[]);
            x.item::<i32>()
        }),
        case("item: the array has several elements", || {
            let x = f32(&[3]);
            x.item::<f32>()
        }),
        case("to_vec: a shape_dtype_struct has no elements", || {
            let x = Array::shape_dtype_struct(&[3], DType::F32);
            x.to_vec::<f32>()
        }),
        case("Operations: a shape_dtype_struct has no elements", || {
            let x = Array::shape_dtype_struct(&[3], DType::F32);
            x.sin()
        }),
        case(
            "bitcast_convert_type: the bits cannot be reinterpreted",
            || {
                let x = f32(&[3]);
                x.bitcast_convert_type(DType::Bool)
            },
        ),
        case(
            "iota: the last position exceeds the largest integer of the dtype",
            || Array::iota(&[300], 0, DType::I8),
        ),
        case("flatten: not a range of axes", || {
            let x = f32(&[2, 3]);
            x.flatten(1..4)
        }),
    ]
}
