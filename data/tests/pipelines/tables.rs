//! Columns of tables: standardization, one-hot vectors and splits with equal proportions.

use ndarray::{Array1, Array2, Array3, array};
use ramie_data::{IntoSource, Source, SourceExt, Standardizer, one_hot};
use ramie_testing::assert_panics;
use serde_json::{Value, from_value};
use std::collections::BTreeMap;

fn matrix(rows: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = from_value(rows.clone()).unwrap();
    let dim = (rows.len(), rows[0].len());
    Array2::from_shape_vec(dim, rows.concat()).unwrap()
}

/// Whether two numbers agree to a relative error.
fn agree(a: f64, b: f64, allowed: f64) -> bool {
    (a - b).abs() <= allowed * b.abs().max(1e-12)
}

#[test]
fn standardizers_are_those_of_scikit_learn() {
    let recorded: Value = ramie_testing::golden::json("standardizer.json");
    let single = |name: &str| matrix(&recorded[name]).mapv(|x| x as f32);
    let fitted = Standardizer::fit(&single("x")).unwrap();
    for (name, found) in [("mean", fitted.mean()), ("scale", fitted.scale())] {
        let expected: Vec<f64> = from_value(recorded[name].clone()).unwrap();
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!(agree(*a, b, 1e-12), "{name}: {a} {b}");
        }
    }
    // Columns 3 to 5 are constant, and 0.1 and -123456.7 are no exact means of 41 numbers.
    assert_eq!(fitted.scale()[3..], [1.0; 3]);
    let other = single("other");
    for (name, found) in [
        ("applied", fitted.apply(&other)),
        ("inverted", fitted.invert(&other)),
    ] {
        for (a, b) in found.iter().zip(matrix(&recorded[name])) {
            // The result is `f32`, and the difference of equal numbers has the error of the mean.
            let (a, error) = (f64::from(*a), 1e-7 * b.abs() + 1e-9);
            assert!((a - b).abs() <= error, "{name}: {a} {b}");
        }
    }
}

#[test]
fn standardizers_accept_rows_of_any_shape_and_layout() {
    let x = Array3::from_shape_fn((4, 2, 3), |(i, j, k)| (i * i + 2 * j + k) as f32);
    let flat = x.clone().into_shape_with_order((4, 6)).unwrap();
    let fitted = Standardizer::fit(&x).unwrap();
    assert_eq!(fitted, Standardizer::fit(&flat).unwrap());
    assert_eq!(fitted.mean().len(), 6);
    let applied = fitted.apply(&flat);
    let transposed = flat.t().as_standard_layout().reversed_axes().into_owned();
    assert!(!transposed.is_standard_layout());
    assert_eq!(fitted.apply(&transposed), applied);
    assert_eq!(
        fitted.apply(&x).into_shape_with_order((4, 6)).unwrap(),
        applied
    );

    let y = array![1.0f32, 2.0, 4.5];
    let fitted = Standardizer::fit(&y).unwrap();
    let again = fitted.invert(&fitted.apply(&y));
    assert!(again.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-6));
}

#[test]
fn standardizers_name_what_is_wrong() {
    let message = |x: Array2<f32>| Standardizer::fit(&x).unwrap_err().to_string();
    assert_eq!(
        message(array![[1.0, 2.0], [3.0, f32::NAN]]),
        "a standardizer cannot be fitted: the value in row 1, column 1 is NaN; remove the row, or replace the value"
    );
    assert!(message(Array2::zeros((0, 2))).contains("zero rows"));
    let fitted = Standardizer::fit(&array![[1.0f32, 2.0]]).unwrap();
    assert_panics(
        || fitted.apply(&array![[1.0f32, 2.0, 3.0]]),
        &["expected rows of 2 columns"],
    );
    for (saved, expected) in [
        (r#"{"mean":[0.0],"scale":[0.0]}"#, "the scale of column 0"),
        (
            r#"{"mean":[0.0,1.0],"scale":[1.0]}"#,
            "2 means and 1 scales",
        ),
        (r#"{"mean":[0.0]}"#, "missing field `scale`"),
    ] {
        let error = serde_json::from_str::<Standardizer>(saved).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// As `jax.nn.one_hot(array([[0, 2], [-1, 3]]), 3)`.
#[test]
fn numbers_out_of_range_are_zeros() {
    let encoded: ndarray::Array3<i32> = one_hot(&array![[0, 2], [-1, 3]], 3);
    let expected = array![[[1, 0, 0], [0, 0, 1]], [[0, 0, 0], [0, 0, 0]]];
    assert_eq!(encoded, expected);
    assert_eq!(one_hot::<f32, _>(&Array1::zeros(0), 3).dim(), (0, 3));
}

#[test]
fn stratified_parts_have_the_proportions_of_the_whole() {
    let labels: Vec<i32> = (0..100).map(|i| i32::from(i % 10 == 0)).collect();
    let source = || (0..100).into_source();
    let split = |seed| source().stratified_split([0.7, 0.2, 0.1], &labels, seed);
    let parts = split(3);
    let mut seen = Vec::new();
    for (part, expected) in parts.iter().zip([(63, 7), (18, 2), (9, 1)]) {
        let mut counts = BTreeMap::new();
        for i in 0..part.len() {
            let index = part.get(i).unwrap();
            *counts.entry(labels[index]).or_insert(0) += 1;
            seen.push(index);
        }
        assert_eq!((counts[&0], counts[&1]), expected);
    }
    assert!(!seen.is_sorted());
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..100));
    let indices =
        |parts: &[ramie_data::source::Subset<_>; 3]| parts[0].indices().collect::<Vec<_>>();
    assert_eq!(indices(&split(3)), indices(&parts));
    assert_ne!(indices(&split(4)), indices(&parts));
    let few = source().stratified_split([0.5, 0.5], 0..100, 0);
    // The one element of each label is rounded to the first part.
    assert_eq!([few[0].len(), few[1].len()], [100, 0]);
    assert_panics(
        || source().stratified_split([0.5, 0.5], [0, 1, 0], 0),
        &["there are 3 labels, but the source has 100 elements"],
    );
}
