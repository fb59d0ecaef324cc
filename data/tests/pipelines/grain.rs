//! Orders, elements and states, compared with those recorded from Grain.

use ndarray::Array1;
use ramie_data::{
    DataLoader, IntoSource, Permutation, Result, Shard, Source, SourceExt, Stream, StreamExt,
    stream::Position,
};
use serde_json::Value;

/// Returns what `tests/golden/grain_data.py` recorded under a name.
fn recorded<T: serde::de::DeserializeOwned>(name: &str) -> T {
    let mut found: Value = ramie_testing::golden::json("grain_data.json");
    serde_json::from_value(found[name].take()).unwrap()
}

fn all<S: Source>(source: &S) -> Vec<S::Item> {
    source.iter().collect::<Result<_>>().unwrap()
}

#[test]
fn permutations_are_those_of_index_shuffle() {
    #[derive(serde::Deserialize)]
    struct Whole {
        len: usize,
        seed: u64,
        order: Vec<usize>,
    }
    for Whole { len, seed, order } in recorded::<Vec<Whole>>("orders") {
        let got: Vec<usize> = Permutation::new(len, seed, 0).iter().collect();
        assert_eq!(got, order, "{len} numbers, seed {seed}");
    }
    #[derive(serde::Deserialize)]
    struct Some {
        len: usize,
        seed: u64,
        places: Vec<usize>,
        numbers: Vec<usize>,
    }
    for some in recorded::<Vec<Some>>("numbers") {
        let order = Permutation::new(some.len, some.seed, 0);
        let got: Vec<usize> = some.places.iter().map(|place| order.get(*place)).collect();
        assert_eq!(got, some.numbers, "{} numbers", some.len);
    }
    // Grain never returns the last element of these.
    for defect in recorded::<Vec<Value>>("defects") {
        let len = defect["len"].as_u64().unwrap() as usize;
        assert_eq!(defect["missing"], serde_json::json!([len - 1]));
        assert!(Permutation::new(len, 42, 0).iter().any(|i| i == len - 1));
    }
}

#[test]
fn epochs_have_the_orders_of_grain() {
    let [five, last] = recorded::<[Vec<usize>; 2]>("epochs");
    let thrice = |seed: u64| (0..7).into_source().shuffle(seed).repeat(3);
    assert_eq!(all(&thrice(5)), five);
    assert_eq!(all(&thrice(u64::from(u32::MAX))), last);
    let same: Vec<usize> = recorded("same_each_time");
    assert_eq!(all(&thrice(5).same_each_time()), same);
    let loader = DataLoader::unbatched(0..7).shuffle(5).epochs(3);
    let loaded: Vec<usize> = loader.iter().collect::<Result<_>>().unwrap();
    assert_eq!(loaded, recorded::<Vec<usize>>("sampler"));
    let mut windows = (0..11).into_source().stream().window_shuffle(4, 42);
    let windows: Vec<usize> = windows.iter().collect::<Result<_>>().unwrap();
    assert_eq!(windows, recorded::<Vec<usize>>("window_shuffle"));
}

/// The first elements of a stream, and its state before each and after the last.
#[derive(serde::Deserialize)]
struct First<T> {
    elements: Vec<T>,
    states: Vec<u64>,
}

impl<T> First<T> {
    /// Checks the elements, and that the stream resumes from each state.
    fn check<S>(&self, build: impl Fn() -> S)
    where
        S: Stream<Item: Into<T>>,
        T: PartialEq + std::fmt::Debug,
    {
        let mut stream = build();
        for (i, element) in self.elements.iter().enumerate() {
            let state = Position::new("source", [self.states[i]], []);
            assert_eq!(stream.position(), state);
            let mut again = build();
            again.restore(&state).unwrap();
            for stream in [&mut stream, &mut again] {
                assert_eq!(&stream.next().unwrap().unwrap().into(), element);
            }
        }
        let end = self.states[self.elements.len()];
        assert_eq!(stream.position(), Position::new("source", [end], []));
    }
}

#[test]
fn pipelines_have_the_elements_and_states_of_grain() {
    let batches = |name| recorded::<First<Vec<usize>>>(name);
    let lists = |batch: Array1<usize>| batch.to_vec();
    batches("pipeline").check(|| {
        let source = (0..10).into_source().seed(0).shuffle(None).repeat(None);
        source.map(|x| 10 * x).batch(4).stream().map(lists)
    });
    batches("batch_then_repeat").check(|| {
        let source = (0..5).into_source().seed(7).shuffle(None);
        source.batch(2).repeat(None).stream().map(lists)
    });
    recorded::<First<usize>>("slice").check(|| {
        let source = (0..11).into_source().seed(1).shuffle(None);
        source.shard(Shard::new(1, 3)).repeat(None).stream()
    });
}

#[test]
fn filtered_sources_have_the_elements_and_states_of_grain() {
    recorded::<First<usize>>("sparse").check(|| {
        let source = (0..9).into_source().seed(3).filter(|x| x % 3 > 0);
        source.shuffle(None).repeat(None).stream().flatten()
    });
}
