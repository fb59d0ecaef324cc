//! A dashboard in the terminal.
//!
//! [`Trainer::dashboard`](crate::Trainer::dashboard) shows a run's loss curves, metrics, rates,
//! memory and messages. Programs with a loop of their own draw a [`View`] with [`draw`] in their
//! own [`ratatui`] application:
//!
//! ```
//! use ramie_train::Status;
//! use ramie_train::dashboard::{View, draw};
//! use ratatui::{Terminal, backend::TestBackend};
//!
//! let mut view = View::default();
//! for step in 1..=100 {
//!     let metrics = vec![("loss".to_string(), 1.0 / step as f64)];
//!     view.step(&Status { step, total: 200, metrics, ..Status::default() });
//! }
//! let mut terminal = Terminal::new(TestBackend::new(80, 24))?;
//! terminal.draw(|frame| draw(&view, frame))?;
//! assert!(terminal.backend().to_string().contains("step 100/200"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod curve;
mod draw;
mod format;
mod memory;
mod terminal;
mod view;

pub use curve::Curve;
pub use draw::draw;
pub use memory::Memory;
pub use terminal::Dashboard;
pub use view::View;
