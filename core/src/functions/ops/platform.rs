//! Platform-dependent functions.

use crate::program::backend::backend;
use crate::{Platform, Tree};

/// A platform, and the function to call on it.
pub type PlatformFn<'a, A, R> = (Platform, &'a dyn Fn(A) -> R);

/// Calls the function for the platform of this process, or `default` if there is none
/// (`jax.lax.platform_dependent`). A process has one platform, so the choice is made at trace
/// time.
///
/// ```
/// use ramie_core::lax::platform_dependent;
/// use ramie_core::{Array, Platform};
/// let fast = |x: Array| x.exp2();
/// let y = platform_dependent(Array::from(3.0f32), &[(Platform::Cuda, &fast)], |x| {
///     Array::from(2.0f32).power(&x)
/// });
/// assert_eq!(y.item::<f32>(), 8.0);
/// ```
///
/// # Panics
/// Panics if no runtime is available. The message describes what is missing.
#[track_caller]
pub fn platform_dependent<A: Tree, R>(
    args: A,
    per_platform: &[PlatformFn<'_, A, R>],
    default: impl FnOnce(A) -> R,
) -> R {
    let platform = match backend().platform() {
        Ok(platform) => platform,
        Err(e) => panic!("platform_dependent: {e}"),
    };
    match per_platform.iter().find(|(p, _)| *p == platform) {
        Some((_, f)) => f(args),
        None => default(args),
    }
}
