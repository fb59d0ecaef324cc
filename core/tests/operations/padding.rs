//! Padding with statistics and ramps, against `jnp.pad`.

use ramie_core::numpy::{PadMode, PadStatistic, einsum_path};
use ramie_core::{Array, DType, einsum};
use ramie_testing::apply::Operation;
use ramie_testing::golden::{Golden, Row};

fn function(row: &Row) -> Option<Box<Operation>> {
    let pairs = row.params["widths"].as_array()?;
    let number = |v: &serde_json::Value| v.as_u64().expect("a number") as usize;
    let widths: Vec<(usize, usize)> = pairs
        .iter()
        .map(|pair| (number(&pair[0]), number(&pair[1])))
        .collect();
    let of = match row.op.as_str() {
        "maximum" => PadStatistic::Maximum,
        "mean" => PadStatistic::Mean,
        "median" => PadStatistic::Median,
        "minimum" => PadStatistic::Minimum,
        "linear_ramp" => {
            let end = row.params["end"].as_i64()? as i32;
            return Some(Box::new(move |x| vec![x[0].pad_linear_ramp(&widths, end)]));
        }
        _ => return None,
    };
    let stat_length = row.params["stat_length"].as_u64();
    let stat_length = stat_length
        .map(|n| (n as usize, n as usize))
        .into_iter()
        .collect();
    let mode = PadMode::Statistic { of, stat_length };
    Some(Box::new(move |x| {
        vec![x[0].pad_with(&widths, mode.clone())]
    }))
}

#[test]
fn padding_agrees_with_jax() {
    let golden = Golden::open("padding");
    let ops = golden.ops();
    assert_eq!(ops.len(), 5);
    // Programs of reductions and concatenations, which are checked for both.
    ramie_testing::walk_recorded(golden, &ops, &function);
}

#[test]
fn only_axes_that_are_padded_need_elements() {
    let none = Array::zeros(&[0, 2], DType::F32);
    let mode = PadMode::Statistic {
        of: PadStatistic::Maximum,
        stat_length: vec![],
    };
    assert_eq!(none.pad_with(&[(0, 0), (1, 2)], mode).shape(), [0, 5]);
    assert_eq!(none.pad_linear_ramp(&[(0, 0), (1, 2)], 0).shape(), [0, 5]);
}

#[test]
#[should_panic(expected = "pad: stat_length must not be 0")]
fn numbers_are_made_of_something() {
    let mode = PadMode::Statistic {
        of: PadStatistic::Mean,
        stat_length: vec![(1, 0)],
    };
    let _ = Array::arange(3).pad_with(&[(1, 0)], mode);
}

#[test]
fn paths_are_those_of_sums_of_products() {
    let of = |shape: &[usize]| Array::shape_dtype_struct(shape, DType::F32);
    // As jnp.einsum_path gives them, whose places are of the list as it shrinks.
    let chain = [of(&[2, 100]), of(&[100, 3]), of(&[3, 50])];
    assert_eq!(einsum_path("ij,jk,kl->il", &chain), [(0, 1), (0, 1)]);
    assert_eq!(einsum_path("ij->i", &chain[..1]), []);
    assert_eq!(einsum_path("ij,jk->ik", &chain[..2]), [(0, 1)]);
    let ones = [[4, 2], [2, 3], [3, 5]].map(|shape| Array::ones(&shape, DType::F32));
    let mut terms: Vec<(String, Array)> = ["ij", "jk", "kl"]
        .iter()
        .map(|labels| labels.to_string())
        .zip(ones.clone())
        .collect();
    for (i, j) in einsum_path("ij,jk,kl->il", &ones) {
        let (right, left) = (terms.remove(j), terms.remove(i));
        // What both have is summed over; the rest is in the order of the alphabet.
        let both = |c: &char| left.0.contains(*c) && right.0.contains(*c);
        let mut out: Vec<char> = left.0.chars().chain(right.0.chars()).collect();
        out.retain(|c| !both(c));
        out.sort_unstable();
        let out: String = out.into_iter().collect();
        let spec = format!("{},{}->{out}", left.0, right.0);
        terms.push((out, einsum(&spec, &[left.1, right.1])));
    }
    let whole = einsum("ij,jk,kl->il", &ones);
    assert_eq!(terms[0].1.to_vec::<f32>(), whole.to_vec::<f32>());
}

/// The results of `jnp.pad(.., stat_length=..)` of JAX 0.12.0.
#[test]
fn lengths_of_statistics_differ_between_axes() {
    let x = Array::arange(12).reshape(&[3, 4]);
    let mode = |stat_length| PadMode::Statistic {
        of: PadStatistic::Maximum,
        stat_length,
    };
    let padded = x.pad_with(&[(1, 1), (1, 1)], mode(vec![(1, 2), (2, 3)]));
    let expected = [
        [1, 0, 1, 2, 3, 3],
        [1, 0, 1, 2, 3, 3],
        [5, 4, 5, 6, 7, 7],
        [9, 8, 9, 10, 11, 11],
        [9, 8, 9, 10, 11, 11],
    ]
    .concat();
    assert_eq!(padded.to_vec::<i32>(), expected);
    ramie_testing::assert_explained(
        || x.pad_with(&[(1, 1), (1, 1)], mode(vec![(1, 1); 3])),
        &["pad: stat_length has 3 entries for i32[3,4]"],
    );
}
