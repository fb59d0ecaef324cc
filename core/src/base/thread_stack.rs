//! Stacks in thread-local variables that remain usable while a thread exits.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::thread::LocalKey;

/// A stack in a thread-local variable.
///
/// A variable with a destructor cannot be accessed while a thread's destructors run, but the
/// destructor of a user's variable may compute with arrays. This type needs no destructor: it
/// frees its memory whenever the stack becomes empty.
pub(crate) struct ThreadStack<T>(RefCell<ManuallyDrop<Vec<T>>>);

impl<T> ThreadStack<T> {
    pub const fn new() -> Self {
        ThreadStack(RefCell::new(ManuallyDrop::new(Vec::new())))
    }
}

/// Access to a [`ThreadStack`], with the names of the standard library's methods for `RefCell`.
pub(crate) trait WithStack<T> {
    fn with_borrow<R>(&'static self, f: impl FnOnce(&Vec<T>) -> R) -> R;
    fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut Vec<T>) -> R) -> R;
}

impl<T: 'static> WithStack<T> for LocalKey<ThreadStack<T>> {
    #[inline]
    fn with_borrow<R>(&'static self, f: impl FnOnce(&Vec<T>) -> R) -> R {
        self.with(|stack| f(&stack.0.borrow()))
    }

    #[inline]
    fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut Vec<T>) -> R) -> R {
        self.with(|stack| {
            let mut stack = stack.0.borrow_mut();
            let out = f(&mut stack);
            if stack.is_empty() {
                // The vector is empty, so this only frees its memory.
                **stack = Vec::new();
            }
            out
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static STACK: ThreadStack<String> = const { ThreadStack::new() };
    }

    #[test]
    fn an_empty_stack_has_no_memory() {
        assert!(!std::mem::needs_drop::<ThreadStack<String>>());
        STACK.with_borrow_mut(|stack| stack.extend(["a".to_string(), "b".to_string()]));
        assert_eq!(STACK.with_borrow(Vec::len), 2);
        let last = STACK.with_borrow_mut(Vec::pop);
        assert_eq!(last.as_deref(), Some("b"));
        STACK.with_borrow_mut(|stack| stack.truncate(0));
        assert_eq!(STACK.with_borrow(Vec::capacity), 0);
    }
}
