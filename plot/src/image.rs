//! Single images as PNG files.

use crate::pixels::{IntoPixels, Pixels};
use crate::{Error, Result};
use png::ColorType;
use ramie_core::files;
use std::io::{self, Write};
use std::path::Path;

/// Writes an image as a PNG file without drawing anything else: one pixel per element.
///
/// The image is gray `[h, w]` or `[h, w, 1]`, RGB `[h, w, 3]` or RGBA `[h, w, 4]`. Floats range
/// from 0 to 1, integers from 0 to 255. Values outside are clipped; NaN counts as 0.
///
/// ```
/// use ndarray::Array2;
/// use ramie_plot::write_image;
///
/// let gradient = Array2::from_shape_fn((16, 32), |(_, x)| x as f32 / 31.0);
/// # let path = std::env::temp_dir().join(format!("ramie-plot-{}.png", std::process::id()));
/// write_image(&path, &gradient)?;
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if the name does not end in `.png` or the file cannot be written.
///
/// # Panics
/// Panics if the array has another shape or no element.
#[track_caller]
pub fn write_image(path: impl AsRef<Path>, image: impl IntoPixels) -> Result {
    let path = path.as_ref();
    let pixels = image.into_pixels();
    let (size, channels) = match pixels.shape[..] {
        [h, w] if h * w > 0 => ((w as u32, h as u32), 1),
        [h, w, channels @ (1 | 3 | 4)] if h * w > 0 => ((w as u32, h as u32), channels),
        _ => panic!(
            "write_image: an array of shape {:?} is not an image\n  help: pass [h, w], [h, w, 1], \
             [h, w, 3] or [h, w, 4]; of a batch, pass one image: images.index(0)",
            pixels.shape
        ),
    };
    let color = match channels {
        1 => ColorType::Grayscale,
        3 => ColorType::Rgb,
        _ => ColorType::Rgba,
    };
    let ending = path.extension().map(|e| e.to_ascii_lowercase());
    if ending.is_none_or(|ending| ending != "png") {
        return Err(Error::Format {
            path: path.to_path_buf(),
            endings: ".png",
        });
    }
    write_png(path, size, color, &bytes(&pixels))
}

/// Returns a byte per element.
fn bytes(pixels: &Pixels) -> Vec<u8> {
    let scale = 255.0 / pixels.limits().1;
    // The cast clips, and maps NaN to 0.
    let byte = |value: &f64| (value * scale).round() as u8;
    pixels.values.iter().map(byte).collect()
}

/// Encodes rows of pixels.
pub(crate) fn encode(
    out: impl Write,
    (width, height): (u32, u32),
    color: ColorType,
    bytes: &[u8],
) -> io::Result<()> {
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(color);
    encoder.set_compression(png::Compression::High);
    let io_error = |error| match error {
        png::EncodingError::IoError(error) => error,
        error => io::Error::other(error),
    };
    let mut writer = encoder.write_header().map_err(io_error)?;
    writer.write_image_data(bytes).map_err(io_error)?;
    writer.finish().map_err(io_error)
}

/// Writes rows of pixels to a file.
pub(crate) fn write_png(path: &Path, size: (u32, u32), color: ColorType, bytes: &[u8]) -> Result {
    let mut file = Vec::new();
    encode(&mut file, size, color, bytes)
        .and_then(|()| files::replace(path, &file))
        .map_err(|error| Error::write(path, error))
}
