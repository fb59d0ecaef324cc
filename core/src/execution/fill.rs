//! Small arrays filled with one value, without compiling a program.

use crate::prim::Primitive;
use crate::prim::shape::BroadcastInDim;
use crate::{Array, Result, client};
use ramie_pjrt::Device;

/// Maximum number of bytes filled on the host. Larger arrays are filled by the device, which is
/// worth compiling a program.
const SMALL: usize = 1 << 16;

/// Returns the result of broadcasting a host scalar to a small array on `device`; `None` for any
/// other operation.
///
/// A program for it would be compiled for each shape, which takes about ten milliseconds at the
/// first use.
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
    client::put(&element.repeat(aval.size()), aval, device).map(Some)
}
