//! Heat maps of matrices.

use crate::axes::{Axes, Axis, Margins, TICK_TEXT};
use crate::images::pixels_of;
use crate::pixels::{IntoPixels, Pixels};
use crate::ticks::{Scale, Tick};
use crate::{Anchor, Area, Color, Colormap, Drawing, Font, Result, TextStyle};
use std::ops::Range;
use std::path::Path;

/// A matrix as colored cells with a color bar: attention weights, a confusion matrix.
///
/// The matrix is `[rows, columns]`; the first row is at the top. Cells that are NaN or infinite
/// are gray.
///
/// ```
/// use ndarray::array;
/// use ramie_plot::{Colormap, HeatMap};
///
/// let counts = array![[50, 2, 0], [3, 45, 1], [0, 4, 48]];
/// let confusion = HeatMap::new(&counts)
///     .title("Confusion matrix")
///     .x_label("predicted")
///     .y_label("label")
///     .names(["cat", "dog", "owl"])
///     .colormap(Colormap::Blues)
///     .values(); // writes the counts into the cells
/// # let path = std::env::temp_dir().join(format!("ramie-heat-{}.png", std::process::id()));
/// confusion.save(&path)?;
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct HeatMap {
    pixels: Pixels,
    title: String,
    x_label: String,
    y_label: String,
    row_names: Vec<String>,
    column_names: Vec<String>,
    colormap: Colormap,
    range: Option<(f64, f64)>,
    values: bool,
    cell: Option<u32>,
}

/// Color of cells without a finite value.
const BAD: Color = Color::rgb(200, 200, 200);
/// Width of the color bar, and its distance from the cells.
const BAR: f64 = 16.0;

impl HeatMap {
    /// Creates a heat map.
    ///
    /// # Panics
    /// Panics if the array is not a matrix or has no element.
    #[track_caller]
    pub fn new(matrix: impl IntoPixels) -> HeatMap {
        let pixels = matrix.into_pixels();
        match pixels.shape[..] {
            [rows, columns] if rows * columns > 0 => {}
            _ => panic!(
                "HeatMap: an array of shape {:?} is not a matrix with elements\n  help: pass \
                 [rows, columns], such as one head of attention weights: weights.index((0, 0))",
                pixels.shape
            ),
        }
        HeatMap {
            pixels,
            title: String::new(),
            x_label: String::new(),
            y_label: String::new(),
            row_names: Vec::new(),
            column_names: Vec::new(),
            colormap: Colormap::Viridis,
            range: None,
            values: false,
            cell: None,
        }
    }

    /// Sets the title, above the cells.
    pub fn title(mut self, title: impl Into<String>) -> HeatMap {
        self.title = title.into();
        self
    }

    /// Sets the label of the columns.
    pub fn x_label(mut self, label: impl Into<String>) -> HeatMap {
        self.x_label = label.into();
        self
    }

    /// Sets the label of the rows.
    pub fn y_label(mut self, label: impl Into<String>) -> HeatMap {
        self.y_label = label.into();
        self
    }

    /// Names the rows, instead of numbering them.
    pub fn row_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> HeatMap {
        self.row_names = names.into_iter().map(Into::into).collect();
        self
    }

    /// Names the columns, instead of numbering them.
    pub fn column_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> HeatMap {
        self.column_names = names.into_iter().map(Into::into).collect();
        self
    }

    /// Names both the rows and the columns, such as the classes of a confusion matrix.
    pub fn names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> HeatMap {
        self.row_names = names.into_iter().map(Into::into).collect();
        self.column_names = self.row_names.clone();
        self
    }

    /// Sets the colors. Defaults to [`Colormap::Viridis`].
    pub fn colormap(mut self, colormap: Colormap) -> HeatMap {
        self.colormap = colormap;
        self
    }

    /// Sets the values that have the first and the last color. Defaults to the smallest and the
    /// largest element.
    ///
    /// # Panics
    /// Panics if the range is empty or a limit is not finite.
    #[track_caller]
    pub fn range(mut self, range: Range<f64>) -> HeatMap {
        self.range = Some(crate::plot::checked("range", range));
        self
    }

    /// Writes the element into each cell: integers as they are, floats with two digits after the
    /// point.
    pub fn values(mut self) -> HeatMap {
        self.values = true;
        self
    }

    /// Sets the width and height of a cell in pixels. By default the cells fill about 400 pixels.
    ///
    /// # Panics
    /// Panics if it is 0.
    #[track_caller]
    pub fn cell(mut self, pixels: u32) -> HeatMap {
        assert!(pixels > 0, "HeatMap: a cell must be at least 1 pixel wide");
        self.cell = Some(pixels);
        self
    }

    fn size(&self) -> (usize, usize) {
        (self.pixels.shape[0], self.pixels.shape[1])
    }

    /// Returns the values with the first and the last color.
    fn limits(&self) -> (f64, f64) {
        let (low, high) = self.range.or(self.pixels.extremes()).unwrap_or((0.0, 1.0));
        if low < high {
            (low, high)
        } else {
            (low - 0.5, low + 0.5)
        }
    }

    fn text(&self, value: f64) -> String {
        if self.pixels.integer {
            format!("{value}")
        } else {
            format!("{value:.2}")
        }
    }

    /// Chooses the size of a cell; values need their width.
    fn cell_size(&self) -> f64 {
        let (rows, columns) = self.size();
        let least = if self.values {
            let text = |v: &f64| Font::Sans.width(&self.text(*v), TICK_TEXT.size);
            let widest = self.pixels.values.iter().map(text).fold(0.0, f64::max);
            (widest + 10.0).ceil()
        } else {
            1.0
        };
        let fitting = (400.0 / rows.max(columns) as f64).floor().clamp(1.0, 48.0);
        self.cell.map_or(fitting.max(least), f64::from)
    }

    /// Draws the heat map.
    ///
    /// # Panics
    /// Panics if the picture would have more than 16,384 pixels in a direction.
    #[track_caller]
    #[must_use]
    pub fn drawing(&self) -> Drawing {
        let (rows, columns) = self.size();
        let cell = self.cell_size();
        let x = axis(columns, cell, &self.column_names, &self.x_label);
        let mut y = axis(rows, cell, &self.row_names, &self.y_label);
        // The first row is at the top.
        for tick in &mut y.ticks {
            tick.value = rows as f64 - 1.0 - tick.value;
        }
        let margins = Margins::new(&self.title, &x, &y);
        let (wide, high) = (cell * columns as f64, cell * rows as f64);
        let area = Area::new(margins.left.round(), margins.top.round(), wide, high);
        let limits = self.limits();
        let count = ((high / 50.0) as usize).clamp(1, 8);
        let scale = Scale::Linear.ticks(limits.0..=limits.1, count);
        let label = |tick: &Tick| Font::Sans.width(&tick.label, TICK_TEXT.size);
        let labels = scale.iter().map(label).fold(0.0, f64::max);
        let title = Font::Sans.width(&self.title, 15.0) / 2.0;
        let right =
            (area.right() + 2.0 * BAR + labels + 20.0).max(area.left + wide / 2.0 + title + 8.0);
        let bottom = area.bottom() + margins.bottom;
        let mut drawing = Drawing::new(pixels_of(right), pixels_of(bottom));
        let colors = self.pixels.values.iter().map(|v| self.color(*v, limits));
        let colors: Vec<Color> = colors.collect();
        drawing.pixels(area, columns, bytes(&colors));
        if self.values {
            self.draw_values(&mut drawing, area, cell, &colors);
        }
        Axes { area, x, y }.draw_frame(&mut drawing, &self.title);
        self.draw_bar(&mut drawing, area, limits, &scale);
        drawing
    }

    fn color(&self, value: f64, (low, high): (f64, f64)) -> Color {
        if value.is_finite() {
            self.colormap.color((value - low) / (high - low))
        } else {
            BAD
        }
    }

    fn draw_values(&self, drawing: &mut Drawing, area: Area, cell: f64, colors: &[Color]) {
        let columns = self.size().1;
        for (i, (value, color)) in self.pixels.values.iter().zip(colors).enumerate() {
            let (row, column) = ((i / columns) as f64, (i % columns) as f64);
            let at = (
                area.left + (column + 0.5) * cell,
                area.top + (row + 0.5) * cell + 4.5,
            );
            let style = TICK_TEXT.anchor(Anchor::Middle);
            let style = if color.is_dark() {
                style.color(Color::WHITE)
            } else {
                style
            };
            drawing.text(at, &self.text(*value), style);
        }
    }

    fn draw_bar(
        &self,
        drawing: &mut Drawing,
        cells: Area,
        (low, high): (f64, f64),
        ticks: &[Tick],
    ) {
        const STEPS: u32 = 256;
        let area = Area::new(cells.right() + BAR, cells.top, BAR, cells.height);
        let colors = (0..STEPS)
            .rev()
            .map(|i| f64::from(i) / f64::from(STEPS - 1));
        let colors: Vec<Color> = colors.map(|f| self.colormap.color(f)).collect();
        drawing.pixels(area, 1, bytes(&colors));
        for tick in ticks {
            let fraction = (tick.value - low) / (high - low);
            let y = (area.bottom() - fraction * area.height).floor() + 0.5;
            let right = area.right();
            drawing.line(vec![(right, y), (right + 4.0, y)], Color::GRAY, 1.0);
            let style: TextStyle = TICK_TEXT;
            drawing.text((right + 8.0, y + 4.5), &tick.label, style);
        }
    }

    /// Writes the heat map as a PNG or SVG file, depending on the ending of its name.
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

/// Returns the three bytes of each color.
fn bytes(colors: &[Color]) -> Vec<u8> {
    colors
        .iter()
        .flat_map(|c| [c.red, c.green, c.blue])
        .collect()
}

/// Returns an axis over cells, with a tick at the center of each or, of many, at some.
fn axis(count: usize, cell: f64, names: &[String], label: &str) -> Axis {
    let (low, high) = (-0.5, count as f64 - 0.5);
    let ticks = match names {
        [] if cell >= 20.0 => (0..count).map(|i| (i, i.to_string())).collect(),
        [] => {
            let most = ((count as f64 * cell / 40.0) as usize).max(1);
            let ticks = Scale::Linear.ticks(0.0..=high, most);
            let whole = ticks.iter().filter(|tick| tick.value.fract() == 0.0);
            whole
                .map(|tick| (tick.value as usize, format!("{}", tick.value)))
                .collect()
        }
        names => (0..count).zip(names.iter().cloned()).collect::<Vec<_>>(),
    };
    let tick = |(i, label)| Tick {
        value: i as f64,
        label,
    };
    Axis {
        scale: Scale::Linear,
        low,
        high,
        ticks: ticks.into_iter().map(tick).collect(),
        label: label.to_string(),
    }
}
