//! Pooling (`flax.linen.pooling`): reductions over windows of images.

use super::Window;
use crate::prim::conv::{Padding, Pads};
use crate::typing::Dims;
use crate::{Array, DType, IntoArray};

/// Returns the window over all axes of a batch of images: any number of batch axes, the spatial
/// axes, and the features.
#[track_caller]
fn window(
    x: &Array,
    window_shape: &[usize],
    strides: &[usize],
    padding: impl Into<Padding>,
) -> Window {
    let spatial = window_shape.len();
    assert!(
        x.ndim() > spatial && strides.len() == spatial,
        "pool: a window of {window_shape:?} with strides {strides:?} does not fit {}\n  help: \
         pass a size and a stride for each spatial axis; features are the last axis, and batch \
         axes may come first",
        x.aval()
    );
    let lead = x.ndim() - spatial - 1;
    let whole = |list: &[usize]| -> Dims {
        let (before, after) = (std::iter::repeat_n(1, lead), std::iter::once(1));
        before.chain(list.iter().copied()).chain(after).collect()
    };
    let padding = match padding.into() {
        Padding::Explicit(pads) => {
            assert!(
                pads.len() == spatial,
                "pool: got padding for {} axes, but the window has {spatial}\n  help: pass one \
                 pair of numbers for each spatial axis",
                pads.len()
            );
            let mut all = Pads::from_elem((0, 0), lead);
            all.extend(pads);
            all.push((0, 0));
            Padding::Explicit(all)
        }
        computed => computed,
    };
    Window::new(&whole(window_shape))
        .strides(&whole(strides))
        .padding(padding)
}

/// Reduces the elements in each window over the spatial axes of images with a scalar computation
/// (`flax.linen.pool`). The axes are any number of batch axes, the spatial axes, and the
/// features.
///
/// `computation` must be associative and commutative, and `init` must be its identity.
///
/// # Panics
/// Panics if the number of strides or paddings differs from the number of window axes, if the
/// array has too few axes, or if `computation` is invalid.
#[track_caller]
pub fn pool(
    x: &Array,
    init: impl IntoArray,
    computation: impl FnOnce(&Array, &Array) -> Array,
    window_shape: &[usize],
    strides: &[usize],
    padding: impl Into<Padding>,
) -> Array {
    let window = window(x, window_shape, strides, padding);
    x.reduce_window(init, computation, &window)
}

/// Computes the maximum of each window over the spatial axes of images (`flax.linen.max_pool`).
/// The axes are any number of batch axes, the spatial axes, and the features.
///
/// ```no_run
/// use ramie_core::lax::{max_pool, Padding};
/// use ramie_core::{Array, DType};
/// let images = Array::ones(&[8, 28, 28, 32], DType::F32);
/// let halves = max_pool(&images, &[2, 2], &[2, 2], Padding::Valid);
/// assert_eq!(halves.shape(), [8, 14, 14, 32]);
/// ```
///
/// # Panics
/// Panics if the number of strides or paddings differs from the number of window axes, or if the
/// array has too few axes.
#[track_caller]
pub fn max_pool(
    x: &Array,
    window_shape: &[usize],
    strides: &[usize],
    padding: impl Into<Padding>,
) -> Array {
    x.reduce_window_max(&window(x, window_shape, strides, padding))
}

/// Computes the minimum of each window over the spatial axes of images (`flax.linen.min_pool`).
/// The axes are any number of batch axes, the spatial axes, and the features.
///
/// # Panics
/// Panics in the same cases as [`max_pool`].
#[track_caller]
pub fn min_pool(
    x: &Array,
    window_shape: &[usize],
    strides: &[usize],
    padding: impl Into<Padding>,
) -> Array {
    x.reduce_window_min(&window(x, window_shape, strides, padding))
}

/// Computes the mean of each window over the spatial axes of images (`flax.linen.avg_pool`). The
/// axes are any number of batch axes, the spatial axes, and the features. Padding counts as zeros.
///
/// # Panics
/// Panics in the same cases as [`max_pool`].
#[track_caller]
pub fn avg_pool(
    x: &Array,
    window_shape: &[usize],
    strides: &[usize],
    padding: impl Into<Padding>,
) -> Array {
    let window = window(x, window_shape, strides, padding);
    x.to_inexact().reduce_window_sum(&window) / window_shape.iter().product::<usize>()
}

/// The option of [`avg_pool_with`]: padding is not counted (`count_include_pad=False` in Flax).
#[derive(Clone, Copy, Debug, Default)]
pub struct ExcludePadding;

/// Same as [`avg_pool`], but a mean is over the elements of the window that are not padding.
///
/// # Panics
/// Panics in the same cases as [`max_pool`].
#[track_caller]
pub fn avg_pool_with(
    x: &Array,
    window_shape: &[usize],
    strides: &[usize],
    padding: impl Into<Padding>,
    _: ExcludePadding,
) -> Array {
    let window = window(x, window_shape, strides, padding);
    let x = x.to_inexact();
    let sums = x.reduce_window_sum(&window);
    // The counts are the same for all batch elements and features, so one of each suffices.
    let spatial = window_shape.len();
    let lead = x.ndim() - spatial - 1;
    let mut shape: Dims = x.shape().into();
    shape[..lead].fill(1);
    shape[lead + spatial] = 1;
    let counts = Array::ones(&shape, DType::F32).reduce_window_sum(&window);
    sums / counts.astype(x.dtype())
}
