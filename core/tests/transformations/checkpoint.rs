//! `checkpoint`: what it keeps, what it computes again, and that nothing else
//! changes.

use ramie_core::extend::Jaxpr;
use ramie_core::lax::optimization_barrier;
use ramie_core::options::CheckpointOptions;
use ramie_core::typing::Residual;
use ramie_core::{
    Array, CheckpointPolicy, DType, checkpoint, checkpoint_name, checkpoint_with, einsum, grad,
    jit, jvp, make_jaxpr, saved_residuals, value_and_grad, vjp, vmap, vmap_with,
};

fn vector() -> Array {
    Array::from([0.1f32, 0.5, 0.9])
}

fn struct_like(shape: &[usize]) -> Array {
    Array::shape_dtype_struct(shape, DType::F32)
}

/// How often an operation occurs in a program and those it holds.
fn count(jaxpr: &Jaxpr, name: &str) -> usize {
    let here = jaxpr.eqns.iter().map(|e| {
        let params = e.primitive.params(&[]);
        let inner = params.iter().flat_map(|(_, p)| p.jaxprs());
        usize::from(e.primitive.name() == name) + inner.map(|j| count(j, name)).sum::<usize>()
    });
    here.sum()
}

fn sines(x: Array) -> Array {
    checkpoint_name(x.sin(), "a").sin().sin()
}

/// Two layers with their products and activations, one of them named.
fn layers(w: Array, x: Array) -> Array {
    let hidden = checkpoint_name(w.matmul(&x).tanh(), "hidden");
    w.matmul(&hidden).tanh()
}

fn kept(policy: Option<CheckpointPolicy>) -> Vec<String> {
    let options = CheckpointOptions {
        policy,
        ..Default::default()
    };
    let f = checkpoint_with(layers, options);
    let args = (struct_like(&[3, 3]), struct_like(&[3]));
    let what = |r: Residual| {
        r.to_string()
            .split(" from core")
            .next()
            .unwrap()
            .to_string()
    };
    let found = saved_residuals(move |w: Array, x: Array| f(w, x))(args.0, args.1);
    found.into_iter().map(what).collect()
}

/// How many operations the program of value and gradient has.
fn operations(policy: Option<CheckpointPolicy>, name: &str) -> usize {
    let options = CheckpointOptions {
        policy,
        ..Default::default()
    };
    let f = checkpoint_with(layers, options);
    let both = value_and_grad(move |w: Array, x: Array| f(w, x).sum());
    let program = make_jaxpr(move |w: Array, x: Array| both(w, x));
    count(
        &program(struct_like(&[3, 3]), struct_like(&[3])).jaxpr,
        name,
    )
}

#[test]
fn policies_keep_what_they_say() {
    let w = "f32[3,3] from the argument 0";
    let x = "f32[3] from the argument 1";
    let dot = "f32[3] output of dot_general";
    let hidden = "f32[3] named 'hidden'";
    let nothing = [w, x];
    assert_eq!(kept(None), nothing);
    assert_eq!(kept(Some(CheckpointPolicy::nothing_saveable())), nothing);
    let dots = [w, x, dot, dot];
    assert_eq!(kept(Some(CheckpointPolicy::dots_saveable())), dots);
    let no_batch = CheckpointPolicy::dots_with_no_batch_dims_saveable();
    assert_eq!(kept(Some(no_batch)), dots);
    let named = [w, x, hidden];
    let only = CheckpointPolicy::save_only_these_names(["hidden"]);
    assert_eq!(kept(Some(only.clone())), named);
    let other = CheckpointPolicy::save_any_names_but_these(["other"]);
    assert_eq!(kept(Some(other)), named);
    let none = CheckpointPolicy::save_any_names_but_these(["hidden"]);
    assert_eq!(kept(Some(none)), nothing);
    // On the CPU the host's memory is the device's.
    let offloaded = CheckpointPolicy::save_and_offload_only_these_names(["other"], ["hidden"]);
    assert_eq!(kept(Some(offloaded)), named);
    let offloaded = CheckpointPolicy::offload_dot_with_no_batch_dims();
    assert_eq!(kept(Some(offloaded)), dots);
    let both = CheckpointPolicy::save_from_both_policies(CheckpointPolicy::dots_saveable(), only);
    assert_eq!(kept(Some(both)), [w, x, dot, hidden, dot]);
    let everything = kept(Some(CheckpointPolicy::everything_saveable()));
    assert!(everything.contains(&hidden.to_string()), "{everything:?}");
    let except = CheckpointPolicy::save_anything_except_these_names(["hidden"]);
    let except = kept(Some(except));
    assert!(!except.contains(&hidden.to_string()), "{except:?}");
    let of = |name: &str| except.iter().filter(|r| r.ends_with(name)).count();
    assert_eq!((of("tanh"), of("one_minus_square")), (1, 2), "{except:?}");
    let own = CheckpointPolicy::new(|primitive, types| {
        primitive.name() == "tanh" && types[0].shape() == [3]
    });
    assert!(kept(Some(own)).contains(&"f32[3] output of tanh".to_string()));
}

#[test]
fn what_is_not_kept_is_computed_again() {
    // Two products forwards and three backwards; the last one of the function
    // is computed again too, for its activation.
    assert_eq!(
        operations(Some(CheckpointPolicy::everything_saveable()), "dot_general"),
        5
    );
    assert_eq!(operations(None, "dot_general"), 7);
    assert_eq!(
        operations(Some(CheckpointPolicy::dots_saveable()), "dot_general"),
        5
    );
    assert_eq!(
        operations(Some(CheckpointPolicy::everything_saveable()), "tanh"),
        2
    );
    assert_eq!(operations(None, "tanh"), 4);
    assert_eq!(
        operations(Some(CheckpointPolicy::dots_saveable()), "tanh"),
        4
    );
    let hidden = CheckpointPolicy::save_only_these_names(["hidden"]);
    assert_eq!(operations(Some(hidden.clone()), "dot_general"), 7);
    assert_eq!(operations(Some(hidden), "tanh"), 4);
}

/// Policies see the operations of compiled functions that are called inside.
#[test]
fn policies_look_into_nested_functions() {
    let inner = jit(layers);
    let f = move |w: Array, x: Array| inner(w, x);
    let f = checkpoint_with(f, CheckpointPolicy::dots_saveable());
    let found =
        saved_residuals(move |w: Array, x: Array| f(w, x))(struct_like(&[3, 3]), struct_like(&[3]));
    let dots = found.iter().filter(|r| r.source.contains("dot_general"));
    assert_eq!(dots.count(), 2, "{found:?}");
}

#[test]
fn nothing_else_changes() {
    let policies = [
        None,
        Some(CheckpointPolicy::everything_saveable()),
        Some(CheckpointPolicy::dots_saveable()),
        Some(CheckpointPolicy::save_only_these_names(["hidden"])),
        Some(CheckpointPolicy::save_anything_except_these_names([
            "hidden",
        ])),
    ];
    let w = Array::from([[0.1f32, 0.2, 0.3], [0.4, -0.5, 0.6], [-0.7, 0.8, 0.9]]);
    let x = vector();
    let plain = |w: Array| grad(|w: Array, x: Array| layers(w, x).sum())(w, vector());
    let want = plain(w.clone()).to_vec::<f32>();
    let second = grad(move |w: Array| plain(w).square().sum())(w.clone()).to_vec::<f32>();
    for policy in policies {
        for prevent_cse in [true, false] {
            let options = CheckpointOptions {
                policy: policy.clone(),
                prevent_cse,
            };
            let f = checkpoint_with(layers, options);
            let f = std::sync::Arc::new(f);
            let h = f.clone();
            assert_eq!(
                f(w.clone(), x.clone()).to_vec::<f32>(),
                layers(w.clone(), x.clone()).to_vec::<f32>()
            );
            let slope = grad(move |w: Array, x: Array| h(w, x).sum());
            assert_eq!(slope(w.clone(), x.clone()).to_vec::<f32>(), want);
            let compiled = jit(slope);
            close(&compiled(w.clone(), x.clone()), &want);
            let twice = grad(move |w: Array| compiled(w, vector()).square().sum());
            close(&twice(w.clone()), &second);
            let h = f.clone();
            let (_, dots) = jvp(|w: Array| h(w, vector()), w.clone(), w.clone());
            let (_, expected) = jvp(|w: Array| layers(w, vector()), w.clone(), w.clone());
            close(&dots, &expected.to_vec::<f32>());
            let rows = Array::from([[0.1f32, 0.5, 0.9], [1.0, 2.0, 3.0]]);
            let batched = vmap_with(move |w: Array, x: Array| f(w, x), [None, Some(0)]);
            let (_, pull) = vjp(|w: Array| batched(w, rows.clone()), w.clone());
            let plain = vmap_with(layers, [None, Some(0)]);
            let (_, expected) = vjp(|w: Array| plain(w, rows.clone()), w.clone());
            let ct = Array::ones(&[2, 3], DType::F32);
            close(&pull(ct.clone()), &expected(ct).to_vec::<f32>());
        }
    }
}

#[track_caller]
fn close(got: &Array, want: &[f32]) {
    for (g, w) in got.to_vec::<f32>().iter().zip(want) {
        assert!((g - w).abs() <= 1e-5 * w.abs().max(1.0), "{got:?} {want:?}");
    }
}

#[test]
fn captured_values_and_nesting() {
    let f = |x: Array| {
        let scale = x.cos();
        let inner = checkpoint(move |y: Array| (y.sin() * &scale).sin());
        checkpoint(move |y: Array| inner(y.exp()).sin())(x)
    };
    let plain = |x: Array| ((x.exp().sin() * x.cos()).sin()).sin();
    let x = vector();
    let want = grad(move |x: Array| plain(x).sum())(x.clone());
    close(
        &grad(move |x: Array| f(x).sum())(x.clone()),
        &want.to_vec::<f32>(),
    );
    let batched = vmap(grad(f));
    close(&jit(batched)(x), &want.to_vec::<f32>());
}

#[test]
fn programs_are_printed_as_jax_prints_them() {
    let f = checkpoint(sines);
    let text = make_jaxpr(move |x: Array| f(x))(struct_like(&[3])).to_string();
    let expected = "\
{ lambda ; a:f32[3]. let
    b:f32[3] = remat2[
      differentiated=False
      jaxpr={ lambda ; c:f32[3]. let
          d:f32[3] = sin c
          e:f32[3] = name[name=a] d
          f:f32[3] = sin e
          g:f32[3] = sin f
        in (g,) }
      policy=None
      prevent_cse=True
    ] a
  in (b,) }";
    assert_eq!(text, expected);
    let f = checkpoint(sines);
    let text = make_jaxpr(grad(move |x: Array| f(x).sum()))(struct_like(&[3])).to_string();
    let expected = "\
{ lambda ; a:f32[3]. let
    b:f32[3] = sin a
    c:f32[3] = name[name=a] b
    d:f32[3] = sin c
    e:f32[3] = sin d
    _:f32[] = reduce_sum[axes=(0,) out_sharding=None] e
    f:f32[3] = broadcast_in_dim 1.0:f32[]
    g:f32[3] = remat2[
      differentiated=True
      jaxpr={ lambda ; h:f32[3] i:f32[3]. let
          j:f32[3] = sin h
          k:f32[3] = cos h
          l:f32[3] = name[name=a] j
          m:f32[3] = sin l
          n:f32[3] = cos l
          o:f32[3] = cos m
          p:f32[3] = mul i o
          q:f32[3] = mul p n
          r:f32[3] = mul q k
        in (r,) }
      policy=None
      prevent_cse=True
    ] a f
  in (g,) }";
    assert_eq!(text, expected);
    let f = checkpoint_with(sines, CheckpointPolicy::save_only_these_names(["a"]));
    let text = make_jaxpr(grad(move |x: Array| f(x).sum()))(struct_like(&[3])).to_string();
    let expected = "\
{ lambda ; a:f32[3]. let
    b:f32[3] = sin a
    c:f32[3] = name[name=a] b
    d:f32[3] = reduce_precision[exponent_bits=8 mantissa_bits=23] c
    e:f32[3] = sin d
    f:f32[3] = sin e
    _:f32[] = reduce_sum[axes=(0,) out_sharding=None] f
    g:f32[3] = broadcast_in_dim 1.0:f32[]
    h:f32[3] = remat2[
      differentiated=True
      jaxpr={ lambda ; i:f32[3] j:f32[3] k:f32[3]. let
          l:f32[3] = cos j
          m:f32[3] = sin i
          n:f32[3] = cos i
          o:f32[3] = cos m
          p:f32[3] = mul k o
          q:f32[3] = mul p n
          r:f32[3] = mul q l
        in (r,) }
      policy=SaveOnlyTheseNames(saveable_names=frozenset({'a'}))
      prevent_cse=True
    ] d a g
  in (h,) }";
    assert_eq!(text, expected);
}

/// Without a barrier the compiler would merge what is computed again.
#[test]
fn a_barrier_keeps_the_compiler_from_merging() {
    for prevent_cse in [true, false] {
        let options = CheckpointOptions {
            policy: None,
            prevent_cse,
        };
        let f = checkpoint_with(sines, options);
        let both = jit(value_and_grad(move |x: Array| f(x).sum()));
        let lowered = both.lower((struct_like(&[3]),)).unwrap();
        let barriers = lowered.as_text().matches("optimization_barrier").count();
        assert_eq!(barriers, usize::from(prevent_cse));
        close(
            &both(vector()).1,
            &grad(|x: Array| sines(x).sum())(vector()).to_vec::<f32>(),
        );
    }
}

#[test]
fn barriers_are_transparent() {
    let f = |x: Array, n: Array| {
        let (x, n) = optimization_barrier((x, n));
        x.sin() * n.astype(DType::F32)
    };
    let (x, n) = (vector(), Array::from([1, 2, 3]));
    let want: Vec<f32> = (0..3)
        .map(|i| [0.1f32, 0.5, 0.9][i].cos() * (i + 1) as f32)
        .collect();
    let slope = grad(move |x: Array, n: Array| f(x, n).sum());
    close(&slope(x.clone(), n.clone()), &want);
    close(&jit(slope)(x.clone(), n.clone()), &want);
    let (_, dots) = jvp(
        |x: Array| optimization_barrier((x.clone(), x * 2.0)),
        x.clone(),
        x.clone(),
    );
    close(&dots.1, &[0.2, 1.0, 1.8]);
    close(
        &vmap(f)(x, n),
        &[0.1f32.sin(), 0.5f32.sin() * 2.0, 0.9f32.sin() * 3.0],
    );
}

/// What is saved of functions under each policy, against JAX.
#[test]
fn policies_save_what_those_of_jax_save() {
    type F = fn(Array, Array) -> Array;
    fn layer(x: Array, w: Array) -> Array {
        checkpoint_name(x.matmul(&w), "hidden").sin()
    }
    let programs: [(&str, F); 6] = [
        ("chain", |x, _| {
            checkpoint_name(x.sin(), "hidden").sin().sin()
        }),
        ("two_layers", |x, w| layer(layer(x, w.clone()), w)),
        ("two_names", |x, w| {
            let a = checkpoint_name(x.matmul(&w).sin(), "hidden");
            let b = checkpoint_name(a.exp(), "other");
            (b * a).sum()
        }),
        ("batched_scores", |x, w| {
            let q = checkpoint_name(x.matmul(&w), "hidden").reshape(&[2, 2, 4]);
            let scores = checkpoint_name(einsum("bid,bjd->bij", &[&q, &q]), "scores");
            einsum("bij,bjd->bid", &[&scores.sin(), &q])
        }),
        ("shared_name", |x, _| {
            let hidden = checkpoint_name(&x * &x, "hidden");
            hidden.sin() + hidden.cos()
        }),
        ("jitted", |x, w| {
            let y = jit(layer)(x, w);
            y.cos() * y
        }),
    ];
    let names = ["hidden", "scores"];
    let policies: [(&str, Option<CheckpointPolicy>); 11] = [
        ("none", None),
        ("everything", Some(CheckpointPolicy::everything_saveable())),
        ("nothing", Some(CheckpointPolicy::nothing_saveable())),
        ("dots", Some(CheckpointPolicy::dots_saveable())),
        (
            "dots_no_batch",
            Some(CheckpointPolicy::dots_with_no_batch_dims_saveable()),
        ),
        ("only", Some(CheckpointPolicy::save_only_these_names(names))),
        (
            "any_name_but",
            Some(CheckpointPolicy::save_any_names_but_these(names)),
        ),
        (
            "anything_except",
            Some(CheckpointPolicy::save_anything_except_these_names(names)),
        ),
        (
            "both",
            Some(CheckpointPolicy::save_from_both_policies(
                CheckpointPolicy::dots_saveable(),
                CheckpointPolicy::save_only_these_names(["hidden"]),
            )),
        ),
        (
            "offload",
            Some(CheckpointPolicy::save_and_offload_only_these_names(
                ["other"],
                ["hidden"],
            )),
        ),
        (
            "offload_dots",
            Some(CheckpointPolicy::offload_dot_with_no_batch_dims()),
        ),
    ];
    let recorded: serde_json::Value = ramie_testing::golden::json("checkpoint_policies.json");
    let mut wrong = Vec::new();
    for (program, f) in programs {
        for (name, policy) in &policies {
            let options = CheckpointOptions {
                policy: policy.clone(),
                ..Default::default()
            };
            let x = struct_like(&[4, 4]);
            let found = saved_residuals(checkpoint_with(f, options))(x.clone(), x);
            let mut kept: Vec<String> = found.iter().map(|r| r.aval.to_string()).collect();
            kept.sort();
            let want: Vec<String> =
                serde_json::from_value(recorded[program][name].clone()).expect("types");
            if kept != want {
                wrong.push(format!(
                    "{program} {name}: {kept:?} instead of {want:?}\n{found:?}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
