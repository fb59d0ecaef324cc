//! Abstract values: the types of arrays.

use crate::base::lock::lock;
use crate::sharding::AxisName;
use crate::types::sharding::{AxisSet, Context, PartitionSpec, SpecEntry, TypeSharding};
use crate::{DType, ShapeError};
use ramie_pjrt::BufferType;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Mutex;

/// Dimensions of an array, stored inline up to six.
pub type Dims = SmallVec<[usize; 6]>;

/// Maximum number of bytes of an array: an address has at most 57 bits. The compiler's arithmetic
/// counts bits, and sums several arrays; it overflows 64 bits beyond this limit.
pub(crate) const ADDRESSABLE: u128 = 1 << 57;

/// An abstract value (JAX's `ShapedArray`): shape, dtype, and whether the dtype is weak, which
/// means that it yields to the other operand's, like that of a literal.
///
/// On a mesh the type also contains the explicit axes along which dimensions are sharded,
/// `f32[8@x,2@y]`, and inside [`shard_map`](crate::shard_map) the manual axes over which the
/// values may differ, `f32[4]{V:x}`. Together these are its placement.
///
/// Abstract values are interned: copying is free, and comparing two compares addresses.
///
/// ```
/// use ramie_core::{Aval, DType};
/// let a = Aval::new(&[2, 3], DType::F32);
/// assert_eq!(a.to_string(), "f32[2,3]");
/// assert_eq!(a.size(), 6);
/// ```
#[derive(Clone, Copy)]
pub struct Aval(&'static Data);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    shape: Dims,
    dtype: DType,
    weak_type: bool,
    placement: Placement,
}

impl Key {
    /// Returns the number of bytes of an array. Empty dimensions count as 1, as in the
    /// computation of strides.
    fn bytes(&self) -> u128 {
        let dims = self.shape.iter().map(|d| (*d).max(1) as u128);
        dims.fold(self.dtype.size() as u128, u128::saturating_mul)
    }
}

/// The part of a type that depends on a mesh.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Placement {
    sharding: Option<TypeSharding>,
    varying: AxisSet,
}

struct Data {
    key: Key,
    /// `None` for a type with more bytes than a program can address.
    buffer_type: Option<BufferType>,
    placed: bool,
}

#[derive(Clone, Copy)]
struct ByKey(&'static Data);
impl PartialEq for ByKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.key == other.0.key
    }
}
impl Eq for ByKey {}
impl Hash for ByKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key.hash(state);
    }
}
impl std::borrow::Borrow<Key> for ByKey {
    fn borrow(&self) -> &Key {
        &self.0.key
    }
}

type Table = HashSet<ByKey, std::hash::BuildHasherDefault<crate::base::hash::FastHasher>>;
static TABLE: Mutex<Option<Table>> = Mutex::new(None);
thread_local! { static LOCAL: RefCell<Table> = RefCell::default(); }

impl Data {
    /// Returns the entry of the table that all threads share.
    fn shared(key: &Key) -> &'static Data {
        let mut table = lock(&TABLE);
        let table = table.get_or_insert_default();
        if let Some(found) = table.get(key) {
            return found.0;
        }
        let fits = key.bytes() <= ADDRESSABLE;
        let dims: SmallVec<[i64; 6]> = key.shape.iter().map(|&d| d as i64).collect();
        let data: &'static Data = Box::leak(Box::new(Data {
            key: key.clone(),
            placed: key.placement != Placement::default(),
            buffer_type: fits.then(|| BufferType::new(key.dtype.element_type(), &dims)),
        }));
        table.insert(ByKey(data));
        data
    }
}

impl Aval {
    /// Creates the abstract value of an array of `shape` and `dtype`.
    pub fn new(shape: &[usize], dtype: DType) -> Aval {
        Aval::intern(shape, dtype, false, Placement::default())
    }

    /// Creates an abstract value with a weak type.
    pub fn weak(shape: &[usize], dtype: DType) -> Aval {
        Aval::intern(shape, dtype, true, Placement::default())
    }

    /// Creates the abstract value of a 0-d array.
    pub fn scalar(dtype: DType) -> Aval {
        Aval::new(&[], dtype)
    }

    /// Returns the interned value. It is never freed: a program has few distinct types, and
    /// interning makes comparing, hashing and copying cheap.
    fn intern(shape: &[usize], dtype: DType, weak_type: bool, placement: Placement) -> Aval {
        let key = Key {
            shape: shape.into(),
            dtype,
            weak_type,
            placement,
        };
        let known = LOCAL.try_with(|local| {
            let mut local = local.borrow_mut();
            if let Some(found) = local.get(&key) {
                return found.0;
            }
            let data = Data::shared(&key);
            local.insert(ByKey(data));
            data
        });
        // A thread that is exiting may have destroyed its own table.
        Aval(known.unwrap_or_else(|_| Data::shared(&key)))
    }

    /// Returns the dimensions, outermost first.
    pub fn shape(&self) -> &'static [usize] {
        &self.0.key.shape
    }

    /// Returns the dtype.
    pub fn dtype(&self) -> DType {
        self.0.key.dtype
    }

    /// Returns whether the type is weak, and yields to another operand's.
    pub fn weak_type(&self) -> bool {
        self.0.key.weak_type
    }

    /// Returns the number of dimensions.
    pub fn ndim(&self) -> usize {
        self.0.key.shape.len()
    }

    /// Returns the number of elements, at most `usize::MAX`.
    pub fn size(&self) -> usize {
        element_count(self.shape())
    }

    /// Returns the number of bytes of the elements, without padding, at most `usize::MAX`.
    pub fn size_bytes(&self) -> usize {
        self.size().saturating_mul(self.dtype().size())
    }

    /// Returns an error if the type has more bytes than a program can address.
    pub(crate) fn check_size(&self) -> Result<(), ShapeError> {
        if self.0.buffer_type.is_some() {
            return Ok(());
        }
        Err(ShapeError::new(format!(
            "the sizes of shape {:?} multiply to {} bytes of {}, more than a process can address",
            self.shape(),
            self.0.key.bytes(),
            self.dtype()
        ))
        .help("check the shape"))
    }

    /// Returns the same type with another shape, which is not sharded.
    pub fn with_shape(&self, shape: &[usize]) -> Aval {
        if self.sharding().is_none() && self.shape() == shape {
            return *self;
        }
        let placement = Placement {
            sharding: None,
            ..self.0.key.placement
        };
        Aval::intern(shape, self.dtype(), self.weak_type(), placement)
    }

    /// Returns the type without dimension `at`.
    pub(crate) fn without_dimension(&self, at: usize) -> Aval {
        let mut shape: Dims = self.shape().into();
        shape.remove(at);
        let kept = |s: TypeSharding| {
            let entries = s.spec().entries().iter().enumerate();
            let entries = entries.filter(|(d, _)| *d != at).map(|(_, e)| e.clone());
            TypeSharding::new(s.mesh(), &s.spec().with_entries(entries), shape.len())
        };
        self.with_shape(&shape)
            .with_sharding(self.sharding().map(kept))
    }

    /// Returns the type with an additional dimension of `size`, sharded over `axes`, before
    /// dimension `at`.
    pub(crate) fn with_dimension(&self, at: usize, size: usize, axes: &[AxisName]) -> Aval {
        let mut shape: Dims = self.shape().into();
        shape.insert(at, size);
        let here = self.sharding().map(|s| s.mesh());
        let mesh = here.or_else(|| Context::current().axes.filter(|_| !axes.is_empty()));
        let wider = |mesh| {
            let spec = self.spec().inserted(at, SpecEntry::from(axes));
            TypeSharding::new(mesh, &spec, shape.len())
        };
        self.with_shape(&shape).with_sharding(mesh.map(wider))
    }

    /// Returns the same shape and placement with another dtype, which is not weak.
    pub fn with_dtype(&self, dtype: DType) -> Aval {
        if self.dtype() == dtype && !self.weak_type() {
            return *self;
        }
        Aval::intern(self.shape(), dtype, false, self.0.key.placement)
    }

    /// Returns the same shape and dtype, weak or not.
    pub fn with_weak_type(&self, weak_type: bool) -> Aval {
        if self.weak_type() == weak_type {
            return *self;
        }
        Aval::intern(self.shape(), self.dtype(), weak_type, self.0.key.placement)
    }

    /// Returns how the dimensions are sharded over explicit mesh axes; `None` if none is.
    pub fn sharding(&self) -> Option<TypeSharding> {
        self.0.key.placement.sharding
    }

    /// Returns how the dimensions are sharded over explicit axes; an empty spec if none is.
    pub(crate) fn spec(&self) -> PartitionSpec {
        self.sharding()
            .map(|s| s.spec().clone())
            .unwrap_or_default()
    }

    /// Returns the manual axes over which values may differ, in the body of a
    /// [`shard_map`](crate::shard_map).
    pub fn varying(&self) -> &'static [AxisName] {
        self.0.key.placement.varying.as_slice()
    }

    /// Returns [`varying`](Self::varying) as a set.
    pub(crate) fn varying_set(&self) -> AxisSet {
        self.0.key.placement.varying
    }

    /// Returns whether the type has a placement.
    pub(crate) fn is_placed(&self) -> bool {
        self.0.placed
    }

    /// Returns the same type with another sharding.
    pub(crate) fn with_sharding(&self, sharding: Option<TypeSharding>) -> Aval {
        let sharding = sharding.filter(|s| !s.is_trivial());
        let placement = Placement {
            sharding,
            ..self.0.key.placement
        };
        Aval::intern(self.shape(), self.dtype(), self.weak_type(), placement)
    }

    /// Returns the same type, varying over these axes.
    pub(crate) fn with_varying(&self, varying: AxisSet) -> Aval {
        let placement = Placement {
            varying,
            ..self.0.key.placement
        };
        Aval::intern(self.shape(), self.dtype(), self.weak_type(), placement)
    }

    /// Returns the type without its placement.
    pub(crate) fn unplaced(&self) -> Aval {
        if self.0.placed {
            Aval::intern(
                self.shape(),
                self.dtype(),
                self.weak_type(),
                Placement::default(),
            )
        } else {
            *self
        }
    }

    /// Returns whether shape and dtype are the same, regardless of placement.
    pub fn matches(&self, other: Aval) -> bool {
        self == &other || (self.dtype() == other.dtype() && self.shape() == other.shape())
    }

    /// Returns the same shape and dtype, not weak.
    pub fn strong(&self) -> Aval {
        self.with_weak_type(false)
    }

    /// Returns the runtime's type of a buffer with these elements.
    ///
    /// # Panics
    /// Panics if the elements have more bytes than a program can address.
    #[track_caller]
    pub fn buffer_type(&self) -> BufferType {
        match self.0.buffer_type {
            Some(known) => known,
            None => panic!("{}", self.check_size().expect_err("no buffer has the type")),
        }
    }

    /// Returns the address that represents this value in hashes.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self.0).addr()
    }
}

/// Returns the product of dimensions, at most `usize::MAX`.
pub(crate) fn element_count(shape: &[usize]) -> usize {
    if shape.contains(&0) {
        0
    } else {
        shape.iter().fold(1, |n: usize, &d| n.saturating_mul(d))
    }
}

impl PartialEq for Aval {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for Aval {}
impl Hash for Aval {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.address());
    }
}

impl Aval {
    fn write(&self, f: &mut fmt::Formatter<'_>, dtype: &str) -> fmt::Result {
        write!(f, "{dtype}[")?;
        for (i, d) in self.shape().iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(f, "{comma}{d}")?;
            if let Some(sharding) = self.sharding() {
                sharding.write_dimension(f, i)?;
            }
        }
        f.write_str("]")?;
        let mut sets = Vec::new();
        let mut set = |letter: char, names: &[AxisName]| match names {
            [] => {}
            [one] => sets.push(format!("{letter}:{one}")),
            many => {
                let names: Vec<&str> = many.iter().map(|n| n.as_str()).collect();
                sets.push(format!("{letter}:({})", names.join(",")));
            }
        };
        set('V', self.varying());
        if let Some(sharding) = self.sharding() {
            set('U', sharding.spec().unreduced());
            set('R', sharding.spec().reduced());
        }
        if sets.is_empty() {
            Ok(())
        } else {
            write!(f, "{{{}}}", sets.join(", "))
        }
    }
}

/// Formats the type as JAX prints it in a jaxpr, `f32[8@x,2]`; with `{:#}` as `typeof` does,
/// `float32[8@x,2]`.
impl fmt::Display for Aval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            self.write(f, self.dtype().numpy_name())
        } else {
            self.write(f, self.dtype().name())
        }
    }
}
impl fmt::Debug for Aval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weak = if self.weak_type() { "~" } else { "" };
        write!(f, "{weak}{self}")
    }
}

/// Returns the shape to which NumPy broadcasts several shapes, or `None` if they are
/// incompatible.
///
/// ```
/// use ramie_core::numpy::broadcast_shapes;
/// assert_eq!(broadcast_shapes(&[&[3, 1], &[4]]).unwrap().to_vec(), vec![3, 4]);
/// assert!(broadcast_shapes(&[&[3], &[4]]).is_none());
/// ```
pub fn broadcast_shapes(shapes: &[&[usize]]) -> Option<Dims> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut out: Dims = SmallVec::from_elem(1, rank);
    for shape in shapes {
        for (o, &d) in out[rank - shape.len()..].iter_mut().zip(*shape) {
            match (*o, d) {
                (a, b) if a == b => {}
                (1, b) => *o = b,
                (_, 1) => {}
                _ => return None,
            }
        }
    }
    Some(out)
}
