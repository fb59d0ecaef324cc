//! The templates: programs that a project starts from.

use clap::ValueEnum;

/// A program that a project starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// Multilayer perceptron on built-in images of handwritten digits.
    Mlp,
    /// Convolutional network on small images, built in or in MNIST's format.
    Cnn,
    /// Regression on a table in a CSV file.
    Table,
    /// Character-level language model on a text file.
    Transformer,
    /// Low-rank adapters (LoRA) for a pretrained model in a safetensors file.
    Finetune,
}

/// The files of a template, and its parts of the README.
pub(super) struct Contents {
    /// First sentence of the README.
    pub about: &'static str,
    /// The interval of checkpoints.
    pub interval: &'static str,
    /// The unit of the length of a run.
    pub length: &'static str,
    /// A section of `Cargo.toml` after the dependencies.
    pub features: &'static str,
    /// Files below `src`, with their descriptions where the README does not know them.
    pub sources: &'static [(&'static str, &'static str, &'static str)],
    /// Files that the program writes, besides those of every template.
    pub written: &'static [(&'static str, &'static str)],
    /// Last section of the README.
    pub notes: &'static str,
}

/// Lists the sources of a template: three that every template has, and others with descriptions.
macro_rules! sources {
    ($template:literal $(, $file:literal: $about:literal)*) => {
        sources!(@ $template, "main.rs": "", "model.rs": "", "options.rs": "" $(, $file: $about)*)
    };
    (@ $template:literal $(, $file:literal: $about:literal)*) => {
        &[$((
            $file,
            include_str!(concat!("../templates/", $template, "/", $file)),
            $about,
        )),*]
    };
}

impl Template {
    /// The name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Template::Mlp => "mlp",
            Template::Cnn => "cnn",
            Template::Table => "table",
            Template::Transformer => "transformer",
            Template::Finetune => "finetune",
        }
    }

    pub(super) fn contents(self) -> Contents {
        match self {
            Template::Mlp => Contents {
                about: "This program trains a multilayer perceptron on images of handwritten digits.",
                interval: "epoch",
                length: "epochs",
                features: "",
                sources: sources!("mlp"),
                written: &[],
                notes: include_str!("../templates/mlp/notes.md"),
            },
            Template::Cnn => Contents {
                about: "This program trains a convolutional network on small images.",
                interval: "epoch",
                length: "epochs",
                features: "",
                sources: sources!("cnn", "images.rs": "the images and their augmentation"),
                written: &[],
                notes: include_str!("../templates/cnn/notes.md"),
            },
            Template::Table => table(),
            Template::Transformer => Contents {
                about: "This program trains a character-level language model and generates text.",
                interval: "50 steps",
                length: "steps",
                features: "",
                sources: sources!("transformer"),
                written: &[],
                notes: include_str!("../templates/transformer/notes.md"),
            },
            Template::Finetune => Contents {
                about: "This program fine-tunes a pretrained model with low-rank adapters (LoRA).",
                interval: "epoch",
                length: "epochs",
                features: "",
                sources: sources!(
                    "finetune",
                    "pretrained.rs": "trains the base model if there is no file"
                ),
                written: &[(
                    "adapters.safetensors",
                    "the adapters alone, to be used with the file `base.safetensors` or `--base FILE`",
                )],
                notes: include_str!("../templates/finetune/notes.md"),
            },
        }
    }
}

/// The template for tables.
fn table() -> Contents {
    Contents {
        about: "This program learns to predict the price of a house from the other columns of a CSV table.",
        interval: "epoch",
        length: "epochs",
        features: "\n[features]\n# Draws the predictions against the true values.\nplots = [\"ramie/plots\"]\n",
        sources: sources!(
            "table",
            "table.rs": "the columns and their encoding",
            "predict.rs": "predictions of the trained model",
            "houses.csv": "the built-in table"
        ),
        written: &[(
            "encoding.toml",
            "means and deviations of columns, and the names of categories",
        )],
        notes: include_str!("../templates/table/notes.md"),
    }
}
