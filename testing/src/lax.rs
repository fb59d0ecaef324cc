//! Rows of products in groups, and of functions with plain arguments.

use super::apply::{Operation, number, numbers, of};
use super::golden::Row;
use ramie_core::lax::{DotDimensionNumbers, RaggedDotDimensionNumbers};
use ramie_core::options::ScaledDot;
use ramie_core::prim::dot::RaggedDotGeneral;
use ramie_core::prim::elementwise::Mulhi;
use ramie_core::{Array, DType};
use serde_json::Value;

/// Returns the operation of a row, or `None` if the row's name is unknown here.
pub fn apply(row: &Row) -> Option<Box<Operation>> {
    let keepdims = row.params["keepdims"].as_bool().unwrap_or(false);
    let squeezed = move |x: Array| if keepdims { x } else { x.squeeze(&[1]) };
    let one = |f: fn(&[Array]) -> Array| -> Option<Box<Operation>> {
        Some(Box::new(move |a| vec![f(a)]))
    };
    let pair = |f: fn(&[Array]) -> (Array, Array)| -> Option<Box<Operation>> {
        Some(Box::new(move |a| {
            let (x, y) = f(a);
            vec![x, y]
        }))
    };
    match row.op.as_str() {
        "ragged_dot" => one(|a| a[0].ragged_dot(&a[1], &a[2])),
        "ragged_dot_general" => of(RaggedDotGeneral {
            dimension_numbers: ragged(&row.params),
            precision: None,
            preferred_element_type: None,
        }),
        "mulhi" => of(Mulhi),
        "broadcast" => one(|a| a[0].broadcast(&[2, 1])),
        "collapse" if row.inputs[0].ndim() == 0 => one(|a| a[0].collapse(0, 0)),
        "collapse" => one(|a| a[0].collapse(1, 3)),
        "index_in_dim" => Some(Box::new(move |a| vec![squeezed(a[0].index_in_dim(-1, 1))])),
        "dynamic_index_in_dim" => Some(Box::new(move |a| {
            vec![squeezed(a[0].dynamic_index_in_dim(&a[1], 1))]
        })),
        "dynamic_update_index_in_dim" => one(|a| a[0].dynamic_update_index_in_dim(&a[1], &a[2], 1)),
        "index_take" => one(|a| match a.len() {
            3 => a[0].index_take(&a[1..], &[0, 2]),
            _ => a[0].index_take(&a[1..], &[1]),
        }),
        "scaled_dot" => one(|a| match a {
            [x, y, s, t] => {
                let scaled = ScaledDot::new().lhs_scale(s).rhs_scale(t);
                x.scaled_dot_with(y, scaled.preferred_element_type(DType::F32))
            }
            _ => a[0].scaled_dot(&a[1]),
        }),
        "batch_matmul" => one(|a| a[0].batch_matmul(&a[1])),
        "sort_key_val" => pair(|a| a[0].sort_key_val(&a[1], 1)),
        "approx_max_k" => pair(|a| a[0].approx_max_k(2, 1)),
        "approx_min_k" => pair(|a| a[0].approx_min_k(2, 1)),
        _ => None,
    }
}

fn ragged(p: &Value) -> RaggedDotDimensionNumbers {
    let n = &p["dimension_numbers"];
    RaggedDotDimensionNumbers {
        dot: DotDimensionNumbers {
            lhs_contracting: numbers(&n[0][0]),
            rhs_contracting: numbers(&n[0][1]),
            lhs_batch: numbers(&n[1][0]),
            rhs_batch: numbers(&n[1][1]),
        },
        lhs_ragged: number(p, "lhs_ragged"),
        rhs_group: numbers(&p["rhs_group"]).first().copied(),
    }
}
