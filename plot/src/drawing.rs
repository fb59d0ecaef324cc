//! Pictures as lists of shapes, which are written as PNG or SVG.

use crate::{Color, Error, Font, Result, raster, svg};
use ramie_core::files;
use std::path::Path;

/// An area in pixels from the upper left corner of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Distance of the left edge from the left.
    pub left: f64,
    /// Distance of the upper edge from the top.
    pub top: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Area {
    /// Creates an area.
    pub const fn new(left: f64, top: f64, width: f64, height: f64) -> Area {
        Area {
            left,
            top,
            width,
            height,
        }
    }

    pub(crate) fn right(self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(self) -> f64 {
        self.top + self.height
    }

    pub(crate) fn contains(self, (x, y): (f64, f64)) -> bool {
        (self.left..=self.right()).contains(&x) && (self.top..=self.bottom()).contains(&y)
    }
}

/// The point of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The left end.
    Start,
    /// The center.
    Middle,
    /// The right end.
    End,
}

/// The style of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextStyle {
    /// The font.
    pub font: Font,
    /// Pixels per em.
    pub size: f64,
    /// The color.
    pub color: Color,
    /// The point that is at the text's position.
    pub anchor: Anchor,
    /// Whether the text runs from bottom to top.
    pub upright: bool,
}

impl TextStyle {
    /// Creates the style of black text in DejaVu Sans that starts at its position.
    pub const fn new(size: f64) -> TextStyle {
        TextStyle {
            font: Font::Sans,
            size,
            color: Color::BLACK,
            anchor: Anchor::Start,
            upright: false,
        }
    }

    /// Sets the color.
    pub const fn color(mut self, color: Color) -> TextStyle {
        self.color = color;
        self
    }

    /// Sets the point that is at the text's position.
    pub const fn anchor(mut self, anchor: Anchor) -> TextStyle {
        self.anchor = anchor;
        self
    }

    /// Sets the font.
    pub const fn font(mut self, font: Font) -> TextStyle {
        self.font = font;
        self
    }

    pub(crate) const fn upright(mut self) -> TextStyle {
        self.upright = true;
        self
    }
}

pub(crate) enum Shape {
    Rectangle(Area, Color),
    /// A rectangle's outline along the edges of the area, and its width.
    Frame(Area, Color, f64),
    Line {
        points: Vec<(f64, f64)>,
        color: Color,
        width: f64,
        opacity: f64,
    },
    Circle((f64, f64), f64, Color),
    /// The position is on the baseline.
    Text((f64, f64), String, TextStyle),
    /// An image of RGB pixels with a number of columns.
    Pixels {
        area: Area,
        columns: usize,
        rgb: Vec<u8>,
    },
    /// The shapes that follow are only visible in the area, or everywhere.
    Clip(Option<Area>),
}

/// A picture made of shapes, on a white background.
///
/// [`Plot`](crate::Plot), [`Images`](crate::Images) and [`HeatMap`](crate::HeatMap) draw on one.
///
/// ```
/// use ramie_plot::{Area, Color, Drawing, TextStyle};
///
/// let mut drawing = Drawing::new(200, 100);
/// drawing.rectangle(Area::new(10.0, 10.0, 80.0, 50.0), Color::GREEN);
/// drawing.text((10.0, 80.0), "a green box", TextStyle::new(14.0));
/// let rgb = drawing.to_rgb(); // [100, 200, 3]
/// assert_eq!(rgb[[30, 30, 1]], Color::GREEN.green);
/// assert!(drawing.to_svg().contains("a green box"));
/// ```
pub struct Drawing {
    width: u32,
    height: u32,
    pub(crate) shapes: Vec<Shape>,
}

impl Drawing {
    /// Creates an empty picture of a size in pixels.
    ///
    /// # Panics
    /// Panics if the width or the height is zero or more than 16,384 pixels.
    #[track_caller]
    pub fn new(width: u32, height: u32) -> Drawing {
        let possible = 1..=16_384;
        if !possible.contains(&width) || !possible.contains(&height) {
            panic!(
                "a picture of {width} x {height} pixels cannot be drawn\n  help: use a width and a \
                 height from 1 to 16384"
            );
        }
        Drawing {
            width,
            height,
            shapes: Vec::new(),
        }
    }

    /// Returns the width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Adds a filled rectangle.
    pub fn rectangle(&mut self, area: Area, color: Color) {
        self.shapes.push(Shape::Rectangle(area, color));
    }

    /// Adds the outline of a rectangle, inside the area, with a width in pixels.
    pub fn frame(&mut self, area: Area, color: Color, width: f64) {
        let half = width / 2.0;
        let Area { left, top, .. } = area;
        let middle = Area::new(
            left + half,
            top + half,
            area.width - width,
            area.height - width,
        );
        self.shapes.push(Shape::Frame(middle, color, width));
    }

    /// Adds a line through points, with a width in pixels.
    pub fn line(&mut self, points: Vec<(f64, f64)>, color: Color, width: f64) {
        self.faint_line(points, color, width, 1.0);
    }

    pub(crate) fn faint_line(
        &mut self,
        points: Vec<(f64, f64)>,
        color: Color,
        width: f64,
        opacity: f64,
    ) {
        self.shapes.push(Shape::Line {
            points,
            color,
            width,
            opacity,
        });
    }

    /// Adds a filled circle.
    pub fn circle(&mut self, center: (f64, f64), radius: f64, color: Color) {
        self.shapes.push(Shape::Circle(center, radius, color));
    }

    /// Adds a text; `at` is on its baseline.
    pub fn text(&mut self, at: (f64, f64), text: &str, style: TextStyle) {
        self.shapes.push(Shape::Text(at, text.to_string(), style));
    }

    /// Adds an image of RGB pixels in rows of `columns` pixels, scaled to the area.
    pub(crate) fn pixels(&mut self, area: Area, columns: usize, rgb: Vec<u8>) {
        self.shapes.push(Shape::Pixels { area, columns, rgb });
    }

    pub(crate) fn clip(&mut self, area: Option<Area>) {
        self.shapes.push(Shape::Clip(area));
    }

    /// Returns the pixels as an array `[height, width, 3]`.
    pub fn to_rgb(&self) -> ndarray::Array3<u8> {
        let shape = (self.height as usize, self.width as usize, 3);
        let pixels = raster::rgb(self);
        ndarray::Array3::from_shape_vec(shape, pixels).expect("three bytes per pixel")
    }

    /// Returns the picture as the text of an SVG file.
    pub fn to_svg(&self) -> String {
        svg::text(self)
    }

    /// Writes the picture as a PNG or SVG file, depending on the ending of its name. An existing
    /// file is replaced by the complete new one.
    ///
    /// # Errors
    /// Returns an error if the name has another ending or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result {
        let path = path.as_ref();
        let ending = path.extension().map(|e| e.to_ascii_lowercase());
        match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("png") => {
                let size = (self.width, self.height);
                crate::image::write_png(path, size, png::ColorType::Rgb, &raster::rgb(self))
            }
            Some("svg") => {
                let text = self.to_svg();
                files::replace(path, text.as_bytes()).map_err(|error| Error::write(path, error))
            }
            _ => Err(Error::Format {
                path: path.to_path_buf(),
                endings: ".png or .svg",
            }),
        }
    }
}
