//! The evaluator of operations on arrays that have elements. Programs do not know it: the code
//! that runs them registers it.

use crate::dtypes::Literal;
use crate::extend::Outputs;
use crate::program::array::DeviceArray;
use crate::program::primitive::Primitive;
use crate::sharding::Sharding;
use crate::types::sharding::NamedSharding;
use crate::{Array, Aval, Error, Platform, Result, ShapeError};
use ramie_pjrt::HostData;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

/// A failure of an operation outside programs.
pub(crate) enum Failure {
    /// The operands are invalid.
    Shape(ShapeError),
    /// The operation could not run.
    Runtime(Error),
    /// A result contains a value that is reported, such as NaN.
    Value(String),
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Failure::Runtime(e)
    }
}

/// Elements in host memory.
pub(crate) enum HostElements<'a> {
    /// Bytes that are copied.
    Borrowed(&'a [u8]),
    /// Memory that the device uses if possible.
    Owned(Box<dyn HostData>),
}

/// Stores arrays and computes with them.
pub(crate) trait Backend: Send + Sync {
    /// Runs a primitive: the last step of [`bind`](crate::extend::bind), which `caller` calls.
    fn run(
        &self,
        primitive: &dyn Primitive,
        args: &[&Array],
        caller: &'static Location<'static>,
    ) -> Result<Outputs, Failure>;

    /// Creates an array on the default device.
    fn put(&self, elements: HostElements<'_>, aval: Aval) -> Result<Array>;

    /// Copies a scalar to the default device.
    fn put_scalar(&self, literal: Literal) -> Result<Arc<DeviceArray>>;

    /// Creates an array filled with a scalar. Its dimensions are known to be divisible.
    fn full(&self, value: Literal, shape: &[usize], to: Sharding) -> Result<Array>;

    /// Moves an array whose dimensions are known to be divisible.
    fn place(&self, array: &Array, to: Sharding) -> Result<Array>;

    /// Moves an array between the devices of its mesh.
    fn reshard(&self, array: &Array, to: NamedSharding) -> Result<Array>;

    /// Returns the platform of this process.
    fn platform(&self) -> Result<Platform>;
}

/// The registration of a backend, by `inventory::submit!`.
pub(crate) struct Registration(pub &'static dyn Backend);

inventory::collect!(Registration);

static BACKEND: OnceLock<&'static dyn Backend> = OnceLock::new();

/// Returns the registered backend.
#[inline]
pub(crate) fn backend() -> &'static dyn Backend {
    *BACKEND.get_or_init(|| {
        let registered = inventory::iter::<Registration>().next();
        registered.expect("this crate registers a backend").0
    })
}
