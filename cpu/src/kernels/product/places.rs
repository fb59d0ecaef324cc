//! The places of the results of a batch of products in memory.

use super::Sizes;

/// A place for each element of each product, all different and without gaps.
#[derive(Clone, Debug)]
pub struct Places {
    /// Distances of the products from the first one.
    moves: Vec<usize>,
    /// Distances of rows and columns.
    strides: [usize; 2],
    /// Rows and columns of a product.
    shape: [usize; 2],
}

impl Places {
    /// Returns the places of products whose batch, rows and columns have these axes, in memory that has the axes
    /// in an order of their numbers: `None` if neither rows nor columns would have their neighbors in it.
    pub fn ordered(axes: [&[usize]; 3], order: &[usize]) -> Option<Places> {
        let shape: Vec<usize> = axes.concat();
        let mut strides = vec![0; shape.len()];
        let mut size = 1;
        for axis in order.iter().rev() {
            strides[*axis] = size;
            size *= shape[*axis];
        }
        let [batch, rows, columns] = axes;
        let (batch_strides, rest) = strides.split_at(batch.len());
        let (row_strides, column_strides) = rest.split_at(rows.len());
        let mut moves = vec![0];
        for (n, stride) in batch.iter().zip(batch_strides) {
            let outer = std::mem::take(&mut moves);
            moves.extend(
                outer
                    .iter()
                    .flat_map(|m| (0..*n).map(move |i| m + i * stride)),
            );
        }
        let strides = [
            common_stride(rows, row_strides)?,
            common_stride(columns, column_strides)?,
        ];
        strides.contains(&1).then(|| Places {
            moves,
            strides,
            shape: [rows.iter().product(), columns.iter().product()],
        })
    }

    /// Returns the distances of rows and columns.
    pub fn strides(&self) -> [usize; 2] {
        self.strides
    }

    /// Returns the distance of a product from the first one.
    pub fn start(&self, number: usize) -> usize {
        self.moves[number]
    }

    /// Returns whether these are the places of this number of products of these sizes.
    pub fn are_of(&self, count: usize, sizes: Sizes) -> bool {
        self.moves.len() == count && self.shape == [sizes.rows, sizes.columns]
    }
}

/// Returns the distance of neighbors along axes that are one axis of a matrix.
fn common_stride(axes: &[usize], strides: &[usize]) -> Option<usize> {
    let mut large = axes.iter().zip(strides).filter(|(n, _)| **n != 1).rev();
    let Some((n, first)) = large.next() else {
        return Some(1);
    };
    let mut next = n * first;
    for (n, stride) in large {
        if *stride != next {
            return None;
        }
        next *= n;
    }
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_beside_each_other_have_common_rows() {
        // Results [2, 3 heads, 4 rows, 5 columns] in memory as [2, 4, 3, 5].
        let places = Places::ordered([&[2, 3], &[4], &[5]], &[0, 2, 1, 3]).unwrap();
        assert_eq!(places.strides(), [15, 1]);
        let starts: Vec<usize> = (0..6).map(|i| places.start(i)).collect();
        assert_eq!(starts, [0, 5, 10, 60, 65, 70]);
    }

    #[test]
    fn rows_in_two_places_are_not_taken() {
        // Rows [2, 4] and columns [3, 5], as [2, 3, 4, 5].
        assert!(Places::ordered([&[], &[2, 4], &[3, 5]], &[0, 2, 1, 3]).is_none());
        assert!(Places::ordered([&[2], &[4], &[5, 1]], &[1, 2, 0, 3]).is_none());
    }
}
