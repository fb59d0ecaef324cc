//! Products that send while they multiply, equal to those that the compiler
//! shards.

use crate::matmul::{
    BOTH_WAYS, ONE_WAY, Way, all_gather_matmul, all_reduce_matmul, all_reduce_matmul_ring, block,
    reduce_scatter_matmul,
};
use crate::traffic::{Traffic, traffic};
use crate::{assert_equal, mesh, on, whole};
use ramie::options::{JitOptions, ShardMapOptions};
use ramie::sharding::{AxisType, make_mesh_with};
use ramie::*;

/// The operands over a mesh (2, 4), and a function of their parts.
fn run(
    (lhs, lhs_spec): (&Array, PartitionSpec),
    (rhs, rhs_spec): (&Array, PartitionSpec),
    out_spec: PartitionSpec,
    check_vma: bool,
    f: impl Fn(Array, Array) -> Array + Send + Sync,
) -> (Array, String) {
    let mesh = mesh(&[2, 4], &["X", "Y"]);
    let options = ShardMapOptions {
        mesh: Some(mesh),
        check_vma,
        ..ShardMapOptions::new([lhs_spec.clone(), rhs_spec.clone()], out_spec)
    };
    let f = jit(shard_map_with(f, options));
    let (lhs, rhs) = (on(mesh, lhs, lhs_spec), on(mesh, rhs, rhs_spec));
    let compiled = f.compile((lhs.clone(), rhs.clone())).unwrap();
    (f(lhs, rhs), compiled.as_text().unwrap())
}

#[test]
fn gathering_the_left_operand() {
    let mesh = mesh(&[2, 4], &["X", "Y"]);
    let (a, w) = (whole(0, &[64, 128]), whole(1, &[128, 256]));
    let options = JitOptions {
        out_shardings: Some(NamedSharding::new(mesh, P!["X", "Y"]).into()),
        ..JitOptions::default()
    };
    let plain = jit_with(|a: Array, w: Array| a.matmul(&w), options);
    let want = plain(on(mesh, &a, P!["X", "Y"]), on(mesh, &w, P![None, "Y"]));
    assert_equal(&want, &a.matmul(&w));
    for ways in [ONE_WAY, BOTH_WAYS] {
        let f = |a: Array, w: Array| all_gather_matmul(&a, &w, ways);
        let specs = ((&a, P!["X", "Y"]), (&w, P![None, "Y"]));
        let (out, text) = run(specs.0, specs.1, P!["X", "Y"], true, f);
        assert_equal(&out, &want);
        // Three other parts of [32, 32] come by, whole or in halves: as many bytes
        // as gathering them takes.
        let permutes = Traffic {
            collective: "collective-permute",
            count: 3 * ways.len(),
            bytes: 3 * 32 * 32 * 4,
        };

        assert_eq!(traffic(&text, 4), Ok(vec![permutes]));
    }
    if ramie_testing::is_linked() {
        // It computes on whole arrays, and splits only results.
        return;
    }
    let text = plain.compile((on(mesh, &a, P!["X", "Y"]), on(mesh, &w, P![None, "Y"])));
    let text = text.unwrap().as_text().unwrap();

    let moved = traffic(&text, 4).unwrap();
    assert_eq!(
        moved.iter().map(|t| t.bytes).sum::<usize>(),
        3 * 32 * 32 * 4,
        "{moved:?}"
    );
}

/// The program of the document, in integers and over explicit axes.
#[test]
fn integers_over_explicit_axes() {
    mesh(&[2, 4], &["X", "Y"]);
    let mesh = make_mesh_with(&[2, 4], &["X", "Y"], AxisType::Explicit).unwrap();
    let _mesh = set_mesh(mesh);
    let (batch, depth, width) = (64, 128, 256);
    let a = Array::arange(batch * depth).reshape(&[batch, depth]);
    let w = Array::arange(depth * width).reshape(&[depth, width]);
    let a = device_put(&a, P!["X", "Y"]);
    let w = device_put(&w, P![None, "Y"]);
    let matmul = jit(|a: Array, w: Array| a.matmul_with(&w, P!["X", "Y"]));
    let collective = |a: Array, w: Array| all_gather_matmul(&a, &w, ONE_WAY);
    let specs = [P!["X", "Y"], P![None, "Y"]];
    let collective = jit(shard_map(collective, mesh, specs, P!["X", "Y"]));
    let (out, want) = (collective(a.clone(), w.clone()), matmul(a, w));
    assert_eq!(out.dtype(), DType::I32);
    assert_eq!(out.to_vec::<i32>(), want.to_vec::<i32>());
}

#[test]
fn traffic_is_read_from_programs() {
    let line = |text: &str| traffic(&format!("ENTRY main {{\n  y = {text}\n}}"), 4);
    let one = |collective, bytes| {
        Ok(vec![Traffic {
            collective,
            count: 1,
            bytes,
        }])
    };
    let gather = "bf16[4,8]{1,0} all-gather(x), dimensions={0}";
    assert_eq!(line(gather), one("all-gather", 48));
    let reduce = "(f32[8]{0}, f32[]) all-reduce(a, b), to_apply=add";
    assert_eq!(line(reduce), one("all-reduce", 2 * 36 * 3 / 4));
    let scatter = "f32[8]{0} reduce-scatter(a), dimensions={0}, to_apply=add";
    assert_eq!(line(scatter), one("reduce-scatter", 32 * 3));
    let permute = "pred[6]{0} collective-permute(a)";
    assert_eq!(line(permute), one("collective-permute", 6));
    assert_eq!(line("f32[8]{0} add(all-reduce, b)"), Ok(vec![]));
    assert!(line("f32[8]{0} all-reduce-start(a)").is_err());
    // What is called twice is run twice; how often a loop runs is not known.
    let inside = |call: &str| {
        let part = format!("part (a: pred[6]) -> pred[6] {{\n  y = {permute}\n}}\n\n");
        traffic(
            &format!("{part}ENTRY %main {{\n  y = pred[6] {call}\n  z = pred[6] {call}\n}}"),
            4,
        )
    };
    assert_eq!(inside("call(a), calls=part").unwrap()[0].bytes, 12);
    assert_eq!(inside("call(a), to_apply=%part").unwrap()[0].count, 2);
    for often in [
        "while(a), condition=less, body=part",
        "conditional(a), branch_computations={part, other}",
    ] {
        assert!(
            inside(often).unwrap_err().contains("loop or a branch"),
            "{often}"
        );
    }
}

#[test]
fn scattering_the_sums() {
    let (a, w) = (whole(0, &[64, 128]), whole(1, &[128, 64]));
    for ways in [ONE_WAY, BOTH_WAYS] {
        let f = |a: Array, w: Array| reduce_scatter_matmul(&a, &w, ways);
        let specs = ((&a, P!["X", "Y"]), (&w, P!["Y", None]));
        let (out, text) = run(specs.0, specs.1, P!["X", "Y"], true, f);
        assert_equal(&out, &a.matmul(&w));
        assert!(text.contains("collective-permute"));
        assert!(!text.contains("reduce-scatter") && !text.contains("all-reduce"));
        // What travels is one device's columns of the result, or half of them.
        let columns = if ways.len() == 1 {
            "f32[32,16]"
        } else {
            "f32[32,8]"
        };
        assert!(text.contains(columns), "{text}");
    }
}

#[test]
fn all_devices_have_all_sums() {
    let (a, w) = (whole(0, &[64, 128]), whole(1, &[128, 64]));
    let specs = || ((&a, P!["X", "Y"]), (&w, P!["Y", None]));
    let want = a.matmul(&w);
    let tiled = |a: Array, w: Array| all_reduce_matmul(&a, &w, 4);
    let (out, text) = run(specs().0, specs().1, P!["X"], true, tiled);
    assert_equal(&out, &want);
    assert!(text.contains("all-reduce"));
    for ways in [ONE_WAY, BOTH_WAYS] {
        let f = |a: Array, w: Array| all_reduce_matmul_ring(&a, &w, ways);
        let (out, text) = run(specs().0, specs().1, P!["X"], false, f);
        assert_equal(&out, &want);
        assert!(text.contains("collective-permute") && !text.contains("all-reduce"));
        // Not only the copy that is read first.
        for shard in out.addressable_shards() {
            let rows = shard.index()[0].clone();
            assert_equal(shard.data(), &want.index(rows));
        }
    }
}

#[test]
fn a_block_of_a_transformer() {
    let mesh = mesh(&[2, 4], &["X", "Y"]);
    let (x, w_in) = (whole(0, &[16, 32]), whole(1, &[32, 64]));
    let w_out = whole(2, &[64, 32]);
    let want = x.matmul(&w_in).relu().matmul(&w_out);
    let specs = [P!["X", "Y"], P![None, "Y"], P!["Y", None]];
    let plain = |x: Array, w_in: Array, w_out: Array| x.matmul(&w_in).relu().matmul(&w_out);
    let ring = |ways: &'static [Way]| {
        let f = move |x: Array, w_in: Array, w_out: Array| block(&x, &w_in, &w_out, ways);
        shard_map(f, mesh, specs.clone(), P!["X", "Y"])
    };
    let args = (
        on(mesh, &x, specs[0].clone()),
        on(mesh, &w_in, specs[1].clone()),
        on(mesh, &w_out, specs[2].clone()),
    );
    for program in [jit(plain), jit(ring(ONE_WAY)), jit(ring(BOTH_WAYS))] {
        let (x, w_in, w_out) = args.clone();
        assert_equal(&program(x, w_in, w_out), &want);
    }

    // Derivatives go around the ring, too.
    let block = ring(BOTH_WAYS);
    let loss = move |(x, a, b): (Array, Array, Array)| block(x, a, b).square().sum();
    let got = jit(grad(loss))(args);
    let loss = |(x, a, b): (Array, Array, Array)| plain(x, a, b).square().sum();
    let want = grad(loss)((x, w_in, w_out));
    for (g, w) in [(&got.0, &want.0), (&got.1, &want.1), (&got.2, &want.2)] {
        for (g, w) in g.to_vec::<f32>().iter().zip(w.to_vec::<f32>()) {
            assert!((g - w).abs() <= 1e-5 * w.abs().max(1.0), "{g} {w}");
        }
    }
}
