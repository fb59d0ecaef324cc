//! Mistakes with element types and axes of operations on numbers.

use crate::document::{Case, case, f32};
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("Bits of floats", || f32(&[3]) & f32(&[3])),
        case("The remainder of complex numbers", || {
            complex(f32(&[3]), 1.0) % 2.0
        }),
        case("The place of the largest complex number", || {
            complex(f32(&[3]), 1.0).argmax(0)
        }),
        case("The variance of complex numbers in a real type", || {
            complex(f32(&[3]), 1.0).var_with(&Reduction::all().dtype(DType::F32))
        }),
        case("Shifting floats", || f32(&[3]) << 1),
        case("Counting bits of floats", || f32(&[3]).population_count()),
        case("Primitives of different types", || {
            let x = f32(&[3]);
            let n = Array::arange(3);
            core::bind1(core::prim::elementwise::Add, &[&x, &n])
        }),
        case("A sum over an axis that is not there", || {
            f32(&[2, 3]).sum_axes(&[2])
        }),
        case("A sum over one axis twice", || {
            f32(&[2, 3]).sum_axes(&[0, -2])
        }),
        case("The largest of no elements", || f32(&[0]).max()),
        case("The place of the largest of no elements", || {
            f32(&[0]).argmax(0)
        }),
        case("A cumulative sum along an axis that is not there", || {
            f32(&[3]).cumsum(1)
        }),
        case("Sorting along an axis that is not there", || {
            f32(&[3]).sort(1)
        }),
        case("Sorting arrays of different shapes together", || {
            lax_sort(&[f32(&[3]), f32(&[4])], 0, 1)
        }),
        case("More largest elements than there are", || {
            f32(&[3]).top_k(4)
        }),
        case("An integer to a negative power", || {
            Array::arange(3).power(-1)
        }),
        case("Classes that are no integers", || {
            f32(&[3]).one_hot(10, DType::F32)
        }),
        case("Random floats of an integer type", || {
            random::normal(&random::key(0), &[3], DType::I32)
        }),
        case("Random integers of a floating-point type", || {
            random::randint(&random::key(0), &[3], 0, 10, DType::F32)
        }),
        case("Random numbers from an array of keys", || {
            let keys = random::key(0).split_array(&[2]);
            random::normal(&keys, &[3], DType::F32)
        }),
        case("More draws than there are elements", || {
            random::Choice::of(3)
                .without_replacement()
                .draw(&random::key(0), &[4])
        }),
        case("Parameters of a distribution that do not fit", || {
            random::bernoulli(&random::key(0), f32(&[3]), &[2])
        }),
        case("Labels of another shape than the logits", || {
            let logits = f32(&[8, 10]);
            let labels = Array::arange(10);
            optim::softmax_cross_entropy_with_integer_labels(&logits, &labels)
        }),
        case("Labels that are no integers", || {
            optim::softmax_cross_entropy_with_integer_labels(&f32(&[8, 10]), &f32(&[8]))
        }),
    ]
}
