//! Pictures: classified images and curves.

use super::{Result, glyphs};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

type Canvas<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

pub const GREEN: RGBColor = RGBColor(0, 140, 60);
pub const RED: RGBColor = RGBColor(210, 30, 30);
pub const BLUE: RGBColor = RGBColor(30, 90, 200);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// Creates the output directory.
pub fn folder(folder: &Path) -> Result {
    std::fs::create_dir_all(folder)
        .map_err(|e| format!("{}: the directory cannot be created: {e}", folder.display()).into())
}

/// Draws a picture of `size` and writes it as `name` in the directory.
pub fn write(
    folder: &Path,
    name: &str,
    size: (u32, u32),
    draw: impl FnOnce(&Canvas<'_>) -> Result,
) -> Result<PathBuf> {
    let mut pixels = vec![255; (size.0 * size.1 * 3) as usize];
    {
        let canvas = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
        draw(&canvas)?;
        canvas.present()?;
    }
    let path = folder.join(name);
    let write = || -> Result {
        let mut encoder = png::Encoder::new(BufWriter::new(File::create(&path)?), size.0, size.1);
        encoder.set_color(png::ColorType::Rgb);
        Ok(encoder.write_header()?.write_image_data(&pixels)?)
    };
    write().map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}

/// An image with its predicted label.
pub struct Tile {
    /// Pixels from 0 (white) to 1 (black), in row-major order.
    pub pixels: Vec<f32>,
    /// Pixels per row.
    pub width: usize,
    pub text: String,
    pub right: bool,
}

/// Draws images, ten per row, with their labels: green if correct, red if wrong.
pub fn tiles(folder: &Path, name: &str, tiles: &[Tile]) -> Result<PathBuf> {
    const COLUMNS: usize = 10;
    const TILE: (i32, i32) = (64, 80);
    /// Width of an image in the picture, in pixels.
    const IMAGE: i32 = 48;
    let rows = tiles.len().div_ceil(COLUMNS).max(1) as i32;
    let size = ((TILE.0 * COLUMNS as i32) as u32, (TILE.1 * rows) as u32);
    write(folder, name, size, |canvas| {
        for (i, tile) in tiles.iter().enumerate() {
            let zoom = (IMAGE / tile.width as i32).max(1);
            let side = zoom * tile.width as i32;
            let corner = ((i % COLUMNS) as i32 * TILE.0, (i / COLUMNS) as i32 * TILE.1);
            let (left, top) = (corner.0 + (TILE.0 - side) / 2, corner.1 + 6);
            for (p, value) in tile.pixels.iter().enumerate() {
                let (row, column) = ((p / tile.width) as i32, (p % tile.width) as i32);
                // Ink is dark on the white page.
                let shade = 255 - (value.clamp(0.0, 1.0) * 255.0) as u8;
                let (x, y) = (left + column * zoom, top + row * zoom);
                let ink = RGBColor(shade, shade, shade).filled();
                canvas.draw(&Rectangle::new([(x, y), (x + zoom, y + zoom)], ink))?;
            }
            let color = if tile.right { GREEN } else { RED };
            let frame = [(left - 1, top - 1), (left + side, top + side)];
            canvas.draw(&Rectangle::new(frame, color.stroke_width(1)))?;
            let x = corner.0 + (TILE.0 - glyphs::width(&tile.text, 2)) / 2;
            glyphs::draw(canvas, &tile.text, (x, top + side + 5), 2, color)?;
        }
        Ok(())
    })
}

/// Style of a curve.
#[derive(Clone, Copy, PartialEq)]
pub enum Mark {
    /// A line through the points.
    Line,
    /// A dot per point.
    Dot,
    /// A bar per point, centered at it.
    Bar,
}

/// Curve of a chart.
pub struct Curve<'a> {
    pub name: &'a str,
    pub color: RGBColor,
    pub mark: Mark,
    pub points: &'a [(f64, f64)],
}

/// Half of the width of a bar.
const HALF: f64 = 0.4;

/// Scale of the vertical axis.
#[derive(Clone, Copy, PartialEq)]
pub enum Scale {
    Linear,
    /// Logarithmic scale; values that are not positive are omitted.
    Logarithmic,
}

/// Draws the loss of every training step.
pub fn loss_curve(folder: &Path, losses: &[(f64, f64)]) -> Result<PathBuf> {
    let curve = Curve {
        name: "training loss",
        color: BLUE,
        mark: Mark::Line,
        points: losses,
    };
    curves(folder, "loss.png", "step", Scale::Logarithmic, &[curve])
}

/// Draws curves in one chart, with their names above it.
pub fn curves(
    folder: &Path,
    name: &str,
    x_label: &str,
    scale: Scale,
    curves: &[Curve<'_>],
) -> Result<PathBuf> {
    let height = |y: f64| match scale {
        Scale::Linear => y,
        Scale::Logarithmic => y.log10(),
    };
    let points = |curve: &Curve<'_>| -> Vec<(f64, f64)> {
        let points = curve.points.iter().map(|(x, y)| (*x, height(*y)));
        points.filter(|(_, y)| y.is_finite()).collect()
    };
    let mut all: Vec<(f64, f64)> = curves.iter().flat_map(points).collect();
    // Bars start at zero and have a width.
    for curve in curves.iter().filter(|curve| curve.mark == Mark::Bar) {
        let feet = points(curve).into_iter();
        all.extend(feet.flat_map(|(x, _)| [(x - HALF, 0.0), (x + HALF, 0.0)]));
    }
    let x_ticks = Ticks::of(all.iter().map(|p| p.0), 0.0);
    let whole = if scale == Scale::Linear { 0.0 } else { 1.0 };
    let y_ticks = Ticks::of(all.iter().map(|p| p.1), whole);
    write(folder, name, (800, 480), |canvas| {
        let plot = canvas.margin(36, 44, 84, 24);
        let (xs, ys) = (x_ticks.range(), y_ticks.range());
        let mut chart = ChartBuilder::on(&plot).build_cartesian_2d(xs.0..xs.1, ys.0..ys.1)?;
        for y in y_ticks.places() {
            chart.draw_series(LineSeries::new([(xs.0, y), (xs.1, y)], GRID))?;
            let at = chart.backend_coord(&(xs.0, y));
            let text = match scale {
                Scale::Linear => y_ticks.label(y),
                Scale::Logarithmic => format!("{:.*}", (-y).max(0.0) as usize, 10f64.powf(y)),
            };
            let at = (
                at.0 - 8 - glyphs::width(&text, 2),
                at.1 - glyphs::height(2) / 2,
            );
            glyphs::draw(canvas, &text, at, 2, BLACK)?;
        }
        for x in x_ticks.places() {
            chart.draw_series(LineSeries::new([(x, ys.0), (x, ys.1)], GRID))?;
            let at = chart.backend_coord(&(x, ys.0));
            let text = x_ticks.label(x);
            let at = (at.0 - glyphs::width(&text, 2) / 2, at.1 + 8);
            glyphs::draw(canvas, &text, at, 2, BLACK)?;
        }
        let mut left = 84;
        for curve in curves {
            let (color, points) = (curve.color, points(curve));
            match curve.mark {
                Mark::Line => {
                    chart.draw_series(LineSeries::new(points, color.stroke_width(2)))?;
                }
                Mark::Dot => {
                    let dot = |at| Circle::new(at, 3, color.filled());
                    chart.draw_series(points.into_iter().map(dot))?;
                }
                Mark::Bar => {
                    let bar = |(x, y)| [(x - HALF, 0.0), (x + HALF, y)];
                    let bar = |point| Rectangle::new(bar(point), color.filled());
                    chart.draw_series(points.into_iter().map(bar))?;
                }
            }
            glyphs::draw(canvas, curve.name, (left, 10), 2, curve.color)?;
            left += glyphs::width(curve.name, 2) + 36;
        }
        let at = chart.backend_coord(&(xs.1, ys.0));
        let at = (at.0 - glyphs::width(x_label, 2), at.1 + 26);
        Ok(glyphs::draw(canvas, x_label, at, 2, BLACK)?)
    })
}

/// Round numbers along an axis that cover the displayed values.
struct Ticks {
    first: i64,
    last: i64,
    /// Distance between two ticks.
    step: f64,
}

impl Ticks {
    /// Creates about five ticks, at least `apart` from each other.
    fn of(values: impl Iterator<Item = f64> + Clone, apart: f64) -> Ticks {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let fifth = ((high - low) / 5.0).max(1e-9);
        let decade = 10f64.powf(fifth.log10().floor());
        let round = [1.0, 2.0, 5.0, 10.0].map(|n| n * decade);
        let step = round.into_iter().find(|step| *step >= fifth);
        let step = step.unwrap_or(fifth).max(apart);
        let first = (low / step).floor() as i64;
        let last = ((high / step).ceil() as i64).max(first + 1);
        Ticks { first, last, step }
    }

    fn places(&self) -> impl Iterator<Item = f64> {
        (self.first..=self.last).map(|i| i as f64 * self.step)
    }

    fn range(&self) -> (f64, f64) {
        (self.first as f64 * self.step, self.last as f64 * self.step)
    }

    fn label(&self, place: f64) -> String {
        let digits = (-self.step.log10().floor()).max(0.0) as usize;
        format!("{place:.digits$}")
    }
}
