//! Sharding rules: how the shardings of results follow from those of operands, if types contain
//! shardings.

use crate::program::primitive::{Avals, Primitive};
use crate::sharding::AxisName;
use crate::types::sharding::{
    AbstractMesh, AxisSet, PartitionSpec, SpecEntry, TypeSharding, parts,
};
use crate::{Aval, ShapeError};

/// Describes how a dimension of an operand relates to the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DimensionRule {
    /// It corresponds to all dimensions with this number, and is sharded like them.
    Axis(usize),
    /// It must not be sharded.
    Whole,
    /// It may be sharded, and no result has it: the compiler reduces it over all devices.
    Reduced,
}

/// A rule that derives the shardings of results from those of operands.
#[derive(Clone, Debug)]
pub enum ShardingRule {
    /// There is no rule: operands must be unsharded or sharded over automatic axes.
    Unknown,
    /// Operands and results of the same shape correspond dimension by dimension.
    Elementwise,
    /// Correspondence of each dimension of each operand and each result.
    Dimensions {
        /// Dimensions of each operand.
        operands: Vec<Vec<DimensionRule>>,
        /// Dimensions of each result; a number that no operand has is an unsharded dimension.
        results: Vec<Vec<DimensionRule>>,
    },
    /// The results' specs.
    Specs(Vec<PartitionSpec>),
}

impl ShardingRule {
    /// Creates a rule for one operand and one result: dimension `d` of the operand becomes
    /// dimension `to[d]` of the result's `rank` dimensions, or is reduced.
    pub fn moved(to: impl IntoIterator<Item = Option<usize>>, rank: usize) -> ShardingRule {
        let rule = |d: Option<usize>| d.map_or(DimensionRule::Reduced, DimensionRule::Axis);
        ShardingRule::Dimensions {
            operands: vec![to.into_iter().map(rule).collect()],
            results: vec![(0..rank).map(DimensionRule::Axis).collect()],
        }
    }

    /// Creates a rule for reductions: the results have the first operand's dimensions except
    /// those in `gone`, which are reduced. Operands without dimensions are ignored.
    pub fn without(args: &[Aval], outs: &[Aval], gone: &[usize]) -> ShardingRule {
        let rules = |a: &Aval| {
            let mut next = 0;
            // Without dimension 1, the dimensions of `[a, b, c]` are 0, reduced and 1, and those of
            // the result `[a, c]` are 0 and 1.
            let rule = |d| {
                if gone.contains(&d) {
                    DimensionRule::Reduced
                } else {
                    next += 1;
                    DimensionRule::Axis(next - 1)
                }
            };
            (0..a.ndim()).map(rule).collect()
        };
        let axes = |a: &Aval| (0..a.ndim()).map(DimensionRule::Axis).collect();
        ShardingRule::Dimensions {
            operands: args.iter().map(rules).collect(),
            results: outs.iter().map(axes).collect(),
        }
    }

    /// Creates a rule for batched operations: the leading dimensions of all operands and results
    /// are batch dimensions; the last `core[i]` dimensions of operand `i`, and those of results,
    /// must not be sharded.
    pub fn batch(args: &[Aval], outs: &[Aval], core: &[usize]) -> ShardingRule {
        // The operands have the same batch dimensions, so the first operand determines their number.
        let batch = args.first().map_or(0, Aval::ndim) - core.first().unwrap_or(&0);
        let rule = |d| {
            if d < batch {
                DimensionRule::Axis(d)
            } else {
                DimensionRule::Whole
            }
        };
        let rules = |a: &Aval| (0..a.ndim()).map(rule).collect();
        ShardingRule::Dimensions {
            operands: args.iter().map(rules).collect(),
            results: outs.iter().map(rules).collect(),
        }
    }

    /// Creates a rule for operands and results with the same dimensions, of which those in
    /// `whole` must not be sharded. Operands without dimensions are ignored.
    pub fn along(args: &[Aval], outs: &[Aval], whole: &[usize]) -> ShardingRule {
        let rule = |d| {
            if whole.contains(&d) {
                DimensionRule::Whole
            } else {
                DimensionRule::Axis(d)
            }
        };
        let rules = |a: &Aval| (0..a.ndim()).map(rule).collect();
        ShardingRule::Dimensions {
            operands: args.iter().map(rules).collect(),
            results: outs.iter().map(rules).collect(),
        }
    }
}

/// Adds shardings and varying axes to the types of a primitive's results, which
/// [`Primitive::infer`] omits.
pub(crate) fn place_results(
    primitive: &dyn Primitive,
    args: &[Aval],
    outs: &mut Avals,
) -> Result<(), ShapeError> {
    // A result may differ between devices wherever one of the operands does.
    let varying = args
        .iter()
        .fold(AxisSet::default(), |set, a| set.union(a.varying_set()));
    if !varying.is_empty() {
        for out in outs.iter_mut() {
            *out = out.with_varying(varying);
        }
    }
    let mesh = match (mesh_of(args)?, primitive.facts().out_sharding) {
        (Some(mesh), Some(out)) if mesh != out.axes() => {
            return Err(ShapeError::new(format!(
                "operands are sharded over {mesh:?}, but out_sharding is over {:?}",
                out.axes()
            ))
            .help("reshard the operands to the other mesh first"));
        }
        // Without sharded operands the mesh is that of the requested sharding.
        (mesh, out) => mesh.or(out.map(|o| o.axes())),
    };
    let Some(mesh) = mesh else {
        return Ok(());
    };
    let (unreduced, reduced) = sums(primitive, args)?;
    let specs = match primitive.sharding(args, outs)? {
        ShardingRule::Unknown => return refuse(primitive, args),
        ShardingRule::Elementwise => {
            let rules = |a: &Aval| (0..a.ndim()).map(DimensionRule::Axis).collect();
            let operands: Vec<Vec<DimensionRule>> = args.iter().map(rules).collect();
            let results: Vec<Vec<DimensionRule>> = outs.iter().map(rules).collect();
            follow(args, &operands, &results)?
        }
        ShardingRule::Dimensions { operands, results } => follow(args, &operands, &results)?,
        ShardingRule::Specs(specs) => specs,
    };
    for (out, spec) in outs.iter_mut().zip(specs) {
        let spec = if unreduced.is_empty() && reduced.is_empty() {
            spec
        } else {
            spec.with_unreduced(&unreduced[..])
                .with_reduced(&reduced[..])
        };
        if crate::types::sharding::check_spec(mesh, &spec).is_err() {
            return Err(duplicate(primitive, args, *out, mesh, &spec));
        }
        if crate::types::sharding::shard_shape(mesh, &spec, out.shape()).is_err() {
            return Err(uneven(primitive, args, *out, mesh, &spec));
        }
        *out = out.with_sharding(Some(TypeSharding::new(mesh, &spec, out.ndim())));
    }
    Ok(())
}

/// Returns the mesh in the operands' types.
pub(crate) fn mesh_of(args: &[Aval]) -> Result<Option<AbstractMesh>, ShapeError> {
    let mut found: Option<AbstractMesh> = None;
    for sharding in args.iter().filter_map(Aval::sharding) {
        match found {
            Some(mesh) if mesh != sharding.mesh() => {
                return Err(ShapeError::new(format!(
                    "operands are sharded over different meshes, {mesh:?} and {:?}",
                    sharding.mesh()
                ))
                .help("reshard one of them to the other's mesh first"));
            }
            _ => found = Some(sharding.mesh()),
        }
    }
    Ok(found)
}

/// Returns the axes over which a result remains to be summed, and those over which its cotangent
/// does: those of the operands, if the primitive is linear.
fn sums(
    primitive: &dyn Primitive,
    args: &[Aval],
) -> Result<(Vec<AxisName>, Vec<AxisName>), ShapeError> {
    let specs: Vec<PartitionSpec> = args.iter().map(Aval::spec).collect();
    let mut reduced: Vec<AxisName> = Vec::new();
    for name in specs.iter().flat_map(|s| s.reduced()) {
        if !reduced.contains(name) {
            reduced.push(*name);
        }
    }
    let Some(first) = specs.iter().find(|s| !s.unreduced().is_empty()) else {
        return Ok((Vec::new(), reduced));
    };
    let linear = primitive.keeps_unreduced();
    // A number added to the parts would be added once by each device. One that is no term of a sum, such
    // as the zero that pads a cotangent, is exempt.
    let adds = primitive.facts().keeps_unreduced;
    let agree = args
        .iter()
        .zip(&specs)
        .all(|(a, s)| a.ndim() == 0 && !adds || s.unreduced() == first.unreduced());
    if linear && agree {
        return Ok((first.unreduced().to_vec(), reduced));
    }
    let why = if linear {
        "all operands must be unreduced over the same axes".to_string()
    } else {
        format!("unreduced rule for {} is not implemented", primitive.name())
    };
    Err(ShapeError::new(format!("{why}; got {}", types(args)))
        .help("sum first: `reshard` to a spec without unreduced axes"))
}

fn types(args: &[Aval]) -> String {
    let types: Vec<String> = args.iter().map(Aval::to_string).collect();
    types.join(", ")
}

fn refuse(primitive: &dyn Primitive, args: &[Aval]) -> Result<(), ShapeError> {
    let sharded: Vec<Aval> = args
        .iter()
        .filter(|a| a.sharding().is_some())
        .copied()
        .collect();
    Err(ShapeError::new(format!(
        "sharding rule for {} is not implemented, and operands are sharded: {}",
        primitive.name(),
        types(&sharded)
    ))
    .help(
        "unshard the operands with `reshard(x, P![])`, or let the compiler choose: call the \
         function through `auto_axes`",
    ))
}

fn duplicate(
    primitive: &dyn Primitive,
    args: &[Aval],
    out: Aval,
    mesh: AbstractMesh,
    spec: &PartitionSpec,
) -> ShapeError {
    let out = out.with_sharding(Some(TypeSharding::new(mesh, spec, out.ndim())));
    ShapeError::new(format!(
        "{} operation with inputs: {} produces an illegally sharded result: {out}",
        primitive.name(),
        types(args)
    ))
    .help(
        "a mesh axis can shard one dimension: reshard an operand, or pass the result's sharding \
         with `out_sharding`",
    )
}

fn uneven(
    primitive: &dyn Primitive,
    args: &[Aval],
    out: Aval,
    mesh: AbstractMesh,
    spec: &PartitionSpec,
) -> ShapeError {
    let parts = |d: usize| parts(mesh, spec, d);
    let whole = |d: &usize| out.shape()[*d].is_multiple_of(parts(*d));
    let d = (0..out.ndim()).find(|d| !whole(d)).unwrap_or(0);
    ShapeError::new(format!(
        "{} on sharded dims where out dim ({}) is not divisible by mesh axes ({}) with spec ({}) is \
         not implemented. Got input type={} and output shape={:?}",
        primitive.name(),
        out.shape().get(d).copied().unwrap_or(1),
        parts(d),
        spec.entry(d),
        types(args),
        out.shape()
    ))
    .help("unshard the dimension first with `reshard`")
}

/// Returns the specs of results, each dimension with the entry of the operands' corresponding
/// dimensions.
fn follow(
    args: &[Aval],
    operands: &[Vec<DimensionRule>],
    results: &[Vec<DimensionRule>],
) -> Result<Vec<PartitionSpec>, ShapeError> {
    let mut axes: Vec<(usize, SpecEntry)> = Vec::new();
    for (aval, rules) in args.iter().zip(operands) {
        let Some(sharding) = aval.sharding() else {
            continue;
        };
        let spec = sharding.spec();
        for (d, rule) in rules.iter().enumerate() {
            let entry = spec.entry(d);
            // An unsharded dimension takes the sharding of the corresponding one of another
            // operand.
            if entry.axes().is_empty() {
                continue;
            }
            match rule {
                DimensionRule::Reduced => {}
                DimensionRule::Whole => {
                    return Err(ShapeError::new(format!(
                        "dimension {d} of {aval} is sharded over {entry}, but the operation \
                         requires it to be unsharded"
                    ))
                    .help(
                        "unshard it with `reshard`, or let the compiler choose with `auto_axes`",
                    ));
                }
                DimensionRule::Axis(axis) => match axes.iter().find(|(a, _)| a == axis) {
                    None => axes.push((*axis, entry.clone())),
                    Some((_, other)) if other == entry => {}
                    Some((_, other)) => {
                        return Err(ShapeError::new(format!(
                            "incompatible shardings: a dimension is sharded over {other} in one \
                             operand and over {entry} in another; got {}",
                            types(args)
                        ))
                        .help("reshard one of them to the other's sharding with `reshard`"));
                    }
                },
            }
        }
    }
    let entry = |rule: &DimensionRule| match rule {
        DimensionRule::Axis(axis) => {
            // A dimension that no operand has, or has sharded, is whole.
            let found = axes.iter().find(|(a, _)| a == axis);
            found.map_or(SpecEntry::None, |(_, entry)| entry.clone())
        }
        DimensionRule::Whole | DimensionRule::Reduced => SpecEntry::None,
    };
    Ok(results
        .iter()
        .map(|rules| PartitionSpec::new(rules.iter().map(entry)))
        .collect())
}
