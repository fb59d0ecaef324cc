//! Colors and color maps.

/// A color, with channels from 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color {
    /// The red channel.
    pub red: u8,
    /// The green channel.
    pub green: u8,
    /// The blue channel.
    pub blue: u8,
}

impl Color {
    /// Black.
    pub const BLACK: Color = Color::rgb(0, 0, 0);
    /// White.
    pub const WHITE: Color = Color::rgb(255, 255, 255);
    /// The first color of a plot's series.
    pub const BLUE: Color = Color::rgb(31, 119, 180);
    /// The second color of a plot's series.
    pub const ORANGE: Color = Color::rgb(255, 127, 14);
    /// The third color of a plot's series, and that of correct predictions.
    pub const GREEN: Color = Color::rgb(44, 160, 44);
    /// The fourth color of a plot's series, and that of wrong predictions.
    pub const RED: Color = Color::rgb(214, 39, 40);
    /// The fifth color of a plot's series.
    pub const PURPLE: Color = Color::rgb(148, 103, 189);
    /// The sixth color of a plot's series.
    pub const BROWN: Color = Color::rgb(140, 86, 75);
    /// The seventh color of a plot's series.
    pub const PINK: Color = Color::rgb(227, 119, 194);
    /// The eighth color of a plot's series.
    pub const GRAY: Color = Color::rgb(127, 127, 127);

    /// Colors of the first eight series of a plot, in order.
    pub const CYCLE: [Color; 8] = [
        Color::BLUE,
        Color::ORANGE,
        Color::GREEN,
        Color::RED,
        Color::PURPLE,
        Color::BROWN,
        Color::PINK,
        Color::GRAY,
    ];

    /// Creates a color from its channels.
    pub const fn rgb(red: u8, green: u8, blue: u8) -> Color {
        Color { red, green, blue }
    }

    /// Returns the color at a fraction from 0 (`self`) to 1 (`other`) of the way between both.
    pub fn mix(self, other: Color, fraction: f64) -> Color {
        let channel = |a: u8, b: u8| {
            let value = f64::from(a) + (f64::from(b) - f64::from(a)) * fraction.clamp(0.0, 1.0);
            value.round() as u8
        };
        Color {
            red: channel(self.red, other.red),
            green: channel(self.green, other.green),
            blue: channel(self.blue, other.blue),
        }
    }

    /// Returns whether white text is easier to read on this color than black text.
    pub(crate) fn is_dark(self) -> bool {
        let [r, g, b] = [self.red, self.green, self.blue].map(f64::from);
        0.299 * r + 0.587 * g + 0.114 * b < 140.0
    }
}

/// Maps numbers from 0 to 1 to colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Colormap {
    /// From black to white.
    Gray,
    /// From white to black, for ink on paper.
    Greys,
    /// From dark blue to yellow, with uniform steps of lightness.
    Viridis,
    /// From white to dark blue.
    Blues,
    /// From blue over light gray to red, for values around a center.
    Coolwarm,
}

impl Colormap {
    /// Returns the color of a number. Numbers outside 0 to 1 have the color of the nearest end;
    /// NaN has that of 0.
    ///
    /// ```
    /// use ramie_plot::{Color, Colormap};
    /// assert_eq!(Colormap::Gray.color(0.0), Color::BLACK);
    /// assert_eq!(Colormap::Greys.color(0.0), Color::WHITE);
    /// assert_eq!(Colormap::Gray.color(0.5), Color::rgb(128, 128, 128));
    /// ```
    pub fn color(self, value: f64) -> Color {
        let anchors = self.anchors();
        let value = if value.is_nan() {
            0.0
        } else {
            value.clamp(0.0, 1.0)
        };
        let place = value * (anchors.len() - 1) as f64;
        let index = (place as usize).min(anchors.len() - 2);
        let [from, to] = [anchors[index], anchors[index + 1]].map(|(r, g, b)| Color::rgb(r, g, b));
        from.mix(to, place - index as f64)
    }

    /// Returns the colors at equal distances from 0 to 1.
    fn anchors(self) -> &'static [(u8, u8, u8)] {
        match self {
            Colormap::Gray => &[(0, 0, 0), (255, 255, 255)],
            Colormap::Greys => &[(255, 255, 255), (0, 0, 0)],
            Colormap::Viridis => &[
                (68, 1, 84),
                (71, 44, 122),
                (59, 81, 139),
                (44, 113, 142),
                (33, 144, 141),
                (39, 173, 129),
                (92, 200, 99),
                (170, 220, 50),
                (253, 231, 37),
            ],
            Colormap::Blues => &[
                (247, 251, 255),
                (222, 235, 247),
                (198, 219, 239),
                (158, 202, 225),
                (107, 174, 214),
                (66, 146, 198),
                (33, 113, 181),
                (8, 81, 156),
                (8, 48, 107),
            ],
            Colormap::Coolwarm => &[
                (59, 76, 192),
                (124, 159, 249),
                (192, 212, 245),
                (221, 221, 221),
                (245, 196, 173),
                (238, 132, 104),
                (180, 4, 38),
            ],
        }
    }
}
