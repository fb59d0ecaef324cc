//! Grids of images.

use crate::pixels::{IntoPixels, Pixels};
use crate::{Anchor, Area, Color, Colormap, Drawing, Font, Result, TextStyle};
use std::fmt::Display;
use std::ops::Range;
use std::path::Path;

/// A grid of images with captions, such as predictions of a classifier.
///
/// The array is gray `[n, h, w]` or `[n, h, w, 1]`, or RGB `[n, h, w, 3]`. Floats range from 0
/// (black) to 1 (white), integers from 0 to 255. Values outside are clipped; NaN counts as the
/// lower limit.
///
/// ```
/// use ndarray::Array3;
/// use ramie_plot::{Colormap, Images};
///
/// let images = Array3::from_shape_fn((6, 8, 8), |(n, y, x)| if x + y <= 2 * n { 1.0 } else { 0.0 });
/// let (labels, predicted) = ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 9, 5]);
/// let grid = Images::new(&images)
///     .columns(3)
///     .colormap(Colormap::Greys) // ink on white paper
///     .captions(predicted)
///     .correct(labels.iter().zip(&predicted).map(|(a, b)| a == b)); // green and red
/// # let path = std::env::temp_dir().join(format!("ramie-grid-{}.png", std::process::id()));
/// grid.save(&path)?;
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Images {
    pixels: Pixels,
    title: String,
    columns: usize,
    tile: f64,
    captions: Vec<String>,
    colors: Vec<Color>,
    colormap: Colormap,
    range: (f64, f64),
}

const GAP: f64 = 8.0;
const CAPTION: TextStyle = TextStyle::new(14.0).anchor(Anchor::Middle);
const TITLE: TextStyle = TextStyle::new(15.0).anchor(Anchor::Middle);

impl Images {
    /// Creates a grid with ten images per row.
    ///
    /// # Panics
    /// Panics if the array has another shape than `[n, h, w]`, `[n, h, w, 1]` and `[n, h, w, 3]`,
    /// or images without pixels.
    #[track_caller]
    pub fn new(images: impl IntoPixels) -> Images {
        let pixels = images.into_pixels();
        match pixels.shape[..] {
            [_, h, w] | [_, h, w, 1 | 3] if h * w > 0 => {}
            _ => panic!(
                "Images: an array of shape {:?} is not a batch of images\n  help: pass [n, h, w] or \
                 [n, h, w, 3]; add an axis to a single image: image.expand_dims(0)",
                pixels.shape
            ),
        }
        Images {
            range: pixels.limits(),
            pixels,
            title: String::new(),
            columns: 10,
            tile: 56.0,
            captions: Vec::new(),
            colors: Vec::new(),
            colormap: Colormap::Gray,
        }
    }

    /// Sets the title, above the images.
    pub fn title(mut self, title: impl Into<String>) -> Images {
        self.title = title.into();
        self
    }

    /// Sets the number of images per row.
    ///
    /// # Panics
    /// Panics if it is 0.
    #[track_caller]
    pub fn columns(mut self, columns: usize) -> Images {
        assert!(columns > 0, "Images: a row must have at least 1 column");
        self.columns = columns;
        self
    }

    /// Sets the width of an image in the picture, in pixels. Defaults to 56. The pixels of small
    /// images are enlarged by a whole number, so the width may be smaller.
    ///
    /// # Panics
    /// Panics if it is 0.
    #[track_caller]
    pub fn tile(mut self, width: u32) -> Images {
        assert!(width > 0, "Images: an image must be at least 1 pixel wide");
        self.tile = width.into();
        self
    }

    /// Sets the texts below the images. Images beyond the last caption have none.
    pub fn captions<C: Display>(mut self, captions: impl IntoIterator<Item = C>) -> Images {
        self.captions = captions.into_iter().map(|c| c.to_string()).collect();
        self
    }

    /// Sets the colors of the captions and frames. Images beyond the last color have a black
    /// caption and no frame.
    pub fn colors(mut self, colors: impl IntoIterator<Item = Color>) -> Images {
        self.colors = colors.into_iter().collect();
        self
    }

    /// Colors captions and frames: [`Color::GREEN`] if a prediction is correct, [`Color::RED`] if
    /// it is wrong.
    pub fn correct(self, correct: impl IntoIterator<Item = bool>) -> Images {
        let color = |correct| if correct { Color::GREEN } else { Color::RED };
        self.colors(correct.into_iter().map(color))
    }

    /// Sets the colors of gray images. Defaults to [`Colormap::Gray`].
    pub fn colormap(mut self, colormap: Colormap) -> Images {
        self.colormap = colormap;
        self
    }

    /// Sets the values that have the first and the last color.
    ///
    /// # Panics
    /// Panics if the range is empty or a limit is not finite.
    #[track_caller]
    pub fn range(mut self, range: Range<f64>) -> Images {
        self.range = crate::plot::checked("range", range);
        self
    }

    /// Draws the images.
    ///
    /// # Panics
    /// Panics if the picture would have more than 16,384 pixels in a direction.
    #[track_caller]
    #[must_use]
    pub fn drawing(&self) -> Drawing {
        let count = self.pixels.shape[0];
        let (height, width) = (self.pixels.shape[1], self.pixels.shape[2]);
        let zoom = self.tile / width as f64;
        let zoom = if zoom >= 1.0 { zoom.floor() } else { zoom };
        let (wide, high) = (
            (width as f64 * zoom).round(),
            (height as f64 * zoom).round(),
        );
        let caption = |text: &String| Font::Sans.width(text, CAPTION.size).ceil();
        let widest = self
            .captions
            .iter()
            .take(count)
            .map(caption)
            .fold(wide, f64::max);
        let below = if self.captions.is_empty() { 0.0 } else { 18.0 };
        let cell = (widest + GAP, high + below + GAP);
        let columns = self.columns.min(count.max(1));
        let top = if self.title.is_empty() {
            GAP / 2.0
        } else {
            32.0
        };
        let rows = count.div_ceil(columns);
        let title = Font::Sans.width(&self.title, TITLE.size).ceil() + 2.0 * GAP;
        let full = (cell.0 * columns as f64).max(title);
        let mut drawing = Drawing::new(
            pixels_of(full),
            pixels_of(top + cell.1 * rows as f64 + GAP / 2.0),
        );
        if !self.title.is_empty() {
            drawing.text((full / 2.0, 22.0), &self.title, TITLE);
        }
        for i in 0..count {
            let (row, column) = (i / columns, i % columns);
            let left = (column as f64 * cell.0 + (cell.0 - wide) / 2.0).floor();
            let area = Area::new(left, top + row as f64 * cell.1 + GAP / 2.0, wide, high);
            self.draw_tile(&mut drawing, i, area, width);
        }
        drawing
    }

    fn draw_tile(&self, drawing: &mut Drawing, i: usize, area: Area, columns: usize) {
        let color = self.colors.get(i).copied();
        if let Some(color) = color {
            let (left, top) = (area.left - 2.0, area.top - 2.0);
            let around = Area::new(left, top, area.width + 4.0, area.height + 4.0);
            drawing.rectangle(around, color);
        }
        drawing.pixels(area, columns, self.rgb(i));
        if let Some(caption) = self.captions.get(i) {
            let at = (area.left + area.width / 2.0, area.bottom() + 16.0);
            drawing.text(at, caption, CAPTION.color(color.unwrap_or(Color::BLACK)));
        }
    }

    /// Returns three bytes per pixel of an image.
    fn rgb(&self, i: usize) -> Vec<u8> {
        let size = self.pixels.shape[1..].iter().product::<usize>();
        let values = &self.pixels.values[i * size..][..size];
        let (low, high) = self.range;
        let fraction = |value: &f64| (value - low) / (high - low);
        match self.pixels.shape.get(3) {
            Some(3) => {
                // The cast clips, and maps NaN to 0.
                let byte = |value| (fraction(value) * 255.0).round() as u8;
                values.iter().map(byte).collect()
            }
            _ => {
                let color = |value| self.colormap.color(fraction(value));
                let colors = values.iter().map(color);
                colors.flat_map(|c| [c.red, c.green, c.blue]).collect()
            }
        }
    }

    /// Writes the grid as a PNG or SVG file, depending on the ending of its name.
    ///
    /// # Errors
    /// Returns an error if the name has another ending or the file cannot be written.
    ///
    /// # Panics
    /// Panics if the picture would have more than 16,384 pixels in a direction.
    #[track_caller]
    pub fn save(&self, path: impl AsRef<Path>) -> Result {
        self.drawing().save(path)
    }
}

/// Returns a length of at least one pixel.
pub(crate) fn pixels_of(length: f64) -> u32 {
    length.ceil().max(1.0) as u32
}
