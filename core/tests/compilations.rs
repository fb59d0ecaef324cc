//! How many programs are compiled, which is counted for the whole process.

use ramie_core::random::{self, KeyLayout};
use ramie_core::*;
use std::sync::{Mutex, PoisonError};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// How many programs came to be while `f` ran.
fn programs<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let count = || {
        let stats = compilation_stats();
        stats.compiled + stats.loaded
    };
    let before = count();
    let out = f();
    (out, count() - before)
}

#[test]
fn calls_find_what_was_compiled_ahead() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let traces = Mutex::new(0);
    let step = jit(|state: &mut Array, by: Array| {
        *traces.lock().expect("a count") += 1;
        *state += &by;
        state.sum()
    });
    let mut state = Array::from([1.0f32, 2.0]);
    let by = Array::from([0.5f32, 0.5]);
    let lowered = step
        .lower_with(&state, (by.clone(),))
        .expect("it is lowered");
    let (_, made) = programs(|| lowered.compile().expect("it is compiled"));
    assert_eq!(made, 1);
    // The compiled stage is gone, and the function has kept its program.
    let (sum, made) = programs(|| step(&mut state, by.clone()));
    assert_eq!(sum.item::<f32>(), 4.0);
    assert_eq!((made, step.compilations()), (0, 0));
    assert_eq!(*traces.lock().expect("a count"), 1);
    assert_eq!(state.to_vec::<f32>(), [1.5, 2.5]);

    // Other arguments are another program, and forgetting is forgetting.
    let mut longer = Array::from([1.0f32, 2.0, 3.0]);
    let more = Array::from([0.5f32, 0.5, 0.5]);
    assert_eq!(programs(|| step(&mut longer, more)).1, 1);
    step.clear_cache();
    assert_eq!(programs(|| step(&mut state, by)).1, 1);
    assert_eq!(step.compilations(), 1);
}

#[test]
fn programs_for_types_alone_are_not_those_of_calls() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let double = jit(|x: Array| &x * 2.0);
    let like = Array::shape_dtype_struct(&[3], DType::F32);
    double.compile((like,)).expect("it is compiled");
    let x = Array::from([1.0f32, 2.0, 3.0]);
    let (y, made) = programs(|| double(x.clone()));
    assert_eq!(made, 1, "one that leaves what is held where it is");
    assert_eq!(y.to_vec::<f32>(), [2.0, 4.0, 6.0]);
    assert_eq!(x.to_vec::<f32>(), [1.0, 2.0, 3.0]);
}

#[test]
fn small_arrays_of_one_value_need_no_program() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let dtypes = [
        DType::Bool,
        DType::I8,
        DType::U16,
        DType::I32,
        DType::U64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::C64,
    ];
    for dtype in dtypes {
        let (filled, made) = programs(|| Array::full(&[3, 5], 1, dtype));
        assert_eq!(made, 0, "{dtype}");
        let computed = jit(move || Array::full(&[3, 5], 1, dtype))();
        assert_eq!(filled.aval(), computed.aval());
        let bytes = |x: &Array| x.try_to_bytes().expect("its bytes");
        assert_eq!(bytes(&filled), bytes(&computed), "{dtype}");
    }
    let minus = Array::full(&[4], -2.5, DType::F32);
    assert_eq!(minus.to_vec::<f32>(), [-2.5; 4]);
    // What is large, or of the device, is the device's.
    let large = programs(|| Array::zeros(&[1 << 15], DType::F32));
    assert_eq!((large.0.size(), large.1), (1 << 15, 1));
    let scalar = Array::from([7.0f32]).sum();
    assert_eq!(programs(|| scalar.broadcast_to(&[2, 3])).1, 1);
}

#[test]
fn derived_keys_are_kept_apart_from_draws() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for layout in [KeyLayout::Partitionable, KeyLayout::Original] {
        let key = random::key(3).with_layout(layout);
        let draw = jit(move |key: random::Key| {
            let [a, b] = key.fold_in(5).split_into();
            (
                random::uniform(&a, &[4, 3], DType::F32),
                random::randint(&b, &[7], 0, 9, DType::I32),
            )
        });
        let lowered = draw.lower((key.clone(),)).expect("it is lowered");
        // One for the folded key, one for its split, one for that within
        // `randint`.
        let text = lowered.as_text();
        assert_eq!(text.matches("optimization_barrier").count(), 3, "{text}");
        let (x, n) = draw(key.clone());
        let [a, b] = key.fold_in(5).split_into();
        let alone = random::uniform(&a, &[4, 3], DType::F32);
        assert_eq!(x.to_vec::<f32>(), alone.to_vec::<f32>());
        let alone = random::randint(&b, &[7], 0, 9, DType::I32);
        assert_eq!(n.to_vec::<i32>(), alone.to_vec::<i32>());
    }
}
