//! Several devices: placement, moves, and what is refused.

use crate::eight_devices;
use ramie_core::options::RuntimeOptions;
use ramie_core::*;
use ramie_testing::panic_message;

fn eight() -> &'static [Device] {
    eight_devices();
    devices()
}

#[test]
fn arrays_stay_where_they_are_put() {
    let devices = eight();
    assert_eq!(devices.len(), 8);
    let x = Array::from([1.0f32, 2.0]);
    assert_eq!(x.devices(), [devices[0]]);
    let y = device_put(&x, devices[3]);
    assert_eq!(y.devices(), [devices[3]]);
    assert_eq!((&y + 1.0).devices(), [devices[3]], "scalars follow arrays");
    let double = jit(|x: Array| &x * 2.0);
    assert_eq!(double(y.clone()).devices(), [devices[3]]);
    assert_eq!(double(x.clone()).devices(), [devices[0]]);
    assert_eq!(double.compilations(), 2);
    let why = double.last_retrace().expect("a reason");
    assert!(why.contains("`args.0` changed from f32[2] on"), "{why}");
    let z = with_default_device(devices[5], || Array::zeros(&[2], DType::F32));
    assert_eq!(z.devices(), [devices[5]]);
    assert_eq!(device_put(&y, devices[0]).to_vec::<f32>(), [1.0, 2.0]);
}

#[test]
fn arrays_on_different_devices_do_not_mix() {
    let devices = eight();
    let x = Array::from([1.0f32, 2.0]);
    let y = device_put(&x, devices[1]);
    let text = panic_message(|| &x + &y);
    assert!(text.contains("operands are on different devices"), "{text}");
    assert!(text.contains("device_put"), "{text}");
    let add = jit(|x: Array, y: Array| x + y);
    let text = panic_message(|| add(x.clone(), y.clone()));
    assert!(text.contains("`args.0` on"), "{text}");
    assert!(text.contains("`args.1` on"), "{text}");
    // What was refused does no harm.
    assert_eq!(add(x.clone(), x).to_vec::<f32>(), [2.0, 4.0]);
}

#[test]
fn the_runtime_is_configured_once() {
    eight();
    devices();
    let again = configure(RuntimeOptions {
        cpu_devices: Some(2),
        ..Default::default()
    });
    let text = again.expect_err("it is in use").to_string();
    assert!(
        text.contains("call `configure` at the start of `main`"),
        "{text}"
    );
}

#[test]
fn arrays_cross_threads() {
    fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<Array>();
    eight();
    let x = Array::from([1.0f32; 4]);
    let step = jit(|x: Array| &x + 1.0);
    let sums: Vec<f32> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..4)
            .map(|i| {
                let (x, step) = (&x, &step);
                scope.spawn(move || {
                    let mut y = x * i;
                    for _ in 0..100 {
                        y = step(y);
                    }
                    y.sum_over(0).item::<f32>()
                })
            })
            .collect();
        handles
            .into_iter()
            .map(|h| h.join().expect("ran"))
            .collect()
    });
    assert_eq!(sums, [400.0, 404.0, 408.0, 412.0]);
}
