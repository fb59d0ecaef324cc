//! Reading arrays: each chunk is read once, several in parallel, directly into the memory that
//! devices use.

use super::dtype::from_stored;
use super::layout::{Layout, bytes_of};
use super::region::{copy, in_one_piece, overlap, shape, whole};
use super::store::Store;
use crate::commit::ItemReader;
use crate::{Error, Result, cast, nodes};
use ramie_core::lock::lock;
use ramie_core::sharding::{Sharding, make_array_from_parts};
use ramie_core::typing::AlignedBytes;
use ramie_core::{Array, DType, device_put};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// An array to read.
pub(super) struct Request {
    /// Dotted name of the array.
    pub name: String,
    pub layout: Layout,
    /// Requested shape, with as many axes as the stored one. Stored elements beyond it are dropped,
    /// and elements that are not stored are zero.
    pub shape: Vec<usize>,
    pub dtype: DType,
    pub sharding: Sharding,
    /// Whether the shape comes from the caller, not only from the file.
    pub expected: bool,
    /// Whether the array is a Python number, whose value must fit the requested dtype.
    pub is_number: bool,
}

impl Request {
    /// Returns whether the requested array has as many axes as the saved one.
    pub fn has_saved_rank(&self) -> bool {
        self.shape.len() == self.layout.shape.len()
    }
}

/// Approximate number of bytes that are read before arrays are created from them.
const BATCH: usize = 2 << 30;

/// Maximum number of bytes of an array with missing chunks, if its size is known only from the
/// file.
const MOST_FILLED: usize = 256 << 20;

/// Maximum number of chunks that are searched for in such an array.
const MOST_LOOKED_FOR: usize = 1 << 16;

/// Region of an array, and its elements.
struct Part {
    region: Vec<Range<usize>>,
    bytes: AlignedBytes,
}

/// The array whose chunks are read.
#[derive(Clone, Copy)]
struct Source<'a> {
    store: &'a Store,
    request: &'a Request,
}

/// Work item of one thread.
enum Job<'a> {
    /// A chunk that is a contiguous piece of a part.
    Direct(Source<'a>, Vec<usize>, &'a mut [u8]),
    /// A chunk that is copied into the parts that it overlaps.
    Scatter(
        Source<'a>,
        Vec<usize>,
        Vec<(&'a [Range<usize>], &'a Mutex<&'a mut [u8]>)>,
    ),
}

/// Reads arrays. If `all_chunks` is set, a missing chunk is an error.
pub(super) fn read(
    reader: &ItemReader,
    store: &Store,
    requests: Vec<Request>,
    all_chunks: bool,
) -> Result<Vec<Array>> {
    let mut arrays = Vec::with_capacity(requests.len());
    let mut rest = requests.as_slice();
    while !rest.is_empty() {
        let mut bytes = 0usize;
        let fits = |request: &&Request| {
            // An array larger than the limit gets a batch of its own.
            let first = bytes == 0;
            let more = bytes_of(&request.shape, request.layout.dtype).unwrap_or(BATCH);
            bytes = bytes.saturating_add(more);
            first || bytes <= BATCH
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (batch, later) = rest.split_at(count);
        arrays.extend(read_batch(reader, store, batch, all_chunks)?);
        rest = later;
    }
    // Only now is it known which bytes of a database were not read and still need a check.
    store.verify()?;
    Ok(arrays)
}

fn read_batch(
    reader: &ItemReader,
    store: &Store,
    requests: &[Request],
    all_chunks: bool,
) -> Result<Vec<Array>> {
    let mut read: Vec<Vec<Part>> = Vec::with_capacity(requests.len());
    for request in requests {
        let regions = request.sharding.addressable_parts(&request.shape);
        let regions = regions.map_err(|e| {
            Error::tensor(
                &store.path(&request.name),
                &request.name,
                format!("cannot be placed: {e}"),
            )
        })?;
        check(Source { store, request }, &regions, all_chunks)?;
        let part = |region: Vec<Range<usize>>| {
            let bytes = bytes_of(&shape(&region), request.layout.dtype).unwrap_or(0);
            Part {
                bytes: AlignedBytes::zeroed(bytes),
                region,
            }
        };
        read.push(regions.into_iter().map(part).collect());
    }
    fill(reader, store, requests, &mut read, all_chunks)?;
    let arrays = requests.iter().zip(read);
    let arrays = arrays.map(|(request, parts)| make(request, parts));
    arrays.collect()
}

/// Creates an array from its parts.
fn make(request: &Request, mut parts: Vec<Part>) -> Result<Array> {
    let Request {
        layout, sharding, ..
    } = request;
    let array = make_array_from_parts(&request.shape, layout.dtype, *sharding, |index| {
        // Each region is requested once, so its memory can be moved to the device.
        let found = parts.iter_mut().find(|part| part.region == index);
        let bytes = found.map(|part| std::mem::replace(&mut part.bytes, AlignedBytes::zeroed(0)));
        Ok(bytes.unwrap_or_else(|| AlignedBytes::zeroed(0)))
    })?;
    if request.is_number {
        let number = nodes::number(&array);
        if !cast::takes(request.dtype, number) {
            return Err(Error::tree(
                None,
                format!(
                    "`{}`: the tree has {}, the checkpoint has the number {number}\n  help: use \
                     `allow_lossy_casts(true)` or `cast` to convert it with loss",
                    request.name, request.dtype
                ),
            ));
        }
    }
    Ok(if layout.dtype == request.dtype {
        array
    } else {
        device_put(&array.astype(request.dtype), *sharding)
    })
}

/// Checks that all chunks of these regions exist and are large enough, before memory is allocated
/// for them.
fn check(source: Source<'_>, regions: &[Vec<Range<usize>>], all_chunks: bool) -> Result<()> {
    let Source { store, request } = source;
    let layout = &request.layout;
    let may_lack = !all_chunks && layout.fills_with_zero;
    for region in regions {
        let Some(stored) = overlap(region, &whole(&layout.shape)) else {
            continue;
        };
        for cell in layout.cells(&stored) {
            if source.is_there(&cell)? {
                continue;
            }
            // A few damaged bytes of metadata could claim a huge array without chunks, so only a
            // caller's own shape may be filled with zeros at any size.
            let bytes = bytes_of(&request.shape, layout.dtype).unwrap_or(usize::MAX);
            let small = bytes <= MOST_FILLED && layout.count(&stored) <= MOST_LOOKED_FOR;
            if !may_lack || !(small || request.expected) {
                return Err(store.missing(&source.key(&cell)));
            }
        }
    }
    Ok(())
}

impl Source<'_> {
    fn key(&self, cell: &[usize]) -> String {
        format!("{}/{}", self.request.name, self.request.layout.key(cell))
    }

    /// Returns whether a chunk's file exists, and checks that it is large enough.
    fn is_there(&self, cell: &[usize]) -> Result<bool> {
        let key = self.key(cell);
        let chunk = self.request.layout.chunk_bytes();
        match self.store.size(&key)? {
            None => Ok(false),
            Some(size) if size >= self.request.layout.codec.least(chunk) => Ok(true),
            Some(size) => Err(Error::format(
                &self.store.path(&key),
                format!("has {size} bytes, too few for a chunk of {chunk}"),
            )),
        }
    }

    /// Reads and decodes an existing chunk.
    fn fetch(&self, cell: &[usize], out: &mut [u8]) -> Result<()> {
        let (store, layout) = (self.store, &self.request.layout);
        let key = self.key(cell);
        let damaged = |what: String| Error::format(&store.path(&key), what);
        if layout.codec.is_plain() {
            store.read_into(&key, out)?
        } else {
            let encoded = store.read(&key)?;
            let decoded = layout.codec.decode(&encoded, &layout.chunk, out);
            decoded.map_err(damaged)?;
        }
        from_stored(layout.dtype, out).map_err(damaged)
    }
}

/// Reads the parts of several arrays.
fn fill(
    reader: &ItemReader,
    store: &Store,
    requests: &[Request],
    arrays: &mut [Vec<Part>],
    all_chunks: bool,
) -> Result<()> {
    // Parts whose chunks are not contiguous pieces; several threads may write to the same part.
    let mut shared: Vec<(Source<'_>, Vec<(&[Range<usize>], Mutex<&mut [u8]>)>)> = Vec::new();
    let mut jobs = Vec::new();
    for (request, parts) in requests.iter().zip(arrays) {
        let source = Source { store, request };
        match pieces(source, parts) {
            Some(pieces) => {
                for (part, pieces) in parts.iter_mut().zip(pieces) {
                    jobs.extend(split(source, &mut part.bytes, pieces));
                }
            }
            None => {
                let parts = parts.iter_mut();
                let parts = parts.map(|p| (&*p.region, Mutex::new(&mut *p.bytes)));
                shared.push((source, parts.collect()));
            }
        }
    }
    for (source, parts) in &shared {
        let layout = &source.request.layout;
        // Group by chunk, so that a chunk that overlaps several parts is read once.
        let mut cells: BTreeMap<Vec<usize>, Vec<_>> = BTreeMap::new();
        for (region, bytes) in parts {
            let Some(stored) = overlap(region, &whole(&layout.shape)) else {
                continue;
            };
            for cell in layout.cells(&stored) {
                cells.entry(cell).or_default().push((*region, bytes));
            }
        }
        let of_cell = |(cell, parts)| Job::Scatter(*source, cell, parts);
        jobs.extend(cells.into_iter().map(of_cell));
    }
    // Start with the largest, so that no thread is left with a large one at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(job.bytes()));
    reader.for_each(jobs, |job| job.run(all_chunks))
}

impl Job<'_> {
    fn bytes(&self) -> usize {
        match self {
            Job::Direct(_, _, out) => out.len(),
            Job::Scatter(source, ..) => source.request.layout.chunk_bytes(),
        }
    }

    fn run(self, all_chunks: bool) -> Result<()> {
        let (Job::Direct(source, cell, _) | Job::Scatter(source, cell, _)) = &self;
        // The memory is zero already, which is the value of a missing chunk.
        if !all_chunks && !source.is_there(cell)? {
            return Ok(());
        }
        match self {
            Job::Direct(source, cell, out) => source.fetch(&cell, out)?,
            Job::Scatter(source, cell, parts) => {
                let layout = &source.request.layout;
                let mut chunk = vec![0; layout.chunk_bytes()];
                source.fetch(&cell, &mut chunk)?;
                let of_chunk = layout.region(&cell);
                let stored = overlap(&of_chunk, &whole(&layout.shape)).unwrap_or_default();
                for (region, bytes) in parts {
                    let Some(common) = overlap(region, &stored) else {
                        continue;
                    };
                    let mut out = lock(bytes);
                    let size = layout.dtype.size();
                    copy(&common, (&of_chunk, &chunk), (region, &mut out), size);
                }
            }
        }
        Ok(())
    }
}

/// Returns for each part its chunks and their byte ranges, if each chunk is a contiguous piece of
/// one part.
fn pieces(source: Source<'_>, parts: &[Part]) -> Option<Vec<Vec<(Range<usize>, Vec<usize>)>>> {
    let layout = &source.request.layout;
    let size = layout.dtype.size();
    let mut out = Vec::with_capacity(parts.len());
    for Part { region, .. } in parts {
        let Some(stored) = overlap(region, &whole(&layout.shape)) else {
            out.push(Vec::new());
            continue;
        };
        let mut pieces = Vec::new();
        for cell in layout.cells(&stored) {
            let chunk = layout.region(&cell);
            // The chunk must not extend beyond the array or the part.
            if overlap(&stored, &chunk).as_ref() != Some(&chunk) {
                return None;
            }
            let piece = in_one_piece(region, &chunk)?;
            pieces.push((piece.start * size..piece.end * size, cell));
        }
        pieces.sort_by_key(|(range, _)| range.start);
        out.push(pieces);
    }
    Some(out)
}

/// Creates the jobs that read the pieces of a part.
fn split<'a>(
    source: Source<'a>,
    mut bytes: &'a mut [u8],
    pieces: Vec<(Range<usize>, Vec<usize>)>,
) -> Vec<Job<'a>> {
    // The pieces are sorted and disjoint. `at` is the offset of `bytes` in the part.
    let (mut jobs, mut at) = (Vec::with_capacity(pieces.len()), 0);
    for (range, cell) in pieces {
        let (_, from_here) = std::mem::take(&mut bytes).split_at_mut(range.start - at);
        let (piece, rest) = from_here.split_at_mut(range.len());
        jobs.push(Job::Direct(source, cell, piece));
        (bytes, at) = (rest, range.end);
    }
    jobs
}
