//! Position embeddings of vision transformers for images of other sizes.

use ramie_core::lax::Precision;
use ramie_core::{Array, DType, concatenate};

/// The parameter of the cubic convolution, which PyTorch uses.
const A: f64 = -0.75;

/// Returns the embeddings of the class and of `height` × `width` patches, `[1, 1 + patches, features]`.
/// Those of another number of patches, which form a square, are interpolated bicubically.
pub(crate) fn resized(positions: &Array, [height, width]: [usize; 2]) -> Array {
    let (count, features) = (positions.shape()[1], positions.shape()[2]);
    let side = (count - 1).isqrt();
    if [height, width] == [side, side] {
        return positions.clone();
    }
    let patches = positions.slice_in_dim(1, count, 1, 1).astype(DType::F32);
    let rows = weights(side, height)
        .matmul_with(
            patches.reshape(&[side, side * features]),
            Precision::HIGHEST,
        )
        .reshape(&[height, side, features]);
    let patches = weights(side, width).matmul_with(rows, Precision::HIGHEST);
    let patches = patches.reshape(&[1, height * width, features]);
    let class = positions.slice_in_dim(0, 1, 1, 1);
    concatenate(&[class, patches.astype(positions.dtype())], 1)
}

/// Returns the matrix `[to, from]` that interpolates `from` equidistant values at the centers of `to`
/// intervals. The first and the last value continue beyond the ends.
fn weights(from: usize, to: usize) -> Array {
    let mut matrix = vec![0.0; to * from];
    for (i, row) in matrix.chunks_mut(from).enumerate() {
        let at = (i as f64 + 0.5) * from as f64 / to as f64 - 0.5;
        let part = at - at.floor();
        let distances = [1.0 + part, part, 1.0 - part, 2.0 - part];
        for (near, distance) in (-1..).zip(distances) {
            let index = (at.floor() as isize + near).clamp(0, from as isize - 1);
            row[index as usize] += cubic(distance) as f32;
        }
    }
    Array::from_vec(matrix, &[to, from])
}

/// Returns the weight of a value at a distance of at most 2 (Keys, *Cubic Convolution Interpolation for
/// Digital Image Processing*, 1981).
fn cubic(x: f64) -> f64 {
    if x <= 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else {
        ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A
    }
}
