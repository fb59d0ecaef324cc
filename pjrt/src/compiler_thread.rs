//! Selection of the thread that a plugin's compiler runs on.
//!
//! The compiler (MLIR) has thread-local objects. When a thread ends, they are destroyed before
//! those thread-local variables of Rust that were created earlier. If the destructor of such a
//! variable computed with arrays, the compiler would access destroyed objects, and the process
//! would crash. In this case, the compiler runs on another thread.

use std::cell::Cell;

struct Alive;

impl Drop for Alive {
    /// Makes the variable require destruction, so that its destruction can be detected.
    fn drop(&mut self) {}
}

thread_local! {
    /// Whether the compiler has run on this thread.
    static USED: Cell<bool> = const { Cell::new(false) };
    /// First used after the compiler ran, and hence destroyed before the compiler's objects.
    static ALIVE: Alive = const { Alive };
}

/// Asserts that a value may be moved to another thread and back.
struct AssertSend<T>(T);

// SAFETY: `on_living_thread` waits for the other thread. What it moves there is a call of the
// plugin's compiler, which any thread may make.
unsafe impl<T> Send for AssertSend<T> {}

impl<T> AssertSend<T> {
    /// Consumes the wrapper; a method, so that closures capture the whole value.
    fn take(self) -> T {
        self.0
    }
}

/// Runs a call of the plugin's compiler on a thread whose thread-local objects of the compiler
/// are alive.
///
/// # Safety
/// Neither `call` nor its result may depend on the thread.
pub(crate) unsafe fn on_living_thread<R>(call: impl FnOnce() -> R) -> R {
    if !USED.get() || ALIVE.try_with(|_| ()).is_ok() {
        let out = call();
        USED.set(true);
        // Fails if the thread is ending, which the next call detects.
        let _ = ALIVE.try_with(|_| ());
        return out;
    }
    let call = AssertSend(call);
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || AssertSend(call.take()()));
        match thread.join() {
            Ok(out) => out.take(),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::sync::mpsc;
    use std::thread::{self, ThreadId};

    fn compiler() -> ThreadId {
        // SAFETY: this test queries the id of the thread.
        unsafe { on_living_thread(|| thread::current().id()) }
    }

    struct AtEnd(mpsc::Sender<ThreadId>);

    impl Drop for AtEnd {
        fn drop(&mut self) {
            self.0.send(compiler()).expect("the test waits");
        }
    }

    thread_local! { static LAST: RefCell<Option<AtEnd>> = const { RefCell::new(None) }; }

    #[test]
    fn an_ending_thread_leaves_compiling_to_another() {
        for older in [false, true] {
            let (send, receive) = mpsc::channel();
            let ending = thread::spawn(move || {
                if older {
                    LAST.set(Some(AtEnd(send.clone())));
                }
                assert_eq!(compiler(), thread::current().id());
                assert_eq!(compiler(), thread::current().id());
                if !older {
                    LAST.set(Some(AtEnd(send)));
                }
                thread::current().id()
            });
            let at_end = receive.recv().expect("the destructor runs");
            let own = ending.join().expect("the thread ends");
            assert_eq!(
                at_end == own,
                !older,
                "objects of a newer variable are alive"
            );
        }
    }
}
