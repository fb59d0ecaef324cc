//! Choice of the number of workers of a loader.

use super::DataLoader;
use crate::{Placement, Result, ToDevice};
use ramie_core::{Array, tree};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// The resources a loader may use, and the speed it has to reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerformanceBudget {
    /// Total bytes of the batches prepared ahead. Defaults to 1 GiB.
    pub memory: usize,
    /// The maximum number of workers. Defaults to the number of processors.
    pub max_workers: usize,
    /// The maximum number of batches that a worker prepares ahead. Defaults to 16.
    pub max_prefetch: usize,
    /// Duration of a step. Defaults to zero, which selects the maximum number of workers.
    pub step: Duration,
}

impl Default for PerformanceBudget {
    fn default() -> PerformanceBudget {
        PerformanceBudget {
            memory: 1 << 30,
            max_workers: available_parallelism().map_or(1, usize::from),
            max_prefetch: 16,
            step: Duration::ZERO,
        }
    }
}

/// The number of worker threads, and of batches that each prepares ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerformanceConfig {
    /// The value for [`DataLoader::workers`].
    pub workers: usize,
    /// The value for [`DataLoader::prefetch_factor`].
    pub prefetch_factor: usize,
}

impl PerformanceConfig {
    /// Returns the configuration for batches of `bytes` bytes that take the time `making` to
    /// make.
    fn of(budget: &PerformanceBudget, bytes: usize, making: Duration) -> PerformanceConfig {
        let ahead = (budget.memory / bytes.max(1)).max(1);
        let most = budget.max_workers.min(ahead);
        // As many workers as keep up with the steps, and half as many again for batches that take
        // longer than others.
        let needed = match budget.step.as_nanos() {
            0 => most,
            step => {
                let needed = (making.as_nanos() * 3).div_ceil(step * 2);
                usize::try_from(needed).unwrap_or(most).max(1)
            }
        };
        let workers = needed.min(most);
        PerformanceConfig {
            workers,
            prefetch_factor: (ahead / workers.max(1)).clamp(1, budget.max_prefetch.max(1)),
        }
    }
}

impl<B: ToDevice> DataLoader<B> {
    /// Picks the number of workers and of prefetched batches (Grain's `pick_performance_config`).
    /// It makes the first batches of epoch 0 on the calling thread and measures their size and
    /// time.
    ///
    /// ```
    /// use ramie_data::{DataLoader, PerformanceBudget};
    /// let rows = ndarray::Array2::<f32>::zeros((1000, 1000));
    /// let loader = DataLoader::new(rows).batch_size(100);
    /// // A batch has 400,000 bytes.
    /// let budget = PerformanceBudget { memory: 2_000_000, max_workers: 2, ..Default::default() };
    /// let config = loader.pick_performance_config(&budget)?;
    /// assert_eq!((config.workers, config.prefetch_factor), (2, 2));
    /// let loader = loader.workers(config.workers).prefetch_factor(config.prefetch_factor);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no batch, or if one cannot be made.
    pub fn pick_performance_config(&self, budget: &PerformanceBudget) -> Result<PerformanceConfig> {
        // The first batch of a dataset is not timed, as it may include opening files.
        let spec = self.element_spec(Placement::default())?;
        let bytes = tree::leaves(&spec).iter().map(Array::nbytes).sum();
        let mut tasks = self.tasks(0, 1);
        let mut times = Vec::new();
        for task in std::iter::from_fn(|| tasks.next()).take(5) {
            let start = Instant::now();
            super::iter::run(&*self.fetch, &task)?;
            times.push(start.elapsed());
        }
        times.sort_unstable();
        Ok(PerformanceConfig::of(budget, bytes, times[times.len() / 2]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_keep_up_with_steps_within_the_memory() {
        let pick = |memory, max_workers, step, bytes, making| {
            let budget = PerformanceBudget {
                memory,
                max_workers,
                max_prefetch: 8,
                step: Duration::from_millis(step),
            };
            let config = PerformanceConfig::of(&budget, bytes, Duration::from_millis(making));
            (config.workers, config.prefetch_factor)
        };
        // Cases: batches that take no time, and steps that take none.
        assert_eq!(pick(1000, 8, 10, 10, 0), (1, 8));
        assert_eq!(pick(1000, 8, 10, 10, 10), (2, 8));
        assert_eq!(pick(1000, 8, 10, 10, 20), (3, 8));
        assert_eq!(pick(1000, 8, 10, 10, 1000), (8, 8));
        assert_eq!(pick(1000, 8, 0, 10, 1), (8, 8));
        // Cases: memory for ten batches, for two, and for less than one.
        assert_eq!(pick(100, 4, 0, 10, 1), (4, 2));
        assert_eq!(pick(20, 4, 0, 10, 1), (2, 1));
        assert_eq!(pick(5, 4, 0, 10, 1), (1, 1));
        assert_eq!(pick(100, 0, 0, 10, 1), (0, 8));
    }
}
