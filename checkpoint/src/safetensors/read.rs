//! Reading safetensors files.

use super::Metadata;
use super::index;
use crate::index::is_index;
use crate::size::check_shape;
use crate::{Error, Result, file, replace};
use ramie_core::files::Problem;
use ramie_core::files::safetensors::{Header, Tensor};
use ramie_core::typing::AlignedBytes;
use ramie_core::{Array, State, Tree, files};
use std::fs::File;
use std::path::{Path, PathBuf};

/// An open file whose header has been read.
pub(super) struct Reader {
    path: PathBuf,
    file: File,
    header: Header,
    /// Offset of the first array's bytes.
    data: u64,
    /// Number of bytes after the header.
    available: u64,
}

impl Reader {
    pub fn open(path: &Path) -> Result<Reader> {
        let mut file = file::open(path)?;
        let length = file.metadata().map_err(|e| Error::io(path, "be read", e))?;
        let length = length.len();
        let header = Header::read(&mut file, length);
        let (header, data) = header.map_err(|problem| file::rejected(path, problem))?;
        Ok(Reader {
            path: path.into(),
            file,
            header,
            data,
            available: length - data,
        })
    }

    pub fn tensors(&self) -> Result<Vec<Tensor>> {
        let rejected = |problem| file::rejected(&self.path, problem);
        let tensors = self.header.tensors(self.available).map_err(rejected)?;
        for Tensor { name, shape, .. } in &tensors {
            check_shape(shape).map_err(|what| rejected(Problem::tensor(name.clone(), what)))?;
        }
        Ok(tensors)
    }

    /// Reads an array onto the default device.
    fn array(&self, tensor: &Tensor) -> Result<Array> {
        let mut bytes = AlignedBytes::zeroed(tensor.nbytes());
        files::read_exact_at(&self.file, &mut bytes, self.data + tensor.start)
            .map_err(|e| Error::io(&self.path, "be read", e))?;
        Array::try_from_aligned(bytes, &tensor.shape, tensor.dtype)
            .map_err(|e| Error::tensor(&self.path, &tensor.name, e))
    }
}

/// Arrays of a path: those of a file, or of the shards of an index.
pub(super) struct Arrays {
    pub shards: Vec<Reader>,
    /// Arrays sorted by name, each with the index of its shard.
    pub tensors: Vec<(Tensor, usize)>,
}

impl Arrays {
    fn open(path: &Path) -> Result<Arrays> {
        if is_index(path) {
            return index::open(path);
        }
        let reader = Reader::open(path)?;
        // The header's entries are sorted by name.
        let tensors = reader.tensors()?.into_iter().map(|t| (t, 0)).collect();
        Ok(Arrays {
            shards: vec![reader],
            tensors,
        })
    }

    /// Returns the types of the arrays, without elements.
    fn types(&self) -> State {
        let tensors = self.tensors.iter();
        tensors
            .map(|(t, _)| (&t.name, Array::shape_dtype_struct(&t.shape, t.dtype)))
            .collect()
    }

    /// Reads the array at an index onto the default device.
    fn array(&self, at: usize) -> Result<Array> {
        let (tensor, shard) = &self.tensors[at];
        self.shards[*shard].array(tensor)
    }
}

/// Returns the arrays of a file by their paths, on the default device.
///
/// The path may also be that of an index of several files, such as `model.safetensors.index.json`;
/// this then returns the arrays that the index lists.
///
/// # Errors
/// Returns an error if a file cannot be read, is not a complete safetensors file or index, or
/// contains a dtype that Ramie does not support, or if there is no working plugin.
pub fn load_state(path: impl AsRef<Path>) -> Result<State> {
    let arrays = Arrays::open(path.as_ref())?;
    (0..arrays.tensors.len())
        .map(|at| Ok((arrays.tensors[at].0.name.clone(), arrays.array(at)?)))
        .collect()
}

/// Returns the shapes and dtypes of the arrays of a file or an index, without their elements. This
/// reads only headers and needs no plugin.
///
/// ```no_run
/// # fn main() -> Result<(), ramie_checkpoint::Error> {
/// for (path, array) in ramie_checkpoint::safetensors::load_abstract("model.safetensors")?.iter() {
///     println!("{path}: {:?} {}", array.shape(), array.dtype());
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns an error if a file cannot be read, is not a complete safetensors file or index, or
/// contains a dtype that Ramie does not support.
pub fn load_abstract(path: impl AsRef<Path>) -> Result<State> {
    Ok(Arrays::open(path.as_ref())?.types())
}

/// Replaces all arrays of a tree with the arrays that a file or an index has at their paths. An
/// array is converted to the tree's dtype if that dtype can represent every value of the saved
/// one: `bf16` to `f32`, but not back.
///
/// # Errors
/// Returns an error if a file cannot be read or is not a complete safetensors file or index, if an
/// array of the tree is missing or the file has an additional one, or if an array differs in shape
/// or cannot be converted without loss. The tree is then unchanged.
pub fn load_into<T: Tree>(path: impl AsRef<Path>, tree: &mut T) -> Result<()> {
    let path = path.as_ref();
    let arrays = Arrays::open(path)?;
    replace::arrays(path, &arrays.types(), tree, |name| {
        let at = arrays
            .tensors
            .binary_search_by(|(t, _)| (*t.name).cmp(name));
        arrays.array(at.expect("the file has an array for every leaf"))
    })
}

/// Returns the metadata of a file or an index.
///
/// # Errors
/// Returns an error if the file cannot be read or is neither a safetensors file nor an index.
pub fn load_metadata(path: impl AsRef<Path>) -> Result<Metadata> {
    let path = path.as_ref();
    if is_index(path) {
        return index::metadata(path);
    }
    Ok(Reader::open(path)?.header.metadata)
}
