//! The files of a checkpoint: tensors, and a configuration in JSON.

use super::error::{PretrainedError, Result};
use ramie_core::files::{self, WithHelp};
use ramie_core::{Array, DType, State};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn wrong(path: &Path, message: String) -> PretrainedError {
    PretrainedError::Config {
        path: path.into(),
        message,
    }
}

/// Writes tensors and a configuration to files in a directory.
pub(super) fn write(
    folder: &Path,
    file: &str,
    arrays: BTreeMap<String, Array>,
    config_file: &str,
    config: &serde_json::Value,
) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|e| wrong(folder, format!("cannot be created: {}", WithHelp(&e))))?;
    write_arrays(&folder.join(file), arrays)?;
    let path = folder.join(config_file);
    let text = serde_json::to_string_pretty(config).expect("numbers and strings");
    files::replace(&path, (text + "\n").as_bytes())
        .map_err(|e| wrong(&path, format!("cannot be written: {}", WithHelp(&e))))
}

/// Writes tensors to a file.
pub(super) fn write_arrays(file: &Path, arrays: BTreeMap<String, Array>) -> Result<()> {
    let arrays: State = arrays.into_iter().collect();
    // Libraries that read these files require the entry.
    let metadata = [("format".to_owned(), "pt".to_owned())].into();
    Ok(ramie_checkpoint::save_with_metadata(
        file, &arrays, &metadata,
    )?)
}

/// Writes the tensors and the configuration of a model to a directory.
pub(super) fn save(
    folder: &Path,
    config: &serde_json::Value,
    arrays: BTreeMap<String, Array>,
) -> Result<()> {
    write(folder, WEIGHTS, arrays, "config.json", config)?;
    // The index of an older checkpoint in several files would take precedence.
    let index = folder.join(INDEX);
    match std::fs::remove_file(&index) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(wrong(
            &index,
            format!("cannot be removed: {}", WithHelp(&e)),
        )),
        _ => Ok(()),
    }
}

/// Returns a configuration in JSON with the entries that select the class of the model and the
/// dtype of the weights.
pub(crate) fn described(
    config: &impl serde::Serialize,
    model_type: &str,
    architecture: &str,
    dtype: DType,
) -> serde_json::Value {
    let mut config = serde_json::to_value(config).expect("numbers and strings");
    config["model_type"] = model_type.into();
    config["architectures"] = [architecture].as_slice().into();
    let name = match dtype {
        DType::F16 => "float16",
        DType::BF16 => "bfloat16",
        DType::F64 => "float64",
        _ => "float32",
    };
    config["dtype"] = name.into();
    // The name of `dtype` in older versions.
    config["torch_dtype"] = name.into();
    config
}

/// The file with the tensors of a checkpoint.
const WEIGHTS: &str = "model.safetensors";

/// The file that lists the files of a checkpoint.
const INDEX: &str = "model.safetensors.index.json";

/// Returns the path of the weights in a directory: the index of several files, one file, or the
/// same of PyTorch files.
pub(super) fn weights_in(folder: &Path) -> PathBuf {
    let names = [
        INDEX,
        WEIGHTS,
        "pytorch_model.bin.index.json",
        "pytorch_model.bin",
    ];
    first_in(folder, &names, WEIGHTS)
}

/// Returns the path of the first of these files that exists in a directory, or of the default one.
pub(super) fn first_in(folder: &Path, names: &[&str], default: &str) -> PathBuf {
    let mut paths = names.iter().map(|name| folder.join(name));
    let found = paths.find(|path| path.exists());
    found.unwrap_or_else(|| folder.join(default))
}

/// Returns the default dtype of parameters, which configurations in JSON omit.
pub(crate) fn f32() -> DType {
    DType::F32
}

/// Reads a configuration in JSON.
pub(crate) fn read_config<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = ramie_core::files::read(path).map_err(|e| {
        let message = format!(
            "cannot be read: {e}\n  help: pass the directory of a checkpoint, with this file and \
             the weights"
        );
        wrong(path, message)
    })?;
    serde_json::from_slice(&text).map_err(|e| {
        let message = format!(
            "is not a configuration of this model: {e}\n  help: use the field names of published \
             checkpoints"
        );
        wrong(path, message)
    })
}

/// Returns the error for an option that the model does not support.
pub(crate) fn unsupported(path: &Path, name: &str, value: impl std::fmt::Debug) -> PretrainedError {
    PretrainedError::Config {
        path: path.into(),
        message: format!(
            "`{name}` is {value:?}, which this model does not support\n  help: use another \
             checkpoint, or build the model from layers"
        ),
    }
}
