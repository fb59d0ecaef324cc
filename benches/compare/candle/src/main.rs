//! The workloads in Candle, on the CPU, without a BLAS.

#[path = "../../protocol.rs"]
mod protocol;
#[path = "../../sizes.rs"]
mod sizes;

mod cnn;
#[cfg(feature = "generate")]
mod generate;
mod gpt;
mod lstm;
mod mlp;

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{Optimizer, VarBuilder, VarMap};
use protocol::Workload;

/// The collection of a model's parameters.
pub struct Parameters(VarMap);

impl Parameters {
    pub fn new() -> Parameters {
        Parameters(VarMap::new())
    }

    pub fn builder(&self) -> VarBuilder<'static> {
        VarBuilder::from_varmap(&self.0, DType::F32, &Device::Cpu)
    }

    /// Creates a workload that trains the parameters with `loss`. A step is a step of the
    /// optimizer.
    pub fn train<O: Optimizer + 'static>(
        self,
        config: O::Config,
        loss: impl Fn() -> Result<Tensor> + 'static,
    ) -> Result<Workload> {
        let mut optimizer = O::new(self.0.all_vars(), config)?;
        let step = move || {
            let loss = loss().expect("the loss");
            optimizer.backward_step(&loss).expect("a step");
            loss
        };
        Ok(workload(step))
    }
}

/// Creates a workload from a step that returns a tensor with one element.
fn workload(step: impl FnMut() -> Tensor + 'static) -> Workload {
    // Candle computes synchronously on the CPU, so there is nothing to wait for.
    Workload::new(step, |loss| loss.to_scalar().expect("one number"))
}

/// Returns random classes from `0` to `count - 1`.
pub fn classes(count: usize, shape: &[usize]) -> Result<Tensor> {
    Tensor::rand(0f32, count as f32, shape, &Device::Cpu)?.to_dtype(DType::U32)
}

fn scalar() -> Result<Workload> {
    let mut x = Tensor::zeros((), DType::F32, &Device::Cpu)?;
    Ok(workload(move || {
        x = (&x + 1.0).expect("a sum");
        x.clone()
    }))
}

fn main() {
    #[cfg(feature = "generate")]
    if std::env::args().nth(1).is_some_and(|name| name == "generate") {
        return generate::measure(std::env::args().skip(2));
    }
    protocol::main("candle", |name| {
        let work = match name {
            "scalar" => scalar(),
            "xor" => mlp::xor(),
            "digits" => mlp::digits(),
            "cnn" => cnn::build(),
            "gpt" => gpt::build(&sizes::GPT),
            "gpt2" => gpt::build(&sizes::GPT2),
            "lstm" => lstm::build(),
            _ => return None,
        };
        Some(work.expect("the workload"))
    });
}
