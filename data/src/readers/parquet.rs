//! Reader of Parquet and Arrow files (feature `parquet`).

use super::file::{
    Positioned, bad_file, bad_record, damaged, decoded, missing, name_of, unreadable,
};
use crate::source::check;
use crate::stream::{Position, Stream, from_fn};
use crate::{Error, HostArray, Result, Resumable, Source};
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use ndarray::ArrayD;
use ramie_core::Element;
use ramie_core::files;
use ramie_core::files::Message;
use std::path::Path;

/// A table in memory, with columns of numbers, booleans and strings.
///
/// ```no_run
/// use ramie_data::{DataLoader, readers::parquet};
/// let table = parquet::load("train.parquet")?;
/// let x = table.column("pixels")?.to_ndarray::<f32>()?;
/// let texts = table.texts("caption")?;
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    file: String,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// Loads a Parquet file or an Arrow IPC file (in the file format, with a footer).
///
/// # Errors
/// Returns an error if the file cannot be read or is damaged.
pub fn load(path: impl AsRef<Path>) -> Result<Table> {
    let file = name_of(path.as_ref());
    let (schema, batches) = open(path.as_ref())?;
    Ok(Table {
        schema,
        batches: numbered(file.clone(), batches).collect::<Result<_>>()?,
        file,
    })
}

/// Returns the batches of a file, up to the first that cannot be read.
fn numbered(
    file: String,
    mut batches: Batches,
) -> impl Iterator<Item = Result<RecordBatch>> + Send {
    let mut number = 0;
    let mut ended = false;
    std::iter::from_fn(move || {
        if ended {
            return None;
        }
        let bad = |e| damaged(&file, format_args!("batch {number} cannot be read: {e}"));
        let batch = decoded(&file, || batches.next().transpose().map_err(bad)).transpose();
        number += 1;
        // The error may be a caught panic of the decoder, so do not call it again.
        ended = !matches!(batch, Some(Ok(_)));
        batch
    })
}

fn open(path: &Path) -> Result<(SchemaRef, Batches)> {
    decoded(&name_of(path), || open_file(path))
}

fn open_file(path: &Path) -> Result<(SchemaRef, Batches)> {
    let name = name_of(path);
    let opened = || files::open(path).map_err(|e| unreadable(&name, &e));
    // Both formats are recognized by their contents, since names of files vary.
    let mut magic = [0; 6];
    let begins = std::io::Read::read(&mut opened()?, &mut magic);
    begins.map_err(|e| unreadable(&name, &e))?;
    if &magic == b"ARROW1" {
        check_arrow(&Positioned::open(path)?)?;
        let reader = arrow_ipc::reader::FileReader::try_new(opened()?, None);
        let bad = |e| damaged(&name, format_args!("is not an Arrow file: {e}"));
        let reader = reader.map_err(bad)?;
        return Ok((reader.schema(), Box::new(reader)));
    }
    let builder = ParquetRecordBatchReaderBuilder::try_new(opened()?);
    let reader = builder.and_then(ParquetRecordBatchReaderBuilder::build);
    let bad = |e| damaged(&name, format_args!("is not a Parquet file: {e}"));
    let reader = reader.map_err(bad)?;
    Ok((reader.schema(), Box::new(reader)))
}

/// Returns an error if an Arrow file refers to blocks outside of it: the decoder allocates memory
/// for them before it reads.
fn check_arrow(file: &Positioned) -> Result<()> {
    let bad = |what: String| damaged(file.name(), format_args!("is not an Arrow file: {what}"));
    let Some(end) = file.len().checked_sub(TAIL) else {
        return Err(bad("it is too short".into()));
    };
    let tail = file.read_at(end, TAIL as usize)?;
    let length = arrow_ipc::reader::read_footer_length(tail.try_into().expect("10 bytes"));
    let length = length.map_err(|e| bad(e.to_string()))?;
    let Some(start) = end.checked_sub(length as u64) else {
        return Err(bad(format!(
            "its footer should have {length} bytes, but only {end} precede its end"
        )));
    };
    let bytes = file.read_at(start, length)?;
    let footer = arrow_ipc::root_as_footer(&bytes);
    let footer = footer.map_err(|e| bad(format!("its footer is damaged: {e}")))?;
    let blocks = footer.dictionaries().into_iter().flatten();
    for block in blocks.chain(footer.recordBatches().into_iter().flatten()) {
        let parts = [
            block.offset(),
            block.metaDataLength().into(),
            block.bodyLength(),
        ];
        // Offsets and lengths are signed in the format; a negative one fails the conversion.
        let end = parts.iter().try_fold(0u64, |sum, part| {
            sum.checked_add(u64::try_from(*part).ok()?)
        });
        if end.is_none_or(|end| end > start) {
            return Err(bad(format!(
                "its footer describes a batch at byte {} with {} and {} bytes, but the footer begins \
                 at byte {start}",
                parts[0], parts[1], parts[2]
            )));
        }
    }
    Ok(())
}

/// The remedy for null values.
const FILL: &str = "replace null values before writing the file";

/// Bytes of the footer's length and of the magic number at the end of a file.
const TAIL: u64 = 10;

/// Returns a stream of tables, one for each batch of the file, of which one is in memory at a
/// time. A batch has a few thousand rows.
pub fn stream(
    path: &Path,
) -> impl Stream<Item = Table>
+ IntoIterator<Item = Result<Table>, IntoIter: Resumable<State = Position>>
+ 'static
+ use<> {
    let path = path.to_path_buf();
    from_fn(move || {
        let file = name_of(&path);
        // `from_fn` expects an iterator, so a file that does not open becomes one error.
        let (tables, failure) = match open(&path) {
            Ok((schema, batches)) => {
                let table = move |batch: Result<RecordBatch>| {
                    Ok(Table {
                        file: file.clone(),
                        schema: schema.clone(),
                        batches: vec![batch?],
                    })
                };
                (Some(numbered(name_of(&path), batches).map(table)), None)
            }
            Err(e) => (None, Some(Err(e))),
        };
        failure.into_iter().chain(tables.into_iter().flatten())
    })
}

impl Table {
    /// Returns the names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.schema.fields().iter().map(|f| f.name().as_str())
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Returns the chunks of a column, one per batch.
    fn parts(&self, name: &str) -> Result<Vec<&ArrayRef>> {
        let Some((place, _)) = self.schema.column_with_name(name) else {
            return Err(missing(&self.file, "column", name, self.names()));
        };
        // Rows of the earlier batches, since messages count rows of the file.
        let mut before = 0;
        let mut parts = Vec::with_capacity(self.batches.len());
        for batch in &self.batches {
            let part = batch.column(place);
            if let Some(row) = (0..part.len()).find(|i| part.is_null(*i)) {
                let message = Message::new(format!("column {name:?} is null")).help(FILL);
                return Err(bad_record(&self.file, before + row, message));
            }
            before += part.len();
            parts.push(part);
        }
        Ok(parts)
    }

    /// Returns a column of numbers or booleans, `[rows]`, or of lists of equal length, `[rows,
    /// length]`.
    ///
    /// # Errors
    /// Returns an error if the column does not exist or has another type, if a field is null, or
    /// if lists differ in length.
    pub fn column(&self, name: &str) -> Result<HostArray> {
        let parts = self.parts(name)?;
        let rows = parts.iter().map(|p| p.len()).sum();
        let field = self.schema.field_with_name(name).expect("found above");
        let (kind, width) = match field.data_type() {
            DataType::FixedSizeList(item, n) => (item.data_type().clone(), Some(*n as usize)),
            DataType::List(item) => (item.data_type().clone(), self.length(name, &parts)?),
            kind => (kind.clone(), None),
        };
        // Lists of equal length are contiguous: `[rows]` lists become `rows × length` numbers.
        let flatten = |part: &&ArrayRef| match part.data_type() {
            DataType::List(_) => {
                let list = part.as_list::<i32>();
                let offsets = list.value_offsets();
                // A sliced list keeps all of its values; the offsets select those that belong to it.
                let start = offsets[0] as usize;
                list.values()
                    .slice(start, offsets[list.len()] as usize - start)
            }
            DataType::FixedSizeList(..) => part.as_fixed_size_list().values().clone(),
            _ => ArrayRef::clone(part),
        };
        let flat: Vec<ArrayRef> = parts.iter().map(flatten).collect();
        if let Some(i) = flat.iter().position(|part| part.null_count() > 0) {
            let message =
                Message::new(format!("a list of column {name:?} in batch {i} has a null"))
                    .help(FILL);
            return Err(bad_file(&self.file, message));
        }
        let shape: Vec<usize> = [rows].into_iter().chain(width).collect();
        match kind {
            DataType::Boolean => {
                let all = flat.iter().flat_map(|p| p.as_boolean().values().iter());
                host(shape, all.collect())
            }
            DataType::Int8 => numbers::<Int8Type>(shape, &flat),
            DataType::Int16 => numbers::<Int16Type>(shape, &flat),
            DataType::Int32 => numbers::<Int32Type>(shape, &flat),
            DataType::Int64 => numbers::<Int64Type>(shape, &flat),
            DataType::UInt8 => numbers::<UInt8Type>(shape, &flat),
            DataType::UInt16 => numbers::<UInt16Type>(shape, &flat),
            DataType::UInt32 => numbers::<UInt32Type>(shape, &flat),
            DataType::UInt64 => numbers::<UInt64Type>(shape, &flat),
            DataType::Float32 => numbers::<Float32Type>(shape, &flat),
            DataType::Float64 => numbers::<Float64Type>(shape, &flat),
            other => Err(bad_file(
                &self.file,
                Message::new(format!(
                    "column {name:?} has the type {other}, expected numbers"
                ))
                .help("use `texts` to read strings"),
            )),
        }
    }

    /// Returns the common length of the lists of a column.
    fn length(&self, name: &str, parts: &[&ArrayRef]) -> Result<Option<usize>> {
        let mut length = None;
        let mut row = 0;
        for part in parts {
            for ends in part.as_list::<i32>().value_offsets().windows(2) {
                let own = (ends[1] - ends[0]) as usize;
                let first = *length.get_or_insert(own);
                if own != first {
                    let message = Message::new(format!(
                        "column {name:?} is a list of length {own}, but the first list has length \
                {first}"
                    ))
                    .help("pad the lists to one length before writing the file");
                    return Err(bad_record(&self.file, row, message));
                }
                row += 1;
            }
        }
        // No rows: any length fits, and `[0, 0]` has the right number of axes.
        Ok(Some(length.unwrap_or(0)))
    }

    /// Returns a column of strings.
    ///
    /// # Errors
    /// Returns an error if the column does not exist or has another type, or if a field is null.
    pub fn texts(&self, name: &str) -> Result<Vec<String>> {
        let mut texts = Vec::with_capacity(self.rows());
        for part in self.parts(name)? {
            match part.data_type() {
                DataType::Utf8 => {
                    texts.extend(part.as_string::<i32>().iter().flatten().map(String::from));
                }
                DataType::LargeUtf8 => {
                    texts.extend(part.as_string::<i64>().iter().flatten().map(String::from));
                }
                DataType::Utf8View => {
                    texts.extend(part.as_string_view().iter().flatten().map(String::from));
                }
                other => {
                    let message = Message::new(format!(
                        "column {name:?} has the type {other}, expected strings"
                    ))
                    .help("use `column` to read numbers");
                    return Err(bad_file(&self.file, message));
                }
            }
        }
        Ok(texts)
    }

    /// Returns a source of the rows of a column of numbers.
    ///
    /// # Errors
    /// Returns the errors of [`column`](Table::column).
    pub fn source(&self, name: &str) -> Result<Column> {
        Ok(Column(self.column(name)?))
    }
}

fn host<T: Element>(shape: Vec<usize>, values: Vec<T>) -> Result<HostArray> {
    let array = ArrayD::from_shape_vec(shape, values);
    Ok(array.map_err(Error::other)?.into())
}

fn numbers<T>(shape: Vec<usize>, parts: &[ArrayRef]) -> Result<HostArray>
where
    T: ArrowPrimitiveType<Native: Element>,
{
    let mut values = Vec::with_capacity(shape.iter().product());
    for part in parts {
        values.extend_from_slice(part.as_primitive::<T>().values());
    }
    host(shape, values)
}

/// A source of the rows of a column; see [`Table::source`].
#[derive(Clone, Debug)]
pub struct Column(HostArray);

impl Source for Column {
    type Item = HostArray;
    fn len(&self) -> usize {
        self.0.shape()[0]
    }
    fn get(&self, index: usize) -> Result<HostArray> {
        check(index, self.len())?;
        let size = self.0.bytes().len() / self.len();
        let bytes = &self.0.bytes()[index * size..(index + 1) * size];
        HostArray::new(self.0.dtype(), &self.0.shape()[1..], bytes.to_vec())
    }
}
