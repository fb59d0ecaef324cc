//! Recorded draws of JAX: an index in JSON and arrays in safetensors.

use ramie_core::random::{self, Key, KeyLayout};
use ramie_core::{Array, DType, Element};
use safetensors::SafeTensors;
use serde_json::Value;
use std::path::PathBuf;

/// Recorded draws.
pub struct Golden {
    /// The index, a row for each draw.
    pub rows: Vec<Value>,
    bytes: Vec<u8>,
}

impl Golden {
    /// Reads the recording of this name.
    pub fn open(name: &str) -> Golden {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/data");
        let read = |ending: &str| {
            let file = format!("{name}.{ending}");
            std::fs::read(folder.join(&file)).expect(&file)
        };
        let mut index: Value = serde_json::from_slice(&read("json")).expect("an index");
        let rows = index["rows"].as_array_mut().expect("rows");
        Golden {
            rows: std::mem::take(rows),
            bytes: read("safetensors"),
        }
    }

    /// A recorded array.
    pub fn array(&self, name: &Value) -> Array {
        let tensors = SafeTensors::deserialize(&self.bytes).expect("tensors");
        let view = tensors
            .tensor(name.as_str().expect("a name"))
            .expect("a tensor");
        fn read<T: Element>(view: &safetensors::tensor::TensorView<'_>) -> Array {
            Array::try_from_bytes(view.data(), view.shape(), T::DTYPE).expect("whole arrays")
        }
        use safetensors::Dtype::*;
        match view.dtype() {
            BOOL => read::<bool>(&view),
            I8 => read::<i8>(&view),
            I16 => read::<i16>(&view),
            I32 => read::<i32>(&view),
            I64 => read::<i64>(&view),
            U8 => read::<u8>(&view),
            U16 => read::<u16>(&view),
            U32 => read::<u32>(&view),
            U64 => read::<u64>(&view),
            BF16 => read::<half::bf16>(&view),
            F16 => read::<half::f16>(&view),
            F32 => read::<f32>(&view),
            F64 => read::<f64>(&view),
            other => panic!("unknown element type {other:?}"),
        }
    }
}

/// The shape that a draw was asked for.
pub fn shape_of(args: &Value) -> Vec<usize> {
    let list = args["shape"].as_array().expect("a shape");
    list.iter()
        .map(|d| d.as_u64().expect("a size") as usize)
        .collect()
}

/// The element type that a draw was asked for.
pub fn dtype_of(args: &Value) -> DType {
    let name = args["dtype"].as_str().expect("a dtype");
    DType::ALL
        .into_iter()
        .find(|d| d.name() == name)
        .expect(name)
}

/// The key of a draw by threefry.
#[allow(dead_code)] // One of the tests has keys of other generators.
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

/// How many representable numbers lie between the elements, at most.
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

/// The largest difference of two arrays of floats, relative to the largest finite number of the
/// second. Fits `f16`: processors with instructions for it round after every operation, others
/// only at the end. Infinite if a NaN or an infinity differs.
#[allow(dead_code)]
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
