//! StableHLO modules: their functions and source locations.

use super::partition::{self, Declared, Partition};
use super::value::{list, types};
use super::{Lowering, Source, Value};
use crate::base::hash::FastMap;
use crate::program::jaxpr::{ClosedJaxpr, Jaxpr, Scope};
use crate::types::sharding::AbstractMesh;
use crate::{Array, NamedSharding, Platform, Result};
use std::fmt::Write;
use std::sync::Arc;

/// The permitted use of an argument's buffer by a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentAttribute {
    /// It may only read the buffer.
    None,
    /// The buffer becomes that of the result with this index.
    AliasedTo(usize),
    /// The buffer may become that of any result of the same size.
    Donated,
}

/// A StableHLO module that is being written.
#[derive(Default)]
pub struct Module {
    functions: Vec<String>,
    by_jaxpr: FastMap<(Arc<Jaxpr>, Option<AbstractMesh>), Callee>,
    names: FastMap<String, usize>,
    locations: Vec<Source>,
    location_ids: FastMap<(usize, Scope), usize>,
    calls_back: bool,
    /// Platform of the program. Defaults to that of this process.
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
    /// StableHLO text, with source locations.
    pub text: String,
    /// Whether the program has ordered effects: its last argument and its last result are then
    /// the state that orders them, a 0-d boolean.
    pub ordered: bool,
    /// Whether the program calls functions of this process, so that no other process can run it.
    pub calls_back: bool,
}

/// Returns a name that is a valid MLIR identifier.
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
    /// Lowers `jaxpr` to the text of the program `name`; captured values are its first arguments.
    /// `attributes` has an entry for every argument. `partition` contains the layouts of
    /// arguments and results on devices. The lowering of some operations depends on `platform`;
    /// without one, it is that of accelerators.
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

    /// Lowers a program for `platform`, with its captured values as constants.
    ///
    /// # Errors
    /// Returns an error if the elements of a captured value cannot be read.
    pub fn lower_whole(
        name: &str,
        program: &ClosedJaxpr,
        platform: Option<Platform>,
    ) -> Result<ModuleText> {
        let consts: Vec<Vec<u8>> = program
            .consts
            .iter()
            .map(Array::try_to_bytes)
            .collect::<Result<_>>()?;
        let mut module = Module {
            platform,
            ..Module::default()
        };
        let main = module.write_function("main", None, &program.jaxpr, &[], &consts);
        Ok(module.finish(name, main))
    }

    /// Returns the text of the module, with `main` as its first function.
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
            let location = format!("{:?}:{}:{}", l.file(), l.line(), l.column());
            let _ = match scope.name() {
                "" => writeln!(text, "#loc{i} = loc({location})"),
                name => writeln!(text, "#loc{i} = loc({name:?}({location}))"),
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
        // By address, which is cheaper than comparing file names. A line with two addresses is only
        // listed twice.
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

    /// Returns the function of a nested program, and writes it at the first use.
    pub(super) fn function(
        &mut self,
        name: &str,
        jaxpr: &Arc<Jaxpr>,
        axes: Option<AbstractMesh>,
    ) -> Callee {
        // Axis types are part of the key, since a program is lowered differently where axes are
        // manual.
        if let Some(known) = self.by_jaxpr.get(&(jaxpr.clone(), axes)) {
            return known.clone();
        }
        let base = identifier(name);
        let base = if base == "main" { "main_".into() } else { base };
        // The name is taken before the body is written, which may contain functions of the same
        // name.
        let unique = self.unused_name(base);
        let (text, ordered) = self.write_function(&unique, axes, jaxpr, &[], &[]);
        self.functions.push(text);
        let callee = Callee {
            name: unique,
            ordered,
        };
        self.by_jaxpr.insert((jaxpr.clone(), axes), callee.clone());
        callee
    }

    /// Returns a name that no function has yet, and takes it: `base`, `base_1`, `base_2`, …
    fn unused_name(&mut self, base: String) -> String {
        loop {
            let count = self.names.entry(base.clone()).or_insert(0);
            *count += 1;
            if *count == 1 {
                return base;
            }
            // A function of the program may bear the numbered name itself.
            let numbered = format!("{base}_{}", *count - 1);
            if !self.names.contains_key(&numbered) {
                self.names.insert(numbered.clone(), 1);
                return numbered;
            }
        }
    }

    /// Returns the first line of a function, up to the types of its results.
    fn signature(
        &mut self,
        name: &str,
        args: &[Value],
        outs: &[Value],
        attributes: &[ArgumentAttribute],
    ) -> String {
        let (visibility, ins, results) = match name {
            "main" => (
                "public",
                self.partition.ins.clone(),
                self.partition.outs.clone(),
            ),
            _ => ("private", Vec::new(), Vec::new()),
        };
        let mut text = format!("  func.func {visibility} @{name}(");
        let arguments = args.iter().enumerate().map(|(i, v)| {
            let mut notes = match attributes.get(i) {
                Some(ArgumentAttribute::AliasedTo(out)) => {
                    vec![format!("tf.aliasing_output = {out} : i32")]
                }
                Some(ArgumentAttribute::Donated) => vec!["jax.buffer_donor = true".into()],
                _ => Vec::new(),
            };
            notes.extend(ins.get(i).map(|sharding| self.placement(*sharding, v)));
            partition::typed(Some(*v), v.aval, &notes)
        });
        text.push_str(&arguments.collect::<Vec<_>>().join(", "));
        text.push_str(") -> (");
        let types_of = outs.iter().enumerate().map(|(i, v)| {
            let sharding = results.get(i).copied().flatten();
            let notes = sharding.map(|sharding| self.placement(sharding, v));
            partition::typed(None, v.aval, notes.as_slice())
        });
        text.push_str(&types_of.collect::<Vec<_>>().join(", "));
        text
    }

    /// Returns the attribute with the sharding of an argument or result.
    fn placement(&mut self, sharding: NamedSharding, value: &Value) -> String {
        format!("sdy.sharding = {}", self.sharding(sharding, value.ndim()))
    }

    /// Returns the text of a function, and whether it has ordered effects. `consts` contains the
    /// elements of captured values to embed; other captured values are its first arguments.
    fn write_function(
        &mut self,
        name: &str,
        axes: Option<AbstractMesh>,
        jaxpr: &Jaxpr,
        attributes: &[ArgumentAttribute],
        consts: &[Vec<u8>],
    ) -> (String, bool) {
        let mut ctx = Lowering::new(self, axes);
        // Either all captured values are constants of the text, or all are arguments.
        let captured = jaxpr.constvars.iter().zip(consts);
        let constants = captured.map(|(v, bytes)| ctx.elements(bytes, jaxpr.var_aval(*v)));
        let constants: Vec<Value> = constants.collect();
        let inputs = jaxpr.constvars[constants.len()..]
            .iter()
            .chain(&jaxpr.invars);
        let mut args: Vec<Value> = inputs.map(|v| ctx.fresh(jaxpr.var_aval(*v))).collect();
        let values: Vec<Value> = constants.iter().chain(&args).copied().collect();
        let mut outs = ctx.inline(jaxpr, &values);
        let order = ctx.order.pop().unwrap_or_default();
        let ordered = order.entry.is_some();
        args.extend(order.entry);
        if ordered {
            outs.extend(order.after());
        }
        let body = ctx.body;
        // The head follows the body, which decides whether the state of ordered effects is an
        // argument.
        let mut text = self.signature(name, &args, &outs, attributes);
        let _ = write!(text, ") {{\n{body}    return");
        if !outs.is_empty() {
            text.push(' ');
            list(&mut text, &outs);
            text.push_str(" : ");
            types(&mut text, outs.iter().map(Value::aval));
        }
        text.push_str("\n  }\n");
        (text, ordered)
    }
}

/// Returns a program's text without source locations.
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
