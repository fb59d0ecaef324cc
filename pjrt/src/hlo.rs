//! Text of a compiled module.

/// Shows a program in this format; `None` if the format is not known.
pub(crate) fn text(format: &str, code: &[u8]) -> Option<String> {
    match format {
        "mlir" => Some(String::from_utf8_lossy(code).into_owned()),
        _ => None,
    }
}
