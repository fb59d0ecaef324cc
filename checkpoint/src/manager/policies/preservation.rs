//! Which checkpoints are kept.

use super::CheckpointInfo;
use crate::manager::Metrics;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Says which checkpoints are kept. The others are deleted after a save.
///
/// ```
/// use ramie_checkpoint::manager::policies::{CheckpointInfo, PreservationPolicy};
/// /// Keeps the steps that are powers of two.
/// struct PowersOfTwo;
/// impl PreservationPolicy for PowersOfTwo {
///     fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
///         checkpoints.iter().map(|c| c.step.is_power_of_two()).collect()
///     }
/// }
/// ```
pub trait PreservationPolicy: Send + Sync {
    /// For each checkpoint, in order of steps, whether it is kept. The last one is that
    /// which is being saved.
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool>;
}

/// Keeps all.
#[derive(Clone, Copy, Debug, Default)]
pub struct PreserveAll;

impl PreservationPolicy for PreserveAll {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        vec![true; checkpoints.len()]
    }
}

/// Keeps the last `n`; all, if nothing is said.
#[derive(Clone, Copy, Debug, Default)]
pub struct LatestN(pub Option<usize>);

impl PreservationPolicy for LatestN {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        let kept = self.0.unwrap_or(usize::MAX);
        let first = checkpoints.len().saturating_sub(kept);
        (0..checkpoints.len()).map(|i| i >= first).collect()
    }
}

/// Keeps the first, and always the next that was saved at least this time after the
/// last kept one.
#[derive(Clone, Copy, Debug)]
pub struct EveryNSeconds(pub Duration);

impl PreservationPolicy for EveryNSeconds {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        let mut last = None;
        let keep = |info: &CheckpointInfo| {
            let since = |last| info.time.duration_since(last).ok();
            let keep = last.is_none_or(|last| since(last).is_some_and(|d| d >= self.0));
            if keep {
                last = Some(info.time);
            }
            keep
        };
        checkpoints.iter().map(keep).collect()
    }
}

/// Keeps one for so many steps.
#[derive(Clone, Copy, Debug)]
pub struct EveryNSteps {
    interval: u64,
    exact: bool,
    max_to_keep: Option<usize>,
}

impl EveryNSteps {
    /// Keeps the steps that this number divides.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn new(interval_steps: u64) -> EveryNSteps {
        EveryNSteps {
            interval: checked("EveryNSteps", interval_steps),
            exact: true,
            max_to_keep: None,
        }
    }

    /// Whether the number must divide the step. If not, the first is kept, and always
    /// the next that is at least so many steps after the last kept one.
    pub fn exact_interval(mut self, exact: bool) -> EveryNSteps {
        self.exact = exact;
        self
    }

    /// The last of them only.
    pub fn max_to_keep(mut self, n: usize) -> EveryNSteps {
        self.max_to_keep = Some(n);
        self
    }
}

#[track_caller]
fn checked(policy: &str, interval_steps: u64) -> u64 {
    assert!(
        interval_steps > 0,
        "{policy}: every 0 steps\n  help: give 1 at least; `PreserveAll` keeps all"
    );
    interval_steps
}

impl PreservationPolicy for EveryNSteps {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        let mut last = None;
        let keep = |info: &CheckpointInfo| {
            if self.exact {
                return info.step.is_multiple_of(self.interval);
            }
            let keep = last.is_none_or(|last| info.step.saturating_sub(last) >= self.interval);
            if keep {
                last = Some(info.step);
            }
            keep
        };
        let kept = checkpoints.iter().map(keep).collect();
        last_of(kept, self.max_to_keep)
    }
}

/// Takes all but the last of those that are kept.
fn last_of(mut kept: Vec<bool>, max_to_keep: Option<usize>) -> Vec<bool> {
    let all = kept.iter().filter(|keep| **keep).count();
    // Orbax takes 0 for no bound here: it slices the list with `[:-0]`.
    let surplus = match max_to_keep {
        None | Some(0) => 0,
        Some(n) => all.saturating_sub(n),
    };
    for keep in kept.iter_mut().filter(|keep| **keep).take(surplus) {
        *keep = false;
    }
    kept
}

/// Keeps, for each multiple of a number, the step that is closest to it, and the last.
#[derive(Clone, Copy, Debug)]
pub struct EveryNStepsClosest {
    interval: u64,
    max_to_keep: Option<usize>,
}

impl EveryNStepsClosest {
    /// Keeps those closest to the multiples of this number.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn new(interval_steps: u64) -> EveryNStepsClosest {
        EveryNStepsClosest {
            interval: checked("EveryNStepsClosest", interval_steps),
            max_to_keep: None,
        }
    }

    /// The last of them only.
    pub fn max_to_keep(mut self, n: usize) -> EveryNStepsClosest {
        self.max_to_keep = Some(n);
        self
    }
}

impl PreservationPolicy for EveryNStepsClosest {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        // For each multiple the distance of the closest step, and which it is. Of two
        // that are equally close the later one is kept.
        let mut closest = BTreeMap::<u64, (u64, usize)>::new();
        for (i, info) in checkpoints.iter().enumerate() {
            let (below, rest) = (info.step / self.interval, info.step % self.interval);
            let above = self.interval - rest;
            // In the middle the even multiple counts, as Python rounds.
            let up = rest > above || (rest == above && below % 2 == 1);
            let (multiple, distance) = if up {
                (below + 1, above)
            } else {
                (below, rest)
            };
            let best = closest.entry(multiple).or_insert((distance, i));
            if distance <= best.0 {
                *best = (distance, i);
            }
        }
        let mut kept = vec![false; checkpoints.len()];
        for (_, i) in closest.into_values() {
            kept[i] = true;
        }
        if let Some(last) = kept.last_mut() {
            *last = true;
        }
        last_of(kept, self.max_to_keep)
    }
}

/// Keeps certain steps.
#[derive(Clone, Debug, Default)]
pub struct CustomSteps(BTreeSet<u64>);

impl CustomSteps {
    /// Keeps these.
    pub fn new(steps: impl IntoIterator<Item = u64>) -> CustomSteps {
        CustomSteps(steps.into_iter().collect())
    }
}

impl PreservationPolicy for CustomSteps {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        checkpoints
            .iter()
            .map(|c| self.0.contains(&c.step))
            .collect()
    }
}

/// Keeps what any of several policies keeps.
#[derive(Clone)]
pub struct AnyPreservationPolicy(Vec<Arc<dyn PreservationPolicy>>);

impl AnyPreservationPolicy {
    /// Keeps what any of these keeps.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn new(policies: Vec<Arc<dyn PreservationPolicy>>) -> AnyPreservationPolicy {
        assert!(
            !policies.is_empty(),
            "AnyPreservationPolicy: no policy keeps nothing\n  help: give one at least"
        );
        AnyPreservationPolicy(policies)
    }
}

impl PreservationPolicy for AnyPreservationPolicy {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        let mut any = vec![false; checkpoints.len()];
        for policy in &self.0 {
            for (any, keep) in any.iter_mut().zip(policy.should_preserve(checkpoints)) {
                *any |= keep;
            }
        }
        any
    }
}

/// Which metrics are the best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BestMode {
    /// The greatest.
    #[default]
    Max,
    /// The smallest.
    Min,
}

/// Keeps the best, by a number that a function makes of their metrics.
///
/// Of equal ones the later is better, and one that is no number is the worst.
///
/// ```
/// use ramie_checkpoint::manager::policies::{BestMode, BestN};
/// let policy = BestN::new(|metrics| metrics.get("loss").unwrap_or(f64::NAN))
///     .mode(BestMode::Min)
///     .n(3);
/// # let _ = policy;
/// ```
#[derive(Clone)]
pub struct BestN {
    metric: Arc<dyn Fn(&Metrics) -> f64 + Send + Sync>,
    mode: BestMode,
    n: Option<usize>,
    without_metrics: bool,
}

impl BestN {
    /// Keeps all, until [`n`](BestN::n) is set.
    pub fn new(metric: impl Fn(&Metrics) -> f64 + Send + Sync + 'static) -> BestN {
        BestN::of(Arc::new(metric))
    }

    pub(crate) fn of(metric: Arc<dyn Fn(&Metrics) -> f64 + Send + Sync>) -> BestN {
        BestN {
            metric,
            mode: BestMode::default(),
            n: None,
            without_metrics: true,
        }
    }

    /// How many are kept.
    pub fn n(mut self, n: usize) -> BestN {
        self.n = Some(n);
        self
    }

    /// Whether the greatest or the smallest are the best; the greatest, if not set.
    pub fn mode(mut self, mode: BestMode) -> BestN {
        self.mode = mode;
        self
    }

    /// Whether those are kept that have no metrics; they are, if not set.
    pub fn keep_checkpoints_without_metrics(mut self, keep: bool) -> BestN {
        self.without_metrics = keep;
        self
    }
}

/// The order of two metrics, the worse one first. Equal ones stay in their order, so
/// that the later one is the better.
pub(crate) fn worse_first(a: f64, b: f64, mode: BestMode) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => {
            let order = a.partial_cmp(&b).unwrap_or(Ordering::Equal);
            match mode {
                BestMode::Max => order,
                BestMode::Min => order.reverse(),
            }
        }
    }
}

impl PreservationPolicy for BestN {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        let n = match self.n {
            Some(0) => return vec![false; checkpoints.len()],
            Some(n) if n < checkpoints.len() => n,
            _ => return vec![true; checkpoints.len()],
        };
        let metric = |c: &CheckpointInfo| c.metrics.as_ref().map(|m| (self.metric)(m));
        let metrics: Vec<Option<f64>> = checkpoints.iter().map(metric).collect();
        let with = metrics.iter().enumerate();
        let mut ranked: Vec<_> = with.filter_map(|(i, m)| m.map(|m| (i, m))).collect();
        ranked.sort_by(|a, b| worse_first(a.1, b.1, self.mode));
        let best = ranked.iter().rev().take(n).map(|(i, _)| *i);
        let best: BTreeSet<usize> = best.collect();
        let keep = |(i, m): (usize, &Option<f64>)| match m {
            None => self.without_metrics,
            Some(_) => best.contains(&i),
        };
        metrics.iter().enumerate().map(keep).collect()
    }
}

/// Keeps those that are not older than this, and all after the first of them.
#[derive(Clone, Copy, Debug)]
pub struct LatestDuration(pub Duration);

impl PreservationPolicy for LatestDuration {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        let now = SystemTime::now();
        let young = |c: &CheckpointInfo| now.duration_since(c.time).is_ok_and(|d| d <= self.0);
        // A time to come is a clock that was set back: such a one is young as well.
        let first = checkpoints.iter().position(|c| c.time > now || young(c));
        let first = first.unwrap_or(checkpoints.len());
        (0..checkpoints.len()).map(|i| i >= first).collect()
    }
}
