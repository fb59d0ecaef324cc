//! Items used by derived code; not part of the public interface.

pub use crate::variable::is_state;
pub use ramie_core;
