//! Element types, shapes and types of tensors.

use smallvec::SmallVec;
use std::fmt;

/// Sizes of axes, or axis numbers.
pub type Dims = SmallVec<[usize; 6]>;

macro_rules! element_types {
    ($($variant:ident $name:literal $bits:literal;)*) => {
        /// The type of an element, with the name of StableHLO. In memory, an element has whole bytes:
        /// narrower types have one element in each byte.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ElementType {
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
        }

        impl ElementType {
            /// All element types.
            pub const ALL: &'static [ElementType] = &[$(ElementType::$variant),*];

            /// Returns the name in StableHLO text.
            pub const fn name(self) -> &'static str {
                match self { $(ElementType::$variant => $name,)* }
            }

            /// Returns the number of bits that carry information.
            pub const fn bits(self) -> usize {
                match self { $(ElementType::$variant => $bits,)* }
            }
        }
    };
}

element_types! {
    Bool "i1" 1;
    I2 "i2" 2;
    I4 "i4" 4;
    I8 "i8" 8;
    I16 "i16" 16;
    I32 "i32" 32;
    I64 "i64" 64;
    U2 "ui2" 2;
    U4 "ui4" 4;
    U8 "ui8" 8;
    U16 "ui16" 16;
    U32 "ui32" 32;
    U64 "ui64" 64;
    F4E2M1Fn "f4E2M1FN" 4;
    F8E3M4 "f8E3M4" 8;
    F8E4M3 "f8E4M3" 8;
    F8E4M3Fn "f8E4M3FN" 8;
    F8E4M3B11Fnuz "f8E4M3B11FNUZ" 8;
    F8E4M3Fnuz "f8E4M3FNUZ" 8;
    F8E5M2 "f8E5M2" 8;
    F8E5M2Fnuz "f8E5M2FNUZ" 8;
    F8E8M0Fnu "f8E8M0FNU" 8;
    Bf16 "bf16" 16;
    F16 "f16" 16;
    F32 "f32" 32;
    F64 "f64" 64;
    C64 "complex<f32>" 64;
    C128 "complex<f64>" 128;
}

impl ElementType {
    /// Returns the number of bytes of an element in memory.
    pub const fn bytes(self) -> usize {
        self.bits().div_ceil(8)
    }

    /// Returns the element type with this name in StableHLO text.
    pub fn named(name: &str) -> Option<ElementType> {
        ElementType::ALL.iter().copied().find(|t| t.name() == name)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of a tensor: its shape and the type of its elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Sizes of the axes, outermost first.
    pub shape: Dims,
    /// The type of the elements.
    pub element: ElementType,
}

impl TensorType {
    /// Returns the type of tensors of a shape.
    pub fn new(shape: &[usize], element: ElementType) -> TensorType {
        TensorType {
            shape: shape.into(),
            element,
        }
    }

    /// Returns the number of elements, or `None` if it is no `usize`.
    pub fn size(&self) -> Option<usize> {
        self.shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d))
    }

    /// Returns the number of bytes, or `None` if they exceed the address space.
    pub fn byte_size(&self) -> Option<usize> {
        let bytes = self.size()?.checked_mul(self.element.bytes())?;
        isize::try_from(bytes).ok().map(|_| bytes)
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensor<")?;
        for d in &self.shape {
            write!(f, "{d}x")?;
        }
        write!(f, "{}>", self.element)
    }
}
