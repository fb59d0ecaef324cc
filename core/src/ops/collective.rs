//! Collectives over the axes that `vmap` names.

use crate::prim::collective::{
    AllGather, AllReduce, AllToAll, AxisIndex, Combine, Names, Ppermute, Pvary, ReduceScatter,
    size_of, vary,
};
use crate::trace::{bind1, fail};
use crate::{Array, AxisNames, DType, Literal, Scalar, Tree, tree};

fn names(axes: impl Into<AxisNames>) -> Names {
    axes.into().as_slice().into()
}

/// The number of examples along mapped axes together (`jax.lax.axis_size`).
///
/// # Panics
/// If an axis of that name is not mapped here.
#[track_caller]
pub fn axis_size(axes: impl Into<AxisNames>) -> usize {
    count("axis_size", &names(axes))
}

#[track_caller]
fn count(operation: &str, names: &[crate::AxisName]) -> usize {
    match size_of(names) {
        Ok(size) => size,
        Err(e) => fail(&e.render(operation, &[])),
    }
}

/// The number of this example along mapped axes, `i32[]`; over several axes
/// the last one runs fastest (`jax.lax.axis_index`).
///
/// # Panics
/// If an axis of that name is not mapped here.
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

#[track_caller]
fn reduce<T: Tree>(combine: Combine, x: &T, axes: &Names) -> T {
    // A loop, not `tree::map`: a closure would not know the caller's line.
    let mut outs = Vec::new();
    for a in tree::leaves(x) {
        let all = AllReduce {
            combine,
            ..AllReduce::sum(axes.clone())
        };
        outs.push(bind1(all, &[&vary(&a, axes)]));
    }
    tree::with_leaves(x, outs)
}

/// The sum of a tree's arrays over all examples (`jax.lax.psum`). Truth values
/// are counted, as `i32`. Values that are known when the function is traced are
/// multiplied by the number of examples: `psum(&1.into_array(), "i")` is it.
///
/// Its derivative is that of a sum in which every example shares: `grad`
/// inside the mapped function gives the gradient of the sum of all examples'
/// results.
///
/// ```
/// use ramie_core::{Array, VmapOptions, psum, vmap_with};
/// let share = |x: Array| &x / psum(&x, "i");
/// let options = VmapOptions { axis_name: Some("i".into()), ..VmapOptions::default() };
/// let x = Array::from([1.0f32, 2.0, 5.0]);
/// assert_eq!(vmap_with(share, options)(x).to_vec::<f32>(), [0.125, 0.25, 0.625]);
/// ```
///
/// # Panics
/// If an axis of that name is not mapped here.
#[track_caller]
pub fn psum<T: Tree>(x: &T, axes: impl Into<AxisNames>) -> T {
    let names = names(axes);
    if tree::leaves(x).iter().all(|a| !a.is_tracer()) {
        // Known values are the same for all examples.
        let size = count("psum", &names);
        return tree::map(x, |a| times(a, size));
    }
    let counted = tree::map(x, |a| match a.dtype() {
        DType::Bool => a.astype(DType::I32),
        _ => a.clone(),
    });
    reduce(Combine::Sum, &counted, &names)
}

/// A known value, as many times as there are examples.
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
    Array::literal(match a.aval().weak_type() {
        true => Literal::weak(value, dtype),
        false => Literal::new(value, dtype),
    })
}

/// The mean of a tree's arrays over all examples (`jax.lax.pmean`).
///
/// # Panics
/// If an axis of that name is not mapped here.
#[track_caller]
pub fn pmean<T: Tree>(x: &T, axes: impl Into<AxisNames>) -> T {
    let names = names(axes);
    let size = count("pmean", &names);
    let sum = psum(x, &names[..]);
    tree::map(&sum, |a| a / size as i32)
}

/// The greatest values of a tree's arrays over all examples (`jax.lax.pmax`).
/// Not differentiable, as in JAX.
///
/// # Panics
/// If an axis of that name is not mapped here.
#[track_caller]
pub fn pmax<T: Tree>(x: &T, axes: impl Into<AxisNames>) -> T {
    reduce(Combine::Max, x, &names(axes))
}

/// The least values of a tree's arrays over all examples (`jax.lax.pmin`). Not
/// differentiable, as in JAX.
///
/// # Panics
/// If an axis of that name is not mapped here.
#[track_caller]
pub fn pmin<T: Tree>(x: &T, axes: impl Into<AxisNames>) -> T {
    reduce(Combine::Min, x, &names(axes))
}

/// The values of all examples, stacked along a new first axis
/// (`jax.lax.all_gather`).
///
/// # Panics
/// If an axis of that name is not mapped here.
#[track_caller]
pub fn all_gather(x: &Array, axes: impl Into<AxisNames>) -> Array {
    gather(x, &names(axes), 0, false)
}

/// The values of all examples, stacked along the new axis `axis` of the result
/// (`jax.lax.all_gather(x, name, axis=axis)`).
///
/// # Panics
/// If an axis of that name is not mapped here, or `axis` is out of range.
#[track_caller]
pub fn all_gather_stacked(x: &Array, axes: impl Into<AxisNames>, axis: isize) -> Array {
    let dimension = stacked_axis("all_gather", x, axis);
    gather(x, &names(axes), dimension, false)
}

/// The values of all examples, concatenated along their axis `axis`
/// (`jax.lax.all_gather(x, name, axis=axis, tiled=True)`).
///
/// # Panics
/// If an axis of that name is not mapped here, or `axis` is out of range.
#[track_caller]
pub fn all_gather_tiled(x: &Array, axes: impl Into<AxisNames>, axis: isize) -> Array {
    let dimension = x.axis("all_gather", axis);
    gather(x, &names(axes), dimension, true)
}

#[track_caller]
fn gather(x: &Array, axes: &Names, dimension: usize, tiled: bool) -> Array {
    let gather = AllGather {
        axes: axes.clone(),
        dimension,
        size: count("all_gather", axes),
        tiled,
        to_invariant: false,
    };
    bind1(gather, &[&vary(x, axes)])
}

/// The values of all examples, stacked along the new axis `axis` of the result,
/// which is the same for all of them: its type no longer says that it varies
/// (`jax.lax.all_gather_invariant`).
///
/// Its transpose gives each example its part of the cotangent, where that of
/// [`all_gather`] adds up the cotangents of all.
///
/// # Panics
/// If an axis of that name is not mapped here, or `axis` is out of range.
#[track_caller]
pub fn all_gather_invariant(x: &Array, axes: impl Into<AxisNames>, axis: isize) -> Array {
    let dimension = stacked_axis("all_gather_invariant", x, axis);
    invariant(x, &names(axes), dimension, false)
}

/// The values of all examples, concatenated along their axis `axis`; as
/// [`all_gather_invariant`]
/// (`jax.lax.all_gather_invariant(x, name, axis=axis, tiled=True)`).
///
/// # Panics
/// If an axis of that name is not mapped here, or `axis` is out of range.
#[track_caller]
pub fn all_gather_invariant_tiled(x: &Array, axes: impl Into<AxisNames>, axis: isize) -> Array {
    let dimension = x.axis("all_gather_invariant", axis);
    invariant(x, &names(axes), dimension, true)
}

#[track_caller]
fn invariant(x: &Array, axes: &Names, dimension: usize, tiled: bool) -> Array {
    let gather = AllGather {
        axes: axes.clone(),
        dimension,
        size: count("all_gather_invariant", axes),
        tiled,
        to_invariant: true,
    };
    bind1(gather, &[&vary(x, axes)])
}

/// The axis of a result of one more axis than `x`.
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

/// The sum over all examples, of which each gets the part with its number along
/// `axis`, whose size is the number of examples; the axis goes
/// (`jax.lax.psum_scatter`).
///
/// # Panics
/// If an axis of that name is not mapped here, or sizes differ.
#[track_caller]
pub fn psum_scatter(x: &Array, axes: impl Into<AxisNames>, axis: isize) -> Array {
    scatter(x, &names(axes), axis, false)
}

/// The sum over all examples, of which each gets an equal part along `axis`
/// (`jax.lax.psum_scatter(x, name, scatter_dimension=axis, tiled=True)`).
///
/// # Panics
/// If an axis of that name is not mapped here, or the size of `axis` is not a
/// multiple of the number of examples.
#[track_caller]
pub fn psum_scatter_tiled(x: &Array, axes: impl Into<AxisNames>, axis: isize) -> Array {
    scatter(x, &names(axes), axis, true)
}

#[track_caller]
fn scatter(x: &Array, axes: &Names, axis: isize, tiled: bool) -> Array {
    let scatter = ReduceScatter {
        axes: axes.clone(),
        dimension: x.axis("psum_scatter", axis),
        size: count("psum_scatter", axes),
        tiled,
    };
    bind1(scatter, &[&vary(x, axes)])
}

/// Parts of `x` along `split_axis`, whose size is the number of examples, go to
/// the examples; each stacks what it gets along a new axis `concat_axis`
/// (`jax.lax.all_to_all`).
///
/// # Panics
/// If an axis of that name is not mapped here, an axis is out of range, or
/// sizes differ.
#[track_caller]
pub fn all_to_all(
    x: &Array,
    axes: impl Into<AxisNames>,
    split_axis: isize,
    concat_axis: isize,
) -> Array {
    let names = names(axes);
    let size = count("all_to_all", &names);
    let split = x.axis("all_to_all", split_axis);
    let concat = x.axis("all_to_all", concat_axis);
    if x.shape()[split] != size {
        fail(&format!(
            "all_to_all: axis {split} of {} has size {}, expected the number of examples, {size}\n  \
             help: use all_to_all_tiled to send several parts to each example",
            x.aval(),
            x.shape()[split]
        ));
    }
    let x = &vary(x, &names);
    let exchange = |split, concat| AllToAll {
        axes: names.clone(),
        split,
        concat,
        size,
        tiled: false,
    };
    if split == concat {
        return bind1(exchange(split, concat), &[x]);
    }
    // As JAX: a new axis to concatenate along, and the split one goes.
    let (split, concat) = match split < concat {
        true => (split, concat + 1),
        false => (split + 1, concat),
    };
    let wide = x.expand_dims(&[concat as isize]);
    bind1(exchange(split, concat), &[&wide]).squeeze(&[split as isize])
}

/// Equal parts of `x` along `split_axis` go to the examples; each concatenates
/// what it gets along `concat_axis`
/// (`jax.lax.all_to_all(.., tiled=True)`).
///
/// # Panics
/// If an axis of that name is not mapped here, an axis is out of range, or the
/// split axis does not come apart into equal parts.
#[track_caller]
pub fn all_to_all_tiled(
    x: &Array,
    axes: impl Into<AxisNames>,
    split_axis: isize,
    concat_axis: isize,
) -> Array {
    let axes = names(axes);
    let exchange = AllToAll {
        split: x.axis("all_to_all", split_axis),
        concat: x.axis("all_to_all", concat_axis),
        size: count("all_to_all", &axes),
        axes,
        tiled: true,
    };
    let x = vary(x, &exchange.axes);
    bind1(exchange, &[&x])
}

/// The axis `axis` of `x`, whose size is the number of examples, and the mapped
/// axis exchanged (`jax.lax.pswapaxes`).
///
/// # Panics
/// As [`all_to_all`].
#[track_caller]
pub fn pswapaxes(x: &Array, axes: impl Into<AxisNames>, axis: isize) -> Array {
    all_to_all(x, axes, axis, axis)
}

/// The arrays of a tree sent between examples: for each pair `(from, to)` the
/// example `to` gets the value of `from`. Examples that nobody sends to get
/// zeros (`jax.lax.ppermute`).
///
/// Over several axes of a mesh devices are counted in the order of the mesh's
/// axes, whatever the order of the names, as in JAX.
///
/// # Panics
/// If an axis of that name is not mapped here, or an example sends or receives
/// twice.
#[track_caller]
pub fn ppermute<T: Tree>(x: &T, axes: impl Into<AxisNames>, permutation: &[(usize, usize)]) -> T {
    let permute = Ppermute {
        axes: names(axes),
        permutation: permutation.to_vec(),
    };
    tree::map(x, |a| bind1(permute.clone(), &[&vary(a, &permute.axes)]))
}

/// The arrays of a tree sent between examples: example `i` gets the value of
/// `sources[i]` (`jax.lax.pshuffle`). Over several axes of a mesh devices are
/// counted as for [`ppermute`].
///
/// # Panics
/// If an axis of that name is not mapped here, or `sources` is not a
/// permutation of the examples.
#[track_caller]
pub fn pshuffle<T: Tree>(x: &T, axes: impl Into<AxisNames>, sources: &[usize]) -> T {
    let names = names(axes);
    let size = count("pshuffle", &names);
    if sources.len() != size {
        fail(&format!(
            "pshuffle: {} sources for {size} examples\n  help: name the source of each example",
            sources.len()
        ));
    }
    let pairs: Vec<(usize, usize)> = sources.iter().enumerate().map(|(i, &s)| (s, i)).collect();
    ppermute(x, &names[..], &pairs)
}

/// The value that example `source` has, for all examples
/// (`jax.lax.pbroadcast`).
///
/// # Panics
/// If an axis of that name is not mapped here, or `source` is not an example.
#[track_caller]
pub fn pbroadcast<T: Tree>(x: &T, axes: impl Into<AxisNames>, source: usize) -> T {
    let names = names(axes);
    let size = count("pbroadcast", &names);
    if source >= size {
        fail(&format!(
            "pbroadcast: there is no example {source} among {size}"
        ));
    }
    tree::map(x, |a| {
        gather(a, &names, 0, false)
            .slice_in_dim(source, source + 1, 1, 0)
            .squeeze(&[0])
    })
}

/// What [`pcast`] makes of a value's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PcastTo {
    /// One that may differ along the axes: [`pvary`].
    Varying,
}

/// The tree with its arrays' types changed along mesh axes, and their elements as
/// they are (`jax.lax.pcast(x, name, to="varying")`). Unlike [`pvary`], which
/// leaves alone what varies already, it takes only values that do not.
///
/// ```no_run
/// use ramie_core::{Array, P, PcastTo, axis_index, fori_loop, make_mesh, pcast, shard_map};
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
/// If an axis of that name is not mapped here, or an array varies over one of
/// them already.
#[track_caller]
pub fn pcast<T: Tree>(x: &T, axes: impl Into<AxisNames>, to: PcastTo) -> T {
    let axes = names(axes);
    let PcastTo::Varying = to;
    for a in tree::leaves(x) {
        let aval = a.aval();
        if let Some(name) = axes.iter().find(|n| aval.varying().contains(n)) {
            fail(&format!(
                "pcast: {aval} varies over {name:?} already, and can be made to vary over axes only \
                 over which it does not\n  help: leave the axis out, or use `pvary`, which does"
            ));
        }
    }
    pvary(x, &axes[..])
}

/// The tree with its arrays marked as ones that may differ between examples.
/// Its transpose is [`psum`]: a value that all examples share gets cotangents
/// from all of them (`jax.lax.pcast(x, name, to="varying")`).
///
/// # Panics
/// If an axis of that name is not mapped here.
#[track_caller]
pub fn pvary<T: Tree>(x: &T, axes: impl Into<AxisNames>) -> T {
    let axes = names(axes);
    if crate::sharding::any_manual() {
        // Where types say what varies, only what does not yet is marked.
        return tree::map(x, |a| vary(a, &axes));
    }
    tree::map(x, |a| bind1(Pvary { axes: axes.clone() }, &[a]))
}
