//! `jit`: caching, donation, state, nesting, staging, explanations.
use ramie_core::options::JitOptions;
use ramie_core::*;
use ramie_testing::panic_message;

fn f32s(v: &[f32]) -> Array {
    Array::from(v)
}

#[test]
fn compiles_once_per_signature_and_says_why() {
    let f = jit(|x: Array, scale: f32| &x * scale);
    assert_eq!(f(f32s(&[1.0, 2.0]), 2.0).to_vec::<f32>(), [2.0, 4.0]);
    f(f32s(&[3.0, 4.0]), 2.0);
    assert_eq!(f.compilations(), 1);
    f(f32s(&[3.0, 4.0, 5.0]), 2.0);
    assert_eq!(f.compilations(), 2);
    let why = f.last_retrace().expect("a reason");
    assert!(why.contains("`args.0` changed from f32[2]"), "{why}");
    assert!(why.contains("to f32[3]"), "{why}");
    f(f32s(&[3.0, 4.0, 5.0]), 3.0);
    let why = f.last_retrace().expect("a reason");
    assert_eq!(why, "`args.1` changed from 2.0 to 3.0");
}

#[test]
fn the_cache_evicts() {
    let options = JitOptions {
        cache_limit: 2,
        ..Default::default()
    };
    let f = jit_with(|x: Array| &x + 1.0, options);
    for n in [1usize, 2, 3, 3, 2, 1] {
        f(Array::zeros(&[n], DType::F32));
    }
    assert_eq!(f.compilations(), 4);
}

#[test]
fn state_is_updated_in_place_where_nothing_else_holds_it() {
    let step = jit(|s: &mut (Array, Array), by: Array| {
        s.0 = &s.0 + &by;
        s.1 = &s.1 + 1;
        s.0.sum_over(0)
    });
    let mut s = (f32s(&[1.0; 1000]), Array::from(0i32));
    step(&mut s, Array::from(1.0f32));
    let kept = s.0.clone();
    step(&mut s, Array::from(1.0f32));
    assert_eq!(
        kept.to_vec::<f32>()[0],
        2.0,
        "a held array is not overwritten"
    );
    let sum = step(&mut s, Array::from(1.0f32));
    assert_eq!(s.0.to_vec::<f32>(), vec![4.0; 1000]);
    assert_eq!(s.1.item::<i32>(), 3);
    assert_eq!(sum.item::<f32>(), 4000.0);
    assert_eq!(
        step.compilations(),
        1,
        "a scalar on the host and an array are the same type"
    );
}

#[test]
fn one_array_in_two_places_is_safe() {
    let f = jit(|s: &mut (Array, Array)| {
        s.0 = &s.0 + 1.0;
        s.1 = &s.1 * 2.0;
    });
    let x = &f32s(&[3.0]) + 0.0;
    let mut s = (x.clone(), x);
    f(&mut s);
    assert_eq!((s.0.item::<f32>(), s.1.item::<f32>()), (4.0, 6.0));
}

#[test]
fn a_panic_while_tracing_leaves_the_state() {
    let f = jit(|s: &mut Array, x: Array| {
        *s = &*s + &x;
        let _ = s.to_vec::<f32>();
    });
    let mut s = f32s(&[1.0]);
    let message = panic_message(|| f(&mut s, f32s(&[1.0])));
    assert!(message.contains("not known at trace time"), "{message}");
    assert!(!is_tracing());
    assert_eq!(s.item::<f32>(), 1.0);
}

#[test]
fn nested_functions_differentiate_and_batch() {
    let square = jit(|x: Array| &x * &x);
    let f = |x: Array| square(x.clone()).sum_over(0) + square(x).sum_over(0);
    let x = f32s(&[1.0, 2.0]);
    assert_eq!(grad(f)(x.clone()).to_vec::<f32>(), [4.0, 8.0]);
    assert_eq!(jit(grad(f))(x.clone()).to_vec::<f32>(), [4.0, 8.0]);
    let (y, dy) = jvp(f, x.clone(), x.clone());
    assert_eq!((y.item::<f32>(), dy.item::<f32>()), (10.0, 20.0));
    let h = grad(|x: Array| grad(f)(x).sum_over(0));
    assert_eq!(h(x.clone()).to_vec::<f32>(), [4.0, 4.0]);
    let m = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
    assert_eq!(
        vmap(grad(f))(m.clone()).to_vec::<f32>(),
        [4.0, 8.0, 12.0, 16.0]
    );
    assert_eq!(
        vmap(jit(grad(f)))(m).to_vec::<f32>(),
        [4.0, 8.0, 12.0, 16.0]
    );
    // Equal nested programs are lowered to one function.
    let text = jit(f).lower((x,)).expect("lowers").as_text();
    assert_eq!(text.matches("func.func private").count(), 1, "{text}");
}

#[test]
fn closures_capture_arrays_and_outer_tracers() {
    let w = f32s(&[2.0, 3.0]);
    let f = jit({
        let w = w.clone();
        move |x: Array| (&x * &w).sum_over(0)
    });
    assert_eq!(f(f32s(&[1.0, 1.0])).item::<f32>(), 5.0);
    let g = |x: Array| {
        let inner = |y: Array| (&y * &x).sum_over(0);
        (grad(inner)(x.clone()) * 3.0).sum_over(0)
    };
    assert_eq!(grad(g)(w).to_vec::<f32>(), [3.0, 3.0]);
}

#[test]
fn stages_report_text_cost_and_memory() {
    let f = jit(|x: Array, y: Array| (&x * &y).sin());
    let like = || Array::shape_dtype_struct(&[64], DType::F32);
    let lowered = f.lower((like(), like())).expect("lowers");
    assert!(
        lowered.as_text().contains("stablehlo.sine"),
        "{}",
        lowered.as_text()
    );
    assert!(lowered.as_text_with_locations().contains("jit.rs"));
    let compiled = lowered.compile().expect("compiles");
    assert!(
        compiled
            .cost_analysis()
            .expect("cost")
            .iter()
            .any(|(k, _)| k == "flops")
    );
    assert_eq!(compiled.memory_analysis().expect("memory").argument, 512);
    let x = Array::zeros(&[64], DType::F32);
    let y = compiled.run((x.clone(), x.clone())).expect("runs");
    assert_eq!(y.to_vec::<f32>(), vec![0.0; 64]);
    let wrong = compiled.run((x, Array::zeros(&[63], DType::F32)));
    let message = wrong.expect_err("refused").to_string();
    assert!(
        message.contains("`args.1` changed from f32[64] to f32[63]"),
        "{message}"
    );
}

#[test]
fn fixed_values_may_change_in_the_state() {
    let f = jit(|s: &mut (Array, usize)| {
        s.0 = &s.0 * 2.0;
        s.1 += 1;
    });
    let mut s = (f32s(&[1.0]), 0usize);
    f(&mut s);
    f(&mut s);
    assert_eq!((s.0.item::<f32>(), s.1), (4.0, 2));
}

#[test]
fn a_leaked_tracer_is_an_error_that_says_so() {
    let leaked = std::sync::Mutex::new(None);
    let f = |x: Array| {
        let y = &x + 1.0;
        *leaked.lock().expect("lock") = Some(y.clone());
        y.sum_over(0)
    };
    grad(f)(f32s(&[1.0]));
    let y = leaked.lock().expect("lock").take().expect("kept");
    let message = panic_message(|| &y + 1.0);
    assert!(message.contains("leaked tracer"), "{message}");
    assert!(message.contains("jit.rs"), "{message}");
    let message = panic_message(|| y.item::<f32>());
    assert!(
        message.starts_with("item: a tracer f32[1] was used after its trace ended"),
        "{message}"
    );
}

#[test]
fn grad_of_a_vector_is_an_error_that_says_so() {
    let message = panic_message(|| grad(|x: Array| &x * 2.0)(f32s(&[1.0, 2.0])));
    assert!(message.contains("must return a scalar"), "{message}");
}

/// The memory of an argument that is passed by value is the caller's, however many
/// handles there are at the first call.
#[test]
fn arguments_are_donated_where_the_options_name_them() {
    let f = |x: Array, y: Array| (x + 1.0, y * 2.0);
    let aliased = |options: JitOptions, x: Array, y: Array| {
        let lowered = jit_with(f, options).lower((x, y)).expect("lowers");
        lowered.as_text().matches("tf.aliasing_output").count()
    };
    let donating = |argnums: &[usize]| JitOptions {
        donate_argnums: argnums.into(),
        ..Default::default()
    };
    let abstractly = Array::shape_dtype_struct(&[2], DType::F32);
    for (argnums, count) in [(&[][..], 0), (&[1][..], 1), (&[0, 1][..], 2)] {
        let (x, y) = (f32s(&[1.0, 2.0]), f32s(&[3.0, 4.0]));
        assert_eq!(aliased(donating(argnums), x, y), count);
        let both = (abstractly.clone(), abstractly.clone());
        assert_eq!(aliased(donating(argnums), both.0, both.1), count);
    }
    let lowered = jit_with(f, donating(&[1])).lower((abstractly.clone(), abstractly));
    let args: Vec<_> = lowered
        .expect("lowers")
        .args_info()
        .iter()
        .map(|arg| (arg.path.clone(), arg.aval.to_string(), arg.donated))
        .collect();
    let arg = |path: &str, donated| (path.to_string(), "f32[2]".to_string(), donated);
    assert_eq!(args, [arg("args.0", false), arg("args.1", true)]);
    // An array that is held is copied.
    let g = jit_with(f, donating(&[0, 1]));
    let (x, y) = (f32s(&[1.0, 2.0]), f32s(&[3.0, 4.0]));
    let (sum, product) = g(x.clone(), y);
    assert_eq!(x.to_vec::<f32>(), [1.0, 2.0]);
    assert_eq!(sum.to_vec::<f32>(), [2.0, 3.0]);
    assert_eq!(product.to_vec::<f32>(), [6.0, 8.0]);
}

/// An array of the state that the function leaves unchanged keeps its buffer.
#[test]
fn unchanged_state_is_no_result_of_the_program() {
    type State = [Array; 4];
    let step = jit(|[a, by, b, spare]: &mut State, x: Array| {
        *a += &x * &*by;
        *b = &*a - &*by;
        _ = spare;
        &*a + &*b
    });
    let mut state: State = [1.0, 2.0, 3.0, 4.0].map(|x| f32s(&[x, x]));
    let x = f32s(&[1.0, 10.0]);
    let lowered = step.lower_with(&state, (x.clone(),)).expect("lowers");
    let text = lowered.as_text();
    assert_eq!(text.matches("tf.aliasing_output").count(), 2, "{text}");
    let results = "-> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)";
    assert!(text.contains(results), "{text}");
    let held = state.clone();
    for _ in 0..2 {
        let sum = step(&mut state, x.clone());
        let [a, b] = [&state[0], &state[2]].map(Array::to_vec::<f32>);
        let both: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert_eq!(sum.to_vec::<f32>(), both);
    }
    let values = state.map(|x| x.to_vec::<f32>());
    assert_eq!(values, [[5.0, 41.0], [2.0, 2.0], [3.0, 39.0], [4.0, 4.0]]);
    let values = held.map(|x| x.to_vec::<f32>());
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0].map(|x| [x, x]));
}

#[test]
#[should_panic(expected = "donate_argnums contains 1, but the function has 1 arguments")]
fn an_argument_that_is_not_there_cannot_be_donated() {
    let options = JitOptions {
        donate_argnums: vec![1],
        ..Default::default()
    };
    let f = jit_with(|s: &mut Array, x: Array| *s += x, options);
    f(&mut Array::from(1.0f32), Array::from(2.0f32));
}

#[test]
fn functions_of_one_program_have_names_of_their_own() {
    let named = |name: &str, factor: f32| {
        let options = JitOptions {
            name: Some(name.into()),
            ..Default::default()
        };
        jit_with(move |x: Array| &x * factor, options)
    };
    // The second `layer` would take the name of the third function.
    let layers = [
        named("layer", 2.0),
        named("layer", 3.0),
        named("layer_1", 5.0),
    ];
    let all = jit(move |x: Array| layers.iter().fold(x, |x, layer| layer(x)));
    assert_eq!(all(f32s(&[1.0])).to_vec::<f32>(), [30.0]);
}
