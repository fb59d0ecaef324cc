//! Experts: `out[i] = w[b[i]] @ a[i]`, on one device and over eight.

#[path = "../../examples/moe/experts.rs"]
mod experts;

use crate::{assert_equal, mesh, on, whole};
use experts::{
    moe_all_gather, moe_all_to_all, moe_buffer, moe_exchange, moe_grouped, moe_masked, top_k,
};
use ramie::*;

const TOKENS: usize = 128;
const EXPERTS: usize = 16;
const DEPTH: usize = 12;
const WIDTH: usize = 20;

/// Matrices, tokens, and the experts that tokens go to; one device's experts get
/// more than their share, and one expert gets nothing.
fn parts(k: usize) -> (Array, Array, Array) {
    let expert = |i: usize| match i % 3 {
        0 => 5,
        1 => (i / 3) % 4,
        _ => (i * 5) % 15,
    };
    let b: Vec<i32> = (0..TOKENS * k).map(|i| expert(i) as i32).collect();
    let shape = if k == 1 {
        vec![TOKENS]
    } else {
        vec![TOKENS, k]
    };
    (
        whole(1, &[EXPERTS, DEPTH, WIDTH]),
        whole(2, &[TOKENS, DEPTH]),
        Array::from_vec(b, &shape),
    )
}

/// The definition, token by token.
fn by_definition(w: &Array, a: &Array, b: &Array) -> Array {
    let rows: Vec<Array> = b
        .to_vec::<i32>()
        .iter()
        .enumerate()
        .map(|(i, &e)| a.index(i as isize).matmul(w.index(e as isize)))
        .collect();
    stack(&rows.iter().collect::<Vec<_>>(), 0)
}

type Moe = Box<dyn Fn(Array, Array, Array) -> Array + Send + Sync>;

fn sharded(f: impl Fn(Array, Array, Array) -> Array + Send + Sync + 'static) -> Moe {
    shard_map(f, mesh(&[8], &["X"]), P!["X"], P!["X"])
}

#[test]
fn each_token_meets_its_expert() {
    let mesh = mesh(&[8], &["X"]);
    let (w, a, b) = parts(1);
    let want = by_definition(&w, &a, &b);
    assert_equal(&jit(moe_masked)(w.clone(), a.clone(), b.clone()), &want);
    assert_equal(&jit(moe_buffer)(w.clone(), a.clone(), b.clone()), &want);
    assert_equal(&jit(moe_grouped)(w.clone(), a.clone(), b.clone()), &want);
    let args = || {
        (
            on(mesh, &w, P!["X"]),
            on(mesh, &a, P!["X"]),
            on(mesh, &b, P!["X"]),
        )
    };
    let programs: [Moe; 7] = [
        Box::new(moe_masked),
        Box::new(moe_buffer),
        Box::new(moe_grouped),
        sharded(moe_all_gather),
        // One round for the fullest pair of devices, and several.
        sharded(|w, a, b| moe_all_to_all(w, a, b, 16)),
        sharded(|w, a, b| moe_all_to_all(w, a, b, 3)),
        sharded(|w, a, b| moe_exchange(w, a, b, 5)),
    ];
    for program in programs {
        let (w, a, b) = args();
        assert_equal(&jit(program)(w, a, b), &want);
    }
}

#[test]
fn each_token_meets_several_experts() {
    let mesh = mesh(&[8], &["X"]);
    let (w, a, b) = parts(2);
    let each = |k: usize| by_definition(&w, &a, &b.index((.., k as isize)));
    let want = (each(0) + each(1)) / 2.0;
    assert_equal(&top_k(moe_grouped)(w.clone(), a.clone(), b.clone()), &want);
    let args = (
        on(mesh, &w, P!["X"]),
        on(mesh, &a, P!["X"]),
        on(mesh, &b, P!["X"]),
    );
    for program in [
        sharded(top_k(moe_all_gather)),
        sharded(top_k(|w, a, b| moe_all_to_all(w, a, b, 8))),
    ] {
        let (w, a, b) = args.clone();
        assert_equal(&jit(program)(w, a, b), &want);
    }
}

/// The shapes of all values in a printed program that differ between devices:
/// those inside of the `shard_map`, as of `f32[128,12]{V:X}`.
fn parts_in(text: &str) -> Vec<Vec<usize>> {
    let shape = |before: &str| -> Vec<usize> {
        let inside = &before[before.rfind('[').expect("a bracket") + 1..];
        let sizes = inside.split(',').filter(|s| !s.is_empty());
        sizes.map(|s| s.parse().expect("a number")).collect()
    };
    let ends = text.match_indices("]{V:X}");
    ends.map(|(at, _)| shape(&text[..at])).collect()
}

#[test]
fn tokens_of_others_are_never_all_here() {
    let mesh = mesh(&[8], &["X"]);
    let (w, a, b) = parts(1);
    let chunk = 4;
    let exchange = sharded(move |w, a, b| moe_all_to_all(w, a, b, chunk));
    let args = || (w.clone(), a.clone(), b.clone());
    let text = make_jaxpr(exchange)(args().0, args().1, args().2).to_string();
    assert!(text.contains("while") && text.contains("all_to_all"));
    // A device has its parts, and a chunk from each device.
    let most = [
        EXPERTS / 8 * DEPTH * WIDTH,
        8 * chunk * WIDTH,
        TOKENS / 8 * WIDTH,
    ];
    let most = most.into_iter().max().expect("three numbers");
    let inside = parts_in(&text);
    assert!(inside.len() > 50, "{text}");
    for shape in &inside {
        let elements: usize = shape.iter().product();
        assert!(
            elements <= most && shape[..] != [TOKENS, DEPTH],
            "{shape:?} in {text}"
        );
    }
    // The same eyes see what the other program gathers.
    let text = make_jaxpr(sharded(moe_all_gather))(args().0, args().1, args().2).to_string();
    assert!(
        parts_in(&text).iter().any(|s| s[..] == [TOKENS, DEPTH]),
        "{text}"
    );

    // What is compiled sends chunks, and gathers nothing.
    let exchange = jit(sharded(move |w, a, b| moe_all_to_all(w, a, b, chunk)));
    let sharding = NamedSharding::new(mesh, P!["X"]);
    let (w, a, b) = device_put(&args(), sharding);
    let text = exchange.compile((w, a, b)).unwrap().as_text().unwrap();
    assert!(
        text.contains("all-to-all") && !text.contains("all-gather"),
        "{text}"
    );
    // The linked backend splits the whole arrays itself.
    assert!(
        ramie_testing::is_linked() || !text.contains(&format!("f32[{TOKENS},{DEPTH}]")),
        "{text}"
    );
    assert!(
        !text.contains(&format!("f32[{EXPERTS},{TOKENS},{DEPTH}]")),
        "{text}"
    );
    assert!(
        !text.contains(&format!("f32[{TOKENS},{DEPTH},{WIDTH}]")),
        "{text}"
    );
}
