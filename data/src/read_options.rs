//! Options for reading elements in threads.

/// Options for reading the elements of a source in threads (`grain.ReadOptions`), for
/// [`SourceStream::read_options`](crate::stream::SourceStream::read_options) and
/// [`DataLoader::read_options`](crate::DataLoader::read_options). The order of the elements does
/// not depend on them.
///
/// ```
/// use ramie_data::ReadOptions;
/// let options = ReadOptions { num_threads: 4, ..ReadOptions::default() };
/// assert_eq!(options.prefetch_buffer_size, 500);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Number of threads that read elements. With 0, the calling thread reads each element when it
    /// is requested, which is faster if the elements are in memory. Defaults to 16.
    pub num_threads: usize,
    /// Maximum number of elements that are read before they are requested. With 0, the calling
    /// thread reads. Defaults to 500.
    pub prefetch_buffer_size: usize,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            num_threads: 16,
            prefetch_buffer_size: 500,
        }
    }
}

impl ReadOptions {
    /// Returns the number of threads that are needed.
    pub(crate) fn threads(&self) -> usize {
        self.num_threads.min(self.prefetch_buffer_size)
    }
}
