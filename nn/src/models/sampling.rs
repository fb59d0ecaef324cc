//! `Sampling`: the choice of the next token.

use crate::Tree;
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, where_};

/// The method of choosing the next token from logits: the most likely one, or a random one
/// among all, the `k` most likely, or those that make up most of the probability.
///
/// ```no_run
/// use ramie_core::{Array, random};
/// use ramie_nn::models::Sampling;
/// let logits = Array::from([[1.0f32, 4.0, 2.0]]);
/// assert_eq!(Sampling::greedy().choose(&random::key(0), &logits).to_vec::<i32>(), [1]);
/// let by_chance = Sampling::greedy().temperature(0.7).top_k(2);
/// ```
#[derive(Clone, Debug, PartialEq, Tree)]
pub struct Sampling {
    #[tree(fixed)]
    temperature: Option<f64>,
    #[tree(fixed)]
    top_k: Option<usize>,
    #[tree(fixed)]
    top_p: Option<f64>,
}

impl Sampling {
    /// Selects the most likely token.
    pub fn greedy() -> Sampling {
        Sampling {
            temperature: None,
            top_k: None,
            top_p: None,
        }
    }

    /// Samples from the logits divided by a temperature. Values below 1 make likely tokens more
    /// likely.
    ///
    /// # Panics
    /// Panics if the temperature is not positive.
    #[must_use]
    #[track_caller]
    pub fn temperature(self, temperature: f64) -> Sampling {
        assert!(
            temperature > 0.0,
            "Sampling::temperature: the temperature is {temperature}, expected a positive \
             number\n  help: for the most likely token, use Sampling::greedy()"
        );
        Sampling {
            temperature: Some(temperature),
            ..self
        }
    }

    /// Samples from the `k` most likely tokens.
    ///
    /// # Panics
    /// Panics if `k` is 0.
    #[must_use]
    #[track_caller]
    pub fn top_k(self, k: usize) -> Sampling {
        assert!(
            k > 0,
            "Sampling::top_k: k is 0, which leaves no tokens to sample from\n  help: use 1 or \
             more; 40 is common"
        );
        Sampling {
            temperature: self.temperature.or(Some(1.0)),
            top_k: Some(k),
            ..self
        }
    }

    /// Samples from the smallest set of most likely tokens whose probabilities add up to at
    /// least `p` (Holtzman et al., 2020), among those that [`top_k`](Sampling::top_k) keeps.
    ///
    /// # Panics
    /// Panics if `p` is not in `(0, 1]`.
    #[must_use]
    #[track_caller]
    pub fn top_p(self, p: f64) -> Sampling {
        assert!(
            p > 0.0 && p <= 1.0,
            "Sampling::top_p: p is {p}, expected a probability above 0 and at most 1\n  help: \
             use a number in this range; 0.9 is common"
        );
        Sampling {
            temperature: self.temperature.or(Some(1.0)),
            top_p: Some(p),
            ..self
        }
    }

    /// Returns the logits `[.., vocabulary]` divided by the temperature, with minus infinity
    /// for excluded tokens. Greedy sampling leaves them unchanged.
    ///
    /// # Panics
    /// Panics if the logits have no axes, unless sampling is greedy.
    #[track_caller]
    pub fn limited(&self, logits: &Array) -> Array {
        let Some(temperature) = self.temperature else {
            return logits.clone();
        };
        let mut logits = logits.astype(DType::F32) / temperature;
        let vocabulary = logits.shape()[logits.ndim() - 1];
        if let Some(k) = self.top_k {
            let (greatest, _) = logits.top_k(k.min(vocabulary));
            let least = greatest.min_axes(&[-1]).expand_dims(&[-1]);
            logits = where_(logits.lt(least), f64::NEG_INFINITY, logits);
        }
        if let Some(p) = self.top_p {
            let sorted = logits.sort_descending(-1);
            let likely = sorted.softmax(-1);
            // Keep a token if those before it do not reach `p`.
            let before = likely.cumsum(-1) - &likely;
            let kept = where_(before.lt(p), sorted, f64::INFINITY);
            let least = kept.min_axes(&[-1]).expand_dims(&[-1]);
            logits = where_(logits.lt(least), f64::NEG_INFINITY, logits);
        }
        logits
    }

    /// Chooses tokens, `i32` of shape `[..]`, from logits `[.., vocabulary]`.
    ///
    /// # Panics
    /// Panics if the logits have no axes.
    #[track_caller]
    pub fn choose(&self, key: &Key, logits: &Array) -> Array {
        assert!(
            logits.ndim() > 0,
            "Sampling::choose: the logits are {}, expected [.., vocabulary]\n  help: pass the logits \
             after the last token",
            logits.aval()
        );
        let logits = self.limited(logits);
        let token = match self.temperature {
            None => logits.argmax(-1),
            Some(_) => random::categorical(key, &logits, -1),
        };
        token.astype(DType::I32)
    }
}
