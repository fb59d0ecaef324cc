//! How many workers a loader needs.

use super::DataLoader;
use crate::{Placement, Result, ToDevice};
use ramie_core::{Array, tree};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// What a loader may take, and how fast it has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerformanceBudget {
    /// Bytes of the batches that are made ahead, together: 1 GiB.
    pub memory: usize,
    /// The most workers: as many as the machine has processors.
    pub max_workers: usize,
    /// The most batches that a worker is ahead: 16.
    pub max_prefetch: usize,
    /// How long a step takes. By default no time: then as many workers are picked
    /// as there may be.
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

/// How many threads make batches, and how far they are ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerformanceConfig {
    /// For [`DataLoader::workers`].
    pub workers: usize,
    /// For [`DataLoader::prefetch_factor`].
    pub prefetch_factor: usize,
}

impl PerformanceConfig {
    /// What suits batches of so many bytes that take so long to make.
    fn of(budget: &PerformanceBudget, bytes: usize, making: Duration) -> PerformanceConfig {
        let ahead = (budget.memory / bytes.max(1)).max(1);
        let most = budget.max_workers.min(ahead);
        // As many as keep up with the steps, and half as many again for batches that
        // take longer than others.
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
    /// Makes the first batches of epoch 0, here, and picks by their size and the
    /// time that they took how many workers there are to be, and how far they are
    /// ahead (Grain's `pick_performance_config`).
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
    /// If there is no batch, or one cannot be made.
    pub fn pick_performance_config(&self, budget: &PerformanceBudget) -> Result<PerformanceConfig> {
        // The first batch of a data set may wait for files to be opened.
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
        // Batches that take no time, and steps that do.
        assert_eq!(pick(1000, 8, 10, 10, 0), (1, 8));
        assert_eq!(pick(1000, 8, 10, 10, 10), (2, 8));
        assert_eq!(pick(1000, 8, 10, 10, 20), (3, 8));
        assert_eq!(pick(1000, 8, 10, 10, 1000), (8, 8));
        assert_eq!(pick(1000, 8, 0, 10, 1), (8, 8));
        // Memory for ten batches, for two, for less than one.
        assert_eq!(pick(100, 4, 0, 10, 1), (4, 2));
        assert_eq!(pick(20, 4, 0, 10, 1), (2, 1));
        assert_eq!(pick(5, 4, 0, 10, 1), (1, 1));
        assert_eq!(pick(100, 0, 0, 10, 1), (0, 8));
    }
}
