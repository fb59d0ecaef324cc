//! Options of a client, validated before they are passed to the plugin.
//!
//! Plugins ignore unknown options and abort the process if an option has the wrong type, so the
//! names and types are listed here.

use crate::error::{Error, Result};
use crate::sys::NamedValue;
use crate::value::Value;

/// The names and types of the options that plugins support.
const KNOWN: &[(&str, &str)] = &[
    // CPU
    ("cpu_device_count", "integer"),
    // GPU
    ("platform_name", "string"),
    ("allocator", "string"),
    ("memory_fraction", "float"),
    ("preallocate", "bool"),
    ("collective_memory_size", "integer"),
    ("visible_devices", "list of integers"),
    ("node_id", "integer"),
    ("num_nodes", "integer"),
    ("should_stage_host_to_device_transfers", "bool"),
    ("abort_collectives_on_failure", "bool"),
    ("use_tfrt_gpu_client", "bool"),
    ("enable_mock_nccl", "bool"),
    ("mock_gpu_topology", "string"),
    ("partition_index", "integer"),
    // GPUs that need not be present
    ("target_config", "string"),
    ("topology", "string"),
    // TPU
    ("max_inflight_computations", "integer"),
    ("ml_framework_name", "string"),
    ("ml_framework_version", "string"),
];

/// Options for [`Client::new`](crate::Client::new) and
/// [`Topology::new`](crate::Topology::new).
///
/// ```
/// use ramie_pjrt::ClientOptions;
/// let options = ClientOptions::new().set("cpu_device_count", 8i64);
/// assert!(options.check().is_ok());
/// assert!(ClientOptions::new().set("cpu_devices", 8i64).check().is_err());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientOptions {
    values: Vec<(String, Value)>,
}

impl ClientOptions {
    /// Creates empty options, which select the plugin's defaults.
    pub fn new() -> ClientOptions {
        ClientOptions::default()
    }

    /// Sets an option, replacing an earlier value. [`check`](Self::check), which `Client::new`
    /// calls, validates names and types.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl Into<Value>) -> ClientOptions {
        let (name, value) = (name.into(), value.into());
        self.values.retain(|(known, _)| *known != name);
        self.values.push((name, value));
        self
    }

    /// Sets the number of virtual devices of the CPU plugin.
    #[must_use]
    pub fn cpu_device_count(self, count: i64) -> ClientOptions {
        self.set("cpu_device_count", count)
    }

    /// Returns the options set so far.
    pub fn values(&self) -> &[(String, Value)] {
        &self.values
    }

    /// Checks names, types and ranges.
    ///
    /// # Errors
    /// Returns [`Error::ClientOption`] for the first option that a plugin would ignore, abort on,
    /// or cannot use.
    pub fn check(&self) -> Result<()> {
        for (name, value) in &self.values {
            let refuse = |reason: String| {
                Err(Error::ClientOption {
                    name: name.clone(),
                    reason,
                })
            };
            let Some((_, ty)) = KNOWN.iter().find(|(known, _)| known == name) else {
                let names: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
                return refuse(format!(
                    "no plugin has this option; the known options are {}",
                    names.join(", ")
                ));
            };
            if value.type_name() != *ty {
                return refuse(format!(
                    "takes a value of type {ty}, got {} ({value})",
                    value.type_name()
                ));
            }
            let range = match (name.as_str(), value) {
                ("cpu_device_count", Value::I64(n)) if !(1..=4096).contains(n) => {
                    "between 1 and 4096"
                }
                ("num_nodes", Value::I64(n)) if *n < 1 => "1 or more",
                ("node_id" | "collective_memory_size" | "partition_index", Value::I64(n))
                    if *n < 0 =>
                {
                    "0 or more"
                }
                ("max_inflight_computations", Value::I64(n)) if *n < 1 => "1 or more",
                ("memory_fraction", Value::F32(x)) if x.is_nan() || *x <= 0.0 => "positive",
                ("allocator", Value::String(s))
                    if !["default", "platform", "bfc", "cuda_async"].contains(&s.as_str()) =>
                {
                    "one of default, platform, bfc, cuda_async"
                }
                ("visible_devices", Value::I64List(l))
                    if l.is_empty() || l.iter().any(|&i| i < 0) =>
                {
                    "a non-empty list of device numbers"
                }
                _ => continue,
            };
            return refuse(format!("must be {range}, got {value}"));
        }
        Ok(())
    }

    /// Returns views of the options for the plugin, which borrow `self`.
    pub(crate) fn to_raw(&self) -> Vec<NamedValue> {
        self.values
            .iter()
            .map(|(name, value)| value.to_raw(name))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(options: ClientOptions) -> String {
        options.check().unwrap_err().to_string()
    }

    #[test]
    fn unknown_names_wrong_types_and_bad_ranges_are_refused() {
        let unknown = refusal(ClientOptions::new().set("cpu_devices", 8i64));
        assert!(
            unknown.contains("`cpu_devices`") && unknown.contains("cpu_device_count"),
            "{unknown}"
        );
        let wrong = refusal(ClientOptions::new().set("cpu_device_count", "8"));
        assert!(wrong.contains("type integer, got string (8)"), "{wrong}");
        let zero = refusal(ClientOptions::new().cpu_device_count(0));
        assert!(zero.contains("between 1 and 4096, got 0"), "{zero}");
        assert!(
            refusal(ClientOptions::new().set("memory_fraction", f32::NAN)).contains("positive")
        );
        assert!(refusal(ClientOptions::new().set("allocator", "malloc")).contains("platform"));
        assert!(refusal(ClientOptions::new().set("visible_devices", vec![])).contains("non-empty"));
    }

    #[test]
    fn the_last_value_of_a_name_counts() {
        let options = ClientOptions::new()
            .cpu_device_count(2)
            .set("preallocate", false)
            .cpu_device_count(8);
        assert!(options.check().is_ok());
        assert_eq!(options.values().len(), 2);
        assert_eq!(options.to_raw().len(), 2);
    }
}
