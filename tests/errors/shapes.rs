//! Mistakes with shapes and axes.

use crate::document::{Case, case, f32};
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("Adding shapes that do not broadcast", || {
            let x = f32(&[2, 3]);
            let y = f32(&[2, 4]);
            x + y
        }),
        case("Choosing from shapes that do not broadcast", || {
            let mask = f32(&[3]).gt(0);
            where_(&mask, f32(&[4]), 0.0)
        }),
        case("Broadcasting to a shape that does not fit", || {
            f32(&[3]).broadcast_to(&[3, 2])
        }),
        case("Arrays that do not broadcast together", || {
            broadcast_arrays(&[f32(&[2]), f32(&[3])])
        }),
        case("Reshaping to another number of elements", || {
            f32(&[2, 3]).reshape(&[4])
        }),
        case("Permuting too few axes", || f32(&[2, 3]).transpose(&[0])),
        case("Permuting one axis twice", || {
            f32(&[2, 3]).transpose(&[0, 0])
        }),
        case("Moving an axis that is not there", || {
            f32(&[2, 3]).move_axis(2, 0)
        }),
        case("Removing an axis that has elements", || {
            f32(&[2, 3]).squeeze(&[0])
        }),
        case("Adding an axis too far out", || {
            f32(&[2, 3]).expand_dims(&[5])
        }),
        case("Joining along an axis, with others that differ", || {
            concatenate(&[f32(&[2, 3]), f32(&[2, 4])], 0)
        }),
        case("Joining no arrays", || concatenate::<Array>(&[], 0)),
        case("Stacking arrays of different shapes", || {
            stack(&[f32(&[2]), f32(&[3])], 0)
        }),
        case("Splitting into parts that are not equal", || {
            f32(&[5]).split(2, 0)
        }),
        case("Splitting at sizes that are not the axis's", || {
            f32(&[5]).split_sizes(&[2, 2], 0)
        }),
        case("Slicing past the end", || f32(&[5]).slice(&[2], &[6], None)),
        case("Padding too few axes", || f32(&[2, 3]).pad(&[(1, 1)], 0.0)),
        case("Padding an empty axis with its edge", || {
            f32(&[0]).pad_with(&[(1, 1)], PadMode::Edge)
        }),
        case("Reversing an axis that is not there", || {
            f32(&[2]).flip(&[1])
        }),
        case("Repeating along an axis that is not there", || {
            f32(&[2]).repeat(2, 1)
        }),
        case("Multiplying matrices that do not fit", || {
            let x = f32(&[4, 3]);
            let w = f32(&[4, 2]);
            x.matmul(w)
        }),
        case("Multiplying a matrix by a scalar with matmul", || {
            f32(&[4, 3]).matmul(2.0)
        }),
        case("Multiplying batches of matrices that do not fit", || {
            f32(&[2, 4, 3]).matmul(f32(&[5, 3, 4]))
        }),
        case("A dot product over different sizes", || {
            f32(&[3]).dot(f32(&[4]))
        }),
        case("Contracting axes of different sizes", || {
            let numbers = DotDimensionNumbers::new([&[1], &[0]], [&[], &[]]);
            f32(&[2, 3]).dot_general(&f32(&[4, 5]), numbers)
        }),
        case("An einsum with different sizes under one letter", || {
            einsum("ij,jk->ik", &[f32(&[2, 3]), f32(&[4, 5])])
        }),
        case("An einsum that names too few axes", || {
            einsum("i,j->ij", &[f32(&[2, 3]), f32(&[4])])
        }),
        case("An einsum with a letter from nowhere", || {
            einsum("ij->ik", &[f32(&[2, 3])])
        }),
        case("An einsum for another number of operands", || {
            einsum("ij,jk->ik", &[f32(&[2, 3])])
        }),
        case("The diagonal of a vector", || f32(&[3]).diagonal(0)),
        case("Halving an odd axis", || f32(&[2, 3]).glu(-1)),
        case("Padding for too few axes", || {
            f32(&[2, 3]).pad_with(&[(1, 1)], PadMode::Edge)
        }),
        case("The middle of an axis without elements", || {
            f32(&[0, 3]).quantile_axes(0.5, &[0])
        }),
    ]
}
