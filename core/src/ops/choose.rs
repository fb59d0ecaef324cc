//! Choosing among arrays by numbers and conditions, and writing at flat places.

use super::{common_shape, flat_positions, promote_all, require_real};
use crate::{Array, DType, IndexItem, IntoArray, stack, where_};
use std::borrow::Borrow;

/// What becomes of a place that is out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoundsMode {
    /// It is the nearest place.
    Clip,
    /// It counts on from the other end.
    Wrap,
}

impl BoundsMode {
    /// Places within an axis of size `n`.
    #[track_caller]
    fn bound(self, places: &Array, n: usize) -> Array {
        let places = places.counting_to(n);
        match self {
            BoundsMode::Clip => places.clip(0, n as i64 - 1),
            BoundsMode::Wrap => places.remainder(n as i64),
        }
    }
}

/// The places in row-major order of elements of an array of `shape`, whose
/// places along each axis are given (`jnp.ravel_multi_index`).
///
/// ```no_run
/// use ramie_core::{Array, BoundsMode, ravel_multi_index};
/// let (i, j) = (Array::from([1, 0]), Array::from([2, 9]));
/// let flat = ravel_multi_index(&[i, j], &[2, 3], BoundsMode::Clip);
/// assert_eq!(flat.to_vec::<i32>(), [5, 2]);
/// ```
///
/// # Panics
/// Unless there is an array of integers for each axis, and they broadcast.
#[track_caller]
pub fn ravel_multi_index(places: &[Array], shape: &[usize], mode: BoundsMode) -> Array {
    assert!(
        places.len() == shape.len(),
        "ravel_multi_index: {} arrays of places for the shape {shape:?}\n  help: give one for each \
         axis",
        places.len()
    );
    let count = flat_positions("ravel_multi_index", shape);
    let mut flat = Array::scalar(0, DType::I32).counting_to(count);
    for (x, &n) in places.iter().zip(shape) {
        require_real("ravel_multi_index", &[x]);
        assert!(
            x.dtype().is_integer(),
            "ravel_multi_index: places {} are not integers\n  help: convert them with \
             astype(DType::I32)",
            x.aval()
        );
        flat = flat * n as i64 + mode.bound(x, n);
    }
    flat
}

impl Array {
    /// The places along each axis of an array of `shape` of elements whose
    /// places in row-major order are given; what is out of bounds becomes the
    /// nearest place, negative places count from the end
    /// (`jnp.unravel_index`).
    ///
    /// # Panics
    /// If the array holds no integers.
    #[track_caller]
    pub fn unravel_index(&self, shape: &[usize]) -> Vec<Array> {
        require_real("unravel_index", &[self]);
        assert!(
            self.dtype().is_integer(),
            "unravel_index: places {} are not integers\n  help: convert them with \
             astype(DType::I32)",
            self.aval()
        );
        let mut rest = self.counting_to(flat_positions("unravel_index", shape));
        let mut places: Vec<Array> = Vec::with_capacity(shape.len());
        for &n in shape.iter().rev() {
            let (quotient, place) = rest.divmod(n as i64);
            places.push(place);
            rest = quotient;
        }
        places.reverse();
        let (past, before) = (rest.gt(0), rest.lt(-1));
        places
            .iter()
            .zip(shape)
            .map(|(place, &n)| {
                let within = match self.dtype().is_unsigned() {
                    true => place.clone(),
                    false => where_(&before, 0, place),
                };
                where_(&past, n as i64 - 1, within)
            })
            .collect()
    }

    /// For each element, a number, the element of that one of `choices` at the
    /// same place; arrays broadcast together (`jnp.choose`).
    ///
    /// # Panics
    /// If the array holds no integers, there are no choices, or shapes do not
    /// broadcast.
    #[track_caller]
    pub fn choose<A: Borrow<Array>>(&self, choices: &[A], mode: BoundsMode) -> Array {
        require_real("choose", &[self]);
        assert!(
            self.dtype().is_integer(),
            "choose: {} holds no integers\n  help: convert it with astype(DType::I32)",
            self.aval()
        );
        let choices = promote_all("choose", choices);
        let mut all: Vec<&Array> = choices.iter().collect();
        all.push(self);
        let shape = common_shape("choose", &all);
        let which = mode.bound(self, choices.len()).broadcast_to(&shape);
        let choices: Vec<Array> = choices.iter().map(|c| c.broadcast_to(&shape)).collect();
        stack(&choices, 0)
            .take_along_axis(&which.expand_dims(&[0]), 0)
            .squeeze(&[0])
    }

    /// A function in pieces: of the last condition that holds, or `otherwise`;
    /// results take the type of the array (`jnp.piecewise`). All pieces are
    /// computed.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([-1.0f32, 2.0]);
    /// let y = x.piecewise(&[(x.lt(0), &|x: &Array| -x)], |x| x * 10.0);
    /// assert_eq!(y.to_vec::<f32>(), [1.0, 20.0]);
    /// ```
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn piecewise(
        &self,
        pieces: &[(Array, &dyn Fn(&Array) -> Array)],
        otherwise: impl FnOnce(&Array) -> Array,
    ) -> Array {
        let rest = otherwise(self).astype(self.dtype());
        let value = pieces.iter().fold(rest, |rest, (condition, f)| {
            where_(condition, f(self).astype(self.dtype()), rest)
        });
        value.broadcast_to(self.shape())
    }

    /// The array with `values` written at places in row-major order, from the
    /// first value again where they run out; negative places count from the
    /// end, what is out of bounds becomes the nearest place (`jnp.put`).
    ///
    /// # Panics
    /// If the places are no integers, or the type of the values is one that the
    /// array's does not take up.
    #[track_caller]
    pub fn put(&self, places: &Array, values: impl IntoArray) -> Array {
        let values = values.into_array().ravel();
        let places = places.ravel().counting_to(self.size());
        if self.size() == 0 || places.size() == 0 || values.size() == 0 {
            return self.clone();
        }
        let n = self.size() as i64;
        let places = where_(&places.lt(0), &places + n, &places).clip(0, n - 1);
        let values = values.cycled(places.size());
        let flat = self.ravel();
        flat.at(places).set(values).reshape(self.shape())
    }

    /// The array with `values` written where `mask` is true, in row-major order,
    /// from the first value again where they run out (`jnp.place`).
    ///
    /// # Panics
    /// If the mask has another number of elements, there are no values, or their
    /// type is one that the array's does not take up.
    #[track_caller]
    pub fn place(&self, mask: &Array, values: impl IntoArray) -> Array {
        let values = values.into_array().ravel();
        let n = self.size();
        assert!(
            mask.size() == n && values.size() > 0,
            "place: the mask {} and {} values do not fit {}\n  help: the mask has as many elements \
             as the array, and there is a value",
            mask.aval(),
            values.size(),
            self.aval()
        );
        if n == 0 {
            return self.clone();
        }
        let places = mask.flatnonzero_sized(n, n as i64);
        let index = vec![IndexItem::Array(places)];
        let flat = self.ravel();
        let placed = flat.at(index).set(values.cycled(n));
        placed.reshape(self.shape())
    }
}
