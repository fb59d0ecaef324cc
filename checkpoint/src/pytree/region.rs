//! Regions of arrays and their overlaps.

use std::ops::Range;

/// Index range along each axis.
pub(super) type Region = [Range<usize>];

/// Returns the size along each axis.
pub(super) fn shape(region: &Region) -> Vec<usize> {
    region.iter().map(|r| r.end - r.start).collect()
}

/// Returns the region of a whole array.
pub(super) fn whole(shape: &[usize]) -> Vec<Range<usize>> {
    shape.iter().map(|n| 0..*n).collect()
}

/// Returns the region at a position in a grid of regions of this shape.
pub(super) fn cell_region(cell: &[usize], shape: &[usize]) -> Vec<Range<usize>> {
    let axes = cell.iter().zip(shape);
    axes.map(|(i, n)| i * n..(i + 1) * n).collect()
}

/// Returns the overlap of two regions, or `None` if they are disjoint.
pub(super) fn overlap(a: &Region, b: &Region) -> Option<Vec<Range<usize>>> {
    let both = a.iter().zip(b);
    let common: Vec<Range<usize>> = both
        .map(|(a, b)| a.start.max(b.start)..a.end.min(b.end))
        .collect();
    common.iter().all(|r| r.start < r.end).then_some(common)
}

/// Returns the range of a part's elements in the row-major order of its region, if they are
/// contiguous.
pub(super) fn in_one_piece(region: &Region, part: &Region) -> Option<Range<usize>> {
    let (mut start, mut stride, mut length) = (0, 1, 1);
    // Whether all later axes are fully covered.
    let mut is_whole = true;
    for (region, part) in region.iter().zip(part).rev() {
        let (all, some) = (region.end - region.start, part.end - part.start);
        if !is_whole && some != 1 {
            return None;
        }
        start += (part.start - region.start) * stride;
        length *= some;
        stride *= all;
        is_whole &= all == some;
    }
    Some(start..start + length)
}

/// Calls `each` for every contiguous run of elements of `part`, with its byte offsets in the
/// row-major elements of the regions `a` and `b`, which both contain it, and its length in bytes.
pub(super) fn runs(
    part: &Region,
    a: &Region,
    b: &Region,
    size: usize,
    mut each: impl FnMut(usize, usize, usize),
) {
    let extents = |region: &Region| shape(region);
    let (counts, of_a, of_b) = (extents(part), extents(a), extents(b));
    if counts.contains(&0) {
        return;
    }
    // Trailing axes that are fully covered in both regions form one run with the axis before them.
    let mut inner = part.len();
    let mut run = size;
    while inner > 0 {
        inner -= 1;
        run *= counts[inner];
        if counts[inner] != of_a[inner] || counts[inner] != of_b[inner] {
            break;
        }
    }
    let strides = |of: &[usize]| {
        let mut strides = vec![size; of.len()];
        for d in (1..of.len()).rev() {
            strides[d - 1] = strides[d] * of[d];
        }
        strides
    };
    let (stride_a, stride_b) = (strides(&of_a), strides(&of_b));
    let offset = |strides: &[usize], region: &Region| -> usize {
        let starts = part.iter().zip(region).zip(strides);
        starts.map(|((p, r), s)| (p.start - r.start) * s).sum()
    };
    let (start_a, start_b) = (offset(&stride_a, a), offset(&stride_b, b));
    let outer = &counts[..inner];
    for number in 0..outer.iter().product() {
        let (mut rest, mut at_a, mut at_b) = (number, start_a, start_b);
        for d in (0..inner).rev() {
            let i = rest % outer[d];
            rest /= outer[d];
            at_a += i * stride_a[d];
            at_b += i * stride_b[d];
        }
        each(at_a, at_b, run);
    }
}

/// Copies the elements of `part` from one region's bytes to another's.
pub(super) fn copy(
    part: &Region,
    (from, bytes): (&Region, &[u8]),
    (to, out): (&Region, &mut [u8]),
    size: usize,
) {
    runs(part, from, to, size, |a, b, n| {
        out[b..b + n].copy_from_slice(&bytes[a..a + n]);
    });
}

/// Returns the shape of chunks that evenly divide a part of `shape`, with at most `bytes` bytes
/// but at least one element. The largest of the axes that are already split (or of all axes if
/// there are none) is divided repeatedly until chunks are small enough.
pub(super) fn chunk_shape(
    whole: &[usize],
    shape: &[usize],
    size: usize,
    bytes: Option<u64>,
) -> Vec<usize> {
    let mut chunk: Vec<usize> = shape.iter().map(|n| (*n).max(1)).collect();
    let Some(bytes) = bytes else { return chunk };
    let most = usize::try_from(bytes).unwrap_or(usize::MAX) / size;
    let mut divided: Vec<bool> = whole.iter().zip(shape).map(|(a, b)| a != b).collect();
    while chunk.iter().product::<usize>() > most.max(1) {
        let candidates = (0..chunk.len()).filter(|&d| divided[d] && chunk[d] > 1);
        // Of several axes of equal size, split the first: its chunks are contiguous.
        let Some(d) = candidates.min_by_key(|&d| (std::cmp::Reverse(chunk[d]), d)) else {
            divided.fill(true);
            continue;
        };
        let n = chunk[d];
        let divisor = (2..=n).find(|k| n.is_multiple_of(*k)).unwrap_or(n);
        chunk[d] = n / divisor;
        divided[d] = true;
    }
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_parts_are_copied() {
        // Rows 1..3 and columns 2..4 of a matrix of 4 by 5.
        let from: Vec<u8> = (0..20).collect();
        let mut out = vec![99; 6];
        let (whole, target) = ([0..4, 0..5], [1..3, 2..5]);
        let part = overlap(&whole, &target).unwrap();
        assert_eq!(part, target);
        copy(&part, (&whole, &from), (&target, &mut out), 1);
        assert_eq!(out, [7, 8, 9, 12, 13, 14]);
        assert_eq!(overlap(&[0..2, 0..2], &[2..3, 0..2]), None);
        // Scalars are one element.
        let mut out = [0; 2];
        copy(&[], (&[], &[1, 2]), (&[], &mut out), 2);
        assert_eq!(out, [1, 2]);
    }

    #[test]
    fn pieces_are_found() {
        assert_eq!(in_one_piece(&[0..4, 0..5], &[1..3, 0..5]), Some(5..15));
        assert_eq!(in_one_piece(&[0..4, 0..5], &[1..2, 1..3]), Some(6..8));
        assert_eq!(in_one_piece(&[0..4, 0..5], &[1..3, 1..3]), None);
        assert_eq!(in_one_piece(&[2..4, 5..6], &[3..4, 5..6]), Some(1..2));
        assert_eq!(in_one_piece(&[], &[]), Some(0..1));
    }

    #[test]
    fn runs_are_as_long_as_can_be() {
        let count = |part: &Region, a: &Region, b: &Region| {
            let mut lengths = Vec::new();
            runs(part, a, b, 4, |_, _, n| lengths.push(n));
            lengths
        };
        let whole = [0..2, 0..3, 0..4];
        assert_eq!(count(&whole, &whole, &whole), [96]);
        assert_eq!(count(&[0..2, 1..2, 0..4], &whole, &whole), [16, 16]);
        assert_eq!(count(&[0..2, 0..3, 0..1], &whole, &whole), [4; 6]);
    }

    #[test]
    fn chunks_are_small_enough_and_divide() {
        let square = [64, 64];
        assert_eq!(chunk_shape(&square, &square, 4, None), [64, 64]);
        assert_eq!(chunk_shape(&square, &square, 4, Some(4096)), [32, 32]);
        assert_eq!(chunk_shape(&[64, 64], &[8, 64], 4, Some(1024)), [4, 64]);
        assert_eq!(chunk_shape(&[7], &[7], 8, Some(1)), [1]);
        assert_eq!(chunk_shape(&[0, 3], &[0, 3], 4, Some(100)), [1, 3]);
        assert_eq!(chunk_shape(&[], &[], 4, Some(1)), [0usize; 0]);
    }
}
