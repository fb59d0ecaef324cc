//! `Sampling`: which token comes next.

use crate::Tree;
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, where_};

/// How the next token is chosen from logits: the likeliest, or by chance among
/// all, the likeliest few, or those that make up most of the probability.
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
    temperature: Option<f64>,
    top_k: Option<usize>,
    top_p: Option<f64>,
}

impl Sampling {
    /// The likeliest token, always.
    pub fn greedy() -> Sampling {
        Sampling {
            temperature: None,
            top_k: None,
            top_p: None,
        }
    }

    /// By chance, with the logits divided by a temperature: below 1 likely tokens
    /// become likelier.
    ///
    /// # Panics
    /// If the temperature is not positive.
    #[must_use]
    #[track_caller]
    pub fn temperature(self, temperature: f64) -> Sampling {
        assert!(
            temperature > 0.0,
            "Sampling::temperature: {temperature} is no temperature\n  help: give a positive number; \
             for the likeliest token, Sampling::greedy()"
        );
        Sampling {
            temperature: Some(temperature),
            ..self
        }
    }

    /// By chance among so many likeliest tokens.
    ///
    /// # Panics
    /// If there are to be none.
    #[must_use]
    #[track_caller]
    pub fn top_k(self, k: usize) -> Sampling {
        assert!(
            k > 0,
            "Sampling::top_k: no tokens would be left to choose from\n  help: keep one or more; 40 is \
             common"
        );
        Sampling {
            temperature: self.temperature.or(Some(1.0)),
            top_k: Some(k),
            ..self
        }
    }

    /// By chance among the fewest likeliest tokens whose probabilities add up to
    /// `p` (Holtzman et al., 2020), of those that [`top_k`](Sampling::top_k)
    /// keeps.
    ///
    /// # Panics
    /// If `p` is not above 0 and at most 1.
    #[must_use]
    #[track_caller]
    pub fn top_p(self, p: f64) -> Sampling {
        assert!(
            p > 0.0 && p <= 1.0,
            "Sampling::top_p: {p} is no share of the probability\n  help: give a number above 0 and at \
             most 1; 0.9 is common"
        );
        Sampling {
            temperature: self.temperature.or(Some(1.0)),
            top_p: Some(p),
            ..self
        }
    }

    /// The logits `[.., vocabulary]` divided by the temperature, minus infinity
    /// for tokens that are not chosen from. Greedily they stay as they are.
    ///
    /// # Panics
    /// If the logits have no axes.
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
            logits = where_(&logits.lt(least), f64::NEG_INFINITY, logits);
        }
        if let Some(p) = self.top_p {
            let sorted = logits.sort_descending(-1);
            let likely = sorted.softmax(-1);
            // What comes before a token must not be enough already.
            let before = likely.cumsum(-1) - &likely;
            let kept = where_(&before.lt(p), sorted, f64::INFINITY);
            let least = kept.min_axes(&[-1]).expand_dims(&[-1]);
            logits = where_(&logits.lt(least), f64::NEG_INFINITY, logits);
        }
        logits
    }

    /// Tokens, `i32` in the shape `[..]`, for logits `[.., vocabulary]`.
    ///
    /// # Panics
    /// If the logits have no axes.
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
