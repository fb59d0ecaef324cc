//! An update of many parameters holds parameters, gradients and states, and
//! little more.

use ramie_core::{Array, DType, State, eval_shape, jit, tree};
use ramie_derive::Tree;
use ramie_optim::*;
use ramie_testing::is_linked;

#[derive(Tree)]
struct Training {
    params: State,
    state: OptState,
}

/// Types of 24 arrays of a million elements: more than caches hold, without
/// elements.
fn types(dtype: DType) -> State {
    let array = |i: usize| {
        let shape = [1024, 1024];
        (
            format!("layer{i}.kernel"),
            Array::shape_dtype_struct(&shape, dtype),
        )
    };
    (0..24).map(array).collect()
}

fn bytes(arrays: &[Array]) -> usize {
    arrays.iter().map(Array::nbytes).sum()
}

/// What one update takes at once, as a part of what is held anyway.
fn ratio(tx: impl Into<GradientTransformation>, dtype: DType) -> f64 {
    let tx = tx.into();
    let params = types(dtype);
    let init = tx.clone();
    let state = eval_shape(move |params: State| init.init(&params), params.clone());
    let training = Training { params, state };
    let step = jit(move |t: &mut Training, grads: State| {
        let taken = std::mem::replace(&mut t.state, OptState::new(()));
        let (updates, state) = tx.update(grads, taken, Some(&t.params));
        t.params = apply_updates(&t.params, &updates);
        t.state = state;
    });
    let held = bytes(&tree::leaves(&training)) + bytes(types(dtype).arrays());
    let lowered = step
        .lower_with(&training, (types(dtype),))
        .expect("a program");
    let compiled = lowered.compile().expect("an executable");
    let memory = compiled.memory_analysis().expect("the plugin says it");
    let peak = memory.argument + memory.output - memory.alias + memory.temp;
    peak as f64 / held as f64
}

#[test]
fn updates_take_little_more_than_what_is_held() {
    let rows: [(&str, GradientTransformation); 6] = [
        ("sgd", sgd(0.1).into()),
        ("momentum", sgd(0.1).momentum(0.9).into()),
        ("adam", adam(1e-3).into()),
        ("adamw", adamw(1e-3).into()),
        ("lion", lion(1e-4).into()),
        ("adafactor", adafactor().learning_rate(1e-3).into()),
    ];
    for (name, tx) in rows {
        for dtype in [DType::F32, DType::BF16] {
            let most = match (name, dtype) {
                // The linked backend keeps squares in arrays of `f32` until they are summed.
                ("adafactor", DType::BF16) if is_linked() => 2.6,
                _ => 1.1,
            };
            let ratio = ratio(tx.clone(), dtype);
            println!("{name}, {dtype}: {ratio:.3} of what is held");
            assert!(
                (0.99..most).contains(&ratio),
                "{name} in {dtype} takes {ratio:.3} of what is held"
            );
        }
    }
}
