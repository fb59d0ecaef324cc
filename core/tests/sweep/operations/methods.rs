//! Methods of `Array`.

use super::{Operation, Results, rows};
use ramie_core::lax::{
    AccuracyMode, DotDimensionNumbers, GatherScatterMode, Precision, RaggedDotDimensionNumbers,
    RoundingMethod,
};
use ramie_core::numpy::{BitOrder, BoundsMode, ConvolveMode, Order, PadMode, Side, TakeMode};
use ramie_core::options::{
    Contraction, Descending, EqualNan, Exact, IncludeInitial, Reduction, ScaledDot, Tolerance,
    Trace, Window,
};
use ramie_core::prim::elementwise::{ElementwiseRow, elementwise_table};
use ramie_core::prim::index::*;
use ramie_core::typing::{Dims, Like};
use ramie_core::*;

pub fn table() -> Vec<Operation> {
    let row = |row: &ElementwiseRow| Operation {
        name: row.method,
        apply: row.apply,
    };
    let mut t: Vec<Operation> = elementwise_table().map(row).collect();
    of_one_operand(&mut t);
    with_accuracy(&mut t);
    of_two_operands(&mut t);
    along_an_axis(&mut t);
    shapes(&mut t);
    places(&mut t);
    creation(&mut t);
    t
}

fn with_accuracy(t: &mut Vec<Operation>) {
    macro_rules! accurate {
        ($($name:literal $f:ident)*) => {
            rows!(t; $( $name |x| x.$f(AccuracyMode::Highest); )*);
        };
    }
    accurate! {
        "cbrt_with" cbrt_with "cos_with" cos_with "erfc_with" erfc_with "exp_with" exp_with
        "exp2_with" exp2_with "expm1_with" expm1_with "log_with" log_with "log1p_with" log1p_with
        "log2_with" log2_with "logistic_with" logistic_with "rsqrt_with" rsqrt_with
        "sin_with" sin_with "sqrt_with" sqrt_with "tan_with" tan_with "tanh_with" tanh_with
    }
}

fn of_one_operand(t: &mut Vec<Operation>) {
    rows!(t; relu selu gelu sigmoid silu softplus log_sigmoid ediff1d gradients zeros_like
        ones_like fabs positive rint sinc signbit modf frexp spacing bitwise_count at_least_1d
        at_least_2d at_least_3d logical_not is_inf is_pos_inf is_neg_inf log10 deg2rad rad2deg
        trunc reciprocal nan_to_num relu6 soft_sign hard_tanh hard_sigmoid hard_silu swish
        hard_swish mish sparse_plus sparse_sigmoid poly flipud fliplr matrix_transpose trim_zeros
        nonzero flatnonzero argwhere bincount unique unique_counts unique_inverse unique_values
        ravel cov corrcoef i0e i1e i0 i1 gammaln loggamma gammasgn gamma factorial erfcx entr logit
        expit log1mexp ndtr log_ndtr ndtri t real imag conj angle is_real is_complex stop_gradient
        round is_finite is_nan sum prod mean var std max min ptp all any count_nonzero norm nansum
        nanprod nanmax nanmin nanmean nanvar nanstd median nanmedian => [x] ());
    rows!(t;
        "operator -x" |x| -x;
        "operator !x" |x| !x;
        "gelu_with" |x| x.gelu_with(Exact);
        "leaky_relu" |x| x.leaky_relu(0.01);
        "elu" |x| x.elu(1.0);
        "celu" |x| x.celu(1.0);
        "squareplus" |x| x.squareplus(4.0);
        "round_with/2" |x| x.round_with(2);
        "round_with/many" |x| x.round_with(400);
        "nan_to_num_with" |x| x.nan_to_num_with(0.0, 1.0, -1.0);
        "round_with" |x| x.round_with(RoundingMethod::AwayFromZero);
        "integer_pow/3" |x| x.integer_pow(3);
        "integer_pow/-2" |x| x.integer_pow(-2);
        "integer_pow/smallest" |x| x.integer_pow(i32::MIN);
        "multigammaln" |x| x.multigammaln(2);
        "reduce_precision" |x| x.reduce_precision(5, 2);
        "unique_all" |x| { let d = x.unique_all(); [d.values, d.indices, d.inverse, d.counts] };
        "full_like" |x| x.full_like(1);
        "full_like_with" |x| x.full_like_with(1, Like::new().dtype(DType::I8).shape(&[2]));
        "polygamma" |x| Array::scalar(1, DType::F32).polygamma(x);
        "bitcast_convert_type" |x| x.bitcast_convert_type(DType::U8);
        "unwrap_phase" |x| x.unwrap_phase(6.0, 0);
    );
    astype(t);
}

fn astype(t: &mut Vec<Operation>) {
    use DType::*;
    rows!(t;
        "astype/bool" |x| x.astype(Bool);
        "astype/i8" |x| x.astype(I8);
        "astype/u16" |x| x.astype(U16);
        "astype/i64" |x| x.astype(I64);
        "astype/bf16" |x| x.astype(BF16);
        "astype/f64" |x| x.astype(F64);
        "astype/f8e4m3fn" |x| x.astype(F8E4M3Fn);
        "astype/f4e2m1fn" |x| x.astype(F4E2M1Fn);
        "astype/i4" |x| x.astype(I4);
        "astype/u2" |x| x.astype(U2);
        "astype/c64" |x| x.astype(C64);
    );
}

fn of_two_operands(t: &mut Vec<Operation>) {
    rows!(t; true_divide remainder floor_divide right_shift power gcd lcm fmax fmin fmod divmod
        float_power logaddexp2 heaviside copysign ldexp append matmul dot inner vdot outer isclose
        allclose array_equal array_equiv hypot polyval polyadd polysub polymul polydiv vecdot
        matvec vecmat kron isin union1d intersect1d setdiff1d setxor1d logical_and logical_or
        logical_xor gammainc gammaincc betaln beta comb xlogy xlog1py rel_entr kl_div boxcox
        boxcox1p logaddexp mulhi lax_pow broadcast_like fill_diagonal quantile percentile
        nanquantile nanpercentile digitize => [x, y] (y));
    rows!(t;
        "operator +" |x, y| x + y;
        "operator - " |x, y| x - y;
        "operator *" |x, y| x * y;
        "operator /" |x, y| x / y;
        "operator %" |x, y| x % y;
        "operator &" |x, y| x & y;
        "operator |" |x, y| x | y;
        "operator ^" |x, y| x ^ y;
        "operator <<" |x, y| x << y;
        "operator >>" |x, y| x >> y;
        "remainder/zero" |x| x.remainder(0);
        "floor_divide/zero" |x| x.floor_divide(0);
        "floor_divide/-1" |x| x.floor_divide(-1);
        "divmod/zero" |x| x.divmod(0);
        "fmod/zero" |x| x.fmod(0);
        "true_divide/zero" |x| x.true_divide(0);
        "left_shift/100" |x| x.left_shift(100);
        "right_shift/-1" |x| x.right_shift(-1);
        "power/-1" |x| x.power(-1);
        "power/0.5" |x| x.power(0.5);
        "isclose_with" |x, y| x.isclose_with(y, (1e-3, 1e-3));
        "isclose_with/nan" |x, y| x.isclose_with(y, Tolerance { equal_nan: true, ..Tolerance::default() });
        "allclose_with" |x, y| x.allclose_with(y, (1e-3, 1e-3));
        "mul_with" |x, y| x.mul_with(y, DType::F32);
        "clip" |x, y, z| x.clip(y, z);
        "convolve" |x, y| x.convolve(y, ConvolveMode::Full);
        "convolve/same" |x, y| x.convolve(y, ConvolveMode::Same);
        "correlate" |x, y| x.correlate(y, ConvolveMode::Valid);
        "tensordot" |x, y| x.tensordot(y, 1);
        "tensordot/axes" |x, y| x.tensordot(y, ([0], [0]));
        "cross" |x, y| x.cross(y, -1);
        "cross/first" |x, y| x.cross(y, 0);
        "batch_matmul" |x, y| x.batch_matmul(y);
        "batch_matmul_with" |x, y| x.batch_matmul_with(y, Precision::HIGHEST);
        "dot_general" |x, y| x.dot_general(y, DotDimensionNumbers::new([&[0], &[0]], [&[], &[]]));
        "matmul_with" |x, y| x.matmul_with(y, Precision::HIGH);
        "dot_with" |x, y| x.dot_with(y, DType::F64);
        "tensordot_with" |x, y| x.tensordot_with(y, 1, Contraction::new());
        "inner_with" |x, y| x.inner_with(y, Precision::HIGHEST);
        "vdot_with" |x, y| x.vdot_with(y, DType::F64);
        "vecdot_with" |x, y| x.vecdot_with(y, 0, Contraction::new());
        "dot_general_with" |x, y| x.dot_general_with(y, DotDimensionNumbers::new([&[], &[]], [&[0], &[0]]), DType::F32);
        "ragged_dot" |x, y, z| x.ragged_dot(y, z);
        "ragged_dot_general" |x, y, z| x.ragged_dot_general(
            y, z, RaggedDotDimensionNumbers::rows(), Contraction::new());
        "scaled_dot" |x, y| x.scaled_dot(y);
        "scaled_dot_with" |x, y, z| x.scaled_dot_with(y, ScaledDot::new().lhs_scale(z));
        "polyfit" |x, y| x.polyfit(y, 2);
        "interp" |x, y, z| x.interp(y, z);
    );
}

/// Rows of reductions of the elements that a mask selects.
macro_rules! masked {
    ($list:ident; $($name:ident)*) => {
        $( $list.push(Operation {
            name: concat!(stringify!($name), "/mask"),
            apply: |a| Results::list(a[0].$name(Reduction::over(0).mask(&a[1].ne(0)))),
        }); )*
    };
}

fn along_an_axis(t: &mut Vec<Operation>) {
    rows!(t; sum_over prod_over mean_over var_over std_over max_over min_over ptp_over all_over
        any_over count_nonzero_over norm_over nansum_over nanprod_over nanmax_over nanmin_over
        nanmean_over nanvar_over nanstd_over median_over nanmedian_over => [x] (0));
    rows!(t; reduce_sum reduce_prod reduce_max reduce_min reduce_and reduce_or reduce_xor flip
        squeeze expand_dims => [x] (&[0]));
    rows!(t; cumsum cumprod cummax cummin cumlogsumexp cumsum_reversed cumprod_reversed
        cummax_reversed cummin_reversed cumlogsumexp_reversed argmax argmin diff gradient trapezoid
        nanargmax nanargmin nancumsum nancumprod sort argsort
        logsumexp logmeanexp softmax log_softmax unstack glu => [x] (-1));
    masked!(t; sum_over prod_over mean_over var_over std_over max_over min_over all_over any_over
        nansum_over nanprod_over nanmax_over nanmin_over nanmean_over nanvar_over nanstd_over
        logsumexp logmeanexp softmax log_softmax);
    rows!(t; quantile_over percentile_over nanquantile_over nanpercentile_over => [x, y] (y, 0));
    rows!(t;
        "var_over/ddof" |x| x.var_over(Reduction::over(0).ddof(1.0));
        "std_over/ddof" |x| x.std_over(Reduction::over(0).ddof(usize::MAX as f64));
        "array_equal_with" |x, y| x.array_equal_with(y, EqualNan);
        "digitize_with" |x, y| x.digitize_with(y, Side::Right);
        "cumulative_sum" |x| x.cumulative_sum(0);
        "cumulative_sum_with" |x| x.cumulative_sum_with(0, IncludeInitial);
        "cumulative_prod" |x| x.cumulative_prod(0);
        "cumulative_prod_with" |x| x.cumulative_prod_with(0, IncludeInitial);
        "diff_with" |x| x.diff_with(0, 2);
        "diff_with/many" |x| x.diff_with(0, 100);
        "sort_with" |x| x.sort_with(-1, Descending);
        "argsort_with" |x| x.argsort_with(-1, Descending);
        "gradient_with" |x, y| x.gradient_with(0, y);
        "trapezoid_with" |x, y| x.trapezoid_with(0, y);
        "trapezoid_with/coordinates" |x, y| x.trapezoid_with(-1, y.diff(-1));
        "logsumexp_with" |x, y| x.logsumexp_with(Reduction::all(), y);
        "logsumexp_signed" |x, y| x.logsumexp_signed(y, Reduction::all());
        "standardize" |x| x.standardize(&[-1], 1e-5);
        "average" |x, y| x.average(y, 0);
        "average_and_weight" |x, y| x.average_and_weight(y, Reduction::all());
        "partition" |x| x.partition(1, 0);
        "argpartition" |x| x.argpartition(-1, -1);
        "sort_key_val" |x, y| x.sort_key_val(y, 0);
        "approx_max_k" |x| x.approx_max_k(2, -1);
        "approx_min_k" |x| x.approx_min_k(2, -1);
        "top_k" |x| x.top_k(2);
        "top_k_with" |x| x.top_k_with(2, 0);
        "top_k/many" |x| x.top_k(usize::MAX);
        "glu_by" |x| x.glu_by(0, |g| g.tanh());
        "apply_along_axis" |x| x.apply_along_axis(0, |v| v.sort(0));
        "packbits" |x| x.packbits(0, BitOrder::Big);
        "unpackbits" |x| x.unpackbits(0, BitOrder::Little);
        "histogram" |x| x.histogram(4);
        "segment_sum" |x, y| x.segment_sum(y, 3);
        "segment_prod" |x, y| x.segment_prod(y, 3);
        "segment_max" |x, y| x.segment_max(y, 3);
        "segment_min" |x, y| x.segment_min(y, 0);
        "reduce" |x, y| x.reduce(y.ravel().sum(), |a, b| a * b, &[0]);
        "reduce_window" |x| x.reduce_window(0, |a, b| a.maximum(b), &window(x));
        "reduce_window_sum" |x| x.reduce_window_sum(&window(x));
        "reduce_window_max" |x| x.reduce_window_max(&window(x));
        "reduce_window_min" |x| x.reduce_window_min(&window(x));
    );
}

/// A window of two elements along the last axis.
fn window(x: &Array) -> Window {
    let mut sizes = vec![1; x.ndim()];
    if let Some(last) = sizes.last_mut() {
        *last = 2;
    }
    Window::new(&sizes)
}

fn shapes(t: &mut Vec<Operation>) {
    const HUGE: usize = usize::MAX / 2;
    rows!(t;
        "tril" |x| x.tril(0);
        "tril/far" |x| x.tril(isize::MIN);
        "triu" |x| x.triu(1);
        "triu/far" |x| x.triu(isize::MAX);
        "diagonal" |x| x.diagonal(0);
        "diagonal/far" |x| x.diagonal(isize::MIN);
        "trace" |x| x.trace(0);
        "trace_with" |x| x.trace_with(0, Trace::new().axes(1, 0).dtype(DType::F32));
        "argmax/all" |x| x.argmax(None);
        "diag" |x| x.diag(0);
        "diag/far" |x| x.diag(isize::MAX);
        "diagflat" |x| x.diagflat(1);
        "diagonal_with" |x| x.diagonal_with(0, 0, 1);
        "broadcast" |x| x.broadcast(&[2]);
        "broadcast/huge" |x| x.broadcast(&[HUGE, HUGE]);
        "broadcast_to_rank" |x| x.broadcast_to_rank(3);
        "broadcast_in_dim" |x| x.broadcast_in_dim(&[2, 3], &[1]);
        "broadcast_to" |x| x.broadcast_to(&[3, 3]);
        "broadcast_to/huge" |x| x.broadcast_to(&[HUGE, 3]);
        "collapse" |x| x.collapse(0, 2);
        "resize" |x| x.resize(&[5]);
        "resize/huge" |x| x.resize(&[HUGE, 5]);
        "array_split" |x| x.array_split(2, 0);
        "hsplit" |x| x.hsplit(2);
        "vsplit" |x| x.vsplit(3);
        "dsplit" |x| x.dsplit(0);
        "rot90" |x| x.rot90(1, [0, 1]);
        "rot90/back" |x| x.rot90(isize::MIN, [0, 1]);
        "roll/flat" |x| x.roll(isize::MIN, None);
        "roll_dynamic" |x, y| x.roll_dynamic(&y.ravel().max(), 0);
        "move_axes" |x| x.move_axes(&[0], &[-1]);
        "roll_axis" |x| x.roll_axis(0, 1);
        "roll" |x| x.roll(1, 0);
        "roll/far" |x| x.roll(isize::MAX, 0);
        "repeat" |x| x.repeat(2, 0);
        "repeat/huge" |x| x.repeat(HUGE, 0);
        "repeat/each" |x| x.repeat([0, 2, 1], 0);
        "repeat/each_huge" |x| x.repeat([HUGE; 3], 0);
        "tile" |x| x.tile(&[2, 1]);
        "tile/huge" |x| x.tile(&[HUGE, HUGE]);
    );
    paddings_and_parts(t);
}

fn paddings_and_parts(t: &mut Vec<Operation>) {
    const HUGE: usize = usize::MAX / 2;
    rows!(t;
        "pad" |x, y| x.pad(&vec![(1, 2); x.ndim()], y.ravel().max());
        "pad/huge" |x| x.pad(&vec![(HUGE, HUGE); x.ndim()], 0);
        "pad_constants" |x, y| x.pad_constants(&vec![(1, 2); x.ndim()], &[(y.ravel().max(), Array::from(0))]);
        "pad_constants/huge" |x| x.pad_constants(&vec![(HUGE, HUGE); x.ndim()], &[(0, 1)]);
        "lax_pad" |x| x.lax_pad(&vec![(-1, 1, 1); x.ndim()], 0);
        "lax_pad/huge" |x| x.lax_pad(&vec![(isize::MAX, isize::MAX, HUGE); x.ndim()], 0);
        "lax_pad/negative" |x| x.lax_pad(&vec![(isize::MIN, isize::MIN, 0); x.ndim()], 0);
        "pad_with" |x| x.pad_with(&vec![(1, 2); x.ndim()], PadMode::Reflect);
        "pad_with/wrap" |x| x.pad_with(&vec![(1, 2); x.ndim()], PadMode::Wrap);
        "pad_with/huge" |x| x.pad_with(&vec![(HUGE, 0); x.ndim()], PadMode::Edge);
        "pad_linear_ramp" |x| x.pad_linear_ramp(&vec![(1, 2); x.ndim()], 0);
        "reshape" |x| x.reshape(&[x.size()]);
        "reshape/huge" |x| x.reshape(&[HUGE, 4]);
        "reshape/inferred" |x| x.reshape((2, -1));
        "reshape/huge_inferred" |x| x.reshape((HUGE, 4, -1));
        "reshape_with" |x| x.reshape_with(x.shape(), Order::F);
        "flatten" |x| x.flatten(..);
        "slice_with" |x| x.slice_with(&vec![0; x.ndim()], x.shape(), &vec![2; x.ndim()]);
        "slice" |x| x.slice(&vec![0; x.ndim()], &vec![HUGE; x.ndim()]);
        "slice_in_dim" |x| x.slice_in_dim(1, 2, 1, 0);
        "split_sizes" |x| x.split_sizes(&[1, 2], 0);
        "split_sizes/huge" |x| x.split_sizes(&[HUGE, HUGE, 5], 0);
        "split" |x| x.split(3, 0);
        "split/zero" |x| x.split(0, 0);
        "split/at" |x| x.split([1], 0);
        "transpose" |x| x.transpose(&(0..x.ndim() as isize).rev().collect::<Vec<_>>());
        "move_axis" |x| x.move_axis(0, -1);
        "swap_axes" |x| x.swap_axes(0, 1);
        "polyder" |x| x.polyder(1);
        "polyder/many" |x| x.polyder(100);
        "polyint" |x| x.polyint(2);
        "vander" |x| x.vander(3);
    );
}

fn places(t: &mut Vec<Operation>) {
    rows!(t; take take_along_axis => [x, y] (y, 0));
    rows!(t; extract => [x, y] (y));
    rows!(t;
        "unravel_index" |x| x.unravel_index(&[2, 3]);
        "unravel_index/empty" |x| x.unravel_index(&[0]);
        "choose" |x, y, z| x.choose(&[y, z], BoundsMode::Clip);
        "choose/wrap" |x, y, z| x.choose(&[y, z], BoundsMode::Wrap);
        "piecewise" |x| x.piecewise(&[(x.ne(0), &|v: &Array| v + v)], |v| v.clone());
        "put" |x, y, z| x.put(y, z);
        "place" |x, y, z| x.place(&y.ne(0), z);
        "delete" |x| x.delete(&[0], 0);
        "insert" |x, y| x.insert(1, y, 0);
        "index_in_dim" |x| x.index_in_dim(-1, 0).squeeze(&[0]);
        "dynamic_index_in_dim_with" |x, y| {
            x.dynamic_index_in_dim_with(y.ravel().max(), 0, NonNegative::all())
        };
        "dynamic_update_index_in_dim_with" |x, y, z| {
            x.dynamic_update_index_in_dim_with(z, y.ravel().max(), 0, NonNegative::all())
        };
        "dynamic_index_in_dim" |x, y| x.dynamic_index_in_dim(y.ravel().max(), 0);
        "dynamic_update_index_in_dim" |x, y, z| x.dynamic_update_index_in_dim(z, y.ravel().max(), 0);
        "index_take" |x, y| x.index_take(std::slice::from_ref(y), &[0]);
        "nonzero_sized" |x| x.nonzero_sized(3, 0);
        "flatnonzero_sized" |x| x.flatnonzero_sized(3, -1);
        "argwhere_sized" |x| x.argwhere_sized(3, 0);
        "extract_sized" |x, y| x.extract_sized(&y.ne(0), 3, 0);
        "compress" |x, y| x.compress(&y.ravel().ne(0), 0);
        "compress_sized" |x, y| x.compress_sized(&y.ravel().ne(0), 0, 2, 0);
        "bincount_sized" |x| x.bincount_sized(4);
        "bincount_with" |x, y| x.bincount_with(4, y);
        "searchsorted" |x, y| x.searchsorted(y, Side::Left);
        "one_hot" |x| x.one_hot(3, DType::F32);
        "one_hot/huge" |x| x.one_hot(usize::MAX, DType::F32);
        "one_hot_with" |x| x.one_hot_with(3, x.dtype(), 0);
        "index" |x| x.index(0);
        "index/array" |x, y| x.index(y);
        "index/range" |x| x.index(s(1..).step(2));
        "take_with" |x, y| x.take_with(y, 0, GatherScatterMode::Clip);
        "take_with/wrap" |x, y| x.take_with(y, None, TakeMode::Wrap);
        "take_with/fill" |x, y| x.take_with(y, 0, TakeMode::FillValue(1.into()));
        "take_along_axis_with" |x, y| x.take_along_axis_with(y, 0, TakeMode::Wrap);
        "repeat_sized" |x, y| x.repeat_sized(y, 0, 3);
        "put_along_axis" |x, y, z| x.put_along_axis(y, z, 0);
        "dynamic_slice" |x, y| x.dynamic_slice(&vec![y.ravel().max(); x.ndim()], &vec![1; x.ndim()]);
        "dynamic_slice_in_dim" |x, y| x.dynamic_slice_in_dim(y.ravel().max(), 2, 0);
        "dynamic_update_slice" |x, y, z| x.dynamic_update_slice(z, &vec![y.ravel().max(); x.ndim()]);
        "dynamic_update_slice_in_dim" |x, y, z| x.dynamic_update_slice_in_dim(z, y.ravel().max(), 0);
        "dynamic_slice_with" |x, y| {
            let starts = vec![y.ravel().max(); x.ndim()];
            x.dynamic_slice_with(&starts, &vec![1; x.ndim()], NonNegative::along(&[0]))
        };
        "dynamic_slice_in_dim_with" |x, y| {
            x.dynamic_slice_in_dim_with(y.ravel().max(), 2, 0, NonNegative::all())
        };
        "dynamic_update_slice_with" |x, y, z| {
            x.dynamic_update_slice_with(z, &vec![y.ravel().max(); x.ndim()], NonNegative::all())
        };
        "dynamic_update_slice_in_dim_with" |x, y, z| {
            x.dynamic_update_slice_in_dim_with(z, y.ravel().max(), 0, NonNegative::all())
        };
        "gather" |x, y| x.gather(&y.expand_dims(&[-1]), rows_of(x));
        "scatter" |x, y, z| x.scatter(&y.expand_dims(&[-1]), z, onto_rows());
        "at" |x| x.at(0).get();
        "at/set" |x, y| x.at(0).set(y.ravel().max());
        "at/add" |x, y, z| x.at(y).add(z);
        "at/subtract" |x| x.at(0).subtract(1);
        "at/multiply" |x, y, z| x.at(y).multiply(z);
        "at/divide" |x, y| x.at(0).divide(y.ravel().min());
        "at/power" |x| x.at(0).power(2);
        "at/min" |x, y, z| x.at(y).min(z);
        "at/max" |x, y, z| x.at(y).max(z);
        "at/apply" |x| x.at(0).apply(|v| v + 1);
    );
}

fn rows_of(x: &Array) -> Gather {
    let mut slice_sizes: Dims = x.shape().into();
    slice_sizes.iter_mut().take(1).for_each(|n| *n = 1);
    let offsets: Dims = (1..x.ndim()).collect();
    let numbers = GatherDimensionNumbers::new(&offsets, &[0], &[0]);
    Gather::new(numbers, &slice_sizes).mode(GatherScatterMode::FillOrDrop)
}

fn onto_rows() -> Scatter {
    let numbers = ScatterDimensionNumbers::new(&[], &[0], &[0]);
    Scatter::new(ScatterMethod::Add, numbers)
}

fn creation(t: &mut Vec<Operation>) {
    const HUGE: usize = usize::MAX / 2;
    rows!(t;
        "full" |x| Array::full(x.shape(), 1, x.dtype());
        "full/huge" |x| Array::full(&[HUGE, HUGE], 1, x.dtype());
        "zeros" |x| Array::zeros(x.shape(), x.dtype());
        "zeros/huge" |x| Array::zeros(&[HUGE, HUGE], x.dtype());
        "ones" |x| Array::ones(x.shape(), x.dtype());
        "arange" |x| Array::arange(x.ndim());
        "arange/huge" |_x| Array::arange(usize::MAX);
        "iota" |x| Array::iota(x.shape(), 0, x.dtype());
        "iota/huge" |x| Array::iota(&[HUGE, HUGE], 0, x.dtype());
        "eye" |x| Array::eye(x.ndim(), x.dtype());
        "eye/huge" |x| Array::eye(HUGE, x.dtype());
        "eye_with" |x| Array::eye_with(2, 3, 1, x.dtype());
        "eye_with/huge" |x| Array::eye_with(2, 3, isize::MIN, x.dtype());
        "tri" |x| Array::tri(3, 4, -1, x.dtype());
        "tri/far" |x| Array::tri(3, 4, isize::MIN, x.dtype());
        "tril_indices" |x| Array::tril_indices(x.ndim(), 3, 0);
        "tril_indices/huge" |_x| Array::tril_indices(HUGE, 3, 0);
        "triu_indices" |x| Array::triu_indices(x.ndim(), 3, isize::MAX);
        "diag_indices" |x| Array::diag_indices(3, x.ndim());
        "mask_indices" |_x| Array::mask_indices(3, |ones| ones.triu(0));
        "linspace" |x| Array::linspace(0.0, 1.0, x.ndim());
        "linspace/nan" |_x| Array::linspace(f64::NAN, f64::INFINITY, 3);
        "logspace" |x| Array::logspace(0.0, 1.0, x.ndim());
        "geomspace" |x| Array::geomspace(1.0, -8.0, x.ndim());
        "arange_with" |x| Array::arange_with(0.0, 3.0, 0.5, x.dtype());
        "arange_with/zero" |x| Array::arange_with(0.0, 3.0, 0.0, x.dtype());
        "arange_with/huge" |x| Array::arange_with(0.0, 1e300, 1e-300, x.dtype());
        "indices" |x| Array::indices(x.shape());
        "indices/huge" |_x| Array::indices(&[HUGE, HUGE]);
        "from_function" |x| Array::from_function(x.shape(), x.dtype(), |places| {
            places.first().cloned().unwrap_or_else(|| Array::from(0))
        });
        "bartlett" |x| Array::bartlett(x.ndim());
        "blackman" |x| Array::blackman(x.ndim());
        "hamming" |x| Array::hamming(x.ndim());
        "hanning" |x| Array::hanning(x.ndim());
        "kaiser" |x| Array::kaiser(x.ndim(), 8.0);
        "scalar" |x| Array::scalar(2, x.dtype());
        "scalar/nan" |x| Array::scalar(f64::NAN, x.dtype());
    );
}
