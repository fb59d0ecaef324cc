//! `Tensor`: a view of a storage.

use ramie_core::DType;

/// A tensor of a file, without its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Dotted path of the tensor.
    pub name: String,
    /// Dtype of the elements.
    pub dtype: DType,
    /// Shape of the tensor.
    pub shape: Vec<usize>,
    /// Distance between neighbors along each axis, in elements.
    pub(super) strides: Vec<usize>,
    /// Index of the file among the shards.
    pub(super) file: usize,
    /// Offset of the first element in the file, in bytes.
    pub(super) start: u64,
}

/// The file, first byte, dtype, shape and strides of a tensor.
pub(super) type View<'a> = (usize, u64, DType, &'a [usize], &'a [usize]);

impl Tensor {
    /// Returns the number of elements.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns the number of bytes of the elements.
    pub fn nbytes(&self) -> usize {
        self.size() * self.dtype.size()
    }

    pub(super) fn view(&self) -> View<'_> {
        (
            self.file,
            self.start,
            self.dtype,
            &self.shape,
            &self.strides,
        )
    }

    /// Returns whether the elements follow each other in row-major order.
    pub(super) fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        let mut axes = self.shape.iter().zip(&self.strides).rev();
        self.size() == 0
            || axes.all(|(&d, &stride)| {
                let fits = d == 1 || stride == expected;
                expected *= d;
                fits
            })
    }

    /// Returns the number of bytes from the first to the last element.
    pub(super) fn span(&self) -> usize {
        let axes = self.shape.iter().zip(&self.strides);
        let last: usize = axes.map(|(d, stride)| (d - 1) * stride).sum();
        (last + 1) * self.dtype.size()
    }

    /// Copies the elements from the bytes of the span to row-major order.
    pub(super) fn gather(&self, span: &[u8], out: &mut [u8]) {
        let width = self.dtype.size();
        let (Some((&columns, outer)), Some((&step, strides))) =
            (self.shape.split_last(), self.strides.split_last())
        else {
            return out.copy_from_slice(span);
        };
        let mut index = vec![0; outer.len()];
        for row in out.chunks_exact_mut(columns * width) {
            let start: usize = index.iter().zip(strides).map(|(i, s)| i * s).sum();
            if step == 1 {
                row.copy_from_slice(&span[start * width..][..columns * width]);
            } else {
                for (i, out) in row.chunks_exact_mut(width).enumerate() {
                    out.copy_from_slice(&span[(start + i * step) * width..][..width]);
                }
            }
            for (i, d) in index.iter_mut().zip(outer).rev() {
                *i += 1;
                if *i < *d {
                    break;
                }
                *i = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_gathered_in_row_major_order() {
        let view = |shape: &[usize], strides: &[usize]| Tensor {
            name: String::new(),
            dtype: DType::U16,
            shape: shape.to_vec(),
            strides: strides.to_vec(),
            file: 0,
            start: 0,
        };
        let bytes: Vec<u8> = (0..24u16).flat_map(u16::to_le_bytes).collect();
        for (shape, strides, expected) in [
            (&[2, 3][..], &[3, 1][..], &[0, 1, 2, 3, 4, 5][..]),
            (&[3, 2], &[1, 3], &[0, 3, 1, 4, 2, 5]),
            (&[2, 1, 2], &[12, 7, 1], &[0, 1, 12, 13]),
            (&[2, 2, 2], &[1, 12, 4], &[0, 4, 12, 16, 1, 5, 13, 17]),
            (&[], &[], &[0]),
            (&[4], &[5], &[0, 5, 10, 15]),
        ] {
            let tensor = view(shape, strides);
            let mut out = vec![0; tensor.nbytes()];
            tensor.gather(&bytes[..tensor.span()], &mut out);
            let numbers = out
                .chunks_exact(2)
                .map(|b| u16::from_le_bytes([b[0], b[1]]));
            assert_eq!(
                numbers.collect::<Vec<_>>(),
                expected,
                "{shape:?} {strides:?}"
            );
        }
        let contiguous = |shape: &[usize], strides: &[usize]| view(shape, strides).is_contiguous();
        assert!(contiguous(&[2, 1, 3], &[3, 99, 1]));
        assert!(contiguous(&[0, 3], &[1, 1]) && contiguous(&[], &[]));
        assert!(!contiguous(&[2, 3], &[1, 2]) && !contiguous(&[2], &[2]));
    }
}
