//! Distributions, densities, ranks and modes recorded from `jax.scipy.stats`;
//! `tests/golden/stats.py` describes them.

use ramie_core::stats::*;
use ramie_core::{Array, DType, grad, random, stack};
use ramie_testing::{golden, numbers, panic_message};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Recording {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    operands: Vec<Vec<Value>>,
    shapes: Vec<Vec<usize>>,
    value: Vec<Value>,
    #[serde(default)]
    derivatives: Vec<Option<Vec<Value>>>,
}

/// Reads numbers, of which those that JSON lacks are texts.
fn read(values: &[Value]) -> Vec<f64> {
    let number = |v: &Value| match v.as_str() {
        Some(text) => text.parse().expect("a number"),
        None => v.as_f64().expect("a number"),
    };
    values.iter().map(number).collect()
}

/// Calls a function of a distribution.
macro_rules! function {
    ($module:ident $f:ident $x:ident [$($at:literal)*]) => {
        $module::$f(&$x[0] $(, &$x[$at])*)
    };
}

/// Calls the functions of distributions by their recorded names, with the operands at indices.
macro_rules! distributions {
    ($name:ident, $x:ident; $( $module:ident $operands:tt: $($f:ident)*; )*) => {
        $( $( if $name == concat!(stringify!($module), ".", stringify!($f)) {
            return function!($module $f $x $operands);
        } )* )*
    };
}

fn call(name: &str, x: &[Array]) -> Array {
    distributions! { name, x;
        bernoulli [1 2]: logpmf pmf;
        bernoulli [1]: cdf ppf;
        beta [1 2 3 4]: logpdf pdf cdf logcdf sf logsf;
        betabinom [1 2 3 4]: logpmf pmf;
        binom [1 2 3]: logpmf pmf;
        chi2 [1 2 3]: logpdf pdf cdf logcdf sf logsf;
        dirichlet [1]: logpdf pdf;
        gamma [1 2 3]: logpdf pdf cdf logcdf sf logsf;
        gennorm [1]: logpdf pdf cdf;
        geom [1 2]: logpmf pmf;
        gumbel_l [1 2]: logpdf pdf cdf logcdf sf logsf ppf;
        gumbel_r [1 2]: logpdf pdf cdf logcdf sf logsf ppf;
        multivariate_normal [1 2]: logpdf pdf;
        nbinom [1 2 3]: logpmf pmf;
        pareto [1 2 3]: logpdf pdf cdf logcdf sf logsf ppf;
        poisson [1 2]: logpmf pmf cdf;
        t [1 2 3]: logpdf pdf;
        truncnorm [1 2 3 4]: logpdf pdf cdf logcdf sf logsf;
        vonmises [1]: logpdf pdf;
        wrapcauchy [1]: logpdf pdf;
    }
    other(name, x)
}

fn other(name: &str, x: &[Array]) -> Array {
    let counts = || Array::from([[1, 2, 0], [0, 1, 2], [1, 1, 3]]);
    let summarized = |axis: Option<isize>| {
        let (mode, count) = mode(&x[0], axis);
        stack(&[&mode, &count.astype(DType::F64)], 0)
    };
    match name {
        "poisson.entropy" => poisson::entropy(&x[0]),
        "multinomial.logpmf" => multinomial::logpmf(&counts(), Array::from([3, 3, 3]), &x[0]),
        "multinomial.pmf" => multinomial::pmf(&counts(), Array::from([3, 3, 3]), &x[0]),
        "kde.integrate_kde" => gaussian_kde(&x[0]).integrate_kde(&gaussian_kde(&x[1])),
        "kde.resample" => gaussian_kde(&x[0]).resample(&random::key(3), &[4]),
        "mode_0" => summarized(Some(0)),
        "mode_1" => summarized(Some(1)),
        "mode_None" => summarized(None),
        "sem_0" => sem(&x[0], 0),
        "sem_1" => sem(&x[0], 1),
        "sem_None" => sem(&x[0], None),
        _ => match name.strip_prefix("rankdata_") {
            Some(rest) => ranked(rest, &x[0]),
            None => density(name.strip_prefix("kde.").expect("a known name"), x),
        },
    }
}

fn ranked(name: &str, x: &Array) -> Array {
    let (name, axis) = match name.strip_suffix("_rows") {
        Some(name) => (name, Some(1)),
        None => (name, None),
    };
    let method = match name {
        "average" => RankMethod::Average,
        "min" => RankMethod::Min,
        "max" => RankMethod::Max,
        "dense" => RankMethod::Dense,
        "ordinal" => RankMethod::Ordinal,
        _ => panic!("{name}: unknown"),
    };
    rankdata_with(x, Rank { method, axis })
}

fn density(name: &str, x: &[Array]) -> Array {
    let mut options = GaussianKdeOptions::default();
    let last = name.rsplit('_').next().expect("a name");
    match last {
        "silverman" => options.bandwidth = Bandwidth::Silverman,
        "factor" => options.bandwidth = Bandwidth::Factor(0.3),
        "weighted" => options.weights = Some(Array::from([1.0f64, 2.0, 0.5, 0.7, 1.2])),
        _ => {}
    }
    let kde = gaussian_kde_with(&x[0], options);
    match name {
        _ if name.starts_with("pdf") => kde.pdf(&x[1]),
        _ if name.starts_with("logpdf") => kde.logpdf(&x[1]),
        _ if name.starts_with("integrate_box_1d") => kde.integrate_box_1d(&x[1], &x[2]),
        _ if name.starts_with("integrate_gaussian") => {
            // Of the covariance only the symmetric part has a derivative that is defined.
            let symmetric = (&x[2] + x[2].transpose(&[1, 0])) / 2;
            kde.integrate_gaussian(&x[1], symmetric)
        }
        _ => panic!("{name}: unknown"),
    }
}

/// Returns what differs by more than 2e-9, relative to numbers of magnitude 1 and more.
fn difference(label: String, got: &Array, want: &[Value]) -> Option<String> {
    let (got, want) = (numbers::to_f64(got), read(want));
    let close = |g: &f64, w: &f64| {
        g == w || g.is_nan() && w.is_nan() || (g - w).abs() <= 2e-9 * w.abs().max(1.0)
    };
    let same = got.len() == want.len() && got.iter().zip(&want).all(|(g, w)| close(g, w));
    (!same).then(|| format!("{label}: {got:?}, JAX {want:?}"))
}

#[test]
fn values_and_derivatives_equal_those_of_jax() {
    let recording: Recording = golden::json("stats.json");
    let mut wrong = Vec::new();
    for row in &recording.rows {
        let given = row.operands.iter().zip(&row.shapes);
        let x: Vec<Array> = given
            .map(|(values, shape)| Array::from(read(values)).reshape(&shape[..]))
            .collect();
        wrong.extend(difference(
            row.name.clone(),
            &call(&row.name, &x),
            &row.value,
        ));
        for (i, slope) in row.derivatives.iter().enumerate() {
            let Some(slope) = slope else { continue };
            let (name, rest) = (row.name.clone(), x.clone());
            let f = move |at: Array| {
                let mut x = rest.clone();
                x[i] = at;
                call(&name, &x).sum()
            };
            let label = format!("{}, derivative {i}", row.name);
            wrong.extend(difference(label, &grad(f)(x[i].clone()), slope));
        }
    }
    assert!(recording.rows.len() > 180, "rows are missing");
    assert!(
        wrong.is_empty(),
        "{} differences\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn mistakes_name_the_shapes() {
    let x = Array::from([0.2f32, 0.3]);
    let message = panic_message(|| dirichlet::logpdf(&x, Array::from([[1.0f32]])));
    assert!(
        message.contains("dirichlet: the numbers f32[2] and concentrations f32[1,1]"),
        "{message}"
    );
    let message = panic_message(|| multinomial::logpmf(&x, 3, &x));
    assert!(
        message.contains("multinomial: the counts are f32[2]"),
        "{message}"
    );
    let message = panic_message(|| multivariate_normal::logpdf(&x, &x, &x));
    assert!(message.contains("pass covariances [.., 2, 2]"), "{message}");
    let message = panic_message(|| gaussian_kde(&Array::from([1.0f32])));
    assert!(
        message.contains("gaussian_kde: the data are f32[1]"),
        "{message}"
    );
    let message = panic_message(|| gaussian_kde(&x).pdf(Array::from([[1.0f32], [2.0]])));
    assert!(message.contains("pass points [1, m]"), "{message}");
    let message = panic_message(|| mode(&Array::zeros(&[0, 2], DType::F32), 0));
    assert!(
        message.contains("has no elements along the reduced axes [0]"),
        "{message}"
    );
}

#[test]
fn segment_softmax_is_the_softmax_of_each_segment() {
    let x = Array::from([
        [0.3f64, 80.0],
        [-1.0, 2.0],
        [1.5, 81.0],
        [7.0, 7.0],
        [0.0, -3.0],
    ]);
    let ids = Array::from([0, 1, 0, -1, 4]);
    let (segment, other) = (Array::from([0, 2]), Array::from([1]));
    let got = x.segment_softmax(&ids, 3);
    let close = |a: &Array, b: &Array| {
        assert!(a.allclose(b).item::<bool>(), "{a}, expected {b}");
    };
    close(&got.take(&segment, 0), &x.take(&segment, 0).softmax(0));
    close(&got.take(&other, 0), &Array::ones(&[1, 2], DType::F64));
    // Slices of no segment, also beyond the last.
    close(
        &got.take(&Array::from([3, 4]), 0),
        &Array::zeros(&[2, 2], DType::F64),
    );
    let weights = Array::from([
        [1.0f64, -2.0],
        [0.5, 1.0],
        [3.0, 0.1],
        [1.0, 1.0],
        [2.0, 2.0],
    ]);
    let slope = grad({
        let (ids, weights) = (ids.clone(), weights.clone());
        move |x: Array| (x.segment_softmax(&ids, 3) * &weights).sum()
    })(x.clone());
    let alone = grad({
        let weights = weights.take(&segment, 0);
        move |x: Array| (x.softmax(0) * &weights).sum()
    })(x.take(&segment, 0));
    close(&slope.take(&segment, 0), &alone);
    close(
        &slope.take(&Array::from([1, 3, 4]), 0),
        &Array::zeros(&[3, 2], DType::F64),
    );
}
