//! Numbers, booleans and strings in trees.

use super::{Float, Tree, Visitor, part};
use crate::dtypes::Scalar;
use crate::{Array, DType};
use half::{bf16, f16};
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A number, a boolean or a string in a tree. It is static in compiled functions, and a leaf in
/// checkpoints.
///
/// [`Visitor::host_value`] receives it. For [`Tree::visit_parts`] it is the only part of a number
/// or a string, so a visitor can change it.
///
/// ```
/// use ramie_core::tree::{HostValue, for_each_host_value};
/// use ramie_core::dtypes::Scalar;
/// use ramie_core::DType;
/// let mut settings = (7u8, "warm".to_string());
/// for_each_host_value(&mut settings, |value| match value {
///     HostValue::Number(number, dtype) => {
///         assert_eq!(*dtype, DType::U8);
///         *number = Scalar::Uint(8);
///     }
///     HostValue::Text(text) => text.to_mut().push_str("up"),
/// });
/// assert_eq!(settings, (8, "warmup".to_string()));
/// ```
#[derive(Clone, PartialEq)]
pub enum HostValue<'a> {
    /// A number or a boolean, and the dtype with the range of its Rust type.
    Number(Scalar, DType),
    /// A string.
    Text(Cow<'a, str>),
}

impl Hash for HostValue<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            HostValue::Number(Scalar::Bool(v), _) => v.hash(state),
            HostValue::Number(Scalar::Int(v), _) => v.hash(state),
            HostValue::Number(Scalar::Uint(v), _) => v.hash(state),
            HostValue::Number(other, _) => Float(other.to_f64()).hash(state),
            HostValue::Text(text) => text.hash(state),
        }
    }
}

impl fmt::Debug for HostValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostValue::Number(Scalar::Bool(v), _) => v.fmt(f),
            HostValue::Number(Scalar::Int(v), _) => v.fmt(f),
            HostValue::Number(Scalar::Uint(v), _) => v.fmt(f),
            HostValue::Number(other, _) => fmt::Debug::fmt(&other.to_f64(), f),
            HostValue::Text(text) => fmt::Debug::fmt(text, f),
        }
    }
}

/// The metadata of a part whose numbers and strings are hyperparameters, which checkpoints omit.
/// `#[derive(Module)]` reports it.
#[derive(Clone, Copy, Debug)]
pub struct Hyperparameters;

/// Calls `f` with the numbers, booleans and strings of a tree in the order of
/// [`walk`](Tree::walk), and stores the values that `f` leaves. A number is converted to the type
/// that it has in the tree.
pub fn for_each_host_value<T: Tree>(tree: &mut T, mut f: impl FnMut(&mut HostValue<'static>)) {
    part(tree, &mut |part| {
        if let Some(value) = part.downcast_mut() {
            f(value);
        }
    });
}

macro_rules! numbers {
    ($($t:ty: $variant:ident $dtype:ident, $v:ident => $wide:expr, $w:ident => $narrow:expr;)*) => { $(
        impl Tree for $t {
            fn walk(&self, visitor: &mut dyn Visitor) {
                let $v = *self;
                visitor.host_value(&HostValue::Number(Scalar::$variant($wide), DType::$dtype));
            }
            fn walk_mut(&mut self, _: &mut dyn FnMut(&mut Array)) {}
            fn rebuild(&self, _: &mut dyn FnMut(&Array) -> Array) -> Self {
                *self
            }
            fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
                let $v = *self;
                let mut value = HostValue::Number(Scalar::$variant($wide), DType::$dtype);
                visit(&mut value);
                if let HostValue::Number(number, _) = value
                    && let Scalar::$variant($w) = number.cast(DType::$dtype)
                {
                    *self = $narrow;
                }
            }
        }
    )* };
}
numbers! {
    bool: Bool Bool, v => v, w => w;
    i8: Int I8, v => v.into(), w => w as i8;
    i16: Int I16, v => v.into(), w => w as i16;
    i32: Int I32, v => v.into(), w => w as i32;
    i64: Int I64, v => v, w => w;
    isize: Int I64, v => v as i64, w => w as isize;
    u8: Uint U8, v => v.into(), w => w as u8;
    u16: Uint U16, v => v.into(), w => w as u16;
    u32: Uint U32, v => v.into(), w => w as u32;
    u64: Uint U64, v => v, w => w;
    usize: Uint U64, v => v as u64, w => w as usize;
    f16: Float F16, v => v.into(), w => f16::from_f64(w);
    bf16: Float BF16, v => v.into(), w => bf16::from_f64(w);
    f32: Float F32, v => v.into(), w => w as f32;
    f64: Float F64, v => v, w => w;
}

impl Tree for String {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.host_value(&HostValue::Text(Cow::Borrowed(self)));
    }
    fn walk_mut(&mut self, _: &mut dyn FnMut(&mut Array)) {}
    fn rebuild(&self, _: &mut dyn FnMut(&Array) -> Array) -> Self {
        self.clone()
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        let mut value = HostValue::Text(Cow::Owned(std::mem::take(self)));
        visit(&mut value);
        if let HostValue::Text(text) = value {
            *self = text.into_owned();
        }
    }
}
