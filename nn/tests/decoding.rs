//! `Decoding`: its tokens are those of `Generator`, whatever was cached before, and prompts of any
//! length need two programs, which are counted for the whole process.

use ramie_core::{Array, compilation_stats, disable_most_optimizations, random};
use ramie_nn::models::{Decoding, Generator, Gpt2, LanguageModel, Llama, Sampling};
use ramie_testing::{golden, panic_message};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn folder(name: &str) -> PathBuf {
    golden::path(&format!("hf_{name}"))
}

/// Continues a sequence to `length` tokens.
fn continued<M: LanguageModel>(
    decoding: &mut Decoding<M>,
    tokens: &[i32],
    length: usize,
) -> Vec<i32> {
    decoding.set_tokens(tokens);
    while decoding.tokens().len() < length {
        decoding.next_token(&random::key(0));
    }
    decoding.tokens().to_vec()
}

fn equals_generated<M: LanguageModel>(model: &M) {
    let generated = |prompt: &[i32], length: usize| {
        let generator = Generator::new(Sampling::greedy(), length - prompt.len());
        let tokens = Array::from_vec(prompt.to_vec(), &[1, prompt.len()]);
        let all = generator.generate(model, &tokens, &random::key(0));
        all.to_vec::<i32>()
    };
    let prompt: Vec<i32> = (0..11).map(|i| i * i % 53).collect();
    let expected = generated(&prompt, 20);
    for chunk in [1, 4, 11, 16] {
        let mut decoding = Decoding::new(model, Sampling::greedy(), 20).chunk_size(chunk);
        assert_eq!(continued(&mut decoding, &prompt, 20), expected, "{chunk}");
        assert!(decoding.is_full());
        // The same prompt again, all of it cached.
        assert_eq!(continued(&mut decoding, &prompt, 20), expected, "{chunk}");
        // Another continuation of the same beginning, a shorter one, and the first one again.
        let mut other = expected[..13].to_vec();
        other.extend([7, 3, 52]);
        assert_eq!(continued(&mut decoding, &other, 20), generated(&other, 20));
        assert_eq!(continued(&mut decoding, &[9], 12), generated(&[9], 12));
        assert_eq!(continued(&mut decoding, &prompt, 20), expected, "{chunk}");
    }
}

#[test]
fn tokens_are_those_of_the_generator() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    disable_most_optimizations(|| {
        equals_generated(&Llama::from_pretrained(folder("llama")).expect("loads"));
        equals_generated(&Gpt2::from_pretrained(folder("gpt2")).expect("loads"));
    });
}

#[test]
fn prompts_of_any_length_need_two_programs() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    disable_most_optimizations(|| {
        let model = Llama::from_pretrained(folder("llama")).expect("loads");
        let mut decoding = Decoding::new(&model, Sampling::greedy(), 30).chunk_size(8);
        let prompt: Vec<i32> = (0..30).collect();
        // Eager programs of small arrays are compiled, too: those are the same for each length.
        continued(&mut decoding, &prompt[..5], 7);
        continued(&mut decoding, &prompt[1..4], 5);
        let before = compilation_stats();
        for length in 1..25 {
            continued(&mut decoding, &prompt[..length], length + 2);
            continued(&mut decoding, &prompt[2..2 + length], length + 2);
        }
        assert_eq!(compilation_stats(), before);
    });
}

#[test]
fn calls_of_the_same_shapes_compile_nothing() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    disable_most_optimizations(|| {
        let model = Llama::from_pretrained(folder("llama")).expect("loads");
        let sampling = Sampling::greedy()
            .temperature(0.8)
            .top_p(0.9)
            .repetition_penalty(1.2);
        let generator = Generator::new(sampling, 6).eos_token_id(52);
        let generate = |seed: i32| {
            let prompts = [vec![seed, 5, 7, 7, 21], vec![9; 1 + seed as usize]];
            let key = random::key(i64::from(seed));
            generator.generate_prompts(&model, &prompts, &key);
            let tokens = Array::from([[seed, 3, 4]]);
            generator.generate(&model, &tokens, &key);
        };
        generate(0);
        let before = compilation_stats();
        for seed in 1..5 {
            generate(seed);
        }
        assert_eq!(compilation_stats(), before);
    });
}

#[test]
fn random_choices_are_those_of_their_keys() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    disable_most_optimizations(|| {
        let model = Llama::from_pretrained(folder("llama")).expect("loads");
        let sampling = Sampling::greedy().temperature(2.0);
        let mut decoding = Decoding::new(&model, sampling, 30);
        let mut drawn = |seed: i64| {
            decoding.set_tokens(&[5, 6, 7]);
            let key = random::key(seed);
            (0..20)
                .map(|i| decoding.next_token(&key.fold_in(i)))
                .collect::<Vec<_>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    });
}

#[test]
fn mistakes_are_explained() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let model = Gpt2::from_pretrained(folder("gpt2")).expect("loads");
    let said = |f: &mut dyn FnMut()| panic_message(f);
    let text = said(&mut || drop(Decoding::new(&model, Sampling::greedy(), 25)));
    assert!(
        text.contains("length is 25, but the model supports at most 24\n  help: "),
        "{text}"
    );
    let mut decoding = Decoding::new(&model, Sampling::greedy(), 3);
    let text = said(&mut || _ = decoding.next_token(&random::key(0)));
    assert!(
        text.contains("the sequence has 0 tokens, expected 1 or more"),
        "{text}"
    );
    let text = said(&mut || decoding.set_tokens(&[1, 2, 3, 4]));
    assert!(
        text.contains("has 4 tokens, but at most 3 fit\n  help: "),
        "{text}"
    );
    let text = said(&mut || decoding.set_tokens(&[1, 53]));
    assert!(
        text.contains("the token 53 is not in the vocabulary"),
        "{text}"
    );
    decoding.set_tokens(&[1, 2, 3]);
    let text = said(&mut || _ = decoding.next_token(&random::key(0)));
    assert!(text.contains("the sequence has 3 tokens"), "{text}");
    let mut layer = model.h[0].attn.clone();
    let text = said(&mut || layer.rewind(&Array::from(0)));
    assert!(
        text.contains("rewind: the layer has no cache\n  help: "),
        "{text}"
    );
}
