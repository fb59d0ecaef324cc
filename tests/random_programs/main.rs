//! Random programs under random transformations, compared with a plain
//! interpreter.
//!
//! A case is made of a number: a program of 5 to 30 operations on arrays of
//! random shapes, which may hold loops, choices and nested functions, and a
//! stack of transformations around it. The library runs the transformed
//! program; the interpreter in `host.rs` runs the program by loops over
//! elements, once for each example and each direction of a derivative.
//!
//! ```text
//! RAMIE_RANDOM_PROGRAMS=5000 cargo test --test random_programs        # more cases
//! RAMIE_RANDOM_PROGRAMS_SEED=1234 cargo test --test random_programs   # this one
//! ```
//!
//! With both, it is as many from that one on.
//!
//! A case that fails is made smaller as long as it fails, and shown.
//!
//! A second test, in `ways.rs`, runs programs of every dtype without
//! transformations in four ways, which must agree.

mod device;
mod generate;
mod host;
mod nested;
mod number;
mod program;
mod rng;
mod shrink;
mod stack;
mod typed;
mod typed_host;
mod ways;

use host::Tensor;
use program::{Kind, Program, Type};
use ramie::options::RuntimeOptions;
use ramie::{Array, configure, jit};
use ramie_testing::caught;
use rng::Rng;
use stack::Transform;
use std::cell::Cell;
use std::sync::Once;

/// Cases without the variable.
const CASES: u64 = 100;
/// Programs of every dtype without the variable.
const PROGRAMS: u64 = 40;

/// A program, what is around it, and its inputs.
#[derive(Clone)]
struct Case {
    program: Program,
    stack: Vec<Transform>,
    /// Whether the whole is compiled; otherwise its operations run one by one.
    compiled: bool,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut rng = Rng(seed);
        let mut inputs = vec![Type::new(Kind::F64, &generate::shape(&mut rng))];
        for _ in 0..1 + rng.below(3) {
            let kind = rng.pick(&[Kind::F64, Kind::F64, Kind::I32, Kind::Bool]);
            inputs.push(Type::new(kind, &generate::shape(&mut rng)));
        }
        let compiled = rng.chance(90);
        // Each operation that runs alone is compiled alone.
        let length = if compiled {
            5 + rng.below(26)
        } else {
            3 + rng.below(4)
        };
        let (depth, most) = if compiled { (2, 4) } else { (1, 2) };
        let loops = rng.chance(20);
        let program = generate::program(&mut rng, inputs, length, depth, loops, None);
        let stack = stack::generate(&mut rng, &program, most);
        Case {
            program,
            stack,
            compiled,
        }
    }

    fn inputs(&self) -> Vec<(Tensor, Kind)> {
        let types = stack::signature(&self.program, &self.stack).inputs;
        let input = |(i, ty): (usize, &Type)| (ty.pattern(1000 + i as u64), ty.kind);
        types.iter().enumerate().map(input).collect()
    }

    fn arrays(&self) -> Vec<Array> {
        self.inputs()
            .iter()
            .map(|(t, kind)| device::array(t, *kind))
            .collect()
    }

    fn function(&self) -> stack::Function {
        stack::on_arrays(&self.program, &self.stack)
    }

    /// What is wrong with the library's result, if anything is.
    fn check(&self) -> Outcome {
        let inputs: Vec<Tensor> = self.inputs().into_iter().map(|(t, _)| t).collect();
        number::take_ambiguous();
        let expected = stack::on_host(&self.program, &self.stack, &inputs, 0);
        let ambiguous = number::take_ambiguous();
        let expected: Vec<f64> = expected.data.iter().map(|x| x.value).collect();
        if expected.iter().any(|x| !x.is_finite() || x.abs() > 1e6) {
            return Outcome::Skipped;
        }
        let got = quietly(|| {
            let f = self.function();
            let out = if self.compiled {
                jit(move |xs: Vec<Array>| f(xs))(self.arrays())
            } else {
                f(self.arrays())
            };
            out.to_vec::<f64>()
        });
        let got = match got {
            Ok(got) => got,
            Err(message) => return Outcome::Wrong(format!("it panics: {message}")),
        };
        let scale = expected.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-7 * scale;
        if got.len() == expected.len() && got.iter().zip(&expected).all(close) {
            Outcome::Right
        } else if ambiguous {
            Outcome::Skipped
        } else {
            Outcome::Wrong(format!("expected {expected:?}\n  but got {got:?}"))
        }
    }

    /// The case in words.
    fn show(&self) -> String {
        let mut text = format!("transformations, innermost first: {:?}\n", self.stack);
        if !self.compiled {
            text.push_str("run operation by operation\n");
        }
        for line in self.program.live() {
            text.push_str(&format!("  {line}\n"));
        }
        let f = self.function();
        let jaxpr =
            quietly(|| ramie::make_jaxpr(move |xs: Vec<Array>| f(xs))(self.arrays()).to_string());
        match jaxpr {
            Ok(jaxpr) => text + &jaxpr,
            Err(message) => format!("{text}it cannot be traced: {message}"),
        }
    }
}

enum Outcome {
    Right,
    /// Rounding decides about the result, or it is no finite number.
    Skipped,
    Wrong(String),
}

thread_local! { static QUIET: Cell<bool> = const { Cell::new(false) }; }

/// Runs `f`; a panic gives its message and is not shown.
fn quietly<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    QUIET.set(true);
    let result = caught(f);
    QUIET.set(false);
    result
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is {text:?}; expected a number")),
    )
}

/// The numbers of the cases to run, at most `most` without a variable.
fn seeds(most: u64) -> std::ops::Range<u64> {
    let first = variable("RAMIE_RANDOM_PROGRAMS_SEED");
    let many = variable("RAMIE_RANDOM_PROGRAMS");
    let many = many.unwrap_or(if first.is_some() { 1 } else { most });
    let first = first.unwrap_or(0);
    first..first + many
}

/// Prepares the process for programs that are met once, and for panics that are
/// results.
fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Keeping these programs would fill the user's cache.
        let options = RuntimeOptions {
            compilation_cache: Some(false),
            ..Default::default()
        };
        configure(options).expect("the runtime is not in use yet");
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                hook(info);
            }
        }));
    });
}

#[test]
fn transformed_programs_compute_what_the_interpreter_computes() {
    prepare();
    let seeds = seeds(CASES);
    let count = seeds.end - seeds.start;
    let (mut skipped, mut wrong) = (0, Vec::new());
    for seed in seeds {
        let case = Case::new(seed);
        match case.check() {
            Outcome::Right => {}
            Outcome::Skipped => skipped += 1,
            Outcome::Wrong(_) => {
                let (case, why) = shrink::smallest(case);
                wrong.push(format!("seed {seed}: {why}\n{}", case.show()));
            }
        }
        if wrong.len() >= 5 {
            break;
        }
    }
    println!("{count} cases, {skipped} without a definite result");
    assert!(
        wrong.is_empty(),
        "{} failures\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
    assert!(
        skipped * 4 <= count,
        "{skipped} of {count} cases say nothing"
    );
}

#[test]
fn programs_of_every_dtype_agree_in_four_ways() {
    prepare();
    let seeds = seeds(PROGRAMS);
    let count = seeds.end - seeds.start;
    let mut wrong = Vec::new();
    for seed in seeds {
        if seed % 500 == 499 {
            ramie::clear_caches();
        }
        if ways::Case::new(seed).check().is_err() {
            let (case, why) = ways::Case::new(seed).smallest();
            wrong.push(format!("seed {seed}: {why}\n{}", case.show()));
        }
        if wrong.len() >= 8 {
            break;
        }
    }
    println!("{count} programs, each {}", ways::WAYS.join(", "));
    assert!(
        wrong.is_empty(),
        "{} failures\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}
