//! Series of a plot and how they are drawn.

use crate::axes::Axes;
use crate::ticks::Scale;
use crate::{Area, Color, Drawing};

/// The form of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mark {
    Line,
    /// A faint line, and its exponential moving average with this weight of the past.
    Smooth(f64),
    Dots,
    Bars,
}

/// Named points of a plot.
#[derive(Clone)]
pub(crate) struct Series {
    pub name: String,
    pub mark: Mark,
    pub color: Color,
    pub points: Vec<(f64, f64)>,
}

/// Width of lines in pixels.
pub(crate) const LINE: f64 = 1.8;
/// Radius of dots in pixels.
pub(crate) const DOT: f64 = 3.0;
/// Part of the distance between two bars that the bars fill.
const FILLED: f64 = 0.8;

/// The place of a series of bars among others.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    /// Left edge of the bar relative to its point, in positions of the x axis.
    pub left: f64,
    pub width: f64,
}

impl Slot {
    /// Divides the distance between points into places for `count` series.
    pub fn new(index: usize, count: usize, distance: f64) -> Slot {
        let width = distance * FILLED / count as f64;
        let left = width * (index as f64 - count as f64 / 2.0);
        Slot { left, width }
    }
}

/// Returns the smallest distance between the positions of bars on the x axis, or 1 for one bar.
pub(crate) fn distance<'a>(series: impl Iterator<Item = &'a Series>, scale: Scale) -> f64 {
    let mut smallest = f64::INFINITY;
    for series in series {
        let mut xs: Vec<f64> = series.points.iter().map(|p| p.0).collect();
        xs.retain(|x| scale.shows(*x));
        xs.iter_mut().for_each(|x| *x = scale.position(*x));
        xs.sort_by(f64::total_cmp);
        let gaps = xs.windows(2).map(|pair| pair[1] - pair[0]);
        smallest = gaps.filter(|gap| *gap > 0.0).fold(smallest, f64::min);
    }
    if smallest.is_finite() { smallest } else { 1.0 }
}

/// Returns the exponential moving average, corrected for its start. Values that are not finite
/// are returned unchanged and do not count.
fn smoothed(points: &[(f64, f64)], weight: f64) -> Vec<(f64, f64)> {
    let (mut mean, mut total) = (0.0, 0.0);
    let average = |(x, y): &(f64, f64)| {
        if !y.is_finite() {
            return (*x, *y);
        }
        mean = weight * mean + (1.0 - weight) * y;
        total = weight * total + (1.0 - weight);
        (*x, mean / total)
    };
    points.iter().map(average).collect()
}

impl Series {
    /// Draws the series; `slot` is the place of its bars.
    pub fn draw(&self, drawing: &mut Drawing, axes: &Axes, slot: Slot) {
        match self.mark {
            Mark::Line => self.draw_line(drawing, axes, &self.points, LINE, 1.0),
            Mark::Smooth(weight) => {
                self.draw_line(drawing, axes, &self.points, 1.0, 0.3);
                let average = smoothed(&self.points, weight);
                self.draw_line(drawing, axes, &average, LINE + 0.4, 1.0);
            }
            Mark::Dots => {
                for point in visible(axes, &self.points).into_iter().flatten() {
                    drawing.circle(point, DOT, self.color);
                }
            }
            Mark::Bars => self.draw_bars(drawing, axes, slot),
        }
    }

    fn draw_line(
        &self,
        drawing: &mut Drawing,
        axes: &Axes,
        points: &[(f64, f64)],
        width: f64,
        opacity: f64,
    ) {
        for part in visible(axes, points) {
            match part[..] {
                // A line of one point would be invisible.
                [point] => drawing.circle(point, DOT, self.color),
                _ => drawing.faint_line(thinned(part), self.color, width, opacity),
            }
        }
    }

    fn draw_bars(&self, drawing: &mut Drawing, axes: &Axes, slot: Slot) {
        for (x, y) in &self.points {
            if !axes.x.scale.shows(*x) || !axes.y.scale.shows(*y) {
                continue;
            }
            let at = |by: f64| axes.at((axes.x.scale.moved(*x, by), *y));
            let (left, right) = (at(slot.left), at(slot.left + slot.width).0);
            // The zero of a logarithmic axis is infinitely far below.
            let foot = if axes.y.scale.shows(0.0) {
                axes.at((*x, 0.0)).1
            } else {
                axes.area.bottom()
            };
            let (top, bottom) = (left.1.min(foot), left.1.max(foot));
            let area = Area::new(left.0, top, (right - left.0).max(0.5), bottom - top);
            drawing.rectangle(area, self.color);
        }
    }

    /// Returns the pixels of the points, for finding a place for the legend.
    pub fn pixels<'a>(&'a self, axes: &'a Axes) -> impl Iterator<Item = (f64, f64)> + 'a {
        visible(axes, &self.points).into_iter().flatten()
    }
}

/// Returns the pixels of the points, in parts between the points that have none.
fn visible(axes: &Axes, points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    let shown = |(x, y): &(f64, f64)| axes.x.scale.shows(*x) && axes.y.scale.shows(*y);
    let parts = points.split(|point| !shown(point));
    let parts = parts.filter(|part| !part.is_empty());
    let pixels = |part: &[(f64, f64)]| part.iter().map(|point| axes.at(*point)).collect();
    parts.map(pixels).collect()
}

/// Reduces the points in each column of pixels to the first, the lowest, the highest and the
/// last. The line has the same pixels, and its size no longer depends on the number of points.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() < 1000 {
        return points;
    }
    let mut kept = Vec::new();
    for column in points.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        let by_height =
            |a: &(usize, &(f64, f64)), b: &(usize, &(f64, f64))| a.1.1.total_cmp(&b.1.1);
        let lowest = column.iter().enumerate().min_by(by_height);
        let highest = column.iter().enumerate().max_by(by_height);
        let extremes = [lowest, highest].into_iter().flatten().map(|(i, _)| i);
        let mut places: Vec<usize> = extremes.chain([0, column.len() - 1]).collect();
        places.sort_unstable();
        places.dedup();
        kept.extend(places.into_iter().map(|i| column[i]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_start_at_the_first_value_and_skip_gaps() {
        let points = [(0.0, 4.0), (1.0, f64::NAN), (2.0, 4.0), (3.0, 0.0)];
        let average = smoothed(&points, 0.5);
        assert_eq!((average[0].1, average[2].1), (4.0, 4.0));
        assert!(average[1].1.is_nan());
        assert!((average[3].1 - 12.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn long_lines_keep_their_extremes() {
        let points: Vec<(f64, f64)> = (0..100_000)
            .map(|i| (f64::from(i) / 1000.0, if i == 54_321 { 99.0 } else { 0.0 }))
            .collect();
        let kept = thinned(points);
        assert!(kept.len() <= 400, "{}", kept.len());
        assert!(kept.contains(&(54.321, 99.0)));
        assert_eq!(kept.last(), Some(&(99.999, 0.0)));
    }

    #[test]
    fn bars_share_the_distance_between_points() {
        let slots = [0, 1].map(|i| Slot::new(i, 2, 1.0));
        assert!((slots[0].left + 0.4).abs() < 1e-12 && slots[1].left.abs() < 1e-12);
        assert!((slots[0].width - 0.4).abs() < 1e-12);
    }
}
