//! Fourier transforms against JAX.

use crate::complex::rows::{Operation, check};
use ramie_core::fft::{self, Fft, Norm};
use ramie_core::{Array, DType, jit, vmap};
use ramie_testing::panic_message;
use serde_json::Value;

/// The transform of a row.
fn operation(row: &Value) -> Option<Box<Operation>> {
    let args = &row["args"];
    let n = args["n"].as_u64().map(|n| n as usize);
    let axis = args["axis"].as_i64().unwrap_or(-1) as isize;
    let norm = match args["norm"].as_str() {
        Some("ortho") => Norm::Ortho,
        Some("forward") => Norm::Forward,
        _ => Norm::Backward,
    };
    let name = row["op"].as_str().expect("a name");
    let options = Fft::new().axes(&[axis]).norm(norm);
    let options = match n {
        Some(n) => options.lengths(&[n]),
        None => options,
    };
    let one = |f: fn(&Array, Fft) -> Array| -> Option<Box<Operation>> {
        let options = options.clone();
        Some(Box::new(move |x: &[Array]| f(&x[0], options.clone())))
    };
    let whole: fn(&[Array]) -> Array = match name {
        "fft" => return one(fft::fft_with),
        "ifft" => return one(fft::ifft_with),
        "rfft" => return one(fft::rfft_with),
        "irfft" => return one(fft::irfft_with),
        "hfft" => return one(fft::hfft_with),
        "ihfft" => return one(fft::ihfft_with),
        "fft2" => |x| fft::fft2(&x[0]),
        "ifft2" => |x| fft::ifft2(&x[0]),
        "rfft2" => |x| fft::rfft2(&x[0]),
        "irfft2" => |x| fft::irfft2(&x[0]),
        "fftn" => |x| fft::fftn(&x[0]),
        "ifftn" => |x| fft::ifftn(&x[0]),
        "rfftn" => |x| fft::rfftn(&x[0]),
        "irfftn" => |x| fft::irfftn(&x[0]),
        "fftshift" => |x| fft::fftshift(&x[0]),
        "ifftshift" => |x| fft::ifftshift(&x[0]),
        "fftfreq" | "rfftfreq" => {
            let dtype = match row["output"]["dtype"].as_str() {
                Some("float64") => DType::F64,
                _ => DType::F32,
            };
            let (n, d) = (n.expect("a count"), args["d"].as_f64().expect("a distance"));
            let f = if name == "fftfreq" {
                fft::fftfreq
            } else {
                fft::rfftfreq
            };
            return Some(Box::new(move |_: &[Array]| f(n, d, dtype)));
        }
        _ => return None,
    };
    Some(Box::new(whole))
}

#[test]
fn transforms_are_those_of_jax() {
    let applied = check("complex", operation);
    assert!(applied > 70, "{applied} rows");
}

#[test]
fn transforms_of_four_axes_map_and_compile() {
    let n = 2 * 3 * 2 * 5;
    let x = Array::iota(&[n], 0, DType::F32)
        .reshape(&[2, 3, 2, 5])
        .sin();
    let y = fft::rfftn_with(&x, Norm::Ortho);
    let back = fft::irfftn_with(&y, Fft::new().lengths(&[2, 3, 2, 5]).norm(Norm::Ortho));
    assert!((back - &x).abs().max().item::<f32>() < 1e-5);
    // One axis after the other gives the same.
    let apart = (0..3).fold(fft::rfft_with(&x, Norm::Ortho), |y, axis| {
        fft::fft_with(&y, Fft::new().axes(&[axis]).norm(Norm::Ortho))
    });
    assert!((apart - &y).abs().max().item::<f32>() < 1e-5);
    let rows = x.reshape(&[12, 5]);
    let mapped = vmap(|x: Array| fft::fft_with(&x, Fft::new().lengths(&[4])))(rows.clone());
    let together = jit(|x: Array| fft::fft_with(&x, Fft::new().lengths(&[4])))(rows);
    assert!((mapped - together).abs().max().item::<f32>() < 1e-6);
    let none = fft::fft(&Array::zeros(&[0, 4], DType::F32));
    assert_eq!((none.shape(), none.dtype()), (&[0, 4][..], DType::C64));
}

#[test]
#[should_panic(expected = "rfft: the length of a transform must not be 0")]
fn transforms_of_nothing_are_refused() {
    fft::rfft_with(&Array::from([1.0f32]), Fft::new().lengths(&[0]));
}

#[test]
fn every_length_that_is_passed_has_an_axis() {
    let x = Array::zeros(&[8], DType::F32);
    for lengths in [&[4, 8][..], &[]] {
        let text = panic_message(|| fft::hfft_with(&x, Fft::new().lengths(lengths)));
        assert!(text.starts_with("hfft: "), "{text}");
        let text = panic_message(|| fft::ihfft_with(&x, Fft::new().lengths(lengths)));
        assert!(text.starts_with("ihfft: "), "{text}");
    }
}
