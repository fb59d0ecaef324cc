//! Parsing of tables: images with labels, and the split.

use super::{Digits, SIDE, Split};
use crate::{Error, Result};
use flate2::read::GzDecoder;
use ndarray::{Array1, Array3};
use ramie_core::files::{DAMAGED, Message};
use std::io::Read;

const PIXELS: usize = SIDE * SIDE;
const BRIGHTEST: u8 = 16;

/// An image of `N` pixels and its label, as stored in a row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row<const N: usize> {
    pub pixels: [u8; N],
    pub label: u8,
}

/// Returns the dataset from a compressed table of images and a table of the split, each with its
/// file name.
pub(super) fn digits(images: (&str, &[u8]), split: (&str, &str)) -> Result<Digits> {
    let text = gunzip(images.0, images.1)?;
    let rows = rows(images.0, &text, BRIGHTEST)?;
    let (train, test) = places(split.0, split.1, rows.len())?;
    Ok(Digits {
        train: take(&rows, &train),
        test: take(&rows, &test),
    })
}

/// Returns the text of a compressed file.
pub(crate) fn gunzip(file: &str, bytes: &[u8]) -> Result<String> {
    let mut text = String::new();
    match GzDecoder::new(bytes).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(e) => Err(Error::File {
            file: file.into(),
            message: Message::new(format!("cannot be decompressed: {e}")).help(DAMAGED),
        }),
    }
}

/// Parses the rows of a table, of `N` pixels from 0 to `brightest` and a label each.
pub(crate) fn rows<const N: usize>(file: &str, text: &str, brightest: u8) -> Result<Vec<Row<N>>> {
    text.lines()
        .enumerate()
        .map(|(i, line)| row(line, brightest).map_err(|message| bad_row(file, i, message)))
        .collect()
}

fn row<const N: usize>(line: &str, brightest: u8) -> Result<Row<N>, String> {
    let fields = line.split(',').count();
    if fields != N + 1 {
        return Err(format!(
            "has {fields} fields, expected {N} pixels and a label"
        ));
    }
    let mut pixels = [0; N];
    let mut fields = line.split(',');
    for (i, (pixel, field)) in pixels.iter_mut().zip(&mut fields).enumerate() {
        *pixel = number(field, brightest).map_err(|e| format!("pixel {i} is {e}"))?;
    }
    let label = fields.next().unwrap_or_default();
    let label = number(label, 9).map_err(|e| format!("the label is {e}"))?;
    Ok(Row { pixels, label })
}

fn number(field: &str, largest: u8) -> Result<u8, String> {
    match field.trim().parse() {
        Ok(n) if n <= largest => Ok(n),
        _ => Err(format!(
            "{field:?}, expected an integer from 0 to {largest}"
        )),
    }
}

/// Returns the indices of the training rows and of the test rows.
pub(super) fn places(file: &str, text: &str, count: usize) -> Result<(Vec<usize>, Vec<usize>)> {
    let mut lines = text.lines().enumerate();
    match lines.next() {
        Some((_, "split,row")) => {}
        Some((i, other)) => {
            let message = format!("is {other:?}, expected the header \"split,row\"");
            return Err(bad_row(file, i, message));
        }
        None => {
            return Err(Error::File {
                file: file.into(),
                message: Message::new("is empty, expected the header \"split,row\" and rows")
                    .help(DAMAGED),
            });
        }
    }
    let (mut train, mut test) = (Vec::new(), Vec::new());
    let mut first_use: Vec<Option<usize>> = vec![None; count];
    for (i, line) in lines {
        let bad = |message| bad_row(file, i, message);
        let Some((part, place)) = line.split_once(',') else {
            return Err(bad(format!("is {line:?}, expected a split and a row")));
        };
        let place = match place.trim().parse::<usize>() {
            Ok(place) if place < count => place,
            _ => {
                return Err(bad(format!(
                    "names image {place:?}, expected an integer below {count}"
                )));
            }
        };
        match part.trim() {
            "train" => train.push(place),
            "test" => test.push(place),
            other => {
                return Err(bad(format!(
                    "names the split {other:?}, expected \"train\" or \"test\""
                )));
            }
        }
        if let Some(before) = first_use[place].replace(i + 1) {
            return Err(bad(format!(
                "names image {place} again, after row {before}"
            )));
        }
    }
    Ok((train, test))
}

fn take(rows: &[Row<PIXELS>], places: &[usize]) -> Split {
    let pixel = |(n, y, x): (usize, usize, usize)| f32::from(rows[places[n]].pixels[y * SIDE + x]);
    Split {
        images: Array3::from_shape_fn((places.len(), SIDE, SIDE), pixel),
        labels: Array1::from_shape_fn(places.len(), |n| i32::from(rows[places[n]].label)),
    }
}

fn bad_row(file: &str, index: usize, message: String) -> Error {
    Error::Row {
        file: file.into(),
        row: index + 1,
        message: Message::new(message).help(DAMAGED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits::{IMAGES, SPLIT};
    use proptest::prelude::*;

    fn line(label: u8) -> String {
        let pixels = (0..PIXELS).map(|i| (i % 17).to_string());
        pixels
            .chain([label.to_string()])
            .collect::<Vec<_>>()
            .join(",")
    }

    #[test]
    fn the_data_set_is_whole() {
        let digits = digits(IMAGES, SPLIT).unwrap();
        assert_eq!(digits.train.images.dim(), (1347, 8, 8));
        assert_eq!(digits.test.images.dim(), (450, 8, 8));
        assert!(digits.train.images.iter().all(|p| (0.0..=16.0).contains(p)));
        // Known statistics of the 1,797 images: their brightness, and the number of each digit.
        let sum: f32 = digits.train.images.sum() + digits.test.images.sum();
        assert_eq!(sum, 561_718.0);
        let mut counts = [0; 10];
        for &l in digits.train.labels.iter().chain(&digits.test.labels) {
            counts[l as usize] += 1;
        }
        assert_eq!(counts, [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
    }

    #[test]
    fn rows_come_in_the_order_of_the_split() {
        let text = format!("{}\n{}\n{}\n", line(0), line(1), line(2));
        let mut gz = flate2::read::GzEncoder::new(text.as_bytes(), flate2::Compression::fast());
        let mut bytes = Vec::new();
        gz.read_to_end(&mut bytes).unwrap();
        let split = ("s", "split,row\ntrain,2\ntest,1\ntrain,0\n");
        let digits = digits(("i", &bytes), split).unwrap();
        assert_eq!(digits.train.labels.to_vec(), [2, 0]);
        assert_eq!(digits.test.labels.to_vec(), [1]);
        assert_eq!(digits.train.images[[0, 2, 0]], 16.0);
        assert_eq!(digits.train.images[[0, 2, 1]], 0.0);
    }

    /// The message of an error, without the remedy for damaged files.
    #[track_caller]
    fn said<T>(result: Result<T>) -> String {
        let message = result.err().expect("a damaged file").to_string();
        let message = message.strip_suffix(&format!("\n  help: {DAMAGED}"));
        message.expect("a remedy").to_owned()
    }

    #[test]
    fn a_bad_row_is_named() {
        let message = |text: &str| said(rows::<PIXELS>("digits.csv", text, BRIGHTEST));
        let good = line(3);
        assert_eq!(
            message(&format!("{good}\n1,2,3\n")),
            "digits.csv, row 2: has 3 fields, expected 64 pixels and a label"
        );
        assert_eq!(
            message(&good.replacen("0,1,", "0,17,", 1)),
            "digits.csv, row 1: pixel 1 is \"17\", expected an integer from 0 to 16"
        );
        assert_eq!(
            message(&format!("{}x", line(1))),
            "digits.csv, row 1: the label is \"1x\", expected an integer from 0 to 9"
        );
    }

    #[test]
    fn a_bad_split_is_named() {
        let message = |text: &str| said(places("split.csv", text, 3));
        let expect = |text: &str, expected: &str| assert_eq!(message(text), expected);
        expect(
            "",
            "split.csv: is empty, expected the header \"split,row\" and rows",
        );
        expect(
            "train,0\n",
            "split.csv, row 1: is \"train,0\", expected the header \"split,row\"",
        );
        expect(
            "split,row\ntrain\n",
            "split.csv, row 2: is \"train\", expected a split and a row",
        );
        expect(
            "split,row\ntrain,3\n",
            "split.csv, row 2: names image \"3\", expected an integer below 3",
        );
        expect(
            "split,row\nvalid,0\n",
            "split.csv, row 2: names the split \"valid\", expected \"train\" or \"test\"",
        );
        expect(
            "split,row\ntrain,0\ntest,0\n",
            "split.csv, row 3: names image 0 again, after row 2",
        );
    }

    #[test]
    fn a_truncated_file_is_named() {
        let (file, bytes) = IMAGES;
        for length in [0, 5, 1000, bytes.len() - 1] {
            let error = said(digits((file, &bytes[..length]), SPLIT));
            assert!(
                error.starts_with("digits.csv.gz: cannot be decompressed"),
                "{error}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(table in prop::collection::vec(
            (prop::collection::vec(0..=BRIGHTEST, PIXELS), 0..=9u8), 0..20,
        )) {
            let mut text = String::new();
            for (pixels, label) in &table {
                for p in pixels {
                    text += &format!("{p},");
                }
                text += &format!("{label}\n");
            }
            let read = rows::<PIXELS>("t", &text, BRIGHTEST).unwrap();
            prop_assert_eq!(read.len(), table.len());
            for (row, (pixels, label)) in read.iter().zip(&table) {
                prop_assert_eq!(&row.pixels[..], &pixels[..]);
                prop_assert_eq!(row.label, *label);
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[-0-9,\n xé\\r]{0,300}", count in 0..5usize) {
            let _ = rows::<PIXELS>("t", &text, BRIGHTEST);
            let _ = places("t", &format!("split,row\n{text}"), count);
        }
    }
}
