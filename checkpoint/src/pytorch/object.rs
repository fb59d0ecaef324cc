//! The values that a pickle builds.

use super::global::Global;
use ramie_core::DType;

/// Index of an object in its [`Pickle`].
pub(super) type Id = u32;

/// A value. Containers refer to their items by index, so that damaged files can neither build
/// structures that are too deep to free, nor cycles that are never freed.
#[derive(Debug)]
pub(super) enum Object {
    None,
    Bool(bool),
    Int(i64),
    /// An integer of more than 64 bits: two's complement, lowest byte first.
    Long(Vec<u8>),
    Float(f64),
    Complex(f64, f64),
    Str(String),
    Bytes(Vec<u8>),
    Tuple(Vec<Id>),
    /// A list or a set.
    List(Vec<Id>),
    /// Keys and values.
    Dict(Vec<(Id, Id)>),
    /// A name of a Python module.
    Global(Global),
    /// Index among the references to storages.
    Storage(u32),
    Tensor(Box<Rebuilt>),
}

impl Object {
    /// Returns the integer with these bytes: two's complement, lowest byte first.
    pub fn integer(bytes: Vec<u8>) -> Object {
        match bytes.len() {
            0..=8 => {
                let negative = bytes.last().is_some_and(|byte| byte >> 7 == 1);
                let mut all = [if negative { 0xff } else { 0 }; 8];
                all[..bytes.len()].copy_from_slice(&bytes);
                Object::Int(i64::from_le_bytes(all))
            }
            _ => Object::Long(bytes),
        }
    }
}

/// A reference to a storage.
#[derive(Debug)]
pub(super) struct Storage {
    /// The name of the storage in the file, a string.
    pub key: Id,
    pub dtype: DType,
    /// Size in bytes.
    pub bytes: u64,
}

/// A tensor as the pickle describes it, which may not match its storage.
#[derive(Debug)]
pub(super) struct Rebuilt {
    /// Index among the references to storages.
    pub storage: u32,
    pub dtype: DType,
    /// Whether the elements are the conjugates or the negatives of the stored ones.
    pub is_lazy: bool,
    /// Offset of the first element in the storage, in elements.
    pub start: usize,
    pub shape: Vec<usize>,
    /// Distance between neighbors along each axis, in elements.
    pub strides: Vec<usize>,
}

/// The objects of a pickle.
#[derive(Debug)]
pub(super) struct Pickle {
    pub objects: Vec<Object>,
    pub root: Id,
    pub storages: Vec<Storage>,
}

impl Pickle {
    pub fn get(&self, id: Id) -> &Object {
        &self.objects[id as usize]
    }

    pub fn get_mut(&mut self, id: Id) -> &mut Object {
        &mut self.objects[id as usize]
    }

    /// Adds an object. A pickle has fewer bytes, and so fewer objects, than an index can count.
    pub fn push(&mut self, object: Object) -> Id {
        self.objects.push(object);
        (self.objects.len() - 1) as Id
    }

    /// Returns the name of a storage.
    pub fn key(&self, storage: &Storage) -> &str {
        match self.get(storage.key) {
            Object::Str(key) => key,
            _ => "",
        }
    }

    pub fn root(&self) -> &Object {
        self.get(self.root)
    }
}
