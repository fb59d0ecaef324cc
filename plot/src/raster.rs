//! Drawings as pixels.

use crate::drawing::Shape;
use crate::{Anchor, Area, Color, Drawing, TextStyle};
use tiny_skia::{
    FillRule, FilterQuality, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap,
    PixmapPaint, Rect, Stroke, Transform,
};
use ttf_parser::OutlineBuilder;

/// Returns the pixels of a drawing, three bytes each, in rows from the top.
pub(crate) fn rgb(drawing: &Drawing) -> Vec<u8> {
    let (width, height) = (drawing.width(), drawing.height());
    let mut pixmap = Pixmap::new(width, height).expect("the size was checked");
    pixmap.fill(tiny_skia::Color::WHITE);
    let mut canvas = Canvas { pixmap, mask: None };
    for shape in &drawing.shapes {
        canvas.draw(shape);
    }
    // The background is opaque, so premultiplied colors are the colors.
    let pixels = canvas.pixmap.pixels().iter();
    pixels
        .flat_map(|p| [p.red(), p.green(), p.blue()])
        .collect()
}

struct Canvas {
    pixmap: Pixmap,
    mask: Option<Mask>,
}

fn paint(color: Color, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    let alpha = (opacity * 255.0).round() as u8;
    paint.set_color_rgba8(color.red, color.green, color.blue, alpha);
    paint.anti_alias = true;
    paint
}

/// Returns nothing for an area without pixels.
fn rectangle(area: Area) -> Option<Path> {
    let [x, y, w, h] = [area.left, area.top, area.width, area.height].map(|v| v as f32);
    Some(PathBuilder::from_rect(Rect::from_xywh(x, y, w, h)?))
}

fn polyline(points: &[(f64, f64)]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        match i {
            0 => path.move_to(*x as f32, *y as f32),
            _ => path.line_to(*x as f32, *y as f32),
        }
    }
    path.finish()
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rectangle(area, color) => self.fill(rectangle(*area), *color),
            Shape::Frame(area, color, width) => {
                self.stroke(rectangle(*area), *color, *width, 1.0, LineJoin::Miter);
            }
            Shape::Line {
                points,
                color,
                width,
                opacity,
            } => self.stroke(polyline(points), *color, *width, *opacity, LineJoin::Round),
            Shape::Circle((x, y), radius, color) => {
                let path = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32);
                self.fill(path, *color);
            }
            Shape::Text(at, text, style) => self.text(*at, text, *style),
            Shape::Pixels { area, columns, rgb } => self.image(*area, *columns, rgb),
            Shape::Clip(area) => self.clip(*area),
        }
    }

    fn fill(&mut self, path: Option<Path>, color: Color) {
        if let Some(path) = path {
            let (paint, mask) = (paint(color, 1.0), self.mask.as_ref());
            let rule = FillRule::Winding;
            self.pixmap
                .fill_path(&path, &paint, rule, Transform::identity(), mask);
        }
    }

    fn stroke(
        &mut self,
        path: Option<Path>,
        color: Color,
        width: f64,
        opacity: f64,
        join: LineJoin,
    ) {
        if let Some(path) = path {
            let stroke = Stroke {
                width: width as f32,
                line_cap: LineCap::Butt,
                line_join: join,
                ..Stroke::default()
            };
            let (paint, mask) = (paint(color, opacity), self.mask.as_ref());
            self.pixmap
                .stroke_path(&path, &paint, &stroke, Transform::identity(), mask);
        }
    }

    fn text(&mut self, at: (f64, f64), text: &str, style: TextStyle) {
        let length = style.font.width(text, style.size);
        let back = match style.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => length / 2.0,
            Anchor::End => length,
        };
        let scale = style.size / f64::from(style.font.face().units_per_em());
        let mut along = -back;
        for c in text.chars() {
            let mut outline = Outline {
                path: PathBuilder::new(),
                origin: at,
                along,
                scale,
                upright: style.upright,
            };
            let glyph = style.font.glyph(c);
            // A space has no outline.
            if style
                .font
                .face()
                .outline_glyph(glyph, &mut outline)
                .is_some()
            {
                self.fill(outline.path.finish(), style.color);
            }
            along += style.font.advance(c) * scale;
        }
    }

    fn image(&mut self, area: Area, columns: usize, rgb: &[u8]) {
        let rows = rgb.len() / 3 / columns.max(1);
        let Some(mut image) = Pixmap::new(columns as u32, rows as u32) else {
            return;
        };
        for (to, from) in image
            .data_mut()
            .chunks_exact_mut(4)
            .zip(rgb.chunks_exact(3))
        {
            to[..3].copy_from_slice(from);
            to[3] = 255;
        }
        let (x, y) = (area.width / columns as f64, area.height / rows as f64);
        // Enlarged pixels have sharp edges; reduced ones are averaged.
        let quality = if x < 1.0 || y < 1.0 {
            FilterQuality::Bilinear
        } else {
            FilterQuality::Nearest
        };
        let paint = PixmapPaint {
            quality,
            ..PixmapPaint::default()
        };
        let [x, y, left, top] = [x, y, area.left, area.top].map(|v| v as f32);
        let place = Transform::from_row(x, 0.0, 0.0, y, left, top);
        let mask = self.mask.as_ref();
        self.pixmap
            .draw_pixmap(0, 0, image.as_ref(), &paint, place, mask);
    }

    fn clip(&mut self, area: Option<Area>) {
        self.mask = area.and_then(|area| {
            let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height())?;
            let rule = FillRule::Winding;
            mask.fill_path(&rectangle(area)?, rule, false, Transform::identity());
            Some(mask)
        });
    }
}

/// Collects the outline of a glyph in pixels.
struct Outline {
    path: PathBuilder,
    /// Position of the text.
    origin: (f64, f64),
    /// Distance of the glyph from that position.
    along: f64,
    /// Pixels per font unit.
    scale: f64,
    upright: bool,
}

impl Outline {
    /// Returns the pixel of a point of the font, whose vertical axis points up.
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        let along = self.along + f64::from(x) * self.scale;
        let above = f64::from(y) * self.scale;
        let (x, y) = if self.upright {
            (self.origin.0 - above, self.origin.1 - along)
        } else {
            (self.origin.0 + along, self.origin.1 - above)
        };
        (x as f32, y as f32)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
