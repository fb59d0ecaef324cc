//! `tabulate`: a table of a model's layers.

use super::display::{Item, type_of_kind};
use crate::model::{Recording, copy, program_costs, start, types};
use crate::quantity::Quantity;
use crate::setters::setters;
use crate::table::Table;
use ramie_core::tree::shape_dtype_structs;
use ramie_core::{Tree, eval_shape};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// A row of the table: a node of the model.
#[derive(Clone, Debug)]
pub struct Row {
    /// The dotted path; empty for the model itself.
    pub path: String,
    /// The name of the type.
    pub type_name: String,
    /// Number of components of the path.
    pub depth: usize,
    /// The types of the input arrays of the first call. Empty if the node was not called or
    /// does not report its calls (see [`observe`](super::observe)).
    pub inputs: Vec<String>,
    /// The types of the output arrays of the first call.
    pub outputs: Vec<String>,
    /// Floating-point operations of the first call, as counted by the compiler.
    pub flops: Option<f64>,
    /// Floating-point operations of the first call together with its reverse-mode derivative.
    pub vjp_flops: Option<f64>,
    /// The node's own variables, by type: their names and array types.
    pub variables: BTreeMap<String, Vec<(String, String)>>,
    sizes: BTreeMap<String, Quantity>,
}

impl Row {
    /// Returns the number of elements of the variables of a type, including those of children.
    pub fn count(&self, type_name: &str) -> usize {
        self.sizes.get(type_name).map_or(0, |s| s.elements)
    }

    /// Returns the size of the variables in bytes, including those of children.
    pub fn bytes(&self) -> usize {
        self.sizes.values().map(|s| s.bytes).sum()
    }
}

type RowFilter = Arc<dyn Fn(&Row) -> bool + Send + Sync>;

/// Options of [`tabulate`].
#[derive(Clone)]
pub struct TabulateOptions {
    depth: Option<usize>,
    row_filter: RowFilter,
    compute_flops: bool,
    compute_vjp_flops: bool,
}

impl Default for TabulateOptions {
    fn default() -> Self {
        TabulateOptions {
            depth: None,
            row_filter: Arc::new(|row| row.type_name != "RngStream"),
            compute_flops: false,
            compute_vjp_flops: false,
        }
    }
}

impl TabulateOptions {
    /// Creates the default options: all rows except those of RNG streams, and no costs.
    pub fn new() -> TabulateOptions {
        TabulateOptions::default()
    }

    /// Limits the rows to those that a function accepts.
    #[must_use]
    pub fn row_filter(
        mut self,
        filter: impl Fn(&Row) -> bool + Send + Sync + 'static,
    ) -> TabulateOptions {
        self.row_filter = Arc::new(filter);
        self
    }

    setters! {
        /// Limits the rows to paths with at most this many components.
        depth: [Option<usize>],
        /// Adds the floating-point operations of the model and of the layers that report their
        /// calls. Each of them is compiled for this.
        compute_flops: [true],
        /// Adds the floating-point operations including reverse-mode derivatives.
        compute_vjp_flops: [true],
    }
}

fn rows_of(item: &Item, path: &str, depth: usize, rows: &mut Vec<Row>) {
    if let Some(type_name) = item.type_name {
        let mut variables: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        for child in &item.children {
            if let Some(aval) = child.leaf {
                let of_type = variables.entry(type_of_kind(child.kind)).or_default();
                of_type.push((child.name.clone(), aval.to_string()));
            }
        }
        rows.push(Row {
            path: path.to_owned(),
            type_name: type_name.to_owned(),
            depth,
            inputs: Vec::new(),
            outputs: Vec::new(),
            flops: None,
            vjp_flops: None,
            variables,
            sizes: item.sizes.clone(),
        });
    }
    for child in &item.children {
        let path = match path {
            "" => child.name.clone(),
            path => format!("{path}.{}", child.name),
        };
        rows_of(child, &path, depth + 1, rows);
    }
}

/// Formats a table of a model's layers for a call of a function with these arguments: paths,
/// types, inputs, outputs, variables with counts and bytes, and costs (`nnx.tabulate`). The
/// function is only traced, except to compile it for its costs if these are requested. The
/// model is unchanged.
///
/// Inputs and outputs are shown for the model itself and for layers that report their calls to
/// [`observe`](super::observe). The `forward` method of this crate's layers does, except for
/// `Lora`, `RotaryEmbedding` and recurrent cells. For other nodes, and for layers called by
/// other methods, these columns are empty.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::nnx::{self, TabulateOptions};
/// use ramie_nn::{Linear, Rngs};
/// let model = Linear::new(64, 10, &mut Rngs::new(0));
/// let x = Array::ones(&[1, 64], DType::F32);
/// println!("{}", nnx::tabulate(&model, x, TabulateOptions::new(), |m, x| m.forward(&x)));
/// ```
///
/// # Panics
/// Panics if the function does.
#[track_caller]
pub fn tabulate<M: Tree, A: Tree, R: Tree>(
    model: &M,
    args: A,
    options: TabulateOptions,
    f: impl Fn(&mut M, A) -> R + Send + Sync,
) -> String {
    let recording = Recording::default().costs(options.compute_flops, options.compute_vjp_flops);
    let item = Item::of(model);
    let mut rows = Vec::new();
    rows_of(&item, "", 0, &mut rows);

    let inputs = types(&args);
    let mut calls = Vec::new();
    let out = eval_shape(
        |(mut model, args): (M, A)| {
            let guard = start(&model, recording);
            let out = f(&mut model, args);
            calls = guard.finish();
            out
        },
        (copy(model), shape_dtype_structs(&args)),
    );
    for call in calls {
        let Some(row) = rows.iter_mut().find(|row| row.path == call.path) else {
            continue;
        };
        if row.inputs.is_empty() && row.outputs.is_empty() {
            (row.inputs, row.outputs) = (call.inputs, call.outputs);
            if let Some(costs) = call.costs {
                (row.flops, row.vjp_flops) = costs();
            }
        }
    }
    if let Some(root) = rows.first_mut().filter(|row| row.path.is_empty()) {
        (root.inputs, root.outputs) = (inputs, types(&out));
        if options.compute_flops || options.compute_vjp_flops {
            let call = |mut model: M, args: A| f(&mut model, args);
            (root.flops, root.vjp_flops) = program_costs(
                call,
                shape_dtype_structs(model),
                shape_dtype_structs(&args),
                recording,
            );
        }
    }
    rows.retain(|row| options.depth.is_none_or(|d| row.depth <= d) && (options.row_filter)(row));
    render(&item, &rows, &options)
}

fn render(item: &Item, rows: &[Row], options: &TabulateOptions) -> String {
    let kinds: BTreeSet<&String> = item.sizes.keys().collect();
    let mut header: Vec<String> = ["path", "type", "inputs", "outputs"].map(Into::into).into();
    if options.compute_flops {
        header.push("flops".into());
    }
    if options.compute_vjp_flops {
        header.push("vjp_flops".into());
    }
    let before = header.len();
    header.extend(kinds.iter().map(|k| (*k).clone()));
    let mut table = Table::new(header);
    let cost = |c: Option<f64>| c.map_or_else(String::new, |c| format!("{c:.0}"));
    for row in rows {
        let mut cells = vec![
            row.path.clone(),
            row.type_name.clone(),
            row.inputs.join("\n"),
            row.outputs.join("\n"),
        ];
        if options.compute_flops {
            cells.push(cost(row.flops));
        }
        if options.compute_vjp_flops {
            cells.push(cost(row.vjp_flops));
        }
        for kind in &kinds {
            let mut cell = String::new();
            for (name, aval) in row.variables.get(*kind).into_iter().flatten() {
                let _ = writeln!(cell, "{name}: {aval}");
            }
            if let Some(size) = row.sizes.get(*kind) {
                let _ = write!(cell, "{size}");
            }
            cells.push(cell);
        }
        table.row(cells);
    }
    let mut last = vec![String::new(); before - 1];
    last.push("Total".into());
    last.extend(kinds.iter().map(|kind| item.sizes[*kind].to_string()));
    let total: Quantity = item.sizes.values().copied().sum();
    table.row(last);
    let title = format!("{} Summary", item.type_name.unwrap_or("Model"));
    let mut text = table.render(&title);
    let _ = writeln!(text, "\nTotal Parameters: {total}");
    text
}
