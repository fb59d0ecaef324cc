//! Mistakes with convolutions, windows and matrices.

use crate::document::{Case, case, f32};
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("A kernel for other channels", || {
            let images = f32(&[8, 3, 28, 28]);
            let kernels = f32(&[16, 4, 3, 3]);
            conv(&images, &kernels, &[1, 1], Padding::Same)
        }),
        case("A kernel of another rank", || {
            conv(
                &f32(&[8, 3, 28, 28]),
                &f32(&[16, 3, 3]),
                &[1, 1],
                Padding::Same,
            )
        }),
        case("Strides for too few axes", || {
            let images = f32(&[8, 3, 28, 28]);
            let kernels = f32(&[16, 3, 3, 3]);
            conv(&images, &kernels, &[1], Padding::Same)
        }),
        case("Groups that do not divide the channels", || {
            let how = Convolution::new().feature_group_count(2);
            conv_general_dilated(&f32(&[8, 3, 28, 28]), &f32(&[16, 3, 3, 3]), &how)
        }),
        case("A window with too many axes", || {
            max_pool(&f32(&[8, 28, 28]), &[2, 2, 2], &[2, 2, 2], Padding::Valid)
        }),
        case("Strides of a window for too few axes", || {
            max_pool(&f32(&[8, 28, 28, 3]), &[2, 2], &[2], Padding::Valid)
        }),
        case("Factors of a matrix that is not square", || {
            linalg::cholesky(&f32(&[2, 3]))
        }),
        case("The inverse of a vector", || linalg::inv(&f32(&[3]))),
        case("A system with too few right sides", || {
            linalg::solve(&f32(&[3, 3]), &f32(&[2]))
        }),
        case("A triangular system that does not fit", || {
            linalg::solve_triangular(&f32(&[3, 3]), &f32(&[4]), true)
        }),
        case("Eigenvalues of a matrix that is not square", || {
            linalg::eigvalsh(&f32(&[2, 3]))
        }),
        case("Singular values of a vector", || {
            linalg::svdvals(&f32(&[3]))
        }),
        case("A system whose matrix gives another shape", || {
            linalg::gmres(|x: Array| x.sum(), f32(&[3]))
        }),
        case("Diagonals of different lengths", || {
            linalg::tridiagonal_solve(&f32(&[2]), &f32(&[3]), &f32(&[2]), &f32(&[3]))
        }),
        case("A product of matrices that do not fit", || {
            linalg::multi_dot(&[f32(&[2, 3]), f32(&[4, 5]), f32(&[5, 2])])
        }),
        case("Batches of matrices and right sides that differ", || {
            linalg::solve(&f32(&[2, 3, 3]), &f32(&[4, 3, 1]))
        }),
        case("The norm over three axes", || {
            linalg::norm(&f32(&[2, 3, 4]), 2, &[0, 1, 2], false)
        }),
        case("The pseudoinverse of a vector", || {
            linalg::pinv(&f32(&[3]), None)
        }),
        case("A spectrum along an axis that is not there", || {
            fft::fft(&f32(&[8]), None, 1, fft::Norm::Backward)
        }),
        case("Groups for another number of products", || {
            f32(&[8, 4]).ragged_dot(&f32(&[3, 5, 6]), &Array::from([4, 4]))
        }),
    ]
}
