//! Named scopes, and the source lines of operations.
use ramie_core::extend::{ClosedJaxpr, Eqn, Jaxpr};
use ramie_core::lax::{cond, fori_loop, map, scan_with, while_loop};
use ramie_core::options::{ScanOptions, ShardMapOptions};
use ramie_core::*;
use ramie_testing::cpu_devices;

fn layers(x: Array) -> Array {
    let y = named_scope("norm", || {
        let y = x.sin();
        named_scope("inner", || y * 2.0)
    });
    y + 1.0
}

fn number() -> Array {
    Array::shape_dtype_struct(&[], DType::F32)
}

/// Every test that may start the runtime calls this first.
fn two_devices() {
    cpu_devices(2);
}

#[test]
fn equations_keep_their_scopes_through_transformations() {
    two_devices();
    let printed = |jaxpr: ClosedJaxpr| jaxpr.jaxpr.to_string_with_scopes();
    assert_eq!(
        printed(make_jaxpr(layers)(number())),
        "{ lambda ; a:f32[]. let
    b:f32[] = sin a           # [norm]
    c:f32[] = mul b 2.0:f32[] # [norm/inner]
    d:f32[] = add c 1.0:f32[]
  in (d,) }"
    );
    let gradient = printed(make_jaxpr(grad(layers))(number()));
    assert!(
        gradient.contains("c:f32[] = cos a                   # [norm]\n"),
        "{gradient}"
    );
    assert!(
        gradient.contains("e:f32[] = mul 1.0:f32[] 2.0:f32[] # [norm/inner]\n"),
        "{gradient}"
    );
    let rows = Array::shape_dtype_struct(&[2], DType::F32);
    let batched = printed(make_jaxpr(vmap(layers))(rows));
    assert!(
        batched.contains("b:f32[2] = sin a           # [norm]"),
        "{batched}"
    );
}

#[test]
fn lowered_programs_have_scopes_and_lines_in_their_locations() {
    two_devices();
    let lowered = jit(layers).lower((number(),)).unwrap();
    let text = lowered.as_text_with_locations();
    let place = |function: &str| {
        let line = text.lines().find(|l| l.contains(function)).unwrap();
        let id = line.rsplit_once("loc(").unwrap().1.trim_end_matches(')');
        let definition = text
            .lines()
            .find(|l| l.starts_with(&format!("{id} = ")))
            .unwrap();
        definition.to_string()
    };
    let sine = place("stablehlo.sine");
    assert!(
        sine.contains("loc(\"norm\"(\"") && sine.contains("scope.rs\":10:"),
        "{sine}"
    );
    let product = place("stablehlo.multiply");
    assert!(
        product.contains("loc(\"norm/inner\"(") && product.contains("scope.rs\":11:"),
        "{product}"
    );
    let sum = place("stablehlo.add");
    assert!(
        !sum.contains("norm") && sum.contains("scope.rs\":13:"),
        "{sum}"
    );
    assert!(
        !lowered.as_text().contains("norm"),
        "names are in locations only"
    );
    lowered
        .compile()
        .expect("the compiler reads named locations");
}

#[test]
fn a_shared_program_has_the_scopes_of_its_own() {
    two_devices();
    let inner = jit(layers);
    let f = |x: Array| {
        let y = named_scope("first", || inner(x));
        named_scope("second", || inner(y))
    };
    let jaxpr = make_jaxpr(f)(number());
    let scopes: Vec<&str> = jaxpr.jaxpr.eqns.iter().map(|e| e.scope.name()).collect();
    assert_eq!(scopes, ["first", "second"]);
    let text = jaxpr.jaxpr.to_string_with_scopes();
    assert!(
        text.contains("[norm]") && !text.contains("[first/norm]"),
        "{text}"
    );
}

/// The scoped operations that every transformation must keep apart from its own.
fn body(x: Array) -> Array {
    named_scope("body", || x.sin() * x.tanh())
}

/// The equations of a program and of the programs in it.
fn equations(jaxpr: &Jaxpr) -> Vec<Eqn> {
    let mut all = Vec::new();
    for eqn in &jaxpr.eqns {
        let inner = eqn.primitive.params(&[]);
        let inner = inner.iter().flat_map(|(_, p)| p.jaxprs());
        let nested: Vec<Eqn> = inner.flat_map(|j| equations(j)).collect();
        if nested.is_empty() {
            all.push(eqn.clone());
        }
        all.extend(nested);
    }
    all
}

type Form = Box<dyn Fn(Array) -> Array + Send + Sync>;

/// The scoped operations in every construct that contains a program.
fn forms() -> Vec<(&'static str, Form)> {
    let names = || CheckpointPolicy::save_only_these_names(["none"]);
    let three = || ScanOptions {
        length: Some(3),
        ..Default::default()
    };
    let row = |x: Array| x.broadcast_to(&[2]);
    vec![
        ("plain", Box::new(body)),
        ("jit", Box::new(|x| jit(body)(x))),
        ("jit in jit", Box::new(|x| jit(|x: Array| jit(body)(x))(x))),
        ("checkpoint", Box::new(|x| checkpoint(body)(x))),
        (
            "checkpoint of a jitted function",
            Box::new(move |x| checkpoint_with(|x: Array| jit(body)(x), names())(x)),
        ),
        (
            "scan",
            Box::new(move |x| scan_with(|c: Array, ()| (body(c), ()), x, (), three()).0),
        ),
        (
            "scan of a jitted function",
            Box::new(move |x| scan_with(|c: Array, ()| (jit(body)(c), ()), x, (), three()).0),
        ),
        (
            "fori_loop",
            Box::new(|x| fori_loop(0, 3, |_, c: Array| body(c), x)),
        ),
        (
            "while_loop",
            Box::new(|x| while_loop(|c: Array| c.lt(0.5), body, x)),
        ),
        ("cond", Box::new(|x: Array| cond(x.gt(0.0), body, |x| x, x))),
        ("map", Box::new(move |x| map(body, row(x)).sum())),
        ("vmap", Box::new(move |x| vmap(body)(row(x)).sum())),
        (
            "checkpoint in fori_loop",
            Box::new(|x| fori_loop(0, 3, |_, c: Array| checkpoint(body)(c), x)),
        ),
        (
            "fori_loop in checkpoint",
            Box::new(|x| checkpoint(|x| fori_loop(0, 3, |_, c: Array| body(c), x))(x)),
        ),
        (
            "custom_jvp",
            Box::new(|x| custom_jvp(body, |x: Array, t: Array| (body(x.clone()), body(x) * t))(x)),
        ),
        (
            "custom_vjp",
            Box::new(|x| {
                custom_vjp(
                    body,
                    |x: Array| (body(x.clone()), x),
                    |x: Array, ct: Array| body(x) * ct,
                )(x)
            }),
        ),
        (
            "shard_map",
            Box::new(move |x| {
                let mesh = make_mesh(&[2], &["i"]).expect("two devices");
                let options = ShardMapOptions {
                    mesh: Some(mesh),
                    ..ShardMapOptions::new(P!["i"], P!["i"])
                };
                shard_map_with(body, options)(row(x)).sum()
            }),
        ),
    ]
}

/// Every equation that comes from the scoped operations is in their scope and at
/// their line; all others are at a line of this file.
fn check(label: &str, program: &ClosedJaxpr) {
    let all = equations(&program.jaxpr);
    let scoped = |e: &&Eqn| ["sin", "cos", "tanh"].contains(&e.primitive.name());
    let line = all
        .iter()
        .find(scoped)
        .expect("an operation")
        .location
        .line();
    for e in &all {
        let described = format!(
            "{label}: {} [{}] at {}",
            e.primitive.name(),
            e.scope,
            e.location
        );
        assert!(e.location.file().ends_with("scope.rs"), "{described}");
        let inside = e.location.line() == line;
        assert!(inside || !scoped(&e), "{described}");
        assert_eq!(e.scope.name() == "body", inside, "{described}");
    }
}

#[test]
fn every_transformation_keeps_scopes_and_lines() {
    two_devices();
    let rows = || Array::shape_dtype_struct(&[2], DType::F32);
    for (name, f) in &forms() {
        let f = |x: Array| f(x);
        let traced = |how: &str, program: ClosedJaxpr| check(&format!("{how} {name}"), &program);
        traced("", make_jaxpr(f)(number()));
        if *name != "custom_vjp" {
            traced("jvp", make_jaxpr(|x: Array| jvp(f, x.clone(), x))(number()));
        }
        if *name != "shard_map" {
            let checked = |x: Array| checkify::checkify(f, checkify::Errors::USER)(x).1;
            traced("checkify", make_jaxpr(checked)(number()));
            traced("vmap", make_jaxpr(vmap(f))(rows()));
        }
        if *name == "while_loop" {
            continue;
        }
        let slope = |x: Array| grad(f)(x);
        traced("grad", make_jaxpr(slope)(number()));
        if *name != "shard_map" {
            traced("vmap of grad", make_jaxpr(vmap(slope))(rows()));
        }
        let linearized = |x: Array| {
            let (y, push) = linearize(f, x.clone());
            (y, push(x))
        };
        if *name != "custom_vjp" {
            traced("linearize", make_jaxpr(linearized)(number()));
            traced(
                "grad of grad",
                make_jaxpr(|x: Array| grad(slope)(x))(number()),
            );
        }
        let lowered = jit(slope).lower((number(),)).expect("a program");
        let text = lowered.as_text_with_locations();
        for line in text.lines() {
            if ["sine", "cosine", "tanh"]
                .iter()
                .any(|op| line.contains(&format!("stablehlo.{op} ")))
            {
                let id = line
                    .rsplit_once("loc(")
                    .expect("a location")
                    .1
                    .trim_end_matches(')');
                let named = format!("{id} = loc(\"body\"(");
                assert!(text.contains(&named), "{name}: {line}");
            }
        }
    }
}
