//! Drawings as SVG.

use crate::drawing::Shape;
use crate::{Anchor, Area, Color, Drawing, TextStyle};
use std::fmt::Write;

/// Returns the text of an SVG file.
pub(crate) fn text(drawing: &Drawing) -> String {
    let (width, height) = (drawing.width(), drawing.height());
    let mut out = Svg {
        text: format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n<rect width=\"{width}\" height=\"{height}\" \
             fill=\"#ffffff\"/>\n"
        ),
        clips: 0,
        clipped: false,
    };
    for shape in &drawing.shapes {
        out.draw(shape);
    }
    out.clip(None);
    out.text + "</svg>\n"
}

struct Svg {
    text: String,
    /// Number of clip paths so far, from which their names are made.
    clips: usize,
    clipped: bool,
}

fn hex(color: Color) -> String {
    format!("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue)
}

/// Formats a coordinate with at most two digits after the point.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0".to_string(),
        text => text.to_string(),
    }
}

fn place(area: Area) -> String {
    let [x, y, w, h] = [
        area.left,
        area.top,
        area.width.max(0.0),
        area.height.max(0.0),
    ]
    .map(number);
    format!("x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"")
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML has no control characters.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

impl Svg {
    fn draw(&mut self, shape: &Shape) {
        let element = match shape {
            Shape::Rectangle(area, color) => {
                format!("<rect {} fill=\"{}\"/>", place(*area), hex(*color))
            }
            Shape::Frame(area, color, width) => {
                let (place, color, width) = (place(*area), hex(*color), number(*width));
                format!("<rect {place} fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"/>")
            }
            Shape::Line {
                points,
                color,
                width,
                opacity,
            } => line(points, *color, *width, *opacity),
            Shape::Circle((x, y), radius, color) => {
                let [x, y, r] = [*x, *y, *radius].map(number);
                format!(
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{}\"/>",
                    hex(*color)
                )
            }
            Shape::Text(at, text, style) => label(*at, text, *style),
            Shape::Pixels { area, columns, rgb } => image(*area, *columns, rgb),
            Shape::Clip(area) => return self.clip(*area),
        };
        self.text.push_str(&element);
        self.text.push('\n');
    }

    fn clip(&mut self, area: Option<Area>) {
        if std::mem::take(&mut self.clipped) {
            self.text.push_str("</g>\n");
        }
        if let Some(area) = area {
            let (name, place) = (self.clips, place(area));
            self.clips += 1;
            self.clipped = true;
            let _ = writeln!(
                self.text,
                "<clipPath id=\"clip{name}\"><rect {place}/></clipPath>\n\
                 <g clip-path=\"url(#clip{name})\">"
            );
        }
    }
}

fn line(points: &[(f64, f64)], color: Color, width: f64, opacity: f64) -> String {
    let points = points.iter().map(|(x, y)| number(*x) + "," + &number(*y));
    let points: Vec<String> = points.collect();
    let (points, color, width) = (points.join(" "), hex(color), number(width));
    let opacity = if opacity < 1.0 {
        format!(" stroke-opacity=\"{}\"", number(opacity))
    } else {
        String::new()
    };
    format!(
        "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" \
         stroke-linejoin=\"round\"{opacity}/>"
    )
}

fn label((x, y): (f64, f64), text: &str, style: TextStyle) -> String {
    let [x, y, size] = [x, y, style.size].map(number);
    let anchor = match style.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let turned = if style.upright {
        format!(" transform=\"rotate(-90 {x} {y})\"")
    } else {
        String::new()
    };
    let (family, color, text) = (style.font.family(), hex(style.color), escaped(text));
    format!(
        "<text x=\"{x}\" y=\"{y}\" font-family=\"{family}\" font-size=\"{size}\" fill=\"{color}\" \
         text-anchor=\"{anchor}\" xml:space=\"preserve\"{turned}>{text}</text>"
    )
}

/// Embeds an image as a PNG file.
fn image(area: Area, columns: usize, rgb: &[u8]) -> String {
    let rows = rgb.len() / 3 / columns.max(1);
    let mut file = Vec::new();
    let size = (columns as u32, rows as u32);
    crate::image::encode(&mut file, size, png::ColorType::Rgb, rgb)
        .expect("writing to memory does not fail");
    format!(
        "<image {} preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" \
         href=\"data:image/png;base64,{}\"/>",
        place(area),
        base64(&file)
    )
}

/// Encodes bytes in base 64, with padding (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk
            .iter()
            .fold(0, |word, byte| word << 8 | u32::from(*byte));
        let word = word << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i) & 63) as usize] as char;
            out.push(if i <= chunk.len() { digit } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of RFC 4648.
    #[test]
    fn base64_pads_incomplete_groups() {
        for (text, code) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(text.as_bytes()), code);
        }
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(
            [1.0, 0.126, -0.001, 10.0].map(number),
            ["1", "0.13", "0", "10"]
        );
    }
}
