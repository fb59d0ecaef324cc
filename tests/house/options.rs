//! Options of functions: a function has at most one form with options, `name_with` or `name_over`,
//! and takes them as one argument, not as booleans and `Option`s. Forms that can be traced, because
//! the size of the result is an argument, end in `_sized`.

use std::collections::BTreeSet;

/// Suffixes that name an option of the function before them.
const SUFFIXES: &str = "\
    _all _along _argnums _at _aux _axes _ddof _decimals _descending _each _exact _flat \
    _hermitian _holomorphic _ij _keepdims _mode _n _nondiff _of_triangle _on _or_nan _ordered \
    _reversed _right _sharded _signed _spaced _stacked _step _symbolic_zeros _terms _tiled \
    _weighted _where _with_order _within";

/// Functions whose suffix is no option: NumPy has `unique_all` and JAX `select_n`, `variable_axes` is an
/// option itself, and the others return more than the function before them.
const OTHERS: [&str; 5] = [
    "linear_with_step",
    "logsumexp_signed",
    "select_n",
    "unique_all",
    "variable_axes",
];

/// Names of public functions of a crate that end in a suffix although the function without it exists.
fn suffixed(sources: &[(String, String)], folder: &str) -> Vec<String> {
    let own = sources.iter().filter(|(path, _)| path.starts_with(folder));
    let heads = own.flat_map(|(_, text)| text.lines());
    let heads = heads.filter_map(|line| line.trim_start().strip_prefix("pub fn "));
    let names: BTreeSet<&str> = heads
        .filter_map(|head| head.split(['(', '<']).next())
        .collect();
    let base = |name: &str, suffix: &str| {
        let base = name.strip_suffix(suffix)?;
        names.get(base.trim_end_matches("_with"))
    };
    let optional = |name: &&&str| {
        let mut suffixes = SUFFIXES.split_whitespace();
        suffixes.any(|suffix| base(name, suffix).is_some())
    };
    let found = names.iter().filter(optional);
    found.map(|name| name.to_string()).collect()
}

#[test]
fn functions_have_one_form_with_options() {
    let sources = crate::files(".rs");
    let crates = ["core/src/", "nn/src/", "models/src/", "optim/src/"];
    let found = crates.iter().flat_map(|folder| suffixed(&sources, folder));
    let new = found.filter(|name| !OTHERS.contains(&&**name));
    let new = new.map(|name| format!("{name}: pass the option to one `_with`"));
    crate::expect_none("Options are arguments, not suffixes", new.collect());
}

/// Public functions of a source that take booleans or `Option`s between other arguments. A method
/// that takes `self` by value and one argument sets an option, and `new` is the constructor of one.
fn positional(text: &str) -> Vec<String> {
    let heads = text.split("pub fn ").skip(1);
    let found = heads.filter_map(|head| {
        let (name, rest) = head.split_once('(')?;
        let name = name.split('<').next()?;
        let (parameters, _) = rest.split_once(" {\n")?;
        let parameters = parameters.split(") ->").next()?;
        let own = parameters.trim_start_matches("mut ").starts_with("self,");
        let sets = own && parameters.matches(": ").count() == 1;
        let bare = [": bool", ": Option<"].map(|bare| parameters.contains(bare));
        (bare != [false; 2] && !sets && name != "new").then(|| name.to_string())
    });
    found.collect()
}

#[test]
fn options_are_not_positional() {
    let sources = crate::files(".rs");
    let folders = [
        "core/src/functions/",
        "core/src/prim/",
        "core/src/program/array/",
    ];
    let own = |path: &str| folders.iter().any(|folder| path.starts_with(folder));
    let own = sources.iter().filter(|(path, _)| own(path));
    let found = own.flat_map(|(_, text)| positional(text));
    let found = found.map(|name| format!("{name}: pass the option to one `_with`"));
    crate::expect_none("Options are one argument", found.collect());
}

#[test]
fn booleans_among_arguments_are_found() {
    let source = "pub fn svd(a: &Array, full: bool) -> Svd {\n}\npub fn pinv(\n    a: &Array,\n    \
        rtol: Option<f64>,\n) -> Array {\n}\npub fn full(self, full: bool) -> Options {\n}\npub fn \
        fine<F: Fn(bool) -> bool>(f: F) -> Option<Array> {\n}\n";
    assert_eq!(positional(source), ["svd", "pinv"]);
}
