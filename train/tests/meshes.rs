//! Runs on a mesh of eight virtual devices.

mod common;

use common::{points, squared_error};
use ramie_core::{NamedSharding, P, device_put, make_mesh};
use ramie_data::DataLoader;
use ramie_nn::{Linear, Rngs};
use ramie_optim::adam;
use ramie_testing::cpu_devices;
use ramie_train::{History, Trainer, Training};

fn values(history: &History, name: &str) -> Vec<f64> {
    history.get(name).iter().map(|(_, value)| *value).collect()
}

#[test]
fn a_run_on_a_mesh_learns_as_on_one_device_and_resumes() {
    cpu_devices(8);
    let mesh = make_mesh(&[8], &["data"]).unwrap();
    let new = || Training::new(Linear::new(2, 1, &mut Rngs::new(0)), adam(0.05));
    let trainer = |epochs| {
        let test = DataLoader::new(points(32)).batch_size(16);
        Trainer::new(squared_error)
            .epochs(epochs)
            .validate(test)
            .quiet()
    };
    let loader = || DataLoader::new(points(64)).batch_size(16).shuffle(1);
    let mut alone = new();
    let expected = trainer(3).fit(&mut alone, loader()).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let run = |epochs| {
        let mut state = device_put(&new(), NamedSharding::new(mesh, P![]));
        let history = trainer(epochs)
            .placement(NamedSharding::new(mesh, P!["data"]))
            .folder(folder.path())
            .resume(ramie_train::Resume::Always)
            .fit(&mut state, loader())
            .unwrap();
        (state, history)
    };
    run(1);
    let (state, history) = run(3);
    let kernel = &state.model.kernel;
    assert_eq!(kernel.addressable_bytes().len(), 8, "on all devices");
    for name in ["loss", "val_loss"] {
        let (got, expected) = (values(&history, name), values(&expected, name));
        assert_eq!(got.len(), expected.len());
        for (got, expected) in got.iter().zip(&expected) {
            assert!(
                (got - expected).abs() <= 1e-5 * expected,
                "{name}: {got} {expected}"
            );
        }
    }
}
