//! Programs in which types say how values are sharded, run on 8 virtual devices.

use crate::eight_devices;
use ramie_core::lax::{Padding, cond, conv_general_dilated, psum, scan, while_loop};
use ramie_core::numpy::einsum_with;
use ramie_core::options::{Convolution, ShardMapOptions, Window};
use ramie_core::sharding::{
    AbstractMesh, AxisType, Infer, SpecEntry, auto_axes, explicit_axes, make_mesh_with, reshard,
    type_of,
};
use ramie_core::*;
use ramie_testing::{is_linked, panic_message};

fn mesh(sizes: &[usize], names: &[&str]) -> Mesh {
    eight_devices();
    make_mesh_with(sizes, names, AxisType::Explicit).unwrap()
}

fn iota(shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    Array::from_vec((0..n).map(|i| (i % 13) as f32 / 8.0 - 0.5).collect(), shape)
}

#[track_caller]
fn close(got: &Array, want: &Array) {
    assert_eq!(got.shape(), want.shape());
    for (g, w) in got.to_vec::<f32>().iter().zip(want.to_vec::<f32>()) {
        assert!((g - w).abs() < 1e-3 * (1.0 + w.abs()), "{g} {w}");
    }
}

fn text(f: &(impl Fn(Array, Array) -> Array + Sync), x: &Array, w: &Array) -> String {
    let program = jit(|x: Array, w: Array| f(x, w));
    let compiled = program.compile((x.clone(), w.clone())).unwrap();
    compiled.as_text().unwrap()
}

/// The walk through explicit sharding of the scaling book.
#[test]
fn ambiguous_products_need_an_out_sharding() {
    let _current = set_mesh(mesh(&[4, 2], &["X", "Y"]));
    let x = device_put(&iota(&[8, 16]), P!["X", "Y"]);
    let w = device_put(&iota(&[16, 8]), P!["Y", None]);
    assert_eq!(format!("{:#}", type_of(&(&x * 2))), "float32[8@X,16@Y]");
    let ambiguous = "Contracting dimensions are sharded and it is ambiguous how the output should \
                     be sharded. Please specify the output sharding via the `out_sharding` \
                     parameter. Got lhs_contracting_spec=('Y',) and rhs_contracting_spec=('Y',)";
    let message = panic_message(|| {
        jit(|x: Array, w: Array| einsum("bd,df->bf", &[x.square(), w]))(x.clone(), w.clone())
    });
    assert!(message.contains(ambiguous), "{message}");
    let message = panic_message(|| x.matmul(&w));
    assert!(message.contains(ambiguous), "{message}");
    let want = iota(&[8, 16]).square().matmul(iota(&[16, 8]));
    for (spec, scattered, printed) in [
        (P!["X", "Y"], true, "float32[8@X,8@Y]"),
        (P!["X", None], false, "float32[8@X,8]"),
    ] {
        let f = move |x: Array, w: Array| einsum_with("bd,df->bf", &[x.square(), w], spec.clone());
        let text = text(&f, &x, &w);
        let out = jit(f)(x.clone(), w.clone());
        assert_eq!(format!("{:#}", type_of(&out)), printed);
        close(&out, &want);
        if is_linked() {
            // It computes on whole arrays, and splits only results.
            continue;
        }
        // XLA's compiler for CPUs writes a reduce-scatter as an all-reduce of which
        // each device keeps its slice.
        let scatters = text.contains("reduce-scatter")
            || text.contains("all-reduce") && text.contains("dynamic-slice");
        assert_eq!(scatters, scattered, "{text}");
        assert!(scatters || text.contains("all-reduce"), "{text}");
    }
    let shown = format!("{x:?}");
    assert!(
        shown.ends_with("dtype=float32, sharding=P('X', 'Y'))"),
        "{shown}"
    );
}

/// A small network whose every step names shardings.
fn loss((w1, b1, w2): (Array, Array, Array), x: Array, batch: SpecEntry) -> Array {
    let hidden = x.matmul_with(&w1, P![batch.clone(), "Y"]) + b1;
    let hidden = hidden.tanh();
    let out = hidden.matmul_with(&w2, P![batch, None]);
    out.softmax(-1).log().square().mean()
}

fn plain((w1, b1, w2): (Array, Array, Array), x: Array) -> Array {
    let hidden = (x.matmul(&w1) + b1).tanh();
    hidden.matmul(&w2).softmax(-1).log().square().mean()
}

#[test]
fn gradients_are_sharded_as_their_arguments() {
    let _current = set_mesh(mesh(&[4, 2], &["X", "Y"]));
    let (x, w1) = (iota(&[8, 16]), iota(&[16, 32]));
    let (b1, w2) = (iota(&[32]), iota(&[32, 4]));
    let want = grad(plain)((w1.clone(), b1.clone(), w2.clone()), x.clone());
    let weights = (
        device_put(&w1, P!["X", "Y"]),
        device_put(&b1, P!["Y"]),
        device_put(&w2, P!["Y", None]),
    );
    let x = device_put(&x, P!["X", None]);
    // Weights that are sharded over the batch's axis are made whole first.
    let whole = |(w1, b1, w2): (Array, Array, Array), x: Array| {
        loss((reshard(&w1, P![None, "Y"]), b1, w2), x, "X".into())
    };
    let remat = move |w: (Array, Array, Array), x: Array| checkpoint(whole)(w, x);
    let eager = grad(whole)(weights.clone(), x.clone());
    let compiled = jit(grad(whole))(weights.clone(), x.clone());
    let again = jit(grad(remat))(weights.clone(), x.clone());
    for got in [eager, compiled, again] {
        assert_eq!(got.0.aval(), weights.0.aval());
        assert_eq!(got.1.aval(), weights.1.aval());
        assert_eq!(got.2.aval(), weights.2.aval());
        close(&got.0, &want.0);
        close(&got.1, &want.1);
        close(&got.2, &want.2);
    }
    let (_, dot) = jvp(
        |w: (Array, Array, Array)| whole(w, x.clone()),
        weights.clone(),
        weights.clone(),
    );
    let ws = (w1, b1, w2);
    let (_, want) = jvp(
        |w: (Array, Array, Array)| plain(w, iota(&[8, 16])),
        ws.clone(),
        ws,
    );
    close(&dot, &want);
}

#[test]
fn loops_and_choices_keep_shardings() {
    let _current = set_mesh(mesh(&[4, 2], &["X", "Y"]));
    let f = |w: Array, x: Array| {
        let step = |c: Array, r: Array| {
            let c = (&c * &w + r).tanh();
            (c.clone(), c.sin())
        };
        let (last, ys) = scan(step, x.index(0).zeros_like(), x);
        let chosen = cond(
            last.sum().gt(0.0),
            |y: Array| y * 2,
            |y: Array| y.square(),
            ys,
        );
        let (_, twice) = while_loop(
            |s: (Array, Array)| s.0.lt(3),
            |s| (s.0 + 1, s.1 * 0.5),
            (Array::from(0), chosen),
        );
        twice
    };
    let (w, x) = (iota(&[16]), iota(&[6, 16]));
    let want = f(w.clone(), x.clone());
    let (w, x) = (
        device_put(&w, P![("X", "Y")]),
        device_put(&x, P![None, ("X", "Y")]),
    );
    let got = jit(f)(w.clone(), x.clone());
    assert_eq!(got.aval().to_string(), "f32[6,16@(X,Y)]");
    close(&got, &want);
    let g = |w: Array, x: Array| {
        let step = |c: Array, r: Array| ((&c * &w + r).tanh(), ());
        scan(step, x.index(0).zeros_like(), x).0.sum()
    };
    let want = grad(g)(iota(&[16]), iota(&[6, 16]));
    let got = jit(grad(g))(w.clone(), x);
    assert_eq!(got.aval(), w.aval());
    close(&got, &want);
}

#[test]
fn examples_may_be_sharded() {
    let _current = set_mesh(mesh(&[4, 2], &["X", "Y"]));
    let (x, w) = (iota(&[8, 16]), iota(&[16, 4]));
    let f = |x: Array, w: Array| {
        let h = concatenate(&[x.matmul(&w), Array::zeros(&[2], DType::F32)], 0);
        h.softmax(-1).log()
    };
    let want = vmap_with(f, [Some(0), None])(x.clone(), w.clone());
    let (x, w) = (device_put(&x, P!["X", None]), device_put(&w, P![None, "Y"]));
    let w = reshard(&w, P![]);
    let mapped = vmap_with(f, [Some(0), None]);
    for got in [
        mapped(x.clone(), w.clone()),
        jit(mapped)(x.clone(), w.clone()),
    ] {
        assert_eq!(got.aval().to_string(), "f32[8@X,6]");
        close(&got, &want);
    }
    let y = reshard(&x, P![]);
    let message = panic_message(|| vmap(|a: Array, b: Array| a + b)(x.clone(), y));
    assert!(
        message.contains("Got inconsistent axis specs: 'X' of argument"),
        "{message}"
    );
}

#[test]
fn arrays_are_made_and_read_where_they_are_to_be() {
    let _current = set_mesh(mesh(&[4, 2], &["X", "Y"]));
    let zeros = Array::full_with(&[8, 16], 0, DType::F32, P!["X", "Y"]);
    assert_eq!(zeros.aval().to_string(), "f32[8@X,16@Y]");
    assert_eq!(zeros.addressable_shards().len(), 8);
    assert_eq!(zeros.to_vec::<f32>(), vec![0.0; 128]);
    let n = Array::iota_with(&[8], 0, DType::I32, P!["X"]);
    assert_eq!(n.to_vec::<i32>(), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(n.aval().to_string(), "i32[8@X]");
    let key = random::key(3);
    let draw = |key: &random::Key| random::normal(key, &[8, 16], DType::F32);
    let drawn = random::sharded(&key, P!["X", "Y"], draw);
    assert_eq!(drawn.aval().to_string(), "f32[8@X,16@Y]");
    close(&drawn, &draw(&key));
    let x = device_put(&iota(&[8, 16]), P!["X", "Y"]);
    let rows = Array::from([1, 6]);
    let message = panic_message(|| x.index(&rows));
    assert!(message.contains("out_sharding"), "{message}");
    let read = |x: Array| x.at(Array::from([1, 6])).out_sharding(P![None, "Y"]).get();
    for got in [read(x.clone()), jit(read)(x.clone())] {
        assert_eq!(got.aval().to_string(), "f32[2,16@Y]");
        close(&got, &iota(&[8, 16]).index(&rows));
    }
    let got = jit(grad(move |x: Array| read(x).square().sum()))(x.clone());
    assert_eq!(got.aval(), x.aval());
    close(
        &got,
        &grad(|x: Array| x.index(&rows).square().sum())(iota(&[8, 16])),
    );
    let turned = x.reshape_with(&[16, 8], P!["Y", "X"]);
    assert_eq!(turned.aval().to_string(), "f32[16@Y,8@X]");
    close(&turned, &iota(&[8, 16]).reshape(&[16, 8]));
}

#[test]
fn axes_pass_into_the_hands_of_the_compiler_and_back() {
    let _current = set_mesh(mesh(&[4, 2], &["X", "Y"]));
    let x = device_put(&iota(&[8, 16]), P!["X", "Y"]);
    let cumulative = auto_axes(|x: Array| x.cumsum(0).sin(), [], P!["X", "Y"]);
    let loss = |x: Array| {
        let f = auto_axes(|x: Array| x.cumsum(0).sin(), [], P!["X", "Y"]);
        f(x * 2.0).sum()
    };
    let want = iota(&[8, 16]).cumsum(0).sin();
    let got = jit(cumulative)(x.clone());
    assert_eq!(got.aval(), x.aval());
    close(&got, &want);
    let want = grad(|x: Array| (x * 2.0).cumsum(0).sin().sum())(iota(&[8, 16]));
    let got = jit(grad(loss))(x.clone());
    assert_eq!(got.aval(), x.aval());
    close(&got, &want);
}

#[test]
fn explicit_and_automatic_axes_meet() {
    eight_devices();
    let axes =
        AbstractMesh::with_axis_types(&[4, 2], &["X", "Y"], &[AxisType::Explicit, AxisType::Auto]);
    let mesh = Mesh::new(&devices()[..8], axes);
    let _current = set_mesh(mesh);
    let x = device_put(&iota(&[8, 16]), P!["X", "Y"]);
    assert_eq!(x.aval().to_string(), "f32[8@X,16]");
    let w = device_put(&iota(&[16, 8]), P!["Y", None]);
    let f = jit(|x: Array, w: Array| x.matmul(&w).sin());
    let out = f(x.clone(), w.clone());
    assert_eq!(out.aval().to_string(), "f32[8@X,8]");
    close(&out, &iota(&[8, 16]).matmul(iota(&[16, 8])).sin());
    let inside = explicit_axes(
        |x: Array| {
            assert_eq!(x.aval().to_string(), "f32[8@X,16@Y]");
            x * 2
        },
        "Y",
        P!["X", "Y"],
    );
    let out = jit(inside)(x.clone());
    assert_eq!(out.aval().to_string(), "f32[8@X,16]");
    close(&out, &(iota(&[8, 16]) * 2));
    let message = panic_message(|| x.matmul_with(&w, P!["X", "Y"]));
    assert!(message.contains("which is not explicit"), "{message}");
}

#[test]
fn sums_may_be_left_for_later() {
    let _current = set_mesh(mesh(&[4, 2], &["X", "Y"]));
    let x = device_put(&iota(&[8, 16]), P!["X", "Y"]);
    let w = device_put(&iota(&[16, 8]), P!["Y", None]);
    let f = |x: Array, w: Array| {
        let parts = x.matmul_with(&w, P!["X", None].with_unreduced("Y"));
        assert_eq!(type_of(&parts).to_string(), "f32[8@X,8]{U:Y}");
        reshard(&(&parts + &parts), P!["X", None])
    };
    let message = panic_message(|| {
        make_jaxpr(|x: Array, w: Array| x.matmul_with(&w, P!["X", None].with_unreduced("Y")).sin())(
            x.clone(),
            w.clone(),
        )
    });
    assert!(
        message.contains("unreduced rule for sin is not implemented"),
        "{message}"
    );
    // A zero that pads the parts is no term of the sum.
    let parts = reshard(&x, P![None, None].with_unreduced("Y"));
    assert_eq!(parts.pad(&[(0, 0), (1, 1)], 0).shape(), [8, 18]);
    // Each device would add the number once.
    let message = panic_message(|| &parts + 1.0);
    assert!(
        message.contains("unreduced over the same axes"),
        "{message}"
    );
    let out = jit(f)(x, w);
    assert_eq!(out.aval().to_string(), "f32[8@X,8]");
    close(&out, &(iota(&[8, 16]).matmul(iota(&[16, 8])) * 2));
}

#[test]
fn convolutions_of_sharded_batches_have_derivatives() {
    let _current = set_mesh(mesh(&[8], &["X"]));
    let f = |k: Array, x: Array| {
        let how = Convolution::new().padding(Padding::Same);
        let y = conv_general_dilated(&x, &k, &how).tanh();
        y.reduce_window_max(&Window::new(&[1, 1, 2, 2]).strides(&[1, 1, 2, 2]))
            .square()
            .mean()
    };
    let (k, x) = (iota(&[4, 3, 3, 3]), iota(&[8, 3, 8, 8]));
    let want = grad(f)(k.clone(), x.clone());
    let x = device_put(&x, P!["X"]);
    let k = device_put(&k, P![]);
    let got = jit(grad(f))(k, x);
    assert_eq!(got.aval().to_string(), "f32[4,3,3,3]");
    close(&got, &want);
}

#[test]
fn shard_map_takes_specs_from_the_types() {
    let current = mesh(&[4, 2], &["x", "y"]);
    let _current = set_mesh(current);
    let (a, b) = (iota(&[8, 4]), iota(&[4]));
    let on_mesh = (device_put(&a, P!["x", None]), device_put(&b, P!["y"]));
    let local = |a: Array, b: Array| {
        assert_eq!((a.shape(), b.shape()), (&[2, 4][..], &[2][..]));
        (a * 2.0, psum(&b.sum(), "y"))
    };
    let f = shard_map(local, current, Infer, [P!["x"], P![]]);
    let (doubled, sum) = f(on_mesh.0.clone(), on_mesh.1.clone());
    close(&doubled, &(&a * 2.0));
    close(&sum, &b.sum());
    // Of the types' axes, only those that become manual are split.
    let options = ShardMapOptions {
        axis_names: Some("x".into()),
        ..ShardMapOptions::new(Infer, P!["x"])
    };
    let both = device_put(&iota(&[8, 4]), P!["x", "y"]);
    let double = shard_map_with(
        |a: Array| {
            assert_eq!(a.shape(), [2, 4]);
            a * 2.0
        },
        options,
    );
    close(&double(both), &(iota(&[8, 4]) * 2.0));
    let auto = make_mesh_with(&[8], &["z"], AxisType::Auto).unwrap();
    let text = panic_message(|| shard_map(|a: Array| a, auto, Infer, P!["z"])(iota(&[8])));
    let expected = "shard_map: in_specs is Infer, but the mesh axis";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn broadcast_takes_the_sharding_of_the_result() {
    let _current = set_mesh(mesh(&[4, 2], &["x", "y"]));
    let b = device_put(&iota(&[4]), P!["y"]);
    let wide = b.broadcast_with(&[8], P!["x", "y"]);
    assert_eq!(format!("{:#}", type_of(&wide)), "float32[8@x,4@y]");
    close(&wide, &iota(&[4]).broadcast(&[8]));
}
