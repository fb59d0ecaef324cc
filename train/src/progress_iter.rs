//! A progress bar for any loop.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// Shows a progress bar on stderr while the caller iterates: the number of items, the rate, and the
/// remaining time if the iterator knows its length (`tqdm.tqdm`). Shows nothing if stderr is not a
/// terminal.
///
/// A [`DataLoader`](ramie_data::DataLoader) knows the length of its last epoch. The bar disappears
/// at the end of the loop.
///
/// ```
/// use ramie_data::DataLoader;
/// use ramie_train::progress;
/// let loader = DataLoader::new(0..100).batch_size(32);
/// let mut batches = 0;
/// for batch in progress(&loader) {
///     batches += 1;
///     # batch?;
/// }
/// assert_eq!(batches, 4);
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[doc(alias("tqdm", "trange"))]
pub fn progress<I: IntoIterator>(items: I) -> ProgressIter<I::IntoIter> {
    let items = items.into_iter();
    let length = items.size_hint().1;
    let bar = match length {
        _ if !std::io::stderr().is_terminal() => ProgressBar::hidden(),
        Some(length) => ProgressBar::new(length as u64),
        None => ProgressBar::no_length(),
    };
    let style = match length {
        Some(_) => "{bar:30} {pos}/{len}  {per_sec}  eta {eta}",
        None => "{spinner} {pos}  {per_sec}  {elapsed_precise}",
    };
    let style = ProgressStyle::with_template(style).expect("the template is well-formed");
    ProgressIter {
        bar: bar.with_style(style),
        items,
    }
}

/// An iterator that shows its progress; see [`progress`].
pub struct ProgressIter<I> {
    bar: ProgressBar,
    items: I,
}

impl<I: Iterator> Iterator for ProgressIter<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let item = self.items.next()?;
        self.bar.inc(1);
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for ProgressIter<I> {}

/// Removes the bar, also after a `break`.
impl<I> Drop for ProgressIter<I> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
