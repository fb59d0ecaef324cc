//! A StableHLO module: its functions and source locations.

use super::partition::{self, Declared, Partition};
use super::{Lowering, Source, TensorType, Value, order};
use crate::hash::FastMap;
use crate::jaxpr::{ClosedJaxpr, Jaxpr, Scope};
use crate::sharding::AbstractMesh;
use crate::{Array, Aval, Platform, Result};
use std::fmt::Write;
use std::sync::Arc;

/// What the caller of a program grants for one of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentAttribute {
    /// Read only.
    None,
    /// Its buffer becomes that of the result with this number.
    AliasedTo(usize),
    /// Its buffer becomes that of some result that it fits.
    Donated,
}

/// A program in StableHLO while it is written.
#[derive(Default)]
pub struct Module {
    functions: Vec<String>,
    by_jaxpr: FastMap<(Arc<Jaxpr>, Option<AbstractMesh>), Callee>,
    names: FastMap<String, usize>,
    locations: Vec<Source>,
    location_ids: FastMap<(usize, Scope), usize>,
    calls_back: bool,
    /// The platform that the program is for; that of this process if not said.
    pub(super) platform: Option<Platform>,
    pub(super) partition: Partition,
    pub(super) meshes: Vec<Declared>,
}

/// A function of a module.
#[derive(Clone)]
pub(super) struct Callee {
    pub name: String,
    /// Whether it has ordered effects, and takes and returns their state.
    pub ordered: bool,
}

/// A program in StableHLO text.
#[derive(Clone, Debug)]
pub struct ModuleText {
    /// The text, with source locations.
    pub text: String,
    /// Whether the program has ordered effects: its last argument and its last
    /// result are then the state that keeps them in order, a 0-d truth value.
    pub ordered: bool,
    /// Whether it calls functions of this process, and so is of no use to
    /// another.
    pub calls_back: bool,
}

/// A name that is a valid identifier in MLIR.
fn identifier(name: &str) -> String {
    let mut id: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '_'
            }
        })
        .collect();
    if id.is_empty() || id.starts_with(|c: char| c.is_ascii_digit()) {
        id.insert(0, '_');
    }
    id
}

impl Module {
    /// The text of `jaxpr` as the program `name`; captured values are its
    /// first arguments. `attributes` has an entry for every argument.
    /// `partition` says how they and the results lie on devices; the program is
    /// for `platform`, where that is another than this process's.
    pub fn lower(
        name: &str,
        jaxpr: &Jaxpr,
        attributes: &[ArgumentAttribute],
        partition: &Partition,
        platform: Option<Platform>,
    ) -> ModuleText {
        let mut module = Module {
            platform,
            partition: partition.clone(),
            ..Module::default()
        };
        let main = module.write_function("main", None, jaxpr, attributes, &[]);
        module.finish(name, main)
    }

    /// The text of a program with the values that it captured in it.
    ///
    /// # Errors
    /// If the elements of a captured value cannot be had.
    pub fn lower_whole(name: &str, program: &ClosedJaxpr) -> Result<ModuleText> {
        let consts: Vec<Vec<u8>> = program
            .consts
            .iter()
            .map(Array::try_to_bytes)
            .collect::<Result<_>>()?;
        let mut module = Module::default();
        let main = module.write_function("main", None, &program.jaxpr, &[], &consts);
        Ok(module.finish(name, main))
    }

    /// The whole text, with `main` as its first function.
    fn finish(self, name: &str, (main, ordered): (String, bool)) -> ModuleText {
        let module = self;
        let mut text = format!(
            "module @{} attributes {{mhlo.num_partitions = {} : i32, mhlo.num_replicas = 1 : i32}} {{\n{}{main}",
            identifier(name),
            module.partition.count(),
            module.mesh_text()
        );
        for f in &module.functions {
            text.push_str(f);
        }
        text.push_str("}\n");
        for (i, (l, scope)) in module.locations.iter().enumerate() {
            let place = format!("{:?}:{}:{}", l.file(), l.line(), l.column());
            let _ = match scope.name() {
                "" => writeln!(text, "#loc{i} = loc({place})"),
                name => writeln!(text, "#loc{i} = loc({name:?}({place}))"),
            };
        }
        ModuleText {
            text,
            ordered,
            calls_back: module.calls_back,
        }
    }

    pub(super) fn location(&mut self, source: Source) -> usize {
        let next = self.locations.len();
        let key = (std::ptr::from_ref(source.0).addr(), source.1);
        let id = *self.location_ids.entry(key).or_insert(next);
        if id == next {
            self.locations.push(source);
        }
        id
    }

    pub(super) fn set_calls_back(&mut self) {
        self.calls_back = true;
    }

    /// The function for a nested program, written at its first use.
    pub(super) fn function(
        &mut self,
        name: &str,
        jaxpr: &Arc<Jaxpr>,
        axes: Option<AbstractMesh>,
    ) -> Callee {
        if let Some(known) = self.by_jaxpr.get(&(jaxpr.clone(), axes)) {
            return known.clone();
        }
        let base = identifier(name);
        let base = if base == "main" { "main_".into() } else { base };
        let count = self.names.entry(base.clone()).or_insert(0);
        let unique = match *count {
            0 => base,
            n => format!("{base}_{n}"),
        };
        *count += 1;
        let (text, ordered) = self.write_function(&unique, axes, jaxpr, &[], &[]);
        self.functions.push(text);
        let callee = Callee {
            name: unique,
            ordered,
        };
        self.by_jaxpr.insert((jaxpr.clone(), axes), callee.clone());
        callee
    }

    /// The text of a function, and whether it has ordered effects. `consts` are
    /// the elements of captured values that are part of it; the others are its
    /// first arguments.
    fn write_function(
        &mut self,
        name: &str,
        axes: Option<AbstractMesh>,
        jaxpr: &Jaxpr,
        attributes: &[ArgumentAttribute],
        consts: &[Vec<u8>],
    ) -> (String, bool) {
        let mut ctx = Lowering::new(self, axes);
        let captured = jaxpr.constvars.iter().zip(consts);
        let constants: Vec<Value> = captured
            .map(|(v, bytes)| ctx.elements(bytes, jaxpr.var_aval(*v)))
            .collect();
        let inputs = jaxpr.constvars[constants.len()..]
            .iter()
            .chain(&jaxpr.invars);
        let mut args: Vec<(Value, Aval)> =
            inputs.map(|v| (ctx.fresh(), jaxpr.var_aval(*v))).collect();
        let passed = args.iter().map(|(v, _)| *v);
        let values: Vec<Value> = constants.into_iter().chain(passed).collect();
        let mut outs: Vec<(Value, Aval)> = ctx
            .inline(jaxpr, &values)
            .into_iter()
            .zip(jaxpr.out_avals())
            .collect();
        let order = ctx.order.pop().unwrap_or_default();
        let ordered = order.entry.is_some();
        args.extend(order.entry.map(|v| (v, order::aval())));
        if ordered {
            outs.extend(order.after().map(|v| (v, order::aval())));
        }
        let body = ctx.body;
        let main = name == "main";
        let visibility = if main { "public" } else { "private" };
        let mut text = format!("  func.func {visibility} @{name}(");
        let (ins, results) = match main {
            true => (self.partition.ins.clone(), self.partition.outs.clone()),
            false => Default::default(),
        };
        for (i, (v, a)) in args.iter().enumerate() {
            let mut notes = Vec::new();
            match attributes.get(i) {
                Some(ArgumentAttribute::AliasedTo(out)) => {
                    notes.push(format!("tf.aliasing_output = {out} : i32"));
                }
                Some(ArgumentAttribute::Donated) => notes.push("jax.buffer_donor = true".into()),
                _ => {}
            }
            if let Some(sharding) = ins.get(i) {
                let sharding = self.sharding(*sharding, a.ndim());
                notes.push(format!("sdy.sharding = {sharding}"));
            }
            let comma = if i > 0 { ", " } else { "" };
            let _ = write!(text, "{comma}{}", partition::typed(Some(*v), *a, &notes));
        }
        text.push_str(") -> (");
        for (i, (_, a)) in outs.iter().enumerate() {
            let mut notes = Vec::new();
            if let Some(Some(sharding)) = results.get(i) {
                let sharding = self.sharding(*sharding, a.ndim());
                notes.push(format!("sdy.sharding = {sharding}"));
            }
            let comma = if i > 0 { ", " } else { "" };
            let _ = write!(text, "{comma}{}", partition::typed(None, *a, &notes));
        }
        let _ = write!(text, ") {{\n{body}    return");
        if !outs.is_empty() {
            let values: Vec<String> = outs.iter().map(|(v, _)| v.to_string()).collect();
            let types = outs.iter().map(|(_, a)| TensorType(*a).to_string());
            let types: Vec<String> = types.collect();
            let _ = write!(text, " {} : {}", values.join(", "), types.join(", "));
        }
        text.push_str("\n  }\n");
        (text, ordered)
    }
}

/// A program's text without source locations.
pub(crate) fn strip_locations(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in stripped_lines(text) {
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn stripped_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|l| !l.starts_with("#loc"))
        .map(|l| l.rfind(" loc(#loc").map_or(l, |at| &l[..at]))
}
