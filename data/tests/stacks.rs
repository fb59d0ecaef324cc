//! `stack`: batches of several steps in one array.

use ndarray::{Array1, Array2, Array3, array};
use proptest::prelude::*;
use ramie_core::{Array, NamedSharding, P, make_mesh};
use ramie_data::{
    DataLoader, Error, HostArray, IntoSource, Placement, Result, Resumable, Sample, SourceExt,
    StreamExt, collate, stream,
};
use ramie_testing::cpu_devices;
use std::collections::BTreeMap;

fn numbers(n: usize) -> Vec<i32> {
    (0..n as i32).collect()
}

fn all<B>(batches: impl Iterator<Item = Result<B>>) -> Vec<B> {
    batches.collect::<Result<_>>().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The batches of all stacks are those of the loader, all in a stack are of one
    /// shape, and from each state the stacks that were left come.
    #[test]
    fn stacks_have_the_batches_in_order(
        n in 1usize..30, size in 1usize..6, count in 1usize..6, epochs in 1usize..4, workers in 0usize..2,
    ) {
        let loader = DataLoader::new(numbers(n)).batch_size(size).shuffle(5).epochs(epochs).workers(workers);
        let batches: Vec<Array1<i32>> = all(loader.iter());
        let mut stacks = loader.iter().stack(count);
        let mut states = vec![stacks.state()];
        let mut given: Vec<Array2<i32>> = Vec::new();
        while let Some(stack) = stacks.next() {
            given.push(stack.unwrap());
            states.push(stacks.state());
        }
        let rows = given.iter().flat_map(|s| s.outer_iter().map(|row| row.to_owned()));
        prop_assert_eq!(rows.collect::<Vec<_>>(), batches);
        for (i, pair) in given.windows(2).enumerate() {
            let cut = pair[0].ncols() != pair[1].ncols();
            prop_assert!(pair[0].nrows() == count || cut, "stack {} could have more", i);
        }
        for (i, state) in states.iter().enumerate() {
            let left = all(loader.resume(state).unwrap().stack(count));
            prop_assert_eq!(&left[..], &given[i..], "from stack {} on", i);
        }
        let whole: Vec<_> = given.iter().filter(|s| s.nrows() == count).cloned().collect();
        prop_assert_eq!(all(loader.iter().stack(count).drop_last()), whole);
    }
}

/// An error comes behind the batches before it, and the iteration goes on.
#[test]
fn an_error_ends_the_stack_before_it() {
    let source = numbers(8).into_source().map(|i| {
        assert!(i != 3, "the element is broken");
        i
    });
    let loader = DataLoader::new(source).batch_size(1);
    let mut stacks = loader.iter().stack(4);
    assert_eq!(stacks.next().unwrap().unwrap(), array![[0], [1], [2]]);
    let state = stacks.state();
    let e = stacks.next().unwrap().unwrap_err();
    assert!(e.to_string().contains("the element is broken"), "{e}");
    assert_eq!(stacks.next().unwrap().unwrap().nrows(), 4);
    assert!(stacks.next().is_none() && stacks.next().is_none());
    let mut again = loader.resume(&state).unwrap().stack(4);
    assert!(matches!(again.next(), Some(Err(Error::Element { .. }))));
}

#[test]
fn batches_of_every_kind_are_stacked() {
    // Rows and labels, as tuples and by name.
    let rows = || Array2::<f32>::from_shape_fn((6, 2), |(i, j)| (2 * i + j) as f32);
    let loader = DataLoader::new((rows(), vec![0i32, 1, 2, 3, 4, 5])).batch_size(3);
    let (x, y) = all(loader.iter().stack(2)).remove(0);
    assert_eq!((x.dim(), y), ((2, 3, 2), array![[0, 1, 2], [3, 4, 5]]));
    assert_eq!(x[[1, 2, 1]], 11.0);
    let named = numbers(4)
        .into_source()
        .map(|i| BTreeMap::from([("i".to_string(), i)]));
    let stacks = all(DataLoader::new(named).batch_size(2).iter().stack(2));
    assert_eq!(stacks[0]["i"], array![[0, 1], [2, 3]]);
    // Masked and padded ones, with what belongs to them.
    let stacks = all(DataLoader::new(numbers(5))
        .batch_size(2)
        .masked()
        .iter()
        .stack(3));
    let (batches, masks) = &stacks[0];
    assert_eq!((stacks.len(), batches.dim()), (1, (3, 2)));
    assert_eq!(*masks, array![[true, true], [true, true], [true, false]]);
    let texts = vec![vec![1, 2], vec![3], vec![4, 5, 6], vec![7, 8]];
    let loader = DataLoader::with_collate(texts, collate::padded(&[2, 4], 0)).batch_size(1);
    let stacks: Vec<(Array3<i32>, Array2<i32>)> = all(loader.iter().stack(4));
    let dims: Vec<_> = stacks.iter().map(|(values, _)| values.dim()).collect();
    assert_eq!(
        dims,
        [(2, 1, 2), (1, 1, 4), (1, 1, 2)],
        "lengths 2 and 4 are not mixed"
    );
    assert_eq!(stacks[0].1, array![[2], [1]]);
    // Arrays of a type that files tell.
    let host = |x: Array1<f32>| HostArray::from(x.into_dyn());
    assert!(host(array![1.0]).is_like(&host(array![2.0])));
    assert!(!host(array![1.0]).is_like(&host(array![1.0, 2.0])));
    // Of a stream.
    let stream = stream::from_fn(|| numbers(5).into_iter().map(Ok)).batch(2);
    let stacks = all(stream.into_iter().stack(2));
    assert_eq!(
        stacks,
        [array![[0, 1], [2, 3]]]
            .into_iter()
            .chain([array![[4]]])
            .collect::<Vec<_>>()
    );
}

#[test]
#[should_panic(expected = "stack: the count is 0")]
fn stacks_of_nothing_are_refused() {
    let _ = DataLoader::new(numbers(5)).iter().stack(0);
}

/// Steps in front, rows over the mesh.
#[test]
fn stacks_go_to_devices() {
    cpu_devices(4);
    let mesh = make_mesh(&[4], &["data"]).expect("four devices");
    let x = Array2::<f32>::from_shape_fn((16, 3), |(i, j)| (3 * i + j) as f32);
    let loader = DataLoader::new(x).batch_size(8);
    let stacks = loader.iter().stack(2);
    let sharding = NamedSharding::new(mesh, P![None, "data"]);
    let stacks: Vec<Array> = all(stacks.prefetch_to_device(1, sharding));
    assert_eq!(stacks[0].shape(), [2, 8, 3]);
    assert_eq!(stacks[0].addressable_shards()[1].data().shape(), [2, 2, 3]);
    let elements: Vec<f32> = (0..48).map(|i| i as f32).collect();
    assert_eq!(stacks[0].to_vec::<f32>(), elements);
    let here: Vec<Array> = all(loader
        .iter()
        .stack(5)
        .prefetch_to_device(2, Placement::default()));
    assert_eq!(here[0].to_vec::<f32>(), elements);
}
