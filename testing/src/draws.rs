//! Recorded draws of JAX: an index in JSON and arrays in safetensors.

use super::golden::{self, Opened};
use ramie_core::random::{self, Key, KeyLayout};
use ramie_core::{Array, DType};
use safetensors::SafeTensors;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Recorded draws.
pub struct Golden {
    /// The index, a row for each draw.
    pub rows: Vec<Value>,
    tensors: SafeTensors<'static>,
}

impl Golden {
    /// Reads the recording of this name.
    pub fn open(name: &str) -> &'static Golden {
        static OPENED: Opened<Golden> = Mutex::new(BTreeMap::new());
        golden::once(&OPENED, name, || {
            let mut index: Value = golden::json(&format!("{name}.json"));
            let rows = index["rows"].as_array_mut().expect("rows");
            Golden {
                rows: std::mem::take(rows),
                tensors: golden::tensors(&format!("{name}.safetensors")),
            }
        })
    }

    /// Reads a recorded array.
    pub fn array(&self, name: &Value) -> Array {
        let name = name.as_str().expect("a name");
        golden::to_array(&self.tensors.tensor(name).expect("a tensor"))
    }
}

/// Returns the requested shape of a draw.
pub fn shape_of(args: &Value) -> Vec<usize> {
    let list = args["shape"].as_array().expect("a shape");
    list.iter()
        .map(|d| d.as_u64().expect("a size") as usize)
        .collect()
}

/// Returns the requested dtype of a draw.
pub fn dtype_of(args: &Value) -> DType {
    golden::dtype(args["dtype"].as_str().expect("a dtype"))
}

/// Returns the threefry key of a draw.
pub fn key_of(row: &Value) -> Key {
    let words = row["key"].as_array().expect("a key");
    let words: Vec<u32> = words
        .iter()
        .map(|w| w.as_u64().expect("a word") as u32)
        .collect();
    let layout = match row["layout"].as_bool() {
        Some(false) => KeyLayout::Original,
        _ => KeyLayout::Partitionable,
    };
    random::wrap_key_data(Array::from(words)).with_layout(layout)
}

/// Returns the largest number of representable numbers between two elements.
pub fn distance(got: &Array, want: &Array) -> u64 {
    let ordered = |x: &Array| -> Vec<i128> {
        let width = x.dtype().size();
        let bytes = x.try_to_bytes().expect("elements");
        let words = bytes.chunks_exact(width).map(|c| {
            let mut word = [0; 16];
            word[..width].copy_from_slice(c);
            i128::from_le_bytes(word)
        });
        let sign = 1i128 << (8 * width - 1);
        let float = x.dtype().is_float();
        words
            .map(|w| if float && w >= sign { sign - w } else { w })
            .collect()
    };
    let pairs = ordered(got).into_iter().zip(ordered(want));
    pairs
        .map(|(a, b)| (a - b).unsigned_abs() as u64)
        .max()
        .unwrap_or(0)
}

/// Returns the largest difference of two arrays of floats, relative to the largest finite number of
/// the second. Suits `f16`: processors with instructions for it round after every operation, others
/// only at the end. Infinite if a NaN or an infinity differs.
pub fn relative_to_largest(got: &Array, want: &Array) -> f64 {
    let numbers = |x: &Array| x.astype(DType::F64).to_vec::<f64>();
    let (got, want) = (numbers(got), numbers(want));
    let finite = want.iter().filter(|x| x.is_finite());
    let largest = finite.fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
    let apart = |(a, b): (&f64, &f64)| match (a == b || a.is_nan() && b.is_nan(), (a - b).abs()) {
        (true, _) => 0.0,
        (false, d) if d.is_finite() => d / largest,
        _ => f64::INFINITY,
    };
    got.iter().zip(&want).map(apart).fold(0.0, f64::max)
}
