//! The command `ramie inspect` for ONNX files.

use std::error::Error;
use std::path::Path;

/// Returns whether a path has the name of an ONNX file.
pub(crate) fn is_model(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("onnx"))
}

#[cfg(not(feature = "onnx"))]
pub(crate) fn inspect(path: &Path, _: usize) -> Result<(), Box<dyn Error>> {
    Err(format!(
        "{}: this build of `ramie` does not read ONNX files\n  help: install it with the feature: \
         cargo install ramie --features onnx",
        path.display()
    )
    .into())
}

#[cfg(feature = "onnx")]
pub(crate) use with_feature::inspect;

#[cfg(feature = "onnx")]
mod with_feature {
    use super::{Error, Path};
    use crate::ckpt::text;
    use ramie::DType;
    use ramie::onnx::{Description, OnnxFile, TensorInfo};
    use std::cmp::Reverse;
    use std::io::{self, Write};

    /// A tensor: name, type as text, number of elements and bytes.
    type Row<'a> = (&'a str, String, u64, u64);

    pub(crate) fn inspect(path: &Path, largest: usize) -> Result<(), Box<dyn Error>> {
        let file = OnnxFile::open(path)?;
        let mut out = io::stdout().lock();
        let mut tensors: Vec<Row<'_>> = file.tensors().map(row).collect();
        let elements = tensors.iter().map(|t| t.2).fold(0, u64::saturating_add);
        let bytes = tensors.iter().map(|t| t.3).fold(0, u64::saturating_add);
        for (name, value) in facts(path, file.description()) {
            writeln!(out, "{name:<11} {value}")?;
        }
        let number = text::counted(tensors.len(), "tensor");
        writeln!(
            out,
            "{:<11} {} in {number}",
            "parameters",
            text::grouped(elements)
        )?;
        writeln!(out, "{:<11} {}", "memory", text::bytes(bytes))?;

        let Description {
            inputs,
            outputs,
            operators,
            ..
        } = file.description();
        for (head, values) in [("INPUT", inputs), ("OUTPUT", outputs)] {
            let row = |value: &TensorInfo| vec![value.name.clone(), value.to_string()];
            let rows: Vec<Vec<String>> = values.iter().map(row).collect();
            write!(out, "\n{}", text::table(&[head, "TYPE"], &rows, &[]))?;
        }

        let unsupported = file.unsupported();
        let reason = |name: &str| {
            let of = unsupported.iter().find(|of| of.operator == name);
            of.map_or(String::new(), |of| format!("not supported: {}", of.reason))
        };
        let mut operators: Vec<_> = operators.iter().collect();
        operators.sort_by_key(|(_, count)| Reverse(**count));
        let row =
            |(name, count): (&String, &usize)| vec![name.clone(), count.to_string(), reason(name)];
        let rows: Vec<Vec<String>> = operators.into_iter().map(row).collect();
        write!(
            out,
            "\n{}",
            text::table(&["OPERATOR", "NODES", ""], &rows, &[1])
        )?;

        tensors.sort_by_key(|tensor| Reverse(tensor.3));
        let row = |(name, kind, _, bytes): &Row<'_>| {
            vec![(*name).into(), kind.clone(), text::bytes(*bytes)]
        };
        let rows: Vec<Vec<String>> = tensors.iter().take(largest).map(row).collect();
        write!(
            out,
            "\n{}",
            text::table(&["LARGEST", "TYPE", "MEMORY"], &rows, &[2])
        )?;
        Ok(())
    }

    fn row<'a>((name, shape, dtype): (&'a str, &[usize], Option<DType>)) -> Row<'a> {
        let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
        let kind = dtype.map_or("other", DType::name);
        let elements = shape.iter().fold(1u64, |n, d| n.saturating_mul(*d as u64));
        let bytes = elements.saturating_mul(dtype.map_or(0, DType::size) as u64);
        (
            name,
            format!("{kind}[{}]", sizes.join(",")),
            elements,
            bytes,
        )
    }

    /// Returns information about the model as a whole.
    fn facts(path: &Path, description: &Description) -> Vec<(String, String)> {
        let domain = |(domain, version): &(String, i64)| match domain.as_str() {
            "" => format!("ONNX {version}"),
            other => format!("{other} {version}"),
        };
        let opsets: Vec<String> = description.opsets.iter().map(domain).collect();
        let mut facts = vec![
            ("model".to_owned(), path.display().to_string()),
            (
                "format".to_owned(),
                format!("ONNX, IR version {}", description.ir_version),
            ),
            ("operators".to_owned(), opsets.join(", ")),
        ];
        if !description.producer.is_empty() {
            facts.push(("producer".into(), description.producer.clone()));
        }
        let notes = description.metadata.iter();
        facts.extend(notes.map(|(key, note)| (format!("note {key}"), text::shortened(note))));
        facts
    }
}
