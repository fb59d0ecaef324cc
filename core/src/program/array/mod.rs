//! `Array`: a cheap handle to elements on a device, or to a traced value.
//!
//! Methods that apply operations are defined next to the operations: `reshape` in `prim/shape/`,
//! `sum` in `functions/ops/`.

mod convert;
mod display;
pub(crate) mod format;
mod into_array;

use crate::dtypes::{Literal, Scalar};
use crate::program::backend::backend;
use crate::sharding::Sharding;
use crate::typing::Dims;
use crate::{Aval, DType};
use ramie_pjrt::Buffer;
use smallvec::SmallVec;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

pub use convert::{ArrayLike, Number, array};
pub(crate) use display::aligned;
pub use into_array::IntoArray;

/// An n-dimensional array.
///
/// The same type is used everywhere. Outside transformations, an `Array` is a handle to elements
/// on a device. While a function is traced, it represents a value that the program will compute.
/// Cloning copies the handle, not the elements.
///
/// `Array::from` keeps the type of its elements, and the float literals of Rust are `f64`:
/// `Array::from([0.5, 1.0])` is an `f64` array. Write `Array::from([0.5f32, 1.0])`, or use
/// [`array`](crate::array()), which converts 64-bit literals to `f32` and `i32` like JAX.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// let x = Array::zeros(&[2, 5], DType::F32);
/// assert_eq!(x.shape(), [2, 5]);
/// assert_eq!((x + 1.0).to_vec::<f32>(), vec![1.0; 10]);
/// ```
#[derive(Clone)]
pub struct Array(pub(crate) Repr);

#[derive(Clone)]
pub(crate) enum Repr {
    Device(Arc<DeviceArray>),
    Literal(Arc<LiteralArray>),
    Tracer(Tracer),
    /// A type without elements, with an optional sharding.
    Abstract(Aval, Option<crate::NamedSharding>),
}

/// Elements on one or several devices.
pub(crate) struct DeviceArray {
    pub aval: Aval,
    pub buffers: SmallVec<[Buffer; 1]>,
    pub sharding: Sharding,
}

/// A scalar known on the host. It is copied to a device when a program needs it.
pub(crate) struct LiteralArray {
    pub literal: Literal,
    device: OnceLock<Arc<DeviceArray>>,
}

/// A value of an open trace.
#[derive(Clone, Copy)]
pub(crate) struct Tracer {
    pub trace: u64,
    pub var: crate::extend::Var,
    pub aval: Aval,
    pub location: &'static Location<'static>,
}

impl Array {
    /// Creates a 0-d array from a scalar known on the host.
    pub(crate) fn literal(literal: Literal) -> Array {
        Array(Repr::Literal(Arc::new(LiteralArray {
            literal,
            device: OnceLock::new(),
        })))
    }

    /// Creates a 0-d array of `value` in `dtype`.
    pub fn scalar(value: impl Into<Scalar>, dtype: DType) -> Array {
        Array::literal(Literal::new(value, dtype))
    }

    /// Creates an array that has a shape and a dtype but no elements (JAX's `ShapeDtypeStruct`),
    /// for tracing functions. Computing with it outside a transformation panics.
    ///
    /// # Panics
    /// Panics if the array would have more bytes than a program can address.
    #[doc(alias = "ShapeDtypeStruct")]
    #[track_caller]
    pub fn shape_dtype_struct(shape: &[usize], dtype: DType) -> Array {
        let aval = Aval::new(shape, dtype);
        if let Err(e) = aval.check_size() {
            panic!("{}", e.render("shape_dtype_struct", &[]));
        }
        Array(Repr::Abstract(aval, None))
    }

    /// Same as [`shape_dtype_struct`](Array::shape_dtype_struct), with a sharding
    /// (`ShapeDtypeStruct(.., sharding=..)`).
    pub fn shape_dtype_struct_with(
        shape: &[usize],
        dtype: DType,
        sharding: crate::NamedSharding,
    ) -> Array {
        let aval = crate::types::sharding::typed(Aval::new(shape, dtype), sharding.into());
        Array(Repr::Abstract(aval, Some(sharding)))
    }

    pub(crate) fn from_device(aval: Aval, buffer: Buffer, sharding: Sharding) -> Array {
        Array(Repr::Device(Arc::new(DeviceArray {
            aval,
            buffers: SmallVec::from_buf([buffer]),
            sharding,
        })))
    }

    /// Same as [`from_device`](Array::from_device), in the memory of the handle `old`, which is not
    /// used again, if it has no other owners.
    pub(crate) fn from_device_over(
        old: &mut Array,
        aval: Aval,
        buffer: Buffer,
        sharding: Sharding,
    ) -> Array {
        if let Repr::Device(held) = &mut old.0
            && let Some(held) = Arc::get_mut(held)
        {
            *held = DeviceArray {
                aval,
                buffers: SmallVec::from_buf([buffer]),
                sharding,
            };
            return std::mem::replace(old, Array(Repr::Abstract(aval, None)));
        }
        Array::from_device(aval, buffer, sharding)
    }

    /// Creates an array from its shards, one for each device of this process, in the order of the
    /// sharding's devices.
    pub(crate) fn from_parts(
        aval: Aval,
        buffers: SmallVec<[Buffer; 1]>,
        sharding: Sharding,
    ) -> Array {
        Array(Repr::Device(Arc::new(DeviceArray {
            aval,
            buffers,
            sharding,
        })))
    }

    /// Returns the abstract value: shape, dtype, and whether the dtype is weak.
    pub fn aval(&self) -> Aval {
        match &self.0 {
            Repr::Device(d) => d.aval,
            Repr::Literal(l) => l.literal.aval(),
            Repr::Tracer(t) => t.aval,
            Repr::Abstract(a, _) => *a,
        }
    }

    /// Returns `true` if both handles refer to the same elements, or to the same value of a
    /// program. Arrays with equal elements may be different.
    pub fn same(&self, other: &Array) -> bool {
        match (&self.0, &other.0) {
            (Repr::Device(a), Repr::Device(b)) => Arc::ptr_eq(a, b),
            (Repr::Literal(a), Repr::Literal(b)) => Arc::ptr_eq(a, b),
            (Repr::Tracer(a), Repr::Tracer(b)) => a.trace == b.trace && a.var == b.var,
            (Repr::Abstract(a, x), Repr::Abstract(b, y)) => a == b && x == y,
            _ => false,
        }
    }

    /// Returns the dimensions, outermost first.
    pub fn shape(&self) -> &'static [usize] {
        self.aval().shape()
    }

    /// Returns the dimensions as an array of known length, to be destructured.
    ///
    /// ```
    /// use ramie_core::{Array, DType};
    /// let x = Array::zeros(&[2, 3, 5], DType::F32);
    /// let [batch, time, channels] = x.dims();
    /// assert_eq!((batch, time, channels), (2, 3, 5));
    /// ```
    ///
    /// # Panics
    /// Panics if the array has another number of dimensions.
    #[track_caller]
    pub fn dims<const N: usize>(&self) -> [usize; N] {
        match self.shape().try_into() {
            Ok(dims) => dims,
            Err(_) => panic!(
                "dims: {} has {} dimensions, but the program expects {N}\n  help: pass an array with \
                 {N} dimensions, or use `x.shape()`",
                self.describe(),
                self.ndim()
            ),
        }
    }

    /// Returns the dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.aval().dtype()
    }

    /// Returns the number of dimensions.
    pub fn ndim(&self) -> usize {
        self.aval().ndim()
    }

    /// Returns the number of elements.
    pub fn size(&self) -> usize {
        self.aval().size()
    }

    /// Returns the size of an element in bytes.
    pub fn itemsize(&self) -> usize {
        self.dtype().size()
    }

    /// Returns the size of the elements in bytes.
    pub fn nbytes(&self) -> usize {
        self.aval().size_bytes()
    }

    /// Returns `true` if the array is a value of a program being traced.
    pub fn is_tracer(&self) -> bool {
        matches!(self.0, Repr::Tracer(_))
    }

    /// Returns the scalar if the array is a literal known on the host.
    pub(crate) fn as_literal(&self) -> Option<Literal> {
        match &self.0 {
            Repr::Literal(l) => Some(l.literal),
            _ => None,
        }
    }

    /// Normalizes an axis to a non-negative index.
    ///
    /// # Panics
    /// Panics if `axis` is not between `-ndim` and `ndim - 1`.
    #[track_caller]
    pub(crate) fn axis(&self, operation: &str, axis: isize) -> usize {
        let n = self.ndim() as isize;
        assert!(
            n > 0,
            "{operation}: axis {axis} is out of range for {}, which has no axes\n  help: pass an \
             array with at least one axis, such as x.at_least_1d()",
            self.aval()
        );
        let normal = if axis < 0 { axis + n } else { axis };
        assert!(
            (0..n).contains(&normal),
            "{operation}: axis {axis} is out of range for {}\n  help: pass an axis from {} to {}",
            self.aval(),
            -n,
            n - 1
        );
        normal as usize
    }

    /// Normalizes axes to non-negative indices.
    ///
    /// # Panics
    /// Panics if an axis is out of range or given twice.
    #[track_caller]
    pub(crate) fn axes(&self, operation: &str, axes: &[isize]) -> Dims {
        let mut out = Dims::new();
        for &axis in axes {
            let axis = self.axis(operation, axis);
            assert!(
                !out.contains(&axis),
                "{operation}: axis {axis} appears twice in {axes:?}\n  help: pass every axis \
                 once; negative axes count from the end"
            );
            out.push(axis);
        }
        out
    }

    /// Returns the array's buffers, or an error if it has no elements.
    pub(crate) fn device_array(&self) -> crate::Result<&Arc<DeviceArray>> {
        match &self.0 {
            Repr::Device(d) => Ok(d),
            Repr::Literal(l) => {
                if l.device.get().is_none() {
                    let array = backend().put_scalar(l.literal)?;
                    // If another thread was faster, its buffer is used.
                    let _ = l.device.set(array);
                }
                Ok(l.device.get().expect("just set"))
            }
            Repr::Tracer(_) | Repr::Abstract(..) => {
                Err(crate::Error::Configuration(self.no_value("this operation")))
            }
        }
    }

    /// # Panics
    /// Panics if the array has no elements because it is traced or abstract.
    #[track_caller]
    pub(crate) fn expect_value(&self, operation: &str) {
        if matches!(self.0, Repr::Tracer(_) | Repr::Abstract(..)) {
            panic!("{}", self.no_value(operation));
        }
    }

    /// Returns the message that explains why the array has no value.
    pub(crate) fn no_value(&self, operation: &str) -> String {
        match &self.0 {
            Repr::Tracer(t) if !crate::program::trace::is_open(t.trace) => {
                crate::program::trace::leaked(operation, t)
            }
            Repr::Tracer(t) => format!(
                "{operation}: the value of a traced {} is not known at trace time\n  created at \
                 {}\n  help: return the array from the traced function and read the result; for a \
                 choice that depends on values, use `where_` or `cond`",
                t.aval, t.location
            ),
            _ => format!(
                "{operation}: {} has no elements, it is a shape_dtype_struct\n  help: pass an \
                 array with elements",
                self.aval()
            ),
        }
    }

    /// Returns the description of an operand in messages: its type, and where it was created.
    pub(crate) fn describe(&self) -> String {
        match &self.0 {
            Repr::Tracer(t) => format!("{}  created at {}", t.aval, t.location),
            Repr::Literal(l) => l.literal.to_string(),
            _ => self.aval().to_string(),
        }
    }

    /// Waits until the elements are computed.
    ///
    /// Returns the array for chaining.
    ///
    /// # Panics
    /// Panics with the runtime's message if the computation failed.
    #[track_caller]
    pub fn block_until_ready(&self) -> &Array {
        for b in self.buffers() {
            if let Err(e) = b.wait() {
                panic!("block_until_ready: the computation failed: {e}");
            }
        }
        self
    }

    /// Returns `true` if the elements are computed, or if their computation has failed. Does not
    /// wait.
    ///
    /// ```
    /// use ramie_core::Array;
    /// let y = Array::from([1.0f32, 2.0]) * 2.0;
    /// y.block_until_ready();
    /// assert!(y.is_ready());
    /// ```
    ///
    /// # Panics
    /// Panics if the array is traced or has no elements, or if it was freed.
    #[track_caller]
    pub fn is_ready(&self) -> bool {
        self.expect_value("is_ready");
        self.buffers().iter().all(|b| match b.is_ready() {
            Ok(ready) => ready,
            Err(e) => panic!("{e}"),
        })
    }

    /// Frees the elements on all devices of this process now, although other handles may exist
    /// (`jax.Array.delete`). Programs that have started can still read them. Later uses of any
    /// handle panic, or return an error. A scalar that is known on the host keeps its value.
    ///
    /// Without `free`, the memory is freed when the last handle is dropped.
    ///
    /// ```
    /// use ramie_core::Array;
    /// let x = Array::from([1.0f32, 2.0]);
    /// let y = &x + 1.0;
    /// x.free();
    /// assert!(x.is_deleted());
    /// assert_eq!(y.to_vec::<f32>(), [2.0, 3.0]);
    /// ```
    ///
    /// # Panics
    /// Panics if the array is traced or has no elements, or if another thread reads the elements
    /// or passes them to a program at the same time.
    #[doc(alias = "delete")]
    #[track_caller]
    pub fn free(&self) {
        self.expect_value("free");
        for buffer in self.buffers() {
            if let Err(e) = buffer.delete() {
                panic!("free: {e}");
            }
        }
    }

    /// Returns `true` if [`free`](Array::free) has freed the elements.
    pub fn is_deleted(&self) -> bool {
        self.buffers().iter().any(Buffer::is_deleted)
    }

    /// Returns the buffers of an array on devices.
    fn buffers(&self) -> &[Buffer] {
        match &self.0 {
            Repr::Device(d) => &d.buffers,
            _ => &[],
        }
    }
}

/// Returns an array of the same type, without elements.
pub(crate) fn type_only(array: &Array) -> Array {
    Array(Repr::Abstract(array.aval(), None))
}

/// Takes an array out of a tree, where an array of its type without elements remains.
pub(crate) fn taken(array: &mut Array) -> Array {
    let placeholder = type_only(array);
    std::mem::replace(array, placeholder)
}
