//! Householder reflectors.

use super::scalar::{Scalar, rough};

/// Turns `x` into the vector `v` of a reflector `H = I - τ v vᴴ` with `v[0] = 1` and
/// `Hᴴ x = β e₀`. Returns `τ` and the real `β`, whose sign is opposite to that of `x[0]`.
pub(crate) fn reflector<T: Scalar>(x: &mut [T]) -> (T, T) {
    let Some((head, tail)) = x.split_first_mut() else {
        return (T::ZERO, T::ZERO);
    };
    let alpha = *head;
    *head = T::ONE;
    let scale = tail.iter().map(|v| rough(*v)).fold(0.0, f64::max);
    if scale == 0.0 && alpha.parts().im == 0.0 {
        return (T::ZERO, alpha);
    }
    let scale = scale.max(rough(alpha));
    let squares = tail.iter().map(|v| (v.magnitude() / scale).powi(2));
    let tail_norm = scale * squares.sum::<f64>().sqrt();
    let beta = -alpha
        .magnitude()
        .hypot(tail_norm)
        .copysign(alpha.parts().re);
    let (real, divisor) = (T::of(beta), alpha - T::of(beta));
    for value in tail {
        *value = value.over(divisor);
    }
    ((real - alpha).over(real), real)
}
