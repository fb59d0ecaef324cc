//! Text representation of a compiled module, from the binary form that plugins return.
//!
//! Field numbers are those of XLA's `HloModuleProto` and the messages in it. The text follows
//! XLA's own notation: one line per instruction with name, shape, operation, operands and the
//! attributes that identify it.

use crate::proto::{Field, Reader};
use std::collections::HashMap;
use std::fmt::Write;

/// Constants with more elements are shown as `{...}`.
const SHOWN_ELEMENTS: usize = 8;

/// Returns the text of a program in this format, or `None` if the format is unknown.
pub fn text(format: &str, code: &[u8]) -> Option<String> {
    match format {
        "mlir" => Some(String::from_utf8_lossy(code).into_owned()),
        _ => module_of(format, code).map(module),
    }
}

/// Returns the message of the module in a program in this format.
pub fn module_of<'a>(format: &str, code: &'a [u8]) -> Option<&'a [u8]> {
    match format {
        "hlo" => Some(code),
        // The module, followed by the configuration it was compiled with.
        "hlo_with_config" => messages(code, 1).next(),
        _ => None,
    }
}

/// Names of instructions or computations by id.
type Names = HashMap<i64, String>;

fn module(code: &[u8]) -> String {
    let (mut name, mut entry, mut aliases) = (String::new(), 0, String::new());
    let mut computations = Vec::new();
    for (field, value) in Reader(code) {
        match field {
            1 => name = value.text(),
            3 => computations.push(value.bytes()),
            6 => entry = value.int(),
            8 => aliases = alias_entries(value.bytes()),
            _ => {}
        }
    }
    let names: Names = computations
        .iter()
        .map(|c| (int(c, 5), string(c, 1)))
        .collect();
    let mut out = format!("HloModule {name}");
    if !aliases.is_empty() {
        let _ = write!(out, ", input_output_alias={{ {aliases} }}");
    }
    out.push('\n');
    for code in computations {
        out.push('\n');
        if int(code, 5) == entry {
            out.push_str("ENTRY ");
        }
        computation(code, &names, &mut out);
    }
    out
}

/// Formats the donated inputs: `{output}: (parameter, {part}, kind)`.
fn alias_entries(code: &[u8]) -> String {
    let entries = messages(code, 1).map(|entry| {
        let kind = if int(entry, 4) == 2 {
            "must-alias"
        } else {
            "may-alias"
        };
        let (output, part) = (list(&ints(entry, 1)), list(&ints(entry, 3)));
        format!("{output}: ({}, {part}, {kind})", int(entry, 2))
    });
    entries.collect::<Vec<_>>().join(", ")
}

fn computation(code: &[u8], computations: &Names, out: &mut String) {
    let instructions: Vec<&[u8]> = messages(code, 2).collect();
    let names: Names = instructions
        .iter()
        .map(|i| (int(i, 35), string(i, 1)))
        .collect();
    let root = int(code, 6);
    let _ = writeln!(out, "{} {{", string(code, 1));
    for code in instructions {
        out.push_str(if int(code, 35) == root {
            "  ROOT "
        } else {
            "  "
        });
        instruction(code, &names, computations, out);
    }
    out.push_str("}\n");
}

fn instruction(code: &[u8], names: &Names, computations: &Names, out: &mut String) {
    let opcode = string(code, 2);
    let shape = field(code, 3).map_or(String::new(), |s| shape(s.bytes()));
    let operands = match opcode.as_str() {
        "parameter" => int(code, 9).to_string(),
        "constant" => field(code, 8).map_or("{...}".into(), |l| literal(l.bytes())),
        _ => named(names, &ints(code, 36)),
    };
    let _ = write!(out, "{} = {shape} {opcode}({operands})", string(code, 1));
    for (name, value) in attributes(code, &opcode, computations) {
        if !value.is_empty() {
            let _ = write!(out, ", {name}={value}");
        }
    }
    out.push('\n');
}

/// Returns the names of instructions or computations.
fn named(names: &Names, ids: &[i64]) -> String {
    let name = |id| names.get(id).cloned().unwrap_or_else(|| format!("?{id}"));
    ids.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Returns the attributes of an instruction. An empty value means that it has no such attribute.
fn attributes(code: &[u8], opcode: &str, computations: &Names) -> Vec<(&'static str, String)> {
    const DOT: [&str; 4] = [
        "lhs_contracting_dims",
        "rhs_contracting_dims",
        "lhs_batch_dims",
        "rhs_batch_dims",
    ];
    let mut all = vec![("dimensions", list_if_any(&ints(code, 14)))];
    if opcode == "get-tuple-element" {
        all.push(("index", int(code, 13).to_string()));
    }
    if let Some(dot) = field(code, 30) {
        let dims = |i| list_if_any(&ints(dot.bytes(), i));
        all.extend((1..).zip(DOT).map(|(i, name)| (name, dims(i))));
    }
    let slices: Vec<String> = messages(code, 17)
        .map(|s| format!("[{}:{}:{}]", int(s, 1), int(s, 2), int(s, 3)))
        .collect();
    if !slices.is_empty() {
        all.push(("slice", format!("{{{}}}", slices.join(", "))));
    }
    all.push(("direction", string(code, 63)));
    all.push(("kind", string(code, 11)));
    let target = string(code, 28);
    if !target.is_empty() {
        all.push(("custom_call_target", format!("{target:?}")));
    }
    let role = match opcode {
        "while" => "body_and_condition",
        "conditional" => "branch_computations",
        "fusion" | "call" | "async-start" => "calls",
        _ => "to_apply",
    };
    let called = ints(code, 38);
    all.push(match called.len() {
        0 | 1 => (role, named(computations, &called)),
        _ => (role, format!("{{{}}}", named(computations, &called))),
    });
    if let Some(metadata) = field(code, 7) {
        all.push(("metadata", source(metadata.bytes())));
    }
    all
}

/// Returns the source location of an instruction, if the program contains it.
fn source(code: &[u8]) -> String {
    let (name, file, line) = (string(code, 2), string(code, 3), int(code, 4));
    let mut parts = Vec::new();
    if !name.is_empty() {
        parts.push(format!("op_name={name:?}"));
    }
    if !file.is_empty() {
        parts.push(format!("source_file={file:?} source_line={line}"));
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!("{{{}}}", parts.join(" "))
    }
}

fn shape(code: &[u8]) -> String {
    const TUPLE: i64 = 13;
    let element = int(code, 2);
    if element == TUPLE {
        let parts: Vec<String> = messages(code, 4).map(shape).collect();
        return format!("({})", parts.join(", "));
    }
    let order = field(code, 5).map_or(Vec::new(), |layout| ints(layout.bytes(), 1));
    let order = list_if_any(&order);
    let dims = ints(code, 3).iter().map(i64::to_string).collect::<Vec<_>>();
    format!("{}[{}]{order}", element_name(element), dims.join(","))
}

/// Returns the name of an element type. The numbers differ from those of the PJRT ABI.
pub fn element_name(number: i64) -> &'static str {
    const NAMES: [&str; 34] = [
        "invalid",
        "pred",
        "s8",
        "s16",
        "s32",
        "s64",
        "u8",
        "u16",
        "u32",
        "u64",
        "f16",
        "f32",
        "f64",
        "tuple",
        "opaque",
        "c64",
        "bf16",
        "token",
        "c128",
        "f8e5m2",
        "f8e4m3fn",
        "s4",
        "u4",
        "f8e4m3b11fnuz",
        "f8e5m2fnuz",
        "f8e4m3fnuz",
        "s2",
        "u2",
        "f8e4m3",
        "f8e3m4",
        "s1",
        "u1",
        "f4e2m1fn",
        "f8e8m0fnu",
    ];
    usize::try_from(number)
        .ok()
        .and_then(|i| NAMES.get(i).copied())
        .unwrap_or("?")
}

/// Formats the elements of a small constant.
fn literal(code: &[u8]) -> String {
    let mut elements: Vec<String> = Vec::new();
    for (field, value) in Reader(code) {
        match field {
            // booleans and integers
            2 if !value.bytes().is_empty() => {
                elements.extend(value.bytes().iter().map(|b| (*b != 0).to_string()));
            }
            4..=7 => {
                let mut ints = Vec::new();
                value.ints_into(&mut ints);
                elements.extend(ints.iter().map(i64::to_string));
            }
            8 => {
                let floats = value.bytes().chunks_exact(4);
                elements.extend(
                    floats.map(|b| f32::from_le_bytes(b.try_into().expect("4")).to_string()),
                );
            }
            9 => {
                let doubles = value.bytes().chunks_exact(8);
                elements.extend(
                    doubles.map(|b| f64::from_le_bytes(b.try_into().expect("8")).to_string()),
                );
            }
            _ => {}
        }
    }
    match elements.len() {
        0 => "{...}".into(),
        1 => elements.remove(0),
        n if n <= SHOWN_ELEMENTS => format!("{{{}}}", elements.join(", ")),
        _ => "{...}".into(),
    }
}

/// Returns the messages or strings in all fields with this number.
pub(crate) fn messages(code: &[u8], number: u32) -> impl Iterator<Item = &[u8]> {
    let of_number = Reader(code).filter(move |(field, _)| *field == number);
    of_number.map(|(_, message)| message.bytes())
}

/// Returns the last field with this number, as the wire format requires.
pub(crate) fn field(code: &[u8], number: u32) -> Option<Field<'_>> {
    Reader(code)
        .filter(|(field, _)| *field == number)
        .last()
        .map(|(_, value)| value)
}

pub(crate) fn int(code: &[u8], number: u32) -> i64 {
    field(code, number).map_or(0, Field::int)
}

pub(crate) fn string(code: &[u8], number: u32) -> String {
    field(code, number).map_or(String::new(), Field::text)
}

pub(crate) fn ints(code: &[u8], number: u32) -> Vec<i64> {
    let mut list = Vec::new();
    for (_, value) in Reader(code).filter(|(field, _)| *field == number) {
        value.ints_into(&mut list);
    }
    list
}

/// Returns the list, or nothing for an empty list.
fn list_if_any(values: &[i64]) -> String {
    match values {
        [] => String::new(),
        values => list(values),
    }
}

fn list(values: &[i64]) -> String {
    let values: Vec<String> = values.iter().map(i64::to_string).collect();
    format!("{{{}}}", values.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::Writer;

    /// Returns `y = add(x, 2)` as a module of one computation.
    fn small_module() -> Vec<u8> {
        let scalar = |w: &mut Writer| w.message(3, |shape| shape.int(2, 11));
        let mut module = Writer::default();
        module.bytes(1, b"small");
        module.message(3, |c| {
            c.bytes(1, b"main");
            c.message(2, |i| {
                i.bytes(1, b"x");
                i.bytes(2, b"parameter");
                scalar(i);
                i.int(35, 1);
            });
            c.message(2, |i| {
                i.bytes(1, b"two");
                i.bytes(2, b"constant");
                scalar(i);
                i.message(8, |l| l.bytes(8, &2f32.to_le_bytes()));
                i.int(35, 2);
            });
            c.message(2, |i| {
                i.bytes(1, b"y");
                i.bytes(2, b"add");
                scalar(i);
                i.bytes(36, &[1, 2]);
                i.int(35, 3);
                i.message(7, |m| {
                    m.bytes(3, b"model.rs");
                    m.int(4, 42);
                });
            });
            c.int(5, 7);
            c.int(6, 3);
        });
        module.int(6, 7);
        module.message(8, |aliases| aliases.message(1, |entry| entry.int(4, 1)));
        module.0
    }

    #[test]
    fn a_module_is_shown_in_the_notation_of_xla() {
        let expected = "HloModule small, input_output_alias={ {}: (0, {}, may-alias) }\n\nENTRY main {\n  \
                        x = f32[] parameter(0)\n  two = f32[] constant(2)\n  \
                        ROOT y = f32[] add(x, two), metadata={source_file=\"model.rs\" source_line=42}\n}\n";
        assert_eq!(text("hlo", &small_module()).unwrap(), expected);
        let mut with_config = Writer::default();
        with_config.bytes(1, &small_module());
        assert_eq!(text("hlo_with_config", &with_config.0).unwrap(), expected);
    }

    #[test]
    fn any_bytes_give_some_text_and_unknown_formats_none() {
        let module = small_module();
        for cut in 0..module.len() {
            assert!(text("hlo", &module[..cut]).is_some());
        }
        assert_eq!(text("vendor", &module), None);
        assert_eq!(text("mlir", b"module {}").unwrap(), "module {}");
    }
}
