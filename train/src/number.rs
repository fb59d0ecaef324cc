//! Numbers in JSON, which can represent neither NaN nor infinities.

use ramie_core::text::non_finite;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A number that is saved as JSON. Non-finite numbers are the strings `NaN`, `Infinity` and
/// `-Infinity`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Value", try_from = "Value")]
pub(crate) struct Number(pub f64);

impl Number {
    /// Returns the number that a JSON value represents, if it is one. `null`, which older files
    /// contain for all non-finite numbers, is NaN.
    pub fn read(value: &Value) -> Option<Number> {
        let number = match value {
            Value::Null => Some(f64::NAN),
            Value::String(text) => text.parse().ok().filter(|x: &f64| !x.is_finite()),
            _ => value.as_f64(),
        };
        number.map(Number)
    }
}

impl From<Number> for Value {
    fn from(Number(x): Number) -> Value {
        non_finite(x).map_or_else(|| x.into(), Value::from)
    }
}

impl TryFrom<Value> for Number {
    type Error = String;
    fn try_from(value: Value) -> Result<Number, String> {
        Number::read(&value).ok_or_else(|| format!("{value} is not a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn numbers_are_restored_from_json() {
        let numbers = [0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(Number);
        let text = serde_json::to_string(&numbers).unwrap();
        assert_eq!(text, r#"[0.1,"NaN","Infinity","-Infinity"]"#);
        let restored: Vec<Number> = serde_json::from_str(&text).unwrap();
        assert_eq!(format!("{restored:?}"), format!("{numbers:?}"));
        let restored: Vec<Number> = serde_json::from_str("[null,2]").unwrap();
        assert_eq!(format!("{restored:?}"), "[Number(NaN), Number(2.0)]");
        for text in ["\"1.0\"", "\"one\"", "true", "[]"] {
            assert!(serde_json::from_str::<Number>(text).is_err(), "{text}");
        }
    }
}
