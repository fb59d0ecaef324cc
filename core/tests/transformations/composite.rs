//! Functions under the name of an operation.

use ramie_core::lax::composite;
use ramie_core::typing::CompositeName;
use ramie_core::{Array, DType, custom_jvp, grad, jit, make_jaxpr, vmap};

type Pair = (Array, Array);

fn named() -> CompositeName {
    CompositeName::new("my.both")
        .version(3)
        .attribute("text", "a \"quoted\"\nline")
        .attribute("scale", 0.1f32)
        .attribute("count", -7i64)
        .attribute("flag", true)
}

fn both(x: Array, y: Array) -> Pair {
    (x.sin() * &y, x + y)
}

#[test]
fn compilers_that_do_not_know_it_run_the_function() -> ramie_core::Result<()> {
    for dtype in DType::COMMON {
        for shape in [&[3][..], &[], &[0, 2]] {
            let f = jit(composite(|x: Array| &x + &x, "my.double"));
            let x = Array::ones(shape, DType::I32).astype(dtype);
            let expected = &x + &x;
            let out = f(x);
            assert_eq!(out.aval(), expected.aval());
            assert!(out.eq(expected).all().item::<bool>());
        }
    }
    let f = composite(both, named());
    let compiled = jit(move |x: Array, y: Array| f(x, y));
    let x = || Array::from([0.5f32, 1.0]);
    let text = compiled.lower((x(), x()))?.as_text();
    for part in [
        "\"stablehlo.composite\"",
        "name = \"my.both\"",
        "version = 3 : i32",
        "count = -7 : i64, flag = true, scale = 0x3DCCCCCD : f32, text = \"a \\22quoted\\22\\0Aline\"",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let (p, q) = compiled(x(), x());
    let (known_p, known_q) = both(x(), x());
    assert!(p.allclose(known_p).item::<bool>());
    assert_eq!(q.to_vec::<f32>(), known_q.to_vec::<f32>());
    Ok(())
}

#[test]
fn programs_show_it_as_one_operation() {
    let scale = Array::from([2.0f32, 3.0]);
    let f = composite(move |x: Array| x * &scale, named());
    let x = Array::from([1.0f32, 1.0]);
    assert_eq!(f(x.clone()).to_vec::<f32>(), [2.0, 3.0]);
    let program = make_jaxpr(move |x: Array| f(x))(x);
    assert_eq!(program.jaxpr.eqns.len(), 1);
    let text = program.to_string();
    assert!(
        text.contains("composite[") && text.contains("name=my.both"),
        "{text}"
    );
}

#[test]
fn batches_are_those_of_its_operations() {
    let f = composite(|x: Array| x.sin().sum(), "my.sum_of_sines");
    let batch = vmap(move |x: Array| f(x));
    let x = Array::from([[0.1f32, 0.2], [0.3, 0.4], [0.5, 0.6]]);
    let expected = x.sin().sum_over(1);
    assert!(jit(batch)(x).allclose(expected).item::<bool>());
}

#[test]
fn rules_give_it_a_derivative() {
    let f = composite(|x: Array| x.sin(), "my.sine");
    let f = custom_jvp(
        move |x: Array| f(x),
        |x: Array, dx: Array| (x.sin(), x.cos() * dx),
    );
    let slope = jit(grad(move |x: Array| f(x)))(Array::from(0.5f32));
    assert!((slope.item::<f32>() - 0.5f32.cos()).abs() < 1e-6);
}

#[test]
#[should_panic(expected = "composite: has no derivative")]
fn it_has_no_derivative_of_its_own() {
    let f = composite(|x: Array| x.sin(), "my.sine");
    grad(move |x: Array| f(x))(Array::from(0.5f32));
}

#[test]
#[should_panic(expected = "composite: \"sine\" is not a valid operation name")]
fn names_have_a_dialect() {
    let _ = composite(|x: Array| x.sin(), "sine");
}
