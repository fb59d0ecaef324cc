//! One-hot encoding of arrays on the host.

use ndarray::{ArrayRef, Axis, Dimension};

/// Encodes class numbers as vectors with a one at the class and zeros elsewhere, along a new last axis:
/// `[..]` becomes `[.., classes]`. A number that is not in `0..classes` becomes a vector of zeros, as
/// in JAX. For arrays on a device, there is [`Array::one_hot`](ramie_core::Array::one_hot).
///
/// ```
/// use ndarray::array;
/// let encoded = ramie_data::one_hot::<f32, _>(&array![2, 0, -1], 3);
/// assert_eq!(encoded, array![[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]);
/// ```
///
/// The numbers of [`Table::codes`](crate::readers::csv::Table::codes) become columns beside others:
///
/// ```
/// use ndarray::{Axis, array, concatenate};
/// use ramie_data::{one_hot, readers::csv};
/// let text = "width,kind\n1.5,iris\n3,lily\n";
/// let table = csv::parse("t.csv", text.as_bytes(), &csv::Options::default())?;
/// let kinds = one_hot(&table.codes("kind", &["iris", "lily"])?, 2);
/// let x = concatenate![Axis(1), table.matrix::<f32>(&["width"])?, kinds];
/// assert_eq!(x, array![[1.5, 1.0, 0.0], [3.0, 0.0, 1.0]]);
/// # Ok::<(), ramie_data::Error>(())
/// ```
pub fn one_hot<T, D>(codes: &ArrayRef<i32, D>, classes: usize) -> ndarray::Array<T, D::Larger>
where
    T: From<bool> + Clone,
    D: Dimension,
{
    let mut shape = D::Larger::zeros(codes.ndim() + 1);
    shape.slice_mut()[..codes.ndim()].copy_from_slice(codes.shape());
    shape.slice_mut()[codes.ndim()] = classes;
    let mut encoded = ndarray::Array::from_elem(shape, T::from(false));
    let last = Axis(codes.ndim());
    for (code, mut row) in codes.iter().zip(encoded.lanes_mut(last)) {
        let class = usize::try_from(*code).ok();
        if let Some(element) = class.and_then(|class| row.get_mut(class)) {
            *element = T::from(true);
        }
    }
    encoded
}
