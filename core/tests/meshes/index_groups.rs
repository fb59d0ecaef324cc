//! Collectives within groups of indices: values, derivatives and replica groups beside JAX.

use crate::eight_devices;
use ramie_core::lax::{
    Along, AxisIndexGroups, all_gather_with, all_to_all, pmax, pmean, pmin, psum, psum_scatter,
    pswapaxes,
};
use ramie_core::options::{ShardMapOptions, VmapOptions};
use ramie_core::sharding::{AxisName, SpecEntry};
use ramie_core::*;
use ramie_testing::panic_message;
use serde_json::Value;

fn list<T: serde::de::DeserializeOwned>(value: &Value) -> Vec<T> {
    serde_json::from_value(value.clone()).expect("a list")
}

/// The numbers 1, -2, 3, ….
fn numbers(shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    let signed = (1..=n as i32).map(|i| if i % 2 == 0 { -i } else { i });
    Array::from(signed.map(|i| i as f32).collect::<Vec<f32>>()).reshape(shape)
}

fn within<F: Fn(Array) -> Array + Send + Sync + 'static>(
    sizes: &[usize],
    f: F,
) -> impl Fn(Array) -> Array + use<F> {
    let names = &["x", "y", "z"][..sizes.len()];
    let all: Vec<AxisName> = names.iter().map(|&n| n.into()).collect();
    let spec = PartitionSpec::new([SpecEntry::from(&all[..])]);
    let options = ShardMapOptions {
        mesh: Some(make_mesh(sizes, names).unwrap()),
        check_vma: false,
        ..ShardMapOptions::new(spec.clone(), spec)
    };
    shard_map_with(f, options)
}

#[test]
fn collectives_in_groups_equal_jax() {
    eight_devices();
    let rows: Vec<Value> = ramie_testing::golden::json("axis_index_groups.json");
    for row in &rows {
        let op = row["op"].as_str().unwrap().to_string();
        let names: Vec<String> = list(&row["axes"]);
        let names: Vec<AxisName> = names.iter().map(|n| n.as_str().into()).collect();
        let lists: Vec<Vec<usize>> = list(&row["groups"]);
        let axes = AxisIndexGroups::new(&names[..], &lists);
        let number = |name: &str| row[name].as_i64().unwrap_or(0) as isize;
        let (axis, split, concat) = (number("axis"), number("split"), number("concat"));
        let along = match row["tiled"].as_bool() {
            Some(true) => Along::Tiled,
            _ => Along::Stacked,
        };
        let case = format!("{op} {names:?} {lists:?}");
        let body = move |x: Array| {
            let axes = axes.clone();
            match op.as_str() {
                "psum" => psum(&x, axes),
                "pmean" => pmean(&x, axes),
                "pmax" => pmax(&x, axes),
                "pmin" => pmin(&x, axes),
                "psum_of_one" => &x * psum(&1.into_array(), axes),
                "all_gather" => all_gather_with(&x, axes, along(axis)),
                "psum_scatter" => psum_scatter(&x, axes, along(axis)),
                "all_to_all" => all_to_all(&x, axes, along(split), concat),
                "pswapaxes" => pswapaxes(&x, axes, axis),
                other => panic!("no collective is called {other}"),
            }
        };
        let f = std::sync::Arc::new(within(&list::<usize>(&row["mesh"]), body));
        let g = f.clone();
        let (x, whole) = (
            numbers(&list::<usize>(&row["shape"])),
            jit(move |x: Array| g(x)),
        );
        let text = whole.lower((x.clone(),)).unwrap().as_text().to_string();
        for replicas in list::<String>(&row["replicas"]) {
            assert!(text.contains(&replicas), "{case}: no {replicas} in {text}");
        }
        let out = whole(x.clone());
        assert_eq!(out.shape(), list::<usize>(&row["out_shape"]), "{case}");
        assert_eq!(out.to_vec::<f32>(), list::<f32>(&row["out"]), "{case}");
        if row["slope"].is_null() {
            continue;
        }
        let weights = numbers(out.shape());
        let slope = jit(grad(move |x: Array| (f(x) * &weights).sum()))(x);
        assert_eq!(slope.to_vec::<f32>(), list::<f32>(&row["slope"]), "{case}");
    }
    assert_eq!(rows.len(), 62);
}

#[test]
fn mistakes_in_groups_are_explained() {
    eight_devices();
    let groups = |lists: &[&[usize]]| AxisIndexGroups::new("x", lists);
    let halves: &[&[usize]] = &[&[0, 1, 2, 3], &[4, 5, 6, 7]];
    let call = |f: fn(&Array, AxisIndexGroups) -> Array, lists: &[&[usize]]| {
        let groups = groups(lists);
        panic_message(|| within(&[8], move |x| f(&x, groups.clone()))(numbers(&[16, 8])))
    };
    let missing = call(|x, g| psum(x, g), &[&[0, 1], &[2, 2]]);
    assert!(
        missing.contains("do not contain each of the 8 indices"),
        "{missing}"
    );
    let unequal = call(|x, g| pmean(x, g), &[&[0], &[1, 2, 3, 4, 5, 6, 7]]);
    assert!(unequal.contains("have different sizes"), "{unequal}");
    let spec = P!["x"];
    let tracked = ShardMapOptions {
        mesh: Some(make_mesh(&[8], &["x"]).unwrap()),
        ..ShardMapOptions::new(spec.clone(), spec)
    };
    let lists = groups(halves);
    let sum = shard_map_with(move |x: Array| psum(&x, lists.clone()), tracked);
    let message = panic_message(|| sum(numbers(&[8])));
    assert!(message.contains("check_vma: false"), "{message}");
    let named = VmapOptions {
        axis_name: Some("x".into()),
        ..VmapOptions::default()
    };
    let lists = groups(halves);
    let mapped = vmap_with(move |x: Array| pmax(&x, lists.clone()), named);
    let message = panic_message(|| mapped(numbers(&[8])));
    assert!(message.contains("not supported under vmap"), "{message}");
}
