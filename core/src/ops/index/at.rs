//! The place that an index names in an array: reading it, and updating it
//! functionally.

use super::plan::{self, Negative, Plan};
use super::resolve::{Bounds, Entry, resolve};
use super::{IndexItem, value_for};
use crate::prim::control::APPLY;
use crate::prim::index::{Gather, GatherScatterMode, Scatter, ScatterMethod};
use crate::{Array, DType, Dims, IntoArray, Literal, PartitionSpec, Scalar};

/// A place in an array, named by an index; see [`Array::at`].
///
/// Each update returns a new array. An element that an array of integers names
/// more than once receives every update: all sums, products, powers, minima,
/// maxima and applications of a function. Which of several values
/// [`set`](At::set) stores is unspecified. Integers outside the array are
/// dropped.
#[derive(Clone, Debug)]
pub struct At<'a> {
    array: &'a Array,
    items: Vec<IndexItem>,
    mode: Option<GatherScatterMode>,
    indices_are_sorted: bool,
    unique_indices: bool,
    fill_value: Option<Scalar>,
}

impl<'a> At<'a> {
    pub(super) fn new(array: &'a Array, items: Vec<IndexItem>) -> At<'a> {
        At {
            array,
            items,
            mode: None,
            indices_are_sorted: false,
            unique_indices: false,
            fill_value: None,
        }
    }

    /// Sets what happens to integers out of bounds. The default for integers in
    /// arrays is `PromiseInBounds` for reading and `FillOrDrop` for writing; a
    /// Rust integer out of bounds panics unless a mode is set. Negative
    /// integers count from the end in every mode.
    #[must_use]
    pub fn mode(self, mode: GatherScatterMode) -> At<'a> {
        At {
            mode: Some(mode),
            ..self
        }
    }

    /// What is read out of bounds with `FillOrDrop`; by default NaN, the
    /// smallest signed or the largest unsigned integer, or true.
    #[must_use]
    pub fn fill_value(self, value: impl Into<Scalar>) -> At<'a> {
        At {
            mode: Some(GatherScatterMode::FillOrDrop),
            fill_value: Some(value.into()),
            ..self
        }
    }

    /// Promises whether the places come in increasing order, which can make
    /// programs faster.
    #[must_use]
    pub fn indices_are_sorted(self, promise: bool) -> At<'a> {
        At {
            indices_are_sorted: promise,
            ..self
        }
    }

    /// Promises whether no place is named twice, which can make programs and
    /// derivatives faster.
    #[must_use]
    pub fn unique_indices(self, promise: bool) -> At<'a> {
        At {
            unique_indices: promise,
            ..self
        }
    }

    /// The elements at the place.
    ///
    /// # Panics
    /// As [`Array::index`].
    #[track_caller]
    pub fn get(&self) -> Array {
        let entries = self.entries();
        let filled = self.mode == Some(GatherScatterMode::FillOrDrop);
        if plan::is_static(&entries) {
            return plan::finish(&plan::slice_static(self.array, &entries), &entries);
        }
        if plan::is_scalar(&entries) && !filled {
            return self.get_scalar(&entries);
        }
        let plan = Plan::new(self.array, &entries, Negative::FromEnd);
        let gather = Gather {
            dimension_numbers: plan.numbers,
            slice_sizes: plan.slice_sizes,
            mode: self.mode.unwrap_or(GatherScatterMode::PromiseInBounds),
            indices_are_sorted: self.indices_are_sorted,
            unique_indices: self.unique_indices || plan.unique,
            fill_value: self.fill_value.map(|v| Literal::new(v, self.array.dtype())),
        };
        let found = self.array.gather(&plan.indices, gather);
        found.reshape(&plan.full_shape)
    }

    #[track_caller]
    fn entries(&self) -> Vec<Entry> {
        let bounds = match self.mode {
            None | Some(GatherScatterMode::PromiseInBounds) => Bounds::Checked,
            Some(GatherScatterMode::Clip | GatherScatterMode::FillOrDrop) => Bounds::ByMode,
        };
        resolve(self.array, &self.items, bounds)
    }

    /// The elements at the place, sharded by `out_sharding` over explicit axes of a
    /// mesh (`x.at[..].get(out_sharding=..)`). The compiler finds a way, also
    /// where dimensions that are indexed are sharded.
    ///
    /// ```no_run
    /// use ramie_core::{Array, AxisType, DType, P, make_mesh_with, set_mesh};
    /// let _current = set_mesh(make_mesh_with(&[4, 2], &["X", "Y"], AxisType::Explicit)?);
    /// let x = Array::zeros_sharded(&[8, 16], DType::F32, P!["X", "Y"]);
    /// let rows = x.at(Array::from([0, 5])).get_sharded(P![None, "Y"]);
    /// assert_eq!(rows.aval().to_string(), "f32[2,16@Y]");
    /// # Ok::<(), ramie_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// As [`Array::index`], or if `out_sharding` does not fit the mesh or the
    /// shape.
    #[track_caller]
    pub fn get_sharded(&self, out_sharding: impl Into<PartitionSpec>) -> Array {
        let spec = out_sharding.into();
        // Only what types speak of changes hands.
        let sharded = |item: &IndexItem| match item {
            IndexItem::Array(x) if x.aval().sharding().is_some() => Some(x.clone()),
            _ => None,
        };
        let arrays: Vec<Array> = self.items.iter().filter_map(sharded).collect();
        let operands: Vec<&Array> = std::iter::once(self.array).chain(&arrays).collect();
        crate::ops::sharding::placed_by_compiler("at(…).get", &operands, &spec, |given| {
            let mut indices = given[1..].iter();
            let items = self.items.iter().map(|item| match sharded(item) {
                Some(_) => IndexItem::Array(indices.next().expect("one for each").clone()),
                None => item.clone(),
            });
            let inside = At {
                array: &given[0],
                items: items.collect(),
                ..self.clone()
            };
            inside.get()
        })
    }

    /// A box at a computed place.
    #[track_caller]
    fn get_scalar(&self, entries: &[Entry]) -> Array {
        let ranges = plan::slice_static(self.array, entries);
        let mut sizes: Dims = ranges.shape().into();
        for entry in entries {
            if let Entry::Axis(d, super::resolve::Pick::Places(_)) = entry {
                sizes[*d] = 1;
            }
        }
        let starts = plan::dynamic_starts(self.array, entries);
        plan::finish(&ranges.dynamic_slice(&starts, &sizes), entries)
    }

    /// The array with `value` at the place; the value is broadcast to it.
    ///
    /// # Panics
    /// As [`Array::index`]; if `value` does not broadcast to the place, or is
    /// of a type that the array's does not take up.
    #[track_caller]
    pub fn set(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).set", self.array, value);
        self.update(ScatterMethod::Set, &value)
    }

    /// The array with `value` added at the place.
    ///
    /// # Panics
    /// As [`set`](At::set).
    #[track_caller]
    pub fn add(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).add", self.array, value);
        self.update(ScatterMethod::Add, &value)
    }

    /// The array with `value` subtracted at the place.
    ///
    /// # Panics
    /// As [`set`](At::set).
    #[track_caller]
    pub fn subtract(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).subtract", self.array, value);
        self.update(ScatterMethod::Sub, &value)
    }

    /// The array with the place multiplied by `value`.
    ///
    /// # Panics
    /// As [`set`](At::set).
    #[track_caller]
    pub fn multiply(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).multiply", self.array, value);
        self.update(ScatterMethod::Mul, &value)
    }

    /// The array with the place divided by `value`.
    ///
    /// # Panics
    /// As [`set`](At::set).
    #[track_caller]
    pub fn divide(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).divide", self.array, value);
        self.array / self.factors(&value)
    }

    /// The array with the place raised to the power `value`.
    ///
    /// # Panics
    /// As [`set`](At::set).
    #[track_caller]
    pub fn power(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).power", self.array, value);
        self.array.power(self.factors(&value))
    }

    /// Ones with `value` multiplied in at the place.
    #[track_caller]
    fn factors(&self, value: &Array) -> Array {
        let ones = self.array.ones_like();
        let there = At {
            array: &ones,
            ..self.clone()
        };
        there.update(ScatterMethod::Mul, value)
    }

    /// The array with the smaller of `value` and what is at the place.
    ///
    /// # Panics
    /// As [`set`](At::set).
    #[track_caller]
    pub fn min(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).min", self.array, value);
        self.update(ScatterMethod::Min, &value)
    }

    /// The array with the larger of `value` and what is at the place.
    ///
    /// # Panics
    /// As [`set`](At::set).
    #[track_caller]
    pub fn max(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).max", self.array, value);
        self.update(ScatterMethod::Max, &value)
    }

    /// The array with `f` applied at the place (`x.at[..].apply(f)`). `f` keeps
    /// the shape, or returns one that broadcasts to it.
    ///
    /// `f` is applied to an element as often as an array of integers names it,
    /// in a loop, so `f` must be elementwise if integers repeat. Such a loop has
    /// no reverse-mode derivative; an index without arrays, a mask, and
    /// [`unique_indices(true)`](At::unique_indices) need no loop.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([1, 2, 3]);
    /// let doubled = x.at([0, 2, 2]).apply(|v| v * 2);
    /// assert_eq!(doubled.to_vec::<i32>(), [2, 2, 12]);
    /// ```
    ///
    /// # Panics
    /// As [`set`](At::set).
    #[track_caller]
    pub fn apply(&self, f: impl Fn(Array) -> Array) -> Array {
        let repeats = |item: &IndexItem| match item {
            IndexItem::Array(places) => places.ndim() > 0 && places.dtype() != DType::Bool,
            _ => false,
        };
        if self.unique_indices || !self.items.iter().any(repeats) {
            return self.set(f(self.get()));
        }
        if self.array.size() == 0 {
            return self.array.clone();
        }
        let none = Array::zeros(self.array.shape(), DType::I32);
        let places = At {
            array: &none,
            fill_value: None,
            ..self.clone()
        };
        let named = places.add(1);
        let times = At {
            array: &named,
            ..places
        };
        let (times, values) = (times.get(), self.get());
        let (_, values) = crate::control::while_as(
            APPLY,
            "",
            |(step, _): (Array, Array)| times.gt(step).any(),
            |(step, values)| {
                let applied = value_for(APPLY, &values, f(values.clone()));
                let applied = fit(&applied, values.shape());
                let values = crate::where_(&times.gt(&step), applied, &values);
                (step + 1, values)
            },
            (Array::scalar(0, DType::I32), values),
        );
        self.set(values)
    }

    #[track_caller]
    fn update(&self, method: ScatterMethod, value: &Array) -> Array {
        if let [IndexItem::Array(mask)] = self.items.as_slice()
            && mask.dtype() == DType::Bool
            && self.array.shape().starts_with(mask.shape())
            && value.ndim() + mask.ndim() <= self.array.ndim()
        {
            return self.update_masked(method, mask, value);
        }
        let entries = self.entries();
        if plan::is_box(&entries) {
            return self.update_box(method, &entries, value);
        }
        let plan = Plan::new(self.array, &entries, Negative::FromEnd);
        let updates = fit(value, &plan.full_shape).reshape(&plan.shape);
        let scatter = Scatter {
            method,
            dimension_numbers: plan.numbers.inverse(),
            mode: self.mode.unwrap_or(GatherScatterMode::FillOrDrop),
            indices_are_sorted: self.indices_are_sorted,
            unique_indices: self.unique_indices || plan.unique,
        };
        self.array.scatter(&plan.indices, &updates, scatter)
    }

    /// A mask and one value for all its places need no places.
    #[track_caller]
    fn update_masked(&self, method: ScatterMethod, mask: &Array, value: &Array) -> Array {
        let updated = combine(method, self.array, value);
        let trailing: Vec<isize> = (mask.ndim()..self.array.ndim())
            .map(|d| d as isize)
            .collect();
        let mask = if trailing.is_empty() {
            mask.clone()
        } else {
            mask.expand_dims(&trailing)
        };
        crate::where_(&mask, &updated, self.array)
    }

    /// A box at a known place: what is there, combined, put back.
    #[track_caller]
    fn update_box(&self, method: ScatterMethod, entries: &[Entry], value: &Array) -> Array {
        let (starts, sizes) = plan::bounds(self.array, entries);
        let value = fit(value, &plan::static_shape(entries)).reshape(&sizes);
        let update = match method {
            ScatterMethod::Set => value,
            _ => {
                let limits: Dims = starts.iter().zip(&sizes).map(|(s, n)| s + n).collect();
                combine(method, &self.array.slice(&starts, &limits, None), &value)
            }
        };
        if sizes.as_slice() == self.array.shape() {
            return update;
        }
        let starts: Vec<Array> = starts
            .iter()
            .map(|&s| Array::scalar(s, DType::I32))
            .collect();
        self.array.dynamic_update_slice(&update, &starts)
    }
}

fn combine(method: ScatterMethod, old: &Array, new: &Array) -> Array {
    match method {
        ScatterMethod::Set => new.broadcast_to(old.shape()),
        ScatterMethod::Add => old + new,
        ScatterMethod::Sub => old - new,
        ScatterMethod::Mul => old * new,
        ScatterMethod::Min => old.minimum(new),
        ScatterMethod::Max => old.maximum(new),
    }
}

/// The value repeated to the shape of the place.
#[track_caller]
fn fit(value: &Array, shape: &[usize]) -> Array {
    let lead = value.ndim().saturating_sub(shape.len());
    let ones = value.shape()[..lead].iter().all(|&n| n == 1);
    let tail = &value.shape()[lead..];
    let fits = crate::broadcast_shapes(&[tail, shape]).is_some_and(|s| s.as_slice() == shape);
    assert!(
        ones && fits,
        "at: a value of shape {:?} does not broadcast to the indexed place of shape {shape:?}\n  \
         help: give a scalar, or an array of that shape up to axes of size 1",
        value.shape()
    );
    value.reshape(tail).broadcast_to(shape)
}
