//! Functions of real numbers refuse complex ones by name, without advice that
//! loses the imaginary part; and every method of `Array` is compared with JAX,
//! refused or takes elements as they are.

use ramie_core::numpy::{BitOrder, BoundsMode, Interpolation, ravel_multi_index};
use ramie_core::options::{Exact, Quantile, Reduction};
use ramie_core::prim::elementwise::{Clamp, Class, elementwise_table};
use ramie_core::{Array, DType, image, jacfwd, jacrev, random, stats};
use ramie_testing::{caught, panic_message};

type Refused = (&'static str, fn(&Array));

macro_rules! refused {
    ({ $($unary:ident)* } { $($binary:ident)* } { $($name:literal |$x:ident| $call:expr;)* }) => {
        const REFUSED: &[Refused] = &[
            $((stringify!($unary), |x| drop(x.$unary())),)*
            $((stringify!($binary), |x| drop(x.$binary(x))),)*
            $(($name, |$x| drop($call)),)*
        ];
    };
}

const SHAPE: &[usize] = &[3];

fn key() -> random::Key {
    random::key(0)
}

refused! { {
    fabs floor ceil trunc cbrt signbit modf frexp spacing bitwise_count bitwise_not is_pos_inf is_neg_inf
    erf erfc erf_inv digamma lgamma gammaln loggamma gammasgn gamma factorial erfcx i0 i1 i0e i1e ndtr
    log_ndtr ndtri entr sparse_sigmoid median nanmedian bincount population_count
    count_leading_zeros
} {
    remainder fmod divmod floor_divide heaviside copysign hypot nextafter gcd lcm bitwise_and bitwise_or
    bitwise_xor left_shift right_shift betaln beta comb rel_entr kl_div gammainc gammaincc igamma
    igammac polygamma zeta
} {
    "gelu_with" |x| x.gelu_with(Exact);
    "remainder" |x| x % x;
    "remainder" |x| x % num_complex::Complex::<f32>::i();
    "rem" |x| x.lax_rem(x);
    "argmax" |x| x.argmax(0);
    "argmin" |x| x.argmin(0);
    "nanargmax" |x| x.nanargmax(0);
    "nanargmin" |x| x.nanargmin(0);
    "top_k" |x| x.top_k(1);
    "approx_max_k" |x| x.approx_max_k(1, 0);
    "approx_min_k" |x| x.approx_min_k(1, 0);
    "partition" |x| x.partition(1, 0);
    "argpartition" |x| x.argpartition(1, 0);
    "clip" |x| x.clip(0, 1);
    "clip" |x| x.real().clip(x, 1);
    "ldexp" |x| x.ldexp(1);
    "round" |x| x.round_with(ramie_core::prim::elementwise::RoundingMethod::AwayFromZero);
    "multigammaln" |x| x.multigammaln(2);
    "quantile" |x| x.quantile(0.5);
    "quantile" |x| x.real().quantile(x);
    "quantile" |x| x.quantile_over(0.5, Quantile::all());
    "percentile" |x| x.percentile(50);
    "nanquantile" |x| x.nanquantile(0.5);
    "nanpercentile" |x| x.nanpercentile(50);
    "median" |x| x.median_over(0);
    "median" |x| x.median_over(Reduction::over(0).keepdims());
    "standardize" |x| x.standardize(&[0], 1e-5);
    "var" |x| x.var_over(Reduction::all().dtype(DType::F32));
    "nanvar" |x| x.nanvar_over(Reduction::all().dtype(DType::F32));
    "bincount" |x| x.bincount_sized(3);
    "one_hot" |x| x.one_hot(3, DType::F32);
    "packbits" |x| x.packbits(0, BitOrder::Big);
    "unpackbits" |x| x.unpackbits(0, BitOrder::Big);
    "choose" |x| x.choose(&[x], BoundsMode::Clip);
    "unravel_index" |x| x.unravel_index(&[3]);
    "ravel_multi_index" |x| ravel_multi_index(std::slice::from_ref(x), &[3], BoundsMode::Clip);
    "unwrap_phase" |x| x.unwrap_phase(1.0, 0);
    "interp" |x| x.interp(&x.real(), x);
    "interp" |x| Interpolation::new().of(&x.real(), x, x);
    "shift_right_arithmetic" |x| x.right_shift_arithmetic(x);
    "shift_right_logical" |x| x.right_shift_logical(x);
    "reduce_precision" |x| x.reduce_precision(8, 7);
    "reduce_and" |x| x.reduce_and(&[0]);
    "reduce_or" |x| x.reduce_or(&[0]);
    "reduce_xor" |x| x.reduce_xor(&[0]);
    "to_vec" |x| x.to_vec::<f32>();
    "at(…).set" |x| x.real().at(0).set(num_complex::Complex::<f32>::i());
    "complex" |x| ramie_core::numpy::complex(x, 0.0);
    "stats" |x| stats::norm::logpdf(x, 0.0, 1.0);
    "stats" |x| stats::uniform::pdf(&x.real(), x, 1.0);
    "jacfwd" |x| jacfwd(|x: Array| x.abs())(x.clone());
    "jacrev" |x| jacrev(|x: Array| x)(x.clone());
    "grad" |x| ramie_core::grad(|x: Array| x.sum())(x.clone());
    "grad_with" |x| ramie_core::grad_with(|x: Array| x.sum(), ramie_core::options::Holomorphic)(x.real());
    "jacrev" |x| ramie_core::jacrev_with(|x: Array| x.abs(), ramie_core::options::Holomorphic)(x.clone());
    "uniform" |x| random::uniform(&key(), SHAPE, x.dtype());
    "uniform" |x| random::uniform_range(&key(), SHAPE, DType::F32, x, 1.0);
    "truncated_normal" |x| random::truncated_normal(&key(), x, 1.0, SHAPE, DType::F32);
    "gamma" |x| random::gamma(&key(), x, SHAPE, DType::F32);
    "dirichlet" |x| random::dirichlet(&key(), x, &[], DType::F32);
    "ball" |x| random::ball(&key(), 2, 2.0, SHAPE, x.dtype());
    "exponential" |x| random::exponential(&key(), SHAPE, x.dtype());
    "gumbel" |x| random::gumbel(&key(), SHAPE, x.dtype());
    "multivariate_normal" |x| random::multivariate_normal(
        &key(), x, &Array::eye(3, DType::F32), &[], DType::F32, random::CovarianceRoot::Cholesky);
    "bernoulli" |x| random::bernoulli(&key(), x, SHAPE);
    "geometric" |x| random::geometric(&key(), x, SHAPE, DType::I32);
    "poisson" |x| random::poisson(&key(), x, SHAPE, DType::I32);
    "binomial" |x| random::binomial(&key(), 3, x, SHAPE, DType::F32);
    "categorical" |x| random::categorical(&key(), x, 0);
    "wald" |x| random::wald(&key(), x, SHAPE, DType::F32);
    "clamp" |x| ramie_core::extend::bind1(Clamp, &[x, x, x]);
    "bitcast_convert_type" |x| x.bitcast_convert_type(DType::U64);
    "fft" |x| ramie_core::fft::rfft(x);
    "randint" |x| random::randint(&key(), SHAPE, x, 5, DType::I32);
} }

#[test]
fn functions_of_real_numbers_refuse_complex_ones_by_name() {
    let mut wrong = Vec::new();
    for dtype in [DType::C64, DType::C128] {
        let x = Array::ones(SHAPE, dtype);
        for (name, f) in REFUSED {
            match caught(|| f(&x)) {
                Ok(()) => wrong.push(format!("{name} takes {dtype}")),
                Err(text) => {
                    // Primitives have JAX's names.
                    let shown = name
                        .replace("bitwise_", "")
                        .replace("left_shift", "shift_left");
                    let shown = match shown.as_str() {
                        "right_shift" => "shift_right".to_string(),
                        "count_leading_zeros" => "clz".into(),
                        other => other.into(),
                    };
                    let named = text.starts_with(name)
                        || text.starts_with(&shown)
                        || text.contains(&format!("{name}: "));
                    let lossy = ["F32", "F64", "I32", "F16"].map(|d| format!("astype(DType::{d})"));
                    if !named || lossy.iter().any(|hint| text.contains(hint)) {
                        wrong.push(format!("{name} of {dtype}: {text}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Methods that move elements, look at types only, or are those of other tests.
const OPAQUE: &[&str] = &[
    // Types and values.
    "aval same shape dtype ndim dims size nbytes itemsize is_tracer block_until_ready is_ready free \
     is_deleted device devices sharding is_fully_addressable \
     addressable_shards addressable_bytes host_shards try_to_bytes try_to_vec to_vec item \
     try_to_ndarray to_ndarray astype stop_gradient",
    // Places of elements.
    "zeros_like ones_like full_like tril triu diagonal diag diagflat diagonal_with fill_diagonal \
     put place index at take take_with repeat_sized take_along_axis \
     take_along_axis_with put_along_axis append delete insert resize at_least_1d at_least_2d \
     at_least_3d broadcast broadcast_like broadcast_to_rank collapse index_in_dim \
     dynamic_index_in_dim dynamic_update_index_in_dim index_take array_split hsplit vsplit dsplit \
     flipud fliplr rot90 roll_dynamic move_axes roll_axis matrix_transpose apply_along_axis \
     unstack roll repeat tile dynamic_slice dynamic_slice_in_dim dynamic_update_slice \
     dynamic_update_slice_in_dim dynamic_slice_with dynamic_slice_in_dim_with \
     dynamic_index_in_dim_with dynamic_update_slice_with dynamic_update_slice_in_dim_with \
     dynamic_update_index_in_dim_with gather broadcast_in_dim broadcast_in_dim_with broadcast_to \
     broadcast_to_with broadcast_with expand_dims lax_pad pad reshape reshape_with full_like_with flatten \
     squeeze slice slice_with slice_in_dim split_sizes split transpose t move_axis swap_axes \
     bitcast_convert_type",
    // Where elements are true or equal.
    "nonzero_sized flatnonzero flatnonzero_sized argwhere argwhere_sized extract_sized compress \
     compress_sized unique_counts unique_inverse unique_all unique_values",
    // Other forms of compared functions.
    "diff_with gradients gradient_with trapezoid_with sort_with argsort_with logsumexp_with isclose_with \
     allclose_with array_equal_with nan_to_num_with glu_by cumulative_sum cumulative_sum_with cumulative_prod cumulative_prod_with \
     digitize_with one_hot_with average_and_weight sort_key_val reduce_window reduce polyfit \
     polysub subtract approx_min_k approx_max_k bincount_sized round_with logsumexp_signed \
     pad_with pad_constants median top_k_with trace_with mul_with",
    // Products, compared in `complex.json` or made of the compared ones.
    "matmul matmul_with dot_with tensordot_with inner_with vdot_with vecdot_with tensordot \
     batch_matmul batch_matmul_with dot_general dot_general_with scaled_dot scaled_dot_with ragged_dot ragged_dot_general trace \
     scatter real imag conj angle lax_pow integer_pow",
    // Of integers of 32 bits.
    "mulhi bincount_with",
];

/// Names of the methods that the source of `ramie-core` spells out.
fn methods() -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![std::path::PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src"
    ))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("source text");
            for block in text.split("\nimpl Array {\n").skip(1) {
                let block = block.split("\n}\n").next().unwrap_or(block);
                let heads = block.split("\n    pub fn ").skip(1);
                let of_self = heads.filter(|head| {
                    let arguments = head.split_once('(').map_or("", |(_, rest)| rest);
                    arguments.trim_start().starts_with("&self")
                });
                let name = |head: &str| head.split(['(', '<']).next().map(String::from);
                found.extend(of_self.filter_map(name));
            }
        }
    }
    found
}

#[test]
fn every_method_is_compared_refused_or_takes_elements_as_they_are() {
    let methods = methods();
    assert!(methods.len() > 200, "{} methods", methods.len());
    let compared: Vec<&str> = super::functions::names().collect();
    let known = |name: &str| {
        let prefixed = |own: &&str| *own == name || own.starts_with(&format!("{name}_"));
        compared.iter().any(prefixed)
            || OPAQUE
                .iter()
                .any(|names| names.split_whitespace().any(|own| own == name))
            || REFUSED.iter().any(|(own, _)| *own == name)
    };
    let missing: Vec<&String> = methods.iter().filter(|name| !known(name)).collect();
    assert!(
        missing.is_empty(),
        "compare these with JAX in tests/golden/complex_functions.py, or refuse complex numbers: \
         {missing:?}"
    );
    for row in elementwise_table().filter(|row| row.class == Class::Float) {
        let operands = [(); 3].map(|()| Array::ones(SHAPE, DType::C64));
        let message = panic_message(|| drop((row.apply)(&operands)));
        assert!(message.contains(".real()"), "{}", row.name);
    }
}

#[test]
fn keys_have_no_gradient() {
    let text = panic_message(|| ramie_core::grad(|_: random::Key| Array::from(1.0f32))(key()));
    assert!(
        text.contains("is a PRNG key") && !text.contains("astype"),
        "{text}"
    );
    let image = image::resize(
        &Array::ones(SHAPE, DType::C128),
        &[6],
        image::ResizeMethod::Cubic,
    );
    assert_eq!(image.dtype(), DType::C128);
}
