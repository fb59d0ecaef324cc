//! `ops`: single operations outside of `jit`, with one line each.

use crate::measure::Plan;
use crate::report::{Line, Times};
use ramie::core::{Array, DType, Result, concatenate, devices, where_};

/// Calls per sample.
const CALLS: usize = 2000;

struct Operands {
    scalar: Array,
    vector: Array,
    matrix: Array,
}

type Operation = (&'static str, fn(&Operands) -> Array);

const OPERATIONS: [Operation; 16] = [
    ("add", |o| &o.vector + &o.vector),
    ("add_scalar", |o| &o.vector + 1.0),
    ("scalar_expression", |o| &o.scalar * 2.0 + 1.0),
    ("exp", |o| o.vector.exp()),
    ("greater", |o| o.vector.gt(0.5)),
    ("where", |o| where_(o.vector.gt(0.5), &o.vector, 0.0)),
    ("astype", |o| o.vector.astype(DType::I32)),
    ("sum", |o| o.vector.sum()),
    ("mean_axis", |o| o.matrix.mean_over(0)),
    ("matmul", |o| o.matrix.matmul(&o.matrix)),
    ("reshape", |o| o.vector.reshape(&[10, 100])),
    ("transpose", |o| o.matrix.t()),
    ("index", |o| o.vector.index(3)),
    ("slice", |o| o.vector.index(10..20)),
    ("concatenate", |o| concatenate(&[&o.vector, &o.vector], 0)),
    ("softmax", |o| o.matrix.softmax(-1)),
];

/// Measures every operation: `CALLS` calls, and one wait for the last result.
pub fn measure(plan: &Plan) -> Result<()> {
    let platform = devices()[0].client().platform_name();
    let steps = plan.steps.unwrap_or(CALLS);
    let vector = Array::linspace(0.0, 1.0, 1000);
    let operands = Operands {
        // On the device, like the other operands; a literal would stay on the host.
        scalar: vector.index(500),
        matrix: Array::linspace(0.0, 1.0, 64 * 64).reshape(&[64, 64]),
        vector,
    };
    for (name, operation) in OPERATIONS {
        for _ in 0..plan.warmup.max(1) {
            operation(&operands).block_until_ready();
        }
        let times = Times::sample(plan, steps, || {
            for _ in 1..steps {
                operation(&operands);
            }
            operation(&operands).block_until_ready();
        });
        Line::of("ops")
            .text("operation", name)
            .text("platform", platform)
            .times(&times)
            .value("steps", steps)
            .print();
    }
    Ok(())
}
