//! The model that the example downloads.

use ramie::plugins::{PinnedFile, Wheel};

/// Magika (Fratantonio et al., *Magika: AI-Powered Content-Type Detection*, 2024) under the Apache
/// License 2.0, with its configuration.
pub static MAGIKA: PinnedFile = PinnedFile {
    title: "model magika",
    file: "magika/models/standard_v3_3/model.onnx",
    wheels: &[Wheel {
        name: "magika",
        version: "1.0.3",
        sha256: "3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529",
        bytes: 16_244_594,
        keep: &["magika/models/standard_v3_3/"],
        selector: &[],
    }],
};
