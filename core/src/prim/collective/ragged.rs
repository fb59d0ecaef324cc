//! `ragged_all_to_all`: exchange of variable numbers of rows between examples.

use super::groups::all_partitions;
use super::{Names, size_of, tuple};
use crate::base::location;
use crate::lax::{Along, all_to_all};
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Operand, Param, Primitive, batched,
    move_batch_axis, one,
};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::{self, bind1};
use crate::{Array, Aval, DType, ShapeError};

/// Sends a range of rows of each example's operand to every example, which stores it in its
/// output. The operands are the rows to send, the output to write to, and for each example's
/// ranges the offsets in the operand, the sizes, the offsets in the receivers' outputs, and the
/// sizes of the received ranges.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RaggedAllToAll {
    /// Mapped axes.
    pub axes: Names,
    /// Number of examples.
    pub size: usize,
}

/// Returns which of `rows` rows are in a range, as a `bool` array with the axes of `offsets`
/// followed by one of rows. Offsets and sizes have the same shape.
fn within(offsets: &Array, sizes: &Array, rows: usize) -> Array {
    let last = offsets.ndim() as isize;
    let (from, size) = (offsets.expand_dims(&[last]), sizes.expand_dims(&[last]));
    let row = Array::iota(&[rows], 0, offsets.dtype());
    row.ge(&from) & row.lt(from + size)
}

impl RaggedAllToAll {
    /// Computes the exchange for the values of all examples, along the first axes.
    fn exchanged(&self, args: &[Array]) -> Array {
        let [operand, output, starts, sizes, ends] = [0, 1, 2, 3, 4].map(|i| &args[i]);
        let (n, rows, room) = (self.size, operand.shape()[1], output.shape()[1]);
        if rows == 0 {
            return output.clone();
        }
        // Ranges by sender, receiver, and index among those from one to the other.
        let each = starts.shape()[1] / n;
        let runs = |x: &Array| x.reshape(&[n, n, each]);
        let (starts, sizes, ends) = (runs(starts), runs(sizes), runs(ends));
        let there = within(&ends, &sizes, room);
        let index = Array::iota(&[room], 0, starts.dtype());
        let from = index + (starts - ends).expand_dims(&[3]);
        let from = from.clip(0, rows as i32 - 1);
        let sender = Array::iota(&[n, 1, 1, 1], 0, from.dtype()) * rows as i32;
        let flat = [&[n * rows][..], &operand.shape()[2..]].concat();
        let sent = operand.reshape(&flat).take(&(from + sender), 0);
        let mut out = output.clone();
        for s in 0..n {
            for run in 0..each {
                let mask = there.index((s, .., run));
                let mask = mask.broadcast_in_dim(out.shape(), &[0, 1]);
                out = crate::where_(&mask, sent.index((s, .., run)), &out);
            }
        }
        out
    }
}

impl Primitive for RaggedAllToAll {
    fn name(&self) -> &'static str {
        "ragged_all_to_all"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("axis_index_groups", Param::new("None")),
            ("axis_name", tuple(&self.axes)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let size = size_of(&self.axes)?;
        let names = [
            "input_offsets",
            "send_sizes",
            "output_offsets",
            "recv_sizes",
        ];
        let (operand, output) = (args[0], args[1]);
        let rows = operand.ndim() > 0 && output.ndim() > 0;
        crate::ensure_shape!(
            rows && operand.dtype() == output.dtype()
                && operand.shape()[1..] == output.shape()[1..],
            "the operand is {operand} and the output {output}, but their rows must have the same \
             shape and dtype"
        );
        for (aval, name) in args[2..].iter().zip(names) {
            crate::ensure_shape!(
                aval.dtype().is_integer() && aval.ndim() == 1 && aval.shape() == args[2].shape(),
                "{name} is {aval}, expected integers along one axis, as many as input_offsets, which \
                 is {}",
                args[2]
            );
        }
        let count = args[2].shape()[0];
        if count == 0 || !count.is_multiple_of(size) {
            return Err(ShapeError::new(format!(
                "there are {count} offsets, expected a multiple of the number of examples, {size}"
            ))
            .help("pass an offset and a size for each example that receives rows"));
        }
        one(output.strong())
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            propagates_weak_type: false,
            axes: &self.axes,
            ..Facts::default()
        }
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |primals, tangents, _| {
                let dot = |i: usize| {
                    tangents[i]
                        .clone()
                        .unwrap_or_else(|| primals[i].zeros_like())
                };
                if tangents[0].is_none() && tangents[1].is_none() {
                    return vec![None];
                }
                let (operand, output) = (dot(0), dot(1));
                let args = [&[&operand, &output][..], &refs(&primals[2..])].concat();
                vec![Some(trace::bind(self.clone(), &args).remove(0))]
            },
            |cts, operands| {
                let Some(ct) = &cts[0] else {
                    return vec![None; operands.len()];
                };
                let known = |i: usize| match &operands[i] {
                    Operand::Known(x) => x,
                    Operand::Linear(_) => unreachable!("offsets and sizes are integers"),
                };
                let [starts, sent, ends, received] = [2, 3, 4, 5].map(known);
                // The offsets of what each example receives, in its own output.
                let back = |x: &Array| all_to_all(x, &self.axes[..], Along::Tiled(0), 0);
                let mut out = vec![None; operands.len()];
                let ends = back(ends);
                if let Operand::Linear(aval) = &operands[0] {
                    let zeros = Array::zeros_of(*aval);
                    let args = [ct, &zeros, &ends, received, &back(starts), sent];
                    out[0] = Some(trace::bind(self.clone(), &args).remove(0));
                }
                if operands[1].is_linear() {
                    let written = within(&ends, received, ct.shape()[0]).reduce_or(&[0]);
                    let written = written.broadcast_in_dim(ct.shape(), &[0]);
                    out[1] = Some(crate::where_(&written, ct.zeros_like(), ct));
                }
                out
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let all = args.iter().zip(axes);
        let all: Vec<Array> = all
            .map(|(x, at)| move_batch_axis(x, *at, 0, axis.size))
            .collect();
        if axis.is_used_by(self) {
            if self.axes.len() > 1 {
                location::fail(&format!(
                    "ragged_all_to_all: one of the axes {:?} is a `vmap` axis\n  help: exchange \
                     over one axis at a time, or over axes of a mesh",
                    self.axes
                ));
            }
            return batched(self.exchanged(&all), Some(0));
        }
        // One exchange of the rows of all examples; the offsets of consecutive examples differ by
        // the number of rows of one example.
        let (n, m) = (all[0].shape()[1] as i32, all[1].shape()[1] as i32);
        let number = Array::iota(&[axis.size, 1], 0, all[2].dtype());
        let runs = |x: &Array, step: i32| {
            let apart = x + &number * step;
            // Ranges for one receiver stay together.
            let count = x.shape()[1];
            let shape = [axis.size, self.size, count / self.size];
            apart
                .reshape(&shape)
                .transpose(&[1, 0, 2])
                .reshape(&[axis.size * count])
        };
        let rows = |x: &Array| super::merge(x, 0);
        let merged = [
            rows(&all[0]),
            rows(&all[1]),
            runs(&all[2], n),
            runs(&all[3], 0),
            runs(&all[4], m),
            runs(&all[5], 0),
        ];
        let out = trace::bind(self.clone(), &refs(&merged)).remove(0);
        batched(super::divide(&out, 0, axis.size), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let groups = all_partitions(ctx, "ragged_all_to_all", &self.axes);
        let attributes = format!(
            "api_version = 4 : i32, call_target_name = \"ragged_all_to_all\", backend_config = \
             {{channel_id = 1 : i64, replica_groups = dense<{groups:?}> : tensor<{}x{}xi64>}}",
            groups.len(),
            groups[0].len()
        );
        ctx.op("custom_call", args, outs, &attributes, &[])
    }
}

fn refs(arrays: &[Array]) -> Vec<&Array> {
    arrays.iter().collect()
}

/// Exchanges ranges of rows between examples (`jax.lax.ragged_all_to_all`).
///
/// The `send_sizes[j]` rows of `operand` from row `input_offsets[j]` on are sent to example `j`,
/// and stored in its `output` from row `output_offsets[j]` on. `recv_sizes[j]` is the number of
/// rows received from example `j`. Other rows of `output` are unchanged. Offsets and sizes are
/// integers, one for each example, or several if several ranges are sent to each.
///
/// XLA's CPU plugin does not support this operation, except over axes of a [`vmap`](crate::vmap). The CPU
/// backend and XLA's plugins for GPUs and TPUs do.
///
/// ```
/// use ramie_core::lax::ragged_all_to_all;
/// use ramie_core::options::VmapOptions;
/// use ramie_core::{vmap_with, Array};
/// // Example 0 keeps row 0 and sends rows 1 and 2; example 1 sends its row 0.
/// let send = |x: Array, start: Array, size: Array, to: Array, got: Array| {
///     let out = Array::from([0.0f32, 0.0, 0.0]);
///     ragged_all_to_all(&x, &out, &start, &size, &to, &got, "i")
/// };
/// let options = VmapOptions { axis_name: Some("i".into()), ..VmapOptions::default() };
/// let rows = Array::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
/// let out = vmap_with(send, options)(
///     rows,
///     Array::from([[0, 1], [0, 0]]),
///     Array::from([[1, 2], [1, 0]]),
///     Array::from([[0, 0], [2, 0]]),
///     Array::from([[1, 1], [2, 0]]),
/// );
/// assert_eq!(out.to_vec::<f32>(), [1.0, 0.0, 4.0, 2.0, 3.0, 0.0]);
/// ```
///
/// # Panics
/// Panics if an axis is not mapped, if rows have different shapes or dtypes, if offsets and sizes
/// are not integers, or if their number is not a multiple of the number of examples.
#[track_caller]
pub fn ragged_all_to_all(
    operand: &Array,
    output: &Array,
    input_offsets: &Array,
    send_sizes: &Array,
    output_offsets: &Array,
    recv_sizes: &Array,
    axes: impl Into<crate::typing::AxisNames>,
) -> Array {
    let axes: Names = axes.into().as_slice().into();
    let size = match size_of(&axes) {
        Ok(size) => size,
        Err(e) => location::fail(&e.render("ragged_all_to_all", &[])),
    };
    // Converted to one dtype, so that rules can compute with them; other dtypes are rejected
    // below.
    let index = |x: &Array| {
        if x.dtype().is_integer() && x.dtype() != DType::I64 {
            x.astype(DType::I32)
        } else {
            x.clone()
        }
    };
    let runs = [input_offsets, send_sizes, output_offsets, recv_sizes].map(index);
    let [starts, sizes, ends, received] = &runs;
    let args = [operand, output, starts, sizes, ends, received].map(|x| super::vary(x, &axes));
    bind1(RaggedAllToAll { axes, size }, &refs(&args))
}
