//! Conversion of host batches to arrays on devices.

use super::Placement;
use crate::Result;
use crate::collate::{Padded, Ragged};
use ndarray::Dimension;
use ramie_core::{Array, Element, Tree};
use std::collections::BTreeMap;

/// A batch on the host that can be copied to devices as a pytree of arrays.
///
/// Arrays of the `ndarray` crate implement it, and tuples, vectors and maps of them. A
/// user-defined struct implements it field by field.
pub trait ToDevice: Send + 'static {
    /// The type of the batch on devices.
    type Device: Tree;

    /// Transfers the batch. It passes ownership of the memory: a CPU device uses it without a
    /// copy.
    ///
    /// # Errors
    /// Returns an error if the rows do not divide evenly over the mesh, or if a device is out of
    /// memory.
    fn to_device(self, place: &Placement) -> Result<Self::Device>;

    /// Returns the number of rows that count, 0-d, if a mask tells it, and `None` if all rows do.
    fn counted(_batch: &Self::Device) -> Option<Array> {
        None
    }
}

impl<T: Element, D: Dimension + 'static> ToDevice for ndarray::Array<T, D> {
    type Device = Array;
    fn to_device(self, place: &Placement) -> Result<Array> {
        let shape = self.shape().to_vec();
        if !self.is_standard_layout() {
            return place.put(self.iter().copied().collect(), &shape);
        }
        match self.into_raw_vec_and_offset() {
            (elements, None | Some(0)) if elements.len() == shape.iter().product::<usize>() => {
                place.put(elements, &shape)
            }
            (elements, offset) => {
                let start = offset.unwrap_or(0);
                let end = start + shape.iter().product::<usize>();
                place.put(elements[start..end].to_vec(), &shape)
            }
        }
    }
}

impl<B: ToDevice> ToDevice for Vec<B> {
    type Device = Vec<B::Device>;
    fn to_device(self, place: &Placement) -> Result<Self::Device> {
        self.into_iter().map(|b| b.to_device(place)).collect()
    }
}

impl<B: ToDevice> ToDevice for BTreeMap<String, B> {
    type Device = BTreeMap<String, B::Device>;
    fn to_device(self, place: &Placement) -> Result<Self::Device> {
        let put = |(name, b): (String, B)| Ok((name, b.to_device(place)?));
        self.into_iter().map(put).collect()
    }
}

macro_rules! tuples {
    ($($($t:ident $s:tt),+;)*) => { $(
        impl<$($t: ToDevice),+> ToDevice for ($($t,)+) {
            type Device = ($($t::Device,)+);
            fn to_device(self, place: &Placement) -> Result<Self::Device> {
                Ok(($(self.$s.to_device(place)?,)+))
            }
        }
    )* };
}
tuples! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
}

/// Transfers the values and the lengths.
impl<T: Element> ToDevice for Padded<T> {
    type Device = (Array, Array);
    fn to_device(self, place: &Placement) -> Result<Self::Device> {
        (self.values, self.lengths).to_device(place)
    }
}

/// Transfers the values and the row splits.
impl<T: Element> ToDevice for Ragged<T> {
    type Device = (Array, Array);
    fn to_device(self, place: &Placement) -> Result<Self::Device> {
        (self.values, self.row_splits).to_device(place)
    }
}
