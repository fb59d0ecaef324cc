//! Elementwise operations.

use crate::{apply, buffer, elements, function, run};
use half::{bf16, f16};
use ramie_cpu::ElementType::*;

#[test]
fn integer_division_by_zero_sets_all_bits() {
    let (a, b) = ([7i32, -7, i32::MIN, 5], [0, 0, -1, -2]);
    let quotient: Vec<i32> = apply("stablehlo.divide", I32, I32, &[&a, &b]);
    assert_eq!(quotient, [-1, -1, i32::MIN, -2]);
    let remainder: Vec<i32> = apply("stablehlo.remainder", I32, I32, &[&a, &b]);
    assert_eq!(remainder, [7, -7, 0, 1]);
    let unsigned: Vec<u8> = apply("stablehlo.divide", U8, U8, &[&[9u8, 9], &[0, 2]]);
    assert_eq!(unsigned, [255, 4]);
}

#[test]
fn wide_shifts_give_zero_or_the_sign() {
    let (a, b) = ([-8i32, -8, 8, 1], [1, 32, 40, -1]);
    let logical: Vec<i32> = apply("stablehlo.shift_right_logical", I32, I32, &[&a, &b]);
    assert_eq!(logical, [0x7fff_fffc, 0, 0, 0]);
    let arithmetic: Vec<i32> = apply("stablehlo.shift_right_arithmetic", I32, I32, &[&a, &b]);
    assert_eq!(arithmetic, [-4, -1, 0, 0]);
    let left: Vec<i32> = apply("stablehlo.shift_left", I32, I32, &[&a, &b]);
    assert_eq!(left, [-16, 0, 0, 0]);
}

#[test]
fn integers_of_four_bits_wrap() {
    let sum: Vec<i8> = apply("stablehlo.add", I4, I4, &[&[7i8, -8, 3], &[1, -1, 4]]);
    assert_eq!(sum, [-8, 7, 7]);
    let product: Vec<u8> = apply("stablehlo.multiply", U4, U4, &[&[7u8, 15], &[3, 15]]);
    assert_eq!(product, [5, 1]);
    let shifted: Vec<i8> = apply("stablehlo.shift_right_logical", I4, I4, &[&[-1i8], &[1]]);
    assert_eq!(shifted, [7]);
}

#[test]
fn integer_powers_follow_xla() {
    let power: Vec<i32> = apply(
        "stablehlo.power",
        I32,
        I32,
        &[&[2, -1, 1, 3, -1], &[-1, -3, -2, 4, -2]],
    );
    assert_eq!(power, [0, -1, 1, 81, 1]);
}

#[test]
fn minimum_and_maximum_propagate_nan() {
    let (a, b) = ([1.0f32, f32::NAN, 3.0], [f32::NAN, 1.0, 2.0]);
    for name in ["stablehlo.maximum", "stablehlo.minimum"] {
        let result: Vec<f32> = apply(name, F32, F32, &[&a, &b]);
        assert!(result[0].is_nan() && result[1].is_nan() && !result[2].is_nan());
    }
}

#[test]
fn rounding_and_signs() {
    let x = [-2.5f32, -0.5, -0.0, 0.5, 1.5, 2.5];
    let even: Vec<f32> = apply("stablehlo.round_nearest_even", F32, F32, &[&x]);
    assert_eq!(even, [-2.0, -0.0, -0.0, 0.0, 2.0, 2.0]);
    let away: Vec<f32> = apply("stablehlo.round_nearest_afz", F32, F32, &[&x]);
    assert_eq!(away, [-3.0, -1.0, -0.0, 1.0, 2.0, 3.0]);
    let sign: Vec<f32> = apply(
        "stablehlo.sign",
        F32,
        F32,
        &[&[-0.0f32, 0.0, -3.0, f32::NAN]],
    );
    assert!(sign[0] == 0.0 && sign[0].is_sign_negative());
    assert!(sign[2] == -1.0 && sign[3].is_nan());
}

#[test]
fn floats_saturate_as_integers() {
    let x = [f32::NAN, 1e20, -1e20, -1.9, 255.9];
    let signed: Vec<i32> = apply("stablehlo.convert", F32, I32, &[&x]);
    assert_eq!(signed, [0, i32::MAX, i32::MIN, -1, 255]);
    let unsigned: Vec<u8> = apply("stablehlo.convert", F32, U8, &[&x]);
    assert_eq!(unsigned, [0, 255, 0, 0, 255]);
    let narrow: Vec<i8> = apply("stablehlo.convert", F32, I4, &[&x]);
    assert_eq!(narrow, [0, 7, -8, -1, 7]);
    let boolean: Vec<u8> = apply(
        "stablehlo.convert",
        F32,
        Bool,
        &[&[0.0f32, -0.0, 0.5, f32::NAN]],
    );
    assert_eq!(boolean, [0, 0, 1, 1]);
}

#[test]
fn half_precision_rounds_once() {
    let (a, b) = ([bf16::from_f32(1.0)], [bf16::from_f32(0.00390625)]);
    let sum: Vec<bf16> = apply("stablehlo.add", Bf16, Bf16, &[&a, &b]);
    assert_eq!(sum[0].to_f32(), 1.0);
    let wide = 1.0 + 2f64.powi(-9) + 2f64.powi(-30);
    let half: Vec<f16> = apply(
        "stablehlo.convert",
        F64,
        F16,
        &[&[wide, 1.0 + 2f64.powi(-11)]],
    );
    assert_eq!(half[0].to_f64(), 1.0 + 2f64.powi(-9));
    assert_eq!(half[1].to_f64(), 1.0);
}

#[test]
fn eight_bit_floats_have_their_formats() {
    let x = [
        1.0f32,
        448.0,
        465.0,
        -0.0,
        f32::INFINITY,
        f32::NAN,
        0.001953125,
        0.0009765625,
    ];
    let finite: Vec<u8> = apply("stablehlo.convert", F32, F8E4M3Fn, &[&x]);
    assert_eq!(finite, [0x38, 0x7e, 0x7f, 0x80, 0x7f, 0x7f, 0x01, 0x00]);
    let ieee: Vec<u8> = apply(
        "stablehlo.convert",
        F32,
        F8E5M2,
        &[&[1.0f32, 57344.0, 65536.0, f32::NAN]],
    );
    assert_eq!(ieee, [0x3c, 0x7b, 0x7c, 0x7e]);
    let unsigned: Vec<u8> = apply(
        "stablehlo.convert",
        F32,
        F8E4M3Fnuz,
        &[&[1.0f32, -0.0, f32::NAN, 240.0]],
    );
    assert_eq!(unsigned, [0x40, 0x00, 0x80, 0x7f]);
    let power: Vec<u8> = apply(
        "stablehlo.convert",
        F32,
        F8E8M0Fnu,
        &[&[1.0f32, 0.75, 3.0, 0.0, -1.0, 1e-45, f32::NAN]],
    );
    assert_eq!(power, [127, 127, 129, 255, 255, 0, 255]);
    let four: Vec<u8> = apply(
        "stablehlo.convert",
        F32,
        F4E2M1Fn,
        &[&[6.0f32, 100.0, -0.5, 0.25]],
    );
    assert_eq!(four, [7, 7, 9, 0]);
}

#[test]
fn eight_bit_floats_convert_without_loss() {
    let all: Vec<u8> = (0..=255).collect();
    for element in [
        F8E3M4,
        F8E4M3,
        F8E4M3Fn,
        F8E4M3B11Fnuz,
        F8E4M3Fnuz,
        F8E5M2,
        F8E5M2Fnuz,
    ] {
        let wide: Vec<f32> = apply("stablehlo.convert", element, F32, &[&all]);
        let back: Vec<u8> = apply("stablehlo.convert", F32, element, &[&wide]);
        for (bits, (wide, back)) in all.iter().zip(wide.iter().zip(&back)) {
            assert!(
                wide.is_nan() || bits == back,
                "{element} {bits:#x} is {wide}, then {back:#x}"
            );
        }
    }
}

#[test]
fn neighbors_of_floats() {
    let (x, y) = ([0.0f32, 1.0, -1.0, 1.0], [-1.0f32, 2.0, 0.0, 1.0]);
    let next: Vec<f32> = apply("chlo.next_after", F32, F32, &[&x, &y]);
    assert_eq!(
        next,
        [
            -f32::from_bits(1),
            1.0f32.next_up(),
            (-1.0f32).next_up(),
            1.0
        ]
    );
}

/// Values of SciPy with 17 digits.
#[test]
fn special_functions_are_accurate() {
    let cases: &[(&str, &[f64], &[f64])] = &[
        (
            "chlo.erf_inv",
            &[0.5, -0.9],
            &[0.4769362762044699, -1.1630871536766743],
        ),
        (
            "chlo.digamma",
            &[1.0, 0.1, -0.5],
            &[
                -0.5772156649015329,
                -10.423754940411076,
                0.03648997397857652,
            ],
        ),
        (
            "chlo.bessel_i1e",
            &[1.0, -20.0, 50.0],
            &[
                0.2079104153497085,
                -0.08750622218328868,
                0.05599312389289544,
            ],
        ),
        (
            "chlo.lgamma",
            &[0.5, 10.5],
            &[0.5723649429247001, 13.940625219403763],
        ),
    ];
    for (name, x, expected) in cases {
        let got: Vec<f64> = apply(name, F64, F64, &[x]);
        for (got, expected) in got.iter().zip(*expected) {
            assert!(
                (got - expected).abs() <= 4e-15 * expected.abs().max(1.0),
                "{name}: {got} is not {expected}"
            );
        }
    }
    let x = [0.99, 0.999999, -0.75, 1e-12];
    let inverse: Vec<f64> = apply("chlo.erf_inv", F64, F64, &[&x]);
    let back: Vec<f64> = apply("chlo.erf", F64, F64, &[&inverse]);
    assert!(x.iter().zip(&back).all(|(x, y)| (x - y).abs() <= 2e-16));
    let zeta: Vec<f64> = apply("chlo.zeta", F64, F64, &[&[2.0, 3.5], &[1.0, 2.5]]);
    assert!((zeta[0] - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-15);
    let polygamma: Vec<f64> = apply("chlo.polygamma", F64, F64, &[&[1.0], &[1.0]]);
    assert!((polygamma[0] - std::f64::consts::PI.powi(2) / 6.0).abs() < 4e-15);
}

#[test]
fn products_and_sums_round_once() {
    let x = 1.0f32 + 2f32.powi(-12);
    let text = |body: &str| {
        let text = function(
            "(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>) -> tensor<f32>",
            &format!("{body}\nreturn %1 : tensor<f32>"),
        );
        let [a, b, c] = [x, x, 1.0 + 2f32.powi(-11)].map(|x| buffer(&[], F32, &[x]));
        elements::<f32>(&run(&text, &[a, b, c])[0])[0]
    };
    let product = "%0 = stablehlo.multiply %a, %b : tensor<f32>";
    let exact = 2f32.powi(-24);
    assert_eq!(
        text(&format!(
            "{product}\n%1 = stablehlo.subtract %0, %c : tensor<f32>"
        )),
        exact
    );
    assert_eq!(
        text(&format!(
            "{product}\n%1 = stablehlo.subtract %c, %0 : tensor<f32>"
        )),
        -exact
    );
    let negative = "%n = stablehlo.negate %c : tensor<f32>";
    assert_eq!(
        text(&format!(
            "{negative}\n{product}\n%1 = stablehlo.add %n, %0 : tensor<f32>"
        )),
        exact
    );
    // Both are products.
    let other = "%3 = stablehlo.multiply %b, %a : tensor<f32>\n%2 = stablehlo.reshape %3 : (tensor<f32>) -> tensor<f32>";
    assert_eq!(
        text(&format!(
            "{product}\n{other}\n%1 = stablehlo.subtract %0, %2 : tensor<f32>"
        )),
        0.0
    );
    // The product is used twice, and rounded for both.
    assert_eq!(
        text(&format!(
            "{product}\n%2 = stablehlo.subtract %0, %c : tensor<f32>\n%1 = stablehlo.multiply %2, %0 : tensor<f32>"
        )),
        0.0
    );
}

#[test]
fn leading_zeros_of_narrow_integers() {
    let counts: Vec<u8> = apply("stablehlo.count_leading_zeros", U4, U4, &[&[0u8, 1, 5, 8]]);
    assert_eq!(counts, [4, 3, 1, 0]);
    let counts: Vec<i8> = apply("stablehlo.count_leading_zeros", I2, I2, &[&[0i8, 1, -1]]);
    assert_eq!(counts, [-2, 1, 0]);
}

#[test]
fn accuracies_that_the_functions_have_are_accepted() {
    let compile = |name: &str, element: &str, accuracy: &str| {
        let body = format!(
            "%0 = stablehlo.{name} %arg0 {{result_accuracy = #stablehlo.result_accuracy<{accuracy}mode = \
             #stablehlo.result_accuracy_mode<{}>>}} : tensor<{element}>\nreturn %0 : tensor<{element}>",
            if accuracy.is_empty() {
                "HIGHEST"
            } else {
                "TOLERANCE"
            }
        );
        let signature = format!("(%arg0: tensor<{element}>) -> tensor<{element}>");
        ramie_cpu::Program::compile(&function(&signature, &body)).map(|_| ())
    };
    for (name, element, accuracy) in [
        ("exponential", "f32", ""),
        ("exponential", "complex<f32>", ""),
        ("exponential", "f32", "ulps = 1, "),
        ("sqrt", "f16", "rtol = 1.000000e-03, "),
        ("cosine", "f32", "atol = 1.000000e-05, "),
        ("cbrt", "f64", "atol = 1.000000e-30, ulps = 4, "),
    ] {
        compile(name, element, accuracy).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    for (name, element, accuracy, part) in [
        (
            "exponential",
            "f32",
            "rtol = 1.000000e-08, ",
            "too small for f32",
        ),
        (
            "exponential",
            "f32",
            "atol = 1.000000e-03, ",
            "up to 1 ulps",
        ),
        ("cbrt", "f64", "ulps = 3, ", "up to 4 ulps"),
        (
            "sine",
            "complex<f32>",
            "ulps = 9, ",
            "request the mode HIGHEST",
        ),
    ] {
        let error = compile(name, element, accuracy)
            .expect_err(name)
            .to_string();
        assert!(error.contains(part), "{error}");
    }
}
