//! Pipelines: the methods that add stages to sources and streams.
//!
//! [`Source`](crate::Source) and [`Stream`](crate::Stream) do not have these methods, because each
//! trait would then name all stages that implement it.

mod applied;
mod seeded;
mod source;
mod stream;

pub use applied::Applied;
pub use seeded::Seeded;
pub use source::SourceExt;
pub use stream::StreamExt;
