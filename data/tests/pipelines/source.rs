//! Sources and what combines them.

use ndarray::{Array, Array2, array};
use proptest::prelude::*;
use ramie_data::source::{Mix, mix};
use ramie_data::{Error, IntoSource, Result, Sample, Shard, Source, SourceExt};
use ramie_testing::panic_message;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn all<S: Source>(source: &S) -> Vec<S::Item> {
    source.iter().collect::<Result<_>>().unwrap()
}

fn epoch<S: Source>(source: &S, epoch: usize) -> Vec<S::Item> {
    let get = |i| source.get_in_epoch(i, epoch).unwrap();
    (0..source.len()).map(get).collect()
}

#[test]
fn arrays_tuples_and_maps_are_sources() {
    let x = Array::from_shape_fn((5, 2, 3), |(i, j, k)| (100 * i + 10 * j + k) as f32);
    let source = (x.clone(), vec![0i32, 1, 2, 3, 4], 10..15).into_source();
    assert_eq!(source.len(), 5);
    let (row, label, number) = source.get(2).unwrap();
    assert_eq!((row[[1, 2]], label, number), (212.0, 2, 12));
    let (rows, labels, _) = source.get_batch(&[4, 0], 0).unwrap();
    assert_eq!(rows.shape(), [2, 2, 3]);
    assert_eq!(rows[[0, 1, 0]], 410.0);
    assert_eq!(labels, array![4, 0]);
    // Columns first: the rows are the same.
    let turned = x.clone().reversed_axes().as_standard_layout().into_owned();
    let source = turned.reversed_axes().into_source();
    assert_eq!(
        source.get_batch(&[1, 3], 0).unwrap(),
        x.select(ndarray::Axis(0), &[1, 3])
    );

    let parts = |n| ("a".to_string(), Array2::<f32>::ones((n, 2)));
    let maps: BTreeMap<_, _> = [parts(4), ("b".into(), Array2::zeros((4, 1)))].into();
    let batch = maps.into_source().get_batch(&[0, 1, 2], 0).unwrap();
    assert_eq!((batch["a"].dim(), batch["b"].dim()), ((3, 2), (3, 1)));
}

#[test]
fn elements_that_are_not_there_are_refused() {
    let x = Array2::<f32>::zeros((3, 2));
    let beyond = Error::OutOfRange { index: 3, len: 3 };
    let source = || x.clone().into_source();
    assert_eq!(source().get(3).unwrap_err(), beyond);
    assert_eq!(source().get_batch(&[0, 3], 0).unwrap_err(), beyond);
    assert_eq!(source().shuffle(0).get(3).unwrap_err(), beyond);
    assert_eq!(source().shuffle(0).get_batch(&[3], 0).unwrap_err(), beyond);
    assert_eq!(source().slice(..3).get_batch(&[3], 0).unwrap_err(), beyond);
    assert_eq!(source().batch(1).get(3).unwrap_err(), beyond);
    assert_eq!(vec![1, 2, 3].into_source().get(3).unwrap_err(), beyond);
    assert_eq!((0..3).into_source().cache().get(3).unwrap_err(), beyond);
    assert_eq!((0..1).into_source().repeat(3).get(3).unwrap_err(), beyond);
}

#[test]
fn elements_go_through_functions() {
    let source = || (0..4).into_source();
    assert_eq!(all(&source().map(|x| x * x)), [0, 1, 4, 9]);
    assert_eq!(all(&source().map_with_index(|i, x| i + x)), [0, 2, 4, 6]);
    let but_three = |x| match x {
        3 => Err(Error::other("three")),
        x => Ok(x),
    };
    assert_eq!(
        source().try_map(but_three).get(3),
        Err(Error::other("three"))
    );
    let sparse = source().filter(|x| x % 2 == 1).map(|x| x.map(|x| 10 * x));
    assert_eq!(all(&sparse), [None, Some(10), None, Some(30)]);
    let dense: Result<Vec<_>> = sparse.iter().filter_map(Result::transpose).collect();
    assert_eq!(dense, Ok(vec![10, 30]));
    let odd = source().subset_where(|x| x % 2 == 1).unwrap();
    assert_eq!(all(&odd), [1, 3]);
    let e = source()
        .try_map(but_three)
        .subset_where(|_| true)
        .err()
        .unwrap();
    assert_eq!(e.to_string(), "element 3: three");
}

#[test]
fn random_functions_depend_on_seed_epoch_and_element() {
    let draws = |seed| {
        let source = vec![(); 50].into_source();
        source.map_random(seed, |(), g| g.next_u64())
    };
    assert_eq!(epoch(&draws(1), 3), epoch(&draws(1), 3));
    let mut numbers = epoch(&draws(1), 0);
    numbers.extend(epoch(&draws(1), 1));
    numbers.extend(epoch(&draws(2), 0));
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 150);
}

#[test]
fn sources_are_joined() {
    let joined = (0..2).into_source().concat((10..13).into_source());
    assert_eq!(all(&joined), [0, 1, 10, 11, 12]);
    let pairs = (0..2).into_source().zip(vec!['a', 'b'].into_source());
    assert_eq!(all(&pairs), [(0, 'a'), (1, 'b')]);
}

#[test]
fn parts_share_nothing_and_lose_nothing() {
    let [a, b, c] = (0..10)
        .into_source()
        .random_split_fractions([0.45, 0.45, 0.1], 3);
    assert_eq!((a.len(), b.len(), c.len()), (5, 4, 1));
    let mut together = [all(&a), all(&b), all(&c)].concat();
    assert_ne!(together, (0..10).collect::<Vec<_>>());
    together.sort_unstable();
    assert_eq!(together, (0..10).collect::<Vec<_>>());
    let [again, _] = (0..10).into_source().random_split([5, 5], 3);
    assert_eq!(all(&again), all(&a));
    let parts = (0..3).flat_map(|i| all(&(0..10).into_source().shard(Shard::new(i, 3))));
    assert_eq!(parts.collect::<Vec<_>>(), [0, 3, 6, 9, 1, 4, 7, 2, 5, 8]);
    assert_eq!(all(&(0..5).into_source().slice(1..=2)), [1, 2]);
    assert_eq!(all(&(5..9).into_source().subset([3, 0, 0])), [8, 5, 5]);
}

#[test]
fn epochs_are_shuffled_anew_and_repeat_counts_them() {
    let shuffled = (0..20).into_source().shuffle(5);
    let orders: Vec<_> = (0..3).map(|e| epoch(&shuffled, e)).collect();
    assert_ne!(orders[0], orders[1]);
    let thrice = (0..20).into_source().shuffle(5).repeat(3);
    assert_eq!(all(&thrice), orders.concat());
    // Repeated sources have epochs, too.
    assert_eq!(
        epoch(&(0..20).into_source().shuffle(5).repeat(1), 2),
        orders[2]
    );
}

#[test]
fn neighbours_come_together() {
    assert_eq!(
        all(&(0..6).into_source().window(3, 2)),
        [vec![0, 1, 2], vec![2, 3, 4]]
    );
    assert_eq!((0..2).into_source().window(3, 1).len(), 0);
    let lengths = |source: &dyn Fn(usize) -> usize| (4..7).map(source).collect::<Vec<_>>();
    assert_eq!(lengths(&|n| (0..n).into_source().batch(3).len()), [2, 2, 2]);
    assert_eq!(
        lengths(&|n| (0..n).into_source().batch_drop_last(3).len()),
        [1, 1, 2]
    );
    let batches = (0..5).into_source().batch(2);
    assert_eq!(all(&batches), [array![0, 1], array![2, 3], array![4]]);
}

#[test]
fn cached_elements_are_read_once() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counter = reads.clone();
    let source = (0..3).into_source().map(move |x| {
        counter.fetch_add(1, Ordering::Relaxed);
        x
    });
    let source = source.cache();
    assert_eq!((all(&source), all(&source)), (vec![0, 1, 2], vec![0, 1, 2]));
    assert_eq!(reads.load(Ordering::Relaxed), 3);
}

#[test]
fn mixes_keep_their_proportions() {
    let tagged = |tag: usize, n| (0..n).into_source().map(move |i| (tag, i));
    let mixed = Mix::new(vec![
        (
            Arc::new(tagged(0, 100)) as Arc<dyn Source<Item = (usize, usize)>>,
            0.5,
        ),
        (Arc::new(tagged(1, 100)) as _, 0.3),
        (Arc::new(tagged(2, 7)) as _, 0.2),
    ]);
    // The third source ends first: after 7 of its elements, a fifth of all.
    assert!((33..=40).contains(&mixed.len()), "{}", mixed.len());
    let mut next: [usize; 3] = [0; 3];
    for (n, (tag, i)) in all(&mixed).into_iter().enumerate() {
        assert_eq!(i, next[tag]);
        next[tag] = i + 1;
        let share = next[0] as f64 - 0.5 * (n + 1) as f64;
        assert!(share.abs() < 1.0);
    }
    assert_eq!(all(&mix([((0..3).into_source(), 2.0)])), [0, 1, 2]);
}

#[test]
fn sources_behind_pointers_are_sources() {
    let boxed: Box<dyn Source<Item = usize>> = Box::new((0..4).into_source().shuffle(0));
    let shared = Arc::new(boxed);
    assert_eq!(all(&shared.clone()), all(&(0..4).into_source().shuffle(0)));
    let x: Arc<dyn Source<Item = _>> = Arc::new(array![[1.0f32], [2.0]].into_source());
    assert_eq!(x.get_batch(&[1, 0], 0).unwrap(), array![[2.0], [1.0]]);
}

#[test]
fn mistakes_are_explained() {
    let source = |n| (0..n).into_source();
    for (what, expected) in [
        (
            panic_message(move || source(2).zip(source(3))),
            "zip: the sources have [2, 3] elements\n  help: ",
        ),
        (
            panic_message(|| (0..2, vec![1]).into_source()),
            "into_source: the sources have [2, 1] elements\n  help: ",
        ),
        (
            panic_message(move || source(2).subset([0, 2])),
            "subset: index 2 at position 1 is out of range for a source with 2 elements\n  help: ",
        ),
        (
            panic_message(move || source(2).slice(1..4)),
            "slice: 1..4 is out of range for a source with 2 elements\n  help: ",
        ),
        (
            panic_message(move || source(2).random_split([1, 2], 0)),
            "random_split: the lengths [1, 2] sum to 3, but the source has 2 elements\n  help: ",
        ),
        (
            panic_message(move || source(2).random_split_fractions([0.5, 0.4], 0)),
            "random_split_fractions: the fractions [0.5, 0.4] sum to 0.9\n  help: ",
        ),
        (
            panic_message(move || source(2).batch(0)),
            "batch: the size is 0\n  help: ",
        ),
        (
            panic_message(move || source(2).repeat(usize::MAX)),
            "repeat: 2 elements repeated 18446744073709551615 times overflow a usize\n  help: ",
        ),
        (
            panic_message(move || mix([(source(2), -1.0)])),
            "mix: the weights are [-1.0]\n  help: ",
        ),
    ] {
        assert!(what.starts_with(expected), "{what}");
    }
}

/// google/grain#1200: parts of a source that is shuffled anew in each epoch share elements.
#[test]
fn elements_are_not_selected_after_a_shuffle() {
    use ramie_data::readers::tokens::pack;
    use ramie_data::{BucketSampler, Buckets, DataLoader, SourceExt, SubsetRandomSampler};
    let shuffled = || (0..20i32).collect::<Vec<_>>().into_source().shuffle(7);
    let refused = |operation: &str, message: String| {
        let expected = format!(
            "{operation}: the source is shuffled, so an index refers to another element in each epoch\n  \
             help: "
        );
        assert!(message.starts_with(&expected), "{message}");
    };
    refused(
        "random_split",
        panic_message(|| shuffled().random_split([15, 5], 3)),
    );
    refused(
        "random_split_fractions",
        panic_message(|| shuffled().random_split_fractions([0.5, 0.5], 3)),
    );
    refused(
        "subset_where",
        panic_message(|| shuffled().subset_where(|x| *x < 15)),
    );
    refused("subset", panic_message(|| shuffled().subset([1, 2])));
    refused("cache", panic_message(|| shuffled().cache()));
    refused(
        "pack",
        panic_message(|| pack(shuffled().map(|x| vec![x]), 30).map(|_| ())),
    );
    // Behind other stages.
    let subset = "subset";
    refused(
        subset,
        panic_message(|| shuffled().map(|x| x + 1).subset([0])),
    );
    refused(subset, panic_message(|| Arc::new(shuffled()).subset([0])));
    refused(
        subset,
        panic_message(|| shuffled().zip((0..20).into_source()).subset([0])),
    );
    refused(
        subset,
        panic_message(|| (0..20, shuffled()).into_source().subset([0])),
    );
    refused(
        subset,
        panic_message(|| vec![0, 1].into_source().concat(shuffled()).subset([0])),
    );
    refused(
        subset,
        panic_message(|| mix([(shuffled(), 1.0)]).subset([0])),
    );
    refused(
        subset,
        panic_message(|| shuffled().seed(1).repeat(2).subset([0])),
    );
    refused(
        subset,
        panic_message(|| shuffled().batch(2).window(2, 1).subset([0])),
    );
    refused(
        subset,
        panic_message(|| {
            BTreeMap::from([("x".to_owned(), shuffled())])
                .into_source()
                .subset([0])
        }),
    );
    let loader = || DataLoader::new(shuffled()).batch_size(2);
    refused(
        "DataLoader::sampler",
        panic_message(|| loader().sampler(SubsetRandomSampler::new([0, 3], 1))),
    );
    refused(
        "DataLoader::batch_sampler",
        panic_message(|| {
            let sampler = BucketSampler::new(&[1; 20], Buckets::new([8], 2), 0);
            loader().batch_sampler(sampler.unwrap())
        }),
    );
}

/// Operations that treat all elements alike follow a shuffle, and parts are shuffled on their own.
#[test]
fn a_part_has_the_same_elements_in_every_epoch() {
    use ramie_data::{DataLoader, DistributedSampler, RandomSampler, SourceExt};
    let source = || (0..20i32).collect::<Vec<_>>().into_source();
    let epoch = |part: &dyn Source<Item = i32>, epoch: usize| {
        let items = (0..part.len()).map(|i| part.get_in_epoch(i, epoch));
        let mut items = items.collect::<Result<Vec<_>>>().unwrap();
        items.sort_unstable();
        items
    };
    let [train, valid] = source().random_split([15, 5], 3);
    let few = source().subset_where(|x| *x < 15).unwrap();
    let (train, few) = (train.shuffle(7), few.shuffle(7));
    for n in 0..3 {
        assert_eq!(epoch(&train, n), epoch(&train, 0));
        assert_eq!([epoch(&train, n), epoch(&valid, n)].concat().len(), 20);
        assert_eq!(epoch(&few, n), (0..15).collect::<Vec<_>>());
        // The shards of an epoch are a partition of it.
        let shards = [0, 1, 2].map(|i| epoch(&source().shuffle(7).shard(Shard::new(i, 3)), n));
        let mut all = shards.concat();
        all.sort_unstable();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
    }
    for loader in [
        DataLoader::new(source().shuffle(7)).sampler(RandomSampler::new(20, 1)),
        DataLoader::new(source().shuffle(7))
            .sampler(DistributedSampler::new(20, Shard::new(0, 1)).shuffle(2)),
    ] {
        assert_eq!(loader.iter().count(), 20);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever a source can write into a batch directly is what its elements make.
    #[test]
    fn batches_are_those_of_the_elements(
        indices in prop::collection::vec(0usize..12, 0..20), seed: u64, epoch in 0usize..4,
    ) {
        let x = Array::from_shape_fn((4, 3), |(i, j)| (10 * i + j) as f32);
        let source = (x, 0..4).into_source().shuffle(seed).repeat(3).slice(..);
        let items = indices.iter().map(|i| source.get_in_epoch(*i, epoch)).collect::<Result<Vec<_>>>();
        prop_assert_eq!(
            source.get_batch(&indices, epoch).unwrap(),
            Sample::collate(items.unwrap()).unwrap()
        );
        let inner = Array::from_shape_fn((12, 3), |(i, j)| (10 * i + j) as f32);
        let source = inner.into_source().shuffle(seed);
        let items = indices.iter().map(|i| source.get_in_epoch(*i, epoch)).collect::<Result<Vec<_>>>();
        let batch = source.get_batch(&indices, epoch).unwrap();
        if !indices.is_empty() {
            prop_assert_eq!(batch, Sample::collate(items.unwrap()).unwrap());
        }
    }
}
