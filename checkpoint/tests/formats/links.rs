//! Steps that are symbolic links.
#![cfg(unix)]

use ramie_checkpoint::commit::{CheckpointerOptions, restore_item, save_item};
use ramie_checkpoint::items::{JsonRestore, JsonSave};
use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use std::os::unix::fs::symlink;

#[test]
fn deleting_a_step_that_is_a_link_keeps_its_target() {
    for (threads, background) in [(1, false), (4, false), (4, true)] {
        let folder = tempfile::tempdir().unwrap();
        let (run, kept) = (folder.path().join("run"), folder.path().join("kept"));
        save_item(&kept, &JsonSave::new("value")).unwrap();
        std::fs::create_dir(&run).unwrap();
        symlink(&kept, run.join("3")).unwrap();
        let options = CheckpointManagerOptions::new()
            .enable_background_delete(background)
            .checkpointer(CheckpointerOptions::new().threads(threads));
        let manager = CheckpointManager::new(&run, options).unwrap();
        assert_eq!(manager.all_steps(), [3]);
        manager.delete(3).unwrap();
        manager.close().unwrap();
        let value = restore_item(&kept, JsonRestore::<String>::new()).unwrap();
        assert_eq!(value, "value");
        assert_eq!(std::fs::read_dir(&run).unwrap().count(), 0);
    }
}
