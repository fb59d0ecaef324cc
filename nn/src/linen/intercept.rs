//! `intercept_methods`: wraps the calls of modules.

use ramie_core::{Array, Tree, tree};
use std::cell::RefCell;
use std::rc::Rc;

/// Description of an intercepted call.
#[derive(Clone, Debug)]
pub struct MethodContext {
    /// The dotted path of the module; empty for the outermost one.
    pub path: String,
    /// The name of the module's type.
    pub class: String,
}

/// The rest of a call, as a function from the arrays of the arguments to those of the result.
pub type NextCall<'a> = &'a mut dyn FnMut(Vec<Array>) -> Vec<Array>;

type Interceptor = Rc<dyn Fn(&MethodContext, Vec<Array>, NextCall<'_>) -> Vec<Array>>;

thread_local! {
    static INTERCEPTORS: RefCell<Vec<Interceptor>> = const { RefCell::new(Vec::new()) };
}

/// Runs `f` while `interceptor` wraps all module calls on this thread (`nn.intercept_methods`).
/// The interceptor receives a description of the call, the arrays of the arguments, and the
/// rest of the call. It can call the latter with other arguments, and can change its results.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::linen::{self, Dense, Module};
/// let x = Array::ones(&[2, 3], DType::F32);
/// let variables = Dense::new(4).init(0, x.clone());
/// let clipped = linen::intercept_methods(
///     |context, args, next| {
///         let out = next(args);
///         match context.class.as_str() {
///             "Dense" => out.iter().map(|a| a.clip(-1.0, 1.0)).collect(),
///             _ => out,
///         }
///     },
///     || Dense::new(4).apply(&variables, x),
/// );
/// ```
pub fn intercept_methods<R>(
    interceptor: impl Fn(&MethodContext, Vec<Array>, NextCall<'_>) -> Vec<Array> + 'static,
    f: impl FnOnce() -> R,
) -> R {
    /// Removes the interceptor, also after a panic.
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            INTERCEPTORS.with_borrow_mut(|all| all.pop());
        }
    }
    INTERCEPTORS.with_borrow_mut(|all| all.push(Rc::new(interceptor)));
    let _guard = Guard;
    f()
}

/// The active interceptors.
pub(super) struct Interceptors(Vec<Interceptor>);

/// Returns the active interceptors, if any.
pub(super) fn interceptors() -> Option<Interceptors> {
    // A thread that is exiting may have dropped its interceptors already.
    let around = INTERCEPTORS.try_with(|all| all.borrow().clone()).ok()?;
    (!around.is_empty()).then_some(Interceptors(around))
}

/// Calls a module with its interceptors.
#[track_caller]
pub(super) fn intercepted<A: Tree, O: Tree>(
    around: &Interceptors,
    context: &MethodContext,
    args: A,
    call: impl FnOnce(A) -> O,
) -> O {
    let mut out: Option<O> = None;
    let mut call = Some(call);
    let leaves = tree::leaves(&args);
    let mut innermost = |arrays: Vec<Array>| -> Vec<Array> {
        let call = call.take().unwrap_or_else(|| {
            panic!(
                "intercept_methods: the interceptor called `next` twice for `{}` ({})\n  help: \
                 call `next` once, and reuse its result",
                context.path, context.class
            )
        });
        let result = call(tree::with_leaves(&args, arrays));
        let arrays = tree::leaves(&result);
        out = Some(result);
        arrays
    };
    let arrays = continued(&around.0, context, leaves, &mut innermost);
    match &out {
        Some(out) => tree::with_leaves(out, arrays),
        None => panic!(
            "intercept_methods: the interceptor did not call `next` for `{}` ({})\n  help: call \
             `next` even if its result is replaced, so that the module's variables are created",
            context.path, context.class
        ),
    }
}

/// Runs a call with interceptors around it; the last one is the innermost.
fn continued(
    around: &[Interceptor],
    context: &MethodContext,
    args: Vec<Array>,
    innermost: NextCall<'_>,
) -> Vec<Array> {
    match around {
        [] => innermost(args),
        [first, rest @ ..] => {
            let mut next = |args: Vec<Array>| continued(rest, context, args, innermost);
            first(context, args, &mut next)
        }
    }
}
