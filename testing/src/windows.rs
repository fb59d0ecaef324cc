//! Rows of reductions of windows, of general reductions, and of pooling.

use super::apply::{Operation, numbers, of};
use super::convolution::padding;
use super::golden::Row;
use ramie_core::Array;
use ramie_core::lax::{avg_pool, avg_pool_with, max_pool, min_pool, pool, reduce, reduce_window};
use ramie_core::options::{ExcludePadding, Window};
use ramie_core::prim::window::{Select, SelectAndGatherAdd, SelectAndScatterAdd, SlidingWindow};
use ramie_core::typing::Dims;
use serde_json::Value;

/// Returns the operation of a row, or `None` if the row's name is unknown here.
pub fn apply(row: &Row) -> Option<Box<Operation>> {
    let p = row.params.clone();
    match row.op.as_str() {
        "reduce_window_sum" => Some(Box::new(move |a| vec![a[0].reduce_window_sum(&window(&p))])),
        "reduce_window_max" => Some(Box::new(move |a| vec![a[0].reduce_window_max(&window(&p))])),
        "reduce_window_min" => Some(Box::new(move |a| vec![a[0].reduce_window_min(&window(&p))])),
        "reduce_window" => Some(Box::new(move |a| {
            reduce_window(a, &starts(&p, a), computation(&p), &window(&p))
        })),
        "reduce" => Some(Box::new(move |a| {
            let axes: Vec<isize> = numbers(&p["axes"]).iter().map(|&d| d as isize).collect();
            reduce(a, &starts(&p, a), computation(&p), &axes)
        })),
        "select_and_scatter_add" => of(SelectAndScatterAdd {
            select: select(&p),
            window: sliding(&p, row.inputs[1].shape()),
        }),
        "select_and_gather_add" => of(SelectAndGatherAdd {
            select: select(&p),
            window: sliding(&p, row.inputs[1].shape()),
        }),
        name => pooling(name, p.clone()),
    }
}

fn pooling(name: &str, p: Value) -> Option<Box<Operation>> {
    let size = |p: &Value| (numbers(&p["window_shape"]), numbers(&p["strides"]));
    macro_rules! operation {
        (|$x:ident, $shape:ident, $strides:ident, $padding:ident| $apply:expr) => {
            Some(Box::new(move |a: &[Array]| {
                let (($shape, $strides), $padding) = (size(&p), padding(&p["padding"]));
                let $x = &a[0];
                vec![$apply]
            }))
        };
    }
    let counted = p["count_include_pad"].as_bool().unwrap_or(true);
    match name {
        "max_pool" => operation!(|x, shape, strides, pads| max_pool(x, &shape, &strides, pads)),
        "min_pool" => operation!(|x, shape, strides, pads| min_pool(x, &shape, &strides, pads)),
        "avg_pool" => {
            operation!(|x, shape, strides, pads| if counted {
                avg_pool(x, &shape, &strides, pads)
            } else {
                avg_pool_with(x, &shape, &strides, pads, ExcludePadding)
            })
        }
        "pool" => operation!(|x, shape, strides, pads| {
            pool(x, 1, |a, b| a * b, &shape, &strides, pads)
        }),
        _ => None,
    }
}

fn select(p: &Value) -> Select {
    match p["select"].as_str().expect("a comparison") {
        "ge" => Select::Ge,
        _ => Select::Le,
    }
}

/// The values that a reduction starts with, in the arrays' types.
fn starts(p: &Value, arrays: &[Array]) -> Vec<Array> {
    let init = p["init"].as_array().expect("a list").iter();
    init.zip(arrays)
        .map(|(v, x)| Array::scalar(v.as_i64().expect("a number"), x.dtype()))
        .collect()
}

type Computation = fn(&[Array], &[Array]) -> Vec<Array>;

fn computation(p: &Value) -> Computation {
    match p["computation"].as_str().expect("a name") {
        "product" => |a, b| vec![&a[0] * &b[0]],
        "magnitude" => |a, b| vec![a[0].abs().maximum(b[0].abs())],
        "pair" => |a, b| vec![&a[0] + &b[0], &a[1] * &b[1]],
        other => panic!("unknown computation `{other}`"),
    }
}

fn window(p: &Value) -> Window {
    Window::new(&numbers(&p["dimensions"]))
        .strides(&numbers(&p["strides"]))
        .padding(padding(&p["padding"]))
        .base_dilation(&numbers(&p["base_dilation"]))
        .window_dilation(&numbers(&p["window_dilation"]))
}

/// The window of a row as primitives hold it.
fn sliding(p: &Value, shape: &[usize]) -> SlidingWindow {
    let (dimensions, strides) = (numbers(&p["dimensions"]), numbers(&p["strides"]));
    let ones = Dims::from_elem(1, shape.len());
    SlidingWindow {
        padding: padding(&p["padding"]).pads(shape, &dimensions, &strides),
        dimensions,
        strides,
        base_dilation: ones.clone(),
        window_dilation: ones,
    }
}
