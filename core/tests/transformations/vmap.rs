//! `vmap`: which axes, of which arrays, and what is refused.

use ramie_core::options::VmapOptions;
use ramie_core::typing::MapAxes;
use ramie_core::{Array, DType, array, make_jaxpr, vmap, vmap_with};
use ramie_testing::panic_message;

fn matrix() -> Array {
    array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
}

#[test]
fn axes_of_components_and_paths() {
    let f = |(a, b): (Array, Array), c: Array| (&a + &b, &b * &c);
    let by_path = MapAxes::by_path(|path| match path {
        "0.0" => Some(1),
        "0.1" => None,
        _ => Some(0),
    });
    let c = array([1.0, 10.0, 100.0]);
    let (sum, product) =
        vmap_with(f, (by_path, [Some(1), Some(0)]))((matrix(), array([10.0, 20.0])), c);
    assert_eq!(sum.to_vec::<f32>(), [11.0, 12.0, 13.0, 24.0, 25.0, 26.0]);
    assert_eq!(sum.shape(), [2, 3]);
    assert_eq!(product.shape(), [3, 2]);
    assert_eq!(
        product.to_vec::<f32>(),
        [10.0, 20.0, 100.0, 200.0, 1000.0, 2000.0]
    );
}

#[test]
fn a_result_that_is_the_same_for_all() {
    let f = |x: Array, w: Array| (&x * 2.0, w.sum());
    let (doubled, sum) = vmap_with(f, ([Some(0), None], [Some(0), None]))(matrix(), matrix());
    assert_eq!(doubled.shape(), [2, 3]);
    assert_eq!(sum.to_vec::<f32>(), [21.0]);
    let text = panic_message(|| {
        vmap_with(|x: Array| x, (0, None))(matrix());
    });
    assert!(
        text.contains("out_axes requires the result to be the same"),
        "{text}"
    );
}

#[test]
fn the_number_of_examples_given() {
    let options = |n| VmapOptions {
        axis_size: Some(n),
        ..VmapOptions::default()
    };
    let out = vmap_with(|(): ()| Array::from(1.0f32), options(3))(());
    assert_eq!(out.to_vec::<f32>(), [1.0, 1.0, 1.0]);
    let text = panic_message(move || {
        vmap_with(|x: Array| x, options(4))(matrix());
    });
    assert!(
        text.contains("axis_size is 4, argument `0` has 2"),
        "{text}"
    );
}

#[test]
fn lists_of_the_wrong_length() {
    let text = panic_message(|| {
        let _ = vmap_with(|x: Array| x, [Some(0), None]);
    });
    assert!(
        text.contains("in_axes has 2 entries, but the function has 1"),
        "{text}"
    );
    let text = panic_message(|| {
        vmap_with(|x: Array| (x.clone(), x), (0, [Some(0)]))(matrix());
    });
    assert!(
        text.contains("out_axes has 1 entries, but the tree has a component `1`"),
        "{text}"
    );
    let text = panic_message(|| {
        vmap(|x: Array| x)(Array::from(1.0f32));
    });
    assert!(text.contains("has no axis 0 to batch over"), "{text}");
}

/// The results of `vmap(.., out_axes=None, sum_match=True)` of JAX 0.12.0.
#[test]
fn results_are_summed_where_the_options_ask() {
    let options = |in_axes: isize| VmapOptions {
        in_axes: in_axes.into(),
        out_axes: None.into(),
        sum_match: true,
        ..VmapOptions::default()
    };
    let sum = vmap_with(|x: Array| x * 2.0, options(1))(matrix());
    assert_eq!(sum.to_vec::<f32>(), [12.0, 30.0]);
    // A result that is the same for all examples is not.
    let both = |x: Array| (x.astype(DType::I8), Array::from(7));
    let (sum, same) = vmap_with(both, options(0))(array([0.0, 1.0, 2.0]));
    assert_eq!((sum.item::<i32>(), same.item::<i32>()), (3, 7));
    let text = make_jaxpr(vmap_with(|x: Array| x * 2.0, options(0)))(array([0.0, 1.0]));
    let expected = "{ lambda ; a:f32[2]. let\n    b:f32[2] = mul a 2.0:f32[]\n    \
                    c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b\n  in (c,) }";
    assert_eq!(text.to_string(), expected);
}
