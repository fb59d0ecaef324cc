//! Line search by interpolation within an interval.

use crate::base::extra_args::expect_params;
use crate::base::given::unchecked;
use crate::base::numerics::count_zero;
use crate::base::options::options;
use crate::base::wide::number_dtype;
use crate::{ExtraArgs, GradientTransformation, tree};
use ramie_core::lax::{cond, while_loop};
use ramie_core::{Array, DType, State, value_and_grad, where_};
use ramie_derive::Tree;

/// The state of [`scale_by_zoom_linesearch`].
#[derive(Tree)]
pub struct ScaleByZoomLinesearchState {
    /// Step size of the last search, 0-d.
    pub learning_rate: Array,
    /// Value of the objective after that step, 0-d.
    pub value: Array,
    /// Gradients after that step.
    pub grad: State,
    /// Statistics of the last search.
    pub info: ZoomLinesearchInfo,
}

/// Statistics of a line search by interpolation.
#[derive(Tree)]
pub struct ZoomLinesearchInfo {
    /// Number of evaluations of the objective, 0-d `i32`.
    pub num_linesearch_steps: Array,
    /// Amount by which the objective missed the required decrease, 0-d.
    pub decrease_error: Array,
    /// Amount by which the slope missed the required flatness, 0-d.
    pub curvature_error: Array,
}

/// The first step size that a search tries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialGuess {
    /// The step size of the last search.
    #[default]
    Keep,
    /// A step size of 1, which suits (quasi-)Newton methods.
    One,
}

unchecked!(InitialGuess);

/// An optional number.
type MaybeNumber = Option<f64>;

options! {
    /// Multiplies updates by a step size after which the objective is smaller and flatter
    /// (Wolfe's conditions). The step grows until an interval is found, which is then narrowed by
    /// interpolation.
    ///
    /// `update` panics if `params` is `None`, or if [`ExtraArgs::value`], [`ExtraArgs::grad`] or
    /// [`ExtraArgs::value_fn`] is missing.
    ///
    /// ```
    /// use ramie_optim::{chain, scale_by_zoom_linesearch, sgd};
    /// let tx = chain((sgd(1.0), scale_by_zoom_linesearch().max_linesearch_steps(15)));
    /// ```
    ///
    /// Nocedal and Wright, *Numerical Optimization*, 1999, algorithms 3.5 and
    /// 3.6; Hager and Zhang, *Algorithm 851: CG_DESCENT*, 2006, for the
    /// decrease allowed close to a minimum.
    scale_by_zoom_linesearch() -> ScaleByZoomLinesearch {
        /// Sets the maximum number of steps to try.
        max_linesearch_steps: count = 20,
        /// Sets the maximum step size. Defaults to no limit.
        max_learning_rate: optional,
        /// Sets the absolute tolerance of both conditions.
        tol: num = 0.0,
        /// Sets the factor that multiplies the step size until an interval is found.
        increase_factor: num = 2.0,
        /// Sets the fraction of the decrease predicted by the slope that is required.
        slope_rtol: num = 1e-4,
        /// Sets the fraction of the initial slope that may remain.
        curv_rtol: num = 0.9,
        /// Sets the relative increase of the objective that is attributed to rounding. `None`
        /// allows none.
        approx_dec_rtol: MaybeNumber = Some(1e-6),
        /// Sets the length of an interval below which it is no longer narrowed.
        stepsize_precision: num = 1e-5,
        /// Sets the first step size that a search tries.
        initial_guess_strategy: InitialGuess = InitialGuess::Keep,
    }
    |o| GradientTransformation::with_extra_args(
        |params| {
            let dtype = number_dtype(params);
            ScaleByZoomLinesearchState {
                learning_rate: Array::scalar(1.0, dtype),
                value: Array::scalar(f64::INFINITY, dtype),
                grad: params.zeros_like(),
                info: ZoomLinesearchInfo {
                    num_linesearch_steps: count_zero(),
                    decrease_error: Array::scalar(f64::INFINITY, DType::F32),
                    curvature_error: Array::scalar(f64::INFINITY, DType::F32),
                },
            }
        },
        move |updates, state: ScaleByZoomLinesearchState, params, extra: &ExtraArgs<'_>| {
            let params = expect_params(NAME, params);
            let (value, grad) = (extra.expect_value(NAME), extra.expect_grad(NAME));
            let line = Line {
                rules: &o,
                params,
                updates: &updates,
                value_fn: extra.expect_value_fn(NAME),
                value: value.clone(),
                slope: tree::vdot(&updates, grad),
                guess: match o.initial_guess_strategy {
                    InitialGuess::Keep => state.learning_rate.clone(),
                    InitialGuess::One => Array::scalar(1.0, value.dtype()),
                },
            };
            let found = line.search(grad);
            let new = tree::scale(&found.at.step, &updates);
            let state = ScaleByZoomLinesearchState {
                learning_rate: found.at.step.astype(state.learning_rate.dtype()),
                value: found.at.value.astype(state.value.dtype()),
                grad: tree::cast_like(&found.grad, &state.grad),
                info: ZoomLinesearchInfo {
                    num_linesearch_steps: found.count,
                    decrease_error: found.decrease_error.astype(DType::F32),
                    curvature_error: found.curvature_error.astype(DType::F32),
                },
            };
            (new, state)
        },
    )
}

const NAME: &str = "scale_by_zoom_linesearch";

/// A step size with the value and slope of the objective after it.
#[derive(Clone, Tree)]
struct Point {
    step: Array,
    value: Array,
    slope: Array,
}

impl Point {
    fn choose(which: &Array, yes: &Point, no: &Point) -> Point {
        Point {
            step: where_(which, &yes.step, &no.step),
            value: where_(which, &yes.value, &no.value),
            slope: where_(which, &yes.slope, &no.slope),
        }
    }
}

/// The loop state of a search.
#[derive(Tree)]
struct Search {
    count: Array,
    at: Point,
    grad: State,
    decrease_error: Array,
    curvature_error: Array,
    interval_found: Array,
    done: Array,
    failed: Array,
    low: Point,
    high: Point,
    /// Step size and value of a third point for cubic interpolation.
    cubic: (Array, Array),
    /// Step size and value of the best step so far that decreases the objective enough.
    safe: (Array, Array),
    safe_grad: State,
}

/// The line along which a search runs.
struct Line<'a> {
    rules: &'a ScaleByZoomLinesearch,
    params: &'a State,
    updates: &'a State,
    value_fn: &'a (dyn Fn(&State) -> Array + Send + Sync),
    value: Array,
    slope: Array,
    guess: Array,
}

impl Line<'_> {
    fn search(&self, grad: &State) -> Search {
        let value = &self.value;
        let zero = || Array::scalar(0.0, value.dtype());
        let no = || Array::scalar(false, DType::Bool);
        let infinite = || Array::scalar(f64::INFINITY, value.dtype());
        let start = Point {
            step: zero(),
            value: value.clone(),
            slope: self.slope.astype(value.dtype()),
        };
        let first = Search {
            count: count_zero(),
            at: start.clone(),
            grad: grad.clone(),
            decrease_error: infinite(),
            curvature_error: infinite(),
            interval_found: no(),
            done: no(),
            failed: no(),
            low: start.clone(),
            high: start,
            cubic: (zero(), value.clone()),
            safe: (zero(), value.clone()),
            safe_grad: grad.clone(),
        };
        while_loop(
            |s: Search| s.done.bitwise_or(&s.failed).logical_not(),
            |s| {
                let found = s.interval_found.clone();
                let next = cond(found, |s| self.zoom(s), |s| self.widen(s), s);
                let failed = next.failed.clone();
                cond(failed, |s| self.fall_back(s), |s: Search| s, next)
            },
            first,
        )
    }

    /// Evaluates the objective and its gradients after a step.
    fn evaluate(&self, step: &Array) -> (Point, State) {
        let at = tree::cast_like(
            &tree::add_scale(self.params, step, self.updates),
            self.params,
        );
        let (value, grad) = value_and_grad(|p: State| (self.value_fn)(&p))(at);
        let grad = tree::cast_like(&grad, self.params);
        let slope = tree::vdot(&tree::conj(&grad), self.updates);
        let dtype = self.value.dtype();
        let point = Point {
            step: step.astype(dtype),
            value: value.astype(dtype),
            slope: slope.astype(dtype),
        };
        (point, grad)
    }

    /// Computes the amounts by which a point misses the required decrease and flatness.
    fn errors(&self, at: &Point) -> (Array, Array) {
        let Line {
            rules,
            value,
            slope,
            ..
        } = self;
        let gain = &at.value - value;
        let mut decrease = &gain - &at.step * &rules.slope_rtol * slope;
        if let Some(rtol) = rules.approx_dec_rtol {
            // Hager and Zhang: close to a minimum the difference of values is lost to rounding, so
            // the decrease also counts as enough if `slope(t) ≤ (2 c - 1) slope(0)`, and the value
            // rose by no more than the rounding error.
            let flatter = rules.slope_rtol.times(2.0).plus(-1.0);
            let approximate = &at.slope - slope * &flatter;
            let rounding = &gain - value.abs() * rtol;
            decrease = approximate.maximum(rounding).minimum(decrease);
        }
        let curvature = at.slope.abs() - slope.abs() * &rules.curv_rtol;
        let error = |e: Array| {
            // NaN would compare as false everywhere. As an infinite error it ends the interval,
            // like any step that is too long.
            let e = e.maximum(0.0);
            where_(e.is_nan(), f64::INFINITY, &e).astype(value.dtype())
        };
        (error(decrease), error(curvature))
    }

    fn most(&self) -> i32 {
        self.rules.max_linesearch_steps as i32
    }

    /// Tries a longer step until an interval is found.
    fn widen(&self, s: Search) -> Search {
        let rules = self.rules;
        // Algorithm 3.5. `s.at` is the previous step, initially 0.
        let longer = &s.at.step * &rules.increase_factor;
        let begins = s.count.eq(0);
        let step = where_(&begins, &self.guess, longer);
        let (step, greatest) = match &rules.max_learning_rate {
            Some(most) => (step.minimum(most), step.ge(most)),
            None => (step, Array::scalar(false, DType::Bool)),
        };
        let (at, grad) = self.evaluate(&step);
        let (decrease_error, curvature_error) = self.errors(&at);
        let error = decrease_error.maximum(&curvature_error);
        let is_safe = decrease_error.le(&rules.tol);
        let rises = at.value.ge(&s.at.value).bitwise_and(begins.logical_not());
        // The interval is `[previous, new]` if the new step is too long, `[new, previous]` if the
        // slope changed its sign: `low` always satisfies the required decrease.
        let high_is_new = decrease_error.gt(0.0).bitwise_or(rises);
        let low_is_new = at.slope.ge(0.0).bitwise_and(high_is_new.logical_not());
        let low = Point::choose(&low_is_new, &at, &s.at);
        let high = Point::choose(&low_is_new, &s.at, &at);
        let good = error.le(&rules.tol);
        let interval_found = high_is_new.bitwise_or(low_is_new).bitwise_or(&good);
        // At the maximum step size there is nothing left to widen.
        let done = good.bitwise_or(greatest.bitwise_and(interval_found.logical_not()));
        let count = s.count + 1;
        Search {
            failed: count.ge(self.most()).bitwise_and(done.logical_not()),
            count,
            safe: (
                where_(&is_safe, &at.step, &s.safe.0),
                where_(&is_safe, &at.value, &s.safe.1),
            ),
            safe_grad: tree::where_state(&is_safe, &grad, &s.safe_grad),
            at,
            grad,
            decrease_error,
            curvature_error,
            interval_found,
            done,
            // There is no third point yet. With `low` in its place, the cubic is 0 / 0 = NaN, and
            // the first zoom uses the parabola.
            cubic: (low.step.clone(), low.value.clone()),
            low,
            high,
        }
    }

    /// Tries a step within the interval.
    // Algorithm 3.6: the middle replaces the high end if it misses the decrease or is not lower than
    // the low end. Otherwise it becomes the low end, and the old low end becomes the high one if the
    // objective rises from the middle towards `high`. The end that leaves the interval is the third
    // point of the next cubic. A short interval ends the search only if there is a step to return.
    fn zoom(&self, s: Search) -> Search {
        let Search { low, high, .. } = &s;
        let rules = self.rules;
        let length = (&high.step - &low.step).abs();
        let (left, right) = (high.step.minimum(&low.step), high.step.maximum(&low.step));
        let inside = |x: &Array, margin: f64| {
            let margin = &length * margin;
            x.gt(&left + &margin).bitwise_and(x.lt(&right - &margin))
        };
        let cubic = cubic_minimum(low, high, &s.cubic);
        let quadratic = quadratic_minimum(low, high);
        let half = (&low.step + &high.step) / 2.0;
        // The cubic if its minimum is well within the interval, otherwise the parabola, otherwise
        // the middle. A point close to an end would hardly narrow the interval. NaN is not inside.
        let middle = where_(inside(&quadratic, 0.1), quadratic, half);
        let middle = where_(inside(&cubic, 0.2), cubic, middle);
        let (at, grad) = self.evaluate(&middle);
        let (decrease_error, curvature_error) = self.errors(&at);
        let error = decrease_error.maximum(&curvature_error);
        let improves = at.value.lt(&s.safe.1);
        let is_safer = decrease_error.le(&rules.tol).bitwise_and(improves);
        let safe = (
            where_(&is_safer, &at.step, &s.safe.0),
            where_(&is_safer, &at.value, &s.safe.1),
        );
        let done = error.le(&rules.tol);
        let high_is_middle = decrease_error.gt(0.0).bitwise_or(at.value.ge(&low.value));
        let uphill = (&at.slope * (&high.step - &low.step)).ge(0.0);
        let high_is_low = uphill.bitwise_and(high_is_middle.logical_not());
        let new_high = Point::choose(&high_is_middle, &at, high);
        let new_high = Point::choose(&high_is_low, low, &new_high);
        let new_low = Point::choose(&high_is_middle, low, &at);
        let old_high = high_is_middle.bitwise_or(&high_is_low);
        let count = &s.count + 1;
        let too_short = length
            .le(&rules.stepsize_precision)
            .bitwise_and(safe.0.gt(0.0));
        let gives_up = count.ge(self.most()).bitwise_or(too_short);
        Search {
            count,
            safe,
            safe_grad: tree::where_state(&is_safer, &grad, &s.safe_grad),
            at,
            grad,
            decrease_error,
            curvature_error,
            interval_found: s.interval_found.clone(),
            failed: gives_up.bitwise_and(done.logical_not()),
            done,
            cubic: (
                where_(&old_high, &high.step, &low.step),
                where_(&old_high, &high.value, &low.value),
            ),
            low: new_low,
            high: new_high,
        }
    }

    /// Falls back to the best known step after a failed search.
    fn fall_back(&self, s: Search) -> Search {
        // If no step decreased the objective enough, the last one is taken, unless its value is not
        // finite: then the step is 0.
        let safer = s.safe.0.gt(0.0).bitwise_or(s.decrease_error.is_inf());
        let at = Point {
            step: where_(&safer, &s.safe.0, &s.at.step),
            value: where_(&safer, &s.safe.1, &s.at.value),
            slope: s.at.slope.clone(),
        };
        let grad = tree::where_state(&safer, &s.safe_grad, &s.grad);
        Search { at, grad, ..s }
    }
}

/// Returns the minimum of the cubic through three points with the given slope at the first, or
/// NaN if it has none.
fn cubic_minimum(a: &Point, b: &Point, c: &(Array, Array)) -> Array {
    let (db, dc) = (&b.step - &a.step, &c.0 - &a.step);
    // With `t` from `a`, the cubic is `third t³ + second t² + slope t + value`. `b` and `c` give two
    // linear equations for `third` and `second`.
    let below = (&db * &dc).square() * (&db - &dc);
    let (fb, fc) = (
        &b.value - &a.value - &a.slope * &db,
        &c.1 - &a.value - &a.slope * &dc,
    );
    let third = (dc.square() * &fb - db.square() * &fc) / &below;
    let second = (db.integer_pow(3) * fc - dc.integer_pow(3) * fb) / below;
    let radical = second.square() - &third * 3.0 * &a.slope;
    &a.step + (radical.sqrt() - second) / (third * 3.0)
}

/// Returns the minimum of the parabola through two points with the given slope at the first.
fn quadratic_minimum(a: &Point, b: &Point) -> Array {
    let db = &b.step - &a.step;
    let second = (&b.value - &a.value - &a.slope * &db) / db.square();
    &a.step - &a.slope / (second * 2.0)
}
