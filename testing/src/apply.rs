//! From a recorded row to the primitive it applies.

use super::golden::{Row, dtype};
use ramie_core::extend::{Primitive, bind};
use ramie_core::lax::{DotDimensionNumbers, DotGeneral};
use ramie_core::prim::cumulative as cum;
use ramie_core::prim::elementwise as el;
use ramie_core::prim::reduce as red;
use ramie_core::prim::sort::{Sort, TopK};
use ramie_core::typing::Dims;
use ramie_core::{Array, DType};
use serde_json::Value;

/// Operands to results.
pub type Operation = dyn Fn(&[Array]) -> Vec<Array> + Send + Sync;

/// Returns the operation of a row, or `None` if the row's name is unknown here.
pub fn apply(row: &Row) -> Option<Box<Operation>> {
    elementwise(row)
        .or_else(|| reductions(row))
        .or_else(|| super::indexing::apply(row))
        .or_else(|| products(row))
        .or_else(|| running(row))
        .or_else(|| sorting(row))
}

/// Returns the operation that binds a primitive.
pub fn of<P: Primitive + Clone>(primitive: P) -> Option<Box<Operation>> {
    Some(Box::new(move |args| {
        let refs: Vec<&Array> = args.iter().collect();
        bind(primitive.clone(), &refs).into_vec()
    }))
}

/// Returns a parameter that is a number.
pub fn number(params: &Value, name: &str) -> usize {
    params[name].as_u64().expect("a number") as usize
}

/// Returns a parameter that is a list of numbers.
pub fn numbers(value: &Value) -> Dims {
    let list = value.as_array().expect("a list");
    list.iter()
        .map(|v| v.as_u64().expect("a number") as usize)
        .collect()
}

/// Returns a parameter that is a dtype.
pub fn type_of(params: &Value, name: &str) -> Option<DType> {
    params[name].as_str().map(dtype)
}

fn elementwise(row: &Row) -> Option<Box<Operation>> {
    let p = &row.params;
    match row.op.as_str() {
        "integer_pow" => of(el::IntegerPow(p["y"].as_i64()? as i32)),
        "round" => of(el::Round(match p["rounding_method"].as_str()? {
            "AWAY_FROM_ZERO" => el::RoundingMethod::AwayFromZero,
            _ => el::RoundingMethod::ToNearestEven,
        })),
        "convert_element_type" => of(el::ConvertElementType {
            new_dtype: type_of(p, "new_dtype")?,
            weak_type: false,
        }),
        "is_finite" => of(el::IsFinite),
        "select_n" => of(el::SelectN),
        "clamp" => of(el::Clamp),
        "pow" => of(el::Pow),
        name => {
            let row = el::elementwise_table().find(|row| row.name == name)?;
            Some(Box::new(row.bind))
        }
    }
}

fn reductions(row: &Row) -> Option<Box<Operation>> {
    let p = &row.params;
    let axes = || numbers(&p["axes"]);
    let argument = || (axes()[0], type_of(p, "index_dtype").expect("a type"));
    match row.op.as_str() {
        "reduce_sum" => of(red::ReduceSum { axes: axes() }),
        "reduce_prod" => of(red::ReduceProd { axes: axes() }),
        "reduce_max" => of(red::ReduceMax { axes: axes() }),
        "reduce_min" => of(red::ReduceMin { axes: axes() }),
        "reduce_and" => of(red::ReduceAnd { axes: axes() }),
        "reduce_or" => of(red::ReduceOr { axes: axes() }),
        "reduce_xor" => of(red::ReduceXor { axes: axes() }),
        "argmax" => {
            let (axis, index_dtype) = argument();
            of(red::Argmax { axis, index_dtype })
        }
        "argmin" => {
            let (axis, index_dtype) = argument();
            of(red::Argmin { axis, index_dtype })
        }
        _ => None,
    }
}

fn products(row: &Row) -> Option<Box<Operation>> {
    let p = &row.params;
    let n = &p["dimension_numbers"];
    match row.op.as_str() {
        "dot_general" => of(DotGeneral {
            dimension_numbers: DotDimensionNumbers {
                lhs_contracting: numbers(&n[0][0]),
                rhs_contracting: numbers(&n[0][1]),
                lhs_batch: numbers(&n[1][0]),
                rhs_batch: numbers(&n[1][1]),
            },
            precision: None,
            preferred_element_type: type_of(p, "preferred_element_type"),
            out_sharding: None,
        }),
        _ => None,
    }
}

fn running(row: &Row) -> Option<Box<Operation>> {
    let p = &row.params;
    let reverse = p["reverse"].as_bool().unwrap_or(false);
    let axis = || number(p, "axis");
    match row.op.as_str() {
        "cumsum" => of(cum::Cumsum {
            axis: axis(),
            reverse,
        }),
        "cumprod" => of(cum::Cumprod {
            axis: axis(),
            reverse,
        }),
        "cummax" => of(cum::Cummax {
            axis: axis(),
            reverse,
        }),
        "cummin" => of(cum::Cummin {
            axis: axis(),
            reverse,
        }),
        _ => None,
    }
}

fn sorting(row: &Row) -> Option<Box<Operation>> {
    let p = &row.params;
    match row.op.as_str() {
        "sort" => of(Sort {
            dimension: number(p, "dimension"),
            is_stable: p["is_stable"].as_bool()?,
            num_keys: number(p, "num_keys"),
        }),
        "top_k" => {
            let rank = row.inputs[0].ndim() as i64;
            let axis = p["axis"].as_i64()?.rem_euclid(rank) as usize;
            of(TopK {
                k: number(p, "k"),
                axis,
            })
        }
        _ => None,
    }
}
