//! Named scopes, and the source lines of operations.
use ramie_core::*;

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

#[test]
fn equations_keep_their_scopes_through_transformations() {
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
        sine.contains("loc(\"norm\"(\"") && sine.contains("scope.rs\":6:"),
        "{sine}"
    );
    let product = place("stablehlo.multiply");
    assert!(
        product.contains("loc(\"norm/inner\"(") && product.contains("scope.rs\":7:"),
        "{product}"
    );
    let sum = place("stablehlo.add");
    assert!(
        !sum.contains("norm") && sum.contains("scope.rs\":9:"),
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
