//! Checkpoints of a run: the state of training, and where the data stood.
//!
//! This is the one place of the examples that knows how they are kept.

use super::Result;
use ramie::Tree;
use ramie::checkpoint::checkpoints::{SaveOptions, restore_checkpoint, save_checkpoint_with};
use serde::{Serialize, de::DeserializeOwned};
use std::fs;
use std::path::{Path, PathBuf};

/// How many checkpoints are kept.
const KEPT: usize = 2;

/// The file that says where the data stood after a step.
fn position(folder: &Path, step: u64) -> PathBuf {
    folder.join(format!("position_{step}.json"))
}

/// Saves the state after a step.
pub fn save(folder: &Path, step: u64, state: &impl Tree, data: &impl Serialize) -> Result<PathBuf> {
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    // The checkpoint comes last: where there is one, it is complete.
    let path = position(folder, step);
    fs::write(&path, serde_json::to_string(data)?)
        .map_err(|e| format!("{}: {e}", path.display()))?;
    let options = SaveOptions::new().overwrite(true).keep(KEPT);
    let saved = save_checkpoint_with(folder, state, step, &options)?;
    remove_positions_without_checkpoint(folder)?;
    Ok(saved)
}

fn remove_positions_without_checkpoint(folder: &Path) -> Result {
    let failed = |e| format!("{}: {e}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        let step = name.strip_prefix("position_");
        if let Some(step) = step.and_then(|s| s.strip_suffix(".json"))
            && !folder.join(format!("checkpoint_{step}")).exists()
        {
            fs::remove_file(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        }
    }
    Ok(())
}

/// Replaces a state by that of the last checkpoint, and says after which step it
/// was saved and where the data stood; nothing if there is none.
pub fn restore<D: DeserializeOwned>(
    folder: &Path,
    state: &mut impl Tree,
) -> Result<Option<(u64, D)>> {
    let Some(path) = restore_checkpoint(folder, state)? else {
        return Ok(None);
    };
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    let step = name.rsplit('_').next().unwrap_or("").parse::<u64>();
    let step = step.map_err(|e| format!("{}: the step: {e}", path.display()))?;
    let path = position(folder, step);
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(Some((step, serde_json::from_str(&text)?)))
}
