//! Collectives over axes named by `vmap`, `pmap` or `shard_map`.

use crate::base::location::fail;
use crate::dtypes::{Literal, Scalar};
use crate::prim::collective::{
    AllGather, AllReduce, AllToAll, AxisIndex, AxisIndexGroups, Combine, Names, Ppermute, Pvary,
    ReduceScatter, manual, size_of, vary,
};
use crate::program::trace::bind1;
use crate::program::tree;
use crate::typing::AxisNames;
use crate::{Array, DType, Tree};

fn names(axes: impl Into<AxisNames>) -> Names {
    axes.into().as_slice().into()
}

/// Returns the product of the sizes of the given mapped axes (`jax.lax.axis_size`).
///
/// # Panics
/// Panics if an axis name is not bound.
#[track_caller]
pub fn axis_size(axes: impl Into<AxisNames>) -> usize {
    count("axis_size", &names(axes))
}

#[track_caller]
fn count(operation: &str, names: &[crate::sharding::AxisName]) -> usize {
    match size_of(names) {
        Ok(size) => size,
        Err(e) => fail(&e.render(operation, &[])),
    }
}

/// Returns the index along the given mapped axes, `i32[]`. Over several axes, the last one varies
/// fastest (`jax.lax.axis_index`).
///
/// # Panics
/// Panics if an axis name is not bound.
#[track_caller]
pub fn axis_index(axes: impl Into<AxisNames>) -> Array {
    let names = names(axes);
    if let [axis] = names[..] {
        return bind1(AxisIndex { axis }, &[]);
    }
    let mut index = Array::scalar(0, DType::I32);
    let mut stride = 1;
    for &axis in names.iter().rev() {
        index += bind1(AxisIndex { axis }, &[]) * (stride as i32);
        stride *= count("axis_index", &[axis]);
    }
    index
}

/// Returns the number of examples that communicate with each other, in groups of the same size.
#[track_caller]
fn group_size(operation: &str, axes: &AxisIndexGroups) -> usize {
    match axes.groups.size(&axes.names, false) {
        Ok(size) => size,
        Err(e) => fail(&e.render(operation, &[])),
    }
}

/// Panics if there are groups where types track which axes values vary over.
#[track_caller]
fn refuse_tracked_groups(operation: &str, axes: &AxisIndexGroups) {
    if axes.groups.any() && !manual(&axes.names).is_empty() {
        fail(&format!(
            "{operation}: axis_index_groups are not supported where types track varying axes, as \
             in JAX\n  help: call `shard_map_with` with ShardMapOptions {{ check_vma: false, .. }}"
        ));
    }
}

#[track_caller]
fn reduce<T: Tree>(combine: Combine, x: &T, axes: &AxisIndexGroups) -> T {
    let AxisIndexGroups {
        names: axes,
        groups,
    } = axes;
    // A loop instead of `tree::map`: `#[track_caller]` does not work through a closure.
    let mut outs = Vec::new();
    for a in tree::leaves(x) {
        let all = AllReduce {
            combine,
            groups: groups.clone(),
            ..AllReduce::sum(axes.clone())
        };
        outs.push(bind1(all, &[&vary(&a, axes)]));
    }
    tree::with_leaves(x, outs)
}

/// Sums the arrays of a tree over the given axes (`jax.lax.psum`), or within
/// [groups](AxisIndexGroups) of indices along them. Booleans are counted as `i32`.
/// Values known at trace time are multiplied by the axis size, so `psum(&1.into_array(), "i")`
/// returns the axis size.
///
/// The derivative is that of a sum shared by all batch elements: `grad` inside the mapped
/// function returns the gradient of the sum of all elements' results.
///
/// ```
/// use ramie_core::lax::psum;
/// use ramie_core::options::VmapOptions;
/// use ramie_core::{vmap_with, Array};
/// let share = |x: Array| &x / psum(&x, "i");
/// let options = VmapOptions { axis_name: Some("i".into()), ..VmapOptions::default() };
/// let x = Array::from([1.0f32, 2.0, 5.0]);
/// assert_eq!(vmap_with(share, options)(x).to_vec::<f32>(), [0.125, 0.25, 0.625]);
/// ```
///
/// # Panics
/// Panics if an axis name is not bound.
#[track_caller]
pub fn psum<T: Tree>(x: &T, axes: impl Into<AxisIndexGroups>) -> T {
    let axes = axes.into();
    refuse_tracked_groups("psum", &axes);
    if tree::leaves(x).iter().all(|a| !a.is_tracer()) {
        // Values known at trace time are the same for all batch elements.
        let size = group_size("psum", &axes);
        return tree::map(x, |a| times(a, size));
    }
    let counted = tree::map(x, |a| match a.dtype() {
        DType::Bool => a.astype(DType::I32),
        _ => a.clone(),
    });
    reduce(Combine::Sum, &counted, &axes)
}

/// Multiplies a value known at trace time by the axis size.
#[track_caller]
fn times(a: &Array, size: usize) -> Array {
    let Some(number) = a.as_literal() else {
        return match a.dtype() {
            DType::Bool => a.astype(DType::I32) * size as i32,
            _ => a * size as i32,
        };
    };
    let value = match number.value() {
        Scalar::Bool(v) => Scalar::Int(i64::from(v) * size as i64),
        Scalar::Int(v) => Scalar::Int(v.wrapping_mul(size as i64)),
        Scalar::Uint(v) => Scalar::Uint(v.wrapping_mul(size as u64)),
        Scalar::Float(v) => Scalar::Float(v * size as f64),
        Scalar::Complex(re, im) => Scalar::Complex(re * size as f64, im * size as f64),
    };
    let dtype = match a.dtype() {
        DType::Bool => DType::I32,
        dtype => dtype,
    };
    Array::literal(if a.aval().weak_type() {
        Literal::weak(value, dtype)
    } else {
        Literal::new(value, dtype)
    })
}

/// Computes the mean of a tree's arrays over the given axes (`jax.lax.pmean`).
///
/// # Panics
/// Panics if an axis name is not bound.
#[track_caller]
pub fn pmean<T: Tree>(x: &T, axes: impl Into<AxisIndexGroups>) -> T {
    let axes = axes.into();
    let size = group_size("pmean", &axes);
    let sum = psum(x, axes);
    tree::map(&sum, |a| a / size as i32)
}

/// Computes the elementwise maximum of a tree's arrays over the given axes (`jax.lax.pmax`). Not
/// differentiable, as in JAX.
///
/// # Panics
/// Panics if an axis name is not bound.
#[track_caller]
pub fn pmax<T: Tree>(x: &T, axes: impl Into<AxisIndexGroups>) -> T {
    let axes = axes.into();
    refuse_tracked_groups("pmax", &axes);
    reduce(Combine::Max, x, &axes)
}

/// Computes the elementwise minimum of a tree's arrays over the given axes (`jax.lax.pmin`). Not
/// differentiable, as in JAX.
///
/// # Panics
/// Panics if an axis name is not bound.
#[track_caller]
pub fn pmin<T: Tree>(x: &T, axes: impl Into<AxisIndexGroups>) -> T {
    let axes = axes.into();
    refuse_tracked_groups("pmin", &axes);
    reduce(Combine::Min, x, &axes)
}

/// The array axis of a collective (`axis` and `tiled` in JAX). An axis converts into
/// [`Along::Stacked`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Along {
    /// Each batch element has one slice; its array lacks the axis.
    Stacked(isize),
    /// Each batch element has an equal part of the axis.
    Tiled(isize),
}

impl Along {
    fn axis(self) -> isize {
        match self {
            Along::Stacked(axis) | Along::Tiled(axis) => axis,
        }
    }

    fn tiled(self) -> bool {
        matches!(self, Along::Tiled(_))
    }
}

impl From<isize> for Along {
    fn from(axis: isize) -> Along {
        Along::Stacked(axis)
    }
}

/// Gathers the values of a tree's arrays along the given axes and stacks them along a new first
/// axis (`jax.lax.all_gather`).
///
/// # Panics
/// Panics if an axis name is not bound.
#[track_caller]
pub fn all_gather<T: Tree>(x: &T, axes: impl Into<AxisIndexGroups>) -> T {
    all_gather_with(x, axes, 0)
}

/// Same as [`all_gather`], with the axis of the result along which the values are stacked or
/// concatenated (`jax.lax.all_gather(x, name, axis=axis, tiled=tiled)`).
///
/// # Panics
/// Panics if an axis name is not bound, or if the axis is out of range.
#[track_caller]
pub fn all_gather_with<T: Tree>(
    x: &T,
    axes: impl Into<AxisIndexGroups>,
    along: impl Into<Along>,
) -> T {
    gather("all_gather", x, &axes.into(), along.into(), false)
}

/// Gathers the values like [`all_gather_with`]. The type of the result is marked as equal along
/// the gathered axes (`jax.lax.all_gather_invariant`).
///
/// The transpose returns to each batch element its slice of the cotangent, whereas the transpose
/// of [`all_gather`] sums the cotangents of all elements.
///
/// # Panics
/// Panics if an axis name is not bound, or if the axis is out of range.
#[track_caller]
pub fn all_gather_invariant<T: Tree>(
    x: &T,
    axes: impl Into<AxisNames>,
    along: impl Into<Along>,
) -> T {
    let axes = axes.into();
    gather("all_gather_invariant", x, &axes.into(), along.into(), true)
}

#[track_caller]
fn gather<T: Tree>(
    operation: &str,
    x: &T,
    axes: &AxisIndexGroups,
    along: Along,
    to_invariant: bool,
) -> T {
    let size = group_size(operation, axes);
    let mut outs = Vec::new();
    for a in tree::leaves(x) {
        let dimension = match along {
            Along::Stacked(axis) => stacked_axis(operation, &a, axis),
            Along::Tiled(axis) => a.axis(operation, axis),
        };
        let gather = AllGather {
            axes: axes.names.clone(),
            groups: axes.groups.clone(),
            dimension,
            size,
            tiled: along.tiled(),
            to_invariant,
        };
        outs.push(bind1(gather, &[&vary(&a, &axes.names)]));
    }
    tree::with_leaves(x, outs)
}

/// Normalizes an axis of a result that has one axis more than `x`.
#[track_caller]
fn stacked_axis(operation: &str, x: &Array, axis: isize) -> usize {
    let rank = x.ndim() as isize + 1;
    let normal = if axis < 0 { axis + rank } else { axis };
    if !(0..rank).contains(&normal) {
        fail(&format!(
            "{operation}: axis {axis} is out of range for a result of {rank} axes"
        ));
    }
    normal as usize
}

/// Sums the arrays of a tree over the given axes and scatters each sum along an array axis
/// (`jax.lax.psum_scatter`).
/// With [`Along::Stacked`], the axis has the size of the mapped axis, and each batch element
/// receives the slice at its own index, without that axis. With [`Along::Tiled`], it receives an
/// equal part of the axis.
///
/// # Panics
/// Panics if an axis name is not bound, or if the size of the array axis does not fit the size of
/// the mapped axis.
#[track_caller]
pub fn psum_scatter<T: Tree>(
    x: &T,
    axes: impl Into<AxisIndexGroups>,
    along: impl Into<Along>,
) -> T {
    let (axes, along) = (axes.into(), along.into());
    let size = group_size("psum_scatter", &axes);
    let mut outs = Vec::new();
    for a in tree::leaves(x) {
        let scatter = ReduceScatter {
            dimension: a.axis("psum_scatter", along.axis()),
            size,
            axes: axes.names.clone(),
            groups: axes.groups.clone(),
            tiled: along.tiled(),
        };
        outs.push(bind1(scatter, &[&vary(&a, &axes.names)]));
    }
    tree::with_leaves(x, outs)
}

/// Splits the arrays of a tree along `split_axis` and sends a slice or a part to each batch
/// element (`jax.lax.all_to_all`). With [`Along::Stacked`], the split axis has the size of the mapped axis,
/// and each element stacks the received slices along a new axis `concat_axis`. With
/// [`Along::Tiled`], each element concatenates the received parts along its axis `concat_axis`.
///
/// # Panics
/// Panics if an axis name is not bound, if an axis is out of range, or if the size of the split
/// axis does not fit the size of the mapped axis.
#[track_caller]
pub fn all_to_all<T: Tree>(
    x: &T,
    axes: impl Into<AxisIndexGroups>,
    split_axis: impl Into<Along>,
    concat_axis: isize,
) -> T {
    let (axes, along) = (axes.into(), split_axis.into());
    let size = group_size("all_to_all", &axes);
    let mut outs = Vec::new();
    for a in tree::leaves(x) {
        outs.push(exchanged(&a, &axes, size, (along, concat_axis)));
    }
    tree::with_leaves(x, outs)
}

/// [`all_to_all`] of one array within groups of `size` examples.
#[track_caller]
fn exchanged(
    x: &Array,
    AxisIndexGroups { names, groups }: &AxisIndexGroups,
    size: usize,
    (along, concat_axis): (Along, isize),
) -> Array {
    let split = x.axis("all_to_all", along.axis());
    let concat = x.axis("all_to_all", concat_axis);
    if !along.tiled() && x.shape()[split] != size {
        fail(&format!(
            "all_to_all: axis {split} of {} has size {}, expected the mapped axis size, {size}\n  \
             help: pass Along::Tiled({split}) to send several parts to each batch element",
            x.aval(),
            x.shape()[split]
        ));
    }
    let x = &vary(x, names);
    let exchange = |split, concat| AllToAll {
        axes: names.clone(),
        groups: groups.clone(),
        split,
        concat,
        size,
        tiled: along.tiled(),
    };
    if along.tiled() || split == concat {
        return bind1(exchange(split, concat), &[x]);
    }
    // As in JAX: adds an axis to concatenate along, and removes the split axis.
    let (split, concat) = if split < concat {
        (split, concat + 1)
    } else {
        (split + 1, concat)
    };
    let wide = x.expand_dims(&[concat as isize]);
    bind1(exchange(split, concat), &[&wide]).squeeze(&[split as isize])
}

/// Swaps the axis `axis` of a tree's arrays, whose size must be the mapped axis size, with the mapped
/// axis (`jax.lax.pswapaxes`).
///
/// # Panics
/// Panics in the same cases as [`all_to_all`].
#[track_caller]
pub fn pswapaxes<T: Tree>(x: &T, axes: impl Into<AxisIndexGroups>, axis: isize) -> T {
    all_to_all(x, axes, axis, axis)
}

/// Sends the arrays of a tree between batch elements: for each pair `(from, to)`, element `to`
/// receives the value of element `from`. Elements without a sender receive zeros
/// (`jax.lax.ppermute`).
///
/// Over several axes, elements are numbered in the order of the names, as by [`axis_index`].
///
/// # Panics
/// Panics if an axis name is not bound, or if an element sends or receives twice.
#[track_caller]
pub fn ppermute<T: Tree>(x: &T, axes: impl Into<AxisNames>, permutation: &[(usize, usize)]) -> T {
    let permute = Ppermute {
        axes: names(axes),
        permutation: permutation.to_vec(),
    };
    tree::map(x, |a| bind1(permute.clone(), &[&vary(a, &permute.axes)]))
}

/// Sends the arrays of a tree between batch elements: element `i` receives the value of element
/// `sources[i]` (`jax.lax.pshuffle`). Elements are numbered as in [`ppermute`].
///
/// # Panics
/// Panics if an axis name is not bound, or if `sources` is not a permutation of the indices.
#[track_caller]
pub fn pshuffle<T: Tree>(x: &T, axes: impl Into<AxisNames>, sources: &[usize]) -> T {
    let names = names(axes);
    let size = count("pshuffle", &names);
    if sources.len() != size {
        fail(&format!(
            "pshuffle: got {} sources for a mapped axis of size {size}\n  help: pass the source \
             of each batch element",
            sources.len()
        ));
    }
    let pairs: Vec<(usize, usize)> = sources.iter().enumerate().map(|(i, &s)| (s, i)).collect();
    ppermute(x, &names[..], &pairs)
}

/// Broadcasts the value of the batch element `source` to all elements (`jax.lax.pbroadcast`).
///
/// # Panics
/// Panics if an axis name is not bound, or if `source` is out of range.
#[track_caller]
pub fn pbroadcast<T: Tree>(x: &T, axes: impl Into<AxisNames>, source: usize) -> T {
    let names = names(axes);
    let size = count("pbroadcast", &names);
    if source >= size {
        fail(&format!(
            "pbroadcast: source {source} is out of range for a mapped axis of size {size}"
        ));
    }
    tree::map(x, |a| {
        gather("all_gather", a, &names[..].into(), Along::Stacked(0), false)
            .slice_in_dim(source, source + 1, 1, 0)
            .squeeze(&[0])
    })
}

/// The type that [`pcast`] converts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PcastTo {
    /// Varying along the axes; see [`pvary`].
    Varying,
}

/// Converts the types of a tree's arrays along mesh axes, without changing their elements
/// (`jax.lax.pcast(x, name, to="varying")`). Unlike [`pvary`], which ignores arrays that already
/// vary, it requires arrays that do not vary.
///
/// ```no_run
/// use ramie_core::lax::{axis_index, fori_loop, pcast, PcastTo};
/// use ramie_core::{make_mesh, shard_map, Array, P};
/// let mesh = make_mesh(&[8], &["x"])?;
/// let f = |x: Array| {
///     let start = pcast(&Array::from(0), "x", PcastTo::Varying);
///     fori_loop(0, 3, |_, sum: Array| sum + axis_index("x"), start) + x
/// };
/// let f = shard_map(f, mesh, P!["x"], P!["x"]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Panics
/// Panics if an axis name is not bound, or if an array already varies over one of the axes.
#[track_caller]
pub fn pcast<T: Tree>(x: &T, axes: impl Into<AxisNames>, to: PcastTo) -> T {
    let axes = names(axes);
    let PcastTo::Varying = to;
    for a in tree::leaves(x) {
        let aval = a.aval();
        if let Some(name) = axes.iter().find(|n| aval.varying().contains(n)) {
            fail(&format!(
                "pcast: {aval} already varies over {name:?}, but pcast requires axes over which \
                 it does not vary\n  help: omit the axis, or use `pvary`, which ignores such axes"
            ));
        }
    }
    pvary(x, &axes[..])
}

/// Marks the arrays of a tree as varying along the given axes. The transpose is [`psum`]: a value
/// shared by all batch elements accumulates the cotangents of all of them
/// (`jax.lax.pcast(x, name, to="varying")`).
///
/// # Panics
/// Panics if an axis name is not bound.
#[track_caller]
pub fn pvary<T: Tree>(x: &T, axes: impl Into<AxisNames>) -> T {
    let axes = names(axes);
    if crate::types::sharding::any_manual() {
        // Where types track varying axes, only arrays that do not vary yet are marked.
        return tree::map(x, |a| vary(a, &axes));
    }
    tree::map(x, |a| bind1(Pvary { axes: axes.clone() }, &[a]))
}
