//! Programs and trees nested deeply, on threads with the smallest usual stack.

use ramie_core::lax::{cond, scan_with, while_loop};
use ramie_core::options::ScanOptions;
use ramie_core::*;
use ramie_testing::panic_message;

/// Runs `f` on a thread with the stack of a test thread or a tokio worker.
fn on_small_stack<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(2 << 20);
        thread.spawn_scoped(scope, f).expect("spawns").join()
    })
    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// `depth` compiled functions inside each other around `x + depth`.
fn nested_jit(depth: usize, x: Array) -> Array {
    match depth {
        0 => x,
        _ => jit(move |x: Array| nested_jit(depth - 1, x) + 1.0)(x),
    }
}

/// A function to put inside an operation.
type Inner = Box<dyn Fn(Array) -> Array + Send + Sync>;

/// `depth` operations of one kind inside each other.
fn nested(depth: usize, wrap: fn(Inner, Array) -> Array, x: Array) -> Array {
    match depth {
        0 => x.sin(),
        _ => wrap(Box::new(move |x| nested(depth - 1, wrap, x)), x),
    }
}

fn scalar() -> Array {
    Array::shape_dtype_struct(&[], DType::F32)
}

#[test]
fn jit_in_jit_a_thousand_deep_runs() {
    let y = on_small_stack(|| nested_jit(1000, Array::from(0.5f32)).item::<f32>());
    assert_eq!(y, 1000.5);
}

/// A program is printed, compared, hashed, lowered, differentiated, batched, and
/// dropped at any depth.
#[test]
fn every_transformation_reaches_the_innermost_program() {
    on_small_stack(|| {
        let program = || make_jaxpr(|x: Array| nested_jit(1000, x))(scalar());
        let (a, b) = (program(), program());
        assert_eq!(a.jaxpr, b.jaxpr);
        assert_eq!(a.to_string().matches("jit[").count(), 1000);
        assert_eq!(format!("{a:?}").matches("jit[").count(), 1000);
        let y = a.eval(&[Array::from(1.0f32)]);
        assert_eq!(y[0].item::<f32>(), 1001.0);

        let slope = grad(|x: Array| nested_jit(200, x))(Array::from(1.0f32));
        assert_eq!(slope.item::<f32>(), 1.0);
        let batch = vmap(|x: Array| nested_jit(200, x))(Array::from([1.0f32, 2.0]));
        assert_eq!(batch.to_vec::<f32>(), [201.0, 202.0]);
        let (errors, y) = checkify::checkify(|x: Array| nested_jit(200, x), checkify::Errors::ALL)(
            Array::from(1.0f32),
        );
        assert!(errors.get().is_none());
        assert_eq!(y.item::<f32>(), 201.0);
    });
}

#[test]
fn control_flow_is_nested_deeply() {
    let wraps: [(&str, fn(Inner, Array) -> Array); 5] = [
        ("cond", |f, x| cond(x.lt(9.0), f, |x| x, x)),
        ("scan", |f, x| {
            let options = ScanOptions {
                length: Some(1),
                ..ScanOptions::default()
            };
            scan_with(|x, ()| (f(x), ()), x, (), options).0
        }),
        ("while", |f, x| {
            let one = |(i, _): (Array, Array)| i.lt(1);
            let step = |(i, x): (Array, Array)| (i + 1, f(x));
            while_loop(one, step, (Array::from(0i32), x)).1
        }),
        ("checkpoint", |f, x| checkpoint(f)(x)),
        ("custom_jvp", |f, x| {
            custom_jvp(f, |x: Array, t: Array| (x.sin(), x.cos() * t))(x)
        }),
    ];
    for (name, wrap) in wraps {
        let depth = 100;
        let y = on_small_stack(|| {
            let f = jit(move |x: Array| nested(depth, wrap, x));
            f(Array::from(0.5f32)).item::<f32>()
        });
        assert!((y - 0.5f32.sin()).abs() < 1e-6, "{name}: {y}");
    }
}

/// A list of arrays of which each holds the next.
enum List {
    End,
    Item(Array, Box<List>),
}

impl Tree for List {
    fn walk(&self, v: &mut dyn tree::Visitor) {
        if let List::Item(x, next) = self {
            tree::child(v, tree::Key::Field("item"), x);
            tree::child(v, tree::Key::Field("next"), next);
        }
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        if let List::Item(x, next) = self {
            visit(x);
            next.walk_mut(visit);
        }
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> List {
        match self {
            List::End => List::End,
            List::Item(x, next) => List::Item(leaf(x), next.rebuild(leaf)),
        }
    }
}

#[test]
fn trees_are_walked_at_any_depth() {
    let zero = Array::from(0.0f32);
    let count = on_small_stack(|| {
        let mut list = List::End;
        for _ in 0..5000 {
            list = List::Item(zero.clone(), Box::new(list));
        }
        let doubled = tree::map(&list, |x| x.clone());
        tree::leaves(&doubled).len()
    });
    assert_eq!(count, 5000);
}

/// A function that calls itself for ever is refused before memory runs out.
#[test]
fn endless_recursion_is_refused() {
    fn endless(x: Array) -> Array {
        jit(|x: Array| endless(x))(x)
    }
    let message = panic_message(|| on_small_stack(|| endless(Array::from(1.0f32))));
    assert!(message.contains("traced functions are nested"), "{message}");
}
