//! The largest arrays.

/// Maximum number of elements of an array: with 16 bytes each, the largest dtype, they take as
/// many bytes as a process can address.
const MOST_ELEMENTS: u128 = 1 << 53;

/// Returns an error if arrays of a shape cannot exist, whatever their dtype. Axes of size 0 count
/// as 1, since arrays without elements have strides, too.
pub(crate) fn check_shape(shape: &[usize]) -> Result<(), String> {
    let sizes = shape.iter().map(|&d| d.max(1) as u128);
    if sizes.fold(1, u128::saturating_mul) <= MOST_ELEMENTS {
        Ok(())
    } else {
        Err(format!(
            "the sizes of shape {shape:?} multiply to more elements than a process can address"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_of_size_zero_count_as_one() {
        for shape in [&[][..], &[0], &[2, 3], &[1 << 53], &[0, 1 << 53, 0]] {
            assert!(check_shape(shape).is_ok(), "{shape:?}");
        }
        for shape in [&[(1 << 53) + 1][..], &[0, 1 << 57], &[0, 1 << 40, 1 << 40]] {
            assert!(check_shape(shape).is_err(), "{shape:?}");
        }
        assert!(check_shape(&[usize::MAX; 64]).is_err());
    }
}
