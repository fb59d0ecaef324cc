//! Errors of convolutions, pooling and linear algebra.

use crate::document::{Case, case, f32};
use ramie::lax::{Padding, conv, conv_general_dilated, max_pool};
use ramie::options::Convolution;
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("conv: the kernel takes another number of features", || {
            let images = f32(&[8, 3, 28, 28]);
            let kernels = f32(&[16, 4, 3, 3]);
            conv(&images, &kernels, &[1, 1], Padding::Same)
        }),
        case("conv: the kernel has another rank", || {
            conv(
                &f32(&[8, 3, 28, 28]),
                &f32(&[16, 3, 3]),
                &[1, 1],
                Padding::Same,
            )
        }),
        case("conv: strides for too few axes", || {
            let images = f32(&[8, 3, 28, 28]);
            let kernels = f32(&[16, 3, 3, 3]);
            conv(&images, &kernels, &[1], Padding::Same)
        }),
        case(
            "conv_general_dilated: feature_group_count does not match the kernel",
            || {
                let how = Convolution::new().feature_group_count(2);
                conv_general_dilated(&f32(&[8, 3, 28, 28]), &f32(&[16, 3, 3, 3]), &how)
            },
        ),
        case("max_pool: a padding without a meaning", || {
            max_pool(&f32(&[8, 28, 28, 3]), &[2, 2], &[2, 2], "SMAE")
        }),
        case("max_pool: the window has too many axes", || {
            max_pool(&f32(&[8, 28, 28]), &[2, 2, 2], &[2, 2, 2], Padding::Valid)
        }),
        case("max_pool: strides for too few axes", || {
            max_pool(&f32(&[8, 28, 28, 3]), &[2, 2], &[2], Padding::Valid)
        }),
        case("cholesky: expects square matrices", || {
            linalg::cholesky(&f32(&[2, 3]))
        }),
        case("inv: expects square matrices", || linalg::inv(&f32(&[3]))),
        case("solve: the right-hand sides do not fit the matrix", || {
            linalg::solve(&f32(&[3, 3]), &f32(&[2]))
        }),
        case(
            "solve_triangular: the right-hand sides do not fit the matrix",
            || linalg::solve_triangular(&f32(&[3, 3]), &f32(&[4])),
        ),
        case("eigvalsh: expects square matrices", || {
            linalg::eigvalsh(&f32(&[2, 3]))
        }),
        case("svdvals: the operand is not a matrix", || {
            linalg::svdvals(&f32(&[3]))
        }),
        case("gmres: matvec returns another shape", || {
            linalg::gmres(|x: Array| x.sum(), f32(&[3]))
        }),
        case(
            "tridiagonal_solve: the diagonals have different lengths",
            || linalg::tridiagonal_solve(&f32(&[2]), &f32(&[3]), &f32(&[2]), &f32(&[3])),
        ),
        case("multi_dot: shapes do not fit", || {
            linalg::multi_dot(&[f32(&[2, 3]), f32(&[4, 5]), f32(&[5, 2])])
        }),
        case("solve: batch axes do not broadcast together", || {
            linalg::solve(&f32(&[2, 3, 3]), &f32(&[4, 3, 1]))
        }),
        case("norm: expects one or two axes", || {
            linalg::norm_over(&f32(&[2, 3, 4]), 2, [0, 1, 2])
        }),
        case("norm: neither a vector nor a matrix", || {
            linalg::norm(&f32(&[2, 3, 4]), 2)
        }),
        case("pinv: the operand is not a matrix", || {
            linalg::pinv(&f32(&[3]))
        }),
        case("fft: axis out of range", || {
            fft::fft_with(&f32(&[8]), fft::Fft::new().axes(&[1]))
        }),
        case(
            "ragged_dot: the number of groups does not match the matrices",
            || f32(&[8, 4]).ragged_dot(&f32(&[3, 5, 6]), &Array::from([4, 4])),
        ),
    ]
}
