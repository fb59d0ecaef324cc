//! The `scatter` family: writes windows at positions given by an array of index vectors, or
//! combines them with the existing elements.

use super::dimension_numbers::{check_dims, check_numbers};
use super::gather::attribute;
use super::{GatherScatterMode, ScatterDimensionNumbers, shifted, shifted_after};
use crate::base::hash::FastMap;
use crate::base::lock::lock;
use crate::extend::ShardingRule;
use crate::prim::elementwise::{Add, Max, Min, Mul, Sub};
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, PositionRule, Positions, Primitive,
    batched, move_batch_axis, one,
};
use crate::program::checks::Errors;
use crate::program::class::Class;
use crate::program::jaxpr::{Atom, Eqn, Jaxpr, Scope, Var};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError};
use std::panic::Location;
use std::sync::{Arc, Mutex};

/// The combination of an update with the existing element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScatterMethod {
    /// Replaces the element (`scatter`).
    Set,
    /// Adds to the element (`scatter-add`).
    Add,
    /// Subtracts from the element (`scatter-sub`).
    Sub,
    /// Multiplies the element (`scatter-mul`).
    Mul,
    /// Keeps the minimum (`scatter-min`).
    Min,
    /// Keeps the maximum (`scatter-max`).
    Max,
}

/// Writes windows of the third operand into the first, one for each index vector along the last
/// axis of the second. Windows that are partly out of bounds are clamped or dropped as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scatter {
    /// Combination of updates with existing elements.
    pub method: ScatterMethod,
    /// Correspondence of the axes.
    pub dimension_numbers: ScatterDimensionNumbers,
    /// Handling of out-of-bounds indices.
    pub mode: GatherScatterMode,
    /// Asserts that the index vectors are sorted.
    pub indices_are_sorted: bool,
    /// Asserts that the windows do not overlap.
    pub unique_indices: bool,
}

impl Scatter {
    /// Creates a scatter without assertions about indices, which drops out-of-bounds updates.
    pub fn new(method: ScatterMethod, dimension_numbers: ScatterDimensionNumbers) -> Scatter {
        Scatter {
            method,
            dimension_numbers,
            mode: GatherScatterMode::FillOrDrop,
            indices_are_sorted: false,
            unique_indices: false,
        }
    }

    /// Sets how out-of-bounds indices are handled.
    #[must_use]
    pub fn mode(self, mode: GatherScatterMode) -> Scatter {
        Scatter { mode, ..self }
    }

    /// Sets whether the caller asserts that the index vectors are sorted. Defaults to false.
    #[must_use]
    pub fn indices_are_sorted(self, promise: bool) -> Scatter {
        Scatter {
            indices_are_sorted: promise,
            ..self
        }
    }

    /// Sets whether the caller asserts that the windows do not overlap. Defaults to false.
    #[must_use]
    pub fn unique_indices(self, promise: bool) -> Scatter {
        Scatter {
            unique_indices: promise,
            ..self
        }
    }

    /// Returns the size of a window along each axis of an operand of `rank` axes.
    pub(crate) fn window(&self, rank: usize, updates: &[usize]) -> Dims {
        let numbers = &self.dimension_numbers;
        let mut sizes = numbers.update_window_dims.iter().map(|&d| updates[d]);
        (0..rank)
            .map(|d| {
                if self.lacks(d) {
                    1
                } else {
                    sizes.next().expect("an update axis for each window axis")
                }
            })
            .collect()
    }

    /// Returns whether the updates omit this axis of the operand.
    fn lacks(&self, axis: usize) -> bool {
        let numbers = &self.dimension_numbers;
        numbers.inserted_window_dims.contains(&axis)
            || numbers.operand_batching_dims.contains(&axis)
    }

    /// Returns the program that combines two elements of a dtype, as a parameter of the
    /// primitive. Equal programs are shared, and printed once.
    fn update_jaxpr(&self, dtype: DType) -> Param {
        type Combiners = FastMap<(ScatterMethod, DType), Arc<Jaxpr>>;
        static COMBINERS: Mutex<Option<Combiners>> = Mutex::new(None);
        let combine: Arc<dyn Primitive> = match self.method {
            ScatterMethod::Set => return Param::new("None"),
            ScatterMethod::Add => Arc::new(Add),
            ScatterMethod::Sub => Arc::new(Sub),
            ScatterMethod::Mul => Arc::new(Mul),
            ScatterMethod::Min => Arc::new(Min),
            ScatterMethod::Max => Arc::new(Max),
        };
        // The printer recognizes a shared program by its `Arc`, so equal programs must be one.
        let mut programs = lock(&COMBINERS);
        let program = programs
            .get_or_insert_default()
            .entry((self.method, dtype))
            .or_insert_with(|| Arc::new(combination(combine, Aval::scalar(dtype))));
        Param::Jaxpr(program.clone())
    }
}

/// Returns the program of one primitive on two scalars.
fn combination(primitive: Arc<dyn Primitive>, scalar: Aval) -> Jaxpr {
    let [a, b, out] = [Var(0), Var(1), Var(2)];
    let eqn = Eqn {
        primitive,
        inputs: [Atom::Var(a), Atom::Var(b)].into_iter().collect(),
        outputs: [out].into_iter().collect(),
        location: Location::caller(),
        scope: Scope::default(),
    };
    let types = vec![scalar; 3];
    Jaxpr::new(
        Vec::new(),
        vec![a, b],
        vec![eqn],
        vec![Atom::Var(out)],
        types,
    )
}

impl Scatter {
    /// Checks that the updates have a window for each index vector, and that windows fit the operand.
    fn check_windows(&self, operand: Aval, indices: Aval, updates: Aval) -> Result<(), ShapeError> {
        let numbers = &self.dimension_numbers;
        let windows: Dims = (0..operand.ndim()).filter(|&d| !self.lacks(d)).collect();
        let batch: Dims = (0..updates.ndim())
            .filter(|d| !numbers.update_window_dims.contains(d))
            .map(|d| updates.shape()[d])
            .collect();
        let rows = &indices.shape()[..indices.ndim() - 1];
        if windows.len() != numbers.update_window_dims.len() || batch.as_slice() != rows {
            return Err(ShapeError::new(format!(
                "updates {updates} with window axes {:?} do not fit {} window axes of {operand} \
                 and index vectors of shape {rows:?}",
                numbers.update_window_dims.as_slice(),
                windows.len()
            ))
            .help("the updates must have one window for each index vector"));
        }
        // Both lists are increasing, so they correspond in order.
        for (&from, &to) in numbers.update_window_dims.iter().zip(&windows) {
            crate::ensure_shape!(
                updates.shape()[from] <= operand.shape()[to],
                "a window of {} along axis {from} of the updates is larger than axis {to} of \
                 {operand}",
                updates.shape()[from]
            );
        }
        Ok(())
    }
}

impl Primitive for Scatter {
    fn name(&self) -> &'static str {
        match self.method {
            ScatterMethod::Set => "scatter",
            ScatterMethod::Add => "scatter-add",
            ScatterMethod::Sub => "scatter-sub",
            ScatterMethod::Mul => "scatter-mul",
            ScatterMethod::Min => "scatter-min",
            ScatterMethod::Max => "scatter-max",
        }
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            checks: match self.method {
                ScatterMethod::Min | ScatterMethod::Max => Errors::NONE,
                _ => Errors::NAN,
            },
            positions: Some(self),
            ..Facts::strong()
        }
    }
    fn params(&self, operands: &[Aval]) -> Vec<(&'static str, Param)> {
        let mut params = vec![
            ("dimension_numbers", Param::new(&self.dimension_numbers)),
            ("indices_are_sorted", Param::flag(self.indices_are_sorted)),
            ("mode", Param::new(self.mode)),
            ("unique_indices", Param::flag(self.unique_indices)),
            ("update_consts", Param::new("()")),
        ];
        if let Some(operand) = operands.first() {
            params.push(("update_jaxpr", self.update_jaxpr(operand.dtype())));
        }
        params
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(
            args.len() == 3,
            "expects an array, indices and updates, got {} operands",
            args.len()
        );
        let (operand, indices, updates) = (args[0], args[1], args[2]);
        if operand.dtype() != updates.dtype() {
            return Err(ShapeError::new(format!(
                "the updates have dtype {}, but the array has {}",
                updates.dtype(),
                operand.dtype()
            ))
            .help("convert the updates with astype"));
        }
        crate::ensure_shape!(
            !matches!(
                self.method,
                ScatterMethod::Add | ScatterMethod::Sub | ScatterMethod::Mul
            ) || Class::Number.contains(operand.dtype()),
            "booleans are not numbers; convert first: x.astype(DType::I32)"
        );
        let numbers = &self.dimension_numbers;
        check_numbers(
            [operand, indices],
            ("inserted_window_dims", &numbers.inserted_window_dims),
            (
                "scatter_dims_to_operand_dims",
                &numbers.scatter_dims_to_operand_dims,
            ),
            [
                &numbers.operand_batching_dims,
                &numbers.scatter_indices_batching_dims,
            ],
        )?;
        check_dims(
            "update_window_dims",
            &numbers.update_window_dims,
            updates.ndim(),
            true,
        )?;
        self.check_windows(operand, indices, updates)?;
        one(operand)
    }
    fn sharding(&self, args: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        self.rule(args[0], args[1], args[2])
    }
    fn differentiation(&self) -> Differentiation<'_> {
        self.derivative()
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let numbers = &self.dimension_numbers;
        let operand = move_batch_axis(&args[0], axes[0], 0, axis);
        let updates = move_batch_axis(&args[2], axes[2], 0, axis);
        // The operand and the updates get the batch axis in front even if only one of them is
        // batched: each example writes into its own copy.
        let mut dimension_numbers = ScatterDimensionNumbers {
            update_window_dims: shifted(&numbers.update_window_dims),
            inserted_window_dims: shifted(&numbers.inserted_window_dims),
            scatter_dims_to_operand_dims: shifted(&numbers.scatter_dims_to_operand_dims),
            operand_batching_dims: shifted(&numbers.operand_batching_dims),
            scatter_indices_batching_dims: numbers.scatter_indices_batching_dims.clone(),
        };
        let indices = match axes[1] {
            // Windows include the whole batch.
            None => {
                dimension_numbers.update_window_dims = shifted_after(&numbers.update_window_dims);
                args[1].clone()
            }
            // Examples write to different parts, so index vectors that were distinct remain
            // distinct.
            Some(axis) => {
                dimension_numbers.operand_batching_dims =
                    shifted_after(&numbers.operand_batching_dims);
                dimension_numbers.scatter_indices_batching_dims =
                    shifted_after(&numbers.scatter_indices_batching_dims);
                args[1].move_axis(axis as isize, 0)
            }
        };
        let scatter = Scatter {
            dimension_numbers,
            ..self.clone()
        };
        batched(bind1(scatter, &[&operand, &indices, &updates]), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        // Without updates, the operand is the result.
        if args[2].aval().size() == 0 {
            return vec![args[0]];
        }
        let mut args = args.to_vec();
        args[1] = ctx.indices_into(args[0], args[1]);
        if self.mode == GatherScatterMode::Clip {
            args[1] = self.clamp(ctx, &args);
        }
        let element = Aval::scalar(outs[0].dtype());
        let region = match self.method {
            ScatterMethod::Set => ctx.region(&[element; 2], |_, a| vec![a[1]]),
            ScatterMethod::Add => ctx.reducer("add", element.dtype()),
            ScatterMethod::Sub => ctx.reducer("subtract", element.dtype()),
            ScatterMethod::Mul => ctx.reducer("multiply", element.dtype()),
            ScatterMethod::Min => ctx.reducer("minimum", element.dtype()),
            ScatterMethod::Max => ctx.reducer("maximum", element.dtype()),
        };
        let numbers = &self.dimension_numbers;
        let lists = [
            ("update_window_dims", &numbers.update_window_dims),
            ("inserted_window_dims", &numbers.inserted_window_dims),
            ("input_batching_dims", &numbers.operand_batching_dims),
            (
                "scatter_indices_batching_dims",
                &numbers.scatter_indices_batching_dims,
            ),
            (
                "scatter_dims_to_operand_dims",
                &numbers.scatter_dims_to_operand_dims,
            ),
        ];
        let attributes = format!(
            "scatter_dimension_numbers = #stablehlo.scatter<{}>, indices_are_sorted = {}, \
             unique_indices = {}",
            attribute(&lists, args[1].ndim() - 1),
            self.indices_are_sorted,
            self.unique_indices
        );
        ctx.op("scatter", &args, outs, &attributes, &[region])
    }
}

impl PositionRule for Scatter {
    fn positions(&self, args: &[Array]) -> Option<Positions> {
        let window = self.window(args[0].ndim(), args[2].shape());
        let axes = self.dimension_numbers.scatter_dims_to_operand_dims.to_vec();
        Some(Positions {
            starts: args[1].clone(),
            sizes: axes.iter().map(|&d| window[d]).collect(),
            axes,
        })
    }
}

impl Scatter {
    /// Emits the indices, clamped so that every window is within the operand.
    fn clamp(&self, ctx: &mut Lowering<'_>, args: &[Value]) -> Value {
        let (operand, indices) = (args[0], args[1]);
        let aval = indices.aval();
        let window = self.window(operand.ndim(), args[2].shape());
        // A limit must fit the dtype of the indices: for `u8` indices into 300 elements, it is 255
        // in place of 299.
        let bits = aval.dtype().bits() as u32 - u32::from(aval.dtype().is_signed());
        let largest = i64::try_from(u64::MAX >> (64 - bits)).unwrap_or(i64::MAX);
        let last: Vec<i64> = self
            .dimension_numbers
            .scatter_dims_to_operand_dims
            .iter()
            .map(|&d| (operand.shape()[d] as i64 - window[d] as i64).min(largest))
            .collect();
        let last = ctx.integers(&last, aval.dtype());
        let last = ctx.broadcast_in_dim(last, aval.shape(), &[aval.ndim() - 1]);
        let zero = ctx.splat(0, aval);
        ctx.same("clamp", &[zero, indices, last])
    }
}

impl Array {
    /// Writes windows of `updates` into the array, one for each index vector along the last axis
    /// of `indices` (`jax.lax.scatter` and related functions). Indexed updates
    /// ([`at`](Array::at)) are more convenient.
    ///
    /// # Panics
    /// Panics if `indices` are not integers, if the dtypes of the array and the updates differ,
    /// or if the dimension numbers do not fit.
    #[doc(alias(
        "scatter_add",
        "scatter_max",
        "scatter_min",
        "scatter_mul",
        "scatter_sub"
    ))]
    #[track_caller]
    pub fn scatter(&self, indices: &Array, updates: &Array, scatter: Scatter) -> Array {
        bind1(scatter, &[self, indices, updates])
    }
}
