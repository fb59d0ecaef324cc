//! `custom_jvp` and `custom_vjp`: every transformation of functions with rules,
//! and what is said of rules that do not fit.

use ramie_core::options::FirstOnly;
use ramie_core::typing::{SymbolicZeros, Tangents};
use ramie_core::{
    Array, DType, Tree, custom_jvp, custom_jvp_with, custom_vjp, custom_vjp_with, grad, jit, jvp,
    linearize, make_jaxpr, vjp, vmap, vmap_with, where_,
};
use ramie_testing::panic_message;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

type Pair = (Array, Array);

fn scalar(x: f64) -> Array {
    Array::scalar(x, DType::F32)
}

#[track_caller]
fn close(got: &Array, want: &[f32]) {
    let got = got.to_vec::<f32>();
    assert_eq!(got.len(), want.len());
    for (g, w) in got.iter().zip(want) {
        assert!((g - w).abs() <= 1e-5 * w.abs().max(1.0), "{got:?} {want:?}");
    }
}

/// sin(x)·y, with tangents three times as large as they are, which tells the
/// rule from the function.
fn f(x: Array, y: Array) -> Array {
    x.sin() * y
}
fn f_jvp((x, y): Pair, (dx, dy): Pair) -> (Array, Array) {
    let dot = x.cos() * dx * &y + x.sin() * dy;
    (f(x, y), dot * 3.0)
}
fn f_fwd((x, y): Pair) -> (Array, (Array, Array, Array)) {
    let (cos, sin) = (x.cos(), x.sin());
    (f(x, y.clone()), (cos, sin, y))
}
fn f_bwd((cos, sin, y): (Array, Array, Array), ct: Array) -> Pair {
    (cos * y * &ct * 3.0, sin * ct * 3.0)
}

type F2 = Box<dyn Fn(Array, Array) -> Array + Send + Sync>;

fn both() -> [F2; 2] {
    [custom_jvp(f, f_jvp), custom_vjp(f, f_fwd, f_bwd)]
}

#[test]
fn rules_replace_the_derivative() {
    let (x, y) = (scalar(0.5), scalar(2.0));
    let (sin, cos) = (0.5f32.sin(), 0.5f32.cos());
    for g in both() {
        let g = Arc::new(g);
        close(&g(x.clone(), y.clone()), &[sin * 2.0]);
        let h = g.clone();
        let slope = grad(move |x: Array, y: Array| h(x, y));
        close(&slope(x.clone(), y.clone()), &[6.0 * cos]);
        let h = g.clone();
        let compiled = jit(move |x: Array, y: Array| h(x, y));
        close(&compiled(x.clone(), y.clone()), &[sin * 2.0]);
        let (_, pull) = vjp(|(x, y): Pair| compiled(x, y), (x.clone(), y.clone()));
        let (dx, dy) = pull(scalar(1.0));
        close(&dx, &[6.0 * cos]);
        close(&dy, &[3.0 * sin]);
        let (_, pull) = vjp(|(x, y): Pair| (g(x, y.clone()), y), (x.clone(), y.clone()));
        close(
            &jit(move |a: Array, b: Array| pull((a, b)))(scalar(1.0), scalar(1.0)).1,
            &[3.0 * sin + 1.0],
        );
    }
}

#[test]
fn forward_mode_takes_the_rule() {
    let g = custom_jvp(f, f_jvp);
    let at = (scalar(0.5), scalar(2.0));
    let (y, dy) = jvp(|(x, y): Pair| g(x, y), at, (scalar(1.0), scalar(0.0)));
    close(&y, &[0.5f32.sin() * 2.0]);
    close(&dy, &[6.0 * 0.5f32.cos()]);
}

#[test]
fn second_derivatives_are_those_of_the_rule() {
    let (sin, x) = (0.5f32.sin(), scalar(0.5));
    for g in both() {
        let slope = grad(move |x: Array| g(x, Array::scalar(2.0, DType::F32)));
        let curve = grad(move |x: Array| slope(x));
        close(&curve(x.clone()), &[-6.0 * sin]);
        close(&jit(curve)(x.clone()), &[-6.0 * sin]);
    }
}

#[test]
fn batches_take_the_rules_along() {
    let x = Array::from([0.1f32, 0.2, 0.3]);
    let y = scalar(2.0);
    let slopes: Vec<f32> = [0.1f32, 0.2, 0.3].iter().map(|x| 6.0 * x.cos()).collect();
    for g in both() {
        let g = Arc::new(g);
        let h = g.clone();
        let per_example = vmap_with(grad(move |x: Array, y: Array| h(x, y)), [Some(0), None]);
        close(&per_example(x.clone(), y.clone()), &slopes);
        // The batched function is differentiated: its rules are batched.
        let batched = vmap_with(move |x: Array, y: Array| g(x, y), [Some(0), None]);
        let (_, pull) = vjp(|(x, y): Pair| batched(x, y), (x.clone(), y.clone()));
        let (dx, dy) = pull(Array::from([1.0f32, 1.0, 2.0]));
        let scales = [1.0, 1.0, 2.0];
        let want: Vec<f32> = slopes.iter().zip(scales).map(|(s, c)| s * c).collect();
        close(&dx, &want);
        let sum: f32 = [0.1f32, 0.2, 0.3]
            .iter()
            .zip(scales)
            .map(|(x, c)| 3.0 * c * x.sin())
            .sum();
        close(&dy, &[sum]);
        let twice = vmap(|x: Array| batched(x, Array::scalar(2.0, DType::F32)));
        let rows = Array::from([[0.1f32, 0.2, 0.3], [0.1, 0.2, 0.3]]);
        let (_, pull) = vjp(|x: Array| twice(x), rows);
        close(
            &pull(Array::ones(&[2, 3], DType::F32)),
            &[&slopes[..], &slopes].concat(),
        );
    }
    let g = custom_jvp(f, f_jvp);
    let batched = vmap_with(move |x: Array, y: Array| g(x, y), [Some(0), None]);
    let (_, dots) = jvp(
        |x: Array| batched(x, Array::scalar(2.0, DType::F32)),
        x.clone(),
        x.ones_like(),
    );
    close(&dots, &slopes);
}

#[test]
fn programs_are_printed_as_jax_prints_them() {
    let args = || {
        let x = Array::shape_dtype_struct(&[3], DType::F32);
        (x.clone(), x)
    };
    let [g, h] = both();
    let (x, y) = args();
    let text = make_jaxpr(move |x: Array, y: Array| g(x, y) + 1.0)(x, y).to_string();
    let expected = "\
{ lambda ; a:f32[3] b:f32[3]. let
    c:f32[3] = custom_jvp_call[
      name=f
      call_jaxpr={ lambda ; d:f32[3] e:f32[3]. let
          f:f32[3] = sin d
          g:f32[3] = mul f e
        in (g,) }
      jvp=f_jvp
      symbolic_zeros=False
    ] a b
    h:f32[3] = add c 1.0:f32[]
  in (h,) }";
    assert_eq!(text, expected);
    let (x, y) = args();
    let text = make_jaxpr(move |x: Array, y: Array| h(x, y) + 1.0)(x, y).to_string();
    let expected = "\
{ lambda ; a:f32[3] b:f32[3]. let
    c:f32[3] = custom_vjp_call[
      name=f
      bwd=f_bwd
      call_jaxpr={ lambda ; d:f32[3] e:f32[3]. let
          f:f32[3] = sin d
          g:f32[3] = mul f e
        in (g,) }
      fwd=f_fwd
      symbolic_zeros=False
    ] a b
    h:f32[3] = add c 1.0:f32[]
  in (h,) }";
    assert_eq!(text, expected);
}

#[test]
fn zeros_can_be_seen() {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    let g = custom_jvp_with(
        f,
        SymbolicZeros,
        move |(x, y): Pair, dots: Tangents<Pair>| {
            count.fetch_add(dots.leaves().iter().flatten().count(), Ordering::SeqCst);
            assert!(dots.get("1").is_none());
            let out = f(x.clone(), y.clone());
            let dot = dots.get("0").map(|dx| x.cos() * dx * y);
            let dot = Tangents::new(&out, vec![dot]);
            (out, dot)
        },
    );
    let slope = grad(move |x: Array| g(x, Array::scalar(2.0, DType::F32)))(scalar(0.5));
    close(&slope, &[2.0 * 0.5f32.cos()]);
    assert_eq!(seen.load(Ordering::SeqCst), 1);

    let g = custom_vjp_with(
        |x: Array, y: Array| (f(x.clone(), y.clone()), x * y),
        SymbolicZeros,
        |((x, y), perturbed): (Pair, Vec<bool>)| {
            assert_eq!(perturbed, [true, false]);
            let out = (f(x.clone(), y.clone()), &x * &y);
            (out, (x, y))
        },
        |(x, y): Pair, cts: Tangents<Pair>| {
            assert!(cts.get("1").is_none() && !cts.is_zero());
            let dx = cts.get("0").map(|ct| ct * x.cos() * &y);
            Tangents::new(&(x, y), vec![dx, None])
        },
    );
    let slope = grad(move |x: Array| g(x, Array::scalar(2.0, DType::F32)).0)(scalar(0.5));
    close(&slope, &[2.0 * 0.5f32.cos()]);
}

#[test]
fn arguments_without_derivatives() {
    let mask = Array::from([true, false, true]);
    let x = Array::from([1.0f32, 2.0, 3.0]);
    let keep = |x: Array, mask: Array| where_(&mask, &x, 0.0);
    let by_jvp: F2 = custom_jvp_with(keep, FirstOnly, |(x, mask): Pair, dx: Array| {
        (where_(&mask, &x, 0.0), where_(&mask, &dx, 0.0) * 5.0)
    });
    let by_vjp: F2 = custom_vjp_with(
        keep,
        FirstOnly,
        |(x, mask): Pair| (where_(&mask, &x, 0.0), mask),
        |mask: Array, ct: Array| where_(&mask, &ct, 0.0) * 5.0,
    );
    for g in [by_jvp, by_vjp] {
        let slope = grad(move |x: Array, mask: Array| g(x, mask).sum());
        close(&slope(x.clone(), mask.clone()), &[5.0, 0.0, 5.0]);
    }
    let step: F2 = custom_vjp_with(
        |x: Array, step: Array| (x / &step).floor() * step,
        FirstOnly,
        |(x, step): Pair| ((x / &step).floor() * step, ()),
        |(), ct: Array| ct,
    );
    let step = Arc::new(step);
    let inner = step.clone();
    close(
        &grad(move |x: Array| inner(x, Array::scalar(0.5, DType::F32)))(scalar(1.3)),
        &[1.0],
    );
    let text = panic_message(|| {
        grad(move |s: Array| step(Array::scalar(1.3, DType::F32), s))(scalar(0.5))
    });
    assert!(
        text.contains("an argument of `<lambda>` after the first is being differentiated"),
        "{text}"
    );
}

#[derive(Clone)]
struct Layer {
    w: Array,
    scale: f32,
}
impl Tree for Layer {
    fn walk(&self, visitor: &mut dyn ramie_core::tree::Visitor) {
        ramie_core::tree::child(visitor, ramie_core::tree::Key::Field("w"), &self.w);
        self.scale.walk(visitor);
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        visit(&mut self.w);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        Layer {
            w: leaf(&self.w),
            scale: self.scale,
        }
    }
}

#[test]
fn trees_with_fixed_values_and_integers() {
    let g = custom_vjp(
        |l: Layer, i: Array| l.w.take(&i, 0) * l.scale,
        |(l, i): (Layer, Array)| (l.w.take(&i, 0) * l.scale, (l, i)),
        |(l, i): (Layer, Array), ct: Array| {
            let w = l.w.zeros_like().at(&i).add(ct * l.scale * 2.0);
            (Layer { w, scale: l.scale }, i.zeros_like())
        },
    );
    let g = Arc::new(g);
    let layer = |scale| Layer {
        w: Array::from([1.0f32, 2.0, 3.0]),
        scale,
    };
    for scale in [1.0, 4.0] {
        let h = g.clone();
        let slope = grad(move |l: Layer, i: Array| h(l, i).sum());
        let grads = jit(slope)(layer(scale), Array::from([2, 0]));
        close(&grads.w, &[2.0 * scale, 0.0, 2.0 * scale]);
    }
}

#[test]
fn a_rule_may_call_the_function_it_belongs_to() {
    static G: std::sync::LazyLock<Box<dyn Fn(Array) -> Array + Send + Sync>> =
        std::sync::LazyLock::new(|| {
            custom_vjp(
                |x: Array| x.sin(),
                |x: Array| (G(x.clone()), x),
                |x: Array, ct: Array| ct * G(x) * 7.0,
            )
        });
    let slope = grad(|x: Array| G(x));
    close(&slope(scalar(0.5)), &[7.0 * 0.5f32.sin()]);
    close(
        &grad(move |x: Array| slope(x))(scalar(0.5)),
        &[49.0 * 0.5f32.sin()],
    );
    let batch = Array::from([0.5f32, 0.25]);
    let (_, pull) = vjp(|x: Array| vmap(|x: Array| G(x))(x), batch);
    close(
        &pull(Array::ones(&[2], DType::F32)),
        &[7.0 * 0.5f32.sin(), 7.0 * 0.25f32.sin()],
    );
}

#[test]
fn calls_with_one_rule_are_one_function() {
    let twice = |g: F2| {
        let layer = jit(move |x: Array, y: Array| g(x, y));
        let f = jit(move |x: Array| layer(layer(x.clone(), x.clone()), x));
        let x = Array::shape_dtype_struct(&[3], DType::F32);
        f.lower((x,))
            .unwrap()
            .as_text()
            .matches("func.func private")
            .count()
    };
    for g in both() {
        assert_eq!(twice(g), 1);
    }
}

#[test]
fn mistakes_are_explained() {
    let x = Array::from([1.0f32, 2.0, 3.0]);
    let at = || (x.clone(), scalar(2.0));
    let bad: F2 = custom_vjp(f, f_fwd, |(c, s, y): (Array, Array, Array), ct: Array| {
        (c * y * &ct, s * ct)
    });
    let text = panic_message(|| grad(move |a: Pair| bad(a.0, a.1).sum())(at()));
    assert!(
        text.starts_with("custom_vjp: the backward rule of `f` returned a cotangent f32[3] for the argument `1`, which is f32[]"),
        "{text}"
    );
    let bad: F2 = custom_vjp(
        f,
        |(x, y): Pair| (x, y),
        |y: Array, _: Array| (y.clone(), y),
    );
    let text = panic_message(|| {
        grad(move |a: Pair| bad(a.0.clone() + a.0, a.1).sum())((scalar(1.0), x.clone()))
    });
    assert!(
        text.starts_with(
            "custom_vjp: the forward rule of `f` returned a value f32[] for the result, which is f32[3]"
        ),
        "{text}"
    );
    let bad: F2 = custom_jvp(f, |(x, y): Pair, (dx, _): Pair| (f(x, y), dx.sum()));
    let text = panic_message(|| grad(move |a: Pair| bad(a.0, a.1).sum())(at()));
    assert!(
        text.starts_with(
            "custom_jvp: the rule of `f` returned a tangent f32[] for the result, which is f32[3]"
        ),
        "{text}"
    );

    let g = Arc::new(custom_vjp(f, f_fwd, f_bwd));
    let h = g.clone();
    let text = panic_message(|| jvp(|(x, y): Pair| h(x, y), at(), at()));
    assert!(
        text.starts_with("custom_vjp: the function `f` only has a reverse-mode rule"),
        "{text}"
    );
    let h = g.clone();
    let (_, push) = linearize(|(x, y): Pair| h(x, y), at());
    let text = panic_message(|| push(at()));
    assert!(
        text.contains("the function `f` only has a reverse-mode rule"),
        "{text}"
    );

    let captured = |make: fn(Array) -> Box<dyn Fn(Array) -> Array + Send + Sync>| {
        let x = x.clone();
        panic_message(move || grad(move |y: Array| make(y)(x.clone()).sum())(scalar(2.0)))
    };
    let text = captured(|y| {
        let scale = y.clone();
        custom_jvp(move |x: Array| x * &scale, |x: Array, dx: Array| (x, dx))
    });
    assert!(
        text.starts_with(
            "custom_jvp: the function `<lambda>` captures a value that is being differentiated"
        ),
        "{text}"
    );
    let text = captured(|y| {
        let scale = y.clone();
        custom_vjp(
            move |x: Array| x * &scale,
            |x: Array| (x, ()),
            |(), ct: Array| ct,
        )
    });
    assert!(
        text.starts_with(
            "custom_vjp: the function `<lambda>` captures a value that is being differentiated"
        ),
        "{text}"
    );
    // A constant of the program may be captured.
    let table = Array::from([5.0f32, 6.0, 7.0]);
    let copy = table.clone();
    let h = custom_vjp(
        move |x: Array| x * &copy,
        move |x: Array| (x * &table, table.clone()),
        |t: Array, ct: Array| t * ct,
    );
    close(
        &grad(move |x: Array| h(x).sum())(x.clone()),
        &[5.0, 6.0, 7.0],
    );
}
