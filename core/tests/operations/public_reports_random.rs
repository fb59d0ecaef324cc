//! Random numbers: reports about JAX, LAMMPS, Boltz and Distributions.jl.
use ramie_core::{Array, DType, random};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// jax-ml/jax#10951, scipy/scipy#2477, pyro-ppl/numpyro#1606. Far from the mean, a truncated normal sample is a
/// bound (here 999,999.94), because the distribution function is 1 in `f32` from 5.3 on. On the other side of the
/// mean the function is rounded, too.
/// Right: beyond a the density falls as `e^(-a x)`: the mean is close to `a + 1/a - 2/a³ + 10/a⁵`, and fewer
/// than one in `10⁹` samples is above a + 4.
#[test]
fn truncated_normals_far_from_the_mean() {
    let mut wrong = Vec::new();
    for a in [4.0f64, 5.0, 5.5, 6.0, 8.0, 10.0] {
        let expected = (a + 1.0 / a - 2.0 / a.powi(3) + 10.0 / a.powi(5)) as f32;
        for (side, sign, lower, upper) in [("above", 1.0, a, 1e6), ("below", -1.0, -1e6, -a)] {
            let x = random::truncated_normal(&random::key(1), lower, upper, &[4000], DType::F32);
            let x: Vec<f32> = x.to_vec::<f32>().iter().map(|x| sign * x).collect();
            let mean = x.iter().sum::<f32>() / 4000.0;
            let largest = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            if (mean - expected).abs() > 0.03 || largest > a as f32 + 4.0 || mean.is_nan() {
                wrong.push(format!(
                    "{side} {a}: mean {mean}, expected {expected}; largest {largest}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// lammps/lammps#2687. A Rayleigh sample is infinite if the uniform number is exactly 0: one in 8 million in `f32`,
/// one in 1024 in `f16`, one in 128 in `bf16`.
/// Right: all samples are finite, and their mean is `√(π/2)` = 1.2533.
#[test]
fn rayleigh_numbers_are_finite() {
    let mut wrong = Vec::new();
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let x = random::rayleigh(&random::key(7), 1.0, &[20_000], dtype)
            .astype(DType::F32)
            .to_vec::<f32>();
        let infinite = x.iter().filter(|x| !x.is_finite()).count();
        let finite: Vec<f32> = x.iter().copied().filter(|x| x.is_finite()).collect();
        let mean = finite.iter().sum::<f32>() / finite.len() as f32;
        if infinite > 0 || (mean - 1.2533).abs() > 0.03 {
            wrong.push(format!(
                "{dtype}: {infinite} of 20000 are not finite, mean of the others {mean}"
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// jwohlwend/boltz#553, jax-ml/jax#28039. A uniform number in `bf16` is one of 128 numbers, and 0 in one of 128
/// draws, so an event of probability 0.001 in `bf16` happens eight times too often.
/// Right: the frequency is the probability within five standard deviations, and 0 for 0.
#[test]
fn rare_events_of_narrow_probabilities() {
    let n = 200_000;
    let mut wrong = Vec::new();
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        for p in [0.0f32, 0.001, 0.01, 0.1, 0.503, 0.999, 1.0] {
            let given = Array::from(p).astype(dtype);
            let p = given.astype(DType::F32).item::<f32>();
            let hits = random::bernoulli(&random::key(3), &given, &[n])
                .astype(DType::F32)
                .mean()
                .item::<f32>();
            let deviation = (p * (1.0 - p) / n as f32).sqrt();
            if (hits - p).abs() > 5.0 * deviation + 1e-7 {
                wrong.push(format!(
                    "p = {p} in {dtype}: frequency {hits}, within {}",
                    5.0 * deviation
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// jax-ml/jax#30879. Categories are drawn from logits in `bf16`, as models return them, with noise in `bf16`. It
/// has few different values, so many categories share the largest sum, and the first of them is drawn.
/// Right: of a thousand equal logits each has the probability 0.001: the mean of the drawn numbers is 499.5 with a
/// standard error of 6.5, and about 865 of the 1000 numbers occur in 2000 draws.
#[test]
fn categories_of_equal_narrow_logits_are_equally_likely() {
    let mut wrong = Vec::new();
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let logits = Array::zeros(&[2000, 1000], dtype);
        let drawn = random::categorical(&random::key(5), &logits, -1)
            .astype(DType::I32)
            .to_vec::<i32>();
        let mean = drawn.iter().map(|i| f64::from(*i)).sum::<f64>() / 2000.0;
        let mut different = drawn.clone();
        different.sort();
        different.dedup();
        if (mean - 499.5).abs() > 40.0 || different.len() < 800 {
            wrong.push(format!(
                "{dtype}: mean {mean}, {} different numbers",
                different.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// jax-ml/jax#25498. A choice with replacement draws elements of probability 0, if there are millions of elements:
/// the sums of the probabilities are rounded, so that they grow over elements that add nothing.
/// Right: an element of probability 0 is never drawn.
#[test]
fn elements_of_probability_zero_are_not_drawn() {
    let (n, there) = (1_000_000, 700_000);
    let mut p = vec![1.0 / there as f32; n];
    p[there..].fill(0.0);
    let p = Array::from(p);
    let drawn = random::Choice::of(n).p(&p).draw(&random::key(0), &[n]);
    let beyond = drawn
        .ge(there as i32)
        .astype(DType::I32)
        .sum()
        .item::<i32>();
    assert_eq!(
        beyond,
        0,
        "of a million draws; the largest is {}",
        drawn.max()
    );
}

/// jax-ml/jax#9548 (pull request #9564). A choice without replacement among fewer elements of positive probability
/// than draws returns elements of probability 0, without a word.
/// Right: a refusal, as for more draws than elements (and as Ramie's weighted sampler of data refuses it). The
/// numbers are known here, outside of a compiled function.
#[test]
fn too_few_possible_elements_are_refused() {
    let p = Array::from([0.5f32, 0.5, 0.0, 0.0]);
    let draw = |draws: usize| {
        let how = random::Choice::of(4).p(&p).without_replacement();
        catch_unwind(AssertUnwindSafe(|| {
            how.draw(&random::key(0), &[draws]).to_vec::<i32>()
        }))
    };
    let mut two = draw(2).expect("two of two");
    two.sort();
    assert_eq!(two, [0, 1]);
    if let Ok(drawn) = draw(3) {
        panic!("three of two: {drawn:?}");
    }
}

/// JuliaStats/Distributions.jl#1810, probmods/webppl#132. Gamma numbers of a small shape are 0 in floats, so what is
/// computed from them without logarithms has the wrong distribution. A generalized normal number of power p
/// is a gamma number of shape 1/p, to the power 1/p.
/// Right: for p = 100 the magnitude is almost uniform from 0 to 1 (its density is constant until close to 1): a
/// quarter of the numbers is below 0.25, and none is exactly 0.
#[test]
fn generalized_normals_of_a_large_power() {
    for p in [2.0f64, 8.0, 30.0, 100.0] {
        let x =
            random::generalized_normal(&random::key(2), p, &[20_000], DType::F32).to_vec::<f32>();
        let zeros = x.iter().filter(|x| **x == 0.0).count();
        assert!(zeros < 20, "p = {p}: {zeros} of 20000 are 0");
        if p >= 30.0 {
            let below = x.iter().filter(|x| x.abs() < 0.25).count() as f32 / 20_000.0;
            // The density at 0 is 1 / Γ(1 + 1/p), 1.02 for 30 and 1.01 for 100.
            assert!(
                (below - 0.254).abs() < 0.02,
                "p = {p}: {below} are below 0.25"
            );
        }
    }
}
