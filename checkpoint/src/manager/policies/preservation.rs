//! Policies that decide which checkpoints to keep.

use super::CheckpointInfo;
use crate::manager::Metrics;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Decides which checkpoints to keep. The others are deleted after a save.
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
    /// Returns for each checkpoint, in ascending order of steps, whether to keep it. The last
    /// checkpoint is the one that is being saved.
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool>;
}

/// Policy that keeps all checkpoints.
#[derive(Clone, Copy, Debug, Default)]
pub struct PreserveAll;

impl PreservationPolicy for PreserveAll {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        vec![true; checkpoints.len()]
    }
}

/// Policy that keeps the last `n` checkpoints, or all for `None`.
#[derive(Clone, Copy, Debug, Default)]
pub struct LatestN(pub Option<usize>);

impl PreservationPolicy for LatestN {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        let kept = self.0.unwrap_or(usize::MAX);
        let first = checkpoints.len().saturating_sub(kept);
        (0..checkpoints.len()).map(|i| i >= first).collect()
    }
}

/// Policy that keeps the first checkpoint, and each one that was saved at least this long after
/// the last kept one.
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

/// Policy that keeps one checkpoint per number of steps.
#[derive(Clone, Copy, Debug)]
pub struct EveryNSteps {
    interval: u64,
    exact: bool,
    max_to_keep: Option<usize>,
}

impl EveryNSteps {
    /// Creates a policy that keeps the multiples of `interval_steps`.
    ///
    /// # Panics
    /// Panics if `interval_steps` is 0.
    #[track_caller]
    pub fn new(interval_steps: u64) -> EveryNSteps {
        EveryNSteps {
            interval: checked("EveryNSteps", interval_steps),
            exact: true,
            max_to_keep: None,
        }
    }

    /// Sets whether only exact multiples of the interval are kept. Defaults to `true`. If `false`,
    /// keeps the first checkpoint, and each one that is at least the interval after the last kept
    /// one.
    pub fn exact_interval(mut self, exact: bool) -> EveryNSteps {
        self.exact = exact;
        self
    }

    /// Limits the kept checkpoints to the last `n`.
    pub fn max_to_keep(mut self, n: usize) -> EveryNSteps {
        self.max_to_keep = Some(n);
        self
    }
}

#[track_caller]
fn checked(policy: &str, interval_steps: u64) -> u64 {
    assert!(
        interval_steps > 0,
        "{policy}: `interval_steps` is 0\n  help: pass at least 1, or use `PreserveAll` to keep \
         all steps"
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

/// Clears all but the last `max_to_keep` flags that are set.
fn last_of(mut kept: Vec<bool>, max_to_keep: Option<usize>) -> Vec<bool> {
    let all = kept.iter().filter(|keep| **keep).count();
    // Orbax treats 0 as no limit here: it slices the list with `[:-0]`.
    let surplus = match max_to_keep {
        None | Some(0) => 0,
        Some(n) => all.saturating_sub(n),
    };
    for keep in kept.iter_mut().filter(|keep| **keep).take(surplus) {
        *keep = false;
    }
    kept
}

/// Policy that keeps the checkpoint closest to each multiple of a number, and the last one.
#[derive(Clone, Copy, Debug)]
pub struct EveryNStepsClosest {
    interval: u64,
    max_to_keep: Option<usize>,
}

impl EveryNStepsClosest {
    /// Creates a policy that keeps the checkpoints closest to the multiples of `interval_steps`.
    ///
    /// # Panics
    /// Panics if `interval_steps` is 0.
    #[track_caller]
    pub fn new(interval_steps: u64) -> EveryNStepsClosest {
        EveryNStepsClosest {
            interval: checked("EveryNStepsClosest", interval_steps),
            max_to_keep: None,
        }
    }

    /// Limits the kept checkpoints to the last `n`.
    pub fn max_to_keep(mut self, n: usize) -> EveryNStepsClosest {
        self.max_to_keep = Some(n);
        self
    }
}

impl PreservationPolicy for EveryNStepsClosest {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        // Maps each multiple to the distance and index of the closest checkpoint. Of two equally
        // close ones, the later is kept.
        let mut closest = BTreeMap::<u64, (u64, usize)>::new();
        for (i, info) in checkpoints.iter().enumerate() {
            let (below, rest) = (info.step / self.interval, info.step % self.interval);
            let above = self.interval - rest;
            // A tie goes to the even multiple, as in Python's `round`.
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

/// Policy that keeps a fixed set of steps.
#[derive(Clone, Debug, Default)]
pub struct CustomSteps(BTreeSet<u64>);

impl CustomSteps {
    /// Creates a policy that keeps these steps.
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

/// Policy that keeps a checkpoint if any of several policies keeps it.
#[derive(Clone)]
pub struct AnyPreservationPolicy(Vec<Arc<dyn PreservationPolicy>>);

impl AnyPreservationPolicy {
    /// Creates a policy that keeps what any of these policies keeps.
    ///
    /// # Panics
    /// Panics if `policies` is empty.
    #[track_caller]
    pub fn new(policies: Vec<Arc<dyn PreservationPolicy>>) -> AnyPreservationPolicy {
        assert!(
            !policies.is_empty(),
            "AnyPreservationPolicy: `policies` is empty, so nothing would be kept\n  help: pass at \
             least one policy"
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

/// Order of metrics: which values are best.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum BestMode {
    /// The greatest values are best.
    #[default]
    Max,
    /// The smallest values are best.
    Min,
}

/// Policy that keeps the best checkpoints according to a function of their metrics.
///
/// Of equal values, the later is better. NaN is the worst.
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
    /// Creates a policy that ranks checkpoints by `metric` and keeps all until [`n`](BestN::n) is
    /// set.
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

    /// Sets the number of checkpoints to keep.
    pub fn n(mut self, n: usize) -> BestN {
        self.n = Some(n);
        self
    }

    /// Sets whether the greatest or the smallest values are best. Defaults to the greatest.
    pub fn mode(mut self, mode: BestMode) -> BestN {
        self.mode = mode;
        self
    }

    /// Sets whether checkpoints without metrics are kept. Defaults to `true`.
    pub fn keep_checkpoints_without_metrics(mut self, keep: bool) -> BestN {
        self.without_metrics = keep;
        self
    }
}

/// Compares two metrics, with the worse one first. Equal ones stay in order, so that the later one
/// counts as better.
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

/// Policy that keeps all checkpoints from the first one that is at most this old.
#[derive(Clone, Copy, Debug)]
pub struct LatestDuration(pub Duration);

impl PreservationPolicy for LatestDuration {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        let now = SystemTime::now();
        let young = |c: &CheckpointInfo| now.duration_since(c.time).is_ok_and(|d| d <= self.0);
        // A time in the future means that a clock was set back; such a checkpoint counts as
        // recent.
        let first = checkpoints.iter().position(|c| c.time > now || young(c));
        let first = first.unwrap_or(checkpoints.len());
        (0..checkpoints.len()).map(|i| i >= first).collect()
    }
}
