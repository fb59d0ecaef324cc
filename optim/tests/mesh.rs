//! Optimizers over a mesh of 8 virtual devices.

mod common;

use common::{close, some_optimizers};
use ramie_core::{
    Array, AxisType, NamedSharding, P, RuntimeOptions, State, configure, device_put, grad, jit,
    make_mesh_with,
};
use ramie_optim::*;

#[test]
fn states_are_sharded_as_their_parameters() {
    let options = RuntimeOptions {
        cpu_devices: Some(8),
        ..RuntimeOptions::default()
    };
    configure(options).expect("nothing has run yet");
    let mesh = make_mesh_with(&[4, 2], &["x", "y"], AxisType::Auto).expect("eight devices");
    let params = State::from_iter([
        ("bias", common::grid(&[8], 0.1, 0.0)),
        ("kernel", common::grid(&[4, 8], 0.5, 1.0)),
    ]);
    let objective = |p: State| {
        (Array::from([1.0f32, -0.5, 2.0, 0.3]).matmul(&p.arrays()[1]) + &p.arrays()[0])
            .tanh()
            .square()
            .sum()
    };
    let train = |tx: &GradientTransformation, params: &State| {
        let of_step = tx.clone();
        let step = jit(move |s: &mut (State, OptState)| {
            let grads = grad(objective)(s.0.clone());
            let taken = std::mem::replace(&mut s.1, OptState::new(()));
            let (updates, next) = of_step.update(grads, taken, Some(&s.0));
            *s = (apply_updates(&s.0, &updates), next);
        });
        let mut run = (params.clone(), tx.init(params));
        for _ in 0..5 {
            step(&mut run);
        }
        run
    };
    for (name, tx) in some_optimizers() {
        let alone = train(&tx, &params);
        let placed = params.map_with_path(|path, a| {
            let spec = if path == "kernel" {
                P!["x", "y"]
            } else {
                P!["y"]
            };
            device_put(a, NamedSharding::new(mesh, spec))
        });
        let state = tx.init(&placed);
        for (path, _) in placed.iter().filter(|_| name == "adamw") {
            let moment = tree::get(&state, &format!("mu.{path}")).expect("a moment");
            let (moment, param) = (moment.sharding(), placed.get(path).expect(path).sharding());
            assert_eq!(format!("{moment:?}"), format!("{param:?}"), "{path}");
        }
        let over_mesh = train(&tx, &placed);
        close(name, &over_mesh.0, &alone.0);
        close(name, &State::of(&over_mesh.1), &State::of(&alone.1));
        let kernel = over_mesh.0.get("kernel").expect("kernel");
        assert_eq!(
            kernel.devices().len(),
            8,
            "{name}: parameters stay on the mesh"
        );
    }
}
