//! The table of `docs/numpy.md`: what it names is there, under these names.

use ramie::dtypes::{DTypeKind, finfo, issubdtype};
use ramie::numpy::{BoundsMode, ConvolveMode, Order, Side, TakeMode};
use ramie::options::{Contraction, Descending, EqualNan, Exact, IncludeInitial, Reduction};
use ramie::typing::Like;
use ramie::{Array, DType};
use ramie_core::prim::elementwise::elementwise_table;
use std::collections::BTreeSet;

/// Names methods of `Array`, each of which has to exist for this to compile.
macro_rules! methods {
    (
        plain { $($plain:ident)* }
        with_operand { $($operand:ident)* }
        over { $($over:ident)* }
        called { $($called:ident |$x:ident| $call:expr;)* }
    ) => {
        fn methods() -> Vec<&'static str> {
            $( let _ = Array::$plain; )*
            $( let _ = |x: &Array| x.$operand(x); )*
            $( let _ = |x: &Array| x.$over(0); )*
            $( let _ = |$x: &Array| $call; )*
            vec![$(stringify!($plain),)* $(stringify!($operand),)* $(stringify!($over),)*
                $(stringify!($called),)*]
        }
    };
}

methods! {
    plain {
        angle conj imag is_complex is_real real all any arange arange_with argpartition argsort
        argwhere array_split astype at_least_1d at_least_2d at_least_3d bartlett bincount
        bincount_sized bincount_with bitwise_count blackman broadcast_to celu compress corrcoef
        count_nonzero cov cross cumprod cumprod_reversed cumsum cumsum_reversed cumulative_prod
        cumulative_sum deg2rad delete diag diag_indices diagflat diagonal diagonal_with diff
        digitize dot_general dsplit dtype ediff1d elu entr erfcx expand_dims expit extract eye
        eye_with fabs factorial flatnonzero flip fliplr flipud frexp gamma gammaln gammasgn gelu
        geomspace glu gradient gradients hamming hanning hard_sigmoid hard_silu hard_tanh histogram
        hsplit i0 i0e i1 i1e indices integer_pow interp intersect1d iota is_finite is_inf is_nan
        is_neg_inf is_pos_inf kaiser kron leaky_relu linspace log10 log1mexp log_ndtr log_sigmoid
        loggamma logical_not logit logspace matrix_transpose max mean median min mish modf
        move_axes move_axis multigammaln nan_to_num nancumprod nancumsum nanmax nanmean nanmedian
        nanmin nanprod nanstd nansum nanvar ndim ndtr ndtri nonzero one_hot one_hot_with ones
        ones_like packbits pad_with partition poly polyder polyfit polyint positive prod ptp
        rad2deg ravel reciprocal relu relu6 resize rint roll_axis roll_dynamic rot90 round
        segment_max segment_min segment_prod segment_sum selu setdiff1d setxor1d shape sigmoid
        signbit silu sinc size soft_sign softplus sort spacing sparse_plus sparse_sigmoid
        split_sizes squareplus squeeze standardize std sum swap_axes swish t tile trace transpose
        trapezoid tri tril tril_indices trim_zeros triu triu_indices trunc try_from_bytes union1d
        unique unique_all unique_counts unique_inverse unique_values unpackbits unravel_index
        unstack unwrap_phase vander var vsplit zeros zeros_like
    }
    with_operand {
        allclose append array_equal array_equiv beta betaln boxcox boxcox1p comb copysign divmod dot
        fill_diagonal float_power floor_divide fmax fmin fmod gammainc gammaincc gcd heaviside
        hypot inner isclose isin kl_div lcm ldexp logaddexp logaddexp2 logical_and logical_or
        logical_xor matmul matvec nanpercentile nanquantile outer percentile polyadd polydiv
        polygamma polymul polysub polyval power quantile rel_entr remainder right_shift true_divide
        vdot vecdot vecmat xlog1py xlogy
    }
    over {
        logsumexp logmeanexp softmax log_softmax sum_over prod_over mean_over var_over std_over
        max_over min_over ptp_over all_over any_over count_nonzero_over nansum_over
        nanprod_over nanmax_over nanmin_over nanmean_over nanvar_over nanstd_over median_over
        nanmedian_over
    }
    called {
        mul_with |x| x.mul_with(x, DType::F32);
        trace_with |x| x.trace_with(0, ramie::options::Trace::new());
        array_equal_with |x| x.array_equal_with(x, EqualNan);
        cumulative_prod_with |x| x.cumulative_prod_with(0, IncludeInitial);
        cumulative_sum_with |x| x.cumulative_sum_with(0, IncludeInitial);
        diff_with |x| x.diff_with(0, 1);
        digitize_with |x| x.digitize_with(x, Side::Right);
        round_with |x| x.round_with(1);
        allclose_with |x| x.allclose_with(x, (0.0, 0.0));
        average |x| x.average(x, 0);
        average_and_weight |x| x.average_and_weight(x, 0);
        apply_along_axis |x| x.apply_along_axis(0, |v| v);
        argmax |x| x.argmax(0);
        argmin |x| x.argmin(0);
        argwhere_sized |x| x.argwhere_sized(1, 0);
        choose |x| x.choose(&[x], BoundsMode::Clip);
        clip |x| x.clip(0, 1);
        compress_sized |x| x.compress_sized(x, 0, 1, 0);
        convolve |x| x.convolve(x, ConvolveMode::Full);
        correlate |x| x.correlate(x, ConvolveMode::Full);
        extract_sized |x| x.extract_sized(x, 1, 0);
        flatnonzero_sized |x| x.flatnonzero_sized(1, 0);
        from |x| Array::from(vec![x.ndim() as f32]);
        from_function |x| Array::from_function(x.shape(), DType::F32, |places| places[0].clone());
        from_slice |x| Array::from_slice(&[x.ndim() as f32], &[1]);
        full_like |x| x.full_like(0);
        full_like_with |x| x.full_like_with(0, Like::new());
        argsort_with |x| x.argsort_with(0, Descending);
        gelu_with |x| x.gelu_with(Exact);
        gradient_with |x| x.gradient_with(0, 1.0);
        index |x| x.index(0);
        insert |x| x.insert(0, x, 0);
        isclose_with |x| x.isclose_with(x, (0.0, 0.0));
        logsumexp_signed |x| x.logsumexp_signed(x, Reduction::all());
        logsumexp_with |x| x.logsumexp_with(Reduction::all(), x);
        mask_indices |x| Array::mask_indices(x.ndim(), |ones| ones.triu(0));
        nan_to_num_with |x| x.nan_to_num_with(None, 1.0, None);
        nanargmax |x| x.nanargmax(0);
        nanargmin |x| x.nanargmin(0);
        nanpercentile_over |x| x.nanpercentile_over(0.5, 0);
        nanquantile_over |x| x.nanquantile_over(0.5, 0);
        nonzero_sized |x| x.nonzero_sized(1, 0);
        percentile_over |x| x.percentile_over(0.5, 0);
        pad |x| x.pad(&[(0, 0)], 0);
        pad_constants |x| x.pad_constants(&[(0, 0)], &[(0, 0)]);
        pad_linear_ramp |x| x.pad_linear_ramp(&[], 0);
        place |x| x.place(x, 0.0);
        put |x| x.put(x, 0.0);
        put_along_axis |x| x.put_along_axis(x, 0.0, 0);
        quantile_over |x| x.quantile_over(0.5, 0);
        repeat |x| x.repeat(1, 0);
        roll |x| x.roll(1, 0);
        repeat_sized |x| x.repeat_sized(x, 0, 1);
        reshape |x| x.reshape(-1);
        reshape_with |x| x.reshape_with(-1, Order::F);
        scalar |x| Array::scalar(0.0, x.dtype());
        full |x| Array::full(x.shape(), 0.0, x.dtype());
        searchsorted |x| x.searchsorted(x, Side::Left);
        take |x| x.take(x, 0);
        take_along_axis |x| x.take_along_axis(x, 0);
        take_along_axis_with |x| x.take_along_axis_with(x, 0, TakeMode::Wrap);
        take_with |x| x.take_with(x, 0, TakeMode::Wrap);
        dot_with |x| x.dot_with(x, Contraction::new());
        matmul_with |x| x.matmul_with(x, Contraction::new());
        inner_with |x| x.inner_with(x, Contraction::new());
        vdot_with |x| x.vdot_with(x, Contraction::new());
        vecdot_with |x| x.vecdot_with(x, 0, Contraction::new());
        tensordot_with |x| x.tensordot_with(x, 1, Contraction::new());
        tensordot |x| x.tensordot(x, 1);
        sort_with |x| x.sort_with(0, Descending);
        split |x| x.split(1, 0);
        trapezoid_with |x| x.trapezoid_with(0, 1.0);
        piecewise |x| x.piecewise(&[], |x| x.clone());
    }
}

/// Names items of the crate and of its modules, which have to exist for this to compile.
macro_rules! items {
    ($($item:ident)* $(; $room:ident: $($inner:ident)*)*) => {
        mod named {
            #[allow(unused_imports)]
            pub use ramie::{$($item),*};
            $(pub mod $room {
                #[allow(unused_imports)]
                pub use ramie::$room::{$($inner),*};
            })*
        }
        const ITEMS: &[&str] = &[
            $(stringify!($item),)*
            $($(concat!(stringify!($room), "::", stringify!($inner)),)*)*
        ];
    };
}

items! {
    Array DType array checkpoint concatenate einsum linalg random s stack stats vmap where_;
    dtypes: DTypeKind can_cast finfo iinfo issubdtype promote_types result_type;
    lax: dot_product_attention sort;
    numpy: Interpolation NewAxis block broadcast_arrays broadcast_shapes column_stack dstack einsum_path einsum_with
        hstack ix_ lexsort meshgrid meshgrid_with mgrid ravel_multi_index select vectorize vstack;
    options: Attention Covariance Histogram Quantile Reduction Segments Spacing Standardize Unique
}

const DOCUMENT: &str = include_str!("../docs/numpy.md");

/// The words in code that follow `before`, in what the document says.
fn words_after(before: &str) -> BTreeSet<&'static str> {
    let word = |rest: &'static str| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    };
    DOCUMENT.split(before).skip(1).map(word).collect()
}

/// The code of the second column of each row.
fn answers() -> impl Iterator<Item = &'static str> {
    let rows = DOCUMENT.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|row| row.split("` | ").nth(1))
        .flat_map(|answer| answer.split('`').skip(1).step_by(2))
}

#[test]
fn methods_of_the_table_exist() {
    let known: BTreeSet<&str> = methods().into_iter().collect();
    let rows: BTreeSet<&str> = elementwise_table().map(|row| row.method).collect();
    let named = words_after("`Array::");
    let exists = |name: &&&str| known.contains(**name) || rows.contains(**name);
    let missing: Vec<_> = named.iter().filter(|name| !exists(name)).collect();
    assert!(
        missing.is_empty(),
        "the table names {missing:?}, which this test does not use"
    );
    let stale: Vec<_> = known.difference(&named).collect();
    assert!(stale.is_empty(), "the table lacks {stale:?}");
}

#[test]
fn items_of_the_table_exist() {
    let word = |code: &str| code.chars().all(|c| c.is_alphanumeric() || c == '_');
    let rooms = ["dtypes", "lax", "numpy", "options"];
    let plain = |code: &&str| match code.split_once("::") {
        Some((room, name)) => rooms.contains(&room) && word(name),
        None => word(code),
    };
    let missing: Vec<_> = answers()
        .filter(plain)
        .filter(|code| !ITEMS.contains(code))
        .collect();
    assert!(
        missing.is_empty(),
        "the table names {missing:?}, which are no items"
    );
    let types = words_after("`DType::");
    let known = |name: &&str| DType::ALL.iter().any(|d| format!("{d:?}") == *name);
    assert!(types.iter().all(known), "types are {types:?}");
    assert!(types.len() >= 12);
    let kinds = words_after("`DTypeKind::");
    let all = [
        DTypeKind::Bool,
        DTypeKind::Integer,
        DTypeKind::SignedInteger,
        DTypeKind::UnsignedInteger,
        DTypeKind::Floating,
        DTypeKind::ComplexFloating,
        DTypeKind::Inexact,
        DTypeKind::Number,
    ];
    for name in kinds {
        assert!(
            all.iter().any(|kind| format!("{kind:?}") == name),
            "there is no kind {name}"
        );
    }
    assert!(issubdtype(finfo(DType::F32).dtype, DTypeKind::Floating));
}

#[test]
fn the_table_is_complete() {
    let rows = DOCUMENT.lines().filter(|line| line.starts_with("| `"));
    assert!(rows.count() >= 430, "rows are missing");
    let named: Vec<&str> = DOCUMENT
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    // Names that are easily forgotten, from each end of the library.
    for name in [
        "einsum_path",
        "ufunc",
        "segment_sum",
        "softmax",
        "unique_values",
        "where",
        "zeros",
    ] {
        assert!(named.contains(&name), "{name} has no row");
    }
}
