//! Damaged texts give errors, never a panic.

use crate::forms::FORMS;
use crate::{function, parsed, recorded};
use ramie_cpu::text::parse;

/// A generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % below.max(1)
    }
}

/// Texts that damage inserts.
const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ",",
    ":",
    "=",
    "->",
    "-",
    "\"",
    "\\",
    "%",
    "#",
    "@",
    "^bb0:",
    "!",
    "?",
    "//",
    "\n",
    "é",
    "\0",
    "%0",
    "%arg0",
    "%0:2 = ",
    "#1",
    "#loc",
    "@main",
    "loc(",
    "loc(#loc)",
    "99999999999999999999",
    "18446744073709551615",
    "-1",
    "0x",
    "0xFFFFFFFFFFFFFFFFF",
    "1e999",
    "1.0",
    "tensor<",
    "tensor<f32>",
    "tensor<0x0xf64>",
    "tuple<",
    "complex<f32>",
    "!stablehlo.token",
    "dense<",
    "dense<\"0xFF\"> : tensor<9xi1>",
    "array<i64: ",
    "module",
    "func.func",
    "return",
    "stablehlo.return",
    "call @main(",
    "stablehlo.constant ",
    "stablehlo.while(",
    "stablehlo.reduce(",
    "({",
    "})",
    "<{",
    "}>",
    "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>",
    "#stablehlo<",
    "#sdy<",
    "#a = [#a, #a]\n",
];

/// Returns the start of a character at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at)
        .rev()
        .find(|i| text.is_char_boundary(*i))
        .unwrap_or(0)
}

/// Returns a random part of the text.
fn part<'t>(text: &'t str, random: &mut Random, longest: usize) -> (usize, &'t str) {
    let start = floor(text, random.next(text.len() + 1));
    let length = 1 + random.next(longest);
    let end = floor(text, (start + length).min(text.len()));
    (start, &text[start..end.max(start)])
}

/// Changes the text in one position.
fn damage(text: &str, other: &str, random: &mut Random) -> String {
    let (start, cut) = part(text, random, 12);
    let (before, after) = (&text[..start], &text[start + cut.len()..]);
    match random.next(6) {
        0 => format!("{before}{after}"),
        1 => format!("{before}{}{after}", PIECES[random.next(PIECES.len())]),
        2 => format!("{before}{}{cut}{after}", PIECES[random.next(PIECES.len())]),
        3 => format!("{before}{}{after}", part(other, random, 60).1),
        4 => format!("{before}{cut}{cut}{after}"),
        _ => format!("{before}{}{after}", (random.next(95) as u8 + 32) as char),
    }
}

fn inputs() -> usize {
    match std::env::var("RAMIE_FUZZ_INPUTS") {
        Ok(count) => count.parse().unwrap(),
        Err(_) => 20_000,
    }
}

/// Returns all texts to damage.
fn seeds() -> Vec<String> {
    let forms = FORMS.iter().flat_map(|(arguments, pretty, generic)| {
        [pretty, generic].map(|operation| function(arguments, operation))
    });
    recorded()
        .into_iter()
        .map(|(_, text)| text)
        .chain(forms)
        .collect()
}

#[test]
fn damaged_modules_do_not_panic() {
    let seeds = seeds();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut accepted = 0;
    for _ in 0..inputs() {
        let mut text = seeds[random.next(seeds.len())].clone();
        for _ in 0..1 + random.next(4) {
            text = damage(&text, &seeds[random.next(seeds.len())], &mut random);
        }
        accepted += usize::from(parse(&text).is_ok());
    }
    println!("{accepted} of {} damaged modules are valid", inputs());
}

#[test]
fn modules_cut_at_any_byte_do_not_panic() {
    let mut seeds = seeds();
    seeds.retain(|text| text.len() < 1500);
    assert!(seeds.len() > 50);
    for text in seeds {
        let ends = text.char_indices().map(|(end, _)| end);
        for end in ends {
            let _ = parse(&text[..end]);
            let _ = parse(&text[end..]);
        }
    }
}

#[test]
fn long_modules_take_linear_memory_and_time() {
    // Quadratic algorithms would need hours for these.
    let n = 200_000;
    let members = vec!["tensor<f32>"; n].join(", ");
    let names: Vec<String> = (0..n).map(|i| format!("%a{i} = %t{i}")).collect();
    let values: Vec<String> = (0..n).map(|i| format!("%t{i}: tensor<f32>")).collect();
    let list = |separator: &str, prefix: &str| {
        let names: Vec<String> = (0..n).map(|i| format!("{prefix}{i}")).collect();
        names.join(separator)
    };
    let loop_text = format!(
        "%0:{n} = stablehlo.while({}) : {members} cond {{\n%c = stablehlo.constant dense<true> : tensor<i1>\nstablehlo.return %c : tensor<i1>\n}} do {{\nstablehlo.return {} : {members}\n}}",
        names.join(", "),
        list(", ", "%a"),
    );
    parsed(&function(&values.join(", "), &loop_text));
    let entries: Vec<String> = (0..n).map(|i| format!("k{i} = {i}")).collect();
    parsed(&function(
        "",
        &format!("\"test.op\"() {{{}}} : () -> ()", entries.join(", ")),
    ));
    let elements = list(", ", "1");
    parsed(&function(
        "",
        &format!("%0 = stablehlo.constant dense<[{elements}]> : tensor<{n}xi32>"),
    ));
    let tuple = format!("tuple<{members}>");
    let tokens = vec!["%x"; n].join(", ");
    let text = function(
        &format!("%x: {tuple}"),
        &format!("%0 = stablehlo.after_all {tokens} : {tuple}"),
    );
    assert!(parse(&text).is_err());
    let lines: String = (0..n)
        .map(|i| format!("%{i} = stablehlo.abs %x : tensor<f32>\n"))
        .collect();
    parsed(&function("%x: tensor<f32>", &lines));
}
