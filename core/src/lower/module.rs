//! A StableHLO module: its functions and source locations.

use super::{Lowering, TensorType, Value};
use crate::hash::FastMap;
use crate::jaxpr::Jaxpr;
use std::fmt::Write;
use std::panic::Location;
use std::sync::Arc;

/// What the caller of a program grants for one of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentAttribute {
    /// Read only.
    None,
    /// Its buffer becomes that of the result with this number.
    AliasedTo(usize),
}

/// A program in StableHLO text.
#[derive(Default)]
pub struct Module {
    functions: Vec<String>,
    by_jaxpr: FastMap<Arc<Jaxpr>, String>,
    names: FastMap<String, usize>,
    locations: Vec<&'static Location<'static>>,
    location_ids: FastMap<usize, usize>,
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
    pub fn lower(name: &str, jaxpr: &Jaxpr, attributes: &[ArgumentAttribute]) -> String {
        let mut module = Module::default();
        let main = module.write_function("main", "public", jaxpr, attributes);
        let mut text = format!(
            "module @{} attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{\n{main}",
            identifier(name)
        );
        for f in &module.functions {
            text.push_str(f);
        }
        text.push_str("}\n");
        for (i, l) in module.locations.iter().enumerate() {
            let _ = writeln!(
                text,
                "#loc{i} = loc({:?}:{}:{})",
                l.file(),
                l.line(),
                l.column()
            );
        }
        text
    }

    pub(super) fn location(&mut self, location: &'static Location<'static>) -> usize {
        let next = self.locations.len();
        let id = *self
            .location_ids
            .entry(std::ptr::from_ref(location).addr())
            .or_insert(next);
        if id == next {
            self.locations.push(location);
        }
        id
    }

    /// The name of the function for a nested program, written at its first use.
    pub(super) fn function(&mut self, name: &str, jaxpr: &Arc<Jaxpr>) -> String {
        if let Some(known) = self.by_jaxpr.get(jaxpr) {
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
        self.by_jaxpr.insert(jaxpr.clone(), unique.clone());
        let text = self.write_function(&unique, "private", jaxpr, &[]);
        self.functions.push(text);
        unique
    }

    fn write_function(
        &mut self,
        name: &str,
        visibility: &str,
        jaxpr: &Jaxpr,
        attributes: &[ArgumentAttribute],
    ) -> String {
        let mut ctx = Lowering::new(self);
        let args: Vec<Value> = jaxpr
            .constvars
            .iter()
            .chain(&jaxpr.invars)
            .map(|_| ctx.fresh())
            .collect();
        let outs = ctx.inline(jaxpr, &args);
        let body = ctx.body;
        let mut text = format!("  func.func {visibility} @{name}(");
        for (i, (v, a)) in jaxpr
            .constvars
            .iter()
            .chain(&jaxpr.invars)
            .zip(&args)
            .enumerate()
        {
            let comma = if i > 0 { ", " } else { "" };
            let _ = write!(text, "{comma}{a}: {}", TensorType(jaxpr.var_aval(*v)));
            if let Some(ArgumentAttribute::AliasedTo(out)) = attributes.get(i) {
                let _ = write!(text, " {{tf.aliasing_output = {out} : i32}}");
            }
        }
        text.push_str(") -> (");
        let types: Vec<String> = jaxpr
            .out_avals()
            .into_iter()
            .map(|a| TensorType(a).to_string())
            .collect();
        let _ = write!(text, "{}) {{\n{body}    return", types.join(", "));
        if !outs.is_empty() {
            let values: Vec<String> = outs.iter().map(ToString::to_string).collect();
            let _ = write!(text, " {} : {}", values.join(", "), types.join(", "));
        }
        text.push_str("\n  }\n");
        text
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
