//! Functions of this process that programs call.

use super::buffer::element_type;
use crate::registry::{BufferMut, BufferView, TARGET, invoke};
use ramie_cpu::host::HostFunctions;
use ramie_cpu::text::Attribute;
use ramie_cpu::{HostCall, HostFunction, TensorType};

/// Returns the functions that programs may call.
pub(super) fn functions() -> HostFunctions {
    HostFunctions::from([(TARGET.to_owned(), HostFunction::new(call))])
}

/// Calls a function of this process for a program.
fn call(call: HostCall<'_>) -> Result<(), String> {
    let Some(Attribute::Integer(id)) = call.config.get("id") else {
        return Err("a call of `ramie_callback` lacks the attribute `id`".into());
    };
    let dims = |ty: &TensorType| -> Vec<i64> { ty.shape.iter().map(|n| *n as i64).collect() };
    let types = call.operands.iter().map(|(ty, _)| *ty);
    let types = types.chain(call.results.iter().map(|(ty, _)| *ty));
    let shapes: Vec<Vec<i64>> = types.map(dims).collect();
    let (given, wanted) = shapes.split_at(call.operands.len());
    let views = call.operands.iter().zip(given);
    let views: Vec<BufferView<'_>> = views
        .map(|((ty, bytes), dims)| BufferView {
            element_type: element_type(ty),
            dims,
            bytes,
        })
        .collect();
    let results = call.results.into_iter().zip(wanted);
    let mut results: Vec<BufferMut<'_>> = results
        .map(|((ty, bytes), dims)| BufferMut {
            element_type: element_type(ty),
            dims,
            bytes,
        })
        .collect();
    invoke(*id as i64, &views, &mut results)
}
