//! Real 2×2 matrices in standard form.

/// A 2×2 matrix, and the rotation that made it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standard {
    /// The elements, row by row. Either the lower left is zero, or the diagonal elements are equal
    /// and the others have opposite signs.
    pub(crate) elements: [f64; 4],
    /// Cosine and sine.
    pub(crate) rotation: (f64, f64),
}

/// Rotates a matrix into standard form (`dlanv2` in LAPACK).
pub(crate) fn standardized([a, b, c, d]: [f64; 4]) -> Standard {
    let of = |elements, rotation| Standard { elements, rotation };
    let half_difference = (a - d) / 2.0;
    let signs_differ = b.is_sign_negative() != c.is_sign_negative();
    if c == 0.0 || (a == d && signs_differ && b != 0.0) {
        return of([a, b, c, d], (1.0, 0.0));
    }
    if b == 0.0 {
        return of([d, -c, 0.0, a], (0.0, 1.0));
    }
    let larger = b.abs().max(c.abs());
    let smaller = b.abs().min(c.abs()) * if signs_differ { -1.0 } else { 1.0 };
    let scale = half_difference.abs().max(larger);
    let square = half_difference / scale * half_difference + larger / scale * smaller;
    if square < 4.0 * f64::EPSILON {
        return equal_diagonal([a, b, c, d]);
    }
    // Real eigenvalues that differ.
    let root = (scale.sqrt() * square.sqrt()).copysign(half_difference);
    let z = half_difference + root;
    let tau = c.hypot(z);
    let elements = [d + z, b - c, 0.0, d - larger / z * smaller];
    of(elements, (z / tau, c / tau))
}

/// Makes the diagonal elements equal; for complex eigenvalues, and for real ones that are nearly
/// equal.
fn equal_diagonal([a, b, c, d]: [f64; 4]) -> Standard {
    let (sum, difference) = (b + c, a - d);
    let tau = sum.hypot(difference);
    let cos = ((1.0 + sum.abs() / tau) / 2.0).sqrt();
    let sin = -(difference / 2.0 / (tau * cos)) * 1f64.copysign(sum);
    let (aa, bb) = (a * cos + b * sin, b * cos - a * sin);
    let (cc, dd) = (c * cos + d * sin, d * cos - c * sin);
    let (a, b) = (aa * cos + cc * sin, bb * cos + dd * sin);
    let (c, d) = (cc * cos - aa * sin, dd * cos - bb * sin);
    let middle = (a + d) / 2.0;
    let of = |elements, rotation| Standard { elements, rotation };
    if c == 0.0 {
        return of([middle, b, 0.0, middle], (cos, sin));
    }
    if b == 0.0 {
        return of([middle, -c, 0.0, middle], (-sin, cos));
    }
    if b.is_sign_negative() != c.is_sign_negative() {
        return of([middle, b, c, middle], (cos, sin));
    }
    let (root_b, root_c) = (b.abs().sqrt(), c.abs().sqrt());
    let distance = (root_b * root_c).copysign(c);
    let tau = 1.0 / (b + c).abs().sqrt();
    let (cos_1, sin_1) = (root_b * tau, root_c * tau);
    let rotation = (cos * cos_1 - sin * sin_1, cos * sin_1 + sin * cos_1);
    of([middle + distance, b - c, 0.0, middle - distance], rotation)
}
