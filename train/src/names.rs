//! Names of the metrics that a step returns.

use ramie_core::{Tree, tree};
use std::sync::Arc;

/// Returns the names of the arrays in a step's result: the given ones, or `loss` for the first
/// array and the paths in the tree for the others.
///
/// # Panics
/// Panics if the number of given names differs from the number of arrays.
pub(crate) fn metric_names<R: Tree>(result: &R, given: &[String]) -> Arc<[String]> {
    let paths = tree::paths(result);
    assert!(
        !paths.is_empty(),
        "Trainer: the function returns no array\n  help: return the loss, or a tuple of the loss and other metrics"
    );
    if !given.is_empty() {
        assert!(
            given.len() == paths.len(),
            "Trainer: {} names for metrics, but the function returns {} arrays\n  names: {}\n  arrays: {}\n  help: \
             pass a name for each array to `metrics`, the loss first",
            given.len(),
            paths.len(),
            given.join(", "),
            paths.join(", "),
        );
        return given.into();
    }
    let fields: Vec<&str> = paths.iter().map(|path| field(path)).collect();
    let name = |(i, path): (usize, &String)| match (i, fields[i]) {
        (0, "") => "loss".to_owned(),
        (_, "") => format!("metric_{path}"),
        // Equal names in different parts.
        (_, name) if fields.iter().filter(|other| **other == name).count() > 1 => path.clone(),
        (_, name) => name.to_owned(),
    };
    paths.iter().enumerate().map(name).collect()
}

/// Returns a path without its leading indices, such as `accuracy` for `1.accuracy`.
fn field(path: &str) -> &str {
    match path.split_once('.') {
        Some((index, rest)) if index.parse::<usize>().is_ok() => field(rest),
        None if path.parse::<usize>().is_ok() => "",
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::metric_names;
    use ramie_core::Array;
    use std::collections::BTreeMap;

    #[test]
    fn the_first_array_is_the_loss() {
        let x = || Array::from(1.0f32);
        assert_eq!(*metric_names(&x(), &[]), ["loss"]);
        assert_eq!(*metric_names(&(x(), x()), &[]), ["loss", "metric_1"]);
        let others = BTreeMap::from([("accuracy".to_owned(), x())]);
        let names = ["loss", "accuracy"];
        assert_eq!(*metric_names(&(x(), others.clone()), &[]), names);
        let names = ["0.accuracy", "1.accuracy"];
        assert_eq!(*metric_names(&(others.clone(), others), &[]), names);
        let given = ["loss", "accuracy"].map(String::from);
        assert_eq!(*metric_names(&(x(), x()), &given), given);
    }

    #[test]
    #[should_panic(expected = "1 names for metrics, but the function returns 2 arrays")]
    fn each_array_needs_a_name() {
        let x = || Array::from(1.0f32);
        metric_names(&(x(), x()), &["loss".to_owned()]);
    }
}
