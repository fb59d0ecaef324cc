//! Options in the names of functions: a function of the core has at most one form with options,
//! `name_with` or `name_over`. Forms that can be traced, because the size of the result is an
//! argument, end in `_sized`.

use std::collections::BTreeSet;

/// Suffixes that name an option of the function before them.
const SUFFIXES: &str = "\
    _all _along _argnums _at _aux _axes _ddof _descending _each _exact _flat _holomorphic \
    _ij _keepdims _mode _nondiff _on _with_order _ordered _reversed _sharded _signed \
    _spaced _stacked _step _symbolic_zeros _terms _tiled _weighted _where _within";

/// Functions whose suffix is no option: NumPy has `unique_all`, and the others return more than the
/// function before them.
const OTHERS: [&str; 3] = ["linear_with_step", "logsumexp_signed", "unique_all"];

#[test]
fn functions_have_one_form_with_options() {
    let mut names = BTreeSet::new();
    for (path, text) in crate::files(".rs") {
        if path.starts_with("core/src/") {
            let heads = text
                .lines()
                .filter_map(|line| line.trim_start().strip_prefix("pub fn "));
            names.extend(heads.filter_map(|head| Some(head.split(['(', '<']).next()?.to_string())));
        }
    }
    let plain = |name: &str| name.trim_end_matches("_with").to_string();
    let optional = |name: &&String| {
        SUFFIXES.split_whitespace().any(|suffix| {
            let base = name.strip_suffix(suffix).map(plain);
            base.is_some_and(|base| names.contains(&base))
        })
    };
    let new = names.iter().filter(optional).map(String::as_str);
    let new = new.filter(|name| !OTHERS.contains(name));
    let new = new.map(|name| format!("{name}: pass the option to one `_with`"));
    crate::expect_none("Options are arguments, not suffixes", new.collect());
}
