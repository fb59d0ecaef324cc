//! Infers the `PartitionSpec` that matches a layout chosen by the compiler.

use super::{AbstractMesh, PartitionSpec, SpecEntry};

/// Returns the spec on `mesh` that splits dimensions into `tiles` parts and assigns the part
/// with the indices `indices[k]` to device `k`; `None` if there is no such spec.
pub(crate) fn spec_of_tiles(
    mesh: AbstractMesh,
    tiles: &[usize],
    indices: &[Vec<usize>],
) -> Option<PartitionSpec> {
    let coordinates: Vec<Vec<usize>> = (0..mesh.size()).map(|k| mesh.coordinates(k)).collect();
    let mut used = vec![false; mesh.axis_sizes().len()];
    let mut entries = Vec::with_capacity(tiles.len());
    // Dimensions do not share axes, and the part indices determine the axes of each dimension, so
    // the search needs no backtracking across dimensions.
    for (d, &parts) in tiles.iter().enumerate() {
        let fits = |axes: &[usize]| {
            coordinates.iter().zip(indices).all(|(at, index)| {
                let part = axes
                    .iter()
                    .fold(0, |p, &a| p * mesh.axis_sizes()[a] + at[a]);
                part == index[d]
            })
        };
        let axes = orders(mesh.axis_sizes(), &mut used, parts, &fits)?;
        let names: Vec<_> = axes.iter().map(|&a| mesh.axis_names()[a]).collect();
        entries.push(SpecEntry::from(&names[..]));
    }
    Some(PartitionSpec::new(entries))
}

/// Returns unused axes, in an order that fits, whose sizes multiply to `parts`, and marks them as
/// used. Skips axes of size 1.
fn orders(
    sizes: &[usize],
    used: &mut [bool],
    parts: usize,
    fits: &dyn Fn(&[usize]) -> bool,
) -> Option<Vec<usize>> {
    fn search(
        sizes: &[usize],
        used: &mut [bool],
        left: usize,
        chosen: &mut Vec<usize>,
        fits: &dyn Fn(&[usize]) -> bool,
    ) -> bool {
        if left == 1 {
            return fits(chosen);
        }
        for axis in 0..sizes.len() {
            if used[axis] || sizes[axis] == 1 || !left.is_multiple_of(sizes[axis]) {
                continue;
            }
            used[axis] = true;
            chosen.push(axis);
            if search(sizes, used, left / sizes[axis], chosen, fits) {
                return true;
            }
            chosen.pop();
            used[axis] = false;
        }
        false
    }
    let mut chosen = Vec::new();
    search(sizes, used, parts, &mut chosen, fits).then_some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::P;
    use crate::sharding::AxisType;

    fn tiling(
        mesh: AbstractMesh,
        spec: &PartitionSpec,
        rank: usize,
    ) -> (Vec<usize>, Vec<Vec<usize>>) {
        let size = |a: &crate::sharding::AxisName| mesh.axis_size(*a).unwrap();
        let tiles = (0..rank).map(|d| spec.entry(d).axes().iter().map(size).product());
        let indices = |k| {
            let at = mesh.coordinates(k);
            let part = |d| {
                let axes = spec.entry(d).axes().iter();
                axes.fold(0, |p, a| p * size(a) + at[mesh.position(*a).unwrap()])
            };
            (0..rank).map(part).collect()
        };
        (tiles.collect(), (0..mesh.size()).map(indices).collect())
    }

    #[test]
    fn every_spec_is_found_again() {
        let mesh = AbstractMesh::new(&[2, 2, 2], &["x", "y", "z"], AxisType::Auto);
        for spec in [
            P![None, None],
            P!["x", None],
            P!["y", "x"],
            P![("x", "z"), "y"],
            P![("z", "x"), None],
            P![None, ("z", "y", "x")],
        ] {
            let (tiles, indices) = tiling(mesh, &spec, 2);
            assert_eq!(spec_of_tiles(mesh, &tiles, &indices), Some(spec));
        }
    }

    #[test]
    fn what_no_spec_says_is_refused() {
        let mesh = AbstractMesh::new(&[4], &["x"], AxisType::Auto);
        let halves = [vec![0], vec![0], vec![1], vec![1]];
        assert_eq!(spec_of_tiles(mesh, &[2], &halves), None);
        let backwards = [vec![3], vec![2], vec![1], vec![0]];
        assert_eq!(spec_of_tiles(mesh, &[4], &backwards), None);
    }
}
