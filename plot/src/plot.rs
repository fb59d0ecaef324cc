//! Plots of series.

use crate::axes::{Axes, Axis, Margins};
use crate::legend::{self, Legend};
use crate::point::{self, Number, Point};
use crate::series::{Mark, Series, Slot, distance};
use crate::ticks::{Scale, Tick};
use crate::{Anchor, Color, Drawing, Result, TextStyle};
use std::ops::Range;
use std::path::Path;

/// Lines, dots and bars in a frame with axes.
///
/// Points are pairs of numbers `(x, y)` of any type, or numbers, whose `x` is their index. Points
/// with NaN or an infinity are left out, which interrupts a line; so are numbers on a logarithmic
/// axis that are not positive.
///
/// ```
/// use ramie_plot::{Color, Plot};
///
/// let train: Vec<f32> = (0..100).map(|step| 2.0 / (1.0 + step as f32)).collect();
/// let test = [(0, 2.1), (50, 0.2), (99, 0.1)];
/// let plot = Plot::new()
///     .title("Loss of a classifier")
///     .x_label("step")
///     .y_label("loss")
///     .log_y()
///     .line("train", &train)
///     .dots("test", test)
///     .color(Color::RED);
/// # let folder = std::env::temp_dir().join(format!("ramie-plot-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("loss.png");
/// # let svg = folder.join("loss.svg");
/// plot.save(&path)?;
/// plot.save(&svg)?;
/// # assert!(std::fs::read(&path)?.starts_with(b"\x89PNG"));
/// assert!(std::fs::read_to_string(&svg)?.contains("Loss of a classifier"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Plot {
    title: String,
    size: (u32, u32),
    x: Settings,
    y: Settings,
    series: Vec<Series>,
    legend: Legend,
}

/// Settings of an axis.
#[derive(Clone, Default)]
struct Settings {
    label: String,
    scale: Scale,
    range: Option<(f64, f64)>,
    names: Vec<String>,
}

impl Default for Plot {
    fn default() -> Plot {
        Plot::new()
    }
}

impl Plot {
    /// Creates an empty plot of 800 x 480 pixels.
    pub fn new() -> Plot {
        Plot {
            title: String::new(),
            size: (800, 480),
            x: Settings::default(),
            y: Settings::default(),
            series: Vec::new(),
            legend: Legend::default(),
        }
    }

    /// Sets the title, above the plot.
    pub fn title(mut self, title: impl Into<String>) -> Plot {
        self.title = title.into();
        self
    }

    /// Sets the size of the picture in pixels.
    pub fn size(mut self, width: u32, height: u32) -> Plot {
        self.size = (width, height);
        self
    }

    /// Sets the label of the x axis.
    pub fn x_label(mut self, label: impl Into<String>) -> Plot {
        self.x.label = label.into();
        self
    }

    /// Sets the label of the y axis.
    pub fn y_label(mut self, label: impl Into<String>) -> Plot {
        self.y.label = label.into();
        self
    }

    /// Makes the x axis logarithmic.
    pub fn log_x(mut self) -> Plot {
        self.x.scale = Scale::Logarithmic;
        self
    }

    /// Makes the y axis logarithmic.
    pub fn log_y(mut self) -> Plot {
        self.y.scale = Scale::Logarithmic;
        self
    }

    /// Sets the range of the x axis. By default all points are visible. A logarithmic axis
    /// ignores a range that does not start above 0.
    ///
    /// # Panics
    /// Panics if the range is empty or a limit is not finite.
    #[track_caller]
    pub fn x_range(mut self, range: Range<f64>) -> Plot {
        self.x.range = Some(checked("x_range", range));
        self
    }

    /// Sets the range of the y axis. By default all points are visible. A logarithmic axis
    /// ignores a range that does not start above 0.
    ///
    /// # Panics
    /// Panics if the range is empty or a limit is not finite.
    #[track_caller]
    pub fn y_range(mut self, range: Range<f64>) -> Plot {
        self.y.range = Some(checked("y_range", range));
        self
    }

    /// Labels the positions 0, 1, 2 and so on of the x axis with names, such as those of bars.
    pub fn x_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Plot {
        self.x.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a line through points. An empty name has no entry in the legend.
    pub fn line<P: Point>(
        self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Plot {
        self.add(name.into(), Mark::Line, point::collect(points))
    }

    /// Adds a faint line through points, and a strong line of their exponential moving average.
    /// `weight` is the weight of the past, from 0 (no smoothing) to 1 (exclusive).
    ///
    /// # Panics
    /// Panics if the weight is out of range.
    #[track_caller]
    pub fn smooth_line<P: Point>(
        self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
        weight: f64,
    ) -> Plot {
        if !(0.0..1.0).contains(&weight) {
            panic!(
                "smooth_line: the weight {weight} is not from 0 to 1 (exclusive)\n  help: \
                 .smooth_line(name, points, 0.9)"
            );
        }
        self.add(name.into(), Mark::Smooth(weight), point::collect(points))
    }

    /// Adds a dot for each point.
    pub fn dots<P: Point>(
        self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Plot {
        self.add(name.into(), Mark::Dots, point::collect(points))
    }

    /// Adds a bar from 0 for each point. Bars of several series are beside each other.
    pub fn bars<P: Point>(
        self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Plot {
        self.add(name.into(), Mark::Bars, point::collect(points))
    }

    /// Adds a horizontal line over the whole width, such as a mean or a limit.
    pub fn horizontal_line(self, name: impl Into<String>, y: impl Number) -> Plot {
        let y = y.number();
        let ends = vec![(f64::NEG_INFINITY, y), (f64::INFINITY, y)];
        self.add(name.into(), Mark::Line, ends)
    }

    /// Sets the color of the series that was added last. By default, series have the colors of
    /// [`Color::CYCLE`].
    ///
    /// # Panics
    /// Panics if there is no series.
    #[track_caller]
    pub fn color(mut self, color: Color) -> Plot {
        match self.series.last_mut() {
            Some(series) => series.color = color,
            None => panic!(
                "color: the plot has no series yet\n  help: Plot::new().line(name, points).color(color)"
            ),
        }
        self
    }

    /// Sets the place of the legend. Defaults to [`Legend::Best`].
    pub fn legend(mut self, legend: Legend) -> Plot {
        self.legend = legend;
        self
    }

    fn add(mut self, name: String, mark: Mark, points: Vec<(f64, f64)>) -> Plot {
        let color = Color::CYCLE[self.series.len() % Color::CYCLE.len()];
        self.series.push(Series {
            name,
            mark,
            color,
            points,
        });
        self
    }

    /// Draws the plot.
    ///
    /// # Panics
    /// Panics if the size is 0 or more than 16,384 pixels.
    #[track_caller]
    #[must_use]
    pub fn drawing(&self) -> Drawing {
        let mut drawing = Drawing::new(self.size.0, self.size.1);
        let bars = || self.series.iter().filter(|s| s.mark == Mark::Bars);
        let (apart, count) = (distance(bars(), self.x.scale), bars().count());
        let axes = self.axes(apart);
        axes.draw_grid(&mut drawing);
        drawing.clip(Some(axes.area));
        let mut index = 0;
        for series in &self.series {
            let slot = Slot::new(index, count.max(1), apart);
            index += usize::from(series.mark == Mark::Bars);
            self.spanning(series, &axes).draw(&mut drawing, &axes, slot);
        }
        drawing.clip(None);
        axes.draw_frame(&mut drawing, &self.title);
        if let Some(reason) = self.empty() {
            let center = (
                axes.area.left + axes.area.width / 2.0,
                axes.area.top + axes.area.height / 2.0,
            );
            let style = TextStyle::new(14.0).anchor(Anchor::Middle);
            drawing.text(center, reason, style.color(Color::GRAY));
        }
        legend::draw(&mut drawing, self.legend, &axes, &self.series);
        drawing
    }

    /// Replaces the infinite ends of a horizontal line by those of the axis.
    fn spanning(&self, series: &Series, axes: &Axes) -> Series {
        let mut series = series.clone();
        if let [(from, _), (to, _)] = &mut series.points[..]
            && (*from, *to) == (f64::NEG_INFINITY, f64::INFINITY)
        {
            (*from, *to) = (axes.x.low, axes.x.high);
        }
        series
    }

    /// Returns why no point is visible, if so.
    fn empty(&self) -> Option<&'static str> {
        let mut points = self.series.iter().flat_map(|series| &series.points);
        let finite = |p: &(f64, f64)| p.1.is_finite() && !p.0.is_nan();
        if !points.clone().any(finite) {
            return Some("no data");
        }
        let shown = |p: &(f64, f64)| {
            self.y.scale.shows(p.1) && (self.x.scale.shows(p.0) || p.0.is_infinite())
        };
        let none = !points.any(shown);
        none.then_some("no positive values for the logarithmic axis")
    }

    fn axes(&self, apart: f64) -> Axes {
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        let mut grounded = false;
        let scale = self.x.scale;
        for series in &self.series {
            let half = match series.mark {
                Mark::Bars => apart / 2.0,
                _ => 0.0,
            };
            for (x, y) in &series.points {
                if self.y.scale.shows(*y) {
                    ys.push(*y);
                    if scale.shows(*x) {
                        xs.extend([-half, half].map(|by| scale.moved(*x, by)));
                    }
                }
            }
            grounded |= series.mark == Mark::Bars;
        }
        if grounded && self.y.scale == Scale::Linear {
            ys.push(0.0);
        }
        let names = (0..).zip(&self.x.names);
        let names = names.filter(|(i, _): &(i32, &String)| scale.shows(f64::from(*i)));
        xs.extend(names.clone().map(|(i, _)| f64::from(i)));
        let x = self.x.axis(&xs, 0.02, grounded, self.size.0 as usize / 100);
        let y = self.y.axis(&ys, 0.05, false, self.size.1 as usize / 70);
        let (mut x, mut y) = (x, y);
        if grounded && self.y.range.is_none() && self.y.scale == Scale::Linear {
            // Bars stand on the axis.
            let least = ys.iter().fold(0.0, |a: f64, b| a.min(*b));
            let most = ys.iter().fold(0.0, |a: f64, b| a.max(*b));
            if least == 0.0 && most > 0.0 {
                y.low = 0.0;
                y.ticks.retain(|tick| tick.value >= 0.0);
            }
        }
        if !self.x.names.is_empty() {
            let tick = |(i, name): (i32, &String)| Tick {
                value: f64::from(i),
                label: name.clone(),
            };
            x.ticks = names.map(tick).collect();
        }
        let margins = Margins::new(&self.title, &x, &y);
        let area = margins.inside(self.size.0.into(), self.size.1.into());
        Axes { area, x, y }
    }

    /// Writes the plot as a PNG or SVG file, depending on the ending of its name.
    ///
    /// # Errors
    /// Returns an error if the name has another ending or the file cannot be written.
    ///
    /// # Panics
    /// Panics if the size is 0 or more than 16,384 pixels.
    #[track_caller]
    pub fn save(&self, path: impl AsRef<Path>) -> Result {
        self.drawing().save(path)
    }
}

#[track_caller]
pub(crate) fn checked(what: &str, range: Range<f64>) -> (f64, f64) {
    let finite = range.start.is_finite() && range.end.is_finite();
    if !finite || range.start >= range.end {
        panic!("{what}: the range {range:?} is empty or not finite\n  help: .{what}(0.0..1.0)");
    }
    (range.start, range.end)
}

impl Settings {
    /// Chooses the range, with a margin as a part of it, and about `count` ticks.
    fn axis(&self, values: &[f64], margin: f64, tight: bool, count: usize) -> Axis {
        let scale = self.scale;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let usable = self.range.filter(|(low, _)| scale.shows(*low));
        let (low, high) = match (usable, low <= high, scale) {
            (Some(range), ..) => range,
            (None, false, Scale::Linear) => (0.0, 1.0),
            (None, false, Scale::Logarithmic) => (0.1, 1.0),
            (None, true, Scale::Linear) => widened(low, high, if tight { 0.0 } else { margin }),
            (None, true, Scale::Logarithmic) => {
                let (low, high) = widened(low.log10(), high.log10(), margin);
                // The margins of numbers near the largest do not overflow.
                let power = |exponent: f64| 10f64.powf(exponent.clamp(-307.0, 307.0));
                (power(low), power(high))
            }
        };
        Axis {
            scale,
            low,
            high,
            ticks: scale.ticks(low..=high, count.clamp(2, 12)),
            label: self.label.clone(),
        }
    }
}

/// Adds a margin to a range. The range around a constant is a tenth of it.
fn widened(low: f64, high: f64, margin: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    let length = high - low;
    if length > size * 1e-9 && length.is_finite() {
        return (low - length * margin, high + length * margin);
    }
    let half = if size > 0.0 { size * 0.1 } else { 0.5 };
    // Halves of numbers near the largest do not overflow.
    let center = low / 2.0 + high / 2.0;
    let (low, high) = (
        (center - half).max(f64::MIN / 4.0),
        (center + half).min(f64::MAX / 4.0),
    );
    (low.min(high), low.max(high))
}
