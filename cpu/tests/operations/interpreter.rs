//! The values of the tests of StableHLO's reference interpreter.

use half::{bf16, f16};
use ramie_cpu::{Buffer, ElementType};
use std::path::Path;

/// Programs that do not run, by the start of their names, with the reason.
const LEFT: &[(&str, &str)] = &[
    (
        "chlo_ragged_dot/",
        "Ramie and JAX lower it to other operations on CPUs",
    ),
    (
        "chlo_scan/",
        "Ramie and JAX lower it to other operations on CPUs",
    ),
    (
        "interpret_constant/constant_op_test_f6_",
        "neither Ramie nor JAX has types of 6 bits",
    ),
    ("interpret_dynamic_broadcast_in_dim/", "shapes are static"),
    ("interpret_dynamic_conv/", "shapes are static"),
    ("interpret_dynamic_gather/", "shapes are static"),
    ("interpret_dynamic_iota/", "shapes are static"),
    ("interpret_dynamic_pad/", "shapes are static"),
    ("interpret_dynamic_reshape/", "shapes are static"),
    ("interpret_all_gather/", "runs on several devices"),
    ("interpret_all_reduce/", "runs on several devices"),
    ("interpret_all_to_all/", "runs on several devices"),
    ("interpret_collective_broadcast/", "runs on several devices"),
    ("interpret_collective_permute/", "runs on several devices"),
    ("interpret_collective_reduce/", "runs on several devices"),
    ("interpret_partition_id/", "runs on several devices"),
    ("interpret_reduce_scatter/", "runs on several devices"),
    ("interpret_replica_id/", "runs on several devices"),
    ("interpret_infeed/", "operands come from the caller only"),
    (
        "interpret_send_recv/",
        "devices run one program, which has collectives for that",
    ),
];

/// How closely a result must agree with the expected value.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Equal,
    Within(f64),
    Ulps(f64),
}

impl Bound {
    fn parse(text: &str) -> Bound {
        match text.trim().split_once(' ') {
            None if text.trim() == "equal" => Bound::Equal,
            Some(("within", bound)) => Bound::Within(bound.parse().unwrap()),
            Some(("ulps", bound)) => Bound::Ulps(bound.parse().unwrap()),
            _ => panic!("unknown bound {text}"),
        }
    }

    fn holds(self, x: f64, y: f64, element: ElementType) -> bool {
        if x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()) {
            return true;
        }
        match self {
            Bound::Equal => false,
            Bound::Within(bound) => (x - y).abs() <= bound,
            Bound::Ulps(bound) => (x - y).abs() <= bound * ulp(y, element),
        }
    }
}

/// Returns the distance of neighboring numbers of the type at `x`.
fn ulp(x: f64, element: ElementType) -> f64 {
    let (digits, smallest) = match element {
        ElementType::F64 | ElementType::C128 => (52.0, -1074.0),
        ElementType::F16 => (10.0, -24.0),
        ElementType::Bf16 => (7.0, -133.0),
        _ => (23.0, -149.0),
    };
    f64::exp2((x.abs().log2().floor() - digits).max(smallest))
}

/// Returns elements as real numbers; complex ones are two. Other types have no numbers here.
fn numbers(buffer: &Buffer) -> Option<Vec<f64>> {
    let bytes = buffer.bytes();
    macro_rules! read {
        ($t:ty, $n:literal, $f:expr) => {
            bytes
                .chunks_exact($n)
                .map(|b| $f(<$t>::from_le_bytes(b.try_into().unwrap())))
                .collect()
        };
    }
    Some(match buffer.ty().element {
        ElementType::F64 | ElementType::C128 => read!(f64, 8, |x| x),
        ElementType::F32 | ElementType::C64 => read!(f32, 4, f64::from),
        ElementType::F16 => read!(f16, 2, f64::from),
        ElementType::F8E8M0Fnu => bytes
            .iter()
            .map(|b| f64::exp2(f64::from(*b) - 127.0))
            .collect(),
        ElementType::Bf16 => read!(bf16, 2, f64::from),
        _ => return None,
    })
}

/// Returns what is wrong with a result.
fn difference(got: &Buffer, expected: &Buffer, bound: Bound) -> Option<String> {
    if got.ty() != expected.ty() {
        return Some(format!("type {}, expected {}", got.ty(), expected.ty()));
    }
    let (Some(x), Some(y)) = (numbers(got), numbers(expected)) else {
        return (got.bytes() != expected.bytes())
            .then(|| format!("{:?}, expected {:?}", got.bytes(), expected.bytes()));
    };
    let element = got.ty().element;
    let wrong = (0..x.len()).find(|i| !bound.holds(x[*i], y[*i], element))?;
    Some(format!(
        "element {wrong} is {:e}, expected {:e} ({bound:?})",
        x[wrong], y[wrong]
    ))
}

/// Runs one program and returns what is wrong.
fn check(case: &str) -> Result<(), String> {
    let (head, text) = case.split_once('\n').expect("a head and a program");
    let (_, bounds) = head.rsplit_once(": ").expect("a name and bounds");
    let bounds: Vec<Bound> = bounds.split(',').map(Bound::parse).collect();
    let program = ramie_cpu::Program::compile(text).map_err(|e| e.to_string())?;
    let results = program.run(&[]).map_err(|e| e.to_string())?;
    let (got, expected) = results.split_at(bounds.len());
    let pairs = got.iter().zip(expected).zip(&bounds);
    let wrong: Vec<String> = pairs
        .filter_map(|((got, expected), bound)| difference(got, expected, *bound))
        .collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("; "))
    }
}

/// Returns the programs, each with its name and a line with its bounds before it.
pub fn cases() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/interpreter");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let file = path.file_stem().unwrap().to_string_lossy().into_owned();
        for case in std::fs::read_to_string(&path).unwrap().split("// -----\n") {
            let name = case.trim_start_matches("// ").split(':').next().unwrap();
            cases.push((format!("{file}/{name}"), case.to_owned()));
        }
    }
    cases
}

#[test]
fn results_are_those_of_the_reference_interpreter() {
    let (cases, mut failures) = (cases(), Vec::new());
    for (name, case) in &cases {
        let left = LEFT.iter().find(|(start, _)| name.starts_with(start));
        match (check(case), left) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Err(e), None) => failures.push(format!("{name}: {e}")),
            (Ok(()), Some((start, _))) => {
                failures.push(format!("{name} runs: remove {start} from the list"))
            }
        }
    }
    let count = cases.len();
    assert!(count > 500, "only {count} programs were found");
    assert!(
        failures.is_empty(),
        "{} of {count} fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
