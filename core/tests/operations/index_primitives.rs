//! The primitives under indexing: slices and updates at computed places,
//! gathers and scatters.

use ramie_core::extend::Primitive;
use ramie_core::lax::GatherScatterMode;
use ramie_core::prim::index::*;
use ramie_core::*;
use ramie_testing::apply::Operation;
use ramie_testing::check;
use ramie_testing::numbers::Draw;
use ramie_testing::panic_message;

/// Rows written at places that meet, miss the array, or do neither.
fn rows(method: ScatterMethod, unique: bool) -> Box<Operation> {
    let numbers = ScatterDimensionNumbers::new(&[1], &[0], &[0]);
    let scatter = Scatter::new(method, numbers).unique_indices(unique);
    Box::new(move |a| vec![a[0].scatter(&a[1], &a[2], scatter.clone())])
}

/// Derivatives that JAX defines and that are not recorded.
#[test]
fn scatters_differentiate_and_batch() {
    use ScatterMethod::{Add, Max, Min, Mul, Set, Sub};
    let mut draw = Draw::new(5);
    let x = draw.array(&[4, 3], DType::F64, -1.0, 1.0);
    let u = draw.array(&[3, 3], DType::F64, -1.0, 1.0);
    let meeting = Array::from([[1], [9], [1]]);
    let apart = Array::from([[1], [9], [2]]);
    for (method, indices, unique) in [
        (Set, &meeting, false),
        (Set, &apart, true),
        (Add, &meeting, false),
        (Sub, &meeting, false),
        (Mul, &apart, true),
        (Min, &meeting, false),
        (Max, &meeting, false),
        (Max, &apart, true),
    ] {
        let (f, inputs) = (
            rows(method, unique),
            [x.clone(), indices.clone(), u.clone()],
        );
        let label = format!("{method:?} unique {unique}");
        check::gradients(&label, &f, &inputs);
        check::batching(&inputs, &f).unwrap_or_else(|e| panic!("{label}: {e}"));
    }
}

#[test]
fn gathers_differentiate_and_batch() {
    let mut draw = Draw::new(6);
    let x = draw.array(&[4, 3], DType::F64, -1.0, 1.0);
    let indices = Array::from([[0, 2], [2, 2]]);
    let operations: [(&str, Box<Operation>); 3] = [
        ("take", Box::new(|a| vec![a[0].take(&a[1], 0)])),
        ("pairs", Box::new(|a| vec![a[0].index((&a[1], [0, 1]))])),
        (
            "walk",
            Box::new(|a| vec![a[0].index((s(..).step(-2), &a[1]))]),
        ),
    ];
    let inputs = [x, indices];
    for (label, f) in &operations {
        check::gradients(label, f, &inputs);
        check::batching(&inputs, f).unwrap_or_else(|e| panic!("{label}: {e}"));
    }
    // Factors that meet have a product, and no derivative.
    let product: Box<Operation> = Box::new(|a| vec![a[0].at(&a[1]).multiply(a[0].index(0))]);
    check::batching(&inputs, &product).expect("products");
    let along: Box<Operation> = Box::new(|a| vec![a[0].take_along_axis(&a[1], 1)]);
    let wide = [
        draw.array(&[2, 4], DType::F64, -1.0, 1.0),
        Array::from([[3, 0, -1], [1, 1, 2]]),
    ];
    check::gradients("take_along_axis", &along, &wide);
    check::batching(&wide, &along).expect("take_along_axis");
    let put: Box<Operation> = Box::new(|a| vec![a[0].put_along_axis(&a[1], &a[2], 1)]);
    let written = [
        wide[0].clone(),
        wide[1].index((.., ..2)),
        wide[0].index((.., 2..)),
    ];
    check::gradients("put_along_axis", &put, &written);
    check::batching(&written, &put).expect("put_along_axis");
}

#[test]
fn second_derivatives_of_indexed_updates() {
    let f = |x: Array| {
        let y = x.at([0, 2, 0]).add(x.square());
        y.at(1).set(3.0).integer_pow(2).sum_over(0)
    };
    let x = Array::from([0.5f64, -1.0, 2.0]);
    let inner = move |x: Array| (&grad(f)(x.clone()) * &x).sum_over(0);
    let operation: Box<Operation> = Box::new(move |a| vec![inner(a[0].clone())]);
    check::gradients("grad of grad", &operation, &[x]);
}

#[test]
fn parameters_print_as_in_jax() {
    let gather = Gather::new(GatherDimensionNumbers::new(&[1], &[0], &[0]), &[1, 3]);
    let params = gather.mode(GatherScatterMode::Clip).params(&[]);
    let texts: Vec<String> = params
        .iter()
        .map(|(name, value)| match value {
            prim::Param::Text(text) => format!("{name}={text}"),
            _ => panic!("{name} is text"),
        })
        .collect();
    assert_eq!(
        texts,
        [
            "dimension_numbers=GatherDimensionNumbers(offset_dims=(1,), \
             collapsed_slice_dims=(0,), start_index_map=(0,), operand_batching_dims=(), \
             start_indices_batching_dims=())",
            "fill_value=None",
            "indices_are_sorted=False",
            "mode=GatherScatterMode.CLIP",
            "slice_sizes=(1, 3)",
            "unique_indices=False",
        ]
    );
}

#[test]
fn wrong_dimension_numbers_are_explained() {
    let x = Array::zeros(&[4, 3], DType::F32);
    let gather = |sizes: &[usize], offset: &[usize]| {
        let numbers = GatherDimensionNumbers::new(offset, &[0], &[0]);
        Gather::new(numbers, sizes)
    };
    let at = Array::from([[0], [1]]);
    let text = panic_message(|| x.gather(&at, gather(&[1, 4], &[1])));
    assert!(
        text.contains("slice size 4 is invalid along axis 1 of f32[4,3]"),
        "{text}"
    );
    let text = panic_message(|| x.gather(&at, gather(&[2, 3], &[1])));
    assert!(
        text.contains("slice size 2 is invalid along axis 0"),
        "{text}"
    );
    let text = panic_message(|| x.gather(&at, gather(&[1, 3], &[2])));
    assert!(
        text.contains("offset_dims [2] are not increasing axes below 2"),
        "{text}"
    );
    let text = panic_message(|| x.gather(&Array::from([[0, 1]]), gather(&[1, 3], &[1])));
    assert!(
        text.contains("do not contain index vectors of 1 components"),
        "{text}"
    );
    let text = panic_message(|| x.gather(&x, gather(&[1, 3], &[1])));
    assert!(
        text.contains("indices are f32, expected integers"),
        "{text}"
    );
    let scatter = rows(ScatterMethod::Add, false);
    let text = panic_message(|| {
        let updates = Array::zeros(&[3, 3], DType::F32);
        scatter(&[x.clone(), at.clone(), updates]).remove(0)
    });
    assert!(
        text.contains("do not fit 1 window axes of f32[4,3]"),
        "{text}"
    );
    let text = panic_message(|| {
        let updates = Array::zeros(&[2, 3], DType::F64);
        scatter(&[x.clone(), at.clone(), updates]).remove(0)
    });
    assert!(
        text.contains("the updates have dtype f64, but the array has f32"),
        "{text}"
    );
}
