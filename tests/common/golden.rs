//! Recorded values: an index in JSON and tensors in safetensors.

use ramie_core::{Array, DType};
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// An index with its tensors.
pub struct Golden {
    index: Value,
    bytes: Vec<u8>,
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

/// The folder of recorded data, of the workspace's root.
fn folder() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let data = |root: &std::path::Path| root.join("tests/golden/data");
    match data(&here) {
        own if own.is_dir() => own,
        _ => data(here.parent().expect("a member of a workspace")),
    }
}

/// The type of a short name: `f32`.
pub fn dtype(name: &str) -> DType {
    DType::ALL
        .into_iter()
        .find(|d| d.name() == name)
        .unwrap_or_else(|| panic!("unknown element type `{name}`"))
}

impl Golden {
    /// The recording `name`: `name.json` and `name.safetensors`.
    ///
    /// # Panics
    /// If the files cannot be read.
    pub fn open(name: &str) -> Golden {
        let file = |extension: &str| {
            let path = folder().join(format!("{name}.{extension}"));
            std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        Golden {
            index: serde_json::from_slice(&file("json")).expect("an index in JSON"),
            bytes: file("safetensors"),
        }
    }

    /// The names of all recorded operations, sorted.
    pub fn ops(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.index_rows().map(|r| text(r, "op")).collect();
        names.into_iter().collect()
    }

    fn index_rows(&self) -> impl Iterator<Item = &Value> {
        self.index["rows"].as_array().expect("rows").iter()
    }

    /// The rows of an operation.
    pub fn rows(&self, op: &str) -> impl Iterator<Item = Row> {
        let tensors = SafeTensors::deserialize(&self.bytes).expect("tensors");
        self.index_rows()
            .filter(move |row| text(row, "op") == op)
            .enumerate()
            .map(move |(i, row)| read_row(row, i, &tensors))
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
    let view = tensors
        .tensor(name)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
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
        other => panic!("{name}: no array holds {other:?}"),
    };
    super::from_bytes(dtype, view.shape(), view.data())
}
