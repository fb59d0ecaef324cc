//! A trainer: the loop over batches that every training program contains, with validation, metrics,
//! checkpoints, exact resuming and progress.
//!
//! Most users depend on the crate `ramie`, which re-exports this one as `ramie::train`.
//!
//! ```
//! use ndarray::{Array1, Array2};
//! use ramie_core::Array;
//! use ramie_data::DataLoader;
//! use ramie_nn::{Linear, Rngs};
//! use ramie_optim::adam;
//! use ramie_train::{Trainer, Training};
//!
//! // Points with two coordinates, and their sums.
//! let x = Array2::from_shape_fn((200, 2), |(i, j)| ((i * 7 + j * 3) % 10) as f32 / 10.0);
//! let y: Array1<f32> = x.rows().into_iter().map(|row| row.sum()).collect();
//! let (train, test) = ((x.clone(), y.clone()), (x, y));
//!
//! fn loss(model: &mut Linear, x: Array, y: Array) -> Array {
//!     (model.forward(&x).squeeze(&[-1]) - y).square().mean()
//! }
//!
//! let mut state = Training::new(Linear::new(2, 1, &mut Rngs::new(0)), adam(0.05));
//! let history = Trainer::new(loss)
//!     .epochs(20)
//!     .validate(DataLoader::new(test).batch_size(100))
//!     .quiet()
//!     .fit(&mut state, DataLoader::new(train).batch_size(20).shuffle(0))?;
//! assert_eq!(history.get("loss").len(), 200);
//! assert!(history.last("val_loss").unwrap() < 0.01);
//! # Ok::<(), ramie_train::Error>(())
//! ```
//!
//! # Parts
//! - [`Trainer`]: the settings, and [`fit`](Trainer::fit), which runs them. [`Trainer::new`] takes a
//!   loss, [`Trainer::from_step`] any train step.
//! - [`Training`]: a model with its optimizer, the state of a trainer that was created from a loss.
//! - [`Batches`]: a [`DataLoader`](ramie_data::DataLoader), the [`Same`] batch in each step, or
//!   several steps [`PerCall`].
//! - [`EarlyStopping`], [`Monitor`], [`Callback`], [`Progress`]: early stopping, the best state,
//!   extensions, and displays.
//! - [`progress`]: a progress bar for any other loop.
//! - [`History`]: the metrics of a run, also read from its folder.
//!
//! With the feature `dashboard`, `Trainer::dashboard` fills the terminal with loss curves, rates and
//! memory.
//!
//! Everything a trainer does is possible with the functions of the other crates; it adds no step of
//! its own to the computation.
#![forbid(unsafe_code)]

mod batches;
mod callback;
mod checkpoints;
#[cfg(feature = "dashboard")]
pub mod dashboard;
mod error;
mod exit;
mod fit;
mod folder;
mod history;
mod monitor;
mod names;
mod number;
mod progress;
mod progress_iter;
mod recorder;
mod resume;
mod trainer;
mod training;
mod validation;
pub mod writers;

pub use batches::{Batches, PerCall, Same, SameIter};
pub use callback::{Callback, Context};
pub use checkpoints::is_finished;
pub use error::{Error, Result, Stopped};
pub use exit::exit_code;
pub use history::History;
pub use monitor::{EarlyStopping, Monitor};
pub use progress::{Bar, Progress, Status};
pub use progress_iter::{ProgressIter, progress};
pub use resume::Resume;
pub use trainer::Trainer;
pub use training::Training;
