//! The digits on a device.

use ramie_data::digits;

#[test]
fn splits_become_arrays() {
    let digits = digits::load().unwrap();
    let test = &digits.test;
    assert_eq!(test.image_array().shape(), [450, 8, 8]);
    assert_eq!(digits.train.pixel_array().shape(), [1347, 64]);
    let pixels: Vec<f32> = test.images.iter().copied().collect();
    assert_eq!(test.pixel_array().to_vec::<f32>(), pixels);
    assert_eq!(test.label_array().to_vec::<i32>(), test.labels.to_vec());
    // The first of scikit-learn's shuffled test rows show 2, 8, 2, 6, 6.
    assert_eq!(test.labels.to_vec()[..5], [2, 8, 2, 6, 6]);
}
