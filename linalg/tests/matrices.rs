//! Matrices on which the algorithms are hard, and the equations that results satisfy. Products are
//! computed on the host, since programs for all these shapes would take long to compile.

use num_complex::Complex64;
use ramie_core::linalg::QrMode;
use ramie_core::{Array, DType};
use ramie_linalg::{
    SchurOutput, eig, eigvals, hessenberg, qr_pivoted, rsf2csf, schur, schur_with, sqrtm,
};

/// A matrix in the memory of the host.
#[derive(Clone)]
struct Matrix {
    shape: [usize; 2],
    elements: Vec<Complex64>,
}

impl Matrix {
    fn new(shape: [usize; 2], f: impl Fn(usize, usize) -> Complex64) -> Matrix {
        let element = |k: usize| f(k / shape[1], k % shape[1]);
        let elements = (0..shape[0] * shape[1]).map(element).collect();
        Matrix { shape, elements }
    }
    fn real(n: usize, f: impl Fn(usize, usize) -> f64) -> Matrix {
        Matrix::new([n, n], |i, j| f(i, j).into())
    }
    fn identity(n: usize) -> Matrix {
        Matrix::real(n, |i, j| unit(i == j))
    }
    fn of(a: &Array) -> Matrix {
        let elements = if a.dtype().is_complex() {
            a.to_vec::<Complex64>()
        } else {
            a.to_vec::<f64>().into_iter().map(Complex64::from).collect()
        };
        let shape = [a.shape()[0], a.shape()[1]];
        Matrix { shape, elements }
    }
    fn array(&self) -> Array {
        if self.elements.iter().any(|v| v.im != 0.0) {
            return Array::from_slice(&self.elements, &self.shape);
        }
        let elements: Vec<f64> = self.elements.iter().map(|v| v.re).collect();
        Array::from_vec(elements, &self.shape)
    }
    fn at(&self, i: usize, j: usize) -> Complex64 {
        self.elements[i * self.shape[1] + j]
    }
    fn times(&self, other: &Matrix) -> Matrix {
        let inner = self.shape[1];
        let columns = other.transposed();
        Matrix::new([self.shape[0], other.shape[1]], |i, j| {
            let row = &self.elements[i * inner..][..inner];
            let column = &columns.elements[j * inner..][..inner];
            row.iter().zip(column).map(|(a, b)| a * b).sum()
        })
    }
    fn transposed(&self) -> Matrix {
        Matrix::new([self.shape[1], self.shape[0]], |i, j| self.at(j, i))
    }
    fn adjoint(&self) -> Matrix {
        Matrix::new([self.shape[1], self.shape[0]], |i, j| self.at(j, i).conj())
    }
    fn plus(&self, factor: f64, other: &Matrix) -> Matrix {
        Matrix::new(self.shape, |i, j| self.at(i, j) + factor * other.at(i, j))
    }
    /// The elements for which the condition holds; the others become zero.
    fn only(&self, condition: impl Fn(usize, usize) -> bool) -> Matrix {
        Matrix::new(self.shape, |i, j| self.at(i, j) * unit(condition(i, j)))
    }
    fn largest(&self) -> f64 {
        self.elements.iter().map(|v| v.norm()).fold(0.0, f64::max)
    }
}

fn unit(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}

/// Numbers between -1 and 1 in an order without pattern.
fn noise(i: usize, j: usize) -> f64 {
    let bits = (i as u64 * 7919 + j as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn random(n: usize) -> Matrix {
    Matrix::real(n, noise)
}

fn random_complex(n: usize) -> Matrix {
    Matrix::new([n, n], |i, j| {
        Complex64::new(noise(i, j), noise(i + 1000, j))
    })
}

fn jordan(n: usize, value: f64) -> Matrix {
    Matrix::real(n, |i, j| value * unit(i == j) + unit(i + 1 == j))
}

/// A matrix with the eigenvalues of another one, of an even number of rows.
fn conjugated(block: &Matrix) -> Matrix {
    let sign = |i: usize| 1.0 - 2.0 * (i % 2) as f64;
    let basis = |factor: f64| move |i: usize, j: usize| unit(i == j) + factor * sign(i);
    let n = block.shape[0];
    let inverse = Matrix::real(n, basis(-1.0));
    Matrix::real(n, basis(1.0)).times(block).times(&inverse)
}

/// The product of the first columns of a matrix and its first rows.
fn of_rank(rank: usize, a: &Matrix) -> Matrix {
    let n = a.shape[0];
    let columns = a.only(|_, j| j < rank);
    columns.times(&Matrix::new([n, n], |i, j| a.at(i, n - 1 - j)))
}

/// The matrices, with their names.
fn hard() -> Vec<(&'static str, Matrix)> {
    let scaled = |n, f: fn(i32, i32) -> i32| {
        Matrix::real(n, move |i, j| {
            noise(i, j) * 10f64.powi(f(i as i32, j as i32))
        })
    };
    let integers = |i: usize, j: usize| ((i * 37 + j * 91) % 17) as f64 - 8.0 + unit(i == j);
    let companion = |i: usize, j: usize| if i == 0 { -1.0 } else { unit(i == j + 1) };
    let cycle = |i: usize, j: usize| Complex64::I * unit((i + 1) % 9 == j);
    vec![
        ("empty", random(0)),
        ("one", Matrix::real(1, |_, _| -3.0)),
        ("identity", Matrix::identity(7)),
        ("zero", Matrix::real(6, |_, _| 0.0)),
        ("cycle", Matrix::real(12, |i, j| unit((i + 1) % 12 == j))),
        ("exchange", Matrix::real(9, |i, j| unit(i + j == 8))),
        ("Jordan", jordan(20, 2.0)),
        ("nilpotent", jordan(15, 0.0)),
        ("nilpotent below", jordan(15, 0.0).transposed()),
        ("defective", conjugated(&jordan(6, 2.0))),
        ("nilpotent, turned", conjugated(&jordan(8, 0.0))),
        ("badly scaled", scaled(10, |i, j| 4 * (i - j))),
        ("graded", scaled(10, |i, j| -3 * (i + j))),
        ("huge", scaled(6, |_, _| 300)),
        ("tiny", scaled(6, |_, _| -300)),
        (
            "rotation",
            Matrix::real(2, |i, j| [[0.6, -0.8], [0.8, 0.6]][i][j]),
        ),
        ("integers", Matrix::real(200, integers)),
        ("low rank", of_rank(5, &random(200))),
        ("random", random(60)),
        ("companion", Matrix::real(20, companion)),
        ("symmetric", random(30).plus(1.0, &random(30).transposed())),
        ("skew", random(31).plus(-1.0, &random(31).transposed())),
        ("complex", random_complex(50)),
        ("complex cycle", Matrix::new([9, 9], cycle)),
        (
            "Hermitian",
            random_complex(20).plus(1.0, &random_complex(20).adjoint()),
        ),
        ("complex low rank", of_rank(3, &random_complex(40))),
    ]
}

/// Checks that two matrices are equal up to rounding of numbers of the given size.
#[track_caller]
fn assert_near(name: &str, a: &Matrix, b: &Matrix, size: f64) {
    let size = if size == 0.0 { 1.0 } else { size };
    let difference = a.plus(-1.0, b).largest() / size;
    let limit = 50.0 * f64::EPSILON * a.shape[1].max(1) as f64;
    assert!(
        difference <= limit,
        "{name}: differs by {difference:e}, more than {limit:e}"
    );
}

#[track_caller]
fn assert_unitary(name: &str, q: &Matrix) {
    let identity = Matrix::identity(q.shape[1]);
    assert_near(name, &q.adjoint().times(q), &identity, 1.0);
}

/// Checks that `A = Q B Qᴴ` with unitary `Q`.
#[track_caller]
fn assert_similar(name: &str, a: &Matrix, b: &Matrix, q: &Matrix) {
    assert_unitary(name, q);
    let size = a.largest() * a.shape[0] as f64;
    assert_near(name, &q.times(b).times(&q.adjoint()), a, size);
}

#[test]
fn eigenvectors_satisfy_their_equation() {
    for (name, a) in hard() {
        let (w, v) = eig(&a.array());
        let (w, v) = (w.to_vec::<Complex64>(), Matrix::of(&v));
        let size = a.largest() * a.shape[0] as f64;
        let scaled = Matrix::new(v.shape, |i, j| v.at(i, j) * w[j]);
        assert_near(name, &a.times(&v), &scaled, size);
        for j in 0..w.len() {
            let column: Vec<Complex64> = (0..w.len()).map(|i| v.at(i, j)).collect();
            let norm = column.iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt();
            assert!((norm - 1.0).abs() < 1e-14, "{name}: {norm}");
            let largest = column.iter().map(|v| v.norm()).fold(0.0, f64::max);
            let chosen = |v: &&Complex64| v.im == 0.0 && v.re >= largest * (1.0 - 1e-14);
            assert!(column.iter().any(|v| chosen(&v)), "{name}: {column:?}");
        }
        let trace: Complex64 = (0..w.len()).map(|i| a.at(i, i)).sum();
        let sum = Matrix::new([1, 1], |_, _| w.iter().sum());
        assert_near(name, &sum, &Matrix::new([1, 1], |_, _| trace), size * 100.0);
        assert_eq!(eigvals(&a.array()).to_vec::<Complex64>(), w, "{name}");
    }
}

#[test]
fn eigenvalues_of_known_matrices_are_accurate() {
    let values = |name: &str| {
        let (_, a) = hard()
            .into_iter()
            .find(|(n, _)| *n == name)
            .expect("a matrix");
        eigvals(&a.array()).to_vec::<Complex64>()
    };
    // Roots of unity.
    assert!(
        values("cycle")
            .iter()
            .all(|w| (w.powi(12) - 1.0).norm() < 1e-13)
    );
    assert!(
        values("complex cycle")
            .iter()
            .all(|w| (w.powi(9) - Complex64::I).norm() < 1e-13)
    );
    assert!(values("Jordan").iter().all(|w| *w == Complex64::from(2.0)));
    assert!(values("nilpotent").iter().all(|w| *w == Complex64::ZERO));
    // The sixth root of the rounding error.
    assert!(values("defective").iter().all(|w| (w - 2.0).norm() < 0.05));
    assert!(values("skew").iter().all(|w| w.re.abs() < 1e-13));
    // A diagonal similarity, which balancing undoes.
    let near = |a: &Complex64, b: &Complex64| (a - b).norm() < 1e-12 * b.norm();
    let random = eigvals(&random(10).array()).to_vec::<Complex64>();
    let scaled = values("badly scaled");
    assert!(
        random.iter().all(|w| scaled.iter().any(|v| near(v, w))),
        "{scaled:?} {random:?}"
    );
    let low_rank = values("low rank");
    assert_eq!(low_rank.iter().filter(|w| w.norm() > 1e-9).count(), 5);
}

#[test]
fn schur_factors_multiply_to_the_matrix() {
    for (name, a) in hard() {
        let (t, z) = schur(&a.array());
        let complex = rsf2csf(&t, &z);
        let (t, z) = (Matrix::of(&t), Matrix::of(&z));
        assert_similar(name, &a, &t, &z);
        if !a.array().dtype().is_complex() {
            assert_standard(name, &t);
        }
        for (t, z) in [complex, schur_with(&a.array(), SchurOutput::Complex)] {
            assert_eq!(t.dtype(), DType::C128);
            let (t, z) = (Matrix::of(&t), Matrix::of(&z));
            assert_similar(name, &a, &t, &z);
            assert_eq!(t.only(|i, j| i > j).largest(), 0.0, "{name}");
        }
    }
}

/// Checks that there are at most 2×2 blocks, with equal diagonal elements and others of opposite
/// signs.
#[track_caller]
fn assert_standard(name: &str, t: &Matrix) {
    assert_eq!(t.only(|i, j| i > j + 1).largest(), 0.0, "{name}");
    for i in 1..t.shape[0] {
        if t.at(i, i - 1).re != 0.0 {
            assert_eq!(t.at(i, i), t.at(i - 1, i - 1), "{name}");
            assert!(
                t.at(i, i - 1).re.signum() * t.at(i - 1, i).re < 0.0,
                "{name}"
            );
            assert!(i + 1 == t.shape[0] || t.at(i + 1, i).re == 0.0, "{name}");
        }
    }
}

#[test]
fn hessenberg_factors_multiply_to_the_matrix() {
    for (name, a) in hard() {
        let (h, q) = hessenberg(&a.array());
        let (h, q) = (Matrix::of(&h), Matrix::of(&q));
        assert_similar(name, &a, &h, &q);
        assert_eq!(h.only(|i, j| i > j + 1).largest(), 0.0, "{name}");
    }
}

#[test]
fn square_roots_multiply_to_the_matrix() {
    // Singular matrices have no square root, or none that is well-conditioned.
    let singular = |name: &str| {
        name.starts_with("nilpotent") || name.contains("low rank") || name == "integers"
    };
    for (name, a) in hard() {
        let root = sqrtm(&a.array());
        assert_eq!(root.dtype(), DType::C128);
        if singular(name) {
            continue;
        }
        let root = Matrix::of(&root);
        let size = root.largest();
        assert_near(
            name,
            &root.times(&root),
            &a,
            size * size * a.shape[0] as f64,
        );
        if ["Jordan", "identity", "defective", "zero"].contains(&name) {
            assert!(root.elements.iter().all(|v| v.im == 0.0), "{name}");
        }
    }
    let none = Matrix::of(&sqrtm(&jordan(2, 0.0).array()));
    assert!(none.elements.iter().any(|v| !v.is_finite()));
}

#[test]
fn pivoted_factors_multiply_to_the_permuted_matrix() {
    let names = "empty one zero exchange Jordan graded integers complex";
    let tested = |(name, _): &(&str, Matrix)| names.split(' ').any(|n| n == *name);
    for (name, a) in hard().into_iter().filter(tested) {
        let n = a.shape[0];
        check_qr(name, &a, QrMode::Reduced);
        check_qr(
            name,
            &Matrix::new([n / 2, n], |i, j| a.at(i, j)),
            QrMode::Reduced,
        );
        check_qr(
            name,
            &Matrix::new([n, n / 2], |i, j| a.at(i, j)),
            QrMode::Complete,
        );
    }
}

#[track_caller]
fn check_qr(name: &str, a: &Matrix, mode: QrMode) {
    let (q, r, p) = qr_pivoted(&a.array(), mode);
    let (q, r, p) = (Matrix::of(&q), Matrix::of(&r), p.to_vec::<i32>());
    let permuted = Matrix::new(a.shape, |i, j| a.at(i, p[j] as usize));
    let size = a.largest() * a.shape[0] as f64;
    assert_unitary(name, &q);
    assert_near(name, &q.times(&r), &permuted, size);
    assert_eq!(r.only(|i, j| i > j).largest(), 0.0, "{name}");
    let count = r.shape[0].min(r.shape[1]);
    let diagonal: Vec<f64> = (0..count).map(|i| r.at(i, i).norm()).collect();
    let decreases = |pair: &[f64]| pair[1] <= pair[0] * (1.0 + 1e-7) + 1e-13 * size;
    assert!(diagonal.windows(2).all(decreases), "{name}: {diagonal:?}");
}

/// A number of one of several kinds: small integers, others of few bits, and of many magnitudes.
fn number(kind: usize, bits: u64) -> f64 {
    let sign = if bits & 64 == 0 { 1.0 } else { -1.0 };
    match kind {
        0 => (bits % 3) as f64 - 1.0,
        1 => unit(bits.is_multiple_of(4)),
        2 => sign * 10f64.powi((bits % 40) as i32 - 20),
        _ => unit(bits.is_multiple_of(3)) * 2f64.powi((bits % 600) as i32 - 300),
    }
}

#[test]
fn small_matrices_of_many_kinds_have_eigenvectors_and_schur_factors() {
    let inputs = std::env::var("RAMIE_FUZZ_INPUTS").ok();
    let count = inputs.map_or(2000, |text| text.parse().expect("a number"));
    for input in 0..count {
        let (n, kind, is_complex) = (input % 13 + 1, input / 13 % 4, input % 2 == 1);
        let part = |i, j| number(kind, (noise(input * 40 + i, j).abs() * 1e15) as u64);
        let a = Matrix::new([n, n], |i, j| {
            Complex64::new(part(i, j), unit(is_complex) * part(i + 20, j))
        });
        let name = format!("input {input}");
        // Without elements whose products overflow.
        let largest = a.largest();
        let factor = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        let scaled = |m: &Matrix| Matrix::new(m.shape, |i, j| m.at(i, j) * factor);
        let (w, v) = eig(&a.array());
        let (w, v) = (w.to_vec::<Complex64>(), Matrix::of(&v));
        let right = Matrix::new(v.shape, |i, j| v.at(i, j) * (w[j] * factor));
        let difference = scaled(&a).times(&v).plus(-1.0, &right).largest();
        let finite = v.elements.iter().chain(&w).all(|v| v.is_finite());
        assert!(finite && difference < 1e-10, "{name}: {difference:e}");
        let (t, z) = schur(&a.array());
        assert_similar(
            &name,
            &scaled(&a),
            &scaled(&Matrix::of(&t)),
            &Matrix::of(&z),
        );
    }
}
