//! `Sampling`: the choice of the next token.

use ramie_core::options::Descending;
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, fixed_tree, vmap, where_};
use ramie_nn::Tree;

/// The method of choosing the next token from logits: the most likely one, or a random one
/// among all, the `k` most likely, or those that make up most of the probability.
///
/// The options apply in the order of `transformers`, whatever the order of the calls: the
/// repetition penalty, the temperature, `top_k`, `top_p`, `min_p`.
///
/// ```no_run
/// use ramie_core::{Array, random};
/// use ramie_models::Sampling;
/// let logits = Array::from([[1.0f32, 4.0, 2.0]]);
/// assert_eq!(Sampling::greedy().choose(&random::key(0), &logits).to_vec::<i32>(), [1]);
/// let random = Sampling::greedy().temperature(0.7).min_p(0.05).repetition_penalty(1.1);
/// ```
#[derive(Clone, Debug, PartialEq, Tree)]
pub struct Sampling {
    #[tree(fixed)]
    repetition_penalty: Option<f64>,
    #[tree(fixed)]
    temperature: Option<f64>,
    #[tree(fixed)]
    top_k: Option<usize>,
    #[tree(fixed)]
    top_p: Option<f64>,
    #[tree(fixed)]
    min_p: Option<f64>,
}

impl Sampling {
    /// Selects the most likely token.
    pub fn greedy() -> Sampling {
        Sampling {
            repetition_penalty: None,
            temperature: None,
            top_k: None,
            top_p: None,
            min_p: None,
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

    /// Samples from the tokens whose probability is at least `p` times that of the most likely
    /// token (Nguyen et al., 2024), among those that [`top_k`](Sampling::top_k) and
    /// [`top_p`](Sampling::top_p) keep.
    ///
    /// # Panics
    /// Panics if `p` is not in `[0, 1]`.
    #[must_use]
    #[track_caller]
    pub fn min_p(self, p: f64) -> Sampling {
        assert!(
            (0.0..=1.0).contains(&p),
            "Sampling::min_p: p is {p}, expected a factor from 0 to 1\n  help: use a number in \
             this range; 0.05 is common"
        );
        Sampling {
            temperature: self.temperature.or(Some(1.0)),
            min_p: Some(p),
            ..self
        }
    }

    /// Makes tokens less likely that the text already contains, the prompt included: divides
    /// their positive logits by the penalty, and multiplies their negative ones by it (Keskar et
    /// al., 2019). A penalty below 1 makes them more likely. It applies to greedy sampling, too.
    ///
    /// # Panics
    /// Panics if the penalty is not positive.
    #[must_use]
    #[track_caller]
    pub fn repetition_penalty(self, penalty: f64) -> Sampling {
        assert!(
            penalty > 0.0,
            "Sampling::repetition_penalty: the penalty is {penalty}, expected a positive number\n  \
             help: use a number above 1; 1.1 is common"
        );
        Sampling {
            repetition_penalty: Some(penalty),
            ..self
        }
    }

    /// Returns `true` if the choice depends on the previous tokens.
    pub(crate) fn penalizes(&self) -> bool {
        self.repetition_penalty.is_some()
    }

    /// Returns the logits `[.., vocabulary]` with the repetition penalty for the previous tokens
    /// of each text, integers `[.., length]`. Without a penalty it returns them unchanged.
    ///
    /// # Panics
    /// Panics if the axes do not match.
    #[track_caller]
    pub fn penalized(&self, logits: &Array, tokens: &Array) -> Array {
        let Some(penalty) = self.repetition_penalty else {
            return logits.clone();
        };
        let logits = logits.astype(DType::F32);
        let seen = logits.take_along_axis(tokens, -1);
        let seen = where_(seen.lt(0), &seen * penalty, &seen / penalty);
        logits.put_along_axis(tokens, seen, -1)
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
            let least = greatest.min_over(-1).expand_dims(&[-1]);
            logits = where_(logits.lt(least), f64::NEG_INFINITY, logits);
        }
        if let Some(p) = self.top_p {
            logits = nucleus(
                &logits,
                &logits.sort_with(-1, Descending),
                &Array::from(p as f32),
            );
        }
        if let Some(p) = self.min_p {
            logits = close(&logits, &Array::from(p.ln() as f32));
        }
        logits
    }

    /// Chooses tokens, `i32` of shape `[..]`, from logits `[.., vocabulary]`. To apply a
    /// repetition penalty, pass those that [`penalized`](Sampling::penalized) returns.
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

/// Excludes the tokens after those whose probabilities add up to `p`, given the same logits in
/// descending order.
fn nucleus(logits: &Array, sorted: &Array, p: &Array) -> Array {
    let likely = sorted.softmax(-1);
    // Keep a token if those before it do not reach `p`.
    let before = likely.cumsum(-1) - &likely;
    let kept = where_(before.lt(p), sorted, f64::INFINITY);
    at_least(logits, &kept.min_over(-1).expand_dims(&[-1]))
}

/// Excludes the tokens whose log probability is further below the greatest one than `log_p`.
fn close(logits: &Array, log_p: &Array) -> Array {
    at_least(logits, &(logits.max_over(-1).expand_dims(&[-1]) + log_p))
}

/// Excludes the tokens with lower logits.
fn at_least(logits: &Array, least: &Array) -> Array {
    where_(logits.lt(least), f64::NEG_INFINITY, logits)
}

/// The sampling of several texts, each with its own options: arrays, so that one program serves all
/// options of the same method.
#[derive(Clone, Tree)]
pub(crate) struct TextSampling {
    #[tree(fixed)]
    method: Method,
    /// `f32[texts, 1]`; 0 for the most likely token.
    temperature: Array,
    /// `i32[texts, 1]`
    top_k: Array,
    /// `f32[texts, 1]`
    top_p: Array,
    /// `f32[texts, 1]`, logarithms
    min_p: Array,
}

/// The choice of tokens that a program for all texts computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Method {
    Greedy,
    Random,
    /// Random among tokens that a sort selects.
    Sorted,
}

fixed_tree!(Method);

impl Method {
    pub(crate) const ALL: [Method; 3] = [Method::Greedy, Method::Random, Method::Sorted];
}

impl TextSampling {
    /// Collects the options of texts; `None` for a text whose token is not used.
    pub(crate) fn of(texts: &[Option<&Sampling>]) -> TextSampling {
        let any = |f: fn(&Sampling) -> bool| texts.iter().flatten().any(|s| f(s));
        let method = match () {
            _ if any(|s| s.top_k.is_some() || s.top_p.is_some()) => Method::Sorted,
            _ if any(|s| s.temperature.is_some()) => Method::Random,
            _ => Method::Greedy,
        };
        let column = |f: &dyn Fn(&Sampling) -> Option<f64>, other: f64| {
            let values = texts.iter().map(|s| s.and_then(f).unwrap_or(other) as f32);
            Array::from_vec(values.collect(), &[texts.len(), 1])
        };
        let least = |s: &Sampling| s.min_p.map(f64::ln);
        let top_k = texts.iter().map(|s| {
            let k = s.and_then(|s| s.top_k).unwrap_or(usize::MAX);
            i32::try_from(k).unwrap_or(i32::MAX)
        });
        TextSampling {
            method,
            temperature: column(&|s| s.temperature, 0.0),
            top_k: Array::from_vec(top_k.collect(), &[texts.len(), 1]),
            // No sum of probabilities reaches it.
            top_p: column(&|s| s.top_p, 2.0),
            min_p: column(&least, f64::NEG_INFINITY),
        }
    }

    /// Replaces the method, to compile its program.
    pub(crate) fn with_method(self, method: Method) -> TextSampling {
        TextSampling { method, ..self }
    }

    /// Chooses the token of each text, `i32[texts]`, from logits `[texts, vocabulary]` with an array
    /// of keys. It is the token that [`Sampling::choose`] would choose for the text alone.
    pub(crate) fn choose(&self, keys: Key, logits: &Array) -> Array {
        let greedy = logits.argmax(-1).astype(DType::I32);
        if self.method == Method::Greedy {
            return greedy;
        }
        let is_greedy = self.temperature.le(0);
        let temperature = where_(&is_greedy, 1, &self.temperature);
        let mut logits = logits.astype(DType::F32) / temperature;
        if self.method == Method::Sorted {
            let sorted = logits.sort_with(-1, Descending);
            let last = self.top_k.minimum(sorted.shape()[1] as i64) - 1;
            let least = sorted.take_along_axis(&last, -1);
            logits = at_least(&logits, &least);
            logits = nucleus(&logits, &at_least(&sorted, &least), &self.top_p);
        }
        logits = close(&logits, &self.min_p);
        let draw = |key: Key, logits: Array| random::categorical(&key, &logits, -1);
        let random = vmap(draw)(keys, logits).astype(DType::I32);
        where_(is_greedy.squeeze(&[-1]), greedy, random)
    }
}
