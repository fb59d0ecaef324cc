//! Plots of schedules, which the documentation shows: `optim/plots/*.svg`.
//!
//! The test fails where a plot is not that of the schedule any more, and
//!
//! ```text
//! RAMIE_BLESS=1 cargo test -p ramie-optim --test optax plots
//! ```
//!
//! writes the plots anew.

use ramie_core::{Array, DType, jit, vmap};
use ramie_optim::schedules::*;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Every schedule by the name of its function, as the documentation plots it.
fn plotted() -> Vec<(&'static str, Schedule)> {
    let decay = ExponentialDecay {
        init_value: 1.0,
        transition_steps: 20,
        decay_rate: 0.5,
        transition_begin: 0,
        staircase: false,
        end_value: None,
    };
    let cosine = WarmupCosineDecay {
        init_value: 0.0,
        peak_value: 1.0,
        warmup_steps: 10,
        decay_steps: 100,
        end_value: 0.1,
        exponent: 1.0,
    };
    let cycle = |peak_value, decay_steps| WarmupCosineDecay {
        peak_value,
        decay_steps,
        warmup_steps: 5,
        end_value: 0.0,
        ..cosine
    };
    let pieces = [(30, 0.3), (70, 2.0)];
    let stairs = ExponentialDecay {
        staircase: true,
        ..decay
    };
    vec![
        ("constant_schedule", constant_schedule(0.6)),
        ("linear_schedule", linear_schedule(1.0, 0.2, 80)),
        (
            "polynomial_schedule",
            polynomial_schedule(1.0, 0.1, 2.0, 80, 10),
        ),
        (
            "cosine_decay_schedule",
            cosine_decay_schedule(1.0, 80, 0.1, 1.0),
        ),
        ("exponential_decay", exponential_decay(decay)),
        ("exponential_decay_staircase", exponential_decay(stairs)),
        ("inverse_sqrt_schedule", inverse_sqrt_schedule(1.0, 10)),
        (
            "piecewise_constant_schedule",
            piecewise_constant_schedule(1.0, &pieces),
        ),
        (
            "piecewise_interpolate_schedule",
            piecewise_interpolate_schedule(Interpolation::Cosine, 1.0, &pieces),
        ),
        (
            "linear_onecycle_schedule",
            linear_onecycle_schedule(100, 1.0, LinearOnecycle::default()),
        ),
        (
            "cosine_onecycle_schedule",
            cosine_onecycle_schedule(100, 1.0, CosineOnecycle::default()),
        ),
        (
            "join_schedules",
            join_schedules(
                vec![
                    linear_schedule(0.0, 1.0, 20),
                    constant_schedule(1.0),
                    cosine_decay_schedule(1.0, 40, 0.0, 1.0),
                ],
                &[20, 60],
            ),
        ),
        (
            "warmup_constant_schedule",
            warmup_constant_schedule(0.0, 1.0, 20),
        ),
        (
            "warmup_cosine_decay_schedule",
            warmup_cosine_decay_schedule(cosine),
        ),
        (
            "warmup_exponential_decay_schedule",
            warmup_exponential_decay_schedule(0.0, 10, decay),
        ),
        (
            "sgdr_schedule",
            sgdr_schedule(&[cycle(1.0, 20), cycle(0.8, 30), cycle(0.6, 50)]),
        ),
    ]
}

const LAST: usize = 100;
const WIDTH: f32 = 420.0;
const HEIGHT: f32 = 130.0;

/// Where the value of a step is drawn; values are from 0 to 1.
fn place(step: usize, value: f32) -> (f32, f32) {
    let (left, top) = (30.0, 10.0);
    let x = left + step as f32 / LAST as f32 * (WIDTH - 40.0);
    (x, top + (1.0 - value) * (HEIGHT - 30.0))
}

/// The drawing before and after the points of the curve.
fn frame(name: &str) -> (String, String) {
    let mut head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"10\" fill=\"#888\">\n<title>{name}</title>\n"
    );
    for value in [0.0, 0.5, 1.0] {
        let ((x, y), (end, _)) = (place(0, value), place(LAST, value));
        writeln!(
            head,
            "<path d=\"M{x} {y}H{end}\" stroke=\"#888\" stroke-opacity=\"0.4\"/>"
        )
        .expect("a string");
        writeln!(
            head,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{value}</text>",
            x - 5.0,
            y + 3.0
        )
        .expect("a string");
    }
    for step in [0, 25, 50, 75, 100] {
        let (x, y) = place(step, 0.0);
        writeln!(
            head,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{step}</text>",
            y + 14.0
        )
        .expect("a string");
    }
    head.push_str("<polyline fill=\"none\" stroke=\"#3b7dd8\" stroke-width=\"2\" points=\"");
    (head, "\"/>\n</svg>\n".to_owned())
}

fn points(schedule: &Schedule) -> Vec<(f32, f32)> {
    let steps = Array::iota(&[LAST + 1], 0, DType::I32);
    let schedule = schedule.clone();
    let values = match schedule.as_constant() {
        Some(value) => vec![value as f32; LAST + 1],
        None => jit(vmap(move |step: Array| schedule.at(&step)))(steps).to_vec::<f32>(),
    };
    let each = values.into_iter().enumerate();
    each.map(|(step, value)| place(step, value)).collect()
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("plots/{name}.svg"))
}

/// The points of a drawing, if its frame is this one.
fn drawn(text: &str, (head, tail): &(String, String)) -> Option<Vec<(f32, f32)>> {
    let middle = text.strip_prefix(head)?.strip_suffix(tail)?;
    let point = |pair: &str| {
        let (x, y) = pair.split_once(',')?;
        Some((x.parse().ok()?, y.parse().ok()?))
    };
    middle.split(' ').map(point).collect()
}

#[test]
fn plots_are_of_the_schedules() {
    let bless = std::env::var_os("RAMIE_BLESS").is_some();
    for (name, schedule) in plotted() {
        let (points, frame) = (points(&schedule), frame(name));
        if bless {
            let list: Vec<String> = points
                .iter()
                .map(|(x, y)| format!("{x:.1},{y:.1}"))
                .collect();
            let text = format!("{}{}{}", frame.0, list.join(" "), frame.1);
            std::fs::create_dir_all(file("").parent().expect("a folder")).expect("writable");
            std::fs::write(file(name), text).expect("writable");
        }
        let text = std::fs::read_to_string(file(name)).unwrap_or_default();
        let drawn = drawn(&text, &frame).unwrap_or_default();
        let near = |(a, b): (&(f32, f32), &(f32, f32))| {
            (a.0 - b.0).abs() < 0.11 && (a.1 - b.1).abs() < 0.11
        };
        assert!(
            drawn.len() == points.len() && drawn.iter().zip(&points).all(near),
            "the plot of {name} is another one; RAMIE_BLESS=1 writes it anew"
        );
    }
}

/// The page of schedules shows every plot, and no other; so do the functions'
/// own pages.
#[test]
fn every_plot_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../docs/schedules.md")).expect("there is a page");
    let sources: String = ["decay", "interpolate", "join"]
        .map(|file| root.join(format!("src/schedules/{file}.rs")))
        .map(|path| std::fs::read_to_string(path).expect("a source"))
        .concat();
    let mut names: Vec<String> = plotted()
        .iter()
        .map(|(name, _)| format!("{name}.svg"))
        .collect();
    for name in &names {
        assert!(
            page.contains(&format!("(../optim/plots/{name})")),
            "docs/schedules.md shows {name}"
        );
        assert!(
            sources.contains(&format!("/plots/{name}\"")),
            "a function shows {name}"
        );
    }
    let files = std::fs::read_dir(root.join("plots")).expect("a folder");
    let mut found: Vec<String> = files
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    found.sort_unstable();
    names.sort_unstable();
    assert_eq!(found, names);
}
