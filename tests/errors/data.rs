//! Errors of data pipelines.

use crate::document::{Case, case};
use ramie::data::{
    Context, DataLoader, Generator, IntoSource, Result, Source, SourceExt, SubsetRandomSampler,
    Transform,
};

pub fn cases() -> Vec<Case> {
    vec![
        case("shuffle: the source is endless", || {
            (0..10).into_source().repeat(None).shuffle(0)
        }),
        case("repeat: the source is already endless", || {
            (0..10).into_source().repeat(None).repeat(2)
        }),
        case("repeat: too many elements", || {
            (0..10).into_source().repeat(usize::MAX)
        }),
        case("zip: an endless source and a finite one", || {
            let endless = (0..10).into_source().repeat(None);
            endless.zip((0..10).into_source())
        }),
        case("DataLoader::shuffle: the source is endless", || {
            let endless = (0..10).into_source().repeat(None);
            DataLoader::new(endless).shuffle(0)
        }),
        case("random_split: the source is shuffled", || {
            (0..10).into_source().shuffle(0).random_split([8, 2], 1)
        }),
        case("DataLoader::sampler: the source is shuffled", || {
            let shuffled = (0..10).into_source().shuffle(0);
            DataLoader::new(shuffled).sampler(SubsetRandomSampler::new([0, 3], 1))
        }),
        case("DataLoader: drop_last drops all elements", || {
            let loader = DataLoader::new(0..10).batch_size(32).drop_last();
            loader.iter().count()
        }),
        case("shuffle: neither a seed nor a pipeline with one", || {
            (0..10).into_source().shuffle(None)
        }),
        case("map_random: neither a seed nor a pipeline with one", || {
            let noisy = |x: f64, g: &mut Generator| x + g.normal();
            vec![0.0; 10].into_source().map_random(None, noisy)
        }),
        case("Context::generator: a pipeline without a seed", || {
            struct Noise;
            impl Transform<f64> for Noise {
                type Output = f64;
                fn apply(&self, x: f64, context: &mut Context) -> Result<f64> {
                    Ok(x + context.generator().normal())
                }
            }
            vec![0.0; 10].into_source().apply(Noise).get(0)
        }),
    ]
}
