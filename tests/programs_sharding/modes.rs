//! The compiler's own way, parts by hand, and problems about parts; what is
//! compiled, and profiles of it.

use crate::{assert_equal, mesh, on, whole};
use ramie::lax::pmean;
use ramie::options::{JitOptions, Reduction};
use ramie::sharding::{AxisType, make_mesh_with, with_sharding_constraint};
use ramie::*;
use ramie_testing::is_linked;

#[test]
fn the_compiler_adds_an_all_reduce() {
    let mesh = mesh(&[4, 2], &["X", "Y"]);
    let _current = set_mesh(mesh);
    let input = device_put(&Array::ones(&[8, 2048], DType::BF16), P!["X", "Y"]);
    let w = device_put(&Array::ones(&[2048, 8192], DType::BF16), P!["Y", None]);
    let matmul_square = |x: Array, w: Array| einsum("bd,df->bf", &[x.square(), w]);
    let options = JitOptions {
        out_shardings: Some(P!["X", None].into()),
        ..JitOptions::default()
    };
    let lowered = jit_with(matmul_square, options).lower((input.clone(), w.clone()));
    let compiled = lowered.unwrap().compile().unwrap();
    let text = compiled.as_text().unwrap();
    // The linked backend computes on whole arrays, and splits only arguments and results.
    if !is_linked() {
        assert!(text.contains("all-reduce"), "{text}");
        // One device's parts: 8 rows over 4 devices, 2,048 columns over 2.
        assert!(text.contains("bf16[2,1024]") && text.contains("[2,8192]"));
    }
    let out = compiled.run((input, w)).unwrap();
    assert_eq!(
        out.sharding().unwrap().named().unwrap().spec(),
        &P!["X", None]
    );
    assert!(
        out.to_vec::<half::bf16>()
            .iter()
            .all(|x| x.to_f32() == 2048.0)
    );
}

#[test]
fn values_inside_are_constrained() {
    let mesh = mesh(&[4, 2], &["X", "Y"]);
    let _current = set_mesh(mesh);
    let matmul = |x: Array, w_in: Array, w_out: Array| {
        let hidden = einsum("bd,df->bf", &[x, w_in]);
        let hidden = with_sharding_constraint(&hidden, P!["X", "Y"]);
        einsum("bf,df->bd", &[hidden, w_out])
    };
    let args = (whole(0, &[8, 16]), whole(1, &[16, 32]), whole(2, &[16, 32]));
    let want = args.0.matmul(&args.1).matmul(args.2.t());
    let sharded = (
        device_put(&args.0, P!["X"]),
        device_put(&args.1, P![]),
        device_put(&args.2, P![]),
    );
    let matmul = jit(matmul);
    let text = matmul.lower(sharded.clone()).unwrap().compile().unwrap();
    let text = text.as_text().unwrap();
    // The hidden values are [2, 16] on each device, so that the second product
    // is over parts. The linked backend computes on whole arrays.
    assert!(
        is_linked() || text.contains("f32[2,16]") && text.contains("all-reduce"),
        "{text}"
    );
    assert_equal(&matmul(sharded.0, sharded.1, sharded.2), &want);
}

#[test]
fn parts_are_sliced_and_averaged() {
    mesh(&[2, 4], &["x", "y"]);
    let mesh = make_mesh_with(&[2, 4], &["x", "y"], AxisType::Explicit).unwrap();
    let _mesh = set_mesh(mesh);
    let slice_and_average = |x: Array| {
        assert_eq!(x.shape(), [512 / 8]);
        pmean(&x.index(..4), ["x", "y"])
    };
    let f = shard_map(slice_and_average, mesh, P![("x", "y")], P![]);
    let out = jit(f)(Array::iota_with(&[512], 0, DType::I32, P![("x", "y")]));
    assert_eq!(out.shape(), [4]);
    // mean(x[:4], x[64:68], …)
    let want = Array::arange(512)
        .astype(DType::F32)
        .reshape(&[8, 64])
        .index((.., ..4));
    assert_equal(&out.astype(DType::F32), &want.mean_over(0));
}

#[test]
fn means_of_parts_need_no_communication() {
    let mesh = mesh(&[4, 2], &["X", "Y"]);
    let x = whole(0, &[512, 8]);
    let placed = on(mesh, &x, P!["X", "Y"]);
    let by_parts = jit(shard_map(
        |x: Array| x.mean_over(Reduction::over([0, 1]).keepdims()),
        mesh,
        P!["X", "Y"],
        P!["X", "Y"],
    ));
    let average = |x: Array| {
        let (rows, columns) = (x.shape()[0], x.shape()[1]);
        x.reshape(&[4, rows / 4, 2, columns / 2]).mean_over([1, 3])
    };
    let options = JitOptions {
        out_shardings: Some(NamedSharding::new(mesh, P!["X", "Y"]).into()),
        ..JitOptions::default()
    };
    let whole_view = jit_with(average, options);
    let (a, b) = (by_parts(placed.clone()), whole_view(placed.clone()));
    assert_equal(&a, &b);
    assert_equal(&a, &average(x));
    for program in [
        by_parts.compile((placed.clone(),)),
        whole_view.compile((placed,)),
    ] {
        let text = program.unwrap().as_text().unwrap();
        for collective in [
            "all-reduce",
            "all-gather",
            "collective-permute",
            "all-to-all",
        ] {
            assert!(!text.contains(collective), "{collective}: {text}");
        }
    }
}

#[test]
fn parts_are_rolled() {
    let mesh = mesh(&[4, 2], &["X", "Y"]);
    let x = whole(0, &[512, 8]);
    let placed = on(mesh, &x, P!["X", "Y"]);
    let by_parts = shard_map(
        |x: Array| x.roll(5, 0) - x,
        mesh,
        P!["X", "Y"],
        P!["X", "Y"],
    );
    let shift = |x: Array| {
        let parts = x.reshape(&[4, x.shape()[0] / 4, x.shape()[1]]);
        parts.roll(5, 1).reshape(x.shape()) - x
    };
    let options = JitOptions {
        out_shardings: Some(NamedSharding::new(mesh, P!["X", "Y"]).into()),
        ..JitOptions::default()
    };
    let want = shift(x);
    assert_equal(&jit(by_parts)(placed.clone()), &want);
    assert_equal(&jit_with(shift, options)(placed), &want);
}

#[test]
fn profiles_show_what_ran() {
    let mesh = mesh(&[4, 2], &["X", "Y"]);
    let folder = tempfile::tempdir().unwrap();
    let options = JitOptions {
        name: Some("sharded_product".into()),
        ..JitOptions::default()
    };
    let product = jit_with(|x: Array, w: Array| x.matmul(&w), options);
    let x = on(mesh, &whole(0, &[8, 16]), P!["X", "Y"]);
    let w = on(mesh, &whole(1, &[16, 32]), P!["Y", None]);
    let run = || product(x.clone(), w.clone()).block_until_ready().clone();
    let (out, files) = profiler::trace(folder.path(), run).unwrap();
    assert_equal(&out, &whole(0, &[8, 16]).matmul(whole(1, &[16, 32])));
    assert!(std::fs::metadata(&files.xplane).unwrap().len() > 0);
    let text = std::fs::read_to_string(&files.json).unwrap();
    assert!(text.contains("sharded_product"), "{text}");
}
