//! The assignment problem (`optax.assignment`).

use ramie_core::lax::{fori_loop, while_loop};
use ramie_core::{Array, DType, where_};
use ramie_derive::Tree;

/// The assignment so far: dual prices, and partners, which are -1 if unassigned.
#[derive(Tree)]
struct Assignment {
    row_price: Array,
    column_price: Array,
    row_of_column: Array,
    column_of_row: Array,
}

/// The loop state of a search for the shortest path from a row to a free column.
#[derive(Tree)]
struct Search {
    row: Array,
    /// The free column that was reached, or -1.
    sink: Array,
    length: Array,
    shortest: Array,
    before: Array,
    rows_seen: Array,
    columns_seen: Array,
}

/// Assigns rows to columns of a matrix of finite costs `[n, m]` with the smallest total cost
/// (`optax.assignment.hungarian_algorithm`; Crouse, 2016). Returns the row and column indices of
/// the pairs, `[min(n, m)]` each. No row or column occurs twice, and the row indices increase.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_optim::assignment::hungarian_algorithm;
/// let costs = Array::from([[8.0f32, 4.0, 7.0], [5.0, 2.0, 3.0], [9.0, 6.0, 7.0]]);
/// let (rows, columns) = hungarian_algorithm(&costs);
/// assert_eq!(rows.to_vec::<i32>(), [0, 1, 2]);
/// assert_eq!(columns.to_vec::<i32>(), [0, 2, 1]);
/// ```
///
/// # Panics
/// Panics if the array is not a matrix.
#[track_caller]
pub fn hungarian_algorithm(cost_matrix: &Array) -> (Array, Array) {
    assert!(
        cost_matrix.ndim() == 2,
        "hungarian_algorithm: expected a matrix of costs, got {}\n  help: pass costs of shape [n, \
         m]; use vmap for a batch of matrices",
        cost_matrix.aval()
    );
    if cost_matrix.size() == 0 {
        let none = Array::zeros(&[0], DType::I32);
        return (none.clone(), none);
    }
    let costs = cost_matrix.astype(match cost_matrix.dtype() {
        DType::F64 => DType::F64,
        _ => DType::F32,
    });
    let (n, m) = (costs.shape()[0], costs.shape()[1]);
    if n <= m {
        return (Array::iota(&[n], 0, DType::I32), assigned(&costs));
    }
    let rows = assigned(&costs.matrix_transpose());
    let order = rows.argsort(0);
    (rows.take(&order, 0), order)
}

/// Returns the column of each row.
fn assigned(costs: &Array) -> Array {
    let (n, m) = (costs.shape()[0], costs.shape()[1]);
    let none = |size: usize| Array::full(&[size], -1, DType::I32);
    let first = Assignment {
        row_price: Array::zeros(&[n], costs.dtype()),
        column_price: Array::zeros(&[m], costs.dtype()),
        row_of_column: none(m),
        column_of_row: none(n),
    };
    let rows = i32::try_from(n).expect("fewer than 2^31 rows");
    fori_loop(0, rows, |row, so_far| assign(costs, row, so_far), first).column_of_row
}

/// Assigns one more row, which may change the columns of other rows.
fn assign(costs: &Array, row: Array, so_far: Assignment) -> Assignment {
    let (n, m) = (costs.shape()[0], costs.shape()[1]);
    let unseen = |size: usize| Array::full(&[size], false, DType::Bool);
    let start = Search {
        row: row.clone(),
        sink: Array::scalar(-1, DType::I32),
        length: Array::scalar(0.0, costs.dtype()),
        shortest: Array::full(&[m], f64::INFINITY, costs.dtype()),
        before: Array::full(&[m], -1, DType::I32),
        rows_seen: unseen(n),
        columns_seen: unseen(m),
    };
    let found = while_loop(
        // If no cost is finite, the search never reaches a free column.
        |s: Search| s.sink.lt(0).bitwise_and(s.columns_seen.all().logical_not()),
        |s| further(costs, &so_far, s),
        start,
    );
    // Adjust the prices so that the edges of the path have zero cost.
    let length = &found.length;
    let own = Array::iota(&[n], 0, DType::I32).eq(&row);
    let partner = so_far.column_of_row.maximum(0);
    let slack = length - found.shortest.take(&partner, 0);
    let gain = where_(&own, length, slack);
    let row_price = &so_far.row_price + where_(&found.rows_seen, gain, 0.0);
    let paid = where_(&found.columns_seen, length - &found.shortest, 0.0);
    let column_price = &so_far.column_price - paid;
    let exchanged = Path {
        column: found.sink,
        ends: Array::from(false),
        row_of_column: so_far.row_of_column,
        column_of_row: so_far.column_of_row,
    };
    let path = while_loop(
        |p: Path| p.ends.logical_not(),
        |p| {
            let at = found
                .before
                .dynamic_index_in_dim(&p.column, 0)
                .squeeze(&[0]);
            let next = p.column_of_row.dynamic_index_in_dim(&at, 0).squeeze(&[0]);
            let set = |list: &Array, place: &Array, value: &Array| {
                list.dynamic_update_index_in_dim(&value.expand_dims(&[0]), place, 0)
            };
            Path {
                row_of_column: set(&p.row_of_column, &p.column, &at),
                column_of_row: set(&p.column_of_row, &at, &p.column),
                ends: at.eq(&row).bitwise_or(at.lt(0)),
                column: next,
            }
        },
        exchanged,
    );
    Assignment {
        row_price,
        column_price,
        row_of_column: path.row_of_column,
        column_of_row: path.column_of_row,
    }
}

/// The loop state of the way back along the shortest path, which exchanges partners.
#[derive(Tree)]
struct Path {
    column: Array,
    ends: Array,
    row_of_column: Array,
    column_of_row: Array,
}

/// Extends the search by one column.
fn further(costs: &Array, so_far: &Assignment, s: Search) -> Search {
    let (n, m) = (costs.shape()[0], costs.shape()[1]);
    let of_row = |list: &Array| list.dynamic_index_in_dim(&s.row, 0).squeeze(&[0]);
    let rows_seen = s
        .rows_seen
        .bitwise_or(Array::iota(&[n], 0, DType::I32).eq(&s.row));
    let reach = of_row(costs) - of_row(&so_far.row_price) - &so_far.column_price + &s.length;
    let open = s.columns_seen.logical_not();
    let nearer = open.bitwise_and(reach.lt(&s.shortest));
    let before = where_(&nearer, &s.row, &s.before);
    let shortest = where_(&nearer, &reach, &s.shortest);
    let candidates = where_(&open, &shortest, f64::INFINITY);
    let length = candidates.min();
    // If several columns are equally near, prefer a free one, which ends the search.
    let nearest = open.bitwise_and(candidates.eq(&length)).astype(DType::I32);
    let free = so_far.row_of_column.lt(0).astype(DType::I32);
    let column = (&nearest + &nearest * free).argmax(0);
    let column = column.astype(DType::I32);
    let partner = so_far
        .row_of_column
        .dynamic_index_in_dim(&column, 0)
        .squeeze(&[0]);
    let ends = partner.lt(0);
    let seen = Array::iota(&[m], 0, DType::I32).eq(&column);
    Search {
        row: where_(&ends, &s.row, &partner),
        sink: where_(&ends, &column, -1),
        length,
        shortest,
        before,
        rows_seen,
        columns_seen: s.columns_seen.bitwise_or(seen),
    }
}
