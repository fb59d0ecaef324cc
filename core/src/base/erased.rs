//! Closures as functions of one type.

/// Runs `f` through `run`, which is thus compiled once for all closures. `run` must call its argument.
pub(crate) fn through<R>(f: impl FnOnce() -> R, run: impl FnOnce(&mut dyn FnMut())) -> R {
    let (mut f, mut result) = (Some(f), None);
    run(&mut || result = f.take().map(|f| f()));
    result.expect("the function has returned")
}
