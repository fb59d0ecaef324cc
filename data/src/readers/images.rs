//! Reader of directories of images (feature `images`).

use super::file::{bad_file, damaged, decoded, name_of, read, unreadable};
use crate::source::check;
use crate::{Result, Source};
use image::{ImageReader, Limits};
use ndarray::Array3;
use ramie_core::files::Message;
use ramie_core::text::listed;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// The maximum width and height of an image, in pixels.
const LONGEST_SIDE: u32 = 1 << 14;
/// The maximum memory for decoding one image, in bytes.
const MOST_MEMORY: u64 = 1 << 28;
/// Extensions of images that torchvision reads and Ramie does not.
const UNREAD: [&str; 6] = ["bmp", "pgm", "ppm", "tif", "tiff", "webp"];
/// The remedy for a directory without images.
const EXPECTED: &str = "pass a directory that has one directory of .png or .jpg files per class";

/// A directory with one subdirectory of images per class (torchvision's `ImageFolder`). Images
/// are decoded on access. An element is the red, green and blue values of each pixel, `[height,
/// width, 3]`, and the class number. The formats are PNG and JPEG.
///
/// ```no_run
/// use ramie_data::{Augment, DataLoader, SourceExt, readers::images::ImageFolder};
/// let folder = ImageFolder::open("flowers/train")?;
/// println!("{:?}", folder.classes());
/// let augment = Augment::new().resize(256, 256).random_crop(224, 224, 0).random_flip(0.5);
/// let source = folder.seed(0).apply(augment);
/// let loader = DataLoader::new(source).batch_size(32).shuffle(0).workers(8);
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ImageFolder {
    classes: Vec<String>,
    files: Vec<(PathBuf, i32)>,
}

impl ImageFolder {
    /// Lists the images of a directory. Classes and files are sorted by name.
    ///
    /// The class numbers depend on the subdirectories. Save the [`classes`](ImageFolder::classes)
    /// with the model, and open other directories, such as those of a test, with
    /// [`open_with`](ImageFolder::open_with).
    ///
    /// # Errors
    /// Returns an error if a directory cannot be read, if it or one of its subdirectories has no
    /// images, or if one has images of another format, such as WebP.
    pub fn open(folder: impl AsRef<Path>) -> Result<ImageFolder> {
        ImageFolder::list(folder.as_ref(), None)
    }

    /// Lists the images of a directory with known classes, such as those of the training data. A
    /// class is numbered by its index among them. The directory may contain fewer classes.
    ///
    /// ```no_run
    /// use ramie_data::readers::images::ImageFolder;
    /// let train = ImageFolder::open("flowers/train")?;
    /// let test = ImageFolder::open_with("flowers/test", train.classes())?;
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`open`](ImageFolder::open), and an error if a subdirectory is not among
    /// the classes.
    pub fn open_with<N: AsRef<str>>(
        folder: impl AsRef<Path>,
        classes: &[N],
    ) -> Result<ImageFolder> {
        let known = classes.iter().map(|name| name.as_ref().to_owned());
        ImageFolder::list(folder.as_ref(), Some(known.collect()))
    }

    fn list(folder: &Path, known: Option<Vec<String>>) -> Result<ImageFolder> {
        let refused = |what: &str| {
            let message = Message::new(what).help(EXPECTED);
            Err(bad_file(&name_of(folder), message))
        };
        if !folder.is_dir() {
            return refused("is not a directory");
        }
        let is_fixed = known.is_some();
        let mut classes = known.unwrap_or_default();
        let mut files = Vec::new();
        for class in entries(folder)?.into_iter().filter(|path| path.is_dir()) {
            let name = class.file_name().unwrap_or_default().to_string_lossy();
            let label = match classes.iter().position(|known| *known == name) {
                Some(label) => label,
                None if is_fixed => {
                    let message = Message::new(format!(
                        "is not among the known classes {}",
                        listed(&classes)
                    ))
                    .help(
                        "rename or remove the directory, or train with data that contains this \
                         class",
                    );
                    return Err(bad_file(&name_of(&class), message));
                }
                None => {
                    classes.push(name.into_owned());
                    classes.len() - 1
                }
            };
            let images = images(&class)?;
            files.extend(images.into_iter().map(|path| (path, label as i32)));
        }
        if files.is_empty() {
            return refused("has no images");
        }
        Ok(ImageFolder { classes, files })
    }

    /// Returns the names of the classes, in the order of their numbers.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Returns the path of an element's file.
    ///
    /// # Errors
    /// Returns an error if the index is out of range.
    pub fn path(&self, index: usize) -> Result<&Path> {
        check(index, self.files.len())?;
        Ok(&self.files[index].0)
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let bad = |e: std::io::Error| unreadable(&name_of(folder), &e);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(bad)? {
        paths.push(entry.map_err(bad)?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Returns the images of a class. Files of other kinds, such as a text with their source, are
/// skipped.
fn images(class: &Path) -> Result<Vec<PathBuf>> {
    let is_among = |path: &Path, extensions: &[&str]| {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        extensions.iter().any(|e| extension == *e)
    };
    let mut paths = entries(class)?;
    // A run without these images would train on less data than the user believes.
    if let Some(other) = paths.iter().find(|path| is_among(path, &UNREAD)) {
        let message = Message::new("is an image of a format that is not supported")
            .help("convert it to PNG or JPEG, or remove it");
        return Err(bad_file(&name_of(other), message));
    }
    paths.retain(|path| is_among(path, &["png", "jpg", "jpeg"]));
    if paths.is_empty() {
        let message = Message::new("has no .png or .jpg files")
            .help("add images of this class, or remove the directory");
        return Err(bad_file(&name_of(class), message));
    }
    Ok(paths)
}

impl Source for ImageFolder {
    type Item = (Array3<u8>, i32);
    fn len(&self) -> usize {
        self.files.len()
    }
    fn get(&self, index: usize) -> Result<(Array3<u8>, i32)> {
        check(index, self.files.len())?;
        let (path, label) = &self.files[index];
        Ok((decode(&name_of(path), &read(path)?)?, *label))
    }
}

/// Decodes the contents of a PNG or JPEG file to an image of `[height, width, 3]`. Errors refer
/// to the file by the name `file`.
///
/// # Errors
/// Returns an error if the contents are damaged, if the image has more than 16,384 pixels on a
/// side, or if decoding takes more than 256 MiB.
pub fn decode(file: &str, bytes: &[u8]) -> Result<Array3<u8>> {
    decoded(file, || decode_image(file, bytes))
}

fn decode_image(file: &str, bytes: &[u8]) -> Result<Array3<u8>> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
    let mut reader = reader.map_err(|e| unreadable(file, &e))?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);
    let image = reader.decode();
    let bad = |e| damaged(file, format_args!("cannot be decoded as an image: {e}"));
    let image = image.map_err(bad)?;
    let image = image.into_rgb8();
    let (width, height) = image.dimensions();
    let shape = (height as usize, width as usize, 3);
    Ok(Array3::from_shape_vec(shape, image.into_raw()).expect("three bytes for each pixel"))
}
