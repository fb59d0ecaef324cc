//! Recorded values: an index in JSON and tensors in safetensors.

use ramie_core::{Array, DType};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// An index with its tensors.
pub struct Golden {
    index: Value,
    tensors: SafeTensors<'static>,
}

/// One application of one operation.
pub struct Row {
    /// The operation and the number of its row.
    pub label: String,
    /// The operation.
    pub op: String,
    /// Its parameters.
    pub params: Value,
    /// What the inputs are: `regular`, `special`, …
    pub case: String,
    /// The type of the first input, or of the output.
    pub dtype: DType,
    /// Operands.
    pub inputs: Vec<Array>,
    /// Results.
    pub outputs: Vec<Array>,
    /// Derivatives, where they are recorded.
    pub derivative: Option<Derivative>,
}

/// Recorded derivatives; `None` for what is not differentiated.
pub struct Derivative {
    /// Tangents of the inputs.
    pub tangents: Vec<Option<Array>>,
    /// Tangents of the outputs.
    pub jvp: Vec<Option<Array>>,
    /// Cotangents of the outputs.
    pub cotangents: Vec<Option<Array>>,
    /// Cotangents of the inputs.
    pub vjp: Vec<Option<Array>>,
}

/// Returns the path of a file of recorded data.
pub fn path(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/data")).join(name)
}

/// Reads a file of recorded data.
///
/// # Panics
/// If the file cannot be read.
pub fn bytes(name: &str) -> Vec<u8> {
    let path = path(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Reads a JSON file of recorded data.
///
/// # Panics
/// If the file cannot be read or does not describe a `T`.
pub fn json<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_slice(&bytes(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Reads all arrays of a safetensors file of recorded data, with their names.
///
/// # Panics
/// If the file cannot be read.
pub fn arrays(name: &str) -> Vec<(String, Array)> {
    let bytes = bytes(name);
    let tensors = parsed(name, &bytes);
    let named = tensors.iter();
    named
        .map(|(name, view)| (name.to_owned(), to_array(&view)))
        .collect()
}

/// Reads a safetensors file of recorded data, which stays in memory.
///
/// # Panics
/// If the file cannot be read.
pub fn tensors(name: &str) -> SafeTensors<'static> {
    parsed(name, Vec::leak(bytes(name)))
}

fn parsed<'a>(name: &str, bytes: &'a [u8]) -> SafeTensors<'a> {
    SafeTensors::deserialize(bytes).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Recordings that were opened in this process, by their names.
pub type Opened<T> = Mutex<BTreeMap<String, &'static T>>;

/// Returns the recording of this name, which `read` reads at most once in a process: parsing one
/// takes longer than most tests.
pub fn once<T>(opened: &Opened<T>, name: &str, read: impl FnOnce() -> T) -> &'static T {
    let mut opened = opened.lock().unwrap_or_else(|e| e.into_inner());
    opened
        .entry(name.to_owned())
        .or_insert_with(|| Box::leak(Box::new(read())))
}

/// Returns the dtype of a short name such as `f32`.
pub fn dtype(name: &str) -> DType {
    DType::ALL
        .into_iter()
        .find(|d| d.name() == name)
        .unwrap_or_else(|| panic!("unknown element type `{name}`"))
}

impl Golden {
    /// Opens the recording `name`: `name.json` and `name.safetensors`.
    ///
    /// # Panics
    /// If the files cannot be read.
    pub fn open(name: &str) -> &'static Golden {
        static OPENED: Opened<Golden> = Mutex::new(BTreeMap::new());
        once(&OPENED, name, || Golden {
            index: json(&format!("{name}.json")),
            tensors: tensors(&format!("{name}.safetensors")),
        })
    }

    /// Returns the sorted names of all recorded operations.
    pub fn ops(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.index_rows().map(|r| text(r, "op")).collect();
        names.into_iter().collect()
    }

    fn index_rows(&self) -> impl Iterator<Item = &Value> {
        self.index["rows"].as_array().expect("rows").iter()
    }

    /// Returns the rows of an operation.
    pub fn rows(&self, op: &str) -> impl Iterator<Item = Row> {
        self.index_rows()
            .filter(move |row| text(row, "op") == op)
            .enumerate()
            .map(|(i, row)| read_row(row, i, &self.tensors))
    }
}

fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().expect("text")
}

fn read_row(row: &Value, number: usize, tensors: &SafeTensors<'_>) -> Row {
    let arrays = |field: &str| -> Option<Vec<Option<Array>>> {
        let names = row[field].as_array()?;
        Some(
            names
                .iter()
                .map(|n| Some(read_array(tensors, n.as_str()?)))
                .collect(),
        )
    };
    let all = |field: &str| -> Vec<Array> {
        let arrays = arrays(field).expect("a list of names");
        arrays.into_iter().map(|a| a.expect("a name")).collect()
    };
    let derivative = arrays("tangents").map(|tangents| Derivative {
        tangents,
        jvp: arrays("jvp").expect("jvp"),
        cotangents: arrays("cotangents").expect("cotangents"),
        vjp: arrays("vjp").expect("vjp"),
    });
    let op = text(row, "op").to_string();
    let case = text(row, "case").to_string();
    Row {
        label: format!(
            "{op}/{number} {} {case} {}",
            text(row, "dtype"),
            row["params"]
        ),
        params: row["params"].clone(),
        dtype: dtype(text(row, "dtype")),
        inputs: all("inputs"),
        outputs: all("outputs"),
        op,
        case,
        derivative,
    }
}

fn read_array(tensors: &SafeTensors<'_>, name: &str) -> Array {
    let view = tensors.tensor(name);
    to_array(&view.unwrap_or_else(|e| panic!("{name}: {e}")))
}

/// Copies a tensor to an array.
///
/// # Panics
/// If no array has the tensor's dtype.
pub fn to_array(view: &TensorView<'_>) -> Array {
    let dtype = match view.dtype() {
        Dtype::BOOL => DType::Bool,
        Dtype::I8 => DType::I8,
        Dtype::I16 => DType::I16,
        Dtype::I32 => DType::I32,
        Dtype::I64 => DType::I64,
        Dtype::U8 => DType::U8,
        Dtype::U16 => DType::U16,
        Dtype::U32 => DType::U32,
        Dtype::U64 => DType::U64,
        Dtype::BF16 => DType::BF16,
        Dtype::F16 => DType::F16,
        Dtype::F32 => DType::F32,
        Dtype::F64 => DType::F64,
        other => panic!("no array has the element type {other:?}"),
    };
    from_bytes(dtype, view.shape(), view.data())
}

/// Reads an array from the bytes of its elements.
///
/// # Panics
/// If the number of bytes differs from the size of the array.
pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Array {
    Array::try_from_bytes(bytes, shape, dtype).expect("whole arrays")
}
