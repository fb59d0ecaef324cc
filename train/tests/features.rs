//! The dashboard, behind the feature `dashboard`.
#![cfg(feature = "dashboard")]

use ramie_plot::{Anchor, Area, Color, Drawing, Font, TextStyle};
use ramie_train::Status;
use ramie_train::dashboard::{Memory, View, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Color as TerminalColor;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A run in its seventh of ten epochs.
fn view() -> View {
    let mut view = View::default();
    let loss = |step: u64| 2.3 * (-(step as f64) / 900.0).exp() + 0.02;
    for step in 1..=3300 {
        let noise = 1.0 + 0.2 * (step as f64 * 12.9898).sin();
        let accuracy = 1.0 - loss(step) / 2.6;
        let metrics = [("loss", loss(step) * noise), ("accuracy", accuracy)];
        view.step(&Status {
            step,
            total: 5000,
            epoch: (step as usize - 1) / 500,
            steps_per_epoch: 500,
            examples_per_step: Some(128),
            rate: Some(412.5),
            metrics: metrics
                .map(|(name, value)| (name.to_string(), value))
                .to_vec(),
            saved: (step >= 500).then_some(step / 500 * 500),
            folder: Some(PathBuf::from("out/digits")),
        });
        if step % 500 == 0 {
            let metrics = [
                ("val_loss", loss(step) + 0.05),
                ("val_accuracy", accuracy - 0.02),
            ];
            let metrics = metrics.map(|(name, value)| (name.to_string(), value));
            let status = view.status.clone();
            view.evaluated(&status, &metrics);
            let [(_, loss), (_, accuracy)] = metrics;
            view.message(&format!(
                "Epoch {}, step {step}: val_loss {loss:.4}  val_accuracy {accuracy:.4}",
                status.epoch + 1
            ));
        }
    }
    view.elapsed = Duration::from_secs(8);
    view.memory = Memory {
        device: Some(1_288_490_188),
        device_limit: Some(16 << 30),
        host: Some(734_003_200),
    };
    view
}

fn drawn(view: &View, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal.draw(|frame| draw(view, frame)).expect("drawn");
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let row = |cells: &[Cell]| cells.iter().map(|cell| cell.symbol()).collect::<String>();
    let rows = buffer.content.chunks(width).map(row);
    rows.map(|row| row.trim_end().to_string() + "\n").collect()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// `RAMIE_TEST_UI=overwrite` replaces the recorded texts and the picture.
fn overwrites() -> bool {
    std::env::var("RAMIE_TEST_UI").is_ok_and(|value| value == "overwrite")
}

/// Compares a text with a file, or writes it.
fn expect(path: &Path, text: &str) {
    if overwrites() {
        std::fs::write(path, text).expect("written");
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert!(expected == text, "{} differs:\n{text}", path.display());
}

#[test]
fn a_large_terminal_shows_everything() {
    let text = text(&drawn(&view(), 120, 40));
    for part in [
        "epoch 7/10",
        "step 3,300/5,000",
        "left 0:00:04",
        "examples/s",
        "1.2 GiB of 16.0",
    ] {
        assert!(text.contains(part), "{part}\nin\n{text}");
    }
    expect(&root().join("train/tests/dashboard-120x40.txt"), &text);
}

/// The page of the book contains the dashboard of 80 x 24 characters.
#[test]
fn the_book_shows_the_dashboard() {
    const FENCE: &str = "```text\n";
    let path = root().join("docs/plots.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (before, rest) = page.split_once("<!-- dashboard -->\n\n").expect("the mark");
    let (_, after) = rest[FENCE.len()..].split_once("```\n").expect("the end");
    let text = text(&drawn(&view(), 80, 24));
    let new = format!("{before}<!-- dashboard -->\n\n{FENCE}{text}```\n{after}");
    expect(&path, &new);
}

#[test]
fn any_size_and_any_state_can_be_drawn() {
    let mut odd = view();
    odd.status.total = 0;
    odd.status.rate = Some(f64::NAN);
    odd.message(&"a long message ".repeat(50));
    odd.is_stopping = true;
    let mut constant = View::default();
    for loss in [f64::NAN, 0.0, f64::INFINITY, 0.0] {
        let metrics = vec![("loss".to_string(), loss)];
        constant.step(&Status {
            metrics,
            ..Status::default()
        });
    }
    for view in [View::default(), view(), odd.clone(), constant] {
        for width in [1, 2, 5, 20, 63, 64, 80, 200] {
            for height in [1, 2, 3, 5, 10, 13, 14, 24, 60] {
                drawn(&view, width, height);
            }
        }
    }
    let text = text(&drawn(&odd, 80, 24));
    assert!(text.contains("q again: stop at once"), "{text}");
    let first = self::text(&drawn(&View::default(), 80, 24));
    assert!(first.contains("waiting for the first step"), "{first}");
}

/// Width and height of a character in the picture.
const CELL: (f64, f64) = (8.0, 17.0);

fn color(color: TerminalColor, default: Color) -> Color {
    match color {
        TerminalColor::Gray => Color::rgb(170, 175, 185),
        TerminalColor::DarkGray => Color::rgb(85, 92, 105),
        TerminalColor::Green => Color::rgb(90, 170, 95),
        TerminalColor::LightBlue => Color::rgb(100, 170, 255),
        TerminalColor::LightYellow => Color::rgb(240, 205, 100),
        TerminalColor::LightRed => Color::rgb(240, 110, 110),
        TerminalColor::White => Color::WHITE,
        TerminalColor::Black => Color::rgb(45, 50, 60),
        _ => default,
    }
}

/// Draws the cells of a terminal.
fn picture(buffer: &Buffer) -> Drawing {
    let (columns, rows) = (f64::from(buffer.area.width), f64::from(buffer.area.height));
    let margin = 12.0;
    let size = (
        columns * CELL.0 + 2.0 * margin,
        rows * CELL.1 + 2.0 * margin,
    );
    let mut drawing = Drawing::new(size.0 as u32, size.1 as u32);
    let (paper, ink) = (Color::rgb(24, 27, 33), Color::rgb(225, 228, 232));
    drawing.rectangle(Area::new(0.0, 0.0, size.0, size.1), paper);
    for (i, cell) in buffer.content.iter().enumerate() {
        let (column, row) = (i % columns as usize, i / columns as usize);
        let left = margin + column as f64 * CELL.0;
        let top = margin + row as f64 * CELL.1;
        let back = color(cell.bg, paper);
        if back != paper {
            drawing.rectangle(Area::new(left, top, CELL.0, CELL.1), back);
        }
        let front = color(cell.fg, ink);
        let symbol = cell.symbol().chars().next().unwrap_or(' ');
        draw_symbol(&mut drawing, symbol, (left, top), front);
    }
    drawing
}

/// Draws braille and blocks as shapes, so that they touch, and other characters as text.
fn draw_symbol(drawing: &mut Drawing, symbol: char, (left, top): (f64, f64), color: Color) {
    // Bits of the dots by column and row.
    const DOTS: [[u32; 4]; 2] = [[0, 1, 2, 6], [3, 4, 5, 7]];
    match symbol {
        ' ' => {}
        '\u{2800}'..='\u{28ff}' => {
            for (x, column) in DOTS.iter().enumerate() {
                for (y, bit) in column.iter().enumerate() {
                    if (symbol as u32 - 0x2800) >> bit & 1 == 1 {
                        let x = left + CELL.0 * (0.25 + 0.5 * x as f64);
                        let y = top + CELL.1 * (0.125 + 0.25 * y as f64);
                        drawing.circle((x, y), 1.4, color);
                    }
                }
            }
        }
        // Full, and from seven eighths to one eighth.
        '\u{2588}'..='\u{258f}' => {
            let eighths = f64::from(8 - (symbol as u32 - 0x2588));
            let area = Area::new(left, top, CELL.0 * eighths / 8.0, CELL.1);
            drawing.rectangle(area, color);
        }
        _ => {
            let style = TextStyle::new(13.2).font(Font::Mono).color(color);
            let at = (left + CELL.0 / 2.0, top + 12.8);
            drawing.text(at, &symbol.to_string(), style.anchor(Anchor::Middle));
        }
    }
}

/// The picture in the documentation shows the present dashboard. Rasterizers of other processors
/// may round differently.
#[test]
fn the_picture_of_the_book_is_current() {
    let path = root().join("docs/pictures/dashboard.png");
    let drawing = picture(&drawn(&view(), 110, 32));
    if overwrites() {
        drawing.save(&path).expect("written");
    }
    let file = std::fs::File::open(&path).expect("the picture");
    let decoder = png::Decoder::new(std::io::BufReader::new(file));
    let mut reader = decoder.read_info().expect("a PNG file");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    let expected = drawing.to_rgb();
    assert_eq!(
        (info.height as usize, info.width as usize, 3),
        expected.dim()
    );
    let apart = pixels
        .iter()
        .zip(&expected)
        .filter(|(a, b)| a.abs_diff(**b) > 8);
    assert!(apart.count() < 100, "run with RAMIE_TEST_UI=overwrite");
}
