//! Averages of weights and metrics of narrow dtypes.

use ramie_core::lax::scan;
use ramie_core::{Array, DType, State, jit};
use ramie_nn::metrics::{Accuracy, Average, Metric, MetricArgs, MultiMetric, Welford};
use ramie_nn::nnx::{Ema, of_type};
use ramie_nn::{BatchNorm, Param, Rngs, accumulate};

const NARROW: [DType; 2] = [DType::BF16, DType::F16];

fn number(a: &Array) -> f32 {
    a.astype(DType::F32).item::<f32>()
}

/// huggingface/pytorch-image-models#1831 and d8ahazard/sd_dreambooth_extension#1415: each change is
/// smaller than half a unit in the last place.
#[test]
fn averages_of_narrow_weights_follow_them() {
    for dtype in [DType::F32, DType::BF16, DType::F16] {
        let mut model = (Param::new(Array::scalar(1.0, dtype)),);
        let ema = Ema::new(&model, 0.999, of_type::<Param>());
        model.0.set(Array::scalar(2.0, dtype));
        let steps = jit(|(ema, model): (Ema, (Param,))| {
            let update = |mut ema: Ema, _: Array| {
                ema.update(&model);
                (ema, ())
            };
            scan(update, ema, Array::iota(&[3000], 0, DType::I32)).0
        });
        let ema = steps((ema, model.clone()));
        let average = ema.apply_to(&model);
        assert_eq!(
            (ema.params["0"].dtype(), average.0.dtype()),
            (DType::F32, dtype)
        );
        let right = 2.0 - 0.999f32.powi(3000);
        assert!(
            (number(&ema.params["0"]) - right).abs() < 1e-3,
            "{dtype}: {:?}",
            ema.params
        );
        assert!(
            (number(&average.0) - right).abs() < 8e-3,
            "{dtype}: {:?}",
            *average.0
        );
    }
}

#[test]
fn an_average_of_parameters_next_to_a_target() {
    let at = |x: f32| State::from_iter([("w", Array::from(x).astype(DType::BF16))]);
    let mut average = at(1.0);
    for _ in 0..100 {
        average = ramie_optim::incremental_update(&at(2.0), &average, 0.001);
    }
    assert!((number(&average["w"]) - (2.0 - 0.999f32.powi(100))).abs() < 1e-4);
}

#[test]
fn sums_of_metrics_exceed_the_largest_f16() {
    for dtype in NARROW {
        let values = Array::full(&[300], 1000.0f32, dtype);
        let mut metrics = MultiMetric::new()
            .with("all", Average::of("loss"))
            .with("statistics", Welford::of("loss"));
        let mut masked = Average::of("loss");
        let args = MetricArgs::new().with("loss", &values);
        for _ in 0..3 {
            metrics.update(&args);
            masked.update(&args.clone().mask(&Array::ones(&[300], dtype)));
        }
        let found = metrics.compute();
        assert_eq!(found["all"].dtype(), DType::F32);
        assert_eq!(
            (number(&found["all"]), number(&masked.compute())),
            (1000.0, 1000.0),
            "{dtype}"
        );
        assert_eq!(masked.count.item::<i32>(), 900);
        let of = |name: &str| number(&found[&format!("statistics.{name}")]);
        assert_eq!(
            (of("mean"), of("standard_deviation")),
            (1000.0, 0.0),
            "{dtype}"
        );
    }
}

/// A count in `bf16` stops at 256.
#[test]
fn metrics_count_many_narrow_values() {
    for dtype in NARROW {
        let mut average = Average::new();
        let ones = Array::ones(&[10], dtype);
        (0..300).for_each(|_| average.update(&(&ones).into()));
        assert_eq!(
            (number(&average.compute()), average.count.item::<i32>()),
            (1.0, 3000)
        );
        // 0.1 with the error of each value, not of each sum.
        let mut average = Average::new();
        let tenths = Array::full(&[10], 0.1f32, dtype);
        (0..300).for_each(|_| average.update(&(&tenths).into()));
        assert!((number(&average.compute()) - number(&Array::scalar(0.1, dtype))).abs() < 1e-6);
        // 300² is infinite in f16.
        let mut statistics = Welford::new();
        statistics.update(&(&Array::from([300.0f32, -300.0]).astype(dtype)).into());
        assert_eq!(number(&statistics.compute().standard_deviation), 300.0);
    }
}

#[test]
fn metrics_sum_small_integers() {
    let values = Array::from([200u8, 100, 250]);
    let mut average = Average::new();
    average.update(&(&values).into());
    average.update(
        &MetricArgs::new()
            .values(&values)
            .mask(&Array::from([true, true, false])),
    );
    assert_eq!(number(&average.compute()), 850.0 / 5.0);
}

/// 0.7 in `bf16` is 0.69921875, which is less than the threshold.
#[test]
fn thresholds_are_not_rounded() {
    let logits = Array::from([0.7f32, 0.8]).astype(DType::BF16);
    let mut accuracy = Accuracy::with_threshold(0.7);
    accuracy.update(
        &MetricArgs::new()
            .logits(&logits)
            .labels(&Array::from([0, 1])),
    );
    assert_eq!(number(&accuracy.compute()), 1.0);
}

#[test]
fn a_mean_of_narrow_losses() {
    let mut model = (Param::new(Array::scalar(1.0, DType::F16)),);
    let losses = Array::full(&[8], 60_000.0f32, DType::F16);
    let (loss, _) = accumulate(&mut model, losses, |m, loss| &*m.0 * loss);
    assert_eq!((loss.dtype(), number(&loss)), (DType::F16, 60_000.0));
}

/// A model that was cast to a narrow dtype as a whole.
#[test]
fn batch_statistics_of_a_narrow_model() {
    for dtype in NARROW {
        let mut norm = BatchNorm::new(1, &mut Rngs::new(0));
        norm.mean.set(Array::zeros(&[1], dtype));
        norm.var.set(Array::ones(&[1], dtype));
        let x = Array::from([[299.0f32], [301.0]]).astype(dtype);
        (0..400).for_each(|_| _ = norm.forward(&x));
        let right = 300.0 * (1.0 - 0.99f32.powi(400));
        assert_eq!(norm.mean.dtype(), DType::F32);
        let mean = norm.mean.to_vec::<f32>()[0];
        let given = number(&x.astype(DType::F32).mean());
        assert!(
            (mean - right * given / 300.0).abs() < 0.1,
            "{dtype}: {mean}, {right}"
        );
    }
}
