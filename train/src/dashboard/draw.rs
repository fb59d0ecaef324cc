//! Draws a view with ratatui.

use super::View;
use super::format::{bytes, count, duration, metric};
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, BorderType, Chart, Dataset, Gauge, GraphType, Paragraph};

const TRAINING: Color = Color::LightBlue;
const VALIDATION: Color = Color::LightYellow;
/// Width of the table beside the chart.
const TABLE: u16 = 30;

/// Draws a view into a frame of any size. Small frames have no messages, then no chart.
pub fn draw(view: &View, frame: &mut Frame<'_>) {
    let area = frame.area();
    let messages = match area.height {
        0..14 => 0,
        14..30 => 5,
        _ => 9,
    };
    let rows = [
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(messages),
        Constraint::Length(1),
    ];
    let [head, progress, middle, messages, foot] = Layout::vertical(rows).areas(area);
    draw_head(view, frame, head);
    draw_progress(view, frame, progress);
    let [chart, table] = match middle.width {
        0..64 => [Rect::default(), middle],
        _ => {
            let columns = [Constraint::Min(0), Constraint::Length(TABLE)];
            Layout::horizontal(columns).areas(middle)
        }
    };
    draw_chart(view, frame, chart);
    draw_table(view, frame, table);
    draw_messages(view, frame, messages);
    draw_foot(view, frame, foot);
}

fn draw_head(view: &View, frame: &mut Frame<'_>, area: Rect) {
    let status = &view.status;
    let epoch = match view.epochs() {
        Some(epochs) => format!(
            "epoch {}/{}",
            (status.epoch as u64 + 1).min(epochs),
            count(epochs)
        ),
        None => format!("epoch {}", status.epoch + 1),
    };
    let step = format!("step {}/{}", count(status.step), count(status.total));
    let elapsed = format!("elapsed {}", duration(view.elapsed));
    let left = match view.time_left() {
        Some(left) => format!("left {}", duration(left)),
        None => "left …".to_string(),
    };
    let mut spans = Vec::new();
    for text in [epoch, step, elapsed, left] {
        spans.extend([Span::from(" "), Span::from(text).bold(), Span::from("  ")]);
    }
    frame.render_widget(Line::from(spans), area);
}

fn draw_progress(view: &View, frame: &mut Frame<'_>, area: Rect) {
    let percent = format!("{:.1} %", 100.0 * view.progress());
    let gauge = Gauge::default()
        .ratio(view.progress())
        .label(percent)
        .use_unicode(true)
        .gauge_style(Style::new().fg(Color::Green).bg(Color::Black));
    frame.render_widget(gauge, area);
}

fn block(title: &str) -> Block<'_> {
    Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(Style::new().fg(Color::DarkGray))
        .title(Span::from(title).fg(Color::Gray))
}

/// The range of the values, and whether the chart shows their logarithms.
struct Range {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Range {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Option<Range> {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return None;
        }
        // A loss that falls by much is flat for most of a linear axis.
        let logarithmic = low > 0.0 && high / low > 8.0;
        let (low, high) = if logarithmic {
            (low.log10(), high.log10())
        } else {
            (low, high)
        };
        let margin = match high - low {
            0.0 => (high.abs() * 0.1).max(1e-6),
            length => length * 0.03,
        };
        Some(Range {
            low: low - margin,
            high: high + margin,
            logarithmic,
        })
    }

    fn position(&self, value: f64) -> f64 {
        if self.logarithmic {
            value.log10()
        } else {
            value
        }
    }

    /// Labels both ends and, if there is space, points between them.
    fn labels(&self, height: u16) -> Vec<String> {
        let count = match height {
            0..8 => 2,
            8..16 => 3,
            _ => 5,
        };
        let at = |i: usize| self.low + (self.high - self.low) * i as f64 / (count - 1) as f64;
        let value = |position: f64| {
            if self.logarithmic {
                10f64.powf(position)
            } else {
                position
            }
        };
        (0..count).map(|i| metric(value(at(i)))).collect()
    }
}

fn draw_chart(view: &View, frame: &mut Frame<'_>, area: Rect) {
    // A braille character has two columns of dots.
    let training = view.training.means(2 * usize::from(area.width));
    let curves = [&training[..], view.validation.points()];
    let values = curves.into_iter().flatten().map(|(_, y)| *y);
    let Some(range) = Range::of(values) else {
        let text = Paragraph::new("waiting for the first step")
            .alignment(Alignment::Center)
            .block(block(" loss "));
        frame.render_widget(text, area);
        return;
    };
    let shown = curves.map(|points| {
        let shown = points.iter().map(|(x, y)| (*x, range.position(*y)));
        shown.collect::<Vec<_>>()
    });
    let xs = curves.into_iter().flatten().map(|(x, _)| *x);
    let first = xs.clone().fold(f64::INFINITY, f64::min);
    let last = xs.fold(f64::NEG_INFINITY, f64::max).max(first + 1.0);
    let dataset = |points, name, color| {
        Dataset::default()
            .name(name)
            .data(points)
            .marker(Marker::Braille)
            .graph_type(GraphType::Line)
            .style(Style::new().fg(color))
    };
    let mut datasets = vec![dataset(&shown[0], "training", TRAINING)];
    if !shown[1].is_empty() {
        datasets.push(dataset(&shown[1], "validation", VALIDATION));
    }
    let gray = Style::new().fg(Color::Gray);
    let x_labels = [first, last].map(|x| count(x as u64));
    let title = if range.logarithmic {
        " loss, logarithmic "
    } else {
        " loss "
    };
    let chart = Chart::new(datasets)
        .block(block(title))
        .x_axis(
            Axis::default()
                .bounds([first, last])
                .labels(x_labels)
                .style(gray),
        )
        .y_axis(
            Axis::default()
                .bounds([range.low, range.high])
                .labels(range.labels(area.height))
                .style(gray),
        )
        .hidden_legend_constraints((Constraint::Percentage(60), Constraint::Percentage(60)));
    frame.render_widget(chart, area);
}

/// Returns the rows of the table: names and values; an empty name is a blank line.
fn rows(view: &View) -> Vec<(String, String)> {
    let status = &view.status;
    let row = |name: &str, value: String| (name.to_string(), value);
    let mut rows: Vec<(String, String)> = Vec::new();
    let metrics = status.metrics.iter().chain(&view.evaluated);
    rows.extend(metrics.map(|(name, value)| row(name, metric(*value))));
    rows.push(row("", String::new()));
    if let Some(rate) = status.rate {
        rows.push(row("steps/s", metric(rate)));
        if let Some(examples) = status.examples_per_step {
            rows.push(row("examples/s", metric(rate * examples as f64)));
        }
    }
    match (view.memory.device, view.memory.device_limit) {
        (Some(used), Some(limit)) => {
            rows.push(row(
                "device",
                format!("{} of {}", bytes(used), bytes(limit)),
            ));
        }
        (Some(used), None) => rows.push(row("device", bytes(used))),
        (None, _) => {}
    }
    if let Some(host) = view.memory.host {
        rows.push(row("host memory", bytes(host)));
    }
    if let Some(step) = status.saved {
        rows.push(row("checkpoint", format!("step {}", count(step))));
    }
    rows
}

fn draw_table(view: &View, frame: &mut Frame<'_>, area: Rect) {
    let inside = area.width.saturating_sub(4).into();
    let line = |(name, value): (String, String)| {
        let width = name.chars().count() + value.chars().count();
        let gap = " ".repeat(usize::saturating_sub(inside, width).max(1));
        let color = match name.as_str() {
            name if name.starts_with("val_") => VALIDATION,
            name if view.status.metrics.iter().any(|(n, _)| n == name) => TRAINING,
            _ => Color::Gray,
        };
        let name = Span::from(format!(" {name}{gap}")).fg(color);
        Line::from(vec![name, Span::from(value)])
    };
    let lines: Vec<Line<'_>> = rows(view).into_iter().map(line).collect();
    frame.render_widget(Paragraph::new(lines).block(block(" run ")), area);
}

fn draw_messages(view: &View, frame: &mut Frame<'_>, area: Rect) {
    let visible = usize::from(area.height.saturating_sub(2));
    let skipped = view.messages.len().saturating_sub(visible);
    let lines = view.messages.iter().skip(skipped);
    let lines: Vec<Line<'_>> = lines.map(|text| Line::from(format!(" {text}"))).collect();
    frame.render_widget(Paragraph::new(lines).block(block(" messages ")), area);
}

fn draw_foot(view: &View, frame: &mut Frame<'_>, area: Rect) {
    let text = match (view.is_stopping, &view.status.folder) {
        (true, _) => " saving a checkpoint and stopping; q again: stop at once".to_string(),
        (false, Some(folder)) => {
            format!(" q: save and stop   Ctrl-L: redraw   {}", folder.display())
        }
        (false, None) => " q: stop   Ctrl-L: redraw".to_string(),
    };
    let color = if view.is_stopping {
        Color::LightRed
    } else {
        Color::DarkGray
    };
    frame.render_widget(Line::from(text).style(Style::new().fg(color)), area);
}
