//! The type of a device buffer: element type and dimensions, interned.

use crate::ElementType;
use ramie_base::lock::unpoisoned;
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{OnceLock, RwLock};

/// An element type and dimensions, interned.
///
/// Equal types are the same pointer, so comparing and hashing take constant time. Each distinct
/// type stays allocated until the process ends.
///
/// ```
/// use ramie_pjrt::{BufferType, ElementType};
/// let matrix = BufferType::new(ElementType::F32, &[2, 3]);
/// assert_eq!(matrix, BufferType::new(ElementType::F32, &[2, 3]));
/// assert_eq!(matrix.size_bytes(), 24);
/// assert_eq!(matrix.to_string(), "f32[2,3]");
/// ```
#[derive(Clone, Copy)]
pub struct BufferType(&'static Interned);

struct Interned {
    element_type: ElementType,
    dims: Box<[i64]>,
    size_bytes: usize,
}

type Table = RwLock<HashMap<u64, Vec<&'static Interned>>>;

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(Table::default)
}

impl BufferType {
    /// Returns the type with these dimensions. A scalar has no dimensions.
    ///
    /// # Panics
    /// Panics if a dimension is negative, or if the size in bytes exceeds `isize::MAX`.
    #[track_caller]
    pub fn new(element_type: ElementType, dims: &[i64]) -> BufferType {
        let mut hasher = DefaultHasher::new();
        (element_type, dims).hash(&mut hasher);
        let hash = hasher.finish();
        let find = |bucket: &Vec<&'static Interned>| {
            bucket
                .iter()
                .copied()
                .find(|t| t.element_type == element_type && *t.dims == *dims)
        };
        let known = unpoisoned(table().read());
        if let Some(found) = known.get(&hash).and_then(find) {
            return BufferType(found);
        }
        drop(known);

        let size = dims
            .iter()
            .try_fold(element_type.byte_size(), |size, &dim| {
                size.checked_mul(usize::try_from(dim).ok()?)
                    .filter(|&s| s <= isize::MAX as usize)
            });
        let Some(size_bytes) = size else {
            panic!(
                "buffer type {element_type}{dims:?}: dimensions must not be negative, and the size must fit in memory"
            );
        };
        let mut known = unpoisoned(table().write());
        let bucket = known.entry(hash).or_default();
        if let Some(found) = find(bucket) {
            return BufferType(found);
        }
        let interned: &'static Interned = Box::leak(Box::new(Interned {
            element_type,
            dims: dims.into(),
            size_bytes,
        }));
        bucket.push(interned);
        BufferType(interned)
    }

    /// Returns the element type.
    pub fn element_type(self) -> ElementType {
        self.0.element_type
    }

    /// Returns the dimensions, outermost first.
    pub fn dims(self) -> &'static [i64] {
        &self.0.dims
    }

    /// Returns the number of dimensions.
    pub fn rank(self) -> usize {
        self.0.dims.len()
    }

    /// Returns the size of the dense row-major host representation in bytes.
    pub fn size_bytes(self) -> usize {
        self.0.size_bytes
    }
}

impl PartialEq for BufferType {
    fn eq(&self, other: &BufferType) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for BufferType {}

impl Hash for BufferType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl fmt::Display for BufferType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.0.element_type)?;
        for (i, dim) in self.0.dims.iter().enumerate() {
            write!(f, "{}{dim}", if i > 0 { "," } else { "" })?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for BufferType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_types_are_one_pointer_from_every_thread() {
        let here = BufferType::new(ElementType::F32, &[4, 5, 6]);
        let there: Vec<BufferType> = std::thread::scope(|scope| {
            let make = || BufferType::new(ElementType::F32, &[4, 5, 6]);
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(there.iter().all(|t| std::ptr::eq(t.0, here.0)));
        assert_ne!(here, BufferType::new(ElementType::S32, &[4, 5, 6]));
        assert_ne!(here, BufferType::new(ElementType::F32, &[4, 30]));
    }

    #[test]
    fn sizes_count_zero_dimensions_and_scalars() {
        assert_eq!(BufferType::new(ElementType::F64, &[]).size_bytes(), 8);
        assert_eq!(BufferType::new(ElementType::F64, &[3, 0]).size_bytes(), 0);
    }

    #[test]
    #[should_panic(expected = "must not be negative")]
    fn negative_dimensions_are_refused() {
        BufferType::new(ElementType::F32, &[2, -1]);
    }

    #[test]
    #[should_panic(expected = "must fit in memory")]
    fn overflowing_sizes_are_refused() {
        BufferType::new(ElementType::F32, &[i64::MAX, 2]);
    }
}
