//! `PyTorchFile`: an open file.

use super::tensor::{Tensor, View};
use super::{archive, input, legacy, tree};
use crate::index::{Index, is_index, missing};
use crate::serialization::StateDict;
use crate::{Error, Result, file, replace};
use ramie_core::files::{self, Message, Problem};
use ramie_core::typing::AlignedBytes;
use ramie_core::{Array, State, Tree};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum ratio of the bytes of overlapping tensors to those of their file.
const LARGEST_RATIO: u64 = 16;

/// Suffix of the file name of an index.
pub(crate) const INDEX_ENDING: &str = ".bin.index.json";

/// A PyTorch file, or the files of an index, whose structure has been read. Elements of tensors are
/// read on request.
#[derive(Debug)]
pub struct PyTorchFile {
    path: PathBuf,
    /// The file, or the shards of an index.
    files: Vec<(PathBuf, File)>,
    /// All values, with the indices of tensors.
    dict: StateDict<usize>,
    tensors: Vec<Tensor>,
}

impl PyTorchFile {
    /// Opens a file and reads its structure. This needs no plugin.
    ///
    /// The path may also be that of an index of several files, such as
    /// `pytorch_model.bin.index.json`; this then opens the tensors that the index lists.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, is neither a PyTorch file nor an index, is damaged
    /// or truncated, or refers to a function or class that is neither a tensor nor a plain value.
    pub fn open(path: impl AsRef<Path>) -> Result<PyTorchFile> {
        let path = path.as_ref();
        if is_index(path) {
            PyTorchFile::open_shards(path)
        } else {
            PyTorchFile::open_one(path)
        }
    }

    fn open_one(path: &Path) -> Result<PyTorchFile> {
        let file = file::open(path)?;
        let length = file.metadata().map_err(|e| Error::io(path, "be read", e))?;
        let found = parts(&file, length.len());
        let (dict, tensors) = found.map_err(|problem| file::rejected(path, problem))?;
        // Checks that paths are unique.
        dict.leaves().map_err(|e| e.in_file(path))?;
        Ok(PyTorchFile {
            path: path.into(),
            files: vec![(path.into(), file)],
            dict,
            tensors,
        })
    }

    /// Opens the shards of an index.
    fn open_shards(path: &Path) -> Result<PyTorchFile> {
        let index = Index::read(path, "PyTorch", &format!("pytorch_model{INDEX_ENDING}"))?;
        let (mut files, mut tensors) = (Vec::new(), Vec::new());
        for (shard, names) in index.shards(path)? {
            let opened = PyTorchFile::open_one(&shard)?;
            let there: HashMap<&str, &Tensor> =
                opened.tensors.iter().map(|t| (&*t.name, t)).collect();
            for name in names {
                let tensor = there.get(name).ok_or_else(|| missing(path, &shard, name))?;
                tensors.push(Tensor {
                    file: files.len(),
                    ..(*tensor).clone()
                });
            }
            files.extend(opened.files);
        }
        let entries = tensors.iter().enumerate();
        let entries = entries.map(|(at, t): (_, &Tensor)| (t.name.clone(), StateDict::Array(at)));
        Ok(PyTorchFile {
            path: path.into(),
            files,
            dict: StateDict::Dict(entries.collect()),
            tensors,
        })
    }

    /// Returns the path of the file or the index.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the tensors, without their elements, in the order of the file.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// Returns the tensor with a name, without its elements.
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.tensors.iter().find(|t| t.name == name)
    }

    /// Reads a tensor onto the default device.
    ///
    /// # Errors
    /// Returns an error if the file has no such tensor or cannot be read, or if there is no working
    /// plugin.
    pub fn array(&self, name: &str) -> Result<Array> {
        let Some(tensor) = self.tensor(name) else {
            let message =
                Message::new("is not in the file").help("list the tensors with `ramie ckpt show`");
            return Err(Error::tensor(&self.path, name, message));
        };
        self.read(tensor)
    }

    /// Returns all values, with arrays that have shapes and dtypes but no elements.
    pub fn types(&self) -> StateDict {
        self.dict
            .clone()
            .map(&mut |at| abstract_of(&self.tensors[at]))
    }

    fn read(&self, tensor: &Tensor) -> Result<Array> {
        let (path, file) = &self.files[tensor.file];
        let bytes = bytes(file, tensor).map_err(|e| Error::io(path, "be read", e))?;
        Array::try_from_aligned(bytes, &tensor.shape, tensor.dtype)
            .map_err(|e| Error::tensor(path, &tensor.name, e))
    }

    /// Reads all values. Tensors that are the same view of a storage become one array.
    fn load(&self) -> Result<StateDict> {
        let mut known: HashMap<View<'_>, Array> = HashMap::new();
        let mut arrays = Vec::with_capacity(self.tensors.len());
        for tensor in &self.tensors {
            let array = match known.get(&tensor.view()) {
                Some(array) => array.clone(),
                None => self.read(tensor)?,
            };
            known.insert(tensor.view(), array.clone());
            arrays.push(array);
        }
        Ok(self.dict.clone().map(&mut |at| arrays[at].clone()))
    }
}

/// Reads the elements of a tensor in row-major order.
fn bytes(file: &File, tensor: &Tensor) -> io::Result<AlignedBytes> {
    let mut bytes = AlignedBytes::zeroed(tensor.nbytes());
    if tensor.is_contiguous() {
        files::read_exact_at(file, &mut bytes, tensor.start)?;
    } else {
        let mut span = vec![0; tensor.span()];
        files::read_exact_at(file, &mut span, tensor.start)?;
        tensor.gather(&span, &mut bytes);
    }
    Ok(bytes)
}

/// Returns the values and the tensors of a file of `length` bytes.
fn parts(file: &File, length: u64) -> Result<(StateDict<usize>, Vec<Tensor>), Problem> {
    let mut start = [0; 4];
    let known = usize::try_from(length).unwrap_or(4).min(4);
    files::read_exact_at(file, &mut start[..known], 0).map_err(Problem::Io)?;
    let contents = match start {
        archive::MAGIC => archive::read(file, length)?,
        // The opcode of a pickle's version.
        [0x80, ..] => legacy::read(file, length)?,
        _ => {
            return Err(input::damaged(format_args!(
                "starts with `{}`, expected an archive or a pickle",
                start[..known].escape_ascii()
            )));
        }
    };
    let (dict, tensors) = tree::tree(&contents.pickle, &contents.starts, contents.bytes)?;
    let mut views: Vec<View<'_>> = tensors.iter().map(Tensor::view).collect();
    views.sort_unstable();
    views.dedup();
    let sizes = views.iter().map(|(_, _, dtype, shape, _)| {
        let count: usize = shape.iter().product();
        (count * dtype.size()) as u64
    });
    let total = sizes.fold(0, u64::saturating_add);
    if total / LARGEST_RATIO > length {
        return Err(input::unsupported(format_args!(
            "has overlapping tensors of {total} bytes in a file of {length} bytes"
        )));
    }
    Ok((dict, tensors))
}

fn abstract_of(tensor: &Tensor) -> Array {
    Array::shape_dtype_struct(&tensor.shape, tensor.dtype)
}

/// Returns all values of a file, with the tensors as arrays on the default device. Tensors that are
/// the same view of a storage, such as tied weights, are read once. For an index, this returns the
/// tensors that it lists.
///
/// ```no_run
/// # fn main() -> ramie_checkpoint::Result<()> {
/// let checkpoint = ramie_checkpoint::pytorch::load("checkpoint.pt")?;
/// let weights = checkpoint.get("state_dict").expect("a state dict").arrays();
/// println!("epoch {:?}, {} tensors", checkpoint.get("epoch"), weights.len());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns an error as [`PyTorchFile::open`] and [`PyTorchFile::array`] do.
pub fn load(path: impl AsRef<Path>) -> Result<StateDict> {
    PyTorchFile::open(path)?.load()
}

/// Returns all values of a file, with arrays that have shapes and dtypes but no elements. This needs
/// no plugin.
///
/// # Errors
/// Returns an error as [`PyTorchFile::open`] does.
pub fn load_abstract(path: impl AsRef<Path>) -> Result<StateDict> {
    Ok(PyTorchFile::open(path)?.types())
}

/// Returns the tensors and numbers of a file by their dotted paths, on the default device. Other
/// values are omitted. [`State::subtree`] selects a state dict in the file.
///
/// # Errors
/// Returns an error as [`PyTorchFile::open`] and [`PyTorchFile::array`] do.
pub fn load_state(path: impl AsRef<Path>) -> Result<State> {
    Ok(load(path)?.arrays())
}

/// Replaces all arrays of a tree with the tensors that a file has at their paths. A tensor is
/// converted to the tree's dtype if that dtype can represent every value. Numbers and other values
/// of the file are ignored.
///
/// # Errors
/// Returns an error as [`load_state`] does, if an array of the tree is missing or the file has an
/// additional tensor, or if an array differs in shape or cannot be converted without loss. The tree
/// is then unchanged.
pub fn load_into<T: Tree>(path: impl AsRef<Path>, tree: &mut T) -> Result<()> {
    let file = PyTorchFile::open(path)?;
    let tensors = file.tensors.iter();
    let types = tensors.map(|t| (&t.name, abstract_of(t))).collect();
    replace::arrays(&file.path, &types, tree, |name| file.array(name))
}
