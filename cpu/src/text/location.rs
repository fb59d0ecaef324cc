//! Locations of operations in the source of the program that wrote the text.

/// Returns the location behind an operation at a line of the text, such as `model.rs:42:7`.
pub fn of_line(text: &str, line: usize) -> Option<String> {
    let line = text.lines().nth(line.checked_sub(1)?)?;
    let (_, location) = line.rsplit_once(" loc(")?;
    if !location.starts_with('#') {
        return position(location);
    }
    let alias = location.trim_end_matches(')');
    let definition = text.lines().find_map(|line| {
        let location = line.strip_prefix(alias)?;
        location.strip_prefix(" = loc(")
    });
    position(definition?)
}

/// Returns the first `"file":line:column` of a location.
fn position(location: &str) -> Option<String> {
    let mut parts = location.split('"');
    let mut file = "";
    loop {
        let part = parts.next()?;
        if let Some(numbers) = part.strip_prefix(':') {
            let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ':');
            return Some(format!(
                "{file}:{}",
                &numbers[..end.unwrap_or(numbers.len())]
            ));
        }
        file = part;
    }
}
