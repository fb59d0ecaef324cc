//! `check_grads`: compares derivatives with finite differences.

use crate::functions::random;
use crate::program::tree;
use crate::transform::{ArgTuple, Function, jvp, vjp};
use crate::{Array, DType, Tree};

/// A mode of differentiation that [`check_grads_with`] checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GradMode {
    /// Forward mode, by [`jvp`].
    Fwd,
    /// Reverse mode, by [`vjp`].
    Rev,
}

impl GradMode {
    fn name(self) -> &'static str {
        match self {
            GradMode::Fwd => "fwd",
            GradMode::Rev => "rev",
        }
    }
}

/// Options of [`check_grads_with`].
#[derive(Clone, Copy, Debug)]
pub struct CheckGradsOptions {
    /// Modes to check. Defaults to both.
    pub modes: &'static [GradMode],
    /// Absolute tolerance. Defaults to JAX's for the dtype: 1e-5 for `f64`, 2e-3 for `f32`, 1e-2
    /// for `f16`, 0.1 for `bf16`.
    pub atol: Option<f64>,
    /// Tolerance relative to the finite difference. Defaults to the same values.
    pub rtol: Option<f64>,
    /// Step size of finite differences. Defaults to 1e-4, which `f16` and `bf16` do not resolve.
    pub eps: f64,
}

impl Default for CheckGradsOptions {
    fn default() -> Self {
        CheckGradsOptions {
            modes: &[GradMode::Fwd, GradMode::Rev],
            atol: None,
            rtol: None,
            eps: 1e-4,
        }
    }
}

/// Compares the derivatives of `f` up to `order` with finite differences, in forward and reverse
/// mode (`jax.test_util.check_grads`), for tests of custom derivatives. Several arguments are
/// passed as a tuple. Each derivative is compared along one random direction; arrays of integers
/// and booleans are not differentiated.
///
/// ```
/// use ramie_core::test_util::check_grads;
/// use ramie_core::{Array, custom_jvp};
/// let square = custom_jvp(|x: Array| x.square(), |x: Array, dx: Array| (x.square(), x * 2.0 * dx));
/// check_grads(move |x: Array| square(x), Array::from([1.0f32, -0.5]), 2);
/// ```
///
/// # Panics
/// Panics if a derivative or the value that it is computed with differs. The message names the
/// argument, the order, the mode and both numbers.
#[track_caller]
pub fn check_grads<F: Function<M>, M>(f: F, args: <F::Args as ArgTuple>::Packed, order: usize) {
    check_grads_with(f, args, order, CheckGradsOptions::default());
}

/// Same as [`check_grads`], with options.
///
/// ```should_panic
/// use ramie_core::options::CheckGradsOptions;
/// use ramie_core::test_util::{GradMode, check_grads_with};
/// use ramie_core::{Array, custom_jvp};
/// let wrong = custom_jvp(|x: Array| x.sin(), |x: Array, dx: Array| (x.sin(), dx * x.sin()));
/// let options = CheckGradsOptions { modes: &[GradMode::Rev], ..CheckGradsOptions::default() };
/// check_grads_with(move |x: Array| wrong(x), Array::from(1.0f32), 1, options); // Panics.
/// ```
///
/// # Panics
/// Panics in the same cases as [`check_grads`].
#[track_caller]
pub fn check_grads_with<F: Function<M>, M>(
    f: F,
    args: <F::Args as ArgTuple>::Packed,
    order: usize,
    options: CheckGradsOptions,
) {
    let args = F::Args::unpack(args);
    let named = tree::leaves(&args).into_iter().zip(tree::paths(&args));
    let (inputs, names): (Vec<Array>, Vec<String>) = named
        .filter(|(a, _)| a.dtype().is_inexact())
        .map(|(a, path)| (a, format!("argument `{path}`")))
        .unzip();
    assert!(
        !inputs.is_empty(),
        "check_grads: no argument is an array of floats or complex numbers\n  help: pass an \
         argument that the function is differentiable in"
    );
    // The function from the differentiable arrays of the arguments to those of the result.
    let call = |xs: Vec<Array>| {
        let mut next = xs.into_iter();
        let args = args.rebuild(&mut |a| {
            if a.dtype().is_inexact() {
                next.next().expect("as many arrays")
            } else {
                a.clone()
            }
        });
        let outs = tree::leaves(&f.call(args)).into_iter();
        outs.filter(|y| y.dtype().is_inexact()).collect()
    };
    check(&call, &inputs, &names, (order, &[]), options);
}

type ListFn<'a> = dyn Fn(Vec<Array>) -> Vec<Array> + Send + Sync + 'a;

/// Checks the first derivative of a function of the derivative that `modes` describes, and
/// `orders` minus one derivatives of it.
#[track_caller]
fn check(
    f: &ListFn<'_>,
    inputs: &[Array],
    names: &[String],
    (orders, modes): (usize, &[GradMode]),
    options: CheckGradsOptions,
) {
    if orders == 0 {
        return;
    }
    for &mode in options.modes {
        let modes = [modes, &[mode]].concat();
        let tangents = directions(inputs, 0);
        if let Some(found) = mismatch(mode, f, inputs, &tangents, options) {
            let (who, found) = responsible(mode, f, inputs, options)
                .map_or(("all arguments", found), |(i, m)| (names[i].as_str(), m));
            let names: Vec<&str> = modes.iter().rev().map(|m| m.name()).collect();
            panic!(
                "check_grads: a derivative differs from finite differences\n  {who}, order {}, mode \
                 {}: {found}\n  help: correct the custom derivative. For a function that is not smooth \
                 or not precise here, pass eps, atol or rtol in CheckGradsOptions",
                modes.len(),
                names.join(" of ")
            );
        }
        let next = (orders - 1, &modes[..]);
        match mode {
            GradMode::Fwd => {
                let forward = |mut primals: Vec<Array>| {
                    let tangents = primals.split_off(primals.len() / 2);
                    let (y, dy) = jvp(|xs: Vec<Array>| f(xs), primals, tangents);
                    [y, dy].concat()
                };
                let tangents = names.iter().map(|name| format!("tangent of {name}"));
                let names: Vec<String> = names.iter().cloned().chain(tangents).collect();
                check(&forward, &[inputs, inputs].concat(), &names, next, options);
            }
            GradMode::Rev => {
                let reverse = |xs: Vec<Array>| {
                    let (y, pull) = vjp(|xs: Vec<Array>| f(xs), xs);
                    pull(y)
                };
                check(&reverse, inputs, names, next, options);
            }
        }
    }
}

/// Draws normal numbers of the types of arrays.
fn directions(like: &[Array], seed: u64) -> Vec<Array> {
    let draw = |(i, x): (usize, &Array)| {
        let key = random::key(seed).fold_in(i as u32);
        random::normal(&key, x.shape(), x.dtype())
    };
    like.iter().enumerate().map(draw).collect()
}

/// Returns the first argument whose own derivative differs, and the difference.
fn responsible(
    mode: GradMode,
    f: &ListFn<'_>,
    inputs: &[Array],
    options: CheckGradsOptions,
) -> Option<(usize, String)> {
    let tangents = directions(inputs, 0);
    (0..inputs.len()).find_map(|i| {
        let mut alone: Vec<Array> = inputs.iter().map(Array::zeros_like).collect();
        alone[i] = tangents[i].clone();
        Some((i, mismatch(mode, f, inputs, &alone, options)?))
    })
}

/// Compares the derivative along `tangents` with finite differences, and describes the first
/// difference.
fn mismatch(
    mode: GradMode,
    f: &ListFn<'_>,
    inputs: &[Array],
    tangents: &[Array],
    options: CheckGradsOptions,
) -> Option<String> {
    let value = f(inputs.to_vec());
    let slopes = slopes(f, inputs, tangents, options.eps);
    let coarsest = |arrays: &[Array]| {
        let each = arrays.iter().map(|a| tolerance(a.dtype()));
        each.fold(0.0, f64::max)
    };
    let values: Vec<Vec<Complex>> = value.iter().map(elements).collect();
    let inputs = inputs.to_vec();
    match mode {
        GradMode::Fwd => {
            let (y, dots) = jvp(|xs: Vec<Array>| f(xs), inputs, tangents.to_vec());
            options
                .compare("the value of the JVP", &y, &values, "the function returns")
                .or_else(|| {
                    options.compare("the tangent", &dots, &slopes, "finite differences give")
                })
        }
        GradMode::Rev => {
            let default = coarsest(&inputs).max(coarsest(&value));
            let (y, pull) = vjp(|xs: Vec<Array>| f(xs), inputs);
            let cotangents = directions(&y, 1);
            let conjugates = |xs: &[Array]| xs.iter().map(Array::conj).collect::<Vec<_>>();
            let pulled = conjugates(&pull(conjugates(&cotangents)));
            let all = |xs: &[Array]| -> Vec<Vec<Complex>> { xs.iter().map(elements).collect() };
            let got = inner(&all(tangents), &all(&pulled));
            let want = inner(&slopes, &all(&cotangents));
            options
                .compare("the value of the VJP", &y, &values, "the function returns")
                .or_else(|| {
                    (!options.accepts(got, want, default)).then(|| {
                    format!(
                        "the projection of the cotangent is {got}, finite differences give {want}"
                    )
                })
                })
        }
    }
}

impl CheckGradsOptions {
    /// Returns whether a number is close enough to another, with a default of both tolerances.
    fn accepts(self, got: f64, want: f64, default: f64) -> bool {
        let atol = self.atol.unwrap_or(default);
        let rtol = self.rtol.unwrap_or(default);
        // Equal infinities and two NaNs are the same.
        got == want
            || (got.is_nan() && want.is_nan())
            || (got - want).abs() <= atol + rtol * want.abs()
    }

    /// Describes the first element that differs.
    fn compare(self, what: &str, got: &[Array], want: &[Vec<Complex>], of: &str) -> Option<String> {
        for (i, (got, want)) in got.iter().zip(want).enumerate() {
            let default = tolerance(got.dtype());
            for (j, (g, w)) in elements(got).iter().zip(want).enumerate() {
                if let Some(part) = (0..2).find(|&p| !self.accepts(g[p], w[p], default)) {
                    return Some(format!(
                        "{what} is {} at element {j} of result {i}, {of} {}",
                        g[part], w[part]
                    ));
                }
            }
        }
        None
    }
}

/// A real and an imaginary part.
type Complex = [f64; 2];

/// Returns the elements of an array.
fn elements(x: &Array) -> Vec<Complex> {
    if x.dtype().is_complex() {
        let part = |x: Array| x.astype(DType::F64).to_vec::<f64>();
        let parts = part(x.real()).into_iter().zip(part(x.imag()));
        return parts.map(|(re, im)| [re, im]).collect();
    }
    let values = x.astype(DType::F64).to_vec::<f64>();
    values.into_iter().map(|v| [v, 0.0]).collect()
}

/// Returns the real part of the inner product.
fn inner(a: &[Vec<Complex>], b: &[Vec<Complex>]) -> f64 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(a, b)| a[0] * b[0] + a[1] * b[1]).sum()
}

/// Returns the central differences of the results along a direction.
fn slopes(f: &ListFn<'_>, inputs: &[Array], tangents: &[Array], eps: f64) -> Vec<Vec<Complex>> {
    let at = |step: f64| {
        let moved = inputs.iter().zip(tangents).map(|(x, t)| x + t * step);
        f(moved.collect())
    };
    let (up, down) = (at(eps), at(-eps));
    let results = up.iter().zip(&down).map(|(up, down)| {
        let pairs = elements(up).into_iter().zip(elements(down));
        let slope = pairs.map(|(u, d)| [0, 1].map(|p| (u[p] - d[p]) * 0.5 / eps));
        slope.collect()
    });
    results.collect()
}

/// Returns JAX's `default_gradient_tolerance`.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F64 | DType::C128 => 1e-5,
        DType::C64 => 1e-3,
        DType::F32 => 2e-3,
        DType::F16 => 1e-2,
        DType::F4E2M1Fn | DType::F8E8M0Fnu => 1.0,
        _ => 0.1,
    }
}
