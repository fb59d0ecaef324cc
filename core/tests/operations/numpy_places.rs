//! Functions of `jax.numpy` about places: searches, orders, distinct elements,
//! differences and statistics of samples.

use ramie_core::numpy::{
    BoundsMode, Interpolation, QuantileMethod, Side, lexsort, ravel_multi_index,
};
use ramie_core::options::{Covariance, Descending, Histogram, Quantile, Reduction, Unique};
use ramie_core::{Array, DType};
use ramie_testing::functions::{Applied, agree, one, pair, two};
use ramie_testing::golden::Row;
use ramie_testing::panic_message;

fn searches(row: &Row) -> Applied {
    match row.op.as_str() {
        "searchsorted_left" => two(|a, v| a.searchsorted(v, Side::Left)),
        "searchsorted_right" => two(|a, v| a.searchsorted(v, Side::Right)),
        "digitize" => two(Array::digitize),
        "digitize_right" => two(|x, bins| x.digitize_with(bins, Side::Right)),
        "nonzero" => Some(Box::new(|x| x[0].nonzero_sized(4, -1))),
        "flatnonzero" => one(|x| x.flatnonzero_sized(2, 9)),
        "argwhere" => one(|x| x.argwhere_sized(5, 7)),
        "compress" => two(|c, x| x.compress_sized(c, 0, 3, 5)),
        "compress_last" => two(|c, x| x.compress_sized(c, -1, 1, 5)),
        "extract" => {
            let size = row.outputs[0].size();
            two(move |c, x| x.extract_sized(c, size, -2))
        }
        "bincount" => one(|x| x.bincount_sized(4)),
        "bincount_weighted" => two(|x, w| x.bincount_with(6, w)),
        "isin" => two(|x, set| x.isin(set)),
        _ => None,
    }
}

fn orders(row: &Row) -> Applied {
    let number = |name: &str| row.params[name].as_i64().unwrap_or(0) as isize;
    let (kth, axis) = (number("kth"), number("axis"));
    let special = row.case == "special";
    let distinct = |how: Unique| -> Applied {
        Some(Box::new(move |x| {
            let found = how.of(&x[0]);
            vec![found.values, found.indices, found.inverse, found.counts]
        }))
    };
    match row.op.as_str() {
        "partition" => one(move |x| x.partition(kth, axis)),
        "argpartition" => one(move |x| x.argpartition(kth, axis)),
        "sort_descending" => one(|x| x.sort_with(0, Descending)),
        "argsort_descending" => {
            one(move |x| x.argsort_with(if special { 0 } else { 1 }, Descending))
        }
        "lexsort" => two(|a, b| {
            let axis = if b.dtype().is_float() { 0 } else { 1 };
            lexsort(&[a, b], axis)
        }),
        "unique" => distinct(Unique::new().size(row.outputs[0].size()).fill_value(-1)),
        "unique_nan" => distinct(Unique::new().size(6).fill_value(7).nan_distinct()),
        "unique_rows" => distinct(Unique::new().axis(0).size(3).fill_value(9)),
        "unique_columns" => distinct(Unique::new().axis(-1).size(2)),
        "unique_flat" => distinct(Unique::new().size(4)),
        _ => None,
    }
}

fn calculus(row: &Row) -> Applied {
    let covariance = |how: Covariance| one(move |x| how.of(x));
    let interp = |how: Interpolation| -> Applied {
        Some(Box::new(move |x| vec![how.of(&x[0], &x[1], &x[2])]))
    };
    match row.op.as_str() {
        "diff" => one(|x| x.diff(0)),
        "diff_2" => one(|x| x.diff_with(-1, 2)),
        "ediff1d" => one(Array::ediff1d),
        "gradient" => one(|x| x.gradient(0)),
        "gradients" => Some(Box::new(|x| x[0].gradients())),
        "gradient_spaced" => one(|x| x.gradient_with(1, 0.25)),
        "gradient_at" => two(|x, h| x.gradient_with(0, h)),
        "trapezoid" => one(|x| x.trapezoid(0)),
        "trapezoid_spaced" => one(|x| x.trapezoid_with(-1, 0.5)),
        "trapezoid_at" => two(|x, at| x.trapezoid_with(0, at.diff(0))),
        "interp" => Some(Box::new(|x| vec![x[0].interp(&x[1], &x[2])])),
        "interp_sides" => interp(Interpolation::new().left(-1.0).right(2.0)),
        "interp_line" => interp(Interpolation::new().extrapolate()),
        "interp_period" => interp(Interpolation::new().period(1.7)),
        "unwrap" => one(|x| x.unwrap_phase(2.0 * std::f64::consts::PI, -1)),
        "cov" => one(Array::cov),
        "cov_columns" => covariance(Covariance::new().columns().ddof(0.0)),
        "cov_and" => two(|x, y| Covariance::new().and(y).of(x)),
        "cov_frequencies" => two(|x, f| Covariance::new().frequencies(f).of(x)),
        "cov_weights" => Some(Box::new(|x| {
            vec![
                Covariance::new()
                    .frequencies(&x[1])
                    .weights(&x[2])
                    .of(&x[0]),
            ]
        })),
        "cov_weights_0" => Some(Box::new(|x| {
            let how = Covariance::new().frequencies(&x[1]).weights(&x[2]);
            vec![how.ddof(0.0).of(&x[0])]
        })),
        "corrcoef" => one(Array::corrcoef),
        "average" => Some(Box::new(|x| {
            let (mean, total) = x[0].average_and_weight(&x[1], Reduction::over(1));
            let plain = x[0].average(&x[1], 1);
            vec![(mean + plain) * 0.5, total]
        })),
        "average_all" => Some(Box::new(|x| {
            pair(x[0].average_and_weight(&x[1], Reduction::all()))
        })),
        "histogram" => Some(Box::new(|x| pair(x[0].histogram(4)))),
        "histogram_weights" => Some(Box::new(|x| {
            let how = Histogram::new(3).range(-1.0, 1.5).weights(&x[1]);
            pair(how.of(&x[0]))
        })),
        "histogram_density" => Some(Box::new(|x| {
            pair(Histogram::with_edges(&x[1]).density().of(&x[0]))
        })),
        _ => None,
    }
}

#[test]
fn searches_agree_with_jax() {
    agree("numpy_searches", 13, &searches);
}

#[test]
fn orders_agree_with_jax() {
    agree("numpy_orders", 10, &orders);
}

#[test]
fn calculus_and_statistics_agree_with_jax() {
    agree("numpy_calculus", 25, &calculus);
}

#[test]
fn sizes_are_values_outside_of_programs() {
    let x = Array::from([[0, 5, 0], [7, 0, 2]]);
    let places = x.nonzero();
    assert_eq!(places[0].to_vec::<i32>(), [0, 1, 1]);
    assert_eq!(places[1].to_vec::<i32>(), [1, 0, 2]);
    assert_eq!(x.flatnonzero().to_vec::<i32>(), [1, 3, 5]);
    assert_eq!(x.argwhere().shape(), [3, 2]);
    assert_eq!(Array::scalar(3, x.dtype()).argwhere().shape(), [1, 0]);
    assert_eq!(x.extract(&x.gt(1)).to_vec::<i32>(), [5, 7, 2]);
    let columns = x.compress(&Array::from([true, false, true]), 1);
    assert_eq!(columns.to_vec::<i32>(), [0, 0, 7, 2]);
    assert_eq!(
        x.ravel().bincount().to_vec::<i32>(),
        [3, 0, 1, 0, 0, 1, 0, 1]
    );
    assert_eq!(x.unique().to_vec::<i32>(), [0, 2, 5, 7]);
    assert_eq!(x.unique_counts().1.to_vec::<i32>(), [3, 1, 1, 1]);
    assert_eq!(x.unique_inverse().1.to_vec::<i32>(), [0, 2, 0, 3, 0, 1]);
    assert_eq!(x.unique_all().indices.to_vec::<i32>(), [0, 5, 1, 3]);
    let nan = Array::from([f32::NAN, 1.0, f32::NAN]);
    assert_eq!(nan.unique().size(), 2);
    assert_eq!(nan.unique_values().size(), 3);
    let (a, b) = (Array::from([4, 2, 2, 1]), Array::from([3, 2, 4]));
    assert_eq!(a.union1d(&b).to_vec::<i32>(), [1, 2, 3, 4]);
    assert_eq!(a.intersect1d(&b).to_vec::<i32>(), [2, 4]);
    assert_eq!(a.setdiff1d(&b).to_vec::<i32>(), [1]);
    assert_eq!(a.setxor1d(&b).to_vec::<i32>(), [1, 3]);
    assert_eq!(
        Array::from([0, 0, 3, 0, 4, 0]).trim_zeros().to_vec::<i32>(),
        [3, 0, 4]
    );
    assert_eq!(Array::from_slice::<i32>(&[], &[0]).unique().shape(), [0]);
}

/// `f32` does not represent 16777217, so the promoted elements 16777216 and 16777217 are equal.
#[test]
fn differences_of_sets_keep_the_dtype_of_the_first() {
    let (a, b) = (Array::from([16_777_217, 5]), Array::from([5.0f32]));
    let difference = a.setdiff1d(&b);
    assert_eq!(difference.dtype(), DType::I32);
    assert_eq!(difference.to_vec::<i32>(), [16_777_217]);
    let rounded = Array::from([16_777_216.0f32]);
    assert_eq!(a.setdiff1d(&rounded).to_vec::<i32>(), [5]);
    let either = a.setxor1d(&rounded);
    assert_eq!(either.dtype(), DType::F32);
    assert_eq!(either.to_vec::<f32>(), [5.0]);
}

#[test]
#[should_panic(expected = "help: use `nonzero_sized` with a fixed size")]
fn sizes_of_traced_arrays_are_not_known() {
    let _ = ramie_core::jit(|x: Array| x.nonzero())(Array::from([1, 0]));
}

#[test]
fn narrow_integers_are_places_along_longer_axes() {
    let x = Array::arange(1000);
    let last = Array::from(-1i8);
    assert_eq!(x.roll_dynamic(&last, 0).index(0).item::<i32>(), 1);
    assert_eq!(x.put(&last, 7).index(-1).item::<i32>(), 7);
    assert_eq!(x.insert(&last, 7, 0).index(-2).item::<i32>(), 7);
    let flat = last.unravel_index(&[1000]);
    assert_eq!(flat[0].item::<i32>(), 999);
    let places = [Array::from(70_000), Array::from(5u8)];
    let flat = ravel_multi_index(&places, &[100_000, 100_000], BoundsMode::Clip);
    assert_eq!(flat.item::<i64>(), 7_000_000_005);
    // A negative number names no segment.
    let sums = Array::from([1, 2]).segment_sum(&Array::from([-1i8, 1]), 1000);
    assert_eq!(sums.sum().item::<i32>(), 2);
    let row = Array::from(5u8).one_hot(300, DType::I32);
    assert_eq!((row.argmax(0).item::<i32>(), row.size()), (5, 300));
    let picked = Array::arange(300).index_take(&[Array::from([200u8])], &[0]);
    assert_eq!(picked.to_vec::<i32>(), [200]);
    let picked = Array::arange(300).index_take(&[Array::from([-1i8])], &[0]);
    assert_eq!(picked.to_vec::<i32>(), [299]);
    let rows = Array::arange(6).reshape(&[2, 3]);
    let picked = rows.index_take(&[Array::from([1u64]), Array::from([-1])], &[0, 1]);
    assert_eq!(picked.to_vec::<i32>(), [5]);
}

/// `jnp.ravel_multi_index` returns `result_type(int, *indices)`.
#[test]
fn flat_indices_have_the_promoted_dtype() {
    let flat = |i: &Array, j: &Array| {
        ravel_multi_index(&[i.clone(), j.clone()], &[2, 3], BoundsMode::Clip)
    };
    let (i, j) = (Array::from([1, 0]), Array::from([2, 9]));
    for (a, b, expected) in [
        (DType::U64, DType::U64, DType::U64),
        (DType::U8, DType::U8, DType::U8),
        (DType::U8, DType::I16, DType::I16),
        (DType::I32, DType::I64, DType::I64),
    ] {
        let found = flat(&i.astype(a), &j.astype(b));
        assert_eq!(found.dtype(), expected, "{a} {b}");
        assert_eq!(found.astype(DType::I32).to_vec::<i32>(), [5, 2]);
    }
    let text = panic_message(|| flat(&i.astype(DType::U64), &j));
    assert!(text.contains("help: convert them to one dtype"), "{text}");
}

/// As `i64`, `usize::MAX` is -1, the last element.
#[test]
fn indices_beyond_i64_are_out_of_bounds() {
    let x = Array::arange(4);
    let text = panic_message(|| x.index(usize::MAX));
    assert!(
        text.contains("is out of bounds for axis 0 of i32[4]"),
        "{text}"
    );
    for range in [0..usize::MAX, 0..usize::MAX - 1] {
        assert_eq!(x.index(range).shape(), [4]);
    }
    assert_eq!(x.index(..usize::MAX - 1).shape(), [4]);
    assert_eq!(x.index(..=i64::MAX).shape(), [4]);
    assert_eq!(x.index(1..=usize::MAX - 1).shape(), [3]);
    assert_eq!(x.index(usize::MAX - 1..).shape(), [0]);
    let filled = x.at([usize::MAX, 1]).fill_value(7).get();
    assert_eq!(filled.to_vec::<i32>(), [7, 1]);
}

/// `jnp.compress` truncates the array to the condition before it compares the size.
#[test]
fn sizes_beyond_a_short_condition_are_refused() {
    let (x, short) = (Array::arange(4), Array::from([true, true]));
    let text = panic_message(|| x.compress_sized(&short, 0, 3, 0));
    let expected = "compress: the size 3 exceeds axis 0 of i32[4] or the condition bool[2]";
    assert!(text.starts_with(expected), "{text}");
    let text = panic_message(|| x.extract_sized(&short, 3, 0));
    assert!(text.starts_with(expected), "{text}");
    let kept = x.compress_sized(&short, 0, 2, 0);
    assert_eq!(kept.to_vec::<i32>(), [0, 1]);
}

/// As `f32`, both weights of the quantile are 1, and the first element reaches half of their sum.
#[test]
fn weights_are_promoted_with_the_elements() {
    let x = Array::from([1.0f32, 2.0]);
    let tiny = 2f64.powi(-40);
    let how = Quantile::all().method(QuantileMethod::InvertedCdf);
    let how = how.weights(&Array::from([1.0 - tiny, 1.0 + tiny]));
    let median = x.quantile_over(0.5, how);
    assert_eq!((median.dtype(), median.item::<f64>()), (DType::F64, 2.0));
    let how = Covariance::new().ddof(0.0);
    let variance = how.clone().weights(&Array::from([1.0, 3.0])).of(&x);
    assert_eq!(variance.dtype(), DType::F64);
    assert_eq!(variance.item::<f64>(), 0.1875);
    let variance = how.frequencies(&Array::from([1i64, 3])).of(&x);
    assert_eq!(variance.dtype(), DType::F32);
    assert_eq!(variance.item::<f32>(), 0.1875);
}

/// The negative of `u8` 1 is 255, so a search for the smallest element cannot negate integers.
#[test]
fn approximate_searches_refuse_integers() {
    let x = Array::from([3u8, 0, 1]);
    let text = panic_message(|| x.approx_min_k(1, 0));
    assert!(
        text.starts_with("approx_min_k: expects floats, got u8[3]"),
        "{text}"
    );
    let text = panic_message(|| x.approx_max_k(1, 0));
    assert!(
        text.starts_with("approx_max_k: expects floats, got u8[3]"),
        "{text}"
    );
    let (values, indices) = x.astype(DType::F32).approx_min_k(2, -1);
    assert_eq!(values.to_vec::<f32>(), [0.0, 1.0]);
    assert_eq!(indices.to_vec::<i32>(), [1, 2]);
}

#[test]
fn narrow_floats_count_and_number_many_elements() {
    let x = Array::full(&[70_000], 1.0, DType::F16);
    let half = Array::scalar(0.5, DType::F16);
    assert_eq!(x.quantile(half).astype(DType::F32).item::<f32>(), 1.0);
    let (counts, _) = x.slice_in_dim(0, 3000, 1, 0).histogram(2);
    assert_eq!(counts.astype(DType::F32).to_vec::<f32>(), [0.0, 3000.0]);
}
