//! The functions of this process that programs can call, by their ids.

use crate::element_type::ElementType;
use crate::host_calls::{enter, recorded};
use crate::under_way::UnderWay;
use ramie_base::lock::lock;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

/// The name of the custom call that calls a function.
pub(crate) const TARGET: &str = "ramie_callback";

/// An operand of a callback, with its elements in host memory, dense and row-major.
#[derive(Debug, Clone, Copy)]
pub struct BufferView<'a> {
    /// The element type.
    pub element_type: ElementType,
    /// The dimensions, outermost first.
    pub dims: &'a [i64],
    /// The bytes of the elements.
    pub bytes: &'a [u8],
}

/// A result of a callback, to be filled in.
#[derive(Debug)]
pub struct BufferMut<'a> {
    /// The element type.
    pub element_type: ElementType,
    /// The dimensions, outermost first.
    pub dims: &'a [i64],
    /// The memory for the elements, dense and row-major. The initial contents are arbitrary.
    pub bytes: &'a mut [u8],
}

pub(crate) type Function =
    dyn Fn(&[BufferView<'_>], &mut [BufferMut<'_>]) -> Result<(), String> + Send + Sync;

struct Registered {
    function: Arc<Function>,
    /// The work of its client, set when the handle was dropped; executions may still call the
    /// function.
    retired: Option<&'static UnderWay>,
}

static FUNCTIONS: Mutex<Option<HashMap<i64, Registered>>> = Mutex::new(None);
static NEXT: AtomicI64 = AtomicI64::new(1);

/// Adds a function for the programs of the client with this work, and returns its id.
pub(crate) fn add(function: Arc<Function>, work: &'static UnderWay) -> i64 {
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    let registered = Registered {
        function,
        retired: None,
    };
    let released = take_released(work);
    lock(&FUNCTIONS)
        .get_or_insert_default()
        .insert(id, registered);
    drop(released);
    id
}

/// Removes a function when no execution of its client can call it any more.
pub(crate) fn retire(id: i64, work: &'static UnderWay) {
    if let Some(registered) = lock(&FUNCTIONS)
        .as_mut()
        .and_then(|functions| functions.get_mut(&id))
    {
        registered.retired = Some(work);
    }
    drop(take_released(work));
}

/// Removes the functions that no execution of the client can call any more. The caller drops them
/// after the lock is released, because they may own callbacks.
fn take_released(work: &'static UnderWay) -> Vec<Registered> {
    if !work.is_over() {
        return Vec::new();
    }
    let mut functions = lock(&FUNCTIONS);
    let functions = functions.get_or_insert_default();
    let over: Vec<i64> = functions
        .iter()
        .filter(|(_, f)| f.retired.is_some_and(|of| std::ptr::eq(of, work)))
        .map(|(id, _)| *id)
        .collect();
    over.iter().filter_map(|id| functions.remove(id)).collect()
}

/// Calls the function with this id for the linked backend, and records its error or panic.
pub(crate) fn invoke(
    id: i64,
    args: &[BufferView<'_>],
    results: &mut [BufferMut<'_>],
) -> Result<(), String> {
    recorded(|| {
        let function = find(id)?;
        enter(|| function(args, results))
    })
}

/// Finds the function with this id.
pub(crate) fn find(id: i64) -> Result<Arc<Function>, String> {
    lock(&FUNCTIONS)
        .as_ref()
        .and_then(|functions| functions.get(&id))
        .map(|registered| registered.function.clone())
        .ok_or_else(|| format!("callback {id} does not exist in this process, or was dropped"))
}
