//! Values of the metadata.

use super::Problem;
use super::input::Input;
use std::fmt;
use std::io::Read;

/// Type number of strings.
const STRING: u32 = 8;
/// Type number of arrays.
const ARRAY: u32 = 9;
/// Maximum number of arrays inside of each other.
const DEEPEST: usize = 4;

/// Defines both enums, and reads them, for the types that are stored in a fixed number of bytes.
macro_rules! values {
    ($($id:literal $variant:ident $type:ty, $bytes:literal, $name:literal, $from:expr;)*) => {
        /// A value of the metadata.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Value {
            $(#[doc = concat!("A value of type `", $name, "`.")] $variant($type),)*
            /// A string.
            String(String),
            /// An array.
            Array(Values),
        }

        /// The items of an array, which have one type.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Values {
            $(#[doc = concat!("Items of type `", $name, "`.")] $variant(Vec<$type>),)*
            /// Strings.
            String(Vec<String>),
            /// Arrays.
            Array(Vec<Values>),
        }

        impl Value {
            /// Reads the type and the value of a metadata entry.
            pub(super) fn read<R: Read>(input: &mut Input<R>, key: &str) -> Result<Value, Problem> {
                let what = format_args!("the value of `{key}`");
                Ok(match u32::from_le_bytes(input.array(&what)?) {
                    $($id => Value::$variant($from(input.array::<$bytes>(&what)?)),)*
                    STRING => Value::String(input.string(&what)?),
                    ARRAY => Value::Array(Values::read(input, key, DEEPEST)?),
                    other => return Err(unknown(key, other)),
                })
            }

            /// Returns the name of the type, such as `u32`, or `string[3]` for an array.
            pub fn type_name(&self) -> String {
                match self {
                    $(Value::$variant(_) => $name.to_owned(),)*
                    Value::String(_) => "string".to_owned(),
                    Value::Array(values) => format!("{}[{}]", values.type_name(), values.len()),
                }
            }
        }

        impl Values {
            fn read<R: Read>(
                input: &mut Input<R>,
                key: &str,
                depth: usize,
            ) -> Result<Values, Problem> {
                let what = format_args!("the value of `{key}`");
                let items = format_args!("items of `{key}`");
                Ok(match u32::from_le_bytes(input.array(&what)?) {
                    $($id => {
                        let count = input.count($bytes, &items)?;
                        let mut values = Vec::with_capacity(count);
                        for _ in 0..count {
                            values.push($from(input.array::<$bytes>(&what)?));
                        }
                        Values::$variant(values)
                    })*
                    STRING => {
                        let count = input.count(8, &items)?;
                        let mut values = Vec::new();
                        for _ in 0..count {
                            values.push(input.string(&what)?);
                        }
                        Values::String(values)
                    }
                    ARRAY if depth == 0 => {
                        let message = format!("has too many nested arrays in `{key}`");
                        return Err(Problem::file(message));
                    }
                    ARRAY => {
                        let count = input.count(12, &items)?;
                        let mut values = Vec::new();
                        for _ in 0..count {
                            values.push(Values::read(input, key, depth - 1)?);
                        }
                        Values::Array(values)
                    }
                    other => return Err(unknown(key, other)),
                })
            }

            /// Returns the number of items.
            pub fn len(&self) -> usize {
                match self {
                    $(Values::$variant(values) => values.len(),)*
                    Values::String(values) => values.len(),
                    Values::Array(values) => values.len(),
                }
            }

            /// Returns `true` if there are no items.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Returns the name of the items' type.
            pub fn type_name(&self) -> &'static str {
                match self {
                    $(Values::$variant(_) => $name,)*
                    Values::String(_) => "string",
                    Values::Array(_) => "array",
                }
            }
        }

        /// Formats numbers and booleans as Rust does, and strings with quotes and escapes.
        impl fmt::Display for Value {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Value::$variant(value) => fmt::Debug::fmt(value, f),)*
                    Value::String(text) => write!(f, "{text:?}"),
                    Value::Array(values) => fmt::Display::fmt(values, f),
                }
            }
        }

        /// Formats the first items, and the number of the others.
        impl fmt::Display for Values {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Values::$variant(values) => list(f, values, |f, v| fmt::Debug::fmt(v, f)),)*
                    Values::String(values) => list(f, values, |f, v| write!(f, "{v:?}")),
                    Values::Array(values) => list(f, values, |f, v| fmt::Display::fmt(v, f)),
                }
            }
        }
    };
}

values! {
    0 U8 u8, 1, "u8", u8::from_le_bytes;
    1 I8 i8, 1, "i8", i8::from_le_bytes;
    2 U16 u16, 2, "u16", u16::from_le_bytes;
    3 I16 i16, 2, "i16", i16::from_le_bytes;
    4 U32 u32, 4, "u32", u32::from_le_bytes;
    5 I32 i32, 4, "i32", i32::from_le_bytes;
    6 F32 f32, 4, "f32", f32::from_le_bytes;
    7 Bool bool, 1, "bool", |[byte]: [u8; 1]| byte != 0;
    10 U64 u64, 8, "u64", u64::from_le_bytes;
    11 I64 i64, 8, "i64", i64::from_le_bytes;
    12 F64 f64, 8, "f64", f64::from_le_bytes;
}

fn unknown(key: &str, id: u32) -> Problem {
    let message = format!("has a value of type {id} in `{key}`, which is not a type of the format");
    Problem::file(message)
}

/// Number of items that are shown.
const SHOWN: usize = 6;

fn list<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    show: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("[")?;
    for (i, item) in items.iter().take(SHOWN).enumerate() {
        f.write_str(if i > 0 { ", " } else { "" })?;
        show(f, item)?;
    }
    match items.len().saturating_sub(SHOWN) {
        0 => f.write_str("]"),
        more => write!(f, ", and {more} more]"),
    }
}

impl Value {
    /// Returns an integer that is not negative, of any width.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Value::U8(v) => Some(v.into()),
            Value::U16(v) => Some(v.into()),
            Value::U32(v) => Some(v.into()),
            Value::U64(v) => Some(v),
            Value::I8(v) => v.try_into().ok(),
            Value::I16(v) => v.try_into().ok(),
            Value::I32(v) => v.try_into().ok(),
            Value::I64(v) => v.try_into().ok(),
            _ => None,
        }
    }

    /// Returns a floating-point number. An `f32` becomes the `f64` with the same shortest decimal
    /// form: `1e-5` instead of `9.999999747378752e-6`.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Value::F32(v) => v.to_string().parse().ok(),
            Value::F64(v) => Some(v),
            _ => None,
        }
    }

    /// Returns a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match *self {
            Value::Bool(v) => Some(v),
            _ => None,
        }
    }

    /// Returns a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the strings of an array.
    pub fn as_strings(&self) -> Option<&[String]> {
        match self {
            Value::Array(Values::String(texts)) => Some(texts),
            _ => None,
        }
    }

    /// Returns the integers of an array of any width; `None` if one is not in the range of `i64`.
    pub fn as_integers(&self) -> Option<Vec<i64>> {
        fn all<T: Copy + TryInto<i64>>(values: &[T]) -> Option<Vec<i64>> {
            values.iter().map(|&v| v.try_into().ok()).collect()
        }
        let Value::Array(values) = self else {
            return None;
        };
        match values {
            Values::U8(v) => all(v),
            Values::I8(v) => all(v),
            Values::U16(v) => all(v),
            Values::I16(v) => all(v),
            Values::U32(v) => all(v),
            Values::I32(v) => all(v),
            Values::U64(v) => all(v),
            Values::I64(v) => all(v),
            _ => None,
        }
    }
}
