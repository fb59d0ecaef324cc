//! The embedded fonts.

use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId};

/// An embedded font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Font {
    /// DejaVu Sans.
    Sans,
    /// DejaVu Sans Mono, in which all characters have the same width.
    Mono,
}

type Loaded = LazyLock<Face<'static>>;

static SANS: Loaded = LazyLock::new(|| face(include_bytes!("../fonts/DejaVuSans.ttf")));
static MONO: Loaded = LazyLock::new(|| face(include_bytes!("../fonts/DejaVuSansMono.ttf")));

fn face(bytes: &'static [u8]) -> Face<'static> {
    Face::parse(bytes, 0).expect("the embedded fonts are well-formed")
}

impl Font {
    /// Returns the width of a text in pixels, at a size in pixels per em.
    ///
    /// ```
    /// use ramie_plot::Font;
    /// assert!(Font::Sans.width("iii", 12.0) < Font::Sans.width("mmm", 12.0));
    /// assert_eq!(Font::Mono.width("iii", 12.0), Font::Mono.width("mmm", 12.0));
    /// ```
    pub fn width(self, text: &str, size: f64) -> f64 {
        let face = self.face();
        let units: f64 = text.chars().map(|c| self.advance(c)).sum();
        units * size / f64::from(face.units_per_em())
    }

    pub(crate) fn face(self) -> &'static Face<'static> {
        match self {
            Font::Sans => &SANS,
            Font::Mono => &MONO,
        }
    }

    /// Returns the names of the family for SVG.
    pub(crate) fn family(self) -> &'static str {
        match self {
            Font::Sans => "DejaVu Sans, Verdana, sans-serif",
            Font::Mono => "DejaVu Sans Mono, Menlo, monospace",
        }
    }

    /// Returns the glyph of a character. A character that the font does not have is drawn as an
    /// empty box.
    pub(crate) fn glyph(self, c: char) -> GlyphId {
        self.face().glyph_index(c).unwrap_or(GlyphId(0))
    }

    /// Returns the width of a character in font units.
    pub(crate) fn advance(self, c: char) -> f64 {
        f64::from(
            self.face()
                .glyph_hor_advance(self.glyph(c))
                .unwrap_or_default(),
        )
    }
}
