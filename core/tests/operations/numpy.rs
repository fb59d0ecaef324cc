//! Functions of `jax.numpy` that are made of several primitives: values and
//! derivatives.

use ramie_core::{Array, DType, Quantile, QuantileMethod, Reduction};
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
        "round_2" => one(|x| x.round_decimals(2)),
        "round_-1" => one(|x| x.round_decimals(-1)),
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
        "isclose_or_nan" => two(|a, b| a.isclose_or_nan(b, 0.1, 0.2)),
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
    let kept = |f: fn(&Array, &[isize]) -> Array| -> Applied {
        let ndim = row.inputs[0].ndim() as isize;
        let axes = axes.clone().unwrap_or_else(|| (0..ndim).collect());
        one(move |x| f(x, &axes))
    };
    match row.op.as_str() {
        "nansum" => forms(Array::nansum, Array::nansum_axes),
        "nanprod" => forms(Array::nanprod, Array::nanprod_axes),
        "nanmax" => forms(Array::nanmax, Array::nanmax_axes),
        "nanmin" => forms(Array::nanmin, Array::nanmin_axes),
        "nanmean" => forms(Array::nanmean, Array::nanmean_axes),
        "nanvar" => forms(Array::nanvar, Array::nanvar_axes),
        "nanstd" => forms(Array::nanstd, Array::nanstd_axes),
        "median" => forms(Array::median, Array::median_axes),
        "nanmedian" => forms(Array::nanmedian, Array::nanmedian_axes),
        "nansum_keepdims" => kept(Array::nansum_keepdims),
        "nanprod_keepdims" => kept(Array::nanprod_keepdims),
        "nanmax_keepdims" => kept(Array::nanmax_keepdims),
        "nanmin_keepdims" => kept(Array::nanmin_keepdims),
        "nanmean_keepdims" => kept(Array::nanmean_keepdims),
        "nanvar_keepdims" => kept(Array::nanvar_keepdims),
        "nanstd_keepdims" => kept(Array::nanstd_keepdims),
        "median_keepdims" => kept(Array::median_keepdims),
        "nanmedian_keepdims" => kept(Array::nanmedian_keepdims),
        "sum_masked" => masked(|x, how| x.sum_with(&how.initial(3.0))),
        "prod_masked" => masked(|x, how| x.prod_with(&how.initial(2.0))),
        "max_masked" => masked(|x, how| x.max_with(&how.initial(-1.5))),
        "min_masked" => masked(|x, how| x.min_with(&how.initial(1.5))),
        "mean_masked" => masked(|x, how| x.mean_with(&how)),
        "var_masked" => masked(|x, how| x.var_with(&how.ddof(1.0))),
        "std_masked" => masked(|x, how| x.std_with(&how.keepdims())),
        "all_masked" => masked(|x, how| x.gt(-1).all_with(&how)),
        "any_masked" => masked(|x, how| x.gt(1).any_with(&how)),
        "nanmean_masked" => masked(|x, how| x.nanmean_with(&how)),
        "nanmax_masked" => masked(|x, how| x.nanmax_with(&how.initial(-1.5))),
        "sum_f64" => with(|x, how| x.sum_with(&how.dtype(DType::F32))),
        "var_mean" => with(|x, how| {
            let mean = x.zeros_like().sum_with(&how.clone().keepdims()) + 0.25;
            x.var_with(&how.mean(&mean))
        }),
        "nanargmax" => one(|x| x.nanargmax(1)),
        "nanargmin" => one(|x| x.nanargmin(-1)),
        "nancumsum" => one(|x| x.nancumsum(1)),
        "nancumprod" => one(|x| x.nancumprod(-1)),
        "cumulative_sum" => one(|x| x.cumulative_sum(1, false)),
        "cumulative_sum_initial" => one(|x| x.cumulative_sum(-1, true)),
        "cumulative_prod" => one(|x| x.cumulative_prod(1, false)),
        "cumulative_prod_initial" => one(|x| x.cumulative_prod(-1, true)),
        _ => None,
    }
}

fn quantiles(row: &Row) -> Applied {
    let special = row.case == "special";
    let quantile = |how: Quantile| two(move |x, q| how.of(x, q));
    let plain = Quantile::new();
    match row.op.as_str() {
        "percentile" => return two(|x, q| x.percentile_axes(q, &[1])),
        "nanpercentile" => return two(|x, q| x.nanpercentile(q)),
        "quantile_keepdims" => return quantile(plain.axes(&[0, 1]).keepdims()),
        _ => {}
    }
    let (name, method) = row.op.split_once('_')?;
    let how = if name == "nanquantile" {
        plain.ignore_nan()
    } else {
        plain
    };
    let method = match method {
        "linear" => QuantileMethod::Linear,
        "lower" => QuantileMethod::Lower,
        "higher" => QuantileMethod::Higher,
        "midpoint" => QuantileMethod::Midpoint,
        "nearest" => QuantileMethod::Nearest,
        "weighted" => {
            let how = how.axes(&[1]).method(QuantileMethod::InvertedCdf);
            return Some(Box::new(move |x| {
                vec![how.clone().weights(&x[2]).of(&x[0], &x[1])]
            }));
        }
        _ => return None,
    };
    let axes: &[isize] = if special { &[2] } else { &[0, 2] };
    quantile(how.method(method).axes(axes))
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
