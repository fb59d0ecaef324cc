//! `Call`: one node with the values of its inputs, as operators see it.

use crate::file::Node;
use crate::known::HostTensor;
use crate::node::Op;
use crate::run::Scope;
use ramie_core::{Array, DType};
use std::ops::Deref;

/// A value of a graph while it is traced.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A tensor whose elements are known.
    Known(HostTensor),
    /// Any other tensor.
    Array(Array),
}

impl Value {
    pub fn shape(&self) -> &[usize] {
        match self {
            Value::Known(known) => known.shape(),
            Value::Array(array) => array.shape(),
        }
    }

    pub fn dtype(&self) -> DType {
        match self {
            Value::Known(known) => known.dtype,
            Value::Array(array) => array.dtype(),
        }
    }

    pub fn to_array(&self) -> Array {
        match self {
            Value::Known(known) => known.to_array(),
            Value::Array(array) => array.clone(),
        }
    }
}

impl From<Array> for Value {
    fn from(array: Array) -> Value {
        Value::Array(array)
    }
}

impl From<HostTensor> for Value {
    fn from(known: HostTensor) -> Value {
        Value::Known(known)
    }
}

/// A node with the values of its inputs. Attributes are read through [`Node`].
pub(crate) struct Call<'a> {
    pub op: &'a Op,
    pub inputs: &'a [Option<Value>],
    /// Version of ONNX's operator set.
    pub opset: i64,
    pub scope: &'a Scope<'a>,
}

impl Deref for Call<'_> {
    type Target = Node;
    fn deref(&self) -> &Node {
        &self.op.node
    }
}

impl Call<'_> {
    /// Panics: the node cannot be evaluated.
    pub fn fail(&self, message: &str) -> ! {
        panic!("{message}")
    }

    /// Returns the value of an attribute. Panics if it has the wrong type.
    fn read<T>(&self, read: Result<T, String>) -> T {
        read.unwrap_or_else(|message| self.fail(&message))
    }

    /// Returns an integer attribute.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.read(self.op.node.int(name, default))
    }

    /// Returns an attribute that is the type of elements.
    pub fn dtype(&self, name: &str) -> Option<DType> {
        self.read(self.op.node.dtype(name))
    }

    /// Returns an integer attribute that has no default.
    pub fn required_int(&self, name: &str) -> i64 {
        if self.attribute(name).is_none() {
            self.fail(&format!("the attribute `{name}` is missing"));
        }
        self.int(name, 0)
    }

    /// Returns a number that must be at least `least`.
    pub fn at_least(&self, least: usize, name: &str, number: i64) -> usize {
        match usize::try_from(number) {
            Ok(number) if number >= least => number,
            _ => self.fail(&format!("`{name}` is {number}, expected at least {least}")),
        }
    }

    /// Returns a floating-point attribute.
    pub fn float(&self, name: &str, default: f64) -> f64 {
        self.read(self.op.node.float(name, default))
    }

    /// Returns a string attribute.
    pub fn text<'b>(&'b self, name: &str, default: &'b str) -> &'b str {
        self.read(self.op.node.text(name, default))
    }

    /// Returns an attribute that is a list of integers.
    pub fn ints(&self, name: &str) -> Option<&[i64]> {
        self.read(self.op.node.ints(name))
    }

    /// Returns an attribute that is a list of floating-point numbers.
    pub fn floats(&self, name: &str) -> Option<Vec<f64>> {
        self.read(self.op.node.floats(name))
    }

    /// Returns an attribute that is a tensor.
    pub fn tensor(&self, name: &str) -> Option<&HostTensor> {
        self.read(self.op.node.check_tensor(name));
        self.op.tensors.get(name)
    }

    /// Returns a value that may be omitted.
    pub fn value(&self, i: usize) -> Option<&Value> {
        self.inputs.get(i)?.as_ref()
    }

    /// Returns a value.
    pub fn required(&self, i: usize) -> &Value {
        match self.value(i) {
            Some(value) => value,
            None => self.fail(&format!("input {i} is missing")),
        }
    }

    /// Returns an input as an array.
    pub fn array(&self, i: usize) -> Array {
        self.required(i).to_array()
    }

    /// Returns an input as an array, if it is given.
    pub fn optional(&self, i: usize) -> Option<Array> {
        self.value(i).map(Value::to_array)
    }

    /// Returns all inputs as arrays.
    pub fn arrays(&self) -> Vec<Array> {
        (0..self.inputs.len()).map(|i| self.array(i)).collect()
    }

    /// Returns an input whose elements are known, or can be read because nothing is traced.
    pub fn known(&self, i: usize) -> Option<HostTensor> {
        match self.value(i)? {
            Value::Known(known) => Some(known.clone()),
            Value::Array(array) => HostTensor::of_array(array),
        }
    }

    /// Returns an input whose elements must be known, if it is given.
    pub fn optional_known(&self, i: usize) -> Option<HostTensor> {
        let value = self.value(i)?;
        match self.known(i) {
            Some(known) => Some(known),
            None => self.fail(&format!(
                "input {i} (`{}`, {}) depends on elements of the model's inputs, but it must be \
                 known when the model is traced, because shapes are static\n  help: pass the input \
                 that it depends on as a constant, or call the model outside of transformations",
                self.op.node.inputs[i],
                value.to_array().aval()
            )),
        }
    }

    /// Returns the integers of an input, if it is given.
    pub fn optional_ints(&self, i: usize) -> Option<Vec<i64>> {
        self.optional_known(i).map(|known| known.to_ints())
    }

    /// Returns the integers of an input.
    pub fn host_ints(&self, i: usize) -> Vec<i64> {
        self.required(i);
        self.optional_ints(i).unwrap_or_default()
    }

    /// Returns integers that are an attribute in some versions and an input in others.
    pub fn ints_of(&self, name: &str, input: usize) -> Option<Vec<i64>> {
        match self.ints(name) {
            Some(ints) => Some(ints.to_vec()),
            None => self.optional_ints(input),
        }
    }

    /// Panics unless a list for a number of axes has the expected length.
    pub fn check_length(&self, name: &str, length: usize, axes: usize, expected: usize) {
        if length != expected {
            self.fail(&format!(
                "`{name}` has {length} numbers for {axes} axes, expected {expected}"
            ));
        }
    }

    /// Returns an axis, counted from the end if it is negative.
    pub fn axis_of(&self, axis: i64, ndim: usize) -> usize {
        let at = if axis < 0 { axis + ndim as i64 } else { axis };
        match usize::try_from(at) {
            Ok(at) if at < ndim => at,
            _ => self.fail(&format!("axis {axis} is out of range for {ndim} axes")),
        }
    }

    /// Returns the attribute `axis`.
    pub fn axis(&self, default: i64, ndim: usize) -> usize {
        self.axis_of(self.int("axis", default), ndim)
    }

    /// Returns different axes, or all axes without a list.
    pub fn axes_of(&self, axes: Option<&[i64]>, ndim: usize) -> Vec<usize> {
        let Some(listed) = axes else {
            return (0..ndim).collect();
        };
        let axes: Vec<usize> = listed.iter().map(|a| self.axis_of(*a, ndim)).collect();
        let is_repeated = |(i, axis)| axes[..i].contains(axis);
        if let Some((_, axis)) = axes.iter().enumerate().find(|axis| is_repeated(*axis)) {
            self.fail(&format!("the axes {listed:?} contain axis {axis} twice"));
        }
        axes
    }

    /// Returns sizes that must not be negative.
    pub fn sizes(&self, sizes: &[i64]) -> Vec<usize> {
        let size = |size: &i64| match usize::try_from(*size) {
            Ok(size) => size,
            Err(_) => self.fail(&format!("the sizes {sizes:?} are negative")),
        };
        sizes.iter().map(size).collect()
    }
}

/// Returns axes as the functions of arrays take them.
pub(crate) fn signed(axes: &[usize]) -> Vec<isize> {
    axes.iter().map(|axis| *axis as isize).collect()
}
