//! Cases worked out by hand, of what JAX's rows leave out: primitives of which
//! nothing is recorded, element types, and arrays without elements or axes.

use ramie_core::Array;
use ramie_core::DType::{self, BF16, F16, F32, F64, I32};
use ramie_core::extend::{Primitive, bind};
use ramie_core::lax::{DotDimensionNumbers, DotGeneral};
use ramie_core::prim::cumulative::Cumlogsumexp;
use ramie_core::prim::elementwise::{
    AddAny, Clamp, Class, ConvertElementType, LogAddExp, Polygamma, StopGradient,
};
use ramie_core::prim::index::{
    DynamicSlice, DynamicUpdateSlice, Scatter, ScatterDimensionNumbers, ScatterMethod,
};
use ramie_core::prim::reduce::{ReduceAnd, ReduceOr, ReduceXor};
use ramie_core::prim::shape::{BitcastConvertType, ReducePrecision, Reshape, Split};
use ramie_core::prim::sort::TopK;
use ramie_testing::apply::{Operation, of};
use ramie_testing::case::Case;
use ramie_testing::golden::Derivative;
use ramie_testing::numbers::Draw;
use std::f64::consts::PI;

/// All of them.
pub fn cases() -> Vec<Case> {
    let mut cases = elementwise();
    cases.extend(shapes());
    cases.extend(reductions());
    cases.extend(scatters());
    cases
}

/// Numbers as an array of a type.
fn array(dtype: DType, values: &[f64]) -> Array {
    Array::from_slice(values, &[values.len()]).astype(dtype)
}

fn scalar(dtype: DType, value: f64) -> Array {
    Array::scalar(value, dtype)
}

fn apply<P: Primitive + Clone>(primitive: P) -> Box<Operation> {
    of(primitive).expect("an operation")
}

/// A case of a primitive.
fn case<P: Primitive + Clone>(primitive: P, detail: &str, inputs: &[Array]) -> Case {
    let detail = match inputs.first() {
        Some(x) => format!("{detail} {}", x.aval()),
        None => detail.to_string(),
    };
    let name = primitive.name();
    Case::new(name, &detail, inputs.to_vec(), apply(primitive))
}

/// The types of a class.
fn each(class: Class) -> impl Iterator<Item = DType> {
    DType::COMMON
        .into_iter()
        .filter(move |d| class.contains(*d))
}

const FLOATS: [DType; 4] = [BF16, F16, F32, F64];

fn elementwise() -> Vec<Case> {
    let mut cases = Vec::new();
    let product = DotGeneral {
        dimension_numbers: DotDimensionNumbers::new([&[1], &[0]], [&[], &[]]),
        precision: None,
        preferred_element_type: None,
        out_sharding: None,
    };
    let pair = [
        Array::from([[true, false, true], [false, false, true]]),
        Array::from([[false, true], [true, true], [true, false]]),
    ];
    let known = Array::from([[true, true], [true, false]]);
    cases.push(case(product, "of booleans", &pair).gives(vec![known]));
    let mut draw = Draw::new(21);
    for d in each(Class::Number) {
        let pair = [array(d, &[1.0, 2.0, 3.0]), array(d, &[2.0, 0.0, 1.0])];
        cases.push(case(AddAny, "sums", &pair).gives(vec![array(d, &[3.0, 2.0, 4.0])]));
    }
    for d in each(Class::Any) {
        let x = array(d, &[0.0, 1.0, 7.0]);
        let mut stopped = case(StopGradient, "", std::slice::from_ref(&x)).gives(vec![x.clone()]);
        if d.is_float() {
            let (ones, zeros) = (array(d, &[1.0; 3]), array(d, &[0.0; 3]));
            stopped.derivative = Some(Derivative {
                tangents: vec![Some(ones.clone())],
                jvp: vec![Some(zeros.clone())],
                cotangents: vec![Some(ones)],
                vjp: vec![Some(zeros)],
            });
        }
        cases.push(stopped);
    }
    for shape in [&[2, 3][..], &[], &[0]] {
        let mut drawn = |lo, hi| draw.array(shape, F64, lo, hi);
        let (x, y) = (drawn(-1.0, 1.0), drawn(-1.0, 1.0));
        let pair = [x.clone(), y];
        cases.push(case(AddAny, "", &pair).smooth());
        cases.push(case(LogAddExp, "", &pair).smooth());
        let one = std::slice::from_ref(&x);
        cases.push(case(StopGradient, "", one).gives(vec![x.clone()]));
        let format = ReducePrecision {
            exponent_bits: 11,
            mantissa_bits: 52,
        };
        cases.push(case(format, "f64", one).gives(vec![x.clone()]).smooth());
        let positive = drawn(0.5, 4.0);
        // Their programs are long: the other shapes make do with one order.
        let orders: &[f64] = if shape.len() == 2 {
            &[0.0, 1.0, 2.0]
        } else {
            &[1.0]
        };
        for &order in orders {
            let order = Array::full(shape, order, F64);
            let f = move |a: &[Array]| bind(Polygamma, &[&order, &a[0]]).into_vec();
            let label = format!("derivatives {shape:?}");
            let inputs = vec![positive.clone()];
            cases.push(Case::new("polygamma", &label, inputs, Box::new(f)).smooth());
        }
        cases.push(case(Polygamma, "", &[positive.ones_like(), positive]));
    }
    // Apéry's constant.
    let zeta3 = 1.202_056_903_159_594_3;
    for d in FLOATS {
        let orders = array(d, &[1.0, 1.0, 2.0, 3.0]);
        let known = [
            PI * PI / 6.0,
            PI * PI / 2.0,
            -2.0 * zeta3,
            PI.powi(4) / 15.0,
        ];
        let at = array(d, &[1.0, 0.5, 1.0, 1.0]);
        cases.push(case(Polygamma, "known", &[orders, at]).gives(vec![array(d, &known)]));
        let (x, y) = ([0.0, 1.0, -50.0, f64::INFINITY], [0.0, 3.0, 40.0, 1.0]);
        let known = [
            2f64.ln(),
            (1f64.exp() + 3f64.exp()).ln(),
            40.0,
            f64::INFINITY,
        ];
        let pair = [array(d, &x), array(d, &y)];
        cases.push(case(LogAddExp, "known", &pair).gives(vec![array(d, &known)]));
        // Three bits of fraction; halves go to the even neighbour.
        let x = array(d, &[1.0, 1.0625, 1.1875, -3.25, 0.0]);
        let format = ReducePrecision {
            exponent_bits: 5,
            mantissa_bits: 3,
        };
        let rounded = array(d, &[1.0, 1.0, 1.25, -3.25, 0.0]);
        cases.push(case(format, "rounds", &[x]).gives(vec![rounded]));
    }
    for shape in [&[0, 2][..], &[]] {
        let ones = Array::ones(shape, F32);
        let convert = ConvertElementType {
            new_dtype: I32,
            weak_type: false,
        };
        let one = std::slice::from_ref(&ones);
        cases.push(case(convert, "", one).gives(vec![Array::ones(shape, I32)]));
        let bits = BitcastConvertType { new_dtype: I32 };
        // The bits of 1.0.
        let known = Array::full(shape, 0x3f80_0000, I32);
        cases.push(case(bits, "", one).gives(vec![known]));
    }
    let truths = [Array::from([true, false])];
    let same = BitcastConvertType {
        new_dtype: DType::Bool,
    };
    cases.push(case(same, "", &truths).gives(truths.to_vec()));
    let [low, x, high] = [
        [false, true, false, true],
        [false, false, true, true],
        [true, true, false, true],
    ];
    let bounded = Array::from([false, true, false, true]);
    let inputs = [low, x, high].map(Array::from);
    cases.push(case(Clamp, "", &inputs).gives(vec![bounded]));
    cases
}

fn shapes() -> Vec<Case> {
    let mut cases = Vec::new();
    let split = |sizes: &[usize], axis| Split {
        sizes: sizes.into(),
        axis,
    };
    for d in each(Class::Any) {
        let x = array(d, &[0.0, 1.0, 2.0, 3.0]);
        let parts = vec![array(d, &[0.0]), array(d, &[]), array(d, &[1.0, 2.0, 3.0])];
        cases.push(case(split(&[1, 0, 3], 0), "parts", &[x]).gives(parts));
    }
    let mut draw = Draw::new(22);
    let x = draw.array(&[2, 3], F64, -1.0, 1.0);
    cases.push(case(split(&[2, 1], 1), "columns", &[x]).smooth());
    let box_of = |sizes: &[usize]| DynamicSlice {
        slice_sizes: sizes.into(),
    };
    let x = draw.array(&[4], F64, -1.0, 1.0);
    let (none, place) = (array(F64, &[]), scalar(I32, 1.0));
    let inputs = [x.clone(), place.clone()];
    cases.push(case(box_of(&[0]), "nothing", &inputs).gives(vec![none.clone()]));
    cases.push(case(box_of(&[]), "whole", &[scalar(F64, 2.0)]).gives(vec![scalar(F64, 2.0)]));
    let inputs = [x.clone(), none, place];
    cases.push(case(DynamicUpdateSlice, "nothing", &inputs).gives(vec![x]));
    let inputs = [scalar(F64, 2.0), scalar(F64, 3.0)];
    cases.push(case(DynamicUpdateSlice, "whole", &inputs).gives(vec![scalar(F64, 3.0)]));
    let whole = Reshape {
        new_sizes: [].as_slice().into(),
        sharding: None,
    };
    cases.push(case(whole, "whole", &[scalar(F64, 2.0)]).gives(vec![scalar(F64, 2.0)]));
    let picked: Box<Operation> = Box::new(|a| vec![a[0].take(&a[1], 0)]);
    let inputs = vec![draw.array(&[4, 2], F64, -1.0, 1.0), array(I32, &[])];
    cases.push(Case::new("gather", "no places", inputs, picked).smooth());
    cases
}

fn reductions() -> Vec<Case> {
    let mut cases = Vec::new();
    let axes = || [0].as_slice().into();
    let none = || [].as_slice().into();
    for d in each(Class::Bits) {
        let rows = array(d, &[6.0, 3.0, 5.0, 3.0]).reshape(&[2, 2]);
        let x = std::slice::from_ref(&rows);
        let known = |v: [f64; 2]| vec![array(d, &v)];
        let even = if d == DType::Bool {
            [0.0; 2]
        } else {
            [3.0, 0.0]
        };
        let both = if d == DType::Bool {
            [1.0; 2]
        } else {
            [4.0, 3.0]
        };
        cases.push(case(ReduceAnd { axes: axes() }, "rows", x).gives(known(both)));
        cases.push(case(ReduceOr { axes: axes() }, "rows", x).gives(known([7.0, 3.0])));
        cases.push(case(ReduceXor { axes: axes() }, "rows", x).gives(known(even)));
        let empty = [Array::zeros(&[0, 2], d)];
        let zeros = || vec![Array::zeros(&[2], d)];
        let ones = vec![Array::zeros(&[2], d).bitwise_not()];
        cases.push(case(ReduceAnd { axes: axes() }, "no rows", &empty).gives(ones));
        cases.push(case(ReduceOr { axes: axes() }, "no rows", &empty).gives(zeros()));
        cases.push(case(ReduceXor { axes: axes() }, "no rows", &empty).gives(zeros()));
        let one = || scalar(d, 1.0);
        cases.push(case(ReduceAnd { axes: none() }, "", &[one()]).gives(vec![one()]));
        cases.push(case(ReduceOr { axes: none() }, "", &[one()]).gives(vec![one()]));
        cases.push(case(ReduceXor { axes: none() }, "", &[one()]).gives(vec![one()]));
    }
    let largest = TopK { k: 3, axis: 0 };
    let x = [Array::from([false, true, false, true])];
    let found = vec![Array::from([true, true, false]), Array::from([1, 3, 0])];
    cases.push(case(largest, "", &x).gives(found));
    for d in FLOATS {
        let x = [0.5, -1.0, 2.0, f64::NEG_INFINITY];
        let mut sums = x.map(f64::exp);
        for i in 1..sums.len() {
            sums[i] += sums[i - 1];
        }
        let running = Cumlogsumexp {
            axis: 0,
            reverse: false,
        };
        let known = vec![array(d, &sums.map(f64::ln))];
        cases.push(case(running.clone(), "sums", &[array(d, &x)]).gives(known));
        let nothing = array(d, &[]);
        cases.push(case(running, "nothing", std::slice::from_ref(&nothing)).gives(vec![nothing]));
    }
    cases
}

fn scatters() -> Vec<Case> {
    use ScatterMethod::{Add, Max, Min, Mul, Set, Sub};
    // Elements written at places that meet, or miss the array.
    let scatter = |method| {
        let numbers = ScatterDimensionNumbers::new(&[], &[0], &[0]);
        Scatter::new(method, numbers)
    };
    let mut cases = Vec::new();
    let places = Array::from([[1], [9], [1]]);
    for d in each(Class::Number) {
        let inputs = [
            array(d, &[5.0, 5.0, 5.0]),
            places.clone(),
            array(d, &[1.0, 2.0, 3.0]),
        ];
        let known = array(d, &[5.0, 1.0, 5.0]);
        cases.push(case(scatter(Sub), "meeting", &inputs).gives(vec![known]));
    }
    let mut draw = Draw::new(23);
    let mut drawn = |n: usize| draw.array(&[n], F64, -1.0, 1.0);
    let inputs = [drawn(3), places, drawn(3)];
    cases.push(case(scatter(Sub), "meeting", &inputs).smooth());
    for method in [Set, Add, Sub, Mul, Min, Max] {
        let inputs = [drawn(3), Array::zeros(&[0, 1], I32), drawn(0)];
        let known = vec![inputs[0].clone()];
        cases.push(case(scatter(method), "no places", &inputs).gives(known));
    }
    cases
}
