//! Errors of shapes, axes and matrix products.

use crate::document::{Case, case, f32};
use ramie::lax::DotDimensionNumbers;
use ramie::numpy::{PadMode, broadcast_arrays};
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("add: shapes do not broadcast together", || {
            let x = f32(&[2, 3]);
            let y = f32(&[2, 4]);
            x + y
        }),
        case("where: shapes do not broadcast together", || {
            let mask = f32(&[3]).gt(0);
            where_(&mask, f32(&[4]), 0.0)
        }),
        case(
            "broadcast_to: the array does not broadcast to the shape",
            || f32(&[3]).broadcast_to(&[3, 2]),
        ),
        case("broadcast_arrays: shapes do not broadcast together", || {
            broadcast_arrays(&[f32(&[2]), f32(&[3])])
        }),
        case("reshape: the shape has another number of elements", || {
            f32(&[2, 3]).reshape(&[4])
        }),
        case("reshape: the inferred size is not an integer", || {
            f32(&[2, 3]).reshape(&[-1, 4])
        }),
        case("reshape: more than one size is -1", || {
            f32(&[2, 3]).reshape((-1, -1))
        }),
        case("reshape: a size is negative", || {
            f32(&[2, 3]).reshape(&[-2, 3])
        }),
        case(
            "pad_constants: expected one pair of constants per axis",
            || f32(&[2, 3]).pad_constants(&[(1, 1), (0, 2)], &[(0, 1), (2, 3), (4, 5)]),
        ),
        case("transpose: not a permutation of the axes", || {
            f32(&[2, 3]).transpose(&[0])
        }),
        case("transpose: an axis appears twice", || {
            f32(&[2, 3]).transpose(&[0, 0])
        }),
        case("move_axis: axis out of range", || {
            f32(&[2, 3]).move_axis(2, 0)
        }),
        case("squeeze: only axes of size 1 can be removed", || {
            f32(&[2, 3]).squeeze(&[0])
        }),
        case("expand_dims: axis out of range", || {
            f32(&[2, 3]).expand_dims(&[5])
        }),
        case("concatenate: other axes differ", || {
            concatenate(&[f32(&[2, 3]), f32(&[2, 4])], 0)
        }),
        case("concatenate: no arrays were passed", || {
            concatenate::<Array>(&[], 0)
        }),
        case("stack: arrays have different shapes", || {
            stack(&[f32(&[2]), f32(&[3])], 0)
        }),
        case("stack: axis out of range", || {
            stack(&[f32(&[2]), f32(&[2])], 2)
        }),
        case("split: the axis does not divide into equal parts", || {
            f32(&[5]).split(2, 0)
        }),
        case(
            "split_sizes: the sizes do not add up to the size of the axis",
            || f32(&[5]).split_sizes(&[2, 2], 0),
        ),
        case("slice: the axis does not contain the range", || {
            f32(&[5]).slice(&[2], &[6])
        }),
        case("pad: padding for too few axes", || {
            f32(&[2, 3]).pad(&[(1, 1)], 0.0)
        }),
        case("pad: an empty axis has no edge to pad with", || {
            f32(&[0]).pad_with(&[(1, 1)], PadMode::Edge)
        }),
        case("flip: axis out of range", || f32(&[2]).flip(&[1])),
        case("repeat: axis out of range", || f32(&[2]).repeat(2, 1)),
        case("matmul: contracted sizes differ", || {
            let x = f32(&[4, 3]);
            let w = f32(&[4, 2]);
            x.matmul(w)
        }),
        case("matmul: operands must have at least one axis", || {
            f32(&[4, 3]).matmul(2.0)
        }),
        case("matmul: batch axes do not broadcast together", || {
            f32(&[2, 4, 3]).matmul(f32(&[5, 3, 4]))
        }),
        case("dot: contracted sizes differ", || f32(&[3]).dot(f32(&[4]))),
        case("dot_general: contracted sizes differ", || {
            let numbers = DotDimensionNumbers::new([&[1], &[0]], [&[], &[]]);
            f32(&[2, 3]).dot_general(&f32(&[4, 5]), numbers)
        }),
        case(
            "einsum: axes with the same letter have different sizes",
            || einsum("ij,jk->ik", &[f32(&[2, 3]), f32(&[4, 5])]),
        ),
        case("einsum: the subscripts name too few axes", || {
            einsum("i,j->ij", &[f32(&[2, 3]), f32(&[4])])
        }),
        case("einsum: a letter of the result is in no operand", || {
            einsum("ij->ik", &[f32(&[2, 3])])
        }),
        case("einsum: wrong number of operands", || {
            einsum("ij,jk->ik", &[f32(&[2, 3])])
        }),
        case("diagonal: the operand is not a matrix", || {
            f32(&[3]).diagonal(0)
        }),
        case("glu: the axis has an odd size", || f32(&[2, 3]).glu(-1)),
        case("pad_with: padding for too few axes", || {
            f32(&[2, 3]).pad_with(&[(1, 1)], PadMode::Edge)
        }),
        case("quantile: the axis has no elements", || {
            f32(&[0, 3]).quantile_over(0.5, 0)
        }),
    ]
}
