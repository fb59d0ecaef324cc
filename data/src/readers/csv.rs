//! Reader of CSV files (comma-separated values).
//!
//! ```
//! use ramie_data::{DataLoader, readers::csv};
//! let text = "width,height,kind\n1.5,2,iris\n3,4,\"lily\"\n";
//! let table = csv::parse("flowers.csv", text.as_bytes(), &csv::Options::default())?;
//! let x = table.matrix::<f32>(&["width", "height"])?;
//! let (labels, classes) = table.classes("kind")?;
//! assert_eq!(x, ndarray::array![[1.5, 2.0], [3.0, 4.0]]);
//! assert_eq!((labels.to_vec(), classes), (vec![0, 1], vec!["iris".to_string(), "lily".into()]));
//! let loader = DataLoader::new((x, labels)).batch_size(2);
//! # Ok::<(), ramie_data::Error>(())
//! ```

use super::file::{
    MARK, bad_file, bad_row, byte_order_mark, missing, name_of, read, unreadable, without_mark,
};
use super::text::CONVERT;
use crate::stream::{Position, Stream, from_fn};
use crate::{Error, Result, Resumable, Source};
use ::csv::{ReaderBuilder, StringRecord};
use ndarray::{Array1, Array2};
use ramie_core::files::{self, DAMAGED, Message, WithHelp};
use ramie_core::text::listed;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::io::{Cursor, Read};
use std::path::Path;
use std::str::FromStr;

/// Options of the CSV format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The field delimiter. Defaults to a comma.
    pub delimiter: u8,
    /// Whether the first row is a header. Defaults to `true`. Without a header, the columns are
    /// named `0`, `1`, and so on.
    pub header: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            delimiter: b',',
            header: true,
        }
    }
}

/// A table in memory. As a source, its elements are rows of strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    file: String,
    names: Vec<String>,
    rows: Vec<StringRecord>,
}

/// Loads a table from a file.
///
/// # Errors
/// Returns an error if the file cannot be read, if the rows have different numbers of fields, or
/// if a row is not UTF-8.
pub fn load(path: impl AsRef<Path>, options: &Options) -> Result<Table> {
    let path = path.as_ref();
    parse(&name_of(path), &read(path)?, options)
}

fn builder(options: &Options) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder
        .delimiter(options.delimiter)
        .has_headers(options.header);
    builder
}

/// Parses a table from the contents of a file. Errors refer to the file by the name `file`.
///
/// # Errors
/// Returns an error if two columns have the same name, if the rows have different numbers of fields,
/// if a row is not UTF-8, or if a table of one column has an empty line.
pub fn parse(file: &str, bytes: &[u8], options: &Options) -> Result<Table> {
    let mut reader = builder(options).from_reader(without_mark(file, bytes)?);
    let mut names: Vec<String> = if options.header {
        let header = reader.headers().map_err(|e| error(file, &e))?;
        header.iter().map(str::to_string).collect()
    } else {
        Vec::new()
    };
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            return Err(bad_row(
                file,
                1,
                Message::new(format!("two columns are named {name:?}")).help("rename one of them"),
            ));
        }
    }
    let mut rows = Vec::new();
    let mut row = StringRecord::new();
    // The line at which the next row begins, counted from 1.
    let mut line = 1 + usize::from(options.header);
    while reader.read_record(&mut row).map_err(|e| error(file, &e))? {
        line += expect_no_empty_line(file, &row, line, reader.position().line())?;
        rows.push(row.clone());
    }
    if !options.header {
        let columns = rows.first().map_or(0, StringRecord::len);
        // Only the first row shows how many columns there are.
        names = (0..columns).map(|i| i.to_string()).collect();
    }
    Ok(Table {
        file: file.into(),
        names,
        rows,
    })
}

/// Returns a stream of the rows of a file, which reads one row at a time. A row with a different
/// number of fields than the others is returned as an error.
pub fn stream(
    path: &Path,
    options: &Options,
) -> impl Stream<Item = Vec<String>>
+ IntoIterator<Item = Result<Vec<String>>, IntoIter: Resumable<State = Position>>
+ 'static
+ use<> {
    let (path, builder) = (path.to_path_buf(), builder(options));
    from_fn(move || {
        let name = name_of(&path);
        // `from_fn` expects an iterator, so a file that does not open becomes one error.
        let (rows, failure) = match open(&path, &name) {
            Ok(file) => (Some(builder.from_reader(file).into_records()), None),
            Err(e) => (None, Some(Err(e))),
        };
        let rows = rows.into_iter().flatten().map(move |row| match row {
            Ok(row) => Ok(fields(&row)),
            Err(e) => Err(error(&name, &e)),
        });
        failure.into_iter().chain(rows)
    })
}

/// Returns the number of lines of a row that begins at `line`. It is an error if empty lines come before
/// a row of one field, where they may be meant as empty fields: the parser skips them. `end` is the
/// parser's line after the row.
fn expect_no_empty_line(file: &str, row: &StringRecord, line: usize, end: u64) -> Result<usize> {
    // A quoted field may contain line breaks. Lines beyond these were empty and skipped.
    let own = 1 + row
        .iter()
        .map(|field| field.matches('\n').count())
        .sum::<usize>();
    let read = row
        .position()
        .map_or(0, |start| end.saturating_sub(start.line()));
    if row.len() != 1 || read as usize <= own {
        return Ok(own);
    }
    Err(bad_row(
        file,
        line,
        Message::new("the line is empty, and the table has one column")
            .help("write an empty field as \"\", or remove the line"),
    ))
}

/// Opens a file after its byte order mark.
fn open(path: &Path, name: &str) -> Result<impl Read + use<>> {
    let failed = |e| unreadable(name, &e);
    let mut file = files::open(path).map_err(failed)?;
    let mut first = Vec::new();
    let start = Read::by_ref(&mut file).take(MARK as u64);
    let read = { start }.read_to_end(&mut first);
    read.map_err(failed)?;
    let mark = byte_order_mark(name, &first)?;
    // The bytes that were read to find a mark are data if there is none.
    Ok(Cursor::new(first.split_off(mark)).chain(file))
}

fn fields(row: &StringRecord) -> Vec<String> {
    row.iter().map(str::to_string).collect()
}

fn error(file: &str, e: &::csv::Error) -> Error {
    let message = match e.kind() {
        ::csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => Message::new(format!(
            "has {len} fields, expected {expected_len} as in the first row"
        ))
        .help("complete the row, or quote fields that contain the delimiter"),
        ::csv::ErrorKind::Utf8 { err, .. } => {
            Message::new(format!("is not UTF-8: {err}")).help(CONVERT)
        }
        ::csv::ErrorKind::Io(e) => format!("cannot be read: {}", WithHelp(e)).into(),
        _ => Message::new(format!("cannot be read: {e}")).help(DAMAGED),
    };
    match e.position() {
        Some(position) => bad_row(file, position.line() as usize, message),
        None => bad_file(file, message),
    }
}

impl Table {
    /// Returns the names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the index of a column.
    ///
    /// # Errors
    /// Returns an error if there is no column of this name.
    pub fn place(&self, name: &str) -> Result<usize> {
        let found = self.names.iter().position(|n| n == name);
        let names = self.names.iter().map(String::as_str);
        found.ok_or_else(|| missing(&self.file, "column", name, names))
    }

    /// Returns a table of some of the rows, in the given order, such as the training part of a split.
    /// Errors name the rows of the file.
    ///
    /// ```
    /// use ramie_data::{IntoSource, SourceExt, readers::csv};
    /// let text = "width,kind\n1.5,iris\n3,iris\n4,lily\n5,lily\n";
    /// let table = csv::parse("t.csv", text.as_bytes(), &csv::Options::default())?;
    /// let (kinds, _) = table.classes("kind")?;
    /// let parts = (0..4).into_source().stratified_split([0.5, 0.5], &kinds, 0);
    /// let [train, test] = parts.map(|part| table.rows(part.indices()));
    /// assert_eq!(train.classes("kind")?.1, test.classes("kind")?.1);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if an index is out of range.
    #[track_caller]
    pub fn rows(&self, indices: impl IntoIterator<Item = usize>) -> Table {
        let len = self.rows.len();
        let mut rows = Vec::new();
        for index in indices {
            let row = self.rows.get(index);
            assert!(
                row.is_some(),
                "Table::rows: index {index} is out of range for a table of {len} rows\n  help: indices start \
                 at 0, at the row after the header"
            );
            rows.extend(row.cloned());
        }
        let (file, names) = (self.file.clone(), self.names.clone());
        Table { file, names, rows }
    }

    /// Returns a column as strings.
    ///
    /// # Errors
    /// Returns an error if there is no column of this name.
    pub fn texts(&self, name: &str) -> Result<Vec<&str>> {
        let place = self.place(name)?;
        Ok(self.rows.iter().map(|row| &row[place]).collect())
    }

    /// Parses the values of a column.
    ///
    /// # Errors
    /// Returns an error if there is no column of this name, or if a field cannot be parsed.
    pub fn column<T>(&self, name: &str) -> Result<Array1<T>>
    where
        T: FromStr<Err: Display>,
    {
        let place = self.place(name)?;
        let value = |row: &StringRecord| self.value(row, place);
        self.rows.iter().map(value).collect()
    }

    /// Parses the values of several columns into a matrix: `[rows, columns]`.
    ///
    /// # Errors
    /// Returns an error if a column does not exist, or if a field cannot be parsed.
    pub fn matrix<T>(&self, names: &[&str]) -> Result<Array2<T>>
    where
        T: FromStr<Err: Display>,
    {
        let places = names.iter().map(|name| self.place(name));
        let places = places.collect::<Result<Vec<usize>>>()?;
        let mut values = Vec::with_capacity(self.rows.len() * places.len());
        for row in &self.rows {
            for place in &places {
                values.push(self.value(row, *place)?);
            }
        }
        let matrix = Array2::from_shape_vec((self.rows.len(), places.len()), values);
        Ok(matrix.expect("a value for each field"))
    }

    fn value<T: FromStr<Err: Display>>(&self, row: &StringRecord, place: usize) -> Result<T> {
        let field = row[place].trim();
        field.parse().map_err(|e| {
            let line = row.position().map_or(0, |p| p.line()) as usize;
            let name = &self.names[place];
            bad_row(
                &self.file,
                line,
                Message::new(format!("column {name:?} is {field:?}: {e}"))
                    .help("correct the field, or read the column as another type or with `texts`"),
            )
        })
    }

    /// Encodes a column of class names as numbers. Returns the class number of each row, and the
    /// class names in sorted order.
    ///
    /// The numbers depend on the names in this table. Save the names with the model, and read other
    /// tables, such as those of a test or of inference, with [`codes`](Table::codes).
    ///
    /// # Errors
    /// Returns an error if there is no column of this name.
    pub fn classes(&self, name: &str) -> Result<(Array1<i32>, Vec<String>)> {
        let mut texts = self.texts(name)?;
        texts.iter_mut().for_each(|text| *text = text.trim());
        // Sorted, so that the numbers do not depend on the order of the rows.
        let classes: BTreeSet<&str> = texts.iter().copied().collect();
        let classes: Vec<&str> = classes.into_iter().collect();
        // `classes` is sorted and contains the text, so the point is its index.
        let number = |text: &&str| classes.partition_point(|c| c < text) as i32;
        let labels = texts.iter().map(number).collect();
        Ok((labels, classes.into_iter().map(str::to_string).collect()))
    }
}

impl Table {
    /// Encodes a column of class names as their indices among known ones, such as those that
    /// [`classes`](Table::classes) of the training data returned.
    ///
    /// ```
    /// use ramie_data::readers::csv;
    /// let parse = |text: &str| csv::parse("t.csv", text.as_bytes(), &csv::Options::default());
    /// let (labels, known) = parse("kind\niris\nlily\n")?.classes("kind")?;
    /// // Alone, `lily` would be class 0.
    /// assert_eq!(parse("kind\nlily\n")?.codes("kind", &known)?.to_vec(), [1]);
    /// let error = parse("kind\nlily\nrose\n")?.codes("kind", &known).unwrap_err();
    /// assert!(error.to_string().starts_with("t.csv, row 3: column \"kind\" is \"rose\""));
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no column of this name, or if a name is not known.
    pub fn codes<N: AsRef<str>>(&self, name: &str, known: &[N]) -> Result<Array1<i32>> {
        let place = self.place(name)?;
        let codes: HashMap<&str, i32> = known.iter().map(|n| n.as_ref().trim()).zip(0..).collect();
        let code = |row: &StringRecord| {
            codes.get(row[place].trim()).copied().ok_or_else(|| {
                let line = row.position().map_or(0, |p| p.line()) as usize;
                let known = listed(known.iter().map(N::as_ref));
                bad_row(
                    &self.file,
                    line,
                    Message::new(format!(
                        "column {name:?} is {:?}, which is not among the known classes {known}",
                        &row[place]
                    ))
                    .help("correct the field, or train with data that contains this class"),
                )
            })
        };
        self.rows.iter().map(code).collect()
    }
}

impl Source for Table {
    type Item = Vec<String>;
    fn len(&self) -> usize {
        self.rows.len()
    }
    fn get(&self, index: usize) -> Result<Vec<String>> {
        crate::source::check(index, self.rows.len())?;
        Ok(fields(&self.rows[index]))
    }
}
