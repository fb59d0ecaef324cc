//! Crates that draw from a `Generator`.

use ramie_data::Generator;
use rand::RngExt;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, Gamma};

#[test]
fn crates_of_distributions_draw_from_a_generator() {
    let (mut own, mut other) = (Generator::new(3), Generator::seed_from_u64(3));
    assert_eq!(own, Generator::from_seed(3u64.to_le_bytes()));
    assert_eq!(own.next_u64(), other.random::<u64>());
    assert_eq!((own.next_u64() >> 32) as u32, other.random::<u32>());
    let (mut bytes, words) = ([0; 11], [own.next_u64(), own.next_u64()]);
    other.fill(&mut bytes[..]);
    assert_eq!(bytes[..8], words[0].to_le_bytes());
    assert_eq!(bytes[8..], words[1].to_le_bytes()[..3]);

    let mut order: Vec<usize> = (0..100).collect();
    order.shuffle(&mut other);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert!(order != sorted && sorted.into_iter().eq(0..100));
    // Mean 6 and variance 12; 0.07 is four standard deviations of the mean.
    let gamma = Gamma::new(3.0, 2.0).unwrap();
    let n = 40_000;
    let sum: f64 = (0..n).map(|_| gamma.sample(&mut other)).sum();
    assert!((sum / f64::from(n) - 6.0).abs() < 0.07, "{sum}");
}
