//! Options of a manager in configuration files.

use super::options::{CheckpointManagerOptions, ToDelete};
use super::policies::BestMode;
use crate::commit::CheckpointerOptions;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// The options that are data; `None` for a default. The names are those of the setters.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Data {
    #[serde(skip_serializing_if = "Option::is_none")]
    save_interval_steps: Option<u64>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    save_on_steps: BTreeSet<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_to_keep: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_period: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_time_interval: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best_mode: Option<BestMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_checkpoints_without_metrics: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prevent_write_metrics: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step_prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step_format_fixed_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    create: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleanup_tmp_directories: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    save_root_metadata: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    single_host_load_and_broadcast: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    todelete_subdir: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    todelete_full_path: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enable_background_delete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpointer: Option<CheckpointerOptions>,
}

impl Data {
    /// Returns a reason why the values, which come from a file, are invalid. The setters panic for
    /// these.
    fn mistake(&self) -> Option<String> {
        let zero = [
            ("save_interval_steps", self.save_interval_steps == Some(0)),
            ("max_to_keep", self.max_to_keep == Some(0)),
            ("keep_period", self.keep_period == Some(0)),
        ];
        if let Some((name, _)) = zero.into_iter().find(|(_, is_zero)| *is_zero) {
            return Some(format!("{name} is 0, expected at least 1"));
        }
        let digits = self.step_format_fixed_length.unwrap_or(1);
        if !(1..=20).contains(&digits) {
            return Some(format!(
                "step_format_fixed_length is {digits}, expected 1 to 20"
            ));
        }
        let prefix = self.step_prefix.as_deref().unwrap_or_default();
        if prefix.contains(std::path::is_separator) {
            return Some(format!("step_prefix `{prefix}` contains a path separator"));
        }
        let both = self.todelete_subdir.is_some() && self.todelete_full_path.is_some();
        both.then(|| "todelete_subdir and todelete_full_path are both set".to_owned())
    }
}

/// Calls the setters of the options that are given.
macro_rules! set {
    ($options:ident, $data:ident: $($field:ident)*) => {
        $( if let Some(value) = $data.$field { $options = $options.$field(value); } )*
    };
}

impl From<Data> for CheckpointManagerOptions {
    fn from(data: Data) -> CheckpointManagerOptions {
        let mut options = CheckpointManagerOptions::new().save_on_steps(data.save_on_steps);
        set! { options, data:
            save_interval_steps max_to_keep keep_period best_mode keep_checkpoints_without_metrics
            prevent_write_metrics step_prefix step_format_fixed_length create cleanup_tmp_directories
            read_only save_root_metadata single_host_load_and_broadcast todelete_subdir
            todelete_full_path enable_background_delete checkpointer
        }
        if let Some(seconds) = data.keep_time_interval {
            options = options.keep_time_interval(Duration::from_secs(seconds));
        }
        options
    }
}

/// Writes the options that differ from their defaults.
///
/// # Errors
/// Returns an error if a function or a policy is set, which is not data.
impl Serialize for CheckpointManagerOptions {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let functions = [
            ("should_save_fn", self.should_save_fn.is_some()),
            ("save_decision_policy", self.save_decision_policy.is_some()),
            ("preservation_policy", self.preservation_policy.is_some()),
            ("best_fn", self.best_fn.is_some()),
            ("step_name_format", self.names.reads_others()),
        ];
        if let Some((name, _)) = functions.into_iter().find(|(_, is_set)| *is_set) {
            return Err(S::Error::custom(format!(
                "CheckpointManagerOptions: `{name}` is not data\n  help: save the options before setting it"
            )));
        }
        let default = CheckpointManagerOptions::new();
        let changed = |value: bool, default: bool| (value != default).then_some(value);
        let (todelete_subdir, todelete_full_path) = match self.todelete.clone() {
            None => (None, None),
            Some(ToDelete::Subdirectory(name)) => (Some(name), None),
            Some(ToDelete::Path(path)) => (None, Some(path)),
        };
        let interval = self.save_interval_steps;
        Data {
            save_interval_steps: (interval != 1).then_some(interval),
            save_on_steps: self.save_on_steps.clone(),
            max_to_keep: self.max_to_keep,
            keep_period: self.keep_period,
            keep_time_interval: self.keep_time_interval.map(|interval| interval.as_secs()),
            best_mode: (self.best_mode != default.best_mode).then_some(self.best_mode),
            keep_checkpoints_without_metrics: changed(self.keep_checkpoints_without_metrics, true),
            prevent_write_metrics: changed(self.prevent_write_metrics, false),
            step_prefix: self.names.prefix_name().map(str::to_owned),
            step_format_fixed_length: self.names.digits(),
            create: changed(self.create, true),
            cleanup_tmp_directories: changed(self.cleanup_tmp_directories, false),
            read_only: changed(self.read_only, false),
            save_root_metadata: changed(self.save_root_metadata, true),
            single_host_load_and_broadcast: changed(self.single_host_load_and_broadcast, false),
            todelete_subdir,
            todelete_full_path,
            enable_background_delete: changed(self.enable_background_delete, false),
            checkpointer: self
                .checkpointer
                .is_changed()
                .then(|| self.checkpointer.clone()),
        }
        .serialize(to)
    }
}

impl<'de> Deserialize<'de> for CheckpointManagerOptions {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let data = Data::deserialize(from)?;
        match data.mistake() {
            Some(mistake) => Err(D::Error::custom(mistake)),
            None => Ok(data.into()),
        }
    }
}
