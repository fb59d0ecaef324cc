//! Functions that each device of a mesh runs for its part: nested in each other
//! and in all transformations, they give what one device gives; and what types
//! say about where values may differ.

use crate::mesh;
use ramie_core::lax::{
    Along, PcastTo, all_gather_invariant, axis_index, axis_size, cond, fori_loop, pcast, pmax,
    pmean, psum, pvary, ragged_all_to_all, scan, while_loop,
};
use ramie_core::options::{CheckpointOptions, ShardMapOptions, VmapOptions};
use ramie_core::sharding::{Specs, type_of, with_mesh};
use ramie_core::*;
use ramie_testing::{is_linked, panic_message};
use std::sync::atomic::{AtomicUsize, Ordering};

fn numbers(shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    Array::from_vec((0..n).map(|i| (i as f32 * 0.7).sin()).collect(), shape)
}

fn options(in_specs: impl Into<Specs>, out_specs: impl Into<Specs>) -> ShardMapOptions {
    ShardMapOptions {
        mesh: Some(mesh()),
        ..ShardMapOptions::new(in_specs, out_specs)
    }
}

type One = Box<dyn Fn(Array) -> Array + Send + Sync>;
type Two = Box<dyn Fn(Array, Array) -> Array + Send + Sync>;

#[track_caller]
fn same(got: &Array, want: &Array) {
    assert_eq!(got.shape(), want.shape());
    let (got, want) = (got.to_vec::<f32>(), want.to_vec::<f32>());
    let largest = want.iter().fold(1.0, |m: f32, w| m.max(w.abs()));
    for (g, w) in got.iter().zip(&want) {
        assert!((g - w).abs() <= 1e-5 * largest, "{got:?}\n{want:?}");
    }
}

/// Values, gradients, gradients of batches and batches of gradients are those of
/// the function of one device; and so they are jitted.
#[track_caller]
fn check(f: &Two, plain: &Two, x: &Array, w: &Array) {
    same(&f(x.clone(), w.clone()), &plain(x.clone(), w.clone()));
    let staged = jit(|x: Array, w: Array| f(x, w));
    same(&staged(x.clone(), w.clone()), &plain(x.clone(), w.clone()));
    type Pair = (Array, Array);
    let gradients = |f: &Two| {
        let loss = |(x, w): Pair| f(x, w).square().sum();
        jit(grad(loss))((x.clone(), w.clone()))
    };
    let (got, want) = (gradients(f), gradients(plain));
    same(&got.0, &want.0);
    same(&got.1, &want.1);
    let second = |f: &Two| {
        let loss = |w: Array| f(x.clone(), w).square().sum();
        let slope = |w: Array| jvp(grad(&loss), w.clone(), w.cos()).1;
        jit(slope)(w.clone())
    };
    same(&second(f), &second(plain));
    let batched = |f: &Two| {
        let loss = |(x, w): Pair| f(x, w).square().sum();
        let each = vmap(grad(loss));
        let xs = stack(&[x.clone(), x.cos(), x * 2.0], 0);
        let ws = stack(&[w.clone(), w.cos(), w * 2.0], 0);
        jit(|p: Pair| each(p))((xs, ws))
    };
    let (got, want) = (batched(f), batched(plain));
    same(&got.0, &want.0);
    same(&got.1, &want.1);
}

fn dense(x: &Array, w: &Array) -> Array {
    (x * w).sin()
}

#[test]
fn types_say_what_varies() {
    let types = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = types.clone();
    let body = move |x: Array, w: Array| {
        let mut seen = seen.lock().unwrap();
        for a in [&x, &w, &(&x + &w), &psum(&x, "x"), &psum(&x, ["x", "y"])] {
            seen.push(type_of(a).to_string());
        }
        seen.push(format!("{:#}", type_of(&axis_index("y"))));
        x * w
    };
    shard_map(body, mesh(), [P!["x", "y"], P![None, "y"]], P!["x", "y"])(
        numbers(&[8, 4]),
        numbers(&[2, 4]),
    );
    let types = types.lock().unwrap();
    let want = [
        "f32[2,2]{V:(x,y)}",
        "f32[2,2]{V:y}",
        "f32[2,2]{V:(x,y)}",
        "f32[2,2]{V:y}",
        "f32[2,2]",
        "int32[]{V:y}",
    ];
    assert_eq!(types[..], want);
}

#[test]
fn one_axis_of_two_is_manual() {
    let f: Two = shard_map_with(
        |x: Array, w: Array| {
            assert_eq!(x.shape(), [2, 4]);
            let place = axis_index("x").astype(DType::F32);
            dense(&x, &w) + psum(&x.sum(), "x") * (place + 1)
        },
        ShardMapOptions {
            axis_names: Some("x".into()),
            ..options([P!["x"], P![]], P!["x"])
        },
    );
    let plain: Two = Box::new(|x, w| {
        let place = Array::iota(&[4, 2, 1], 0, DType::F32).reshape(&[8, 1]);
        dense(&x, &w) + x.sum() * (place + 1)
    });
    check(&f, &plain, &numbers(&[8, 4]), &numbers(&[4]));
}

#[test]
fn the_rest_of_the_axes_inside() {
    let inner = |x: Array, w: Array| {
        let options = ShardMapOptions {
            axis_names: Some("y".into()),
            ..ShardMapOptions::new([P![None, "y"], P!["y"]], P![None, "y"])
        };
        let body = |x: Array, w: Array| {
            assert_eq!((x.shape(), w.shape()), (&[2, 2][..], &[2][..]));
            dense(&x, &w) * psum(&w.sum(), "y") + psum(&x, "x").mean()
        };
        shard_map_with(body, options)(x, w)
    };
    let f: Two = shard_map_with(
        move |x: Array, w: Array| inner(x.cos(), w) * pmean(&x, "x"),
        ShardMapOptions {
            axis_names: Some("x".into()),
            ..options([P!["x"], P![]], P!["x"])
        },
    );
    let plain: Two = Box::new(|x, w| {
        let cos = x.cos();
        let over = |x: &Array| x.reshape(&[4, 2, 4]).sum_over(0);
        let means = over(&cos).reshape(&[2, 2, 2]).mean_over([0, 2]);
        let means = means.reshape(&[2, 1]).broadcast_to(&[2, 2]).reshape(&[4]);
        let y = dense(&cos, &w) * w.sum() + means;
        let mean = (over(&x) / 4).broadcast_to(&[4, 2, 4]).reshape(&[8, 4]);
        y * mean
    });
    check(&f, &plain, &numbers(&[8, 4]), &numbers(&[4]));
}

#[test]
fn control_flow_inside() {
    let body = |x: Array, w: Array| {
        let start = pvary(&Array::zeros(&[], DType::F32), ["x", "y"]);
        let step = |c: Array, row: Array| {
            let c = cond(row.sum().gt(0.0), |c: Array| c * 0.5, |c| c.sin(), c);
            (&c + (&row * &w).sum(), c)
        };
        let (last, all) = scan(step, start, x.clone());
        let doubled = fori_loop(0, 3, |_, c: Array| &c * 1.5 + psum(&c, "y"), last);
        all.expand_dims(&[1]) * &x + doubled
    };
    let f: Two = shard_map(body, mesh(), [P![("x", "y")], P![]], P![("x", "y")]);
    let plain: Two = Box::new(|x, w| {
        let part = |x: Array| {
            let start = Array::zeros(&[], DType::F32);
            let step = |c: Array, row: Array| {
                let c = where_(row.sum().gt(0.0), &c * 0.5, c.sin());
                (&c + (&row * &w).sum(), c)
            };
            scan(step, start, x)
        };
        let parts = x.reshape(&[8, 2, 3]);
        let (last, all) = vmap(part)(parts.clone());
        let mut c = last.reshape(&[4, 2]);
        for _ in 0..3 {
            c = &c * 1.5 + c.sum_over(1).expand_dims(&[1]);
        }
        let y = all.expand_dims(&[2]) * parts + c.reshape(&[8, 1, 1]);
        y.reshape(&[16, 3])
    });
    check(&f, &plain, &numbers(&[16, 3]), &numbers(&[3]));
}

#[test]
fn checkpoints_inside_and_outside() {
    let layer = |x: Array, w: Array| psum(&dense(&x, &w), "y").tanh();
    let plain: Two = Box::new(|x, w| {
        let y = dense(&x, &w).reshape(&[8, 2, 2]).sum_over(1);
        y.tanh()
    });
    let (x, w) = (numbers(&[8, 4]), numbers(&[4]));
    let specs = || options([P!["x", "y"], P!["y"]], P!["x"]);
    let inside: Two = shard_map_with(move |x, w| checkpoint(layer)(x, w), specs());
    check(&inside, &plain, &x, &w);
    let f: Two = shard_map_with(layer, specs());
    let outside: Two = Box::new(move |x, w| checkpoint(|x: Array, w: Array| f(x, w))(x, w));
    check(&outside, &plain, &x, &w);
    let f: Two = shard_map_with(
        move |x: Array, w: Array| layer(checkpoint_name(x.sin(), "kept"), w),
        specs(),
    );
    let policies = CheckpointOptions {
        policy: Some(CheckpointPolicy::save_only_these_names(["kept"])),
        ..CheckpointOptions::default()
    };
    let kept: Two = checkpoint_with(move |x: Array, w: Array| f(x, w), policies);
    let plain: Two = Box::new(move |x, w| plain(x.sin(), w));
    check(&kept, &plain, &x, &w);
}

#[test]
fn derivatives_of_ones_own_inside() {
    let clipped = custom_vjp(
        |x: Array| x.sin(),
        |x: Array| (x.sin(), x),
        |x: Array, ct: Array| ct * x.cos() * 0.5,
    );
    let halved = custom_jvp(
        |x: Array| x.cos(),
        |x: Array, t: Array| (x.cos(), -t * x.sin() * 0.5),
    );
    let f: Two = shard_map(
        move |x: Array, w: Array| {
            let wide = pvary(&w, "x");
            clipped(&x * &wide) + halved(wide)
        },
        mesh(),
        [P!["x", "y"], P!["y"]],
        P!["x", "y"],
    );
    let (x, w) = (numbers(&[8, 4]), numbers(&[4]));
    same(&f(x.clone(), w.clone()), &((&x * &w).sin() + w.cos()));
    let got = grad(|w: Array| f(x.clone(), w).sum())(w.clone());
    let plain = |w: Array| ((&x * &w).sin() + w.cos()).sum() * 0.5;
    same(&got, &grad(plain)(w));
}

#[test]
fn examples_over_an_axis_of_the_mesh() {
    let f: One = shard_map_with(
        |x: Array| {
            assert_eq!(x.shape(), [2]);
            x.sin() * psum(&x, "x")
        },
        ShardMapOptions {
            axis_names: Some(["x", "y"].into()),
            ..options(P!["x"], P!["x"])
        },
    );
    let over = VmapOptions {
        spmd_axis_name: Some("y".into()),
        ..VmapOptions::default()
    };
    let x = numbers(&[6, 8]);
    let each = vmap_with(|x: Array| f(x), over);
    let sums = x.reshape(&[6, 4, 2]).sum_over(1);
    let want = (x.sin().reshape(&[6, 4, 2]) * sums.expand_dims(&[1])).reshape(&[6, 8]);
    same(&each(x.clone()), &want);
    let text = jit(each).lower((x,)).unwrap().as_text();
    assert!(text.contains(r#"[{"y"}, {"x"}]"#), "{text}");
}

#[test]
fn numbers_that_are_not_differentiated() {
    let body = |x: Array, n: Array, mask: Array| {
        let kept = where_(&mask, &x * &n.astype(DType::F32), x.zeros_like());
        (psum(&kept, "x"), psum(&mask, "x"), pmax(&n, ["x", "y"]))
    };
    let specs = [P!["x"], P![("x", "y")], P!["x"]];
    let f = shard_map_with(
        body,
        ShardMapOptions {
            check_vma: false,
            ..options(specs, P![])
        },
    );
    let x = numbers(&[4]);
    let n = Array::from(vec![1, 2, 3, 4, 5, 6, 7, 8]);
    let mask = Array::from(vec![true, false, true, true]);
    let (sum, count, most) = f(x.clone(), n.clone(), mask.clone());
    assert_eq!(count.dtype(), DType::I32);
    assert_eq!(
        (count.to_vec::<i32>(), most.to_vec::<i32>()),
        (vec![3], vec![8])
    );
    assert_eq!(sum.shape(), [1]);

    let typed = shard_map(
        |x: Array, n: Array| (psum(&(&x * n.astype(DType::F32)), "x"), n),
        mesh(),
        [P!["x"], P!["x"]],
        [P![], P!["x"]],
    );
    let n = Array::from(vec![1, 2, 3, 4]);
    let loss = |x: Array| typed(x, n.clone()).0.sum();
    assert_eq!(grad(loss)(x).to_vec::<f32>(), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn residuals_without_dimensions_and_tangents_that_are_zero() {
    let f: Two = shard_map(
        |x: Array, w: Array| {
            let scale = x.sum().sin();
            let shared = psum(&x.sum(), ["x", "y"]).cos();
            (x * &scale * shared + w.stop_gradient()) * w.sum().exp()
        },
        mesh(),
        [P!["x", "y"], P![]],
        P!["x", "y"],
    );
    let plain: Two = Box::new(|x, w| {
        let sums = x.reshape(&[4, 2, 2, 2]).sum_over([1, 3]).sin();
        let scale = sums.reshape(&[4, 1, 2, 1]).broadcast_to(&[4, 2, 2, 2]);
        let scale = scale.reshape(&[8, 4]);
        let shared = x.sum().cos();
        let w2 = concatenate(&[w.clone(), w.clone()], 0);
        (x * scale * shared + w2.stop_gradient()) * w.sum().exp()
    });
    check(&f, &plain, &numbers(&[8, 4]), &numbers(&[2]));
}

#[test]
fn captured_values() {
    let x = numbers(&[8]);
    let shared = numbers(&[2]);
    let f: One = shard_map(move |x: Array| x * &shared, mesh(), P!["x"], P!["x"]);
    let want = &x * concatenate(&vec![numbers(&[2]); 4], 0);
    same(&f(x.clone()), &want);
    same(&jit(|x: Array| f(x))(x.clone()), &want);
    // What lies on all devices of the mesh, too.
    let placed = device_put(&numbers(&[2]), NamedSharding::new(mesh(), P![]));
    let f: One = shard_map(move |x: Array| x * &placed, mesh(), P!["x"], P!["x"]);
    same(&f(x.clone()), &want);
    // A value that a derivative is taken of.
    let loss = |w: Array| {
        let f = shard_map(|x: Array| (x * &w).sin(), mesh(), P!["x"], P!["x"]);
        f(x.clone()).sum()
    };
    let plain = |w: Array| (x.reshape(&[4, 2]) * w).sin().sum();
    same(&grad(loss)(numbers(&[2])), &grad(plain)(numbers(&[2])));
    // In parts, one on each device: each sees all of it.
    let parts = device_put(&numbers(&[8]), NamedSharding::new(mesh(), P!["x"]));
    let f: One = shard_map(move |x: Array| x + parts.sum(), mesh(), P!["x"], P!["x"]);
    same(&f(x.clone()), &(&x + numbers(&[8]).sum()));
}

#[test]
fn random_numbers_of_each_device() {
    let key = random::key(7);
    let f = shard_map(
        |key: random::Key, x: Array| {
            let own = key.fold_in(axis_index("x"));
            x + random::uniform(&own, &[2], DType::F32)
        },
        mesh(),
        [P![], P!["x"]],
        P!["x"],
    );
    let got = f(key.clone(), Array::zeros(&[8], DType::F32));
    let want: Vec<Array> = (0..4)
        .map(|i| random::uniform(&key.fold_in(i), &[2], DType::F32))
        .collect();
    same(&got, &concatenate(&want, 0));
}

#[test]
fn callbacks_of_each_device() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let f: One = shard_map(
        |x: Array| {
            debug::callback(
                |x: Array| {
                    assert_eq!(x.shape(), [1]);
                    CALLS.fetch_add(1, Ordering::Relaxed);
                },
                x.clone(),
            );
            x * 2.0
        },
        mesh(),
        P![("x", "y")],
        P![("x", "y")],
    );
    let x = numbers(&[8]);
    same(&jit(f)(x.clone()), &(x * 2.0));
    effects_barrier().unwrap();
    assert_eq!(CALLS.load(Ordering::Relaxed), 8);
}

/// The composition of the document on `shard_map` and differentiation.
fn composed(p: Array, t: Array, varies: bool) -> Array {
    let p = if varies { pvary(&p, "x") } else { p };
    let (_, forward) = linearize(|p: Array| (&p * &p).sin(), p.clone());
    let out = forward(t);
    let backward = linear_transpose(forward, p);
    backward(out)
}

fn composition(varies: bool) -> Array {
    let p = Array::from(vec![0.5f32, 1.5]);
    let mesh = make_mesh_of_eight();
    let with_p = move |t: Array| composed(p.clone(), t, varies);
    shard_map(with_p, mesh, P!["x"], P!["x"])(numbers(&[16]))
}

fn make_mesh_of_eight() -> Mesh {
    mesh();
    make_mesh(&[8], &["x"]).unwrap()
}

#[test]
fn linearized_and_transposed() {
    let slope = |p: f32| 2.0 * p * (p * p).cos();
    let slopes = Array::from(vec![slope(0.5), slope(1.5)]);
    let want = numbers(&[16]).reshape(&[8, 2]) * (&slopes * &slopes);
    same(&composition(true), &want.reshape(&[16]));
}

#[test]
#[should_panic(expected = "mark the one that varies over fewer with `pvary`")]
fn linearized_where_the_tangent_varies_and_the_value_does_not() {
    composition(false);
}

fn of_parts(f: impl Fn(Array) -> Array + Send + Sync + 'static) {
    shard_map(f, mesh(), P!["x"], P!["x"])(numbers(&[8]));
}

#[test]
#[should_panic(
    expected = "apply `pvary(.., ['x'])` to the initial carry: one varies over these mesh axes"
)]
fn a_carry_that_begins_to_vary() {
    of_parts(|x| {
        scan(
            |c: Array, x: Array| (&c + x, c),
            Array::scalar(0.0, DType::F32),
            x,
        )
        .1
    });
}

#[test]
#[should_panic(expected = "apply `pvary(.., ['x'])` to the returned carry: one varies")]
fn a_carry_that_stops_to_vary() {
    of_parts(|x| {
        while_loop(
            |x: Array| psum(&x.sum(), "x").lt(9.0),
            |x: Array| psum(&x, "x"),
            x,
        )
    });
}

#[test]
#[should_panic(expected = "apply `pvary(.., ['x'])` to the initial carry")]
fn a_counted_loop_that_begins_to_vary() {
    of_parts(|x| {
        let zero = Array::zeros(&[2], DType::F32);
        let n = x.sum().astype(DType::I32);
        fori_loop(0, n, |_, c: Array| c + &x, zero)
    });
}

#[test]
#[should_panic(
    expected = "apply `pvary(.., ['x'])` to the result of false_fn: one varies over these mesh axes"
)]
fn branches_that_vary_over_other_axes() {
    of_parts(|x| {
        let flag = x.sum().gt(0.0);
        cond(flag, |x: Array| x, |x| psum(&x, "x"), x)
    });
}

#[test]
#[should_panic(
    expected = "the result is f32[2]{V:x}, and out_specs P() requires it to be the same along ['x'], which can't be statically inferred"
)]
fn a_result_of_which_it_is_not_known_that_it_is_the_same() {
    shard_map(|x: Array| x * 2.0, mesh(), P!["x"], P![])(numbers(&[8]));
}

#[test]
#[should_panic(expected = "pcast: f32[2]{V:x} already varies over 'x'")]
fn a_cast_of_what_varies() {
    of_parts(|x| pcast(&x, "x", PcastTo::Varying));
}

#[test]
fn known_values_are_counted() {
    let f: One = shard_map(
        |x: Array| {
            let count = psum(&1.into_array(), ["x", "y"]);
            assert_eq!(count.item::<i32>(), 8);
            assert_eq!(axis_size(["y", "x"]), 8);
            x * count
        },
        mesh(),
        P!["x"],
        P!["x"],
    );
    let x = numbers(&[4]);
    same(&f(x.clone()), &(x * 8.0));
}

#[test]
fn what_is_gathered_is_the_same() {
    let f: One = shard_map(
        |x: Array| {
            all_gather_invariant(&x, "x", 1) * all_gather_invariant(&x, "x", Along::Tiled(0)).sum()
        },
        mesh(),
        P!["x"],
        P![],
    );
    let plain = |x: Array| x.reshape(&[4, 2]).transpose(&[1, 0]) * x.sum();
    let x = numbers(&[8]);
    same(&f(x.clone()), &plain(x.clone()));
    let got = jit(grad(|x: Array| f(x).square().sum()))(x.clone());
    let want = grad(move |x: Array| plain(x).square().sum())(x.clone());
    same(&got, &want);
    let xs = stack(&[x.clone(), x.sin()], 0);
    let plain = |x: Array| x.reshape(&[4, 2]).transpose(&[1, 0]) * x.sum();
    same(&vmap(|x: Array| f(x))(xs.clone()), &vmap(plain)(xs));
}

#[test]
fn one_axis_at_a_time() {
    let rows = |x: Array, w: Array| {
        assert_eq!(x.shape(), [2, 6]);
        let columns = |x: Array| {
            assert_eq!(x.shape(), [2, 3]);
            &x - pmax(&x.stop_gradient(), ["x", "y"])
        };
        (smap(columns, 1, 1, "y")(x.clone()) * &w, psum(&x, "x"))
    };
    let (x, w) = (numbers(&[8, 6]), numbers(&[6]));
    let (out, sums) = with_mesh(mesh(), || {
        smap(rows, [Some(0), None], [Some(0), None], "x")(x.clone(), w.clone())
    });
    let most = x.reshape(&[4, 2, 2, 3]).max_over([0, 2]);
    let shifted = x.reshape(&[4, 2, 2, 3]) - most.reshape(&[1, 2, 1, 3]);
    same(&out, &(shifted.reshape(&[8, 6]) * w));
    same(&sums, &x.reshape(&[4, 2, 6]).sum_over(0));
}

#[test]
fn runs_of_rows_are_those_of_mapped_examples() {
    // How many rows each device sends to each, from where in its operand, and to where in the output.
    const SENT: [[i32; 4]; 4] = [[1, 2, 0, 0], [0, 1, 2, 1], [2, 0, 1, 0], [1, 1, 1, 1]];
    const FROM: [[i32; 4]; 4] = [[3, 0, 0, 0], [0, 2, 0, 3], [1, 0, 0, 0], [0, 1, 2, 3]];
    const TO: [[i32; 4]; 4] = [[4, 0, 0, 0], [0, 3, 2, 0], [1, 0, 0, 0], [0, 4, 4, 4]];
    let exchange = |x: Array, out: Array| {
        let own = |table: Array| table.take(&axis_index("x"), 0);
        let [from, sent, to] = [FROM, SENT, TO].map(|table| own(Array::from(table)));
        let got = own(Array::from(SENT).transpose(&[1, 0]));
        ragged_all_to_all(&x, &out, &from, &sent, &to, &got, "x")
    };
    let of_device = move |x: Array, out: Array| {
        let y = exchange(x.reshape(&[4, 2]), out.reshape(&[5, 2]));
        y.reshape(&[1, 5, 2])
    };
    let f: Two = shard_map(of_device, mesh(), [P!["x"], P!["x"]], P!["x"]);
    let mapped = VmapOptions {
        axis_name: Some("x".into()),
        ..VmapOptions::default()
    };
    let plain: Two = vmap_with(exchange, mapped);
    let (x, out) = (numbers(&[4, 4, 2]), numbers(&[4, 5, 2]).cos());
    if !is_linked() {
        // XLA's CPU plugin does not have the operation, and says so.
        let message = panic_message(|| f(x, out));
        assert!(
            message.contains("`ragged-all-to-all` is not supported"),
            "{message}"
        );
        return;
    }
    check(&f, &plain, &x, &out);
}

#[test]
fn a_program_is_divided_over_one_mesh() {
    let over = |sizes: &[usize], names: &[&str]| make_mesh(sizes, names).unwrap();
    let divided = |mesh: Mesh, name: &'static str| {
        let options = ShardMapOptions {
            mesh: Some(mesh),
            ..ShardMapOptions::new(P![name], P![name])
        };
        shard_map_with(|x: Array| x + 1.0, options)
    };
    // The types of the current mesh would divide by two, the devices by four.
    let (two, four) = (over(&[2], &["x"]), over(&[4], &["x"]));
    let message = panic_message(|| with_mesh(two, || divided(four, "x")(numbers(&[8]))));
    let text = "shard_map: the mesh ('x': 4) is not the current one ('x': 2)";
    assert!(message.contains(text), "{message}");
    // Inside, values vary over an axis that the other mesh does not have.
    let inner = over(&[2], &["y"]);
    let outer = ShardMapOptions {
        mesh: Some(two),
        ..ShardMapOptions::new(P!["x"], P!["x"])
    };
    let nested = shard_map_with(move |x: Array| divided(inner, "y")(x), outer);
    let message = panic_message(|| nested(numbers(&[8])));
    let text = "shard_map: the mesh ('y': 2) is not the current one ('x': 2)";
    assert!(message.contains(text), "{message}");
}
