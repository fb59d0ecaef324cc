//! Names in messages.

/// The names, or that there are none.
pub(crate) fn listed_or_none<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names[..] {
        [] => "none".to_owned(),
        _ => names.join(", "),
    }
}
