//! Functions of `jax.nn`, `jax.ops` and `jax.scipy`.

use ramie_core::lax::dot_product_attention;
use ramie_core::options::{Attention, Reduction, Segments, Standardize};
use ramie_core::{Array, DType, stats};
use ramie_testing::functions::{Applied, agree, axes, mask_of, one, pair, two};
use ramie_testing::golden::Row;

fn over_axes(row: &Row) -> Applied {
    let axes = axes(row)?;
    let how = Reduction::over(&axes);
    let standardize = Standardize::over(&axes);
    let mask = mask_of(row.inputs[0].shape());
    match row.op.as_str() {
        "softmax_axes" => one(move |x| x.softmax(&axes)),
        "softmax_where" => one(move |x| x.softmax(Reduction::over(&axes).mask(&mask))),
        "log_softmax_axes" => one(move |x| x.log_softmax(&axes)),
        "log_softmax_where" => one(move |x| x.log_softmax(Reduction::over(&axes).mask(&mask))),
        "logsumexp_with" => one(move |x| x.logsumexp(how.clone().mask(&mask).keepdims())),
        "logsumexp_weighted" => two(move |x, b| x.logsumexp_with(&how, b)),
        "logsumexp_signed" => Some(Box::new(move |x| pair(x[0].logsumexp_signed(&x[1], &how)))),
        "logmeanexp" => one(move |x| x.logmeanexp(&how)),
        "logmeanexp_where" => one(move |x| x.logmeanexp(how.clone().mask(&mask))),
        "standardize_where" => one(move |x| standardize.clone().mask(&mask).of(x)),
        "standardize_stable" => one(move |x| standardize.clone().stable().epsilon(0.1).of(x)),
        "standardize_given" => one(move |x| {
            let mean = Array::scalar(0.5, x.dtype());
            let variance = Array::scalar(2.0, x.dtype());
            standardize.clone().mean(&mean).variance(&variance).of(x)
        }),
        _ => None,
    }
}

fn networks(row: &Row) -> Applied {
    let attend = |f: fn(&[Array]) -> Attention| -> Applied {
        Some(Box::new(move |x| vec![f(x).of(&x[0], &x[1], &x[2])]))
    };
    match row.op.as_str() {
        "one_hot" => one(|x| x.one_hot_with(3, DType::F32, 0)),
        "log1mexp" => one(Array::log1mexp),
        "attention" | "attention_plain" => Some(Box::new(|x| {
            vec![dot_product_attention(&x[0], &x[1], &x[2])]
        })),
        "attention_causal" => attend(|_| Attention::new().causal()),
        "attention_scale_window" => attend(|_| Attention::new().scale(0.3).window(1, 0)),
        "attention_bias_mask" => attend(|x| Attention::new().bias(&x[3]).mask(&x[4])),
        "attention_lengths" => Some(Box::new(|x| {
            let how = Attention::new()
                .query_lengths(&x[3])
                .key_value_lengths(&x[4]);
            pair(how.with_residual(&x[0], &x[1], &x[2]))
        })),
        "segment_sum" => two(|x, i| x.segment_sum(i, 4)),
        "segment_prod" => two(|x, i| x.segment_prod(i, 4)),
        "segment_max" => two(|x, i| x.segment_max(i, 4)),
        "segment_min" => two(|x, i| x.segment_min(i, 4)),
        "segment_sum_buckets" => two(|x, i| Segments::new(4).bucket_size(4).sum(x, i)),
        "segment_max_buckets" => two(|x, i| Segments::new(4).bucket_size(4).max(x, i)),
        "segment_min_buckets" => two(|x, i| Segments::new(4).bucket_size(4).min(x, i)),
        "segment_sorted" => two(|x, i| Segments::new(8).sorted().unique().sum(x, i)),
        _ => over_axes(row),
    }
}

fn special_functions(row: &Row) -> Applied {
    match row.op.as_str() {
        "logit" => one(Array::logit),
        "entr" => one(Array::entr),
        "ndtr" => one(Array::ndtr),
        "log_ndtr" => one(Array::log_ndtr),
        "ndtri" => one(Array::ndtri),
        "gammaln" => one(Array::gammaln),
        "loggamma" => one(Array::loggamma),
        "gamma" => one(Array::gamma),
        "factorial" => one(Array::factorial),
        "erfcx" => one(Array::erfcx),
        "expit" => one(Array::expit),
        "i0" => one(|x| x.abs().exp() * x.i0e()),
        "i0_of_numpy" => one(Array::i0),
        "i1" => one(Array::i1),
        "i0e" => one(Array::i0e),
        "i1e" => one(Array::i1e),
        "kaiser" => {
            let n = row.params["n"].as_u64().expect("a count") as usize;
            Some(Box::new(move |_| vec![Array::kaiser(n, 2.5)]))
        }
        "gammainc" => two(|a, x| a.gammainc(x)),
        "gammaincc" => two(|a, x| a.gammaincc(x)),
        "xlogy" => two(|x, y| x.xlogy(y)),
        "xlog1py" => two(|x, y| x.xlog1py(y)),
        "rel_entr" => two(|x, y| x.rel_entr(y)),
        "kl_div" => two(|x, y| x.kl_div(y)),
        "boxcox" => two(|x, y| x.boxcox(y)),
        "boxcox1p" => two(|x, y| x.boxcox1p(y)),
        "betaln" => two(|x, y| x.betaln(y)),
        "beta" => two(|x, y| x.beta(y)),
        "comb" => two(|x, y| x.comb(y)),
        "multigammaln" => one(|x| x.multigammaln(3)),
        "norm_logpdf" => one(|x| stats::norm::logpdf(x, 0.3, 1.7)),
        "norm_pdf" => one(|x| stats::norm::pdf(x, 0.3, 1.7)),
        "norm_cdf" => one(|x| stats::norm::cdf(x, 0.3, 1.7)),
        "norm_logcdf" => one(|x| stats::norm::logcdf(x, 0.3, 1.7)),
        "norm_sf" => one(|x| stats::norm::sf(x, 0.3, 1.7)),
        "norm_logsf" => one(|x| stats::norm::logsf(x, 0.3, 1.7)),
        "norm_ppf" => one(|x| stats::norm::ppf(x, 0.3, 1.7)),
        "norm_isf" => one(|x| stats::norm::isf(x, 0.3, 1.7)),
        "laplace_logpdf" => one(|x| stats::laplace::logpdf(x, 0.3, 1.7)),
        "laplace_pdf" => one(|x| stats::laplace::pdf(x, 0.3, 1.7)),
        "laplace_cdf" => one(|x| stats::laplace::cdf(x, 0.3, 1.7)),
        "logistic_logpdf" => one(|x| stats::logistic::logpdf(x, 0.3, 1.7)),
        "logistic_pdf" => one(|x| stats::logistic::pdf(x, 0.3, 1.7)),
        "logistic_cdf" => one(|x| stats::logistic::cdf(x, 0.3, 1.7)),
        "logistic_sf" => one(|x| stats::logistic::sf(x, 0.3, 1.7)),
        "logistic_ppf" => one(|x| stats::logistic::ppf(x, 0.3, 1.7)),
        "logistic_isf" => one(|x| stats::logistic::isf(x, 0.3, 1.7)),
        "cauchy_logpdf" => one(|x| stats::cauchy::logpdf(x, 0.3, 1.7)),
        "cauchy_pdf" => one(|x| stats::cauchy::pdf(x, 0.3, 1.7)),
        "cauchy_cdf" => one(|x| stats::cauchy::cdf(x, 0.3, 1.7)),
        "cauchy_logcdf" => one(|x| stats::cauchy::logcdf(x, 0.3, 1.7)),
        "cauchy_sf" => one(|x| stats::cauchy::sf(x, 0.3, 1.7)),
        "cauchy_logsf" => one(|x| stats::cauchy::logsf(x, 0.3, 1.7)),
        "cauchy_ppf" => one(|x| stats::cauchy::ppf(x, 0.3, 1.7)),
        "cauchy_isf" => one(|x| stats::cauchy::isf(x, 0.3, 1.7)),
        "uniform_logpdf" => one(|x| stats::uniform::logpdf(x, 0.0, 2.0)),
        "uniform_pdf" => one(|x| stats::uniform::pdf(x, 0.0, 2.0)),
        "uniform_cdf" => one(|x| stats::uniform::cdf(x, 0.0, 2.0)),
        "uniform_ppf" => one(|x| stats::uniform::ppf(x, 0.0, 2.0)),
        "expon_logpdf" => one(|x| stats::expon::logpdf(x, 0.05, 1.7)),
        "expon_pdf" => one(|x| stats::expon::pdf(x, 0.05, 1.7)),
        "expon_cdf" => one(|x| stats::expon::cdf(x, 0.05, 1.7)),
        "expon_logcdf" => one(|x| stats::expon::logcdf(x, 0.05, 1.7)),
        "expon_sf" => one(|x| stats::expon::sf(x, 0.05, 1.7)),
        "expon_logsf" => one(|x| stats::expon::logsf(x, 0.05, 1.7)),
        "expon_ppf" => one(|x| stats::expon::ppf(x, 0.05, 1.7)),
        _ => None,
    }
}

#[test]
fn functions_of_networks_agree_with_jax() {
    agree("numpy_networks", 26, &networks);
}

#[test]
fn special_functions_agree_with_jax() {
    agree("numpy_special_functions", 50, &special_functions);
}

#[test]
fn attention_without_a_batch_has_none() {
    let x = Array::linspace(-1.0, 1.0, 24).reshape(&[3, 2, 4]);
    let y = dot_product_attention(&x, &x, &x);
    let batched = x.expand_dims(&[0]);
    let z = dot_product_attention(&batched, &batched, &batched);
    assert_eq!(y.shape(), [3, 2, 4]);
    assert_eq!(y.to_vec::<f32>(), z.to_vec::<f32>());
}

#[test]
#[should_panic(expected = "help: queries are [B, T, N, H], keys and values [B, S, K, H]")]
fn heads_that_do_not_fit_are_refused() {
    let q = Array::ones(&[1, 2, 3, 4], DType::F32);
    let k = Array::ones(&[1, 2, 2, 4], DType::F32);
    let _ = dot_product_attention(&q, &k, &k);
}
