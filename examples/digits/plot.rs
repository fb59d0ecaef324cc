//! The pictures: predictions on test images, and the loss curve.

use crate::glyphs;
use plotters::coord::Shift;
use plotters::prelude::*;
use ramie::data::digits::Split;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

type Canvas<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

const RIGHT: RGBColor = RGBColor(0, 140, 60);
const WRONG: RGBColor = RGBColor(210, 30, 30);
const CURVE: RGBColor = RGBColor(30, 90, 200);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// Draws a picture of `size` and writes it as `name` in the folder.
fn picture(
    folder: &Path,
    name: &str,
    size: (u32, u32),
    draw: impl FnOnce(&Canvas<'_>) -> Result<(), Box<dyn Error>>,
) -> Result<PathBuf, Box<dyn Error>> {
    let mut pixels = vec![255; (size.0 * size.1 * 3) as usize];
    {
        let canvas = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
        draw(&canvas)?;
        canvas.present()?;
    }
    let path = folder.join(name);
    let write = || -> Result<(), Box<dyn Error>> {
        let mut encoder = png::Encoder::new(BufWriter::new(File::create(&path)?), size.0, size.1);
        encoder.set_color(png::ColorType::Rgb);
        Ok(encoder.write_header()?.write_image_data(&pixels)?)
    };
    write().map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}

/// The first 100 test images, each with the digit that the model takes it for:
/// green where it is right, red where it is wrong.
pub fn predictions(
    folder: &Path,
    data: &Split,
    predicted: &[i32],
) -> Result<PathBuf, Box<dyn Error>> {
    /// Pixels of the picture for a pixel of an image.
    const ZOOM: i32 = 6;
    const COLUMNS: usize = 10;
    const TILE: (i32, i32) = (64, 80);
    let shown = data.len().min(100);
    let rows = shown.div_ceil(COLUMNS) as i32;
    let size = ((TILE.0 * COLUMNS as i32) as u32, (TILE.1 * rows) as u32);
    picture(folder, "predictions.png", size, |canvas| {
        for (i, image) in data.images.outer_iter().take(shown).enumerate() {
            let corner = ((i % COLUMNS) as i32 * TILE.0, (i / COLUMNS) as i32 * TILE.1);
            let left = corner.0 + (TILE.0 - 8 * ZOOM) / 2;
            let top = corner.1 + 6;
            for ((row, column), value) in image.indexed_iter() {
                // Ink is dark on the white page: brightness 16 is full ink.
                let shade = 255 - (value / 16.0 * 255.0) as u8;
                let (x, y) = (left + column as i32 * ZOOM, top + row as i32 * ZOOM);
                let square = [(x, y), (x + ZOOM, y + ZOOM)];
                canvas.draw(&Rectangle::new(
                    square,
                    RGBColor(shade, shade, shade).filled(),
                ))?;
            }
            let text = predicted[i].to_string();
            let color = if predicted[i] == data.labels[i] {
                RIGHT
            } else {
                WRONG
            };
            let frame = [(left - 1, top - 1), (left + 8 * ZOOM, top + 8 * ZOOM)];
            canvas.draw(&Rectangle::new(frame, color.stroke_width(1)))?;
            let at = (
                corner.0 + (TILE.0 - glyphs::width(&text, 2)) / 2,
                top + 8 * ZOOM + 5,
            );
            glyphs::draw(canvas, &text, at, 2, color)?;
        }
        Ok(())
    })
}

/// The training loss before each step, on a logarithmic scale.
pub fn loss_curve(folder: &Path, losses: &[f32]) -> Result<PathBuf, Box<dyn Error>> {
    let points = (0..).map(|i| i as f32).zip(losses.iter().copied());
    let points: Vec<(f32, f32)> = points.filter(|(_, l)| l.is_finite() && *l > 0.0).collect();
    let logs = || points.iter().map(|(_, l)| l.log10());
    let lowest = logs().fold(0.0, f32::min).floor() as i32;
    let highest = logs().fold(0.0, f32::max).ceil() as i32;
    let (lowest, highest) = (lowest, highest.max(lowest + 1));
    let range = 10f32.powi(lowest)..10f32.powi(highest);
    let last = losses.len().max(5) as f32;
    picture(folder, "loss.png", (800, 480), |canvas| {
        let plot = canvas.margin(36, 44, 84, 24);
        let mut chart =
            ChartBuilder::on(&plot).build_cartesian_2d(0f32..last, range.clone().log_scale())?;
        for exponent in lowest..=highest {
            let value = 10f32.powi(exponent);
            chart.draw_series(LineSeries::new([(0.0, value), (last, value)], GRID))?;
            let (x, y) = chart.backend_coord(&(0.0, value));
            let text = format!("{value:.*}", (-exponent).max(0) as usize);
            let at = (x - 8 - glyphs::width(&text, 2), y - glyphs::height(2) / 2);
            glyphs::draw(canvas, &text, at, 2, BLACK)?;
        }
        for step in (0..=5).map(|i| (last * i as f32 / 5.0).round()) {
            chart.draw_series(LineSeries::new(
                [(step, range.start), (step, range.end)],
                GRID,
            ))?;
            let (x, y) = chart.backend_coord(&(step, range.start));
            let text = format!("{step}");
            let at = (x - glyphs::width(&text, 2) / 2, y + 8);
            glyphs::draw(canvas, &text, at, 2, BLACK)?;
        }
        chart.draw_series(LineSeries::new(points, CURVE.stroke_width(2)))?;
        glyphs::draw(canvas, "training loss", (84, 10), 2, BLACK)?;
        let (x, y) = chart.backend_coord(&(last, range.start));
        glyphs::draw(
            canvas,
            "step",
            (x - glyphs::width("step", 2), y + 26),
            2,
            BLACK,
        )?;
        Ok(())
    })
}
