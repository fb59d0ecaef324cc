//! Collation of items into batches.

use crate::{Error, Result};
use ndarray::{Array, Array1, Array2, ArrayD, Axis, Dimension, RemoveAxis};
use ramie_core::Element;
use std::collections::BTreeMap;

/// An item that can be collated into batches (PyTorch's `default_collate`).
///
/// Numbers become a vector, arrays are stacked along a new first axis, and tuples and maps are
/// collated part by part. Batches stay on the host: workers make them, and
/// [`ToDevice`](crate::ToDevice) copies them to a device at the end.
///
/// ```
/// use ndarray::array;
/// use ramie_data::Sample;
/// let items = vec![(array![1.0f32, 2.0], 0i32), (array![3.0, 4.0], 1)];
/// let (x, y) = Sample::collate(items)?;
/// assert_eq!(x, array![[1.0, 2.0], [3.0, 4.0]]);
/// assert_eq!(y, array![0, 1]);
/// # Ok::<(), ramie_data::Error>(())
/// ```
///
/// A user-defined struct implements it in terms of its fields:
///
/// ```
/// use ndarray::{Array1, Array2, Array3};
/// use ramie_data::{Result, Sample};
/// struct Example {
///     image: Array2<f32>,
///     label: i32,
/// }
/// impl Sample for Example {
///     type Batch = (Array3<f32>, Array1<i32>);
///     fn collate(items: Vec<Example>) -> Result<Self::Batch> {
///         Sample::collate(items.into_iter().map(|e| (e.image, e.label)).collect())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be collated into batches",
    note = "numbers, `ndarray` arrays, vectors, and tuples and maps of them can; for other items pass \
            a collate function to `DataLoader::with_collate` or `batch_with`",
    note = "elements that `filter` of a source may drop are `Option`s: call `stream().flatten()` before \
            `batch`, or use `subset_where`"
)]
pub trait Sample: Sized + Send + 'static {
    /// The type of a batch.
    type Batch: Send + 'static;

    /// Collates items into a batch, in their order.
    ///
    /// # Errors
    /// Returns an error if the items differ in shape.
    fn collate(items: Vec<Self>) -> Result<Self::Batch>;

    /// Returns `true` if both items can be in the same batch, that is, if they have the same
    /// shape.
    fn is_like(&self, other: &Self) -> bool {
        let _ = other;
        true
    }

    /// Collates `count` items that are produced one after the other. Types that can write an item
    /// into the batch immediately override this method: a large item is then copied while it is
    /// still in the CPU cache.
    ///
    /// # Errors
    /// Returns the error of the first item that cannot be produced, and the errors of
    /// [`collate`](Sample::collate).
    fn collate_each(
        count: usize,
        next: &mut dyn FnMut() -> Option<Result<Self>>,
    ) -> Result<Self::Batch> {
        let mut items = Vec::with_capacity(count);
        while let Some(item) = next() {
            items.push(item?);
        }
        Self::collate(items)
    }
}

macro_rules! scalar_samples {
    ($($t:ty),*) => { $(
        impl Sample for $t {
            type Batch = Array1<$t>;
            fn collate(items: Vec<$t>) -> Result<Array1<$t>> {
                Ok(Array1::from_vec(items))
            }
        }
    )* };
}
scalar_samples!(bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, usize);

impl Sample for String {
    type Batch = Vec<String>;
    fn collate(items: Vec<String>) -> Result<Vec<String>> {
        Ok(items)
    }
}

impl<T: Element, const N: usize> Sample for [T; N] {
    type Batch = Array2<T>;
    fn collate(items: Vec<[T; N]>) -> Result<Array2<T>> {
        let n = items.len();
        let array = Array2::from_shape_vec((n, N), items.into_flattened());
        Ok(array.expect("N elements for each item"))
    }
}

impl<T: Element> Sample for Vec<T> {
    type Batch = Array2<T>;
    fn is_like(&self, other: &Self) -> bool {
        self.len() == other.len()
    }
    fn collate(items: Vec<Vec<T>>) -> Result<Array2<T>> {
        let length = items.first().map_or(0, Vec::len);
        let mut elements = Vec::with_capacity(items.len() * length);
        for (i, item) in items.iter().enumerate() {
            if item.len() != length {
                return Err(Error::Collate(format!(
                    "item {i} of the batch has {} elements, but item 0 has {length}; pad them with \
                     `collate::padded`, or concatenate them with `collate::ragged`",
                    item.len()
                )));
            }
            elements.extend_from_slice(item);
        }
        let array = Array2::from_shape_vec((items.len(), length), elements);
        Ok(array.expect("`length` elements for each item"))
    }
}

impl<T: Element, D: Dimension + 'static> Sample for Array<T, D>
where
    D::Larger: RemoveAxis + 'static,
{
    type Batch = Array<T, D::Larger>;
    fn is_like(&self, other: &Self) -> bool {
        self.shape() == other.shape()
    }
    fn collate(items: Vec<Array<T, D>>) -> Result<Array<T, D::Larger>> {
        let mut items = items.into_iter();
        Self::collate_each(items.len(), &mut || items.next().map(Ok))
    }
    fn collate_each(
        count: usize,
        next: &mut dyn FnMut() -> Option<Result<Self>>,
    ) -> Result<Array<T, D::Larger>> {
        let mut shape = vec![0; D::NDIM.unwrap_or(0)];
        let (mut elements, mut made) = (Vec::new(), 0);
        while let Some(item) = next() {
            let item = item?;
            if made == 0 {
                shape = item.shape().to_vec();
                elements.reserve_exact(count * item.len());
            }
            if item.shape() != shape {
                return Err(Error::Collate(format!(
                    "item {made} of the batch has the shape {:?}, but item 0 has {shape:?}; crop, \
                     resize or pad the items to the same shape",
                    item.shape()
                )));
            }
            match item.as_slice() {
                Some(row) => elements.extend_from_slice(row),
                None => elements.extend(item.iter().copied()),
            }
            made += 1;
        }
        let whole: Vec<usize> = [&[made], &shape[..]].concat();
        let array = ArrayD::from_shape_vec(whole, elements).expect("as many elements");
        Ok(array.into_dimensionality().expect("one axis more"))
    }
}

macro_rules! tuple_samples {
    ($($first:ident $(, $t:ident $items:ident $i:tt)*;)*) => { $(
        impl<$first: Sample, $($t: Sample),*> Sample for ($first, $($t,)*) {
            type Batch = ($first::Batch, $($t::Batch,)*);
            fn is_like(&self, other: &Self) -> bool {
                self.0.is_like(&other.0) $(&& self.$i.is_like(&other.$i))*
            }
            fn collate(items: Vec<Self>) -> Result<Self::Batch> {
                let mut items = items.into_iter();
                Self::collate_each(items.len(), &mut || items.next().map(Ok))
            }
            /// Writes the first part of each item into its batch as soon as the item is produced.
            #[allow(non_snake_case)]
            fn collate_each(
                count: usize,
                next: &mut dyn FnMut() -> Option<Result<Self>>,
            ) -> Result<Self::Batch> {
                $(let mut $items = Vec::with_capacity(count);)*
                let first = $first::collate_each(count, &mut || {
                    Some(next()?.map(|(first, $($t,)*)| {
                        $($items.push($t);)*
                        first
                    }))
                })?;
                Ok((first, $($t::collate($items)?,)*))
            }
        }
    )* };
}
tuple_samples! {
    A;
    A, B b 1;
    A, B b 1, C c 2;
    A, B b 1, C c 2, D d 3;
    A, B b 1, C c 2, D d 3, E e 4;
    A, B b 1, C c 2, D d 3, E e 4, F f 5;
}

impl<S: Sample> Sample for BTreeMap<String, S> {
    type Batch = BTreeMap<String, S::Batch>;
    fn is_like(&self, other: &Self) -> bool {
        let alike = |(name, item): (&String, &S)| other.get(name).is_some_and(|o| item.is_like(o));
        self.len() == other.len() && self.iter().all(alike)
    }
    fn collate(items: Vec<Self>) -> Result<Self::Batch> {
        let mut columns: BTreeMap<String, Vec<S>> = BTreeMap::new();
        let count = items.len();
        for (i, item) in items.into_iter().enumerate() {
            for (name, value) in item {
                let column = columns.entry(name).or_default();
                if column.len() < i {
                    // The check of all columns below reports the missing name.
                    continue;
                }
                column.push(value);
            }
        }
        let whole = |(name, column): (String, Vec<S>)| {
            if column.len() == count {
                Ok((name, S::collate(column)?))
            } else {
                Err(Error::Collate(format!(
                    "`{name}` is missing in some items of the batch; use the same names in all items"
                )))
            }
        };
        columns.into_iter().map(whole).collect()
    }
}

/// Returns an owned copy of the subarray at an index of the first axis.
pub(crate) fn row<T: Element, D: RemoveAxis>(
    array: &Array<T, D>,
    index: usize,
) -> Array<T, D::Smaller> {
    array.index_axis(Axis(0), index).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn shapes_that_differ_are_refused() {
        let e = Sample::collate(vec![vec![1, 2], vec![3]]).unwrap_err();
        assert!(
            e.to_string()
                .starts_with("item 1 of the batch has 1 elements, but item 0 has 2; pad")
        );
        let e = Sample::collate(vec![array![1, 2], array![3]]).unwrap_err();
        assert!(
            e.to_string()
                .starts_with("item 1 of the batch has the shape [1], but item 0 has [2]")
        );
    }

    #[test]
    fn maps_need_the_same_names() {
        let map = |names: &[&str]| names.iter().map(|n| (n.to_string(), 1i32)).collect();
        let batch: BTreeMap<String, Array1<i32>> =
            Sample::collate(vec![map(&["a", "b"]), map(&["a", "b"])]).unwrap();
        assert_eq!(batch["b"], array![1, 1]);
        for items in [
            vec![map(&["a", "b"]), map(&["a"])],
            vec![map(&["a"]), map(&["a", "b"])],
            vec![map(&["b"]), map(&["a"]), map(&["b"])],
        ] {
            let e = <BTreeMap<String, i32> as Sample>::collate(items).unwrap_err();
            assert!(e.to_string().contains("is missing in some items"), "{e}");
        }
    }

    #[test]
    fn what_is_not_in_row_major_order_is_put_in_order() {
        let x = array![[1, 2], [3, 4]];
        let batch = Sample::collate(vec![x.t().to_owned(), x]).unwrap();
        assert_eq!(batch, array![[[1, 3], [2, 4]], [[1, 2], [3, 4]]]);
    }

    #[test]
    fn nothing_is_a_batch_of_nothing() {
        assert_eq!(<[f32; 3]>::collate(vec![]).unwrap().shape(), [0, 3]);
        assert_eq!(<Array2<f32>>::collate(vec![]).unwrap().shape(), [0, 0, 0]);
    }
}
