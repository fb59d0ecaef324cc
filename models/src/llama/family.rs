//! The families of models that `Llama` computes.

use crate::LlamaConfig;

/// The family of a [`Llama`](crate::Llama), which determines the options that it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LlamaFamily {
    /// Llama, and others of that form, such as SmolLM2.
    #[default]
    Llama,
    /// Mistral, whose tokens can attend to a window of tokens before them. It has no biases.
    Mistral,
    /// Qwen 2 and 2.5, with biases of queries, keys and values only.
    Qwen2,
    /// Qwen 3, with RMS normalization of queries and keys.
    Qwen3,
}

/// The families with their names, `model_type`, and classes in published files.
const NAMES: [(LlamaFamily, &str, &str); 4] = [
    (LlamaFamily::Llama, "llama", "LlamaForCausalLM"),
    (LlamaFamily::Mistral, "mistral", "MistralForCausalLM"),
    (LlamaFamily::Qwen2, "qwen2", "Qwen2ForCausalLM"),
    (LlamaFamily::Qwen3, "qwen3", "Qwen3ForCausalLM"),
];

impl LlamaFamily {
    /// Returns the family with this name in published files.
    pub(crate) fn named(name: &str) -> Option<LlamaFamily> {
        let found = NAMES.iter().find(|(_, other, _)| *other == name);
        found.map(|(family, ..)| *family)
    }

    /// Returns the name and the class in published files.
    pub(crate) fn published(self) -> (&'static str, &'static str) {
        let found = NAMES.iter().find(|(family, ..)| *family == self);
        let (_, name, class) = found.expect("all families have names");
        (name, class)
    }
}

impl LlamaConfig {
    /// Returns the name and the value of an option that the family does not support, if any.
    pub(crate) fn unsupported(&self) -> Option<(&'static str, String)> {
        let family = self.model_type;
        let biases = match family {
            LlamaFamily::Llama | LlamaFamily::Qwen3 => self.attention_bias,
            LlamaFamily::Mistral => false,
            LlamaFamily::Qwen2 => true,
        };
        if self.attention_bias != biases {
            return Some(("attention_bias", self.attention_bias.to_string()));
        }
        if self.mlp_bias && family != LlamaFamily::Llama {
            return Some(("mlp_bias", "true".to_owned()));
        }
        let supported = |size: usize| size > 0 && family == LlamaFamily::Mistral;
        let size = self.sliding_window.filter(|size| !supported(*size))?;
        Some(("sliding_window", size.to_string()))
    }
}
