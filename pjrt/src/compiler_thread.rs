//! The thread that a plugin's compiler runs on.
//!
//! The compiler (MLIR) has thread-local objects. While a thread ends they are destroyed
//! before the thread-local variables of Rust that are older. A destructor of such a
//! variable that computes with arrays would run the compiler on objects that are gone,
//! and the process would die. There the compiler runs on a thread of its own.

use std::cell::Cell;

struct Alive;

impl Drop for Alive {
    /// Makes the variable one that must be destroyed, and so one that can be gone.
    fn drop(&mut self) {}
}

thread_local! {
    /// Whether the compiler has run on this thread.
    static USED: Cell<bool> = const { Cell::new(false) };
    /// First used after the compiler ran, hence destroyed before the compiler's objects.
    static ALIVE: Alive = const { Alive };
}

/// Asserts that a value may go to another thread and back.
struct Moved<T>(T);

// SAFETY: `on_living_thread` waits for the other thread, and what it moves there is a
// call of the plugin's compiler, which may be made on any thread.
unsafe impl<T> Send for Moved<T> {}

impl<T> Moved<T> {
    /// A method, so that closures capture the whole.
    fn take(self) -> T {
        self.0
    }
}

/// Runs a call of the plugin's compiler where its thread-local objects are alive.
///
/// # Safety
/// Neither `call` nor what it returns depends on the thread.
pub(crate) unsafe fn on_living_thread<R>(call: impl FnOnce() -> R) -> R {
    if !USED.get() || ALIVE.try_with(|_| ()).is_ok() {
        let out = call();
        USED.set(true);
        // Fails where the thread is ending, which is found at the next call.
        let _ = ALIVE.try_with(|_| ());
        return out;
    }
    let call = Moved(call);
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || Moved(call.take()()));
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
        // SAFETY: the number of the thread is what is asked for.
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
