//! Random damage of texts.

/// A generator of random numbers (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self, below: usize) -> usize {
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
pub fn damage(text: &str, other: &str, random: &mut Random) -> String {
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

/// Returns the number of texts to try, which `RAMIE_FUZZ_INPUTS` sets.
pub fn inputs() -> usize {
    match std::env::var("RAMIE_FUZZ_INPUTS") {
        Ok(count) => count.parse().unwrap(),
        Err(_) => 20_000,
    }
}
