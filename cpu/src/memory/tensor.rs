//! Tensors: views of shared storage with strides.

use super::{Buffer, Context, Shared, Side, Storage, copy, load};
use crate::{Dims, ElementType, Error, Result, TensorType};
use bytemuck::Pod;
use smallvec::SmallVec;
use std::ops::Deref;
use std::sync::Arc;

/// Distances between neighbors of each axis, in elements.
pub type Strides = SmallVec<[isize; 6]>;

/// The type of a tensor and where its elements are. Tensors share layouts, which are large and seldom new.
#[derive(Debug)]
pub struct Layout {
    /// The type of the view.
    pub ty: TensorType,
    /// Strides in elements.
    pub strides: Strides,
    size: usize,
    /// Bytes of the elements in row-major order, if they are not too many.
    bytes: Option<usize>,
    contiguous: bool,
}

impl Layout {
    /// Returns a layout with given strides.
    pub fn new(ty: TensorType, strides: Strides) -> Arc<Layout> {
        let contiguous = is_contiguous(&ty.shape, &strides);
        Arc::new(Layout {
            size: ty.size().unwrap_or(usize::MAX),
            bytes: ty.byte_size(),
            ty,
            strides,
            contiguous,
        })
    }

    /// Returns the number of elements.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the layout in row-major order without gaps.
    pub fn dense(ty: TensorType) -> Arc<Layout> {
        let strides = row_major(&ty.shape);
        Layout::new(ty, strides)
    }
}

fn is_contiguous(shape: &[usize], strides: &[isize]) -> bool {
    let mut expected = 1isize;
    for (&size, &stride) in shape.iter().zip(strides).rev() {
        if size == 0 {
            return true;
        }
        if size != 1 && stride != expected {
            return false;
        }
        expected = expected.wrapping_mul(size as isize);
    }
    true
}

/// A view of storage. Operations that only rearrange elements change the strides and share the storage.
#[derive(Clone)]
pub struct Tensor {
    layout: Arc<Layout>,
    /// Index of the first element in the storage.
    pub offset: usize,
    storage: Shared,
}

impl Deref for Tensor {
    type Target = Layout;

    fn deref(&self) -> &Layout {
        &self.layout
    }
}

/// Returns the strides of a row-major array.
pub fn row_major(shape: &[usize]) -> Strides {
    let mut strides: Strides = SmallVec::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].wrapping_mul(shape[axis] as isize);
    }
    strides
}

/// Runs an expression with `$T` as the unsigned integer of an element's width.
macro_rules! with_width {
    ($bytes:expr, $T:ident => $body:expr) => {
        match $bytes {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            8 => {
                type $T = u64;
                $body
            }
            _ => {
                type $T = u128;
                $body
            }
        }
    };
}
pub(crate) use with_width;

impl Tensor {
    /// Returns the tensor at the start of a storage.
    pub fn from_storage(layout: Arc<Layout>, storage: Shared) -> Tensor {
        Tensor {
            layout,
            offset: 0,
            storage,
        }
    }

    /// Returns the shape.
    pub fn shape(&self) -> &[usize] {
        &self.ty.shape
    }

    /// Returns the type of the elements.
    pub fn element(&self) -> ElementType {
        self.ty.element
    }

    /// Returns the number of elements.
    pub fn size(&self) -> usize {
        self.layout.size
    }

    /// Returns the layout.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Returns whether two tensors are in the same storage.
    pub fn shares(&self, other: &Tensor) -> bool {
        self.storage.is(&other.storage)
    }

    /// Returns the bytes of the element that all elements are the same as, in memory.
    pub fn repeated(&self) -> Option<&[u8]> {
        let mut axes = self.ty.shape.iter().zip(&self.strides);
        let is_repeated = if self.layout.contiguous {
            self.size() == 1
        } else {
            axes.all(|(n, s)| *n == 1 || *s == 0)
        };
        let width = self.element().bytes();
        is_repeated.then(|| &self.storage.bytes()[self.offset * width..][..width])
    }

    /// Returns whether the elements follow each other in row-major order.
    pub fn is_contiguous(&self) -> bool {
        self.layout.contiguous
    }

    /// Returns whether neighbors along the last axis are far from each other in memory.
    pub fn is_scattered(&self) -> bool {
        let axes = self.ty.shape.iter().zip(&self.strides).rev();
        let mut axes = axes.filter(|(n, _)| **n != 1);
        axes.next()
            .is_some_and(|(_, stride)| stride.unsigned_abs() > 8)
    }

    /// Returns all elements of the storage, to be indexed with the offset and the strides.
    pub fn data<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(self.storage.bytes())
    }

    /// Returns the elements of a contiguous tensor.
    ///
    /// # Panics
    /// Panics if the tensor is not contiguous.
    pub fn slice<T: Pod>(&self) -> &[T] {
        assert!(self.is_contiguous(), "the tensor has gaps");
        match self.size() {
            0 => &[],
            n => &self.data()[self.offset..self.offset + n],
        }
    }

    /// Returns the bytes of a contiguous tensor.
    pub fn bytes(&self) -> &[u8] {
        let width = self.element().bytes();
        match self.size() * width {
            0 => &[],
            n => &self.storage.bytes()[self.offset * width..self.offset * width + n],
        }
    }

    /// Returns the first element, for tensors with one element.
    pub fn scalar<T: Pod>(&self) -> T {
        self.data()[self.offset]
    }

    /// Returns this side of a copy.
    pub fn side(&self) -> Side<'_> {
        Side {
            offset: self.offset,
            strides: &self.strides,
        }
    }

    /// Returns the view with other strides over the same storage.
    pub fn view(&self, shape: Dims, strides: Strides, offset: usize) -> Tensor {
        let element = self.element();
        let layout = Layout::new(TensorType { shape, element }, strides);
        self.clone().with_layout(layout, offset)
    }

    /// Returns the view with another layout over the same storage.
    pub fn with_layout(self, layout: Arc<Layout>, offset: usize) -> Tensor {
        Tensor {
            layout,
            offset,
            storage: self.storage,
        }
    }

    /// Returns the view whose axis `i` is the axis `axes[i]` of this tensor.
    pub fn permute(&self, axes: &[usize]) -> Tensor {
        let shape = axes.iter().map(|&a| self.ty.shape[a]).collect();
        self.view(
            shape,
            axes.iter().map(|&a| self.strides[a]).collect(),
            self.offset,
        )
    }

    /// Returns the view of another shape with as many elements, if strides can express it.
    pub fn reshape_view(&self, shape: &[usize]) -> Option<Tensor> {
        if self.is_contiguous() {
            return Some(self.view(shape.into(), row_major(shape), self.offset));
        }
        let old: SmallVec<[(usize, isize); 6]> = self
            .ty
            .shape
            .iter()
            .copied()
            .zip(self.strides.iter().copied())
            .filter(|(n, _)| *n != 1)
            .collect();
        let mut strides: Strides = SmallVec::from_elem(0, shape.len());
        let (mut i, mut j) = (0, 0);
        while i < shape.len() {
            if shape[i] == 1 {
                i += 1;
                continue;
            }
            let (first, first_old) = (i, j);
            let (mut new_size, mut old_size) = (shape[i], old.get(j)?.0);
            while new_size != old_size {
                if new_size < old_size {
                    i += 1;
                    new_size *= shape.get(i)?;
                } else {
                    j += 1;
                    old_size *= old.get(j)?.0;
                }
            }
            let merged = old[first_old..=j]
                .windows(2)
                .all(|w| w[0].1 == w[1].1 * w[1].0 as isize);
            if !merged {
                return None;
            }
            let mut stride = old[j].1;
            for k in (first..=i).rev() {
                strides[k] = stride;
                stride *= shape[k] as isize;
            }
            i += 1;
            j += 1;
        }
        Some(self.view(shape.into(), strides, self.offset))
    }

    /// Returns the tensor of another shape with as many elements, which shares the storage if it can.
    pub fn reshape(&self, context: &Context, shape: &[usize]) -> Result<Tensor> {
        match self.reshape_view(shape) {
            Some(view) => Ok(view),
            None => {
                let dense = self.contiguous(context)?;
                Ok(dense.view(shape.into(), row_major(shape), dense.offset))
            }
        }
    }

    /// Returns the same bytes as elements of another type. The tensor must be contiguous, or the types must
    /// have the same width.
    pub fn bitcast(&self, context: &Context, ty: &TensorType) -> Result<Tensor> {
        let (old, new) = (self.element().bytes(), ty.element.bytes());
        if old == new {
            let layout = Layout::new(ty.clone(), self.strides.clone());
            return Ok(self.clone().with_layout(layout, self.offset));
        }
        let mut dense = self.contiguous(context)?;
        if dense.offset * old % new != 0 {
            let mut fresh = OutputTensor::new(context, self.ty.clone())?;
            fresh.bytes_mut().copy_from_slice(dense.bytes());
            dense = fresh.finish();
        }
        let offset = dense.offset * old / new;
        Ok(dense.with_layout(Layout::dense(ty.clone()), offset))
    }

    /// Returns this tensor, copied if its elements have gaps.
    pub fn contiguous(&self, context: &Context) -> Result<Tensor> {
        if self.is_contiguous() {
            return Ok(self.clone());
        }
        let mut fresh = OutputTensor::new(context, self.ty.clone())?;
        let strides = row_major(&self.ty.shape);
        fresh.write(self, 0, &strides);
        Ok(fresh.finish())
    }

    /// Writes elements into `target`, in row-major order, from the element with number `start` on.
    pub fn load(&self, start: usize, target: &mut [u8]) {
        with_width!(self.element().bytes(), T => {
            load::<T>(&self.ty.shape, self.data(), self.side(), start, bytemuck::cast_slice_mut(target))
        });
    }

    /// Returns the memory for writing if nothing else uses it and it is contiguous; otherwise a copy.
    pub fn into_fresh(self, context: &Context) -> Result<OutputTensor> {
        if self.offset != 0 || !self.is_contiguous() {
            let mut fresh = OutputTensor::new(context, self.ty.clone())?;
            let strides = row_major(self.shape());
            fresh.write(&self, 0, &strides);
            return Ok(fresh);
        }
        let layout = self.layout;
        match self.storage.own() {
            Ok(storage) => Ok(OutputTensor { layout, storage }),
            Err(storage) => {
                let mut fresh = OutputTensor::with_layout(context, &layout)?;
                let n = fresh.bytes_mut().len();
                fresh.bytes_mut().copy_from_slice(&storage.bytes()[..n]);
                Ok(fresh)
            }
        }
    }

    /// Returns the numbers of the tensors whose memory a result of a layout may take: those that are all of
    /// one storage, which nothing else uses.
    pub fn replaceable(tensors: &[Tensor], layout: &Layout) -> SmallVec<[usize; 4]> {
        let fits = |x: &Tensor| {
            let same_width = x.element().bytes() == layout.ty.element.bytes();
            x.offset == 0 && x.is_contiguous() && same_width && x.shape() == &layout.ty.shape[..]
        };
        for (i, x) in tensors.iter().enumerate().filter(|(_, x)| fits(x)) {
            match x.storage.owners() {
                1 => return SmallVec::from_elem(i, 1),
                // Others than these tensors own it too.
                owners if owners > tensors.len() => continue,
                _ => {}
            }
            let shares = |y: &Tensor| x.shares(y);
            let peers = (0..tensors.len()).filter(|i| shares(&tensors[*i]));
            let peers: SmallVec<[usize; 4]> = peers.collect();
            let is_free = x.storage.owners() == peers.len();
            if is_free && peers.iter().all(|i| fits(&tensors[*i])) {
                return peers;
            }
        }
        SmallVec::new()
    }

    /// Returns the memory with its contents as that of a result, if this is its last owner.
    pub fn into_memory(self, layout: &Arc<Layout>) -> Option<OutputTensor> {
        let storage = self.storage.own().ok()?;
        let layout = layout.clone();
        Some(OutputTensor { layout, storage })
    }

    /// Returns a buffer, which shares the memory where the tensor is all of it.
    pub fn into_buffer(self, context: &Context) -> Result<Buffer> {
        let dense = if self.offset == 0 && self.is_contiguous() {
            self
        } else {
            self.into_fresh(context)?.finish()
        };
        Ok(Buffer::from_storage(dense.layout, dense.storage))
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Tensor({} at {} by {:?})",
            self.ty, self.offset, self.strides
        )
    }
}

/// A contiguous tensor that is being written.
pub struct OutputTensor {
    layout: Arc<Layout>,
    storage: Storage,
}

impl Deref for OutputTensor {
    type Target = Layout;

    fn deref(&self) -> &Layout {
        &self.layout
    }
}

impl OutputTensor {
    /// Returns memory for a tensor, with any contents.
    ///
    /// # Errors
    /// Returns [`Error::Memory`] if the allocation fails.
    pub fn new(context: &Context, ty: TensorType) -> Result<OutputTensor> {
        OutputTensor::with_layout(context, &Layout::dense(ty))
    }

    /// Returns memory for a tensor of a dense layout, with any contents.
    ///
    /// # Errors
    /// Returns [`Error::Memory`] if the allocation fails.
    pub fn with_layout(context: &Context, layout: &Arc<Layout>) -> Result<OutputTensor> {
        let bytes = layout.bytes.ok_or_else(|| {
            Error::Memory(format!(
                "an array of type {}, which exceeds the address space",
                layout.ty
            ))
        })?;
        Ok(OutputTensor {
            storage: context.storage(bytes)?,
            layout: layout.clone(),
        })
    }

    /// Returns the bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let n = self.layout.bytes.unwrap_or(0);
        &mut self.storage.bytes_mut()[..n]
    }

    /// Returns the elements.
    pub fn slice_mut<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.bytes_mut())
    }

    /// Writes all elements of a tensor to positions given by an offset and strides.
    pub fn write(&mut self, source: &Tensor, offset: usize, strides: &[isize]) {
        let to = Side { offset, strides };
        with_width!(source.element().bytes(), T => {
            copy::<T>(source.shape(), source.data(), source.side(), self.slice_mut(), to)
        });
    }

    /// Returns the tensor.
    pub fn finish(self) -> Tensor {
        Tensor::from_storage(self.layout, self.storage.share())
    }
}
