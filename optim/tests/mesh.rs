//! Every optimizer over a mesh of 8 virtual devices makes the steps that it
//! makes on one, and its state lies where its parameters do.

mod common;

use common::table::{GROUPS, table};
use common::{Run, close, grid};
use ramie_core::sharding::{AxisType, make_mesh_with};
use ramie_core::{Array, Mesh, NamedSharding, P, State, device_put, jit};
use ramie_optim::*;
use ramie_testing::check::on_all_cores;
use ramie_testing::cpu_devices;

fn objective(params: &State, step: &Array) -> Array {
    let at = |path: &str| params.get(path).expect(path);
    let x = grid(&[3, 5, 4], 1.0, 0.4)
        .dynamic_index_in_dim(step, 0)
        .squeeze(&[0]);
    let h = (x.matmul(at("kernel")) + at("bias")).tanh();
    (h - grid(&[8], 0.5, 2.0)).square().sum()
}

fn params() -> State {
    State::from_iter([
        ("bias", grid(&[8], 0.1, 0.0)),
        ("kernel", grid(&[4, 8], 0.5, 1.0)),
    ])
}

fn place(path: &str, array: &Array, mesh: Mesh) -> Array {
    let spec = match path {
        "kernel" => P!["x", "y"],
        _ => P!["y"],
    };
    device_put(array, NamedSharding::new(mesh, spec))
}

/// Some steps of each optimizer of a group, all in one program.
fn trained(group: &str, params: &State) -> Vec<Run> {
    let optimizers = table(group);
    let start = |(_, tx): &(&str, GradientTransformation)| Run::new(tx, params);
    let mut runs: Vec<Run> = optimizers.iter().map(start).collect();
    let batches = if group == "linesearches" { 1 } else { 3 };
    let step = jit(move |runs: &mut Vec<Run>| {
        let taken = std::mem::take(runs).into_iter();
        let next = taken
            .zip(&optimizers)
            .map(|(run, (_, tx))| run.advance_on(tx, objective, batches));
        *runs = next.collect();
    });
    for _ in 0..5 {
        step(&mut runs);
    }
    runs
}

/// The first state of an optimizer has its moments where the parameters are.
fn check_places(name: &str, tx: &GradientTransformation, placed: &State) -> usize {
    let mut moments = 0;
    tree::map_params(placed, &tx.init(placed), |path, moment| {
        let param = placed.get(path).expect(path);
        if moment.shape() == param.shape() && moment.dtype().is_float() {
            let (moment, param) = (moment.sharding(), param.sharding());
            assert_eq!(
                format!("{moment:?}"),
                format!("{param:?}"),
                "{name}, {path}"
            );
            moments += 1;
        }
        moment.clone()
    });
    moments
}

/// Checks the optimizers of a group; returns the number of moments.
fn check(group: &str, mesh: Mesh) -> usize {
    let placed = params().map_with_path(|path, a| place(path, a, mesh));
    let optimizers = table(group);
    let (alone, over_mesh) = (trained(group, &params()), trained(group, &placed));
    for (((name, _), alone), over_mesh) in optimizers.iter().zip(&alone).zip(&over_mesh) {
        // Line searches choose by differences that are rounding close to a
        // minimum, and narrow moments round in large steps.
        let tolerance = match group {
            "linesearches" => 5e-4,
            _ if name.contains("bf16") => 2e-3,
            _ => 2e-5,
        };
        close(name, &State::of(over_mesh), &State::of(alone), tolerance);
        for (path, array) in over_mesh.params.iter() {
            assert_eq!(
                array.devices().len(),
                8,
                "{name}: `{path}` stays on the mesh"
            );
        }
    }
    let moments = |(name, tx): &(&str, _)| check_places(name, tx, &placed);
    optimizers.iter().map(moments).sum()
}

#[test]
fn states_are_sharded_as_their_parameters() {
    cpu_devices(8);
    let mesh = make_mesh_with(&[4, 2], &["x", "y"], AxisType::Auto).expect("eight devices");
    // The compiler uses one thread for most of the time.
    let moments: usize = on_all_cores(&GROUPS, |group| check(group, mesh))
        .iter()
        .sum();
    assert!(moments > 200, "{moments} moments were looked at");
}
