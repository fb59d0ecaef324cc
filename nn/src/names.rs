//! Lists of names in messages.

/// Returns the names separated by commas, or `none` if there are none.
pub(crate) fn listed_or_none<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names[..] {
        [] => "none".to_owned(),
        _ => names.join(", "),
    }
}
