//! Functions of `jax.numpy` that are made of several primitives: values and
//! derivatives.

use ramie_core::numpy::QuantileMethod;
use ramie_core::options::{IncludeInitial, Quantile, Reduction, Tolerance};
use ramie_core::{Array, DType};
use ramie_testing::functions::{Applied, agree, axes, mask_of, one, pair, two};
use ramie_testing::golden::Row;

fn pointwise(row: &Row) -> Applied {
    match row.op.trim_end_matches("_ints") {
        "fabs" => one(Array::fabs),
        "rint" => one(Array::rint),
        "sinc" => one(Array::sinc),
        "sinc_at_zero" => one(|x| (x * 0.0).sinc()),
        "signbit" => one(Array::signbit),
        "logical_not" => one(Array::logical_not),
        "isposinf" => one(Array::is_pos_inf),
        "isneginf" => one(Array::is_neg_inf),
        "isinf" => one(Array::is_inf),
        "isnan" => one(Array::is_nan),
        "isfinite" => one(Array::is_finite),
        "spacing" => one(Array::spacing),
        "positive" => one(Array::positive),
        "frexp" => Some(Box::new(|x| pair(x[0].frexp()))),
        "modf" => Some(Box::new(|x| pair(x[0].modf()))),
        "round_2" => one(|x| x.round_with(2)),
        "round_-1" => one(|x| x.round_with(-1)),
        "nan_to_num_with" => one(|x| x.nan_to_num_with(1.0, 2.0, 3.0)),
        "floor" => one(Array::floor),
        "ceil" => one(Array::ceil),
        "round" => one(Array::round),
        "trunc" => one(Array::trunc),
        "abs" => one(Array::abs),
        "sign" => one(Array::sign),
        "bitwise_count" => one(Array::bitwise_count),
        "fmax" => two(|a, b| a.fmax(b)),
        "fmin" => two(|a, b| a.fmin(b)),
        "fmod" => two(|a, b| a.fmod(b)),
        "float_power" => two(|a, b| a.float_power(b)),
        "logaddexp2" => two(|a, b| a.logaddexp2(b)),
        "heaviside" => two(|a, b| a.heaviside(b)),
        "copysign" => two(|a, b| a.copysign(b)),
        "ldexp" => two(|a, b| a.ldexp(b)),
        "logical_and" => two(|a, b| a.logical_and(b)),
        "logical_or" => two(|a, b| a.logical_or(b)),
        "logical_xor" => two(|a, b| a.logical_xor(b)),
        "remainder" => two(|a, b| a.remainder(b)),
        "floor_divide" => two(|a, b| a.floor_divide(b)),
        "isclose_or_nan" => two(|a, b| {
            let within = Tolerance {
                equal_nan: true,
                ..(0.1, 0.2).into()
            };
            a.isclose_with(b, within)
        }),
        "divmod" => Some(Box::new(|x| pair(x[0].divmod(&x[1])))),
        _ => None,
    }
}

fn over(axes: &Option<Vec<isize>>) -> Reduction {
    match axes {
        None => Reduction::all(),
        Some(axes) => Reduction::over(axes),
    }
}

fn reductions(row: &Row) -> Applied {
    let axes = axes(row);
    let masked = |f: fn(&Array, Reduction) -> Array| -> Applied {
        let how = over(&axes).mask(&mask_of(row.inputs[0].shape()));
        one(move |x| f(x, how.clone()))
    };
    let with = |f: fn(&Array, Reduction) -> Array| -> Applied {
        let how = over(&axes);
        one(move |x| f(x, how.clone()))
    };
    let forms = |all: fn(&Array) -> Array, named: fn(&Array, &[isize]) -> Array| -> Applied {
        match axes.clone() {
            None => one(all),
            Some(axes) => one(move |x| named(x, &axes)),
        }
    };
    let kept = |f: fn(&Array, Reduction) -> Array| -> Applied {
        let over = over(&axes).keepdims();
        one(move |x| f(x, over.clone()))
    };
    match row.op.as_str() {
        "nansum" => forms(Array::nansum, |x, axes| x.nansum_over(axes)),
        "nanprod" => forms(Array::nanprod, |x, axes| x.nanprod_over(axes)),
        "nanmax" => forms(Array::nanmax, |x, axes| x.nanmax_over(axes)),
        "nanmin" => forms(Array::nanmin, |x, axes| x.nanmin_over(axes)),
        "nanmean" => forms(Array::nanmean, |x, axes| x.nanmean_over(axes)),
        "nanvar" => forms(Array::nanvar, |x, axes| x.nanvar_over(axes)),
        "nanstd" => forms(Array::nanstd, |x, axes| x.nanstd_over(axes)),
        "median" => forms(Array::median, |x, axes| x.median_over(axes)),
        "nanmedian" => forms(Array::nanmedian, |x, axes| x.nanmedian_over(axes)),
        "nansum_keepdims" => kept(|x, over| x.nansum_over(over)),
        "nanprod_keepdims" => kept(|x, over| x.nanprod_over(over)),
        "nanmax_keepdims" => kept(|x, over| x.nanmax_over(over)),
        "nanmin_keepdims" => kept(|x, over| x.nanmin_over(over)),
        "nanmean_keepdims" => kept(|x, over| x.nanmean_over(over)),
        "nanvar_keepdims" => kept(|x, over| x.nanvar_over(over)),
        "nanstd_keepdims" => kept(|x, over| x.nanstd_over(over)),
        "median_keepdims" => kept(|x, over| x.median_over(over)),
        "nanmedian_keepdims" => kept(|x, over| x.nanmedian_over(over)),
        "sum_masked" => masked(|x, how| x.sum_over(how.initial(3.0))),
        "prod_masked" => masked(|x, how| x.prod_over(how.initial(2.0))),
        "max_masked" => masked(|x, how| x.max_over(how.initial(-1.5))),
        "min_masked" => masked(|x, how| x.min_over(how.initial(1.5))),
        "mean_masked" => masked(|x, how| x.mean_over(&how)),
        "var_masked" => masked(|x, how| x.var_over(how.ddof(1.0))),
        "std_masked" => masked(|x, how| x.std_over(how.keepdims())),
        "all_masked" => masked(|x, how| x.gt(-1).all_over(&how)),
        "any_masked" => masked(|x, how| x.gt(1).any_over(&how)),
        "nanmean_masked" => masked(|x, how| x.nanmean_over(&how)),
        "nanmax_masked" => masked(|x, how| x.nanmax_over(how.initial(-1.5))),
        "sum_f64" => with(|x, how| x.sum_over(how.dtype(DType::F32))),
        "var_mean" => with(|x, how| {
            let mean = x.zeros_like().sum_over(how.clone().keepdims()) + 0.25;
            x.var_over(how.mean(&mean))
        }),
        "nanargmax" => one(|x| x.nanargmax(1)),
        "nanargmin" => one(|x| x.nanargmin(-1)),
        "nancumsum" => one(|x| x.nancumsum(1)),
        "nancumprod" => one(|x| x.nancumprod(-1)),
        "cumulative_sum" => one(|x| x.cumulative_sum(1)),
        "cumulative_sum_initial" => one(|x| x.cumulative_sum_with(-1, IncludeInitial)),
        "cumulative_prod" => one(|x| x.cumulative_prod(1)),
        "cumulative_prod_initial" => one(|x| x.cumulative_prod_with(-1, IncludeInitial)),
        _ => None,
    }
}

fn quantiles(row: &Row) -> Applied {
    let special = row.case == "special";
    let nan = row.op.starts_with("nan");
    let quantile = move |x: &Array, q: &Array, how: Quantile| {
        if nan {
            x.nanquantile_over(q, how)
        } else {
            x.quantile_over(q, how)
        }
    };
    match row.op.as_str() {
        "percentile" => return two(|x, q| x.percentile_over(q, 1)),
        "nanpercentile" => return two(|x, q| x.nanpercentile(q)),
        "quantile_keepdims" => {
            return two(|x, q| x.quantile_over(q, Reduction::over([0, 1]).keepdims()));
        }
        _ => {}
    }
    let (_, method) = row.op.split_once('_')?;
    let method = match method {
        "linear" => QuantileMethod::Linear,
        "lower" => QuantileMethod::Lower,
        "higher" => QuantileMethod::Higher,
        "midpoint" => QuantileMethod::Midpoint,
        "nearest" => QuantileMethod::Nearest,
        "weighted" => {
            let how = Quantile::over(1).method(QuantileMethod::InvertedCdf);
            return Some(Box::new(move |x| {
                vec![quantile(&x[0], &x[1], how.clone().weights(&x[2]))]
            }));
        }
        _ => return None,
    };
    let axes: &[isize] = if special { &[2] } else { &[0, 2] };
    let how = Quantile::over(axes).method(method);
    two(move |x, q| quantile(x, q, how.clone()))
}

#[test]
fn elementwise_functions_agree_with_jax() {
    agree("numpy_pointwise", 40, &pointwise);
}

#[test]
fn reductions_agree_with_jax() {
    agree("numpy_reductions", 35, &reductions);
}

#[test]
fn quantiles_agree_with_jax() {
    agree("numpy_quantiles", 14, &quantiles);
}
