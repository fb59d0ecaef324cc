//! Indexed reads and functional updates: `x.at(index).get()`, `set`, `add` and so on.

use super::plan::{self, Negative, Plan};
use super::resolve::{Bounds, Entry, resolve};
use super::{IndexItem, value_for};
use crate::dtypes::{Literal, Scalar};
use crate::options::NonNegative;
use crate::prim::control::APPLY;
use crate::prim::index::{Gather, GatherScatterMode, Scatter, ScatterMethod};
use crate::typing::Dims;
use crate::{Array, DType, IntoArray, PartitionSpec};

/// An indexed part of an array, created by [`Array::at`].
///
/// Each update returns a new array. If an array of integers selects an element more than once,
/// the element receives every update: all sums, products, powers, minima, maxima and function
/// applications. For [`set`](At::set), it is unspecified which of the values is stored. Updates
/// at out-of-bounds integers are dropped.
#[derive(Clone, Debug)]
pub struct At<'a> {
    array: &'a Array,
    items: Vec<IndexItem>,
    mode: Option<GatherScatterMode>,
    indices_are_sorted: bool,
    unique_indices: bool,
    fill_value: Option<Scalar>,
    negative: Negative,
    out_sharding: Option<PartitionSpec>,
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
            negative: Negative::FromEnd,
            out_sharding: None,
        }
    }

    /// Sets the treatment of out-of-bounds integers. For integers in arrays, it defaults to
    /// `PromiseInBounds` for reads and `FillOrDrop` for writes. A Rust integer out of bounds
    /// panics unless a mode is set. Negative integers count from the end in every mode, unless
    /// [`wrap_negative_indices`](At::wrap_negative_indices) is off.
    #[must_use]
    pub fn mode(self, mode: GatherScatterMode) -> At<'a> {
        At {
            mode: Some(mode),
            ..self
        }
    }

    /// Sets the mode to `FillOrDrop` and the value of out-of-bounds reads. Defaults to NaN, the
    /// smallest signed or the largest unsigned integer, or true.
    #[must_use]
    pub fn fill_value(self, value: impl Into<Scalar>) -> At<'a> {
        At {
            mode: Some(GatherScatterMode::FillOrDrop),
            fill_value: Some(value.into()),
            ..self
        }
    }

    /// Sets whether the indices are guaranteed to be sorted in increasing order, which can make
    /// programs faster.
    #[must_use]
    pub fn indices_are_sorted(self, promise: bool) -> At<'a> {
        At {
            indices_are_sorted: promise,
            ..self
        }
    }

    /// Sets whether the indices are guaranteed to be distinct, which can make programs and
    /// derivatives faster.
    #[must_use]
    pub fn unique_indices(self, promise: bool) -> At<'a> {
        At {
            unique_indices: promise,
            ..self
        }
    }

    /// Sets whether negative integers count from the end, as they do by default. Otherwise they are
    /// out of bounds. Ranges count from the end in both cases.
    ///
    /// ```no_run
    /// use ramie_core::lax::GatherScatterMode;
    /// use ramie_core::Array;
    /// let x = Array::from([1, 2, 3]);
    /// let written = x.at([-1, 0]).wrap_negative_indices(false).set(7);
    /// assert_eq!(written.to_vec::<i32>(), [7, 2, 3]);
    /// ```
    #[must_use]
    pub fn wrap_negative_indices(self, wrap: bool) -> At<'a> {
        let negative = if wrap {
            Negative::FromEnd
        } else {
            Negative::OutOfBounds
        };
        At { negative, ..self }
    }

    /// Sets the sharding of the result over explicit axes of a mesh (`out_sharding=`). Indexed
    /// dimensions may be sharded; the compiler inserts the necessary communication.
    ///
    /// ```no_run
    /// use ramie_core::sharding::{make_mesh_with, AxisType};
    /// use ramie_core::{set_mesh, Array, DType, P};
    /// let _current = set_mesh(make_mesh_with(&[4, 2], &["X", "Y"], AxisType::Explicit)?);
    /// let x = Array::full_with(&[8, 16], 0, DType::F32, P!["X", "Y"]);
    /// let rows = x.at(Array::from([0, 5]));
    /// let read = rows.clone().out_sharding(P![None, "Y"]).get();
    /// assert_eq!(read.aval().to_string(), "f32[2,16@Y]");
    /// let written = rows.out_sharding(P!["X", "Y"]).set(1.0);
    /// assert_eq!(written.aval().to_string(), "f32[8@X,16@Y]");
    /// # Ok::<(), ramie_core::Error>(())
    /// ```
    ///
    /// [`get`](At::get) and the updates panic if the sharding does not fit the mesh or the shape.
    #[must_use]
    pub fn out_sharding(self, spec: impl Into<PartitionSpec>) -> At<'a> {
        At {
            out_sharding: Some(spec.into()),
            ..self
        }
    }

    /// Returns the selected elements.
    ///
    /// # Panics
    /// Panics in the same cases as [`Array::index`].
    #[track_caller]
    pub fn get(&self) -> Array {
        if let Some(spec) = &self.out_sharding {
            return self.placed(spec, "at(…).get", None, |at, _| at.get());
        }
        let entries = self.entries();
        let filled = self.mode == Some(GatherScatterMode::FillOrDrop);
        // The cheaper operations first: slices, then one dynamic slice, and a gather for the rest.
        if plan::is_static(&entries) {
            return plan::finish(&plan::slice_static(self.array, &entries), &entries);
        }
        // A dynamic slice clamps its position, so it cannot return fill values.
        if plan::is_scalar(&entries) && !filled {
            return self.get_scalar(&entries);
        }
        let plan = Plan::new(self.array, &entries, self.negative);
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
        resolve(self.array, &self.items, (bounds, self.negative))
    }

    /// Applies `f` where the compiler partitions the program, to operands that are cast to
    /// automatic axes, and casts the result to `spec`.
    #[track_caller]
    fn placed(
        &self,
        spec: &PartitionSpec,
        operation: &str,
        value: Option<&Array>,
        f: impl FnOnce(&At<'_>, &Array) -> Array,
    ) -> Array {
        // Only arrays whose types have a sharding are resharded.
        let in_mesh = |x: &&Array| x.aval().sharding().is_some();
        let arrays = self.items.iter().filter_map(|item| match item {
            IndexItem::Array(x) => Some(x),
            _ => None,
        });
        let operands: Vec<&Array> = std::iter::once(self.array)
            .chain(value.filter(in_mesh))
            .chain(arrays.filter(in_mesh))
            .collect();
        super::super::sharding::placed_by_compiler(operation, &operands, spec, |given| {
            // `given` are the operands in the new context, so all uses must refer to them.
            let mut given = given.iter();
            let mut next = || given.next().expect("one for each operand");
            let array = next();
            let value = match value {
                Some(x) if in_mesh(&x) => next(),
                Some(x) => x,
                None => array,
            };
            let items = self.items.iter().map(|item| match item {
                IndexItem::Array(x) if in_mesh(&x) => IndexItem::Array(next().clone()),
                other => other.clone(),
            });
            let inside = At {
                array,
                items: items.collect(),
                out_sharding: None,
                ..self.clone()
            };
            f(&inside, value)
        })
    }

    /// Reads a box at a computed position.
    #[track_caller]
    fn get_scalar(&self, entries: &[Entry]) -> Array {
        let ranges = plan::slice_static(self.array, entries);
        let mut sizes: Dims = ranges.shape().into();
        for entry in entries {
            if let Entry::Axis(d, super::resolve::Pick::Indices(_)) = entry {
                sizes[*d] = 1;
            }
        }
        let starts = plan::dynamic_starts(self.array, entries);
        let taken = match self.negative {
            Negative::FromEnd => ranges.dynamic_slice(&starts, &sizes),
            Negative::OutOfBounds => {
                // A known negative index is allowed here, since the caller set a mode.
                let known = |s: &Array| s.as_literal().is_some();
                let starts = starts.iter();
                let starts = starts.map(|s| if known(s) { s.maximum(0) } else { s.clone() });
                let starts: Vec<Array> = starts.collect();
                ranges.dynamic_slice_with(&starts, &sizes, NonNegative::all())
            }
        };
        plan::finish(&taken, entries)
    }

    /// Returns the array with the selected elements replaced by `value`, which is broadcast.
    ///
    /// # Panics
    /// Panics in the same cases as [`Array::index`], if `value` does not broadcast to the
    /// selected elements, or if its dtype does not promote to the array's dtype.
    #[track_caller]
    pub fn set(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).set", self.array, value);
        self.update(ScatterMethod::Set, &value)
    }

    /// Returns the array with `value` added to the selected elements.
    ///
    /// # Panics
    /// Panics in the same cases as [`set`](At::set).
    #[track_caller]
    pub fn add(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).add", self.array, value);
        self.update(ScatterMethod::Add, &value)
    }

    /// Returns the array with `value` subtracted from the selected elements.
    ///
    /// # Panics
    /// Panics in the same cases as [`set`](At::set).
    #[track_caller]
    pub fn subtract(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).subtract", self.array, value);
        self.update(ScatterMethod::Sub, &value)
    }

    /// Returns the array with the selected elements multiplied by `value`.
    ///
    /// # Panics
    /// Panics in the same cases as [`set`](At::set).
    #[track_caller]
    pub fn multiply(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).multiply", self.array, value);
        self.update(ScatterMethod::Mul, &value)
    }

    /// Returns the array with the selected elements divided by `value`.
    ///
    /// # Panics
    /// Panics in the same cases as [`set`](At::set).
    #[track_caller]
    pub fn divide(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).divide", self.array, value);
        if let Some(spec) = &self.out_sharding {
            return self.placed(spec, "at(…).divide", Some(&value), |at, v| at.divide(v));
        }
        // There is no scatter that divides. An element that is selected twice is divided by the
        // product of both values.
        self.array / self.factors(&value)
    }

    /// Returns the array with the selected elements raised to the power `value`.
    ///
    /// # Panics
    /// Panics in the same cases as [`set`](At::set).
    #[track_caller]
    pub fn power(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).power", self.array, value);
        if let Some(spec) = &self.out_sharding {
            return self.placed(spec, "at(…).power", Some(&value), |at, v| at.power(v));
        }
        self.array.power(self.factors(&value))
    }

    /// Returns an array of ones in which the selected elements are multiplied by `value`.
    #[track_caller]
    fn factors(&self, value: &Array) -> Array {
        let ones = self.array.ones_like();
        let there = At {
            array: &ones,
            ..self.clone()
        };
        there.update(ScatterMethod::Mul, value)
    }

    /// Returns the array with the selected elements replaced by their minimum with `value`.
    ///
    /// # Panics
    /// Panics in the same cases as [`set`](At::set).
    #[track_caller]
    pub fn min(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).min", self.array, value);
        self.update(ScatterMethod::Min, &value)
    }

    /// Returns the array with the selected elements replaced by their maximum with `value`.
    ///
    /// # Panics
    /// Panics in the same cases as [`set`](At::set).
    #[track_caller]
    pub fn max(&self, value: impl IntoArray) -> Array {
        let value = value_for("at(…).max", self.array, value);
        self.update(ScatterMethod::Max, &value)
    }

    /// Returns the array with `f` applied to the selected elements (`x.at[..].apply(f)`). `f`
    /// must return an array of the same shape, or one that broadcasts to it.
    ///
    /// If an array of integers selects an element several times, `f` is applied to it as often,
    /// in a loop, so `f` must be elementwise. This loop has no reverse-mode derivative. No loop
    /// is needed for indices without arrays, for masks, and with
    /// [`unique_indices(true)`](At::unique_indices).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([1, 2, 3]);
    /// let doubled = x.at([0, 2, 2]).apply(|v| v * 2);
    /// assert_eq!(doubled.to_vec::<i32>(), [2, 2, 12]);
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as [`set`](At::set).
    #[track_caller]
    pub fn apply(&self, f: impl Fn(Array) -> Array) -> Array {
        let repeats = |item: &IndexItem| match item {
            IndexItem::Array(indices) => indices.ndim() > 0 && indices.dtype() != DType::Bool,
            _ => false,
        };
        if let Some(spec) = &self.out_sharding {
            return self.placed(spec, "at(…).apply", None, |at, _| at.apply(f));
        }
        // Without repetitions, one application to all selected elements is enough.
        if self.unique_indices || !self.items.iter().any(repeats) {
            return self.set(f(self.get()));
        }
        if self.array.size() == 0 {
            return self.array.clone();
        }
        // Counts how often each element is selected, in the shape of the selection: `[2, 0, 2]`
        // gives `[2, 1, 2]`. Step `s` of the loop applies `f` where the count is above `s`. Equal
        // indices have equal values at the end, so it does not matter which of them `set` stores.
        let none = Array::zeros(self.array.shape(), DType::I32);
        let zeros = At {
            array: &none,
            fill_value: None,
            ..self.clone()
        };
        let named = zeros.add(1);
        let times = At {
            array: &named,
            ..zeros
        };
        let (times, values) = (times.get(), self.get());
        let (_, values) = crate::prim::control::functions::while_as(
            APPLY,
            "",
            |(step, _): (Array, Array)| times.gt(step).any(),
            |(step, values)| {
                let applied = value_for(APPLY, &values, f(values.clone()));
                let applied = fit(&applied, values.shape());
                let values = crate::where_(times.gt(&step), applied, &values);
                (step + 1, values)
            },
            (Array::scalar(0, DType::I32), values),
        );
        self.set(values)
    }

    #[track_caller]
    fn update(&self, method: ScatterMethod, value: &Array) -> Array {
        if let Some(spec) = &self.out_sharding {
            return self.placed(spec, "at(…)", Some(value), |at, v| at.update(method, v));
        }
        if let [IndexItem::Array(mask)] = self.items.as_slice()
            && mask.dtype() == DType::Bool
            && self.array.shape().starts_with(mask.shape())
            // The value has no axis along the selected elements, so their number, and a traced
            // mask's elements, need not be known.
            && value.ndim() + mask.ndim() <= self.array.ndim()
        {
            return self.update_masked(method, mask, value);
        }
        let entries = self.entries();
        if plan::is_box(&entries) {
            return self.update_box(method, &entries, value);
        }
        let plan = Plan::new(self.array, &entries, self.negative);
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

    /// Updates masked elements by a single value, without computing indices.
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

    /// Updates a box at a known position: reads it, combines it with the value and writes it
    /// back.
    #[track_caller]
    fn update_box(&self, method: ScatterMethod, entries: &[Entry], value: &Array) -> Array {
        let (starts, sizes) = plan::bounds(self.array, entries);
        let value = fit(value, &plan::static_shape(entries)).reshape(&sizes);
        let update = match method {
            ScatterMethod::Set => value,
            _ => {
                let limits: Dims = starts.iter().zip(&sizes).map(|(s, n)| s + n).collect();
                combine(method, &self.array.slice(&starts, &limits), &value)
            }
        };
        // The box is the whole array.
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

/// Broadcasts the value to the shape of the selected elements.
#[track_caller]
fn fit(value: &Array, shape: &[usize]) -> Array {
    // Like NumPy, accepts additional leading axes of size 1: `[1, 3]` for elements of shape `[3]`.
    let lead = value.ndim().saturating_sub(shape.len());
    let ones = value.shape()[..lead].iter().all(|&n| n == 1);
    let tail = &value.shape()[lead..];
    let fits =
        crate::numpy::broadcast_shapes(&[tail, shape]).is_some_and(|s| s.as_slice() == shape);
    assert!(
        ones && fits,
        "at: a value of shape {:?} does not broadcast to the selected elements of shape \
         {shape:?}\n  help: pass a scalar, or an array whose axes agree with that shape or are 1",
        value.shape()
    );
    value.reshape(tail).broadcast_to(shape)
}
