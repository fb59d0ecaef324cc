//! Effects and collectives inside of control flow.

use ramie_core::lax::{cond, pmean, psum, scan_with, while_loop};
use ramie_core::options::{ScanOptions, VmapOptions};
use ramie_core::*;

fn numbers(values: &[f32]) -> Array {
    Array::from(values.to_vec())
}

fn f32s(x: &Array) -> Vec<f32> {
    x.to_vec::<f32>()
}

/// What looks at values inside of a batched choice sees those of all examples.
#[test]
fn looks_into_batched_choices_see_all_examples() {
    use std::sync::{Arc, Mutex};
    let seen: Arc<Mutex<Vec<f32>>> = Arc::default();
    let note = seen.clone();
    let watch = move |x: Array| {
        let note = note.clone();
        debug::callback(
            move |x: Array| note.lock().expect("no panics").push(x.item::<f32>()),
            x.clone(),
        );
        x * 2.0
    };
    let y = vmap(move |x: Array| cond(x.gt(0.0), &watch, |x| x, x))(numbers(&[1.0, -1.0]));
    assert_eq!(f32s(&y), [2.0, -1.0]);
    effects_barrier().expect("no callback failed");
    let mut seen = seen.lock().expect("no panics").clone();
    seen.sort_by(f32::total_cmp);
    assert_eq!(seen, [-1.0, 1.0]);
}

/// What a body does is done at every step, also where it depends on nothing in
/// the loop and the loop is differentiated.
#[test]
fn effects_of_loops_happen_at_every_step() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let f = move |x: Array| {
        let w = numbers(&[2.0]);
        let step = |c: Array, ()| {
            let count = counted.clone();
            debug::callback(
                move |_: Array| {
                    count.fetch_add(1, Ordering::Relaxed);
                },
                w.clone(),
            );
            ((c * &w).sin(), ())
        };
        let options = ScanOptions {
            length: Some(3),
            ..ScanOptions::default()
        };
        scan_with(step, x, (), options).0.sum()
    };
    jit(grad(f.clone()))(numbers(&[0.1]));
    effects_barrier().expect("no callback failed");
    assert_eq!(count.swap(0, Ordering::Relaxed), 3);
    f(numbers(&[0.1]));
    effects_barrier().expect("no callback failed");
    assert_eq!(count.load(Ordering::Relaxed), 3);
}

/// Collectives over a mapped axis work in the bodies of loops and choices.
#[test]
fn collectives_in_loops_see_all_examples() {
    let f = |x: Array| {
        let step = |c: Array, ()| {
            let c = cond(true, |c: Array| &c + pmean(&c, "i"), |c| c, c);
            (c, ())
        };
        let options = ScanOptions {
            length: Some(2),
            ..ScanOptions::default()
        };
        let (c, ()) = scan_with(step, x, (), options);
        let n = while_loop(
            |n: Array| n.lt(10.0),
            |n| psum(&n, "i"),
            Array::from(1.0f32),
        );
        c + n
    };
    let options = VmapOptions {
        axis_name: Some("i".into()),
        ..VmapOptions::default()
    };
    let y = vmap_with(f, options)(numbers(&[1.0, 2.0, 6.0]));
    // Means 3 and 6; 1 → 3 → 9 → 27.
    assert_eq!(f32s(&y), [37.0, 38.0, 42.0]);
}
