//! The cost of a compiled program, counted from its operations.
//!
//! Some plugins estimate costs (`PJRT_Executable_GetCostAnalysis`), others do not. For the latter,
//! this module applies the rules of XLA's `HloCostAnalysis`: an elementwise operation counts one for
//! each element of its result, as a floating-point operation or as a transcendental function;
//! matrix products and convolutions count two for each pair that is multiplied; a loop counts once.

use crate::collectives::bytes_of_shape;
use crate::hlo::{field, int, ints, messages, string};
use std::collections::HashMap;
use std::ops::AddAssign;

/// Depth of nested computations, which in a damaged program could contain themselves.
const DEEPEST: usize = 64;

/// The cost of one run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Floating-point operations.
    pub flops: f64,
    /// Values of transcendental functions.
    pub transcendentals: f64,
    /// Bytes that the operations read and write.
    pub bytes: f64,
}

impl Cost {
    fn times(self, n: f64) -> Cost {
        Cost {
            flops: self.flops * n,
            transcendentals: self.transcendentals * n,
            bytes: self.bytes,
        }
    }

    /// The larger of each.
    fn or(self, other: Cost) -> Cost {
        Cost {
            flops: self.flops.max(other.flops),
            transcendentals: self.transcendentals.max(other.transcendentals),
            bytes: self.bytes.max(other.bytes),
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.flops += other.flops;
        self.transcendentals += other.transcendentals;
        self.bytes += other.bytes;
    }
}

/// Returns the cost of a run of a module (`HloModuleProto`).
pub fn of_module(module: &[u8]) -> Cost {
    let computations: HashMap<i64, &[u8]> = messages(module, 3).map(|c| (int(c, 5), c)).collect();
    let entry = int(module, 6);
    Module { computations }.of_computation(entry, DEEPEST)
}

struct Module<'a> {
    computations: HashMap<i64, &'a [u8]>,
}

/// The results of the instructions of a computation, by number.
type Shapes<'a> = HashMap<i64, &'a [u8]>;

/// Operations that compute nothing and move nothing.
const FREE: [&str; 12] = [
    "add-dependency",
    "after-all",
    "bitcast",
    "constant",
    "domain",
    "get-tuple-element",
    "opt-barrier",
    "parameter",
    "partition-id",
    "replica-id",
    "tuple",
    "get-dimension-size",
];

/// Operations that only move elements.
const MOVES: [&str; 23] = [
    "all-gather",
    "all-to-all",
    "broadcast",
    "collective-broadcast",
    "collective-permute",
    "concatenate",
    "copy",
    "copy-done",
    "copy-start",
    "custom-call",
    "dynamic-slice",
    "dynamic-update-slice",
    "gather",
    "infeed",
    "iota",
    "outfeed",
    "pad",
    "recv",
    "reshape",
    "reverse",
    "send",
    "slice",
    "transpose",
];

const TRANSCENDENTALS: [&str; 16] = [
    "atan2",
    "cbrt",
    "cosine",
    "erf",
    "exponential",
    "exponential-minus-one",
    "log",
    "log-plus-one",
    "logistic",
    "power",
    "rng",
    "rsqrt",
    "sine",
    "sqrt",
    "tan",
    "tanh",
];

impl Module<'_> {
    fn of_computation(&self, id: i64, depth: usize) -> Cost {
        let mut cost = Cost::default();
        let Some(computation) = self.computations.get(&id).filter(|_| depth > 0) else {
            return cost;
        };
        let instructions: Vec<&[u8]> = messages(computation, 2).collect();
        let shapes = instructions
            .iter()
            .filter_map(|i| Some((int(i, 35), field(i, 3)?.bytes())));
        let shapes: Shapes<'_> = shapes.collect();
        for instruction in instructions {
            cost += self.of_instruction(instruction, &shapes, depth - 1);
        }
        cost
    }

    fn of_instruction(&self, instruction: &[u8], shapes: &Shapes<'_>, depth: usize) -> Cost {
        let opcode = string(instruction, 2);
        // What begins by itself ends in an operation of another name.
        let opcode = opcode.strip_suffix("-start").unwrap_or(&opcode);
        if FREE.contains(&opcode) || opcode.ends_with("-done") || opcode.ends_with("-update") {
            return Cost::default();
        }
        let called = ints(instruction, 38);
        let of_called = |i: usize| {
            let id = called.get(i).copied().unwrap_or_default();
            self.of_computation(id, depth)
        };
        match opcode {
            "call" | "while" | "async" => {
                let mut cost = Cost::default();
                (0..called.len()).for_each(|i| cost += of_called(i));
                return cost;
            }
            "conditional" => {
                return (0..called.len())
                    .map(of_called)
                    .fold(Cost::default(), Cost::or);
            }
            _ => {}
        }
        let operand = Operands {
            ids: ints(instruction, 36),
            shapes,
        };
        let result = field(instruction, 3).map_or(&[][..], |shape| shape.bytes());
        let elements = size(&dims(result));
        let mut cost = match opcode {
            "fusion" => of_called(0),
            "map" => of_called(0).times(elements),
            "reduce" => of_called(0).times((operand.size(0) - elements).max(0.0)),
            "reduce-window" => of_called(0).times(elements * (window(instruction) - 1.0)),
            "select-and-scatter" => {
                let mut cost = of_called(0).times(operand.size(1) * (window(instruction) - 1.0));
                cost += of_called(1).times(operand.size(1));
                cost
            }
            "scatter" => of_called(0).times(operand.size(operand.ids.len() / 2 + 1)),
            _ => of_operation(opcode, instruction, &operand, &dims(result)),
        };
        cost.bytes = traffic(opcode, result, &operand);
        cost
    }
}

/// The operations of an instruction that calls no computation.
fn of_operation(opcode: &str, instruction: &[u8], operand: &Operands<'_>, dims: &[i64]) -> Cost {
    let elements = size(dims);
    let last = |dims: &[i64]| dims.last().map_or(1.0, |&n| n as f64);
    let flops = match opcode {
        "sort" => operand.size(0) * operand.size(0).max(1.0).log2().ceil(),
        "triangular-solve" => 2.0 * elements * last(&operand.dims(0)),
        "cholesky" => elements * last(dims) / 3.0,
        "fft" => 5.0 * elements * elements.max(1.0).log2().ceil(),
        _ => match product(instruction, operand) {
            Some(flops) => flops,
            None if MOVES.contains(&opcode) => 0.0,
            None if TRANSCENDENTALS.contains(&opcode) => {
                return Cost {
                    transcendentals: elements,
                    ..Cost::default()
                };
            }
            None => elements,
        },
    };
    Cost {
        flops,
        ..Cost::default()
    }
}

/// Bytes that an instruction reads and writes.
fn traffic(opcode: &str, result: &[u8], operands: &Operands<'_>) -> f64 {
    let written = bytes_of_shape(result) as f64;
    match opcode {
        // Only the part that is read or written counts.
        "slice" | "dynamic-slice" | "gather" => 2.0 * written,
        "dynamic-update-slice" => 2.0 * operands.bytes(1),
        _ => {
            let read = (0..operands.ids.len()).map(|i| operands.bytes(i));
            written + read.sum::<f64>()
        }
    }
}

struct Operands<'a> {
    ids: Vec<i64>,
    shapes: &'a Shapes<'a>,
}

impl Operands<'_> {
    fn shape(&self, i: usize) -> &[u8] {
        let shape = self.ids.get(i).and_then(|id| self.shapes.get(id));
        shape.copied().unwrap_or_default()
    }

    fn dims(&self, i: usize) -> Vec<i64> {
        dims(self.shape(i))
    }

    fn size(&self, i: usize) -> f64 {
        size(&self.dims(i))
    }

    fn bytes(&self, i: usize) -> f64 {
        bytes_of_shape(self.shape(i)) as f64
    }
}

/// The dimensions of an array, or of the first part of a tuple.
fn dims(shape: &[u8]) -> Vec<i64> {
    ints(messages(shape, 4).next().unwrap_or(shape), 3)
}

fn size(dims: &[i64]) -> f64 {
    dims.iter().map(|d| *d as f64).product()
}

/// The number of elements in the window of an instruction.
fn window(instruction: &[u8]) -> f64 {
    let Some(window) = field(instruction, 15) else {
        return 1.0;
    };
    messages(window.bytes(), 1)
        .map(|d| int(d, 1) as f64)
        .product()
}

/// Operations of an instruction that multiplies matrices or convolves: two for each
/// element of the result and each element that is summed over for it.
fn product(instruction: &[u8], operands: &Operands<'_>) -> Option<f64> {
    let result = dims(field(instruction, 3)?.bytes());
    let sum_over = |contracted: &[i64]| {
        let lhs = operands.dims(0);
        let sizes = contracted.iter().map(|&d| lhs.get(d as usize).copied());
        let sizes: Vec<i64> = sizes.collect::<Option<_>>()?;
        Some(2.0 * size(&result) * size(&sizes))
    };
    // Of what a convolution gives, and of its filter: forward as backward these two
    // are multiplied, but for each feature of the result its own part of the filter.
    let convolved = |given: &[i64], filter: &[i64]| {
        let features = field(instruction, 16).map_or(0, |n| int(n.bytes(), 4));
        let features = *filter.get(usize::try_from(features).ok()?)? as f64;
        Some(2.0 * size(given) * size(filter) / features.max(1.0))
    };
    match (&*string(instruction, 2), &*string(instruction, 28)) {
        ("dot", _) => {
            let numbers = field(instruction, 30)?;
            sum_over(&ints(numbers.bytes(), 1))
        }
        ("convolution", _) => convolved(&result, &operands.dims(1)),
        ("custom-call", target) if target.starts_with("__cublas$") => {
            sum_over(&contracted(&string(instruction, 43)))
        }
        ("custom-call", target) if target.starts_with("__cudnn$conv") => {
            match target.trim_start_matches("__cudnn$conv") {
                "BackwardInput" => convolved(&operands.dims(0), &operands.dims(1)),
                "BackwardFilter" => convolved(&operands.dims(1), &result),
                _ => convolved(&result, &operands.dims(1)),
            }
        }
        _ => None,
    }
}

/// The axes of the left operand that a product sums over, in the configuration that
/// the compiler gives a call of a library.
fn contracted(config: &str) -> Vec<i64> {
    let list = || {
        let (_, after) = config.split_once("\"lhs_contracting_dimensions\":[")?;
        after.split(']').next()
    };
    let numbers = list().unwrap_or("").split(',');
    let number = |text: &str| text.trim_matches('"').parse().ok();
    numbers.filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::Writer;

    /// A module of two parameters `a` and `b`, and what `add` makes of them.
    fn module(a: &[u8], b: &[u8], result: &[u8], add: impl Fn(&mut Writer)) -> Vec<u8> {
        let mut module = Writer::default();
        module.message(3, |c| {
            let parameters = [(1, a), (2, b)];
            for (id, dims) in parameters {
                c.message(2, |i| {
                    i.bytes(2, b"parameter");
                    i.message(3, |shape| shape.bytes(3, dims));
                    i.int(35, id);
                });
            }
            c.message(2, |i| {
                i.message(3, |shape| shape.bytes(3, result));
                i.int(35, 3);
                i.bytes(36, &[1, 2]);
                add(i);
            });
        });
        module.0
    }

    #[test]
    fn products_count_two_for_each_pair() {
        let dot = module(&[4, 3, 5], &[4, 5, 7], &[4, 3, 7], |i| {
            i.bytes(2, b"dot");
            i.message(30, |numbers| numbers.bytes(1, &[2]));
        });
        assert_eq!(of_module(&dot).flops, 2.0 * 4.0 * 3.0 * 7.0 * 5.0);
        let library = module(&[3, 5], &[5, 7], &[3, 7], |i| {
            i.bytes(2, b"custom-call");
            i.bytes(28, b"__cublas$lt$matmul");
            i.bytes(43, b"{\"lhs_contracting_dimensions\":[\"1\"],\"x\":[]}");
        });
        assert_eq!(of_module(&library).flops, 2.0 * 3.0 * 7.0 * 5.0);
        for cut in 0..library.len() {
            of_module(&library[..cut]);
        }
    }

    #[test]
    fn convolutions_count_forward_as_backward() {
        // 2 images of 8×8 pixels and 3 features, 5 filters of 3×3 pixels.
        let (images, filter, given) = ([2, 8, 8, 3], [3, 3, 3, 5], [2, 6, 6, 5]);
        let features = |i: &mut Writer| i.message(16, |numbers| numbers.int(4, 3));
        let expected = 2.0 * (2.0 * 6.0 * 6.0 * 5.0) * (3.0 * 3.0 * 3.0);
        let own = module(&images, &filter, &given, |i| {
            i.bytes(2, b"convolution");
            features(i);
        });
        assert_eq!(of_module(&own).flops, expected);
        let cases = [
            ("Forward", images, filter, given),
            ("BackwardInput", given, filter, images),
            ("BackwardFilter", images, given, filter),
        ];
        for (kind, a, b, result) in cases {
            let call = module(&a, &b, &result, |i| {
                i.bytes(2, b"custom-call");
                i.bytes(28, format!("__cudnn$conv{kind}").as_bytes());
                features(i);
            });
            assert_eq!(of_module(&call).flops, expected, "{kind}");
        }
    }
}
