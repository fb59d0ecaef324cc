//! A program that is killed while it saves leaves a whole file.

use ramie_checkpoint::{load_state, save};
use ramie_core::Array;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const FILE: &str = "RAMIE_TEST_KILLED_WHILE_SAVING";
const LENGTH: usize = 300_000;

/// Saves arrays that hold one number each, for ever.
fn save_for_ever(path: &Path) -> ! {
    for i in 0.. {
        save(path, &Array::from(vec![i as f32; LENGTH])).expect("saving works");
    }
    unreachable!("the loop has no end")
}

#[test]
fn a_killed_save_leaves_a_whole_file() {
    if let Some(path) = std::env::var_os(FILE) {
        save_for_ever(Path::new(&path));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let mut last = None;
    for round in 0..8 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "a_killed_save_leaves_a_whole_file",
                "--exact",
                "--nocapture",
            ])
            .env(FILE, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let before = std::fs::metadata(&path).and_then(|m| m.modified()).ok();
        while std::fs::metadata(&path).and_then(|m| m.modified()).ok() == before {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "nothing was saved"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(3 + 5 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let state = load_state(&path).unwrap();
        let values = state.get("").unwrap().to_vec::<f32>();
        assert_eq!(values.len(), LENGTH);
        assert!(
            values.iter().all(|v| *v == values[0]),
            "the file mixes two saves"
        );
        last = Some(values[0]);
    }
    assert!(last.is_some());
}
