//! Small arrays of one value, without a program.

use crate::prim::Primitive;
use crate::prim::shape::BroadcastInDim;
use crate::{Array, Result, runtime};
use ramie_pjrt::Device;

/// The most bytes that are filled on the host. Larger arrays are filled by the
/// device, which is worth compiling a program for.
const SMALL: usize = 1 << 16;

/// The result of repeating a scalar of the host to a small array on `device`;
/// `None` for every other operation.
///
/// A program for it would be one more for each shape, and at first use takes some
/// ten milliseconds to compile.
pub(crate) fn small(
    primitive: &dyn Primitive,
    args: &[&Array],
    device: Device,
) -> Result<Option<Array>> {
    let Some(broadcast) = primitive.as_any().downcast_ref::<BroadcastInDim>() else {
        return Ok(None);
    };
    let [operand] = args else { return Ok(None) };
    let Some(literal) = operand.as_literal() else {
        return Ok(None);
    };
    let aval = operand.aval().with_shape(&broadcast.shape);
    let is_plain = broadcast.broadcast_dimensions.is_empty() && broadcast.sharding.is_none();
    if !is_plain || aval.size() == 0 {
        return Ok(None);
    }
    let element = literal.value().to_bytes(aval.dtype());
    if aval.size().saturating_mul(element.len()) > SMALL {
        return Ok(None);
    }
    runtime::put(&element.repeat(aval.size()), aval, device).map(Some)
}
