//! Indexing and indexed updates, against NumPy and JAX.

use ramie_core::extend::bind;
use ramie_core::lax::GatherScatterMode;
use ramie_core::numpy::{At, Ellipsis, NewAxis, Side, Stepped, lexsort};
use ramie_core::prim::index::*;
use ramie_core::*;
use ramie_testing::panic_message;

/// A 0-d array on a device: a place that is not known when a program is made.
fn computed(place: i32) -> Array {
    Array::from([place]).reshape(())
}

/// Each index by slices, by a gather, and batched, in one program that is given the array and the
/// computed places.
macro_rules! reading {
    ($x:ident $rows:ident $two:ident; $($index:expr; $shape:expr; $values:expr;)*) => { {
        let expected: Vec<(&str, &[usize], &[i32])> =
            vec![$((stringify!($index), &$shape, &$values)),*];
        let twice = |x: &Array| stack(&[x, x], 0);
        let read = jit(|$x: Array, $rows: Array, $two: Array| {
            vec![$({
                let got = $x.index($index);
                let filled = $x.at($index).fill_value(-7).get();
                let traced = vmap(|$x: Array, $rows: Array, $two: Array| {
                    let _ = (&$rows, &$two);
                    $x.index($index)
                });
                let both = traced(twice(&$x), twice(&$rows), twice(&$two));
                [got, filled, both.index(1)]
            }),*]
        });
        let got = read($x, $rows, $two);
        for (got, (name, shape, values)) in got.iter().zip(expected) {
            assert_eq!(got[0].shape(), shape, "{name}");
            for (got, how) in got.iter().zip(["sliced", "gathered", "batched"]) {
                assert_eq!(got.to_vec::<i32>(), values, "{name} {how}");
            }
        }
    } };
}

#[test]
fn reading_agrees_with_numpy() {
    let x = Array::arange(24).reshape(&[3, 4, 2]);
    let (rows, two) = (Array::from([[0], [2]]), computed(2));
    let mask = (&x % 5).eq(0);
    let rowmask = Array::from([true, false, true]);
    let midmask = (&Array::arange(8).reshape(&[4, 2]) % 3).eq(0);
    reading! { x rows two;
    1; [4, 2]; [8, 9, 10, 11, 12, 13, 14, 15];
    -1; [4, 2]; [16, 17, 18, 19, 20, 21, 22, 23];
    (0, 1..3, ..); [2, 2]; [2, 3, 4, 5];
    (.., .., 1); [3, 4]; [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23];
    (Ellipsis, 0); [3, 4]; [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22];
    1..; [2, 4, 2]; [8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23];
    ..2; [2, 4, 2]; [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    1..=1; [1, 4, 2]; [8, 9, 10, 11, 12, 13, 14, 15];
    ..=-2; [2, 4, 2]; [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    -2..; [2, 4, 2]; [8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23];
    5..9; [0, 4, 2]; [];
    Stepped::new(Some(2), Some(1), 1); [0, 4, 2]; [];
    (.., s(..).step(2)); [3, 2, 2]; [0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21];
    (.., s(..).step(-1)); [3, 4, 2]; [6, 7, 4, 5, 2, 3, 0, 1, 14, 15, 12, 13, 10, 11, 8, 9, 22, 23, 20, 21, 18, 19, 16, 17];
    (Stepped::new(Some(2), Some(0), -1), s(-1..).step(-2)); [2, 2, 2]; [22, 23, 18, 19, 14, 15, 10, 11];
    (.., s(1..9).step(3), 0); [3, 1]; [2, 10, 18];
    (NewAxis, 1, .., NewAxis); [1, 4, 1, 2]; [8, 9, 10, 11, 12, 13, 14, 15];
    (Ellipsis, NewAxis); [3, 4, 2, 1]; [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23];
    [2, 0, -1]; [3, 4, 2]; [16, 17, 18, 19, 20, 21, 22, 23, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
    (.., [3, 0]); [3, 2, 2]; [6, 7, 0, 1, 14, 15, 8, 9, 22, 23, 16, 17];
    ([0, 2], [1, -1]); [2, 2]; [2, 3, 22, 23];
    ([0, 2], .., [1, 0]); [2, 4]; [1, 3, 5, 7, 16, 18, 20, 22];
    (0, .., [1, 0, 1]); [3, 4]; [1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7];
    (.., [1, 3], 0); [3, 2]; [2, 6, 10, 14, 18, 22];
    (&rows, [1, 2]); [2, 2, 2]; [2, 3, 4, 5, 18, 19, 20, 21];
    (.., &rows); [3, 2, 1, 2]; [0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21];
    (1.., [1, 2]); [2, 2, 2]; [10, 11, 12, 13, 18, 19, 20, 21];
    (s(..).step(2), [1, 2], 1); [2, 2]; [3, 5, 19, 21];
    (s(..).step(-1), .., [1, 0]); [3, 4, 2]; [17, 16, 19, 18, 21, 20, 23, 22, 9, 8, 11, 10, 13, 12, 15, 14, 1, 0, 3, 2, 5, 4, 7, 6];
    ([1, 2], NewAxis, ..2); [2, 1, 2, 2]; [8, 9, 10, 11, 16, 17, 18, 19];
    ([1, 2], NewAxis, [0, 3]); [2, 1, 2]; [8, 9, 22, 23];
    (.., NewAxis, [1, 2], [0, 1]); [3, 1, 2]; [2, 5, 10, 13, 18, 21];
    &two; [4, 2]; [16, 17, 18, 19, 20, 21, 22, 23];
    (&two, 1..3); [2, 2]; [18, 19, 20, 21];
    (s(..).step(2), &two); [2, 2]; [4, 5, 20, 21];
    (&two, NewAxis, -1); [1, 2]; [22, 23];
    (&two, [0, 1]); [2, 2]; [16, 17, 18, 19];
    &mask; [5]; [0, 5, 10, 15, 20];
    (&rowmask, 1); [2, 2]; [2, 3, 18, 19];
    (.., &midmask); [3, 3]; [0, 3, 6, 8, 11, 14, 16, 19, 22];
    (); [3, 4, 2]; [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23];
    (Ellipsis, &two, 0); [3]; [4, 12, 20];
    }
}

#[test]
fn updates_agree_with_jax() {
    let x = Array::arange(12).astype(DType::F32).reshape(&[3, 4]);
    let (two, seven) = (computed(2), computed(7));
    let pair = Array::from([1.0f32, 2.0]);
    let five = Array::arange(5).astype(DType::F32);
    let (big, firsts) = (x.gt(6.0), Array::from([true, false, true]));
    macro_rules! row {
        ($update:expr; $values:expr) => {{
            let values: [f32; 12] = $values;
            assert_eq!($update.to_vec::<f32>(), values, "{}", stringify!($update));
        }};
    }
    row!(x.at(1).set(7.0); [0.0, 1.0, 2.0, 3.0, 7.0, 7.0, 7.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
    row!(x.at((.., 1..3)).add(10.0); [0.0, 11.0, 12.0, 3.0, 4.0, 15.0, 16.0, 7.0, 8.0, 19.0, 20.0, 11.0]);
    row!(x.at((.., s(..).step(-2))).set(&pair); [0.0, 2.0, 2.0, 1.0, 4.0, 2.0, 6.0, 1.0, 8.0, 2.0, 10.0, 1.0]);
    row!(x.at([0, 0, 2]).add(1.0); [2.0, 3.0, 4.0, 5.0, 4.0, 5.0, 6.0, 7.0, 9.0, 10.0, 11.0, 12.0]);
    row!(x.at([0, 0, 2]).multiply(2.0); [0.0, 4.0, 8.0, 12.0, 4.0, 5.0, 6.0, 7.0, 16.0, 18.0, 20.0, 22.0]);
    row!(x.at(([0, 2], [1, 3])).subtract(1.0); [0.0, 0.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 10.0]);
    row!(x.at((.., [1, 9])).set(-1.0); [0.0, -1.0, 2.0, 3.0, 4.0, -1.0, 6.0, 7.0, 8.0, -1.0, 10.0, 11.0]);
    row!(x.at((.., [1, 9])).mode(GatherScatterMode::Clip).set(-1.0); [0.0, -1.0, 2.0, -1.0, 4.0, -1.0, 6.0, -1.0, 8.0, -1.0, 10.0, -1.0]);
    row!(x.at((1, 1..)).min(5.5); [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 5.5, 5.5, 8.0, 9.0, 10.0, 11.0]);
    row!(x.at([1, 2]).max(6.5); [0.0, 1.0, 2.0, 3.0, 6.5, 6.5, 6.5, 7.0, 8.0, 9.0, 10.0, 11.0]);
    row!(x.at([1, 1]).divide(2.0); [0.0, 1.0, 2.0, 3.0, 1.0, 1.25, 1.5, 1.75, 8.0, 9.0, 10.0, 11.0]);
    row!(x.at((1, ..2)).power(2.0); [0.0, 1.0, 2.0, 3.0, 16.0, 25.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
    row!(x.at(&big).set(0.0); [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    row!(x.at(&big).add(1.0); [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0, 10.0, 11.0, 12.0]);
    row!(x.at(&firsts).multiply(2.0); [0.0, 2.0, 4.0, 6.0, 4.0, 5.0, 6.0, 7.0, 16.0, 18.0, 20.0, 22.0]);
    row!(x.at(&big).set(&five); [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 1.0, 2.0, 3.0, 4.0]);
    row!(x.at((1.., 1..=2)).apply(|v| v.negative()); [0.0, 1.0, 2.0, 3.0, 4.0, -5.0, -6.0, 7.0, 8.0, -9.0, -10.0, 11.0]);
    row!(x.at((&two, 1..3)).set(&pair); [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 11.0]);
    row!(x.at((&two, NewAxis, 1..3)).set(&pair); [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 11.0]);
    row!(x.at((&seven, 0)).set(1.0); [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
    row!(x.at(..).set(3.0); [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]);
    let unchanged: Vec<f32> = (0u8..12).map(f32::from).collect();
    assert_eq!(x.to_vec::<f32>(), unchanged);
}

#[test]
fn a_traced_mask_updates_without_places() {
    let clear = vmap(|x: Array| x.at(x.gt(1.0)).set(0.0));
    let x = Array::from([[0.0f32, 1.0, 2.0], [3.0, 0.5, 9.0]]);
    assert_eq!(clear(x).to_vec::<f32>(), [0.0, 1.0, 0.0, 0.0, 0.5, 0.0]);
}

#[test]
fn places_out_of_bounds() {
    let x = Array::from([1.0f32, 2.0, 3.0]);
    let far = Array::from([1, 5, -9]);
    assert_eq!(x.index(&far).to_vec::<f32>(), [2.0, 3.0, 1.0]);
    let filled = x.at(&far).mode(GatherScatterMode::FillOrDrop).get();
    let filled = filled.to_vec::<f32>();
    assert!(filled[0] == 2.0 && filled[1].is_nan() && filled[2].is_nan());
    assert_eq!(
        x.at(&far).fill_value(0.5).get().to_vec::<f32>(),
        [2.0, 0.5, 0.5]
    );
    assert_eq!(x.at(&far).add(1.0).to_vec::<f32>(), [1.0, 3.0, 3.0]);
    assert_eq!(x.index(computed(9)).item::<f32>(), 3.0);
    let whole = Array::from([7i32]).take(&Array::from([3]), 0);
    assert_eq!(whole.to_vec::<i32>(), [i32::MIN]);
    assert_eq!(
        Array::from([7u8]).take(&Array::from([3]), 0).to_vec::<u8>(),
        [255]
    );
    // A narrow index type does not hold the size of the axis.
    let long = Array::arange(300);
    assert_eq!(long.index(Array::from([-1i8])).to_vec::<i32>(), [299]);
    assert_eq!(long.index(Array::from([-300i64])).to_vec::<i32>(), [0]);
    let last = long.dynamic_slice(&[Array::from(-1i8)], &[1]);
    assert_eq!(last.to_vec::<i32>(), [299]);
}

#[test]
fn taking_along_axes() {
    let x = Array::from([[10, 20, 30], [40, 50, 60]]);
    let picked = x.take_along_axis(&Array::from([[2, -3], [1, 0]]), 1);
    assert_eq!(picked.to_vec::<i32>(), [30, 10, 50, 40]);
    let column = x.take_along_axis(&Array::from([[1, 0, 1]]), 0);
    assert_eq!(column.to_vec::<i32>(), [40, 20, 60]);
    let spread = x.take_along_axis(&Array::from([[0]]), 1);
    assert_eq!(spread.to_vec::<i32>(), [10, 40]);
    let put = x.put_along_axis(&Array::from([[2], [0]]), 0, 1);
    assert_eq!(put.to_vec::<i32>(), [10, 20, 0, 0, 50, 60]);
    let taken = x.take(&Array::from([[0, 2], [-1, 1]]), 1);
    assert_eq!(taken.shape(), [2, 2, 2]);
    assert_eq!(taken.to_vec::<i32>(), [10, 30, 30, 20, 40, 60, 60, 50]);
    assert_eq!(x.take(&computed(1), 0).to_vec::<i32>(), [40, 50, 60]);
    let repeated = x.repeat([2, 0, 1], 1);
    assert_eq!(repeated.to_vec::<i32>(), [10, 10, 30, 40, 40, 60]);
}

#[test]
fn gradients_flow_through_indices() {
    let x = Array::from([1.0f32, 2.0, 3.0, 4.0]);
    let twice = grad(|x: Array| x.index([1, 1, 3]).square().sum_over(0));
    assert_eq!(twice(x.clone()).to_vec::<f32>(), [0.0, 8.0, 0.0, 8.0]);
    let boxed = grad(|x: Array| x.at(1..3).multiply(3.0).sum_over(0));
    assert_eq!(boxed(x.clone()).to_vec::<f32>(), [1.0, 3.0, 3.0, 1.0]);
    // Of two updates that meet one stays, and only it has a derivative.
    let meet = |(x, u): (Array, Array)| x.at([2, 2]).set(u).square().sum_over(0);
    let (value, pull) = vjp(meet, (x.clone(), Array::from([5.0f32, 7.0])));
    let (dx, du) = pull(Array::from(1.0f32));
    assert_eq!(dx.to_vec::<f32>(), [2.0, 4.0, 0.0, 8.0]);
    let du = du.to_vec::<f32>();
    let stays = if value.item::<f32>() == 21.0 + 25.0 {
        [10.0, 0.0]
    } else {
        [0.0, 14.0]
    };
    assert_eq!(du, stays);
    // Ties share.
    let best = grad(|u: Array| Array::from([0.0f32, 3.0]).at([1, 1, 0]).max(u).sum_over(0));
    assert_eq!(
        best(Array::from([3.0f32, 2.0, 1.0])).to_vec::<f32>(),
        [0.5, 0.0, 1.0]
    );
}

#[test]
fn mistakes_are_explained() {
    let x = Array::zeros(&[3, 4], DType::F32);
    let text = panic_message(|| x.index(3));
    assert!(
        text.contains("3 is out of bounds for axis 0 of f32[3,4]"),
        "{text}"
    );
    assert!(text.contains("help: use an index from 0 to 2"), "{text}");
    let text = panic_message(|| x.index((0, 0, 0)));
    assert!(
        text.contains("3 axes are indexed, but f32[3,4] has 2"),
        "{text}"
    );
    let text = panic_message(|| x.index((Ellipsis, Ellipsis)));
    assert!(text.contains("Ellipsis appears 2 times"), "{text}");
    let text = panic_message(|| x.index(([0, 1], [0, 1, 2])));
    assert!(text.contains("do not broadcast together"), "{text}");
    let text = panic_message(|| x.index(Array::from([0.5f32])));
    assert!(
        text.contains("expected integers or a boolean mask"),
        "{text}"
    );
    let text = panic_message(|| x.index(Array::from([true, false])));
    assert!(
        text.contains("a mask of shape [2] does not fit axes of sizes [3]"),
        "{text}"
    );
    let text = panic_message(|| x.at(0).set(Array::from([1.0f32, 2.0])));
    assert!(
        text.contains("[2] does not broadcast to the selected elements of shape [4]"),
        "{text}"
    );
    let text = panic_message(|| Array::from([1]).at(0).set(1.5));
    assert!(
        text.contains("a value of dtype f32 does not fit into an array of i32"),
        "{text}"
    );
    let text =
        panic_message(|| vmap(|m: Array| Array::arange(2).index(m))(Array::from([[true, false]])));
    assert!(
        text.contains("is traced") && text.contains("where_"),
        "{text}"
    );
    let text = panic_message(|| x.dynamic_slice(&[0], &[1, 1]));
    assert!(
        text.contains("f32[3,4] has 2 axes, got 1 start indices"),
        "{text}"
    );
    let text = panic_message(|| x.dynamic_slice(&[0, 0], &[4, 1]));
    assert!(
        text.contains("a slice of [4, 1] does not fit into f32[3,4]"),
        "{text}"
    );
    let text = panic_message(|| x.take_along_axis(&Array::from([0]), 1));
    assert!(text.contains("do not fit f32[3,4] along axis 1"), "{text}");
    let text = panic_message(|| {
        grad(|u: Array| {
            x.at(([0, 0], [1, 1]))
                .multiply(u)
                .reshape(&[12])
                .sum_over(0)
        })(Array::from([1.0f32, 2.0]))
    });
    assert!(text.contains("unique_indices(true)"), "{text}");
}

/// A recorded call of a function of indices.
struct Call {
    function: String,
    mode: Option<GatherScatterMode>,
    dtype: DType,
    indices_shape: Vec<usize>,
    indices: Vec<i64>,
    shape: Vec<usize>,
    out: Vec<f32>,
}

fn calls() -> Vec<Call> {
    let rows: Vec<serde_json::Value> = ramie_testing::golden::json("index_modes.json");
    let sizes = |list: &serde_json::Value| -> Vec<usize> {
        serde_json::from_value(list.clone()).expect("sizes")
    };
    let number = |v: &serde_json::Value| match v.as_str() {
        Some(word) => word.parse().expect("a number"),
        None => v.as_f64().expect("a number") as f32,
    };
    let call = |row: &serde_json::Value| Call {
        function: row["fn"].as_str().expect("a name").to_string(),
        mode: match row["mode"].as_str().expect("a mode") {
            "clip" => Some(GatherScatterMode::Clip),
            "fill" => Some(GatherScatterMode::FillOrDrop),
            _ => None,
        },
        dtype: {
            let name = row["dtype"].as_str().expect("a type");
            let mut all = DType::ALL.into_iter();
            all.find(|d| d.name() == name).expect("a type")
        },
        indices_shape: sizes(&row["indices_shape"]),
        indices: serde_json::from_value(row["indices"].clone()).expect("indices"),
        shape: sizes(&row["shape"]),
        out: row["out"]
            .as_array()
            .expect("elements")
            .iter()
            .map(number)
            .collect(),
    };
    rows.iter().map(call).collect()
}

impl Call {
    fn updated(&self, name: &str, at: At<'_>) -> Array {
        let at = match self.mode {
            Some(mode) => at.mode(mode),
            None => at,
        };
        match name {
            "get" => at.get(),
            "set" => at.set(-1.0),
            "add" => at.add(0.5),
            "subtract" => at.subtract(0.5),
            "multiply" => at.multiply(2.0),
            "divide" => at.divide(2.0),
            "power" => at.power(2.0),
            "min" => at.min(5.5),
            "max" => at.max(5.5),
            "apply" => at.apply(|v| v * 2 + 1),
            other => panic!("unknown update {other}"),
        }
    }

    fn of(&self, x: &Array, i: &Array) -> Array {
        let take = |axis| match self.mode {
            Some(mode) => x.take_with(i, axis, mode),
            None => x.take(i, axis),
        };
        let row = || i.broadcast_to(&[4, i.size()]);
        let windows = GatherDimensionNumbers::new(&[1, 2], &[], &[0]);
        match self.function.as_str() {
            "take_0" => take(0),
            "take_1" => take(1),
            "fill_value" => x.at(i).fill_value(-7.0).get(),
            "take_along_axis_0" => {
                x.take_along_axis(&i.expand_dims(&[1]).broadcast_to(&[i.size(), 3]), 0)
            }
            "take_along_axis_1" => x.take_along_axis(&row(), 1),
            "put_along_axis" => x.put_along_axis(&row(), -1.0, 1),
            "dynamic_slice" => x.dynamic_slice(&[i, i], &[2, 2]),
            "dynamic_slice_in_dim" => x.dynamic_slice_in_dim(i, 2, 0),
            "dynamic_index_in_dim" => x.dynamic_index_in_dim(i, 0).squeeze(&[0]),
            "dynamic_update_slice" => {
                x.dynamic_update_slice(&Array::full(&[2, 2], -1.0, DType::F32), &[i, i])
            }
            "dynamic_update_index_in_dim" => {
                x.dynamic_update_index_in_dim(&Array::full(&[3], -1.0, DType::F32), i, 0)
            }
            "gather" => {
                let gather = Gather::new(windows, &[2, 3]).mode(self.mode.expect("a mode"));
                x.gather(&i.expand_dims(&[1]), gather)
            }
            "scatter_add" => {
                let mut scatter = Scatter::new(ScatterMethod::Add, windows.inverse());
                scatter.mode = self.mode.expect("a mode");
                let updates = Array::full(&[i.size(), 2, 3], 0.5, DType::F32);
                x.scatter(&i.expand_dims(&[1]), &updates, scatter)
            }
            "get_step" => self.updated("get", x.at((i, s(..).step(2)))),
            name => match name.strip_prefix("number_") {
                Some("pair") => self.updated("get", x.at((self.indices[0], 1))),
                Some(name) => self.updated(name, x.at(self.indices[0])),
                None => {
                    let (name, form) = name.rsplit_once('_').expect("a form");
                    let at = match form {
                        "0" => x.at(i),
                        "1" => x.at((.., i)),
                        _ => x.at((i, i)),
                    };
                    self.updated(name, at)
                }
            },
        }
    }

    fn check(&self, how: &str, shape: &[usize], got: &[f32]) {
        let label = format!(
            "{} {:?} {} {:?} {how}",
            self.function, self.mode, self.dtype, self.indices
        );
        assert_eq!(shape, self.shape, "{label}");
        for (got, want) in got.iter().zip(&self.out) {
            let same = got == want || got.is_nan() && want.is_nan();
            assert!(same, "{label}: {got} instead of {want}");
        }
    }
}

/// All functions of one array of indices are one program; those of a single
/// index are batched over the indices.
#[test]
fn every_mode_agrees_with_jax() {
    let all = calls();
    let x = (Array::arange(12).astype(DType::F32) + 1.0).reshape(&[4, 3]);
    let wide = |first: &Call| match first.dtype {
        DType::I32 if first.indices_shape.is_empty() => Some(DType::I64),
        DType::U32 => Some(DType::U64),
        _ => None,
    };
    let known = |c: &Call| c.function.starts_with("number");
    let mut left: Vec<&Call> = all.iter().collect();
    while let Some(&first) = left.first() {
        let key = |c: &Call| (c.dtype, c.indices_shape.clone(), known(c));
        let (group, rest): (Vec<&Call>, Vec<&Call>) =
            left.into_iter().partition(|c| key(c) == key(first));
        left = rest;
        let batched = first.indices_shape.is_empty() && !known(first);
        let one = |c: &&Call| !batched || c.indices == first.indices;
        let functions: Vec<&Call> = group.iter().copied().filter(one).collect();
        let f =
            |x: Array, i: Array| -> Vec<Array> { functions.iter().map(|c| c.of(&x, &i)).collect() };
        for dtype in [Some(first.dtype), wide(first)].into_iter().flatten() {
            let how = dtype.name();
            if !batched {
                let i = Array::from(first.indices.clone()).reshape(&first.indices_shape);
                let outs = jit(f)(x.clone(), i.astype(dtype));
                for (call, out) in functions.iter().zip(outs) {
                    call.check(how, out.shape(), &out.to_vec::<f32>());
                }
                continue;
            }
            let mut indices: Vec<i64> = group.iter().map(|c| c.indices[0]).collect();
            indices.sort();
            indices.dedup();
            let i = Array::from(indices.clone()).astype(dtype);
            let batched = jit(vmap_with(f, [None, Some(0)]));
            let outs = batched(x.clone(), i);
            for (function, out) in functions.iter().zip(outs) {
                let values = out.to_vec::<f32>();
                let size = values.len() / indices.len();
                let same =
                    |c: &&&Call| (&c.function, c.mode) == (&function.function, function.mode);
                for call in group.iter().filter(same) {
                    let at = indices.binary_search(&call.indices[0]).expect("an index");
                    call.check(how, &out.shape()[1..], &values[at * size..][..size]);
                }
            }
        }
    }
}

#[test]
fn a_function_applied_to_distinct_elements_has_a_gradient() {
    let x = Array::from([1.0f32, 2.0, 3.0]);
    let loss = |x: Array| {
        x.at([2, 0])
            .unique_indices(true)
            .apply(|v| v.square())
            .sum()
    };
    assert_eq!(grad(loss)(x.clone()).to_vec::<f32>(), [2.0, 1.0, 6.0]);
    let repeated = |x: Array| x.at([2, 2]).apply(|v| v.square());
    let (_, tangent) = jvp(repeated, x.clone(), x.ones_like());
    assert_eq!(tangent.to_vec::<f32>(), [1.0, 1.0, 108.0]);
    let refused = panic_message(|| grad(|x: Array| repeated(x).sum())(x.clone()));
    assert!(refused.contains("unique_indices(true)"), "{refused}");
}

/// More elements than `i32` counts.
const LONG: usize = (1 << 31) + 8;

#[test]
fn positions_beyond_32_bits_are_refused_by_name() {
    type Operation = fn(&Array) -> Array;
    let positions: [(&str, Operation); 8] = [
        ("argmax", |x| x.argmax(0)),
        ("argmin", |x| x.argmin(-1)),
        ("argsort", |x| x.argsort(0)),
        ("lexsort", |x| lexsort(&[x], 0)),
        ("top_k", |x| x.top_k(2).1),
        ("iota", |_| Array::arange(LONG)),
        ("iota", |_| Array::iota(&[2, 257], 1, DType::U8)),
        ("argmax", |x| {
            let x = x.slice_in_dim(0, 129, 1, 0);
            let narrow = prim::reduce::Argmax {
                axis: 0,
                index_dtype: DType::I8,
            };
            bind(narrow, &[&x]).pop().expect("a result")
        }),
    ];
    let counts: [(&str, Operation); 5] = [
        ("nonzero", |x| x.nonzero_sized(1, 0).remove(0)),
        ("count_nonzero", Array::count_nonzero),
        ("count_nonzero", |x| x.count_nonzero_over(0)),
        ("sum", |x| x.eq(0).sum()),
        ("searchsorted", |x| x.searchsorted(3, Side::Left)),
    ];
    for dtype in [DType::I8, DType::F32] {
        let long = || Array::shape_dtype_struct(&[LONG], dtype);
        for (i, (name, f)) in positions.iter().chain(&counts).enumerate() {
            let text = panic_message(|| eval_shape(|x: Array| f(&x), long()));
            let what = if i < positions.len() {
                "the last position along axis"
            } else {
                "the number of elements can be 2147483656, which exceeds the largest i32, 2147483647"
            };
            let start = format!("{name}: {what}");
            assert!(text.starts_with(&start), "{text}");
            assert!(text.contains("help: "), "{text}");
        }
    }
    // The longest axis that 32 bits number.
    let x = Array::shape_dtype_struct(&[1 << 31], DType::I8);
    let at = eval_shape(|x: Array| x.argmax(0), x);
    assert_eq!(at.dtype(), DType::I32);
}

#[test]
fn indices_into_long_axes_have_64_bits() {
    type Operation = fn(&Array, &Array) -> Array;
    let reads: [(&str, Operation); 7] = [
        ("index", |x, i| x.index(i)),
        ("take", |x, i| x.take(i, 0)),
        ("take_along_axis", |x, i| {
            x.take_along_axis(&i.expand_dims(&[0]), 0)
        }),
        ("vector", |x, i| x.index(stack(&[i, i], 0))),
        ("set", |x, i| x.at(i).set(1)),
        ("clipped", |x, i| {
            x.at(stack(&[i, i], 0)).mode(GatherScatterMode::Clip).set(1)
        }),
        ("dynamic_slice", |x, i| x.dynamic_slice_in_dim(i, 3, 0)),
    ];
    for (name, f) in reads {
        let x = Array::shape_dtype_struct(&[LONG], DType::I8);
        let i = Array::shape_dtype_struct(&[], DType::I32);
        let lowered = jit(move |x: Array, i: Array| f(&x, &i)).lower((x, i));
        let text = lowered.unwrap().as_text().to_string();
        // The size as it would be in 32 bits is -2147483640.
        assert!(!text.contains("-214748364"), "{name}: {text}");
        assert!(
            text.contains("2147483656> : tensor<i64>") || text.contains("i64"),
            "{name}: {text}"
        );
        let reads = text.lines().filter(|line| {
            [
                "gather\"",
                "scatter\"",
                "dynamic_slice",
                "dynamic_update_slice",
            ]
            .iter()
            .any(|op| line.contains(op))
        });
        for line in reads {
            assert!(!line.contains("i32"), "{name}: {line}");
        }
    }
}

/// `RAMIE_LONG_AXES=1` runs this test, which takes 4 GiB of memory.
#[test]
fn elements_beyond_32_bits_are_read_and_written() {
    if std::env::var_os("RAMIE_LONG_AXES").is_none() {
        return;
    }
    let f = jit(|i: Array| {
        let x = Array::zeros(&[LONG], DType::I8);
        let x = x.at(&i).set(7).at(&(&i - 1)).set(5);
        let both = x.take(&stack(&[&i, &(&i - 1), &(&i - 2)], 0), 0);
        (both, x.index(&i), x.dynamic_slice_in_dim(&i, 1, 0), x.max())
    });
    let (both, one, slice, largest) = f(computed(-1));
    assert_eq!(both.to_vec::<i8>(), [7, 5, 0]);
    assert_eq!((one.item::<i8>(), largest.item::<i8>()), (7, 7));
    assert_eq!(slice.to_vec::<i8>(), [7]);
}
