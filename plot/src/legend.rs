//! The legend of a plot.

use crate::axes::{Axes, TICK_TEXT};
use crate::series::{DOT, LINE, Mark, Series, distance};
use crate::{Area, Color, Drawing, Font};

/// The place of a plot's legend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Legend {
    /// The corner that hides the fewest points.
    #[default]
    Best,
    /// The upper right corner.
    UpperRight,
    /// The upper left corner.
    UpperLeft,
    /// The lower right corner.
    LowerRight,
    /// The lower left corner.
    LowerLeft,
    /// No legend.
    Hidden,
}

const ROW: f64 = 18.0;
const PADDING: f64 = 8.0;
const SAMPLE: f64 = 22.0;
/// Distance from the frame.
const AWAY: f64 = 10.0;

/// Draws the names of the series, unless no series has one.
pub(crate) fn draw(drawing: &mut Drawing, place: Legend, axes: &Axes, series: &[Series]) {
    let named: Vec<&Series> = series.iter().filter(|s| !s.name.is_empty()).collect();
    if named.is_empty() || place == Legend::Hidden {
        return;
    }
    let area = area(place, axes, &named);
    drawing.rectangle(area, Color::rgb(253, 253, 253));
    drawing.frame(area, Color::rgb(205, 205, 205), 1.0);
    for (i, series) in named.into_iter().enumerate() {
        let left = area.left + PADDING;
        let middle = area.top + PADDING + ROW * (i as f64 + 0.5);
        match series.mark {
            Mark::Line | Mark::Smooth(_) => {
                let ends = vec![(left, middle), (left + SAMPLE, middle)];
                drawing.line(ends, series.color, LINE);
            }
            Mark::Dots => drawing.circle((left + SAMPLE / 2.0, middle), DOT, series.color),
            Mark::Bars => {
                let box_ = Area::new(left + 5.0, middle - 6.0, 12.0, 12.0);
                drawing.rectangle(box_, series.color);
            }
        }
        let at = (left + SAMPLE + PADDING, middle + 4.5);
        drawing.text(at, &series.name, TICK_TEXT);
    }
}

/// Chooses the corner and computes the size.
fn area(place: Legend, axes: &Axes, named: &[&Series]) -> Area {
    let width = |series: &&Series| Font::Sans.width(&series.name, TICK_TEXT.size);
    let widest = named.iter().map(width).fold(0.0, f64::max);
    let (width, height) = (
        (3.0 * PADDING + SAMPLE + widest).ceil(),
        2.0 * PADDING + ROW * named.len() as f64,
    );
    let frame = axes.area;
    let left = (frame.left + AWAY).round();
    let right = (frame.right() - AWAY - width).round();
    let (top, bottom) = (
        (frame.top + AWAY / 2.0).round(),
        (frame.bottom() - AWAY - height).round(),
    );
    let corner = |x, y| Area::new(x, y, width, height);
    let corners = [
        corner(right, top),
        corner(left, top),
        corner(right, bottom),
        corner(left, bottom),
    ];
    match place {
        Legend::UpperLeft => corners[1],
        Legend::LowerRight => corners[2],
        Legend::LowerLeft => corners[3],
        Legend::UpperRight | Legend::Hidden => corners[0],
        Legend::Best => {
            let hidden = |area: &Area| hidden(*area, axes, named);
            let best = corners.into_iter().min_by_key(|area| hidden(area));
            best.expect("there are four corners")
        }
    }
}

/// Counts the points that an area hides. A bar is hidden if the area covers any part of it.
fn hidden(area: Area, axes: &Axes, named: &[&Series]) -> usize {
    // Half of the width of bars in pixels.
    let bars = named.iter().filter(|s| s.mark == Mark::Bars).copied();
    let [low, high] = [axes.x.low, axes.x.high].map(|x| axes.x.scale.position(x));
    let half = distance(bars, axes.x.scale) / (high - low) * axes.area.width / 2.0;
    let covers = |series: &Series, (x, y): (f64, f64)| match series.mark {
        Mark::Bars => (area.left - half..=area.right() + half).contains(&x) && y <= area.bottom(),
        _ => area.contains((x, y)),
    };
    let count = |series: &&Series| {
        let pixels = series.pixels(axes);
        let pixels: Vec<(f64, f64)> = match series.mark {
            Mark::Line | Mark::Smooth(_) => between(&pixels.collect::<Vec<_>>()),
            _ => pixels.collect(),
        };
        let covered = pixels.iter().filter(|pixel| covers(series, **pixel));
        covered.count()
    };
    named.iter().map(count).sum()
}

/// Adds points to long parts of a line.
fn between(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = points.last().copied().into_iter().collect();
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let count = ((b.0 - a.0).hypot(b.1 - a.1) / 8.0).clamp(1.0, 100.0) as i32;
        let at = |part: f64| (a.0 + (b.0 - a.0) * part, a.1 + (b.1 - a.1) * part);
        all.extend((0..count).map(|i| at(f64::from(i) / f64::from(count))));
    }
    all
}
