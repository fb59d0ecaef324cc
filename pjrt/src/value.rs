//! Named values: options passed to a plugin, and attributes and costs returned by it.

use crate::error::{borrowed, owned_string};
use crate::sys::{NamedValue, NamedValuePayload, named_value};
use std::fmt;

/// The value of an option, an attribute or a property.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A string.
    String(String),
    /// An integer.
    I64(i64),
    /// A list of integers.
    I64List(Vec<i64>),
    /// A floating-point number.
    F32(f32),
    /// A boolean.
    Bool(bool),
}

impl Value {
    /// Returns the name of this value's type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::String(_) => "string",
            Value::I64(_) => "integer",
            Value::I64List(_) => "list of integers",
            Value::F32(_) => "float",
            Value::Bool(_) => "bool",
        }
    }

    /// Returns a view for the plugin. It borrows `self` and `name`, which must outlive it.
    pub(crate) fn to_raw(&self, name: &str) -> NamedValue {
        let (kind, value, value_size) = match self {
            Value::String(s) => (
                named_value::STRING,
                NamedValuePayload {
                    string: s.as_ptr().cast(),
                },
                s.len(),
            ),
            Value::I64(i) => (named_value::INT64, NamedValuePayload { int64: *i }, 1),
            Value::I64List(l) => (
                named_value::INT64_LIST,
                NamedValuePayload {
                    int64_list: l.as_ptr(),
                },
                l.len(),
            ),
            Value::F32(x) => (named_value::FLOAT, NamedValuePayload { float: *x }, 1),
            Value::Bool(b) => (named_value::BOOL, NamedValuePayload { boolean: *b }, 1),
        };
        NamedValue {
            struct_size: size_of::<NamedValue>(),
            extension_start: std::ptr::null_mut(),
            name: name.as_ptr().cast(),
            name_size: name.len(),
            kind,
            value,
            value_size,
        }
    }

    /// Copies a list of named values of a plugin. Values of unknown types are omitted.
    ///
    /// # Safety
    /// `values` must be null or point to `count` live named values.
    pub(crate) unsafe fn read_all(values: *const NamedValue, count: usize) -> Vec<(String, Value)> {
        // SAFETY: guaranteed by the caller.
        let values = unsafe { borrowed(values, count) };
        let read = |raw: &NamedValue| {
            // SAFETY: name, kind and payload of a named value agree with each other.
            let value = unsafe {
                match raw.kind {
                    named_value::STRING => {
                        Value::String(owned_string(raw.value.string.cast(), raw.value_size))
                    }
                    named_value::INT64 => Value::I64(raw.value.int64),
                    named_value::INT64_LIST => {
                        Value::I64List(borrowed(raw.value.int64_list, raw.value_size).to_vec())
                    }
                    named_value::FLOAT => Value::F32(raw.value.float),
                    named_value::BOOL => Value::Bool(raw.value.boolean),
                    _ => return None,
                }
            };
            // SAFETY: as above.
            Some((
                unsafe { owned_string(raw.name.cast(), raw.name_size) },
                value,
            ))
        };
        values.iter().filter_map(read).collect()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::String(s) => f.write_str(s),
            Value::I64(i) => write!(f, "{i}"),
            Value::I64List(l) => write!(f, "{l:?}"),
            Value::F32(x) => write!(f, "{x}"),
            Value::Bool(b) => write!(f, "{b}"),
        }
    }
}

macro_rules! from {
    ($($rust:ty => $variant:ident),*) => {$(
        impl From<$rust> for Value {
            fn from(value: $rust) -> Value {
                Value::$variant(value.into())
            }
        }
    )*};
}

from! { &str => String, String => String, i64 => I64, i32 => I64, Vec<i64> => I64List, f32 => F32, bool => Bool }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_the_raw_form() {
        let values = [
            Value::from("text"),
            Value::from(-3i64),
            Value::from(vec![1, 2]),
            Value::from(0.5f32),
            Value::from(true),
        ];
        let raw: Vec<NamedValue> = values.iter().map(|v| v.to_raw("name")).collect();
        // SAFETY: `raw` borrows `values`, and both are alive.
        let back = unsafe { Value::read_all(raw.as_ptr(), raw.len()) };
        assert!(back.iter().all(|(name, _)| name == "name"));
        assert!(back.into_iter().map(|(_, v)| v).eq(values));
    }
}
