//! `dot_general` and the products made of it: values and rules on every kind of
//! axes, by comparison with sums of broadcast products.

use ramie_core::lax::{DotDimensionNumbers, Precision, optimization_barrier};
use ramie_core::options::Contraction;
use ramie_core::typing::Dims;
use ramie_core::*;
use ramie_testing::{check_calls, panic_message};

fn array(shape: &[usize], seed: f32) -> Array {
    let n: usize = shape.iter().product();
    let v: Vec<f32> = (0..n).map(|i| ((i as f32 + seed) * 0.7).sin()).collect();
    Array::from_slice(&v, shape)
}

fn close(a: &Array, b: &Array) {
    assert_eq!(a.shape(), b.shape());
    for (x, y) in a.to_vec::<f32>().iter().zip(b.to_vec::<f32>()) {
        assert!((x - y).abs() < 1e-4, "{x} {y}");
    }
}

/// The same product by broadcasting, multiplying and summing.
fn by_hand(a: &Array, b: &Array, n: &DotDimensionNumbers) -> Array {
    let free = |rank: usize, c: &[usize], b: &[usize]| -> Vec<usize> {
        (0..rank)
            .filter(|d| !c.contains(d) && !b.contains(d))
            .collect()
    };
    let fa = free(a.ndim(), &n.lhs_contracting, &n.lhs_batch);
    let fb = free(b.ndim(), &n.rhs_contracting, &n.rhs_batch);
    let order = |parts: [&[usize]; 3]| -> Vec<isize> {
        parts
            .iter()
            .flat_map(|p| p.iter().map(|&d| d as isize))
            .collect()
    };
    let a = a.transpose(&order([&n.lhs_batch, &fa, &n.lhs_contracting]));
    let b = b.transpose(&order([&n.rhs_batch, &fb, &n.rhs_contracting]));
    let nb = n.lhs_batch.len();
    let ea: Vec<isize> = (0..fb.len())
        .map(|i| (nb + fa.len() + i) as isize)
        .collect();
    let eb: Vec<isize> = (0..fa.len()).map(|i| (nb + i) as isize).collect();
    let product = a.expand_dims(&ea) * b.expand_dims(&eb);
    let first = (nb + fa.len() + fb.len()) as isize;
    let axes: Vec<isize> = (first..product.ndim() as isize).collect();
    product.sum_over(&axes)
}

fn cases() -> Vec<(Array, Array, DotDimensionNumbers)> {
    let d = |c: ([usize; 2], [usize; 2]), k: usize, b: (&[usize], &[usize])| DotDimensionNumbers {
        lhs_contracting: Dims::from_slice(&c.0[..k]),
        rhs_contracting: Dims::from_slice(&c.1[..k]),
        lhs_batch: Dims::from_slice(b.0),
        rhs_batch: Dims::from_slice(b.1),
    };
    vec![
        (
            array(&[2, 3], 0.0),
            array(&[3, 4], 1.0),
            d(([1, 0], [0, 0]), 1, (&[], &[])),
        ),
        (
            array(&[3, 2], 0.0),
            array(&[4, 3], 1.0),
            d(([0, 0], [1, 0]), 1, (&[], &[])),
        ),
        (
            array(&[5, 2, 3], 0.0),
            array(&[3, 4], 1.0),
            d(([2, 0], [0, 0]), 1, (&[], &[])),
        ),
        (
            array(&[2, 3, 4], 0.0),
            array(&[4, 5, 3], 1.0),
            d(([1, 2], [2, 0]), 2, (&[], &[])),
        ),
        (
            array(&[2, 3, 4], 0.0),
            array(&[4, 2, 5], 1.0),
            d(([2, 0], [0, 0]), 1, (&[0], &[1])),
        ),
        (
            array(&[3, 2, 4], 0.0),
            array(&[2, 4, 3], 1.0),
            d(([2, 0], [1, 0]), 1, (&[1, 0], &[0, 2])),
        ),
        (
            array(&[3], 0.0),
            array(&[3], 1.0),
            d(([0, 0], [0, 0]), 1, (&[], &[])),
        ),
        (
            array(&[2], 0.0),
            array(&[3], 1.0),
            d(([0, 0], [0, 0]), 0, (&[], &[])),
        ),
        (
            array(&[0, 3], 0.0),
            array(&[3, 2], 1.0),
            d(([1, 0], [0, 0]), 1, (&[], &[])),
        ),
    ]
}

/// Compares pairs of results that `f` computes from the operands and numbers of each case.
fn agree(f: impl Fn([Array; 2], &DotDimensionNumbers) -> Vec<[Array; 2]> + Send + Sync) {
    let (operands, numbers): (Vec<_>, Vec<_>) =
        cases().into_iter().map(|(a, b, n)| ([a, b], n)).unzip();
    let results = |i: usize, operands| f(operands, &numbers[i]);
    check_calls(&operands, results, |_, pairs| {
        pairs.iter().for_each(|[got, want]| close(got, want));
    });
}

/// An array that the compiler does not compute with.
fn opaque(shape: &[usize], seed: f32) -> Array {
    optimization_barrier(array(shape, seed))
}

#[test]
fn values_and_both_modes_of_differentiation() {
    agree(|[a, b], n| {
        let f = |a: Array, b: Array| a.dot_general(&b, n.clone());
        let g = |a: Array, b: Array| by_hand(&a, &b, n);
        let t = (opaque(a.shape(), 3.0), opaque(b.shape(), 4.0));
        let args = (a, b);
        let (_, df) = jvp(f, args.clone(), t.clone());
        let (_, dg) = jvp(g, args.clone(), t);
        let (y, back) = vjp(f, args.clone());
        let (z, by) = vjp(g, args);
        let ct = opaque(y.shape(), 5.0);
        let (got, expected) = (back(ct.clone()), by(ct));
        vec![[y, z], [df, dg], [got.0, expected.0], [got.1, expected.1]]
    });
}

#[test]
fn batches_equal_loops() {
    agree(|[a, b], n| {
        let f = |a: Array, b: Array| a.dot_general(&b, n.clone());
        let many = |x: &Array, axis: usize| {
            let mut shape = x.shape().to_vec();
            shape.insert(axis, 2);
            opaque(&shape, 6.0)
        };
        let pick = |x: &Array, axis: usize, i: isize| {
            x.index_in_dim(i, axis as isize).squeeze(&[axis as isize])
        };
        let mut pairs = Vec::new();
        for (ax, bx) in [
            (Some(0), Some(0)),
            (Some(0), None),
            (None, Some(0)),
            (Some(a.ndim()), None),
            (None, Some(b.ndim())),
        ] {
            let ma = ax.map_or(a.clone(), |d| many(&a, d));
            let mb = bx.map_or(b.clone(), |d| many(&b, d));
            let axes = [ax.map(|d| d as isize), bx.map(|d| d as isize)];
            let out = vmap_with(f, axes)(ma.clone(), mb.clone());
            for i in 0..2 {
                let a = ax.map_or(a.clone(), |d| pick(&ma, d, i));
                let b = bx.map_or(b.clone(), |d| pick(&mb, d, i));
                pairs.push([pick(&out, 0, i), f(a, b)]);
            }
        }
        pairs
    });
}

#[test]
fn matmul_follows_numpy() {
    let shapes = [
        (vec![2, 3], vec![3, 4], vec![2, 4]),
        (vec![3], vec![3, 4], vec![4]),
        (vec![2, 3], vec![3], vec![2]),
        (vec![3], vec![3], vec![]),
        (vec![5, 2, 3], vec![3, 4], vec![5, 2, 4]),
        (vec![2, 3], vec![5, 3, 4], vec![5, 2, 4]),
        (vec![3], vec![5, 3, 4], vec![5, 4]),
        (vec![5, 2, 3], vec![3], vec![5, 2]),
        (vec![5, 1, 2, 3], vec![6, 3, 4], vec![5, 6, 2, 4]),
    ];
    for (a, b, out) in shapes {
        let (x, y) = (array(&a, 0.0), array(&b, 1.0));
        let z = x.matmul(&y);
        assert_eq!(z.shape(), out, "{a:?} @ {b:?}");
        // Against the sum of broadcast products.
        let x2 = if a.len() == 1 { x.expand_dims(&[0]) } else { x };
        let y2 = if b.len() == 1 { y.expand_dims(&[1]) } else { y };
        let full = (x2.expand_dims(&[-1]) * y2.expand_dims(&[-3])).sum_over(-2);
        close(&z, &full.reshape(&out));
    }
}

#[test]
fn half_precision_and_integers() {
    let a = array(&[2, 3], 0.0).astype(DType::BF16);
    assert_eq!(a.matmul(a.t()).dtype(), DType::BF16);
    let i = Array::from([[1i32, 2], [3, 4]]);
    assert_eq!(i.matmul(&i).to_vec::<i32>(), [7, 10, 15, 22]);
    assert_eq!(i.matmul(array(&[2, 2], 0.0)).dtype(), DType::F32);
}

#[test]
fn mismatches_name_sizes_and_a_remedy() {
    let text = |a: &[usize], b: &[usize]| {
        let (x, y) = (array(a, 0.0), array(b, 0.0));
        panic_message(|| x.matmul(&y))
    };
    let message = text(&[64, 28, 28], &[784, 128]);
    assert!(
        message.contains("contracted sizes differ: lhs axis 2 is 28, rhs axis 0 is 784"),
        "{message}"
    );
    assert!(
        message.contains("lhs f32[64,28,28]") && message.contains("rhs f32[784,128]"),
        "{message}"
    );
    assert!(message.contains("x.flatten(1..)"), "{message}");
    assert!(text(&[2, 3], &[4, 3]).contains("transpose an operand"));
    assert!(text(&[5, 2, 3], &[4, 3, 2]).contains("batch axes do not broadcast"));
}

#[test]
fn products_of_numpy() {
    let (a, b) = (array(&[2, 3], 0.0), array(&[4, 3], 1.0));
    close(&a.inner(&b), &a.matmul(b.t()));
    close(&a.tensordot(b.t(), 1), &a.matmul(b.t()));
    close(&a.tensordot(&b, ([-1], [1])), &a.matmul(b.t()));
    close(&a.vdot(&a), &(&a * &a).sum());
    assert_eq!(a.outer(&b).shape(), [6, 12]);
    let v = Array::from([1.0f32, 2.0]);
    assert_eq!(v.outer(&v).to_vec::<f32>(), [1.0, 2.0, 2.0, 4.0]);
    assert_eq!(v.inner(&v).item::<f32>(), 5.0);
    assert_eq!(v.dot(3.0).to_vec::<f32>(), [3.0, 6.0]);
}

#[test]
fn matmul_broadcasts_batches() {
    let shapes: [(&[usize], &[usize], &[usize]); 6] = [
        (&[7, 1, 3, 4], &[2, 4, 5], &[7, 2, 3, 5]),
        (&[2, 3, 4], &[1, 4, 5], &[2, 3, 5]),
        (&[1, 3, 4], &[6, 4, 5], &[6, 3, 5]),
        (&[4], &[2, 4, 5], &[2, 5]),
        (&[2, 6, 3, 4], &[4], &[2, 6, 3]),
        (&[2, 3, 4], &[2, 4, 5], &[2, 3, 5]),
    ];
    for (a, b, out) in shapes {
        let (x, y) = (array(a, 0.0), array(b, 2.0));
        let got = x.matmul(&y);
        assert_eq!(got.shape(), out);
        // The same by repeating both operands in full.
        let row = if a.len() == 1 { x.expand_dims(&[0]) } else { x };
        let column = if b.len() == 1 { y.expand_dims(&[1]) } else { y };
        let left = row.expand_dims(&[-1]);
        let right = column.expand_dims(&[-3]);
        let product = (&left * &right).sum_over(-2);
        close(&got, &product.reshape(out));
    }
}

/// A sum over all values of all letters, one at a time.
fn slow_einsum(inputs: &[&str], output: &str, operands: &[&Array]) -> Vec<f32> {
    let mut sizes = std::collections::BTreeMap::new();
    for (names, a) in inputs.iter().zip(operands) {
        for (c, &n) in names.chars().zip(a.shape()) {
            sizes.insert(c, n);
        }
    }
    let values: Vec<Vec<f32>> = operands.iter().map(|a| a.to_vec()).collect();
    let flat = |names: &str, at: &std::collections::BTreeMap<char, usize>| {
        names.chars().fold(0, |i, c| i * sizes[&c] + at[&c])
    };
    let total: usize = sizes.values().product();
    let mut out = vec![0.0; output.chars().map(|c| sizes[&c]).product()];
    for mut k in 0..total {
        let mut at = std::collections::BTreeMap::new();
        for (&c, &n) in &sizes {
            at.insert(c, k % n);
            k /= n;
        }
        let terms = inputs
            .iter()
            .zip(&values)
            .map(|(names, v)| v[flat(names, &at)]);
        out[flat(output, &at)] += terms.product::<f32>();
    }
    out
}

#[test]
fn einsum_sums_what_the_letters_say() {
    let sizes = |c: char| match c {
        'b' => 2,
        'h' => 3,
        'q' => 4,
        'k' => 5,
        _ => 2 + (c as usize) % 3,
    };
    for spec in [
        "ij,jk->ik",
        "ij,jk->ki",
        "ij,kj->ik",
        "bqhd,bkhd->bhqk",
        "bhqk,bkhd->bqhd",
        "ij->ji",
        "ij->",
        "ij->j",
        "ii->i",
        "ii->",
        "iij,jk->ki",
        "i,j->ij",
        "ij,jk,kl->il",
        "ij,ij->",
        "ij,j->i",
        "abc,cd,be,ef->adf",
        "ij,kl->",
        "aij,bjk->abik",
        "i,i,i->i",
    ] {
        let (left, output) = spec.split_once("->").expect("an arrow");
        let inputs: Vec<&str> = left.split(',').collect();
        let arrays: Vec<Array> = inputs
            .iter()
            .enumerate()
            .map(|(i, names)| array(&names.chars().map(sizes).collect::<Vec<_>>(), i as f32))
            .collect();
        let refs: Vec<&Array> = arrays.iter().collect();
        let got = einsum(spec, &arrays);
        let want = slow_einsum(&inputs, output, &refs);
        assert_eq!(got.size(), want.len(), "{spec}");
        for (g, w) in got.to_vec::<f32>().iter().zip(&want) {
            assert!((g - w).abs() <= 1e-5 * (1.0 + w.abs()), "{spec}: {g} {w}");
        }
    }
}

#[test]
fn einsum_knows_dots_and_implicit_results() {
    let (a, b) = (array(&[5, 2, 3], 0.0), array(&[3, 4], 1.0));
    close(&einsum("...ij,jk->...ik", &[&a, &b]), &a.matmul(&b));
    close(&einsum("...i->...", &[&a]), &a.sum_over(2));
    close(&einsum("ij,jk", &[&b.t(), &b]), &b.t().matmul(&b));
    let thin = array(&[1, 4, 3], 2.0);
    close(
        &einsum("...ij,...kj->...ik", &[&a, &thin]),
        &a.matmul(thin.swap_axes(1, 2)),
    );
    let g = grad(|x: Array| einsum("ij,jk,ki->", &[&x, &x, &x]));
    let x = array(&[3, 3], 0.0);
    close(&g(x.clone()), &(&x.matmul(&x).t() * 3.0));
}

#[test]
#[should_panic(expected = "einsum(\"ij,jk->ik\"): axes named `j` have different sizes, 3 and 4")]
fn einsum_refuses_letters_of_two_sizes() {
    let _ = einsum("ij,jk->ik", &[array(&[2, 3], 0.0), array(&[4, 5], 0.0)]);
}

/// A repeated letter takes a diagonal, so that an axis of size 1 does not broadcast in one operand.
#[test]
fn einsum_refuses_diagonals_of_axes_of_two_sizes() {
    for shape in [[1, 3], [3, 1]] {
        let text = panic_message(|| einsum("ii->i", &[array(&shape, 0.0)]));
        let sizes = format!("different sizes, {} and {}", shape[0], shape[1]);
        assert!(
            text.contains("axes named `i`") && text.contains(&sizes),
            "{text}"
        );
    }
}

#[test]
fn einsum_broadcasts_axes_of_size_1_to_empty_axes() {
    let (thin, empty) = (array(&[2, 1], 0.0), array(&[2, 0], 0.0));
    for (a, b) in [(&thin, &empty), (&empty, &thin)] {
        assert_eq!(einsum("ij,ij->ij", &[a, b]).shape(), [2, 0]);
        assert_eq!(einsum("ij,ij->i", &[a, b]).to_vec::<f32>(), [0.0, 0.0]);
    }
}

#[test]
fn sums_may_be_wider_than_operands() {
    let numbers = || DotDimensionNumbers::new([&[1], &[0]], [&[], &[]]);
    let product = move |a: Array, b: Array| {
        let how = Contraction::new().precision(Precision::HIGHEST);
        a.dot_general_with(&b, numbers(), how.preferred_element_type(DType::F32))
    };
    let (a, b) = (
        Array::ones(&[2, 301], DType::BF16),
        Array::ones(&[301, 1], DType::BF16),
    );
    // 301 is no bf16: the type of the sums counts.
    let out = product(a.clone(), b.clone());
    assert_eq!(out.dtype(), DType::F32);
    assert_eq!(out.to_vec::<f32>(), [301.0, 301.0]);
    let loss = move |(a, b): (Array, Array)| product(a, b).sum();
    let (da, db) = grad(loss)((a, b));
    assert_eq!((da.dtype(), db.dtype()), (DType::BF16, DType::BF16));
    assert_eq!(db.astype(DType::F32).to_vec::<f32>()[0], 2.0);
}

#[test]
fn einsums_sum_in_the_type_that_is_asked_for() {
    use ramie_core::numpy::einsum_with;
    // 257 is no number of bf16, the sum of 257 ones is one of f32.
    let ones = |shape: &[usize]| Array::ones(shape, DType::BF16);
    let how = Contraction::new().preferred_element_type(DType::F32);
    let sums = einsum_with("ij,jk->ik", &[ones(&[1, 257]), ones(&[257, 2])], &how);
    assert_eq!(sums.to_vec::<f32>(), [257.0; 2]);
    // The second product has operands of two types.
    let three = [ones(&[1, 257]), ones(&[257, 2]), ones(&[2, 3])];
    let sums = einsum_with("ij,jk,kl->il", &three, &how);
    assert_eq!(sums.to_vec::<f32>(), [514.0; 3]);
    let precise = Contraction::new().precision(Precision::HIGHEST);
    let text = make_jaxpr(|x: Array, y: Array| einsum_with("ij,jk->ik", &[x, y], &precise));
    let program = text(ones(&[1, 2]), ones(&[2, 2])).to_string();
    assert!(program.contains("HIGHEST"), "{program}");
}
