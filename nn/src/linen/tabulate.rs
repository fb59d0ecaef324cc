//! `tabulate`: a table of the modules of a model.

mod flops;
mod show;

use super::root::{Call, Calls};
use super::{Apply, Module, Streams, Variables, init_with_output};
use crate::quantity::Quantity;
use crate::setters::setters;
use flops::Program;
use ramie_core::{Aval, State, Tree, eval_shape, tree};
use std::collections::BTreeSet;

/// Options of [`Module::tabulate`].
///
/// ```
/// use ramie_nn::linen::Tabulate;
/// let options = Tabulate::default().depth(1).flops();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Tabulate {
    depth: Option<usize>,
    show_repeated: bool,
    flops: bool,
    vjp_flops: bool,
}

impl Tabulate {
    setters! {
        /// Sets the maximum depth of the modules to show. Modules at this depth include the
        /// variables of their submodules. Defaults to no limit.
        depth: [Option<usize>],
        /// Shows all calls of a module instead of only the first.
        show_repeated: [true],
        /// Adds the floating-point operations of each module, whose operations are compiled
        /// separately for this.
        flops: [true],
        /// Adds the floating-point operations of each module including its reverse-mode derivative.
        vjp_flops: [true],
    }
}

/// A table of the modules of a model. Its [`Display`](std::fmt::Display) implementation formats
/// it.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The name of the outermost module's type.
    pub class: String,
    /// The names of the collections.
    pub collections: Vec<String>,
    /// The rows, one for each shown call of a module, in call order.
    pub rows: Vec<SummaryRow>,
}

/// A row of a [`Summary`]: a module.
#[derive(Clone, Debug)]
pub struct SummaryRow {
    /// The dotted path; empty for the outermost module.
    pub path: String,
    /// The name of the module's type.
    pub class: String,
    /// The types of the argument's arrays.
    pub inputs: Vec<Aval>,
    /// The types of the result's arrays.
    pub outputs: Vec<Aval>,
    /// The types of the module's own variables, by collection and relative path.
    pub variables: Vec<(String, Vec<(String, Aval)>)>,
    /// Floating-point operations, if requested.
    pub flops: Option<u64>,
    /// Floating-point operations including the reverse-mode derivative, if requested.
    pub vjp_flops: Option<u64>,
    /// The types of the variables that the row's size includes.
    counted: Vec<(String, Vec<Aval>)>,
}

impl SummaryRow {
    /// Returns the size of the module's variables of a collection. At the maximum depth, this
    /// includes the variables of submodules.
    pub fn size(&self, collection: &str) -> Quantity {
        let counted = self.counted.iter().filter(|(name, _)| name == collection);
        counted
            .flat_map(|(_, types)| types)
            .copied()
            .map(Quantity::of)
            .sum()
    }
}

impl Summary {
    /// Returns the size of all variables of a collection.
    pub fn total(&self, collection: &str) -> Quantity {
        self.rows.iter().map(|row| row.size(collection)).sum()
    }

    /// Returns the first row of the module at a path.
    pub fn row(&self, path: &str) -> Option<&SummaryRow> {
        self.rows.iter().find(|row| row.path == path)
    }
}

/// Traces the initialization of a module. Returns the calls of modules and the types of the
/// variables.
#[track_caller]
pub(super) fn calls_of<M: Module<A, O> + ?Sized, A: Tree, O: Tree>(
    module: &M,
    rngs: &Streams,
    args: A,
) -> (Vec<Call>, Variables) {
    let calls = Calls::default();
    let options = Apply {
        calls: Some(calls.clone()),
        ..Apply::initializing()
    };
    let variables = eval_shape(
        |(rngs, args): (Streams, A)| {
            let (_, made) = init_with_output(rngs, &options, |scope| scope.run(module, args));
            made
        },
        (rngs.clone(), args),
    );
    (calls.to_vec(), variables)
}

/// Creates the table of a module.
#[track_caller]
pub(super) fn summary<M, A: Tree, O: Tree>(
    module: &M,
    rngs: Streams,
    args: A,
    options: &Tabulate,
) -> Summary
where
    M: Module<A, O> + Sync,
{
    let types = tree::shape_dtype_structs;
    let (calls, variables) = calls_of(module, &rngs, types(&args));
    let program = (options.flops || options.vjp_flops)
        .then(|| Program::of(module, &variables, &rngs, types(&args)));
    let places: BTreeSet<String> = calls.iter().map(|c| c.path.join(".")).collect();
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for call in calls {
        let depth = call.path.len();
        let path = call.path.join(".");
        let again = !seen.insert(path.clone());
        if again && !options.show_repeated || options.depth.is_some_and(|most| depth > most) {
            continue;
        }
        let mut row = SummaryRow {
            class: call.class,
            inputs: call.inputs,
            outputs: call.outputs,
            variables: Vec::new(),
            flops: None,
            vjp_flops: None,
            counted: Vec::new(),
            path,
        };
        if let Some(program) = &program {
            let part = program.part(&call.path);
            row.flops = options.flops.then(|| part.flops());
            row.vjp_flops = options.vjp_flops.then(|| part.vjp_flops());
        }
        if !again {
            let whole = options.depth == Some(depth);
            row.find_variables(&variables, &places, whole);
        }
        rows.push(row);
    }
    Summary {
        class: module.class_name().into_owned(),
        collections: variables.names().map(str::to_owned).collect(),
        rows,
    }
}

impl SummaryRow {
    /// Finds the variables of the module: those below it that do not belong to a submodule.
    /// With `whole`, the size includes the variables of submodules.
    fn find_variables(&mut self, variables: &Variables, places: &BTreeSet<String>, whole: bool) {
        for (name, state) in variables.iter() {
            let below: State = if self.path.is_empty() {
                state.clone()
            } else {
                state.subtree(&self.path)
            };
            let own = |path: &str| {
                let first = path.split('.').next().unwrap_or(path);
                let module = if self.path.is_empty() {
                    first.to_owned()
                } else {
                    format!("{}.{first}", self.path)
                };
                !places.contains(&module)
            };
            let mine: Vec<(String, Aval)> = below
                .iter()
                .filter(|(path, _)| own(path))
                .map(|(path, a)| (path.to_owned(), a.aval()))
                .collect();
            let counted = if whole {
                below.arrays().iter().map(|a| a.aval()).collect()
            } else {
                mine.iter().map(|(_, aval)| *aval).collect()
            };
            self.counted.push((name.to_owned(), counted));
            if !mine.is_empty() {
                self.variables.push((name.to_owned(), mine));
            }
        }
    }
}
