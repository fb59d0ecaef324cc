//! Folders of checkpoints, against what Flax leaves in them.

use ramie_checkpoint::checkpoints::{
    RestoreOptions, SaveOptions, Step, available_steps, latest_checkpoint, natural_sort,
    restore_checkpoint, restore_checkpoint_with, save_checkpoint, save_checkpoint_with,
};
use ramie_core::{Array, State};
use serde_json::Value;
use std::path::Path;

fn golden() -> Value {
    ramie_testing::golden::json("flax_checkpoints.json")
}

fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().unwrap().iter();
    items.map(|v| v.as_str().unwrap().to_owned()).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn at(x: f32) -> State {
    State::from_iter([("step", Array::from(x))])
}

#[test]
fn names_are_sorted_as_by_flax() {
    let golden = golden();
    let rows = golden["natural_sort"].as_array().unwrap();
    assert!(rows.len() > 5);
    for row in rows {
        // Flax takes a hyphen after a letter for a sign.
        let without = |list: &Value| {
            let mut names = strings(list);
            names.retain(|name| name != "x-3");
            names
        };
        let mut names = without(&row["names"]);
        natural_sort(&mut names);
        assert_eq!(names, without(&row["sorted"]));
    }
}

#[test]
fn files_are_kept_as_by_flax() {
    let golden = golden();
    let rows = golden["saves"].as_array().unwrap();
    assert!(rows.len() > 10);
    for row in rows {
        let given = &row["options"];
        // Flax reads the steps of this prefix as negative numbers.
        if given["prefix"] == "ckpt-" {
            continue;
        }
        let mut options = SaveOptions::new();
        let mut prefix = "checkpoint_";
        if let Some(text) = given["prefix"].as_str() {
            prefix = text;
            options = options.prefix(text);
        }
        if let Some(n) = given["keep"].as_u64() {
            options = options.keep(n as usize);
        }
        if let Some(n) = given["keep_every_n_steps"].as_u64() {
            options = options.keep_every_n_steps(n);
        }
        options = options.overwrite(given["overwrite"] == true);
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("run");
        let mut refused = "None".to_owned();
        for text in strings(&row["steps"]) {
            let whole = text.parse().map(Step::Int);
            let step = whole.unwrap_or_else(|_| Step::Float(text.parse().unwrap()));
            assert_eq!(step.to_string(), text);
            let value = at(text.parse().unwrap());
            match save_checkpoint_with(&folder, &value, step, &options) {
                Ok(path) => assert_eq!(path, folder.join(format!("{prefix}{text}"))),
                Err(e) => {
                    let expected = format!("{prefix}{text}: ");
                    assert!(e.to_string().contains(&expected), "{e}");
                    refused = text;
                    break;
                }
            }
        }
        assert_eq!(row["refused"], *refused, "{row}");
        assert_eq!(names(&folder), strings(&row["files"]), "{row}");
        let latest = latest_checkpoint(&folder, prefix).unwrap().unwrap();
        assert_eq!(latest, folder.join(row["latest"].as_str().unwrap()));
        if !prefix.is_empty() {
            let steps = available_steps(&folder, prefix).unwrap();
            let numbers = steps.iter().map(|step| match step {
                Step::Int(n) => *n as f64,
                Step::Float(x) => *x,
            });
            let expected = strings(&row["available"]);
            let expected: Vec<f64> = expected.iter().map(|x| x.parse().unwrap()).collect();
            assert_eq!(numbers.collect::<Vec<_>>(), expected);
        }
    }
}

#[test]
fn the_last_one_is_restored_or_the_one_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut state = at(0.0);
    assert_eq!(
        restore_checkpoint(folder.join("absent"), &mut state).unwrap(),
        None
    );
    assert_eq!(restore_checkpoint(folder, &mut state).unwrap(), None);
    let options = SaveOptions::new().keep(5);
    for step in [9, 10] {
        save_checkpoint_with(folder, &at(step as f32), step, &options).unwrap();
    }
    // What an older program left when it was killed is no checkpoint.
    std::fs::write(folder.join("checkpoint_tmp"), b"half").unwrap();
    let path = restore_checkpoint(folder, &mut state).unwrap();
    assert_eq!(path, Some(folder.join("checkpoint_10")));
    let value = |state: &State| state.get("step").unwrap().item::<f32>();
    assert_eq!(value(&state), 10.0);
    let nine = RestoreOptions::new().step(9);
    restore_checkpoint_with(folder, &mut state, &nine).unwrap();
    assert_eq!(value(&state), 9.0);
    restore_checkpoint(folder.join("checkpoint_10"), &mut state).unwrap();
    assert_eq!(value(&state), 10.0);
    let error = restore_checkpoint_with(folder, &mut state, &RestoreOptions::new().step(8));
    let text = error.unwrap_err().to_string();
    assert!(text.contains("checkpoint_8: cannot be read: "), "{text}");
    let mut other = Array::from(0.0f32);
    let text = restore_checkpoint(folder, &mut other)
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("checkpoint_10: the file does not match the tree"),
        "{text}"
    );
    std::fs::create_dir(folder.join("checkpoint_11")).unwrap();
    let text = restore_checkpoint(folder, &mut state)
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("checkpoint_11: is a directory, as in Orbax's format, not a Flax file"),
        "{text}"
    );
    // Folders are never removed.
    save_checkpoint(folder, &at(12.0), 12).unwrap();
    assert_eq!(
        names(folder),
        ["checkpoint_11", "checkpoint_12", "checkpoint_tmp"]
    );
}

#[test]
#[should_panic(expected = "prefix: `a/b` contains a path separator")]
fn a_prefix_is_no_folder() {
    let _ = SaveOptions::new().prefix("a/b");
}

#[test]
#[should_panic(expected = "SaveOptions::keep: `files` is 0, so the saved file would be deleted")]
fn a_file_is_kept_at_least() {
    let _ = SaveOptions::new().keep(0);
}

/// litejs/natural-compare-lite#3. A sort by the numbers in names takes the hyphen of `model-10` for a minus sign, so
/// the first step is the last one. (Flax's `natural_sort` has the same expression; its default prefix ends
/// with an underscore, that of Hugging Face is `checkpoint-`.)
/// Right: the last checkpoint is the one of the largest step, and a later step is not refused as an earlier
/// one. What an `overwrite` removes as later is later.
#[test]
fn a_hyphen_before_the_step_is_no_minus_sign() {
    let state = |x: f32| State::from_iter([("w", Array::from(x))]);
    let mut wrong = Vec::new();
    for prefix in ["model_", "model", "model-", "run-2026-09-", "checkpoint-"] {
        for overwrite in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let options = SaveOptions::new()
                .prefix(prefix)
                .keep(10)
                .overwrite(overwrite);
            let name = format!("{prefix:?}, overwrite {overwrite}");
            for step in [1, 2, 9, 10, 100] {
                if let Err(e) =
                    save_checkpoint_with(folder.path(), &state(step as f32), step, &options)
                {
                    wrong.push(format!(
                        "{name}: step {step}: {}",
                        e.to_string().lines().next().unwrap_or("")
                    ));
                }
            }
            let steps = available_steps(folder.path(), prefix).unwrap();
            if steps != [1, 2, 9, 10, 100].map(Step::Int) {
                wrong.push(format!("{name}: steps {steps:?}"));
            }
            let last = latest_checkpoint(folder.path(), prefix).unwrap();
            let last = last.map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
            if last != Some(format!("{prefix}100")) {
                wrong.push(format!("{name}: the last is {last:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
