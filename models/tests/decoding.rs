//! `Decoding`: its tokens are those of `Generator`, whatever was cached before, and prompts of any
//! length need two programs, which are counted for the whole process. `BatchDecoding`: its tokens are
//! those of `Decoding`, whatever the other slots contain.

use ramie_core::{Array, compilation_stats, random};
use ramie_models::{
    BatchDecoding, Decoding, Generator, Gpt2, LanguageModel, Llama, Pretrained, Sampling,
};
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
    for name in ["llama", "mistral", "qwen3"] {
        equals_generated(&Llama::from_pretrained(folder(name)).expect("loads"));
    }
    equals_generated(&Gpt2::from_pretrained(folder("gpt2")).expect("loads"));
}

#[test]
fn prompts_of_any_length_need_two_programs() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
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
}

#[test]
fn calls_of_the_same_shapes_compile_nothing() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
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
}

#[test]
fn random_choices_are_those_of_their_keys() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
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
}

/// A sequence: the step before which it starts, its prompt, its options, and its number of tokens.
type Sequence = (usize, Vec<i32>, Sampling, usize);

/// The tokens of each sequence alone, and in a batch of three slots.
fn alone_and_together<M: LanguageModel>(
    model: &M,
    batch: &mut BatchDecoding<M>,
    sequences: &[Sequence],
) -> [Vec<Vec<i32>>; 2] {
    let alone = sequences
        .iter()
        .zip(0..)
        .map(|((_, prompt, sampling, length), seed)| {
            let mut decoding = Decoding::new(model, sampling.clone(), batch.max_length());
            decoding.set_tokens(prompt);
            decoding
                .generate(length - prompt.len(), &random::key(seed))
                .count();
            decoding.tokens().to_vec()
        });
    let alone = alone.collect();
    let mut together = vec![Vec::new(); sequences.len()];
    let mut slots = [None; 3];
    let mut waiting = sequences.iter().enumerate().peekable();
    for step in 0.. {
        while let Some((i, (_, prompt, sampling, _))) =
            waiting.next_if(|(_, (start, ..))| *start <= step && batch.free_slots() > 0)
        {
            let slot = batch.start(prompt, sampling.clone(), &random::key(i as i64));
            slots[slot] = Some(i);
        }
        for (slot, token) in batch.step() {
            assert_eq!(batch.tokens(slot).last(), Some(&token));
            let i = slots[slot].expect("a sequence");
            if batch.tokens(slot).len() == sequences[i].3 {
                together[i] = batch.end(slot);
            }
        }
        if waiting.peek().is_none() && batch.free_slots() == 3 {
            break;
        }
    }
    [alone, together]
}

fn equals_alone<M: LanguageModel>(model: &M) {
    let mut batch = BatchDecoding::new(model, 3, 23);
    let greedy = Sampling::greedy;
    let prompt = |seed: i32, length: i32| (0..length).map(|i| (i * i + seed) % 53).collect();
    let sequences = [
        (0, prompt(0, 11), greedy(), 20),
        (0, prompt(5, 1), greedy(), 9),
        (2, prompt(9, 3), greedy(), 23),
        // It waits for a slot.
        (2, prompt(2, 17), greedy(), 23),
        (7, prompt(40, 2), greedy().temperature(0.7), 12),
        (7, prompt(8, 22), greedy().top_k(3), 23),
        (
            8,
            prompt(0, 11),
            greedy().temperature(1.5).top_k(40).top_p(0.8),
            20,
        ),
        (30, prompt(1, 4), greedy().temperature(2.0).min_p(0.1), 23),
        (31, prompt(1, 4), greedy(), 23),
    ];
    let [alone, together] = alone_and_together(model, &mut batch, &sequences);
    assert_eq!(together, alone);
}

#[test]
fn sequences_together_are_those_alone() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for name in ["llama", "mistral", "qwen3"] {
        equals_alone(&Llama::from_pretrained(folder(name)).expect("loads"));
    }
    equals_alone(&Gpt2::from_pretrained(folder("gpt2")).expect("loads"));
}

#[test]
fn a_compiled_batch_compiles_nothing() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let model = Llama::from_pretrained(folder("llama")).expect("loads");
    let mut batch = BatchDecoding::new(&model, 2, 80).compiled();
    let before = compilation_stats();
    for (length, seed) in (1..80).step_by(13).zip(0..) {
        let prompt: Vec<i32> = (0..length).map(|i| i % 53).collect();
        let sampling = match seed % 3 {
            0 => Sampling::greedy(),
            1 => Sampling::greedy().temperature(0.5),
            _ => Sampling::greedy().top_p(0.9),
        };
        let slot = batch.start(&prompt, sampling, &random::key(seed));
        batch.step();
        if seed % 2 == 1 {
            batch.end(slot);
            batch.end(0);
        }
    }
    assert_eq!(compilation_stats(), before);
}

#[test]
fn mistakes_with_batches_are_explained() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let model = Gpt2::from_pretrained(folder("gpt2")).expect("loads");
    let said = |f: &mut dyn FnMut()| panic_message(f);
    let text = said(&mut || drop(BatchDecoding::new(&model, 2, 25)));
    assert!(
        text.contains("expected 1 or more slots and at most 24 tokens\n  help: "),
        "{text}"
    );
    let mut batch = BatchDecoding::new(&model, 1, 3);
    assert_eq!(batch.step(), []);
    let key = random::key(0);
    let mut start = |prompt: &[i32], sampling: Sampling| {
        panic_message(|| _ = batch.start(prompt, sampling, &key))
    };
    let text = start(&[1, 2, 3], Sampling::greedy());
    assert!(
        text.contains("the prompt has 3 tokens, expected 1 or more, and less than 3\n  help: "),
        "{text}"
    );
    let text = start(&[53], Sampling::greedy());
    assert!(
        text.contains("the token 53 is not in the vocabulary"),
        "{text}"
    );
    let text = start(&[1], Sampling::greedy().repetition_penalty(1.1));
    assert!(text.contains("have a repetition penalty"), "{text}");
    let slot = batch.start(&[1, 2], Sampling::greedy(), &key);
    let text = said(&mut || _ = batch.start(&[1], Sampling::greedy(), &key));
    assert!(
        text.contains("all 1 slots have sequences\n  help: "),
        "{text}"
    );
    batch.step();
    assert!(batch.is_full(slot));
    let text = said(&mut || _ = batch.step());
    assert!(
        text.contains("the sequence in slot 0 has 3 tokens, the maximum\n  help: "),
        "{text}"
    );
    batch.end(slot);
    let text = said(&mut || _ = batch.end(slot));
    assert!(
        text.contains("end: slot 0 has no sequence\n  help: "),
        "{text}"
    );
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
    layer.start_decoding(2, 4);
    let text = said(&mut || layer.rewind(&Array::from([0, 0, 0])));
    assert!(
        text.contains("the lengths are i32[3], but the cache has the batch axes [2]\n  help: "),
        "{text}"
    );
}
