//! LoRA adapters in the files of `peft`.

use super::files::{first_in, read_config, unsupported, write};
use super::{Pretrained, PretrainedError, Weights};
use ramie_core::text::type_name;
use ramie_core::{Array, concatenate};
use ramie_nn::{LoraAdapter, LoraParam, Param};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const CONFIG: &str = "adapter_config.json";
const WEIGHTS: &str = "adapter_model.safetensors";

/// The names of all modules in these files begin with it.
const PREFIX: &str = "base_model.model.";

/// The entries of a configuration that determine the factors of adapters. Their ranks are those
/// of their tensors.
#[derive(Deserialize)]
#[serde(default)]
struct Factors {
    lora_alpha: f64,
    /// Exceptions for modules whose names end with these.
    alpha_pattern: BTreeMap<String, f64>,
    /// Whether factors are divided by the square root of the rank instead of the rank.
    use_rslora: bool,
}

impl Default for Factors {
    fn default() -> Factors {
        Factors {
            lora_alpha: 8.0,
            alpha_pattern: BTreeMap::new(),
            use_rslora: false,
        }
    }
}

impl Factors {
    fn read(path: &Path) -> Result<Factors, PretrainedError> {
        let factors: Factors = read_config(path)?;
        let literal = |c: char| c.is_alphanumeric() || "._".contains(c);
        match factors
            .alpha_pattern
            .keys()
            .find(|name| !name.chars().all(literal))
        {
            Some(pattern) => Err(unsupported(path, "alpha_pattern", pattern)),
            None => Ok(factors),
        }
    }

    /// Returns the factor of the adapter of a module.
    fn of(&self, module: &str, rank: usize) -> f64 {
        let mut exceptions = self.alpha_pattern.iter();
        let found = exceptions.find(|(name, _)| {
            let rest = module.strip_suffix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        });
        let alpha = found.map_or(self.lora_alpha, |(_, alpha)| *alpha);
        if self.use_rslora {
            alpha / (rank as f64).sqrt()
        } else {
            alpha / rank as f64
        }
    }
}

/// The factors of the adapters that layers read, and the modules of the adapters that they write.
#[derive(Default)]
pub(super) struct Adapters {
    /// Those of the files that are read.
    factors: Factors,
    /// The modules of the model that is written.
    modules: Vec<Module>,
}

/// A module of a model, and the rank and alpha of its adapter, if it has one.
struct Module {
    name: String,
    adapter: Option<(usize, f64)>,
    inputs_first: bool,
}

/// A layer that can have an adapter.
pub(super) struct Slot<'a> {
    inputs: usize,
    outputs: usize,
    adapter: &'a mut Option<LoraAdapter>,
}

impl<'a> Slot<'a> {
    /// Creates the slot of a layer with this kernel, whose first axes are `inputs` ones of the
    /// input.
    pub(super) fn new(
        kernel: &Param,
        inputs: usize,
        adapter: &'a mut Option<LoraAdapter>,
    ) -> Slot<'a> {
        let (inputs, outputs) = kernel.shape().split_at(inputs);
        Slot {
            inputs: inputs.iter().product(),
            outputs: outputs.iter().product(),
            adapter,
        }
    }
}

impl Weights {
    /// Exchanges the adapters of layers with those of a module in which they are side by side
    /// along the outputs. Does nothing if parameters are exchanged.
    pub(super) fn adapter(
        &mut self,
        name: &str,
        slots: Vec<Slot<'_>>,
    ) -> Result<(), PretrainedError> {
        if self.adapters.is_none() {
            return Ok(());
        }
        let name = format!("{}{name}", self.prefix);
        if self.writes {
            self.put_adapter(name, &slots)
        } else {
            self.take_adapter(&name, slots)?
        }
        Ok(())
    }

    fn take_adapter(&mut self, name: &str, slots: Vec<Slot<'_>>) -> Result<(), PretrainedError> {
        let [a, b] = ["A", "B"].map(|matrix| format!("{name}.lora_{matrix}.weight"));
        let Some(rank) = self.arrays.get(&a).and_then(|a| a.shape().first().copied()) else {
            slots.into_iter().for_each(|slot| *slot.adapter = None);
            return Ok(());
        };
        let outputs = slots.iter().map(|slot| slot.outputs).sum();
        let a = self.take_whole(&a, &[rank, slots[0].inputs])?.t();
        let b = self.take_whole(&b, &[outputs, rank])?.t();
        let factors = &self.adapters.as_ref().expect("adapters are read").factors;
        let scale = factors.of(name, rank);
        let parts = b.split(slots.len(), 1);
        for (slot, b) in slots.into_iter().zip(parts) {
            *slot.adapter = Some(LoraAdapter {
                lora_a: LoraParam::new(a.clone()),
                lora_b: LoraParam::new(b),
                scale,
            });
        }
        Ok(())
    }

    fn put_adapter(&mut self, name: String, slots: &[Slot<'_>]) {
        let inputs_first = self.inputs_first;
        let joined = joined(slots);
        let adapter = joined.map(
            |LoraAdapter {
                 lora_a,
                 lora_b,
                 scale,
             }| {
                let rank = lora_a.shape()[1];
                for (matrix, array) in [("A", lora_a), ("B", lora_b)] {
                    let name = format!("{PREFIX}{name}.lora_{matrix}.weight");
                    self.arrays.insert(name, array.t());
                }
                (rank, scale * rank as f64)
            },
        );
        let modules = &mut self
            .adapters
            .as_mut()
            .expect("adapters are written")
            .modules;
        modules.push(Module {
            name,
            adapter,
            inputs_first,
        });
    }
}

/// Returns one adapter that computes those of several layers, side by side along the outputs.
fn joined(slots: &[Slot<'_>]) -> Option<LoraAdapter> {
    if let [Slot { adapter, .. }] = slots {
        return (*adapter).clone();
    }
    let adapters = slots.iter().enumerate();
    let adapters: Vec<(usize, &LoraAdapter)> = adapters
        .filter_map(|(i, slot)| Some((i, slot.adapter.as_ref()?)))
        .collect();
    let (_, first) = adapters.first()?;
    let a: Vec<Array> = adapters
        .iter()
        .map(|(_, a)| a.lora_a.value().clone())
        .collect();
    // Each second matrix in the columns of its layer, with the factor.
    let rows = adapters.iter().map(|(i, adapter)| {
        let block = |(j, slot): (usize, &Slot<'_>)| {
            if j == *i {
                &*adapter.lora_b * adapter.scale
            } else {
                Array::zeros(
                    &[adapter.lora_b.shape()[0], slot.outputs],
                    first.lora_b.dtype(),
                )
            }
        };
        concatenate(&slots.iter().enumerate().map(block).collect::<Vec<_>>(), 1)
    });
    Some(LoraAdapter {
        lora_a: LoraParam::new(concatenate(&a, 1)),
        lora_b: LoraParam::new(concatenate(&rows.collect::<Vec<_>>(), 0)),
        scale: 1.0,
    })
}

/// Returns the configuration for the modules of a model, or `None` if none has an adapter. Ranks and
/// factors are those of the first adapter, with the others as exceptions.
fn config(modules: &[Module]) -> Option<Value> {
    let adapted = |m: &Module| Some((m.name.clone(), m.adapter?));
    let adapters: Vec<(String, (usize, f64))> = modules.iter().filter_map(adapted).collect();
    let (r, lora_alpha) = adapters.first()?.1;
    let (mut ranks, mut alphas) = (BTreeMap::new(), BTreeMap::new());
    for (name, (rank, alpha)) in &adapters {
        if *rank != r {
            ranks.insert(name, *rank);
        }
        if *alpha != lora_alpha {
            alphas.insert(name, number(*alpha));
        }
    }
    Some(json!({
        "alpha_pattern": alphas,
        "auto_mapping": null,
        "base_model_name_or_path": null,
        "bias": "none",
        "fan_in_fan_out": modules.iter().any(|m| m.adapter.is_some() && m.inputs_first),
        "inference_mode": true,
        "lora_alpha": number(lora_alpha),
        "lora_dropout": 0.0,
        "modules_to_save": null,
        "peft_type": "LORA",
        "r": r,
        "rank_pattern": ranks,
        "target_modules": targets(modules),
        "task_type": null,
        "use_dora": false,
        "use_rslora": false,
    }))
}

/// Returns a whole number without a decimal point, as `peft` writes it.
fn number(x: f64) -> Value {
    if x.fract() == 0.0 && x.abs() < 1e15 {
        json!(x as i64)
    } else {
        json!(x)
    }
}

/// Returns the names that select the modules with adapters: the last component of a name if it
/// selects no others, or else the whole name.
fn targets(modules: &[Module]) -> Vec<&str> {
    let mut targets = Vec::new();
    for module in modules.iter().filter(|m| m.adapter.is_some()) {
        let suffix = last(&module.name);
        let others = modules.iter().filter(|m| m.adapter.is_none());
        let target = if others.map(|m| last(&m.name)).any(|other| other == suffix) {
            &module.name
        } else {
            suffix
        };
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    targets
}

/// Returns the last component of a name.
fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Reads the adapters of a directory.
pub(super) fn load<M: Pretrained>(model: &mut M, folder: &Path) -> Result<(), PretrainedError> {
    let factors = Factors::read(&folder.join(CONFIG))?;
    let path = first_in(folder, &[WEIGHTS, "adapter_model.bin"], WEIGHTS);
    let state = ramie_checkpoint::load_state(&path)?;
    let bare = |name: &str| name.strip_prefix(PREFIX).unwrap_or(name).to_owned();
    let arrays = state.iter().map(|(name, a)| (bare(name), a.clone()));
    let mut weights = Weights::of_file(&path, arrays.collect());
    weights.adapters = Some(Adapters {
        factors,
        modules: Vec::new(),
    });
    model.exchange(&mut weights)?;
    weights.finish(|_| false)
}

/// Writes the adapters of a model to a directory.
#[track_caller]
pub(super) fn save<M: Pretrained>(model: &M, folder: &Path) -> Result<(), PretrainedError> {
    let mut weights = Weights::of_model();
    weights.adapters = Some(Adapters::default());
    model.clone().exchange(&mut weights)?;
    let modules = weights
        .adapters
        .map_or(Vec::new(), |adapters| adapters.modules);
    let Some(config) = config(&modules) else {
        panic!(
            "{}::save_adapter: the model has no LoRA adapters\n  help: add some before training: \
             apply_lora(&mut model, 8, |path| path.ends_with(\"query\"), &mut rngs)",
            type_name::<M>()
        )
    };
    write(folder, WEIGHTS, weights.arrays, CONFIG, &config)
}
