//! Properties of dtypes, and elements narrower than sixteen bits (`jax.dtypes`, `jax.numpy`).
//!
//! ```
//! use ramie_core::{DType, dtypes};
//!
//! assert_eq!(dtypes::promote_types(DType::I32, DType::F32), DType::F32);
//! ```

pub use crate::functions::ops::result_type;
pub use crate::types::dtype_info::{
    DTypeKind, FloatInfo, IntInfo, can_cast, finfo, iinfo, issubdtype,
};
pub use crate::types::narrow::{
    F4E2M1Fn, F8E4M3Fn, F8E4M3Fnuz, F8E5M2, F8E5M2Fnuz, F8E8M0Fnu, I2, I4, U2, U4,
};
pub use crate::types::promotion::promote_types;
pub use crate::types::scalar::{Literal, Scalar};
