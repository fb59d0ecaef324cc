//! Plots, grids of images and heat maps, as PNG and SVG files.
//!
//! Part of Ramie; see the `ramie` crate, which re-exports this one as `ramie::plot` with its
//! feature `plots`.
//!
//! - [`Plot`]: lines, dots and bars, with linear and logarithmic axes.
//! - [`Images`]: a grid of images with captions, such as predictions of a classifier.
//! - [`HeatMap`]: a matrix with a color bar, such as attention weights or a confusion matrix.
//! - [`write_image`]: one image as it is.
//! - [`Drawing`]: shapes and texts at any place.
//!
//! Arrays are Ramie's `Array` or those of the `ndarray` crate. Texts are in DejaVu Sans, which is
//! part of this crate, so pictures look the same on all machines. No system library is used.
//!
//! ```
//! use ramie_plot::Plot;
//!
//! let losses = [2.3, 1.1, 0.7, 0.5, 0.45];
//! # let path = std::env::temp_dir().join(format!("ramie-first-{}.png", std::process::id()));
//! Plot::new().x_label("epoch").y_label("loss").line("", losses).save(&path)?;
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors
//!
//! Files that cannot be written are a [`Result`] with the file's name. Arrays of wrong shapes are
//! mistakes of the caller, and panic at the caller's line. Empty plots and points that cannot be
//! drawn are neither: the picture shows what can be drawn.
#![forbid(unsafe_code)]

mod axes;
mod color;
mod drawing;
mod error;
mod font;
mod heatmap;
mod image;
mod images;
mod legend;
mod pixels;
mod plot;
mod point;
mod raster;
mod series;
mod svg;
mod ticks;

pub use color::{Color, Colormap};
pub use drawing::{Anchor, Area, Drawing, TextStyle};
pub use error::{Error, Result};
pub use font::Font;
pub use heatmap::HeatMap;
pub use image::write_image;
pub use images::Images;
pub use legend::Legend;
pub use pixels::{IntoPixels, Pixels, Shade};
pub use plot::Plot;
pub use point::{Number, Point};
