//! Collectives over axes that `vmap` names, beside JAX, and where JAX has no
//! rule beside their definitions.

use ramie_core::lax::{
    Along, all_gather, all_gather_with, all_to_all, axis_index, axis_size, pbroadcast, pmax, pmean,
    pmin, ppermute, pshuffle, psum, psum_scatter, pswapaxes, pvary, ragged_all_to_all,
};
use ramie_core::options::VmapOptions;
use ramie_core::{
    Array, DType, array, concatenate, grad, jit, jvp, linear_transpose, linearize, make_jaxpr,
    tree, vjp, vmap_with,
};
use ramie_testing::apply::Operation;
use ramie_testing::golden::{Golden, Row};

fn named(name: &str) -> VmapOptions {
    VmapOptions {
        axis_name: Some(name.into()),
        ..VmapOptions::default()
    }
}

fn one(f: impl Fn(Array) -> Array + Send + Sync + Clone, x: &Array) -> Array {
    vmap_with(f, named("i"))(x.clone())
}

fn two(f: impl Fn(Array) -> Array + Send + Sync + Clone, x: &Array) -> Array {
    vmap_with(
        move |x: Array| vmap_with(f.clone(), named("j"))(x),
        named("i"),
    )(x.clone())
}

fn operation(row: &Row) -> Option<Box<Operation>> {
    let p = row.params.clone();
    let number = |name: &str| p[name].as_i64().unwrap_or(0) as isize;
    let (axis, split, concat) = (number("axis"), number("split"), number("concat"));
    let along = match p["tiled"].as_bool() {
        Some(true) => Along::Tiled,
        _ => Along::Stacked,
    };
    let several = p["axes"] == 2;
    let names = move || {
        if several {
            ramie_core::typing::AxisNames::from(["i", "j"])
        } else {
            "i".into()
        }
    };
    let list = |name: &str| -> Vec<Vec<usize>> {
        let items = p[name].as_array().cloned().unwrap_or_default();
        let numbers = |v: &serde_json::Value| match v.as_array() {
            Some(pair) => pair.iter().map(|n| n.as_u64().unwrap() as usize).collect(),
            None => vec![v.as_u64().unwrap() as usize],
        };
        items.iter().map(numbers).collect()
    };
    let pairs: Vec<(usize, usize)> = list("perm").iter().map(|p| (p[0], p[1])).collect();
    let sources: Vec<usize> = list("sources").concat();
    let op = row.op.clone();
    let f = move |x: Array| match op.as_str() {
        "psum" => psum(&x, names()),
        "pmean" => pmean(&x, names()),
        "pmax" => pmax(&x, names()),
        "pmin" => pmin(&x, names()),
        "axis_index" => &x * axis_index(names()),
        "all_gather" => all_gather_with(&x, names(), along(axis)),
        "psum_scatter" => psum_scatter(&x, names(), along(axis)),
        "all_to_all" => all_to_all(&x, names(), along(split), concat),
        "ppermute" => ppermute(&x, names(), &pairs),
        "pshuffle" => pshuffle(&x, names(), &sources),
        "pswapaxes" => pswapaxes(&x, names(), axis),
        other => panic!("no collective is called {other}"),
    };
    Some(Box::new(move |x| {
        if several {
            vec![two(f.clone(), &x[0])]
        } else {
            vec![one(f.clone(), &x[0])]
        }
    }))
}

#[test]
fn collectives_agree_with_jax() {
    let golden = Golden::open("collectives");
    let ops = golden.ops();
    assert_eq!(ops.len(), 11);
    ramie_testing::walk(golden, &ops, &operation);
}

fn numbers(shape: &[usize]) -> Array {
    let n = shape.iter().product();
    Array::iota(&[n], 0, DType::F32).reshape(shape)
}

#[test]
fn several_axes_at_once() {
    let x = numbers(&[2, 3, 4]);
    let all = two(|x| all_gather(&x, ["i", "j"]), &x);
    assert_eq!(all.shape(), [2, 3, 6, 4]);
    for i in 0..2 {
        for j in 0..3 {
            let seen = all.index((i, j)).to_vec::<f32>();
            assert_eq!(seen, x.to_vec::<f32>());
        }
    }
    let swapped = two(|x| all_gather(&x, ["j", "i"]), &x).index((0, 0));
    let order = x.transpose(&[1, 0, 2]).to_vec::<f32>();
    assert_eq!(swapped.to_vec::<f32>(), order);

    let x = numbers(&[2, 3, 6, 2]);
    let parts = two(|x| psum_scatter(&x, ["i", "j"], 0), &x);
    let sum = x.sum_over([0, 1]);
    assert_eq!(parts.shape(), [2, 3, 2]);
    assert_eq!(parts.to_vec::<f32>(), sum.to_vec::<f32>());

    let around: Vec<(usize, usize)> = (0..6).map(|k| (k, (k + 1) % 6)).collect();
    let x = numbers(&[2, 3]);
    let moved = two(move |x| ppermute(&x, ["i", "j"], &around), &x);
    assert_eq!(moved.to_vec::<f32>(), [5.0, 0.0, 1.0, 2.0, 3.0, 4.0]);
    let index = two(|x| &x * 0.0 + axis_index(["j", "i"]), &x);
    assert_eq!(index.to_vec::<f32>(), [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
}

#[test]
fn some_examples_send_nothing() {
    let x = array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let moved = one(|x| ppermute(&x, "i", &[(0, 2)]), &x);
    assert_eq!(moved.to_vec::<f32>(), [0.0, 0.0, 0.0, 0.0, 1.0, 2.0]);
    let first = one(|x| pbroadcast(&x, "i", 1), &x);
    assert_eq!(first.to_vec::<f32>(), [3.0, 4.0, 3.0, 4.0, 3.0, 4.0]);
}

#[test]
fn values_that_no_example_changes() {
    let x = array([1.0, 2.0, 3.0]);
    let f = |x: Array| psum(&Array::from(2.0f32), "i") + x * axis_size("i") as i32;
    assert_eq!(one(f, &x).to_vec::<f32>(), [9.0, 12.0, 15.0]);
    let f = |x: Array| all_gather(&Array::from(2.0f32), "i").sum() + x;
    assert_eq!(one(f, &x).to_vec::<f32>(), [7.0, 8.0, 9.0]);
}

#[test]
fn trees_and_nested_programs() {
    let options = VmapOptions {
        in_axes: [Some(0), None].into(),
        axis_name: Some("batch".into()),
        ..VmapOptions::default()
    };
    let normalise = |(x, y): (Array, Array), eps: Array| {
        let inner = jit(move |x: Array| {
            let mean = pmean(&x, "batch");
            let var = pmean(&(&x - &mean).square(), "batch");
            (x - mean) / var.sqrt()
        });
        (inner(x) + eps, psum(&(y.clone(), y), "batch").1)
    };
    let x = array([[1.0, 0.0], [3.0, 4.0]]);
    let y = array([1.0, 2.0]);
    let f = jit(vmap_with(normalise, options));
    let (out, sum) = f((x, y), Array::from(0.0f32));
    assert_eq!(out.to_vec::<f32>(), [-1.0, -1.0, 1.0, 1.0]);
    assert_eq!(sum.to_vec::<f32>(), [3.0, 3.0]);
}

#[test]
fn one_jitted_function_under_axes_of_different_sizes() {
    let total = jit(|x: Array| all_gather(&x, "i"));
    let f = |x: Array| vmap_with(|x: Array| total(x), named("i"))(x);
    assert_eq!(f(numbers(&[3])).shape(), [3, 3]);
    assert_eq!(f(numbers(&[2])).shape(), [2, 2]);
}

#[test]
fn gradients_inside_and_outside() {
    let x = array([1.0, 2.0, 3.0]);
    let inside = one(|x| grad(|x: Array| psum(&x.square(), "i"))(x), &x);
    assert_eq!(inside.to_vec::<f32>(), [6.0, 12.0, 18.0]);
    let outside = grad(|x: Array| one(|x| pmean(&x.square(), "i"), &x).sum())(x.clone());
    assert_eq!(outside.to_vec::<f32>(), [2.0, 4.0, 6.0]);
    // A shared parameter gets the sum of all examples' gradients.
    let shared = |x: Array| {
        let w = Array::from(3.0f32);
        grad(move |w: Array| pvary(&w, "i") * &x)(w)
    };
    assert_eq!(one(shared, &x).to_vec::<f32>(), [6.0, 6.0, 6.0]);
}

/// The composition of the shard_map document: a linear function of a function's
/// tangent, transposed, where one argument is shared.
#[test]
fn linearized_and_transposed_where_a_value_is_shared() {
    let f = |t: Array| {
        let p = Array::from(2.0f32);
        let (y, push) = linearize(move |p: Array| pvary(&p, "i").sin() * &t, p.clone());
        let forward = push(Array::from(1.0f32));
        let pull = linear_transpose(push, Array::from(0.0f32));
        (y, forward, pull(Array::from(1.0f32)))
    };
    let t = array([1.0, 10.0]);
    let (y, forward, back) = vmap_with(f, named("i"))(t);
    let (sin, cos) = (2.0f32.sin(), 2.0f32.cos());
    assert_eq!(y.to_vec::<f32>(), [sin, 10.0 * sin]);
    assert_eq!(forward.to_vec::<f32>(), [cos, 10.0 * cos]);
    let expected = 11.0 * cos;
    for got in back.to_vec::<f32>() {
        assert!((got - expected).abs() < 1e-5, "{got} is not {expected}");
    }
}

#[test]
fn what_is_printed() {
    let f = |x: Array| {
        make_jaxpr(|x: Array| {
            let n = axis_index("i");
            let g = all_gather(&x, "i");
            (
                pmean(&x, "i"),
                psum_scatter(&g, "i", 0) * n,
                all_to_all(&g, "i", 0, 1),
            )
        })(x.clone())
        .to_string()
    };
    let text = std::sync::Mutex::new(String::new());
    one(
        |x| {
            *text.lock().unwrap() = f(x.clone());
            x
        },
        &numbers(&[3, 2]),
    );
    let text = text.into_inner().unwrap();
    for part in [
        "i32[] = axis_index[axis_name=i]",
        "psum[axes=('i',) axis_index_groups=None]",
        "div",
        "3.0:f32[]",
        "all_gather[\n      all_gather_dimension=0\n      axis_index_groups=None\n      axis_name=('i',)\n      axis_size=3\n      tiled=False\n    ]",
        "reduce_scatter[\n      axis_index_groups=None\n      axis_name=('i',)\n      axis_size=3\n      scatter_dimension=0\n      tiled=False\n    ]",
        "all_to_all[\n      axis_index_groups=None\n      axis_name=i\n      concat_axis=2\n      split_axis=0\n      tiled=False\n    ]",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
#[should_panic(
    expected = "psum: no mapped axis is named `k` here: the mapped axes are `i` (size 2)"
)]
fn a_name_that_is_not_mapped() {
    one(|x| psum(&x, "k"), &numbers(&[2]));
}

#[test]
#[should_panic(expected = "psum: no mapped axis is named `i` here: no axis is mapped")]
fn a_collective_outside() {
    psum(&numbers(&[2]), "i");
}

#[test]
#[should_panic(expected = "pmax: has no derivative")]
fn the_greatest_is_not_differentiable() {
    one(|x| grad(|x: Array| pmax(&x, "i"))(x), &numbers(&[2]));
}

#[test]
#[should_panic(expected = "is not a permutation: an example sends or receives twice")]
fn two_values_for_one_example() {
    one(|x| ppermute(&x, "i", &[(0, 1), (2, 1)]), &numbers(&[3]));
}

#[test]
#[should_panic(expected = "expected the mapped axis size, 3")]
fn parts_that_do_not_fit() {
    one(|x| all_to_all(&x, "i", 0, 0), &numbers(&[3, 4]));
}

/// Runs of rows of 3 examples: to whom each sends how many of its rows, from
/// where, and where they land.
const SENT: [[i32; 3]; 3] = [[1, 2, 0], [0, 1, 2], [2, 0, 1]];
const FROM: [[i32; 3]; 3] = [[3, 0, 0], [0, 2, 0], [1, 0, 0]];
const TO: [[i32; 3]; 3] = [[4, 0, 0], [0, 3, 2], [1, 0, 0]];

fn exchange(x: &Array, out: &Array, several: bool) -> Array {
    let runs = |v: [[i32; 3]; 3]| Array::from(v);
    let received = runs(SENT).transpose(&[1, 0]);
    let body = move |(x, out): (Array, Array), from: Array, sent: Array, to: Array, got: Array| {
        let one = |x: Array, out: Array| ragged_all_to_all(&x, &out, &from, &sent, &to, &got, "i");
        if several {
            ramie_core::vmap(one)(x, out)
        } else {
            one(x, out)
        }
    };
    vmap_with(body, named("i"))(
        (x.clone(), out.clone()),
        runs(FROM),
        runs(SENT),
        runs(TO),
        received,
    )
}

/// The rows by their definition.
fn exchanged(x: &Array, out: &Array) -> Vec<f32> {
    let (x, mut out, width) = (x.to_vec::<f32>(), out.to_vec::<f32>(), 2);
    for s in 0..3 {
        for r in 0..3 {
            for k in 0..SENT[s][r] as usize {
                let from = (s * 4 + FROM[s][r] as usize + k) * width;
                let to = (r * 5 + TO[s][r] as usize + k) * width;
                out[to..to + width].copy_from_slice(&x[from..from + width]);
            }
        }
    }
    out
}

#[test]
fn runs_of_rows() {
    let (x, out) = (numbers(&[3, 4, 2]), -numbers(&[3, 5, 2]) - 1.0);
    assert_eq!(
        exchange(&x, &out, false).to_vec::<f32>(),
        exchanged(&x, &out)
    );
    // It is linear in both.
    type Two = (Array, Array);
    let f = |(x, out): Two| exchange(&x, &out, false);
    let tangents = (x.sin(), out.cos());
    let (_, dot) = jvp(f, (x.clone(), out.clone()), (x.sin(), out.cos()));
    assert_eq!(dot.to_vec::<f32>(), exchanged(&tangents.0, &tangents.1));
    // And its transpose is that of the linear map.
    let ct = (&out * 0.3).sin();
    let (_, pull) = vjp(f, (x.clone(), out.clone()));
    let (x_bar, out_bar) = pull(ct.clone());
    let inner = |a: &Array, b: &Array| (a * b).sum().item::<f32>();
    let forward = inner(&dot, &ct);
    let reverse = inner(&x_bar, &tangents.0) + inner(&out_bar, &tangents.1);
    assert!((forward - reverse).abs() < 1e-4, "{forward} {reverse}");
    // Batches of examples are exchanged together.
    let (xs, outs) = (x.reshape(&[3, 1, 4, 2]), out.reshape(&[3, 1, 5, 2]));
    let xs = concatenate(&[xs.clone(), &xs * 2.0], 1);
    let outs = concatenate(&[outs.clone(), &outs * 2.0], 1);
    let both = exchange(&xs, &outs, true);
    let second = both.index((.., 1)).to_vec::<f32>();
    assert_eq!(second, exchanged(&(x * 2.0), &(out * 2.0)));
}

#[test]
fn collectives_take_trees() {
    type Pair = (Array, Vec<Array>);
    let pair = |x: &Array| -> Pair { (x.clone(), vec![x * 2.0, x.expand_dims(&[0])]) };
    let on_pairs = |f: fn(&Pair) -> Pair| {
        let g = move |x: Array| f(&(x.clone(), vec![&x * 2.0, x.expand_dims(&[1])]));
        vmap_with(g, named("i"))(numbers(&[3, 3]))
    };
    let on_arrays = |f: fn(&Array) -> Array| {
        let g = move |x: Array| (f(&x), vec![f(&(&x * 2.0)), f(&x.expand_dims(&[1]))]);
        vmap_with(g, named("i"))(numbers(&[3, 3]))
    };
    let cases: [(fn(&Pair) -> Pair, fn(&Array) -> Array); 4] = [
        (|x| all_gather(x, "i"), |x| all_gather(x, "i")),
        (
            |x| all_gather_with(x, "i", Along::Tiled(0)),
            |x| all_gather_with(x, "i", Along::Tiled(0)),
        ),
        (|x| psum_scatter(x, "i", 0), |x| psum_scatter(x, "i", 0)),
        (|x| all_to_all(x, "i", 0, 0), |x| all_to_all(x, "i", 0, 0)),
    ];
    for (i, (of_pairs, of_arrays)) in cases.into_iter().enumerate() {
        let (got, want) = (on_pairs(of_pairs), on_arrays(of_arrays));
        for (got, want) in tree::leaves(&got).iter().zip(tree::leaves(&want)) {
            assert_eq!(got.shape(), want.shape(), "case {i}");
            assert_eq!(got.to_vec::<f32>(), want.to_vec::<f32>(), "case {i}");
        }
    }
    let swapped = vmap_with(move |x: Array| pswapaxes(&pair(&x).0, "i", 0), named("i"));
    assert_eq!(
        swapped(numbers(&[3, 3])).to_vec::<f32>(),
        numbers(&[3, 3]).t().to_vec::<f32>()
    );
}
