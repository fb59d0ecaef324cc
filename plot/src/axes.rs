//! A frame with ticks, a grid and labels.

use crate::ticks::{Scale, Tick};
use crate::{Anchor, Area, Color, Drawing, Font, TextStyle};

const GRID: Color = Color::rgb(226, 226, 226);
const MINOR: Color = Color::rgb(241, 241, 241);
const FRAME: Color = Color::rgb(60, 60, 60);
const TICK: f64 = 4.0;
pub(crate) const TICK_TEXT: TextStyle = TextStyle::new(12.0);
const LABEL: TextStyle = TextStyle::new(13.0).anchor(Anchor::Middle);
const TITLE: TextStyle = TextStyle::new(15.0).anchor(Anchor::Middle);

/// One of the axes, with the range that it shows.
#[derive(Clone)]
pub(crate) struct Axis {
    pub scale: Scale,
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<Tick>,
    pub label: String,
}

impl Axis {
    /// Returns the fraction of the axis's length, from 0 at its start to 1 at its end.
    pub fn fraction(&self, value: f64) -> f64 {
        let [value, low, high] = [value, self.low, self.high].map(|v| self.scale.position(v));
        (value - low) / (high - low)
    }
}

/// Space around the area of a plot, for its title and labels.
pub(crate) struct Margins {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Margins {
    /// Computes the space that the texts need.
    pub fn new(title: &str, x: &Axis, y: &Axis) -> Margins {
        let width = |tick: &Tick| Font::Sans.width(&tick.label, TICK_TEXT.size);
        let widest = y.ticks.iter().map(width).fold(0.0, f64::max);
        let line = |text: &str| if text.is_empty() { 0.0 } else { 22.0 };
        Margins {
            left: 16.0 + widest + TICK + line(&y.label),
            top: if title.is_empty() { 16.0 } else { 40.0 },
            right: x
                .ticks
                .last()
                .map_or(20.0, |tick| (width(tick) / 2.0).max(20.0)),
            bottom: 32.0 + line(&x.label),
        }
    }

    /// Returns the part of a picture inside the margins.
    pub fn inside(&self, width: f64, height: f64) -> Area {
        let width = width - self.left - self.right;
        let height = height - self.top - self.bottom;
        Area::new(self.left, self.top, width.max(1.0), height.max(1.0))
    }
}

/// The area of a plot with its axes.
pub(crate) struct Axes {
    pub area: Area,
    pub x: Axis,
    pub y: Axis,
}

/// Moves a position to the center of a pixel, so that a thin line is sharp.
fn sharp(position: f64) -> f64 {
    position.floor() + 0.5
}

impl Axes {
    /// Returns the pixel of a point.
    pub fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (x, y) = (self.x.fraction(x), self.y.fraction(y));
        (
            self.area.left + x * self.area.width,
            self.area.bottom() - y * self.area.height,
        )
    }

    fn vertical(&self, drawing: &mut Drawing, value: f64, color: Color) {
        let x = sharp(self.at((value, self.y.low)).0);
        let ends = vec![(x, self.area.top), (x, self.area.bottom())];
        drawing.line(ends, color, 1.0);
    }

    fn horizontal(&self, drawing: &mut Drawing, value: f64, color: Color) {
        let y = sharp(self.at((self.x.low, value)).1);
        let ends = vec![(self.area.left, y), (self.area.right(), y)];
        drawing.line(ends, color, 1.0);
    }

    /// Draws the grid, behind the series.
    pub fn draw_grid(&self, drawing: &mut Drawing) {
        for value in self.x.scale.minor(self.x.low..=self.x.high) {
            self.vertical(drawing, value, MINOR);
        }
        for value in self.y.scale.minor(self.y.low..=self.y.high) {
            self.horizontal(drawing, value, MINOR);
        }
        for tick in &self.x.ticks {
            self.vertical(drawing, tick.value, GRID);
        }
        for tick in &self.y.ticks {
            self.horizontal(drawing, tick.value, GRID);
        }
    }

    /// Draws the frame, the ticks and their labels.
    pub fn draw_frame(&self, drawing: &mut Drawing, title: &str) {
        let Area { left, top, .. } = self.area;
        let (right, bottom) = (self.area.right(), self.area.bottom());
        let corners = [(left, top), (left, bottom), (right, bottom)];
        let corners = corners.map(|(x, y)| (sharp(x), sharp(y)));
        drawing.line(corners.to_vec(), FRAME, 1.0);
        for tick in &self.x.ticks {
            let x = sharp(self.at((tick.value, self.y.low)).0);
            let bottom = sharp(bottom);
            drawing.line(vec![(x, bottom), (x, bottom + TICK)], FRAME, 1.0);
            let style = TICK_TEXT.anchor(Anchor::Middle);
            drawing.text((x, bottom + TICK + 13.0), &tick.label, style);
        }
        for tick in &self.y.ticks {
            let y = sharp(self.at((self.x.low, tick.value)).1);
            drawing.line(vec![(left - TICK, y), (left, y)], FRAME, 1.0);
            let style = TICK_TEXT.anchor(Anchor::End);
            drawing.text((left - TICK - 4.0, y + 4.5), &tick.label, style);
        }
        let center = ((left + right) / 2.0, (top + bottom) / 2.0);
        draw_label(drawing, (center.0, bottom + 41.0), &self.x.label, LABEL);
        draw_label(drawing, (18.0, center.1), &self.y.label, LABEL.upright());
        draw_label(drawing, (center.0, top - 14.0), title, TITLE);
    }
}

/// Draws a text, unless it is empty.
fn draw_label(drawing: &mut Drawing, at: (f64, f64), text: &str, style: TextStyle) {
    if !text.is_empty() {
        drawing.text(at, text, style);
    }
}
