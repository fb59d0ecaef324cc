//! Damaged texts give errors, never a panic.

use crate::damages::{Random, damage, inputs};
use crate::forms::FORMS;
use crate::{function, parsed, recorded};
use ramie_cpu::text::parse;

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
