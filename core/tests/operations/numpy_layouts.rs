//! Functions of `jax.numpy` that join, choose, move and multiply arrays, and
//! polynomials.

use ramie_core::numpy::{
    BitOrder, BoundsMode, block, column_stack, dstack, ix_, mgrid, ravel_multi_index, select,
    vectorize,
};
use ramie_core::options::{EqualNan, Spacing};
use ramie_core::{Array, DType};
use ramie_testing::functions::{Applied, agree, one, two};
use ramie_testing::golden::Row;

fn places(row: &Row) -> Applied {
    let k = row.params["k"].as_i64().unwrap_or(0) as isize;
    match row.op.as_str() {
        "append" => two(|x, y| x.append(y)),
        "delete" => one(|x| x.delete(&[0, -1], 1)),
        "insert" => one(|x| x.insert(1, 7.0, 0)),
        "insert_slice" => two(|x, v| x.insert(1, v, 1)),
        "insert_several" => Some(Box::new(|x| vec![x[0].insert(&x[1], &x[2], 1)])),
        "resize" => one(|x| x.resize(&[3, 5])),
        "column_stack" => Some(Box::new(|x| vec![column_stack(x)])),
        "dstack" => Some(Box::new(|x| vec![dstack(x)])),
        "block" => Some(Box::new(|x| {
            let (a, b) = (x[0].clone(), x[1].clone());
            vec![block(&[vec![a.clone(), b.clone()], vec![b, a]])]
        })),
        "select" => two(|a, b| select(&[a.gt(1), b.gt(0)], &[a.clone(), b.clone()], 0.5)),
        "choose" => Some(Box::new(|x| vec![x[0].choose(&x[1..], BoundsMode::Clip)])),
        "choose_wrap" => Some(Box::new(|x| vec![x[0].choose(&x[1..], BoundsMode::Wrap)])),
        "piecewise" => one(|x| {
            x.piecewise(
                &[
                    (x.lt(-0.5), &|v: &Array| -v),
                    (x.gt(0.5), &|v: &Array| v * v),
                ],
                |v| v.full_like(3),
            )
        }),
        "put" => Some(Box::new(|x| vec![x[0].put(&x[1], &x[2])])),
        "place" => Some(Box::new(|x| vec![x[0].place(&x[1], &x[2])])),
        "ravel_multi_index" => Some(Box::new(|x| {
            vec![ravel_multi_index(x, &[3, 4], BoundsMode::Clip)]
        })),
        "ravel_multi_index_wrap" => Some(Box::new(|x| {
            vec![ravel_multi_index(x, &[3, 4], BoundsMode::Wrap)]
        })),
        "unravel_index" => Some(Box::new(|x| x[0].unravel_index(&[2, 3]))),
        "rot90" => one(move |x| x.rot90(k, [2, 0])),
        "flipud" => one(Array::flipud),
        "fliplr" => one(Array::fliplr),
        "roll_axes" => one(|x| x.roll(1, 0).roll(-2, 2)),
        "roll_flat" => one(|x| x.roll(4, None)),
        "roll_dynamic" => two(|x, n| x.roll_dynamic(n, 1)),
        "moveaxis" => one(|x| x.move_axes(&[0, 1], &[-1, 0])),
        "rollaxis" => one(|x| x.roll_axis(2, 1)),
        "matrix_transpose" => one(Array::matrix_transpose),
        "array_split" => Some(Box::new(|x| x[0].array_split(3, 2))),
        "atleast_3d" => one(Array::at_least_3d),
        "diagflat" => one(|x| x.diagflat(-1)),
        "diagonal_axes" => one(|x| x.diagonal_with(1, 2, 0)),
        "fill_diagonal" => one(|x| x.fill_diagonal(2.0)),
        "fill_diagonal_with" => two(|x, v| x.fill_diagonal(v)),
        "apply_along_axis" => one(|x| x.apply_along_axis(1, |v| v.outer(&v))),
        _ => None,
    }
}

fn numbers(row: &Row) -> Applied {
    let integers = row.op == "linspace_ints";
    let ends = |f: fn(Spacing, &Array, &Array) -> Array, open: bool| -> Applied {
        two(move |a, b| match open {
            true => f(Spacing::new(3).without_end().axis(-1), a, b),
            false if integers => f(Spacing::new(4).dtype(DType::I32), a, b),
            false => f(Spacing::new(5), a, b),
        })
    };
    let n = row.params["n"].as_u64().unwrap_or(0) as usize;
    match row.op.as_str() {
        "vecdot" => two(|a, b| a.vecdot(b)),
        "matvec" => two(|a, b| a.matvec(b)),
        "vecmat" => two(|a, b| a.vecmat(b)),
        "cross" => two(|a, b| a.cross(b, -1)),
        "cross_axis" => two(|a, b| a.cross(b, 0)),
        "kron" => two(|a, b| a.kron(b)),
        "linspace" | "linspace_ints" => ends(|s, a, b| s.linear(a, b), false),
        "linspace_open" => ends(|s, a, b| s.linear(a, b), true),
        "geomspace" => ends(|s, a, b| s.geometric(a, b), false),
        "geomspace_open" => ends(|s, a, b| s.geometric(a, b), true),
        "logspace" => ends(|s, a, b| s.logarithmic(a, b, 10.0), false),
        "logspace_open" => ends(|s, a, b| s.logarithmic(a, b, 10.0), true),
        "vander" => one(|x| x.vander(4)),
        "polyval" => two(|p, x| p.polyval(x)),
        "polyder" => one(|p| p.polyder(2)),
        "polyint" => one(|p| p.polyint(2)),
        "polyadd" => two(|a, b| a.polyadd(b)),
        "polysub" => two(|a, b| a.polysub(b)),
        "polymul" => two(|a, b| a.polymul(b)),
        "polydiv" => Some(Box::new(|x| {
            let (quotient, rest) = x[0].polydiv(&x[1]);
            vec![quotient, rest]
        })),
        "poly" => one(Array::poly),
        "bartlett" => Some(Box::new(move |_| vec![Array::bartlett(n)])),
        "blackman" => Some(Box::new(move |_| vec![Array::blackman(n)])),
        "hamming" => Some(Box::new(move |_| vec![Array::hamming(n)])),
        "hanning" => Some(Box::new(move |_| vec![Array::hanning(n)])),
        "packbits" => one(|x| x.ravel().packbits(0, BitOrder::Big)),
        "packbits_little" => one(|x| x.packbits(1, BitOrder::Little)),
        "unpackbits" => one(|x| x.ravel().unpackbits(0, BitOrder::Big)),
        "gcd" => two(|a, b| a.gcd(b)),
        "lcm" => two(|a, b| a.lcm(b)),
        _ => None,
    }
}

#[test]
fn layouts_agree_with_jax() {
    agree("numpy_layouts", 60, &|row| {
        places(row).or_else(|| numbers(row))
    });
}

#[test]
fn places_of_grids() {
    assert_eq!(
        Array::indices(&[2, 2]).to_vec::<i32>(),
        [0, 0, 1, 1, 0, 1, 0, 1]
    );
    assert_eq!(Array::indices(&[]).shape(), [0]);
    let sums = Array::from_function(&[2, 3], DType::I32, |at| &at[0] * 10 + &at[1]);
    assert_eq!(sums.to_vec::<i32>(), [0, 1, 2, 10, 11, 12]);
    let grid = mgrid(&[
        Array::arange_with(1.0, 3.0, 1.0, DType::I32),
        Array::arange(2),
    ]);
    assert_eq!(grid.to_vec::<i32>(), [1, 1, 2, 2, 0, 1, 0, 1]);
    let x = Array::arange(6).reshape(&[2, 3]);
    let places = ix_(&[Array::from([1, 0]), Array::from([true, false, true])]);
    assert_eq!(
        x.index((&places[0], &places[1])).to_vec::<i32>(),
        [3, 5, 0, 2]
    );
    let steps = Array::arange_with(0.0, 1.0, 0.25, DType::F32);
    assert_eq!(steps.to_vec::<f32>(), [0.0, 0.25, 0.5, 0.75]);
    assert_eq!(
        Array::arange_with(5.0, 0.0, -2.0, DType::I32).to_vec::<i32>(),
        [5, 3, 1]
    );
    assert_eq!(Array::arange_with(0.0, -1.0, 1.0, DType::I32).shape(), [0]);
    let (i, j) = Array::tril_indices(2, 3, 1);
    assert_eq!(
        (i.to_vec::<i32>(), j.to_vec::<i32>()),
        (vec![0, 0, 1, 1, 1], vec![0, 1, 0, 1, 2])
    );
    let (i, j) = Array::triu_indices(2, 2, 0);
    let (k, l) = Array::mask_indices(2, |x| x.triu(0));
    assert_eq!(i.to_vec::<i32>(), k.to_vec::<i32>());
    assert_eq!(j.to_vec::<i32>(), l.to_vec::<i32>());
    assert_eq!(Array::diag_indices(2, 3).len(), 3);
    assert_eq!(Array::linspace(3.0, 9.0, 0).shape(), [0]);
    assert_eq!(Array::logspace(0.0, 2.0, 3).to_vec::<f32>()[0], 1.0);
    assert_eq!(Array::geomspace(1.0, 4.0, 3).shape(), [3]);
}

#[test]
fn parts_along_axes() {
    let x = Array::arange(8).reshape(&[2, 2, 2]);
    assert_eq!(x.hsplit(2)[1].to_vec::<i32>(), [2, 3, 6, 7]);
    assert_eq!(x.vsplit(2)[1].to_vec::<i32>(), [4, 5, 6, 7]);
    assert_eq!(x.dsplit(2)[0].to_vec::<i32>(), [0, 2, 4, 6]);
    assert_eq!(Array::arange(4).hsplit(2)[1].to_vec::<i32>(), [2, 3]);
    let scalar = Array::scalar(1, DType::I32);
    assert_eq!(scalar.at_least_1d().shape(), [1]);
    assert_eq!(Array::arange(3).at_least_2d().shape(), [1, 3]);
    assert_eq!(scalar.at_least_3d().shape(), [1, 1, 1]);
    assert_eq!(Array::arange(0).delete(&[], 0).shape(), [0]);
    assert!(
        Array::arange(3)
            .array_equiv(Array::arange(3).reshape(&[1, 3]))
            .item::<bool>()
    );
    assert!(
        !Array::arange(3)
            .array_equiv(Array::arange(2))
            .item::<bool>()
    );
    let nan = Array::from([f32::NAN]);
    assert!(nan.array_equal_with(&nan, EqualNan).item::<bool>());
}

#[test]
fn functions_of_parts_take_whole_arrays() {
    let distance = vectorize("(n),(n)->()", |x: &[Array]| vec![(&x[0] - &x[1]).norm()]);
    let points = Array::from([[0.0f32, 0.0], [3.0, 4.0]]);
    let other = Array::from([0.0f32, 0.0]);
    assert_eq!(
        distance(&[points.clone(), other.clone()])[0].to_vec::<f32>(),
        [0.0, 5.0]
    );
    let all = distance(&[points.expand_dims(&[0]), points.expand_dims(&[1])]);
    assert_eq!(all[0].to_vec::<f32>(), [0.0, 5.0, 5.0, 0.0]);
    assert_eq!(distance(&[other.clone(), other])[0].ndim(), 0);
    let both = vectorize("(n)->(n),()", |x: &[Array]| vec![x[0].sort(0), x[0].max()]);
    let results = both(&[points]);
    assert_eq!(
        (results[0].shape(), results[1].shape()),
        (&[2, 2][..], &[2][..])
    );
}

#[test]
#[should_panic(expected = "vectorize: axis `n` of the signature (n),(n)->() has the sizes 2 and 3")]
fn axes_of_one_name_have_one_size() {
    let f = vectorize("(n),(n)->()", |x: &[Array]| vec![x[0].dot(&x[1])]);
    f(&[Array::arange(2), Array::arange(3)]);
}
