//! Results of operations, as StableHLO's specification and XLA define them.

mod arrays;
mod collectives;
mod control;
mod convolutions;
#[path = "../common/damage.rs"]
mod damages;
mod elementwise;
mod hostile;
mod hosts;
mod interpreter;
mod numerics;
mod owned;
mod picking;
mod products;
mod recompute;
mod reductions;
mod rows;
mod single;
mod small;
mod threads;

use bytemuck::Pod;
use ramie_cpu::{Buffer, ElementType, Program, TensorType};

/// Numbers that look random, the same in every run.
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

/// Returns the type of a tensor.
pub fn ty(shape: &[usize], element: ElementType) -> TensorType {
    TensorType::new(shape, element)
}

/// Returns a buffer of elements.
pub fn buffer<T: Pod>(shape: &[usize], element: ElementType, data: &[T]) -> Buffer {
    Buffer::from_bytes(ty(shape, element), bytemuck::cast_slice(data)).unwrap()
}

/// Returns the elements of a buffer.
pub fn elements<T: Pod>(buffer: &Buffer) -> Vec<T> {
    bytemuck::pod_collect_to_vec(buffer.bytes())
}

/// Runs a program and returns its results.
pub fn run(text: &str, arguments: &[Buffer]) -> Vec<Buffer> {
    let program = Program::compile(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    program.run(&arguments.iter().collect::<Vec<_>>()).unwrap()
}

/// Returns the text of a function `@main`: its signature and its lines.
pub fn function(signature: &str, body: &str) -> String {
    format!("module @test {{\n  func.func public @main{signature} {{\n{body}\n  }}\n}}\n")
}

/// Applies an operation of one or two operands of a type and returns the elements of the result.
pub fn apply<T: Pod, R: Pod>(
    name: &str,
    from: ElementType,
    to: ElementType,
    operands: &[&[T]],
) -> Vec<R> {
    let n = operands[0].len();
    let (a, b) = (format!("tensor<{n}x{from}>"), format!("tensor<{n}x{to}>"));
    let names: Vec<String> = (0..operands.len()).map(|i| format!("%arg{i}")).collect();
    let parameters: Vec<String> = names.iter().map(|x| format!("{x}: {a}")).collect();
    let types = vec![a.as_str(); names.len()].join(", ");
    let body = format!(
        "%0 = \"{name}\"({}) : ({types}) -> {b}\nreturn %0 : {b}",
        names.join(", ")
    );
    let text = function(&format!("({}) -> {b}", parameters.join(", ")), &body);
    let arguments: Vec<Buffer> = operands.iter().map(|x| buffer(&[n], from, x)).collect();
    elements(&run(&text, &arguments)[0])
}
