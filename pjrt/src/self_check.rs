//! A check that a plugin computes correct numbers.
//!
//! Some builds of XLA have functions that are wrong for certain numbers of elements: one has an
//! `atan` that is off by 0.8 where loops are vectorized. Such errors do not stop a training run, they
//! spoil it. The check therefore runs each elementwise function on 64 elements of each
//! floating-point type and compares the results with those of the host.

use crate::buffer::Buffer;
use crate::buffer_type::BufferType;
use crate::client::Client;
use crate::compile_options::CompileOptions;
use crate::element_type::ElementType;
use crate::error::{Error, Result};
use half::{bf16, f16};
use std::panic::resume_unwind;
use std::thread;

/// Elements of each operand: more than any vector register holds.
const LEN: usize = 64;

/// Version of the check. Increase it with every change, so that earlier results are ignored.
const VERSION: u32 = 1;

/// The element types, with the largest error (relative to the expected value, or absolute if that
/// is below 1) and the number of groups. Most functions of 16-bit numbers are those of `f32`.
const TYPES: [(ElementType, f64, usize); 4] = [
    (ElementType::F32, 1e-4, GROUPS.len()),
    (ElementType::F64, 1e-10, GROUPS.len()),
    (ElementType::F16, 1e-2, 5),
    (ElementType::Bf16, 6e-2, 5),
];

/// The operands of an element: any number, a positive one, one in (-1, 1) and one above 1.
#[derive(Clone, Copy)]
struct Operands {
    x: f64,
    y: f64,
    u: f64,
    c: f64,
}

impl Operands {
    /// All are multiples of 1/64 that each type represents.
    fn at(i: usize) -> Operands {
        let (i, mixed) = (i as f64, (37 * i % LEN) as f64);
        Operands {
            x: (2.0 * i - 63.0) / 16.0,
            y: (2.0 * mixed + 1.0) / 16.0,
            u: (2.0 * mixed - 63.0) / 64.0,
            c: (mixed + 17.0) / 16.0,
        }
    }

    fn all(of: fn(&Operands) -> f64) -> [f64; LEN] {
        std::array::from_fn(|i| of(&Operands::at(i)))
    }
}

/// A function: its name in StableHLO or CHLO, its operands there, and the host's.
type Function = (&'static str, &'static str, fn(Operands) -> f64);

/// The functions, in groups whose results are added. Each group is one loop, since the time to
/// compile depends on the number of loops.
const GROUPS: [&[Function]; 11] = [
    &[("chlo.atan", "%x", |o| o.x.atan())],
    &[
        ("stablehlo.abs", "%x", |o| o.x.abs()),
        ("stablehlo.add", "%x, %y", |o| o.x + o.y),
        ("stablehlo.divide", "%x, %y", |o| o.x / o.y),
        ("stablehlo.maximum", "%x, %y", |o| o.x.max(o.y)),
        ("stablehlo.minimum", "%x, %u", |o| o.x.min(o.u)),
        ("stablehlo.multiply", "%x, %y", |o| o.x * o.y),
        ("stablehlo.negate", "%u", |o| -o.u),
        ("stablehlo.subtract", "%u, %c", |o| o.u - o.c),
    ],
    &[
        ("stablehlo.cbrt", "%x", |o| o.x.cbrt()),
        ("stablehlo.log", "%y", |o| o.y.ln()),
        ("stablehlo.log_plus_one", "%y", |o| o.y.ln_1p()),
        ("stablehlo.rsqrt", "%y", |o| o.y.sqrt().recip()),
        ("stablehlo.sqrt", "%y", |o| o.y.sqrt()),
    ],
    &[
        ("stablehlo.exponential", "%x", |o| o.x.exp()),
        ("stablehlo.exponential_minus_one", "%u", |o| o.u.exp_m1()),
        ("stablehlo.logistic", "%x", |o| 1.0 / (1.0 + (-o.x).exp())),
        ("stablehlo.power", "%y, %u", |o| o.y.powf(o.u)),
        ("stablehlo.tanh", "%x", |o| o.x.tanh()),
    ],
    &[
        ("stablehlo.cosine", "%x", |o| o.x.cos()),
        ("stablehlo.sine", "%y", |o| o.y.sin()),
        ("stablehlo.tan", "%u", |o| o.u.tan()),
    ],
    &[
        ("stablehlo.ceil", "%x", |o| o.x.ceil()),
        ("stablehlo.floor", "%y", |o| o.y.floor()),
        ("stablehlo.remainder", "%x, %y", |o| o.x % o.y),
        ("stablehlo.round_nearest_afz", "%x", |o| o.x.round()),
        ("stablehlo.round_nearest_even", "%y", |o| {
            o.y.round_ties_even()
        }),
        ("stablehlo.sign", "%x", |o| o.x.signum()),
    ],
    &[
        ("stablehlo.atan2", "%x, %y", |o| o.x.atan2(o.y)),
        ("chlo.acos", "%u", |o| o.u.acos()),
        ("chlo.acosh", "%c", |o| o.c.acosh()),
    ],
    &[
        ("chlo.asin", "%u", |o| o.u.asin()),
        ("chlo.asinh", "%x", |o| o.x.asinh()),
        ("chlo.atanh", "%u", |o| o.u.atanh()),
    ],
    &[
        ("chlo.cosh", "%x", |o| o.x.cosh()),
        ("chlo.sinh", "%u", |o| o.u.sinh()),
    ],
    &[
        ("chlo.digamma", "%c", |o| digamma(o.c)),
        ("chlo.lgamma", "%y", |o| lgamma(o.y)),
    ],
    &[
        ("chlo.erf", "%x", |o| erf(o.x)),
        ("chlo.erf_inv", "%u", |o| erf_inv(o.u)),
        ("chlo.erfc", "%u", |o| erfc(o.u)),
    ],
];

/// An additional program: a function whose results are concatenated and reduced.
const REDUCED: &str = "the sum of a concatenation of atan";

fn reduced() -> f64 {
    Operands::all(|o| o.y.atan() + o.y).iter().sum()
}

// SAFETY: these functions of the C library take and return a number and have no preconditions;
// `lgamma` writes the sign to a variable that this crate does not read.
unsafe extern "C" {
    safe fn erf(x: f64) -> f64;
    safe fn erfc(x: f64) -> f64;
    safe fn lgamma(x: f64) -> f64;
}

/// The root of `erf(r) = y` by Newton's method.
fn erf_inv(y: f64) -> f64 {
    let step = |r: f64| r - (erf(r) - y) * (r * r).exp() * std::f64::consts::PI.sqrt() / 2.0;
    (0..60).fold(0.0, |r, _| step(r))
}

/// The derivative of `lgamma` for positive numbers: its recurrence, then its asymptotic series.
fn digamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 20.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = 1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0));
    sum + x.ln() - 0.5 / x - square * series
}

impl Client {
    /// Runs every elementwise function on 64 elements of each floating-point type and compares
    /// the results with those of the host. Takes about one second, most of it to compile.
    ///
    /// # Errors
    /// Returns [`Error::WrongNumbers`] for a wrong result, or the plugin's error.
    pub fn check_numbers(self) -> Result<()> {
        thread::scope(|scope| {
            let check = |(ty, tolerance, groups)| {
                scope.spawn(move || self.check_type(ty, tolerance, &GROUPS[..groups]))
            };
            let threads = TYPES.map(check);
            let outcomes = threads.map(|t| t.join().unwrap_or_else(|p| resume_unwind(p)));
            outcomes.into_iter().collect()
        })
    }

    /// Returns the version of [`check_numbers`](Client::check_numbers). Recorded results of other
    /// versions are ignored.
    pub const fn check_version() -> u32 {
        VERSION
    }

    fn check_type(self, ty: ElementType, tolerance: f64, groups: &[&[Function]]) -> Result<()> {
        let error = |function, index, got, expected| {
            let path = self.plugin().path().to_owned();
            Error::WrongNumbers {
                path,
                function,
                ty,
                index,
                got,
                expected,
            }
        };
        // Also false if it is not a number.
        let is_right =
            |got: f64, expected: f64| (got - expected).abs() <= tolerance * expected.abs().max(1.0);
        let results = self.results(ty, groups)?;
        for (group, result) in groups.iter().zip(&results) {
            let expected = |i: usize| group.iter().map(|f| (f.2)(Operands::at(i))).sum();
            let Some(i) = (0..LEN).find(|&i| !is_right(result[i], expected(i))) else {
                continue;
            };
            // Find the function of the group that is wrong.
            for &(name, operands, host) in *group {
                let one: &[Function] = &[(name, operands, host)];
                let got = self.results(ty, &[one])?[0][i];
                let expected = host(Operands::at(i));
                if !is_right(got, expected) {
                    return Err(error(name, i, got, expected));
                }
            }
            return Err(error(group[0].0, i, result[i], expected(i)));
        }
        let got = results[groups.len()][0];
        match is_right(got, reduced()) {
            true => Ok(()),
            false => Err(error(REDUCED, 0, got, reduced())),
        }
    }

    /// The sum of each group's functions, then what is reduced.
    fn results(self, ty: ElementType, groups: &[&[Function]]) -> Result<Vec<Vec<f64>>> {
        let device = self.addressable_devices()[0];
        let operand = BufferType::new(ty, &[LEN as i64]);
        let options = CompileOptions::on_device(device.id());
        let program = self.compile(&program(ty, groups), &options, &[operand; 4], &[])?;
        let operands: [fn(&Operands) -> f64; 4] = [|o| o.x, |o| o.y, |o| o.u, |o| o.c];
        let put = |of: fn(&Operands) -> f64| {
            let bytes: Vec<u8> = Operands::all(of)
                .iter()
                .flat_map(|v| encode(ty, *v))
                .collect();
            self.buffer_from_host(&bytes, operand, device)
        };
        let operands: Vec<Buffer> = operands.into_iter().map(put).collect::<Result<_>>()?;
        let mut results = Vec::new();
        program.execute(&operands.iter().collect::<Vec<_>>(), &[], &mut results)?;
        let read = |result: &Buffer| {
            let mut bytes = vec![0; result.size_bytes()];
            result.copy_to_host(&mut bytes)?;
            let elements = bytes.chunks_exact(encode(ty, 0.0).len());
            Ok(elements.map(|element| decode(ty, element)).collect())
        };
        results.iter().map(read).collect()
    }
}

/// The program of [`Client::results`].
fn program(element: ElementType, groups: &[&[Function]]) -> String {
    let mut body = String::new();
    let mut line = |text: String| body.push_str(&(text + "\n"));
    for (g, group) in groups.iter().enumerate() {
        for (i, (name, operands, _)) in group.iter().enumerate() {
            // The text of a CHLO operation names the types of operands and result.
            let ty = if name.starts_with("chlo.") {
                "!t -> !t"
            } else {
                "!t"
            };
            line(format!("%f{g}_{i} = {name} {operands} : {ty}"));
            match i {
                0 => {}
                1 => line(format!("%s{g}_1 = stablehlo.add %f{g}_0, %f{g}_1 : !t")),
                i => line(format!(
                    "%s{g}_{i} = stablehlo.add %s{g}_{}, %f{g}_{i} : !t",
                    i - 1
                )),
            }
        }
    }
    let last = |(g, group): (usize, &&[Function])| match group.len() {
        1 => format!("%f{g}_0, "),
        n => format!("%s{g}_{}, ", n - 1),
    };
    let results: String = groups.iter().enumerate().map(last).collect();
    let types = "!t, ".repeat(groups.len());
    format!(
        "!s = tensor<{element}>
         !t = tensor<{LEN}x{element}>
         !tt = tensor<{}x{element}>
         module @check_numbers {{
         func.func public @main(%x: !t, %y: !t, %u: !t, %c: !t) -> ({types}!s) {{
         {body}
         %zero = stablehlo.constant dense<0.0> : !s
         %atan = chlo.atan %y : !t -> !t
         %both = stablehlo.concatenate %atan, %y, dim = 0 : (!t, !t) -> !tt
         %sum = stablehlo.reduce(%both init: %zero) applies stablehlo.add across dimensions = [0]
           : (!tt, !s) -> !s
         return {results}%sum : {types}!s
         }} }}",
        2 * LEN
    )
}

/// The bytes of a number that the type represents.
fn encode(ty: ElementType, value: f64) -> Vec<u8> {
    match ty {
        ElementType::F64 => value.to_ne_bytes().to_vec(),
        ElementType::F32 => (value as f32).to_ne_bytes().to_vec(),
        ElementType::Bf16 => bf16::from_f64(value).to_ne_bytes().to_vec(),
        _ => f16::from_f64(value).to_ne_bytes().to_vec(),
    }
}

fn decode(ty: ElementType, bytes: &[u8]) -> f64 {
    let half = || bytes.try_into().expect("2 bytes");
    match ty {
        ElementType::F64 => f64::from_ne_bytes(bytes.try_into().expect("8 bytes")),
        ElementType::F32 => f32::from_ne_bytes(bytes.try_into().expect("4 bytes")).into(),
        ElementType::Bf16 => bf16::from_ne_bytes(half()).into(),
        _ => f16::from_ne_bytes(half()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::{Platform, find};
    use crate::{ClientOptions, Plugin};

    #[test]
    fn operands_are_exact_in_each_type() {
        for (ty, ..) in TYPES {
            for i in 0..LEN {
                let Operands { x, y, u, c } = Operands::at(i);
                for value in [x, y, u, c] {
                    assert_eq!(decode(ty, &encode(ty, value)), value, "{ty}");
                }
            }
        }
    }

    #[test]
    fn special_values_of_halves_are_read() {
        let read = |bits: u16| decode(ElementType::F16, &bits.to_ne_bytes());
        assert_eq!(
            (read(0x3c00), read(0xc000), read(1)),
            (1.0, -2.0, 2f64.powi(-24))
        );
        assert_eq!((read(0x7bff), read(0xfc00)), (65504.0, f64::NEG_INFINITY));
        assert!(read(0x7e00).is_nan());
    }

    #[test]
    fn host_functions_are_right() {
        // Euler's constant, ψ(1/2) and the inverse of erf(0.5).
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-14);
        assert!((digamma(0.5) + 1.963_510_026_021_423_5).abs() < 1e-13);
        assert!((erf_inv(0.520_499_877_813_046_5) - 0.5).abs() < 1e-14);
    }

    #[test]
    fn the_plugin_of_the_tests_is_right() {
        let plugin = Plugin::load(find(Some(Platform::Cpu)).unwrap().path).unwrap();
        let client = Client::new(&plugin, &ClientOptions::new().cpu_device_count(1)).unwrap();
        client.check_numbers().unwrap();
    }
}
