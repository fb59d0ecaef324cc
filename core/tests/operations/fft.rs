//! Fourier transforms against JAX.

use crate::complex::rows::{Operation, check};
use ramie_core::fft::{self, Norm};
use ramie_core::{Array, DType, jit, vmap};
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
    let one = |f: fn(&Array, Option<usize>, isize, Norm) -> Array| -> Option<Box<Operation>> {
        Some(Box::new(move |x: &[Array]| f(&x[0], n, axis, norm)))
    };
    let whole: fn(&[Array]) -> Array = match name {
        "fft" => return one(fft::fft),
        "ifft" => return one(fft::ifft),
        "rfft" => return one(fft::rfft),
        "irfft" => return one(fft::irfft),
        "hfft" => return one(fft::hfft),
        "ihfft" => return one(fft::ihfft),
        "fft2" => |x| fft::fft2(&x[0], None, [-2, -1], Norm::Backward),
        "ifft2" => |x| fft::ifft2(&x[0], None, [-2, -1], Norm::Backward),
        "rfft2" => |x| fft::rfft2(&x[0], None, [-2, -1], Norm::Backward),
        "irfft2" => |x| fft::irfft2(&x[0], None, [-2, -1], Norm::Backward),
        "fftn" => |x| fft::fftn(&x[0], None, None, Norm::Backward),
        "ifftn" => |x| fft::ifftn(&x[0], None, None, Norm::Backward),
        "rfftn" => |x| fft::rfftn(&x[0], None, None, Norm::Backward),
        "irfftn" => |x| fft::irfftn(&x[0], None, None, Norm::Backward),
        "fftshift" => |x| fft::fftshift(&x[0], None),
        "ifftshift" => |x| fft::ifftshift(&x[0], None),
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
    let y = fft::rfftn(&x, None, None, Norm::Ortho);
    let back = fft::irfftn(&y, Some(&[2, 3, 2, 5]), None, Norm::Ortho);
    assert!((back - &x).abs().max().item::<f32>() < 1e-5);
    // One axis after the other gives the same.
    let apart = (0..3).fold(fft::rfft(&x, None, 3, Norm::Ortho), |y, axis| {
        fft::fft(&y, None, axis, Norm::Ortho)
    });
    assert!((apart - &y).abs().max().item::<f32>() < 1e-5);
    let rows = x.reshape(&[12, 5]);
    let mapped = vmap(|x: Array| fft::fft(&x, Some(4), -1, Norm::Backward))(rows.clone());
    let together = jit(|x: Array| fft::fft(&x, Some(4), -1, Norm::Backward))(rows);
    assert!((mapped - together).abs().max().item::<f32>() < 1e-6);
    let none = fft::fft(&Array::zeros(&[0, 4], DType::F32), None, -1, Norm::Backward);
    assert_eq!((none.shape(), none.dtype()), (&[0, 4][..], DType::C64));
}

#[test]
#[should_panic(expected = "rfft: the length of a transform must not be 0")]
fn transforms_of_nothing_are_refused() {
    fft::rfft(&Array::from([1.0f32]), Some(0), -1, Norm::Backward);
}
