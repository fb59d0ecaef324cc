//! Rows of the operations that move elements: shapes, slices, gathers,
//! scatters.

use super::apply::{Operation, number, numbers, of, type_of};
use super::golden::Row;
use ramie_core::Array;
use ramie_core::lax::GatherScatterMode;
use ramie_core::prim::index as ix;
use ramie_core::prim::shape as sh;
use serde_json::Value;

/// Returns the operation of a row, or `None` if the row's name is unknown here.
pub fn apply(row: &Row) -> Option<Box<Operation>> {
    shapes(row).or_else(|| indexing(row))
}

fn shapes(row: &Row) -> Option<Box<Operation>> {
    let p = &row.params;
    match row.op.as_str() {
        "broadcast_in_dim" => of(sh::BroadcastInDim {
            shape: numbers(&p["shape"]),
            broadcast_dimensions: numbers(&p["broadcast_dimensions"]),
            sharding: None,
        }),
        "reshape" => of(sh::Reshape {
            new_sizes: numbers(&p["new_sizes"]),
            sharding: None,
        }),
        "transpose" => of(sh::Transpose {
            permutation: numbers(&p["permutation"]),
        }),
        "squeeze" => of(sh::Squeeze {
            dimensions: numbers(&p["dimensions"]),
        }),
        "expand_dims" => {
            let axes: Vec<isize> = numbers(&p["dimensions"])
                .into_iter()
                .map(|d| d as isize)
                .collect();
            Some(Box::new(move |args| vec![args[0].expand_dims(&axes)]))
        }
        "rev" => of(sh::Rev {
            dimensions: numbers(&p["dimensions"]),
        }),
        "concatenate" => of(sh::Concatenate {
            dimension: number(p, "dimension"),
        }),
        "pad" => of(sh::Pad {
            padding_config: padding(&p["padding_config"]),
        }),
        "slice" => of(sh::Slice {
            start_indices: numbers(&p["start_indices"]),
            limit_indices: numbers(&p["limit_indices"]),
            strides: Some(&p["strides"]).filter(|s| !s.is_null()).map(numbers),
        }),
        "iota" => of(sh::Iota {
            shape: numbers(&p["shape"]),
            dimension: number(p, "dimension"),
            dtype: type_of(p, "dtype")?,
            sharding: None,
        }),
        "bitcast_convert_type" => of(sh::BitcastConvertType {
            new_dtype: type_of(p, "new_dtype")?,
        }),
        _ => None,
    }
}

fn padding(config: &Value) -> sh::PaddingConfig {
    let axes = config.as_array().expect("a list").iter();
    axes.map(|axis| {
        let part = |i: usize| axis[i].as_i64().expect("a number") as isize;
        (part(0), part(1), part(2) as usize)
    })
    .collect()
}

fn indexing(row: &Row) -> Option<Box<Operation>> {
    let p = row.params.clone();
    let wrap = p["allow_negative_indices"].as_bool();
    match row.op.as_str() {
        "dynamic_slice" if wrap == Some(true) => {
            let sizes = numbers(&p["slice_sizes"]);
            Some(Box::new(move |a| vec![a[0].dynamic_slice(&a[1..], &sizes)]))
        }
        "dynamic_slice" => of(ix::DynamicSlice {
            slice_sizes: numbers(&p["slice_sizes"]),
        }),
        "dynamic_update_slice" => of(ix::DynamicUpdateSlice),
        "gather" => {
            let n = &p["dimension_numbers"];
            let gather = ix::Gather {
                dimension_numbers: ix::GatherDimensionNumbers {
                    offset_dims: numbers(&n["offset_dims"]),
                    collapsed_slice_dims: numbers(&n["collapsed_slice_dims"]),
                    start_index_map: numbers(&n["start_index_map"]),
                    operand_batching_dims: numbers(&n["operand_batching_dims"]),
                    start_indices_batching_dims: numbers(&n["start_indices_batching_dims"]),
                },
                slice_sizes: numbers(&p["slice_sizes"]),
                mode: mode(&p),
                indices_are_sorted: flag(&p, "indices_are_sorted"),
                unique_indices: flag(&p, "unique_indices"),
                fill_value: None,
            };
            Some(Box::new(move |a: &[Array]| {
                vec![a[0].gather(&a[1], gather.clone())]
            }))
        }
        name => {
            let method = match name {
                "scatter" => ix::ScatterMethod::Set,
                "scatter_add" => ix::ScatterMethod::Add,
                "scatter_mul" => ix::ScatterMethod::Mul,
                "scatter_min" => ix::ScatterMethod::Min,
                "scatter_max" => ix::ScatterMethod::Max,
                _ => return None,
            };
            let n = &p["dimension_numbers"];
            of(ix::Scatter {
                method,
                dimension_numbers: ix::ScatterDimensionNumbers {
                    update_window_dims: numbers(&n["update_window_dims"]),
                    inserted_window_dims: numbers(&n["inserted_window_dims"]),
                    scatter_dims_to_operand_dims: numbers(&n["scatter_dims_to_operand_dims"]),
                    operand_batching_dims: numbers(&n["operand_batching_dims"]),
                    scatter_indices_batching_dims: numbers(&n["scatter_indices_batching_dims"]),
                },
                mode: mode(&p),
                indices_are_sorted: flag(&p, "indices_are_sorted"),
                unique_indices: flag(&p, "unique_indices"),
            })
        }
    }
}

fn mode(params: &Value) -> GatherScatterMode {
    match params["mode"].as_str().expect("a mode") {
        "clip" => GatherScatterMode::Clip,
        "fill" => GatherScatterMode::FillOrDrop,
        other => panic!("unknown mode `{other}`"),
    }
}

fn flag(params: &Value, name: &str) -> bool {
    params[name].as_bool().expect("a truth value")
}
