//! Token files, and windows and packed rows of tokens.

use super::file::{Positioned, bad_file};
use super::text::too_long;
pub use crate::packed::Packed;
use crate::source::{IntoSource, by_epoch, check, finite, fixed_order};
use crate::{Error, Result, Source};
use ramie_core::files::Message;
use std::path::Path;
use std::sync::Arc;

/// The remedy for a file of other tokens.
const OTHER_TYPE: &str = "pass the token type of this file, or copy it again if it is \
                          damaged or cut short";

/// The storage format of tokens in a file, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenType {
    /// One byte per token.
    U8,
    /// Two bytes per token, for vocabularies of up to 65,536.
    U16,
    /// Four bytes per token.
    U32,
}

impl TokenType {
    fn size(self) -> usize {
        match self {
            TokenType::U8 => 1,
            TokenType::U16 => 2,
            TokenType::U32 => 4,
        }
    }
}

/// A file that consists of tokens only. Tokens are read on access, so the file need not fit in
/// memory.
///
/// ```no_run
/// use ramie_data::{DataLoader, readers::tokens::{TokenFile, TokenType}};
/// let file = TokenFile::open("train.bin", TokenType::U16)?;
/// let loader = DataLoader::new(file.next_token_windows(1024)).batch_size(8).shuffle(0).workers(2);
/// for batch in &loader {
///     let (inputs, targets) = batch?; // [8, 1024] each, the targets one token ahead
/// }
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TokenFile {
    file: Arc<Positioned>,
    kind: TokenType,
    len: usize,
}

impl TokenFile {
    /// Opens a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, or if it ends within a token.
    pub fn open(path: impl AsRef<Path>, kind: TokenType) -> Result<TokenFile> {
        let file = Positioned::open(path.as_ref())?;
        let size = kind.size() as u64;
        if !file.len().is_multiple_of(size) {
            let what = format!("has {} bytes, expected tokens of {size} bytes", file.len());
            return Err(bad_file(file.name(), Message::new(what).help(OTHER_TYPE)));
        }
        let len = usize::try_from(file.len() / size);
        let len = len.map_err(|_| bad_file(file.name(), too_long()))?;
        Ok(TokenFile {
            file: Arc::new(file),
            kind,
            len,
        })
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads `count` tokens from an index on.
    ///
    /// # Errors
    /// Returns an error if the range is outside the file, if the tokens cannot be read, or if a
    /// token exceeds `i32::MAX`.
    pub fn read(&self, at: usize, count: usize) -> Result<Vec<i32>> {
        if at.checked_add(count).is_none_or(|end| end > self.len) {
            let message = Message::new(format!(
                "cannot read {count} tokens from index {at} on: it has {}",
                self.len
            ))
            .help("read within `len`");
            return Err(bad_file(self.file.name(), message));
        }
        let size = self.kind.size();
        let bytes = self.file.read_at((at * size) as u64, count * size)?;
        let of_two = |b: &[u8]| i32::from(u16::from_le_bytes([b[0], b[1]]));
        match self.kind {
            TokenType::U8 => Ok(bytes.into_iter().map(i32::from).collect()),
            TokenType::U16 => Ok(bytes.chunks_exact(2).map(of_two).collect()),
            TokenType::U32 => {
                let of_four = |(i, b): (usize, &[u8])| {
                    let token = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
                    let too_large = || {
                        super::file::bad_record(
                            self.file.name(),
                            at + i,
                            Message::new(format!("the token is {token}, expected less than 2^31"))
                                .help(OTHER_TYPE),
                        )
                    };
                    i32::try_from(token).map_err(|_| too_large())
                };
                bytes.chunks_exact(4).enumerate().map(of_four).collect()
            }
        }
    }

    /// Returns a source of consecutive windows of `length` tokens. The remainder at the end is
    /// dropped.
    ///
    /// # Panics
    /// Panics if `length` is 0.
    #[track_caller]
    pub fn windows(&self, length: usize) -> TokenWindows {
        TokenWindows::new(Tokens::File(self.clone()), length, length, length)
    }

    /// Returns a source of windows for next-token prediction: pairs of `length` input tokens and
    /// the targets, which are one position ahead. The inputs of different windows do not overlap.
    /// The remainder at the end is dropped.
    ///
    /// # Panics
    /// Panics if `length` is 0.
    #[track_caller]
    pub fn next_token_windows(&self, length: usize) -> NextTokens {
        NextTokens(TokenWindows::new(
            Tokens::File(self.clone()),
            // A window has one token more, the target of the last input.
            length + 1,
            length,
            length,
        ))
    }
}

/// Returns a source of windows for next-token prediction from tokens in memory: pairs of `length`
/// input tokens and the targets, which are one position ahead.
///
/// ```
/// use ramie_data::{Source, readers::tokens::next_token_windows};
/// let windows = next_token_windows((0..10).collect::<Vec<i32>>(), 4);
/// assert_eq!(windows.len(), 2);
/// assert_eq!(windows.get(1)?, (vec![4, 5, 6, 7], vec![5, 6, 7, 8]));
/// # Ok::<(), ramie_data::Error>(())
/// ```
///
/// # Panics
/// Panics if `length` is 0.
#[track_caller]
pub fn next_token_windows(tokens: impl Into<Arc<[i32]>>, length: usize) -> NextTokens {
    let tokens = Tokens::Memory(tokens.into());
    NextTokens(TokenWindows::new(tokens, length + 1, length, length))
}

#[derive(Clone, Debug)]
enum Tokens {
    File(TokenFile),
    Memory(Arc<[i32]>),
}

/// A source of windows of tokens; see [`TokenFile::windows`].
#[derive(Clone, Debug)]
pub struct TokenWindows {
    tokens: Tokens,
    size: usize,
    stride: usize,
}

impl TokenWindows {
    #[track_caller]
    fn new(tokens: Tokens, size: usize, stride: usize, length: usize) -> TokenWindows {
        assert!(
            length > 0,
            "windows: the length is 0\n  help: pass at least 1"
        );
        TokenWindows {
            tokens,
            size,
            stride,
        }
    }
}

impl Source for TokenWindows {
    type Item = Vec<i32>;
    fn len(&self) -> usize {
        let tokens = match &self.tokens {
            Tokens::File(file) => file.len,
            Tokens::Memory(tokens) => tokens.len(),
        };
        // Windows begin at 0, stride, 2 × stride, … as long as `size` tokens follow.
        match tokens.checked_sub(self.size) {
            Some(rest) => rest / self.stride + 1,
            None => 0,
        }
    }
    fn get(&self, index: usize) -> Result<Vec<i32>> {
        check(index, self.len())?;
        let at = index * self.stride;
        match &self.tokens {
            Tokens::File(file) => file.read(at, self.size),
            Tokens::Memory(tokens) => Ok(tokens[at..at + self.size].to_vec()),
        }
    }
}

/// A source of pairs of inputs and targets; see [`next_token_windows`].
#[derive(Clone, Debug)]
pub struct NextTokens(TokenWindows);

impl Source for NextTokens {
    type Item = (Vec<i32>, Vec<i32>);
    fn len(&self) -> usize {
        self.0.len()
    }
    fn get(&self, index: usize) -> Result<(Vec<i32>, Vec<i32>)> {
        let mut inputs = self.0.get(index)?;
        let targets = inputs[1..].to_vec();
        // Tokens 0 to n - 1 predict tokens 1 to n.
        inputs.pop();
        Ok((inputs, targets))
    }
}

/// A source of rows of equal length, packed from sequences of different lengths; see [`pack`].
#[derive(Clone, Debug)]
pub struct PackedSource<S> {
    source: S,
    length: usize,
    /// The elements in each row.
    rows: Vec<Vec<usize>>,
}

/// Number of rows open at a time. A sequence goes to the first open row with room.
const OPEN: usize = 64;

/// Packs sequences of tokens into rows of `length` tokens, which leaves little padding (Grain's
/// `FirstFitPackIterDataset`). This reads every sequence once to get its length; the rows have
/// random access.
///
/// ```
/// use ramie_data::{Source, readers::tokens::pack};
/// let rows = pack(vec![vec![1, 2, 3], vec![4, 5, 6, 7], vec![8]], 5)?;
/// assert_eq!(rows.len(), 2);
/// let first = rows.get(0)?;
/// assert_eq!(first.tokens, [1, 2, 3, 8, 0]);
/// assert_eq!(first.segment_ids, [1, 1, 1, 2, 0]);
/// assert_eq!(first.positions, [0, 1, 2, 0, 0]);
/// # Ok::<(), ramie_data::Error>(())
/// ```
///
/// # Errors
/// Returns an error if a sequence cannot be read, or if it is longer than a row.
///
/// # Panics
/// Panics if the source is endless or shuffled: shuffle the rows instead.
#[track_caller]
pub fn pack<S>(source: S, length: usize) -> Result<PackedSource<S::Source>>
where
    S: IntoSource<Source: Source<Item = Vec<i32>>>,
{
    let source = source.into_source();
    fixed_order("pack", &source);
    let mut rows: Vec<Vec<usize>> = Vec::new();
    // Rows that may still have room, and how many tokens fit.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for index in 0..finite("pack", &source) {
        let tokens = source.get(index).map_err(|e| Error::element(index, e))?;
        if tokens.len() > length {
            let message = Message::new(format!(
                "has {} tokens, but rows have {length}",
                tokens.len()
            ))
            .help("truncate it first");
            return Err(Error::element(index, Error::Other(message.to_string())));
        }
        match open.iter_mut().find(|(_, room)| *room >= tokens.len()) {
            Some((row, room)) => {
                rows[*row].push(index);
                *room -= tokens.len();
            }
            None => {
                if open.len() == OPEN {
                    // The limit keeps the search short. The oldest row had the most chances.
                    open.remove(0);
                }
                open.push((rows.len(), length - tokens.len()));
                rows.push(vec![index]);
            }
        }
        // Full rows would use up places among the open ones.
        open.retain(|(_, room)| *room > 0);
    }
    Ok(PackedSource {
        source,
        length,
        rows,
    })
}

impl<S: Source<Item = Vec<i32>>> Source for PackedSource<S> {
    type Item = Packed;
    fn len(&self) -> usize {
        self.rows.len()
    }
    by_epoch!(source);
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<Packed> {
        check(index, self.rows.len())?;
        let mut packed = Packed::default();
        for element in &self.rows[index] {
            packed.push(self.source.get_in_epoch(*element, epoch)?);
        }
        // `pack` measured the sequences once; a random function may return longer ones later.
        if packed.tokens.len() > self.length {
            return Err(Error::Other(format!(
                "row {index} has {} tokens, but was packed for {}: sequences have become longer\n  \
                 help: apply functions that change lengths before `pack`",
                packed.tokens.len(),
                self.length
            )));
        }
        packed.fill(self.length);
        Ok(packed)
    }
}
