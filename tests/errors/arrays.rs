//! Mistakes with elements, types and devices.

use crate::document::{Case, case, error, f32};
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("Elements that do not fill the shape", || {
            Array::from_vec(vec![1.0f32, 2.0, 3.0], &[2, 2])
        }),
        case("A ragged list", || array(vec![vec![1.0, 2.0], vec![3.0]])),
        case("An array larger than the address space", || {
            Array::zeros(&[1 << 31, 1 << 31, 4], DType::F32)
        }),
        case("A number that does not fit", || array([3_000_000_000_i64])),
        error("Bytes that do not fill the shape", || {
            Array::try_from_bytes(&[0; 7], &[2], DType::F32)
        }),
        error("Bytes that are no truth values", || {
            Array::try_from_bytes(&[0, 1, 2], &[3], DType::Bool)
        }),
        case("Reading another type than the array holds", || {
            let x = f32(&[3]);
            x.to_vec::<i32>()
        }),
        case("One number from many", || {
            let x = f32(&[3]);
            x.item::<f32>()
        }),
        case("Elements of an array that has none", || {
            let x = Array::shape_dtype_struct(&[3], DType::F32);
            x.to_vec::<f32>()
        }),
        case("Computing with an array that has no elements", || {
            let x = Array::shape_dtype_struct(&[3], DType::F32);
            x.sin()
        }),
        case("Bits of another size", || {
            let x = f32(&[3]);
            x.bitcast_convert_type(DType::Bool)
        }),
        case("Indices that an integer type cannot represent", || {
            Array::iota(&[300], 0, DType::I8)
        }),
        case("A range that is no range of an axis", || {
            let x = f32(&[2, 3]);
            x.flatten(1..4)
        }),
    ]
}
