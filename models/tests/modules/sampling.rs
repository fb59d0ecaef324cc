//! The choice of tokens: logits are those of `transformers`; stop sequences end texts; prompts are
//! continued together as alone.

use ramie_core::{Array, random};
use ramie_models::{Decoding, Generator, Llama, Pretrained, Sampling};
use ramie_testing::{golden, panic_message};
use serde::Deserialize;
use std::ops::ControlFlow;

#[derive(Deserialize)]
struct Recorded {
    logits: Vec<Vec<f32>>,
    tokens: Vec<Vec<i32>>,
    rows: Vec<Row>,
}

/// Options of `generate`, and the logits that they leave; null is minus infinity.
#[derive(Deserialize)]
struct Row {
    repetition_penalty: Option<f64>,
    temperature: Option<f64>,
    top_k: Option<usize>,
    top_p: Option<f64>,
    min_p: Option<f64>,
    output: Vec<Vec<Option<f32>>>,
}

impl Row {
    fn sampling(&self) -> Sampling {
        let mut sampling = Sampling::greedy();
        // In another order than that in which they apply.
        if let Some(p) = self.min_p {
            sampling = sampling.min_p(p);
        }
        if let Some(p) = self.top_p {
            sampling = sampling.top_p(p);
        }
        if let Some(k) = self.top_k {
            sampling = sampling.top_k(k);
        }
        if let Some(temperature) = self.temperature {
            sampling = sampling.temperature(temperature);
        }
        match self.repetition_penalty {
            Some(penalty) => sampling.repetition_penalty(penalty),
            None => sampling,
        }
    }
}

#[test]
fn logits_are_those_of_transformers() {
    let Recorded {
        logits,
        tokens,
        rows,
    } = golden::json("sampling.json");
    let (batch, vocabulary) = (logits.len(), logits[0].len());
    let logits = Array::from_vec(logits.concat(), &[batch, vocabulary]);
    let tokens = Array::from_vec(tokens.concat(), &[batch, tokens[0].len()]);
    assert_eq!(rows.len(), 10);
    for row in rows {
        let sampling = row.sampling();
        let got = sampling.limited(&sampling.penalized(&logits, &tokens));
        for (got, expected) in got.to_vec::<f32>().iter().zip(row.output.concat()) {
            match expected {
                Some(expected) => assert!((got - expected).abs() < 2e-6, "{sampling:?}"),
                None => assert_eq!(*got, f32::NEG_INFINITY, "{sampling:?}"),
            }
        }
    }
}

fn model() -> Llama {
    Llama::from_pretrained(golden::path("hf_llama_tied")).expect("loads")
}

const PROMPTS: [&[i32]; 3] = [&[3, 50, 7, 7, 21], &[9], &[30, 2, 11]];

/// Each prompt alone.
fn alone(generator: &Generator<Llama>, model: &Llama) -> Vec<Vec<i32>> {
    let key = random::key(0);
    let one = |prompt: &[i32]| generator.generate_prompts(model, &[prompt], &key).remove(0);
    PROMPTS.iter().map(|prompt| one(prompt)).collect()
}

#[test]
fn penalties_ignore_padding() {
    let (model, key) = (model(), random::key(0));
    let plain = Generator::new(Sampling::greedy(), 8);
    let sampling = Sampling::greedy().repetition_penalty(1e6);
    let generator = Generator::new(sampling.clone(), 8);
    let texts = generator.generate_prompts(&model, &PROMPTS, &key);
    assert_eq!(texts, alone(&generator, &model));
    assert_ne!(texts, alone(&plain, &model));
    for (text, prompt) in texts.iter().zip(PROMPTS) {
        // No token repeats while others have positive logits.
        for i in prompt.len()..text.len() {
            assert!(!text[..i].contains(&text[i]), "{text:?}");
        }
        let mut decoding = Decoding::new(&model, sampling.clone(), 20).chunk_size(4);
        decoding.set_tokens(prompt);
        decoding.generate(8, &key).for_each(drop);
        assert_eq!(decoding.tokens(), text);
    }
}

#[test]
fn stop_sequences_end_texts() {
    let (model, key) = (model(), random::key(0));
    let sampling = Sampling::greedy().repetition_penalty(1e6);
    let generator = Generator::new(sampling.clone(), 8);
    let texts = alone(&generator, &model);
    let new: Vec<&[i32]> = (texts.iter().zip(PROMPTS))
        .map(|(text, prompt)| &text[prompt.len()..])
        .collect();
    // The first text ends after five tokens; the second one does not: its sequence is partly
    // in the prompt.
    let stops = [&new[0][3..5], &[9, new[1][0]], &[52, 52, 52, 52]];
    let generator = generator.stop_sequences(&stops);
    let ended = generator.generate_prompts(&model, &PROMPTS, &key);
    assert_eq!(ended[0], texts[0][..10]);
    assert_eq!(ended[1], texts[1]);
    assert_eq!(ended, alone(&generator, &model));
    let mut decoding = Decoding::new(&model, sampling, 20).stop_sequences(&stops);
    decoding.set_tokens(PROMPTS[0]);
    let tokens: Vec<i32> = decoding.generate(8, &key).collect();
    assert_eq!(tokens, new[0][..5]);
    // A tensor has padding after the end of its shorter rows.
    let two = Array::from([[9, 9, 9, 9, 9], [3, 50, 7, 7, 21]]);
    let generator = generator.pad_token_id(52);
    let both = generator.generate(&model, &two, &key);
    assert_eq!(both.shape(), [2, 13]);
    let row = both.index((1, ..)).to_vec::<i32>();
    assert_eq!(row, [&texts[0][..10], &[52; 3]].concat());
}

#[test]
fn tokens_are_streamed() {
    let (model, key) = (model(), random::key(0));
    let generator = Generator::new(Sampling::greedy().temperature(1.5), 6);
    let texts = generator.generate_prompts(&model, &PROMPTS, &key);
    let mut seen = PROMPTS.map(<[i32]>::to_vec);
    let mut steps = Vec::new();
    let streamed = generator.generate_prompts_with(&model, &PROMPTS, &key, |row, token| {
        seen[row].push(token);
        steps.push(row);
        match (row, seen[row].len()) {
            (2, 5) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    assert_eq!(streamed, seen);
    assert_eq!(streamed[..2], texts[..2]);
    assert_eq!(streamed[2], texts[2][..5]);
    assert_eq!(steps, [0, 1, 2, 0, 1, 2, 0, 1, 0, 1, 0, 1, 0, 1]);
    // All texts end: no further steps.
    let mut count = 0;
    generator.generate_prompts_with(&model, &PROMPTS, &key, |_, _| {
        count += 1;
        ControlFlow::Break(())
    });
    assert_eq!(count, 3);
}

#[test]
fn a_loop_over_tokens_can_end() {
    let model = model();
    let mut decoding = Decoding::new(&model, Sampling::greedy().temperature(1.5), 12);
    let key = random::key(0);
    decoding.set_tokens(PROMPTS[0]);
    let all: Vec<i32> = decoding.generate(100, &key).collect();
    assert_eq!((all.len(), decoding.is_full()), (7, true));
    decoding.set_tokens(PROMPTS[0]);
    let first = decoding.generate(3, &key).next();
    assert_eq!((first, decoding.tokens().len()), (Some(all[0]), 6));
    // It continues as if it had not stopped.
    assert!(decoding.generate(100, &key).eq(all[1..].iter().copied()));
    decoding.set_tokens(PROMPTS[0]);
    let mut decoding = decoding.eos_token_id(all[2]);
    let ended: Vec<i32> = decoding.generate(100, &key).collect();
    let end = all.iter().position(|token| *token == all[2]).unwrap();
    assert_eq!(ended, all[..=end]);
}

#[test]
fn mistakes_are_explained() {
    let said = |f: fn() -> Sampling, part: &str| {
        let text = panic_message(f);
        assert!(text.contains(part) && text.contains("help: "), "{text}");
    };
    said(|| Sampling::greedy().min_p(1.5), "min_p: p is 1.5");
    said(
        || Sampling::greedy().repetition_penalty(0.0),
        "the penalty is 0",
    );
    let generator = || Generator::<Llama>::new(Sampling::greedy(), 4);
    let text = panic_message(|| drop(generator().stop_sequences(&[vec![1], vec![]])));
    assert!(
        text.contains("Generator: a stop sequence is empty\n  help: "),
        "{text}"
    );
}
