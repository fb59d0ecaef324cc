//! Counting of a program's floating-point operations.

use crate::error::{ErrorCode, Result};
use crate::hlo::{field, int, ints, messages, string};
use crate::unloaded::UnloadedExecutable;
use crate::value::Value;
use std::collections::HashMap;

impl UnloadedExecutable {
    /// Returns the number of floating-point operations of a run on each device, with every loop
    /// body counted once. This is the plugin's estimate from
    /// [`cost_analysis`](UnloadedExecutable::cost_analysis). If the plugin has no estimate, as
    /// for CUDA, it is the number of operations of the matrix products and convolutions in the
    /// compiled program.
    ///
    /// # Errors
    /// Returns the plugin's error, or `Unimplemented` if the program's format is unknown.
    pub fn flops(&self) -> Result<f64> {
        let estimates = match self.cost_analysis() {
            Err(error) if error.code() == ErrorCode::Unimplemented => Vec::new(),
            other => other?,
        };
        let estimate = estimates.iter().find(|(name, _)| name == "flops");
        match estimate {
            Some((_, Value::F32(flops))) => Ok(f64::from(*flops)),
            _ => Ok(of_module(&self.module()?)),
        }
    }
}

/// Returns the number of operations of the products in a module.
fn of_module(module: &[u8]) -> f64 {
    let of_computation = |computation| {
        let instructions: Vec<&[u8]> = messages(computation, 2).collect();
        let shapes = instructions.iter().map(|i| (int(i, 35), shape(i)));
        let shapes: HashMap<i64, Vec<i64>> = shapes.collect();
        let of_product = |i: &&[u8]| product(i, &shapes).unwrap_or(0.0);
        instructions.iter().map(of_product).sum::<f64>()
    };
    messages(module, 3).map(of_computation).sum()
}

/// Returns the dimensions of an instruction's result, or of the first part of a tuple.
fn shape(instruction: &[u8]) -> Vec<i64> {
    let Some(shape) = field(instruction, 3) else {
        return Vec::new();
    };
    let shape = shape.bytes();
    ints(messages(shape, 4).next().unwrap_or(shape), 3)
}

fn size(dims: &[i64]) -> f64 {
    dims.iter().map(|d| *d as f64).product()
}

/// Returns the number of operations of a matrix product or convolution: two for each element of
/// the result and each element summed over for it.
fn product(instruction: &[u8], shapes: &HashMap<i64, Vec<i64>>) -> Option<f64> {
    let result = shape(instruction);
    let operands = ints(instruction, 36);
    let operand = |i: usize| shapes.get(operands.get(i)?);
    let sum_over = |contracted: &[i64]| {
        let lhs = operand(0)?;
        let sizes = contracted.iter().map(|&d| lhs.get(d as usize).copied());
        let sizes: Vec<i64> = sizes.collect::<Option<_>>()?;
        Some(2.0 * size(&result) * size(&sizes))
    };
    // Multiplies the sizes of the convolution's output and of its filter. In the forward and
    // backward passes, each output feature uses its own part of the filter.
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
        ("convolution", _) => convolved(&result, operand(1)?),
        ("custom-call", target) if target.starts_with("__cublas$") => {
            sum_over(&contracted(&string(instruction, 43)))
        }
        ("custom-call", target) if target.starts_with("__cudnn$conv") => {
            match target.trim_start_matches("__cudnn$conv") {
                "BackwardInput" => convolved(operand(0)?, operand(1)?),
                "BackwardFilter" => convolved(operand(1)?, &result),
                _ => convolved(&result, operand(1)?),
            }
        }
        _ => None,
    }
}

/// Returns the contracted axes of the left operand from the configuration of a library call.
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

    /// Returns a module of two parameters `a` and `b` and the instruction created by `add`.
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
        assert_eq!(of_module(&dot), 2.0 * 4.0 * 3.0 * 7.0 * 5.0);
        let library = module(&[3, 5], &[5, 7], &[3, 7], |i| {
            i.bytes(2, b"custom-call");
            i.bytes(28, b"__cublas$lt$matmul");
            i.bytes(43, b"{\"lhs_contracting_dimensions\":[\"1\"],\"x\":[]}");
        });
        assert_eq!(of_module(&library), 2.0 * 3.0 * 7.0 * 5.0);
        for cut in 0..library.len() {
            of_module(&library[..cut]);
        }
    }

    #[test]
    fn convolutions_count_forward_as_backward() {
        // Two images of 8×8 pixels and 3 features; 5 filters of 3×3 pixels.
        let (images, filter, given) = ([2, 8, 8, 3], [3, 3, 3, 5], [2, 6, 6, 5]);
        let features = |i: &mut Writer| i.message(16, |numbers| numbers.int(4, 3));
        let expected = 2.0 * (2.0 * 6.0 * 6.0 * 5.0) * (3.0 * 3.0 * 3.0);
        let own = module(&images, &filter, &given, |i| {
            i.bytes(2, b"convolution");
            features(i);
        });
        assert_eq!(of_module(&own), expected);
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
            assert_eq!(of_module(&call), expected, "{kind}");
        }
    }
}
