//! Derivatives as JAX gives them: at the edges of definitions, of whole
//! functions, and by rules.

use ramie_core::extend::bind1;
use ramie_core::options::CheckpointOptions;
use ramie_core::prim::elementwise::{IgammaGradA, Rem};
use ramie_core::{
    Array, CheckpointPolicy, checkpoint_name, checkpoint_with, custom_jvp, custom_vjp, grad,
    hessian, hvp, jacfwd, jacrev, vmap_with, where_,
};
use ramie_testing::apply::Operation;
use ramie_testing::check::{self, Failures};
use ramie_testing::golden::{Golden, Row};
use ramie_testing::plan::Batches;
use std::collections::BTreeSet;
use std::sync::LazyLock;

type Pair = (Array, Array);
type F2 = Box<dyn Fn(Array, Array) -> Array + Send + Sync>;

fn unary(f: impl Fn(&Array) -> Array + Send + Sync + 'static) -> Option<Box<Operation>> {
    Some(Box::new(move |x| vec![f(&x[0])]))
}

fn binary(f: impl Fn(&Array, &Array) -> Array + Send + Sync + 'static) -> Option<Box<Operation>> {
    Some(Box::new(move |x| vec![f(&x[0], &x[1])]))
}

fn edge(row: &Row) -> Option<Box<Operation>> {
    match row.op.as_str() {
        "abs" => unary(Array::abs),
        "relu" => unary(Array::relu),
        "relu6" => unary(Array::relu6),
        "leaky_relu" => unary(|x| x.leaky_relu(0.01)),
        "elu" => unary(|x| x.elu(1.0)),
        "selu" => unary(Array::selu),
        "celu" => unary(|x| x.celu(1.0)),
        "silu" => unary(Array::swish),
        "softplus" => unary(Array::softplus),
        "log_sigmoid" => unary(Array::log_sigmoid),
        "hard_tanh" => unary(Array::hard_tanh),
        "sqrt" => unary(Array::sqrt),
        "rsqrt" => unary(Array::rsqrt),
        "cbrt" => unary(Array::cbrt),
        "log" => unary(Array::log),
        "log1p" => unary(Array::log1p),
        "expm1" => unary(Array::expm1),
        "asin" => unary(Array::asin),
        "acos" => unary(Array::acos),
        "acosh" => unary(Array::acosh),
        "atanh" => unary(Array::atanh),
        "sign" => unary(Array::sign),
        "floor" => unary(Array::floor),
        "tanh" => unary(Array::tanh),
        "logistic" => unary(Array::sigmoid),
        "square" => unary(Array::square),
        "reciprocal" => unary(Array::reciprocal),
        "clip" => unary(|x| x.clip(-1.0, 1.0)),
        "sqrt_where" => unary(|x| where_(x.gt(0), x.sqrt(), 0.0)),
        "sqrt_safe" => unary(|x| {
            let positive = x.gt(0);
            where_(&positive, where_(&positive, x, 1.0).sqrt(), 0.0)
        }),
        "erf_inv" => unary(Array::erf_inv),
        "lgamma" => unary(Array::lgamma),
        "cube" => unary(|x| x.power(3)),
        "inverse" => unary(|x| x.power(-1)),
        "maximum" => binary(|a, b| a.maximum(b)),
        "minimum" => binary(|a, b| a.minimum(b)),
        "pow" => binary(|a, b| a.power(b)),
        "atan2" => binary(|a, b| a.arctan2(b)),
        "logaddexp" => binary(|a, b| a.logaddexp(b)),
        "hypot" => binary(|a, b| a.hypot(b)),
        "div" => binary(|a, b| a / b),
        "rem" => binary(|a, b| bind1(Rem, &[a, b])),
        "max" => unary(Array::max),
        "min" => unary(Array::min),
        "prod" => unary(Array::prod),
        "norm" => unary(Array::norm),
        "std" => unary(Array::std),
        "var" => unary(Array::var),
        "logsumexp" => unary(|x| x.logsumexp(-1)),
        "softmax" => unary(|x| x.softmax(-1)),
        "log_softmax" => unary(|x| x.log_softmax(-1)),
        "sort" => unary(|x| x.sort(-1)),
        "cummax" => unary(|x| x.cummax(0)),
        "cumprod" => unary(|x| x.cumprod(0)),
        _ => None,
    }
}

fn mixed(x: Array, y: Array) -> Pair {
    (x.sin() * y.sum(), x.matmul(&y))
}

fn pair(x: &[Array]) -> Pair {
    (x[0].clone(), x[1].clone())
}

fn list((a, b): Pair) -> Vec<Array> {
    vec![a, b]
}

fn blocks(((a, b), (c, d)): (Pair, Pair)) -> Vec<Array> {
    vec![a, b, c, d]
}

fn jacobian(row: &Row) -> Option<Box<Operation>> {
    let square = |x: Array| x.sin() * x;
    let outer = |x: Array, y: Array| {
        let first = x.take(&Array::from(0), 0);
        x.expand_dims(&[1]) * (y * first)
    };
    let of_tree = |(x, y): Pair| mixed(x, y);
    let waves = |x: Array| (x.sin() * x.square()).sum();
    let net = |(w, x): Pair| w.matmul(&x).tanh().sum();
    match row.op.as_str() {
        "jacfwd_square" => unary(move |x| jacfwd(square)(x.clone())),
        "jacrev_square" => unary(move |x| jacrev(square)(x.clone())),
        "jacfwd_outer" => binary(move |x, y| jacfwd(outer)(x.clone(), y.clone())),
        "jacrev_outer" => binary(move |x, y| jacrev(outer)(x.clone(), y.clone())),
        "jacfwd_tuple" => Some(Box::new(|x| {
            list(jacfwd(mixed)(x[0].clone(), x[1].clone()))
        })),
        "jacrev_tuple" => Some(Box::new(|x| {
            list(jacrev(mixed)(x[0].clone(), x[1].clone()))
        })),
        "jacfwd_tree" => Some(Box::new(move |x| blocks(jacfwd(of_tree)(pair(x))))),
        "jacrev_tree" => Some(Box::new(move |x| blocks(jacrev(of_tree)(pair(x))))),
        "hessian" => unary(move |x| hessian(waves)(x.clone())),
        "hessian_tree" => Some(Box::new(move |x| blocks(hessian(net)(pair(x))))),
        "hvp" => binary(move |x, v| hvp(waves, x.clone(), v.clone())),
        _ => None,
    }
}

fn f(x: Array, y: Array) -> Array {
    x.sin() * y
}

/// Its rule applies the function with the rule, as the recorded one does.
static BY_JVP: LazyLock<F2> = LazyLock::new(|| {
    custom_jvp(f, |(x, y): Pair, (dx, dy): Pair| {
        let dot = (x.cos() * dx * &y + x.sin() * dy) * 3.0;
        (BY_JVP(x, y), dot)
    })
});

static BY_VJP: LazyLock<F2> = LazyLock::new(|| {
    custom_vjp(
        f,
        |(x, y): Pair| {
            let kept = (x.cos(), x.sin(), y.clone());
            (f(x, y), kept)
        },
        |(cos, sin, y): (Array, Array, Array), ct: Array| {
            (cos * y * &ct * 3.0, (sin * ct).sum() * 3.0)
        },
    )
});

fn by_rule(name: &str) -> &'static F2 {
    if name.starts_with("custom_jvp") {
        &BY_JVP
    } else {
        &BY_VJP
    }
}

fn rule(row: &Row) -> Option<Box<Operation>> {
    let shared = [Some(0), None];
    match row.op.as_str() {
        "custom_jvp_grad" | "custom_vjp_grad" => {
            let f = by_rule(&row.op);
            let both = grad(move |(x, y): (Array, Array)| f(x, y).sum());
            Some(Box::new(move |x| list(both((x[0].clone(), x[1].clone())))))
        }
        "custom_jvp_vmap" | "custom_vjp_vmap" => {
            let f = by_rule(&row.op);
            let batched = vmap_with(move |x: Array, y: Array| f(x, y), shared);
            let both = grad(move |(x, y): (Array, Array)| batched(x, y).square().sum());
            Some(Box::new(move |x| list(both((x[0].clone(), x[1].clone())))))
        }
        "custom_jvp_nested" | "custom_vjp_nested" => {
            let f = by_rule(&row.op);
            let batched = vmap_with(move |x: Array, y: Array| f(x, y), shared);
            let batched = vmap_with(move |x: Array, y: Array| batched(x, y), shared);
            let both = grad(move |(x, y): (Array, Array)| batched(x, y).sum());
            Some(Box::new(move |x| list(both((x[0].clone(), x[1].clone())))))
        }
        "checkpoint" => {
            let policy = match row.params["policy"].as_str()? {
                "nothing" => None,
                "everything" => Some(CheckpointPolicy::everything_saveable()),
                "dots" => Some(CheckpointPolicy::dots_saveable()),
                "named" => Some(CheckpointPolicy::save_only_these_names(["hidden"])),
                _ => return None,
            };
            let layers = |w: Array, x: Array| {
                let hidden = checkpoint_name(w.matmul(&x).tanh(), "hidden");
                w.matmul(&hidden).tanh().sum()
            };
            let options = CheckpointOptions {
                policy,
                ..Default::default()
            };
            let f = checkpoint_with(layers, options);
            let both = grad(move |(w, x): (Array, Array)| f(w, x));
            Some(Box::new(move |x| list(both((x[0].clone(), x[1].clone())))))
        }
        _ => None,
    }
}

fn apply(row: &Row) -> Option<Box<Operation>> {
    match row.case.as_str() {
        "edge" => edge(row),
        "jacobian" => jacobian(row),
        _ => rule(row),
    }
}

#[test]
fn derivatives_agree_with_jax() {
    let golden = Golden::open("custom");
    let ops = golden.ops();
    assert!(ops.len() > 60);
    let mut failures = Failures::default();
    let mut cases = ramie_testing::recorded(golden, &ops, &apply, &mut failures);
    let mut seen = BTreeSet::new();
    for case in &mut cases {
        // Rules of batches do not look at the points: one row of each is enough.
        if !seen.insert(case.op.clone()) {
            case.batches = Batches::None;
        }
    }
    check::cases(&cases, &mut failures);
    failures.finish();
}

#[test]
#[should_panic(expected = "jacrev: the result at `1` is i32[3], which is not floating-point")]
fn jacobians_are_of_floats() {
    jacrev(|x: Array| (x.sin(), x.astype(ramie_core::DType::I32)))(Array::from([1.0f32, 2.0, 3.0]));
}

/// Derivatives of sin(πx)/(πx) at zero, where the quotient has none, as JAX
/// gives them up to the fourth.
#[test]
fn sinc_is_smooth_at_zero() {
    type F = Box<dyn Fn(Array) -> Array + Send + Sync>;
    let mut f: F = Box::new(|x: Array| x.sinc());
    for want in [1.0f32, 0.0, -3.289_868_4, 0.0, 19.481_82] {
        let got = f(Array::from(0.0f32)).item::<f32>();
        assert!((got - want).abs() <= 1e-5 * want.abs(), "{got} {want}");
        let lower = f;
        f = grad(move |x: Array| lower(x));
    }
}

#[test]
#[should_panic(expected = "igamma_grad_a: has no derivative, but is on the path of a gradient")]
fn what_has_no_derivative_says_so() {
    grad(|x: Array| bind1(IgammaGradA, &[&x, &Array::from(1.0f32)]))(Array::from(0.5f32));
}
