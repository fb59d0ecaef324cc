//! Rows of convolutions and of functions made of them.

use super::apply::{Operation, numbers, type_of};
use super::golden::Row;
use ramie_core::lax::{
    ConvLayout, Padding, conv_general_dilated, conv_general_dilated_local,
    conv_general_dilated_patches, conv_transpose,
};
use ramie_core::numpy::ConvolveMode;
use ramie_core::options::{ConvTranspose, Convolution};
use serde_json::Value;

/// Returns the operation of a row, or `None` if the row's name is unknown here.
pub fn apply(row: &Row) -> Option<Box<Operation>> {
    let p = row.params.clone();
    let filter = |p: &Value| numbers(&p["filter_shape"]);
    match row.op.as_str() {
        "conv_general_dilated" => Some(Box::new(move |a| {
            vec![conv_general_dilated(&a[0], &a[1], &convolution(&p))]
        })),
        "conv_general_dilated_patches" => Some(Box::new(move |a| {
            let (window, how) = (filter(&p), convolution(&p));
            vec![conv_general_dilated_patches(&a[0], &window, &how)]
        })),
        "conv_general_dilated_local" => Some(Box::new(move |a| {
            let (window, how) = (filter(&p), convolution(&p));
            vec![conv_general_dilated_local(&a[0], &a[1], &window, &how)]
        })),
        "conv_transpose" => Some(Box::new(move |a| {
            vec![conv_transpose(&a[0], &a[1], &transposed(&p))]
        })),
        "convolve" => Some(Box::new(move |a| vec![a[0].convolve(&a[1], mode(&p))])),
        "correlate" => Some(Box::new(move |a| vec![a[0].correlate(&a[1], mode(&p))])),
        _ => None,
    }
}

/// Reads a padding: a name, or pairs of numbers.
pub fn padding(p: &Value) -> Padding {
    match p.as_str() {
        Some("SAME") => Padding::Same,
        Some("SAME_LOWER") => Padding::SameLower,
        Some(_) => Padding::Valid,
        None => {
            let pairs = p.as_array().expect("a list of pairs").iter();
            let number = |v: &Value| v.as_i64().expect("a number") as isize;
            let pairs = pairs.map(|pair| (number(&pair[0]), number(&pair[1])));
            Padding::Explicit(pairs.collect())
        }
    }
}

/// The layout that the recorded letters name.
fn layout(p: &Value) -> Option<ConvLayout> {
    let letters = p["layout"].as_array()?;
    let text = |i: usize| -> &'static str {
        let text: &str = letters[i].as_str().expect("letters");
        Box::leak(text.to_string().into_boxed_str())
    };
    Some(ConvLayout::from((text(0), text(1), text(2))))
}

fn convolution(p: &Value) -> Convolution {
    let mut how = Convolution::new()
        .strides(&numbers(&p["strides"]))
        .padding(padding(&p["padding"]));
    if let Some(layout) = layout(p) {
        how = how.layout(layout);
    }
    if !p["lhs_dilation"].is_null() {
        how = how
            .lhs_dilation(&numbers(&p["lhs_dilation"]))
            .rhs_dilation(&numbers(&p["rhs_dilation"]))
            .feature_group_count(p["feature_group_count"].as_u64().expect("a number") as usize)
            .batch_group_count(p["batch_group_count"].as_u64().expect("a number") as usize);
    }
    match type_of(p, "preferred_element_type") {
        Some(dtype) => how.preferred_element_type(dtype),
        None => how,
    }
}

fn transposed(p: &Value) -> ConvTranspose {
    let flag = |name: &str| p[name].as_bool().unwrap_or(false);
    let mut how = ConvTranspose::new()
        .strides(&numbers(&p["strides"]))
        .padding(padding(&p["padding"]))
        .transpose_kernel(flag("transpose_kernel"))
        .use_consistent_padding(flag("use_consistent_padding"));
    if !p["rhs_dilation"].is_null() {
        how = how.rhs_dilation(&numbers(&p["rhs_dilation"]));
    }
    match layout(p) {
        Some(layout) => how.layout(layout),
        None => how,
    }
}

fn mode(p: &Value) -> ConvolveMode {
    match p["mode"].as_str().expect("a mode") {
        "full" => ConvolveMode::Full,
        "same" => ConvolveMode::Same,
        _ => ConvolveMode::Valid,
    }
}
