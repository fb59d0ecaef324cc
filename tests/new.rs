//! `ramie new`: rejected arguments, the projects that it writes, and that their programs train and resume.

use ramie_testing::examples::example;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const TEMPLATES: [&str; 5] = ["mlp", "cnn", "table", "transformer", "finetune"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn new(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ramie"));
    command.arg("new").args(arguments).current_dir(folder);
    command.output().unwrap()
}

/// Runs the command, which must succeed, and returns the folder of the project.
fn project(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    let output = new(folder, &[&[name], options].concat());
    let errors = text(&output.stderr);
    assert!(output.status.success(), "{errors}");
    folder.join(name)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn unusable_names_and_folders_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("full")).unwrap();
    fs::write(folder.join("full/file"), "mine").unwrap();
    fs::write(folder.join("file"), "mine").unwrap();
    for (arguments, expected) in [
        (
            &["full"][..],
            "error: `full` already exists and is not empty\nhelp: choose another",
        ),
        (
            &["file"],
            "error: `file` already exists and is not a folder\nhelp: choose another",
        ),
        (&["file/demo"], "error: failed to "),
        (
            &["a b"],
            "error: `a b` is not a valid name of a crate: it contains ` `\nhelp: use letters",
        ),
        (
            &["loop"],
            "error: `loop` is not a valid name of a crate: it is a keyword of Rust\nhelp: ",
        ),
        (
            &["."],
            "error: `.` does not end with the name of a crate\nhelp: pass a new folder",
        ),
        (
            &["demo", "--ramie", "none/there"],
            "error: --ramie `none/there`: ",
        ),
        (
            &["demo", "--ramie", "full"],
            "error: --ramie `full`: the folder does not contain Ramie's sources\nhelp: ",
        ),
    ] {
        let output = new(folder, arguments);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        assert!(errors.starts_with(expected), "{arguments:?}: {errors}");
    }
    assert_eq!(names(folder), ["file", "full"]);
    let output = new(folder, &["demo", "--template", "rnn"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = text(&output.stderr);
    assert!(
        errors.contains("[possible values: mlp, cnn, table, transformer, finetune]"),
        "{errors}"
    );
}

/// A folder without permission to write. The superuser may write everywhere.
#[cfg(unix)]
#[test]
fn an_unwritable_folder_is_rejected() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
    if fs::create_dir(folder.path().join("probe")).is_ok() {
        println!("skipped: this user may write to folders without permission");
        return;
    }
    let output = new(folder.path(), &["demo"]);
    let errors = text(&output.stderr);
    assert!(
        errors.starts_with("error: failed to create `demo"),
        "{errors}"
    );
    assert!(
        errors.contains("help: run the command in a folder that you can write to"),
        "{errors}"
    );
}

#[test]
fn a_project_outside_of_repositories_becomes_one() {
    let folder = tempfile::tempdir().unwrap();
    if !Command::new("git")
        .arg("--version")
        .output()
        .is_ok_and(|o| o.status.success())
    {
        println!("skipped: git is not installed");
        return;
    }
    let outer = project(folder.path(), "outer", &[]);
    assert!(outer.join(".git").is_dir());
    let inner = project(&outer, "inner", &["--template", "cnn"]);
    assert!(
        !inner.join(".git").exists(),
        "it is in the outer repository"
    );
    let plain = project(folder.path(), "plain", &["--no-git"]);
    assert!(!plain.join(".git").exists());
}

/// The names of the files in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Cargo accepts each project and finds all crates. Its sources are those of the programs
/// `new_*`, which the other tests run.
#[test]
fn projects_are_complete() {
    let folder = tempfile::tempdir().unwrap();
    for template in TEMPLATES {
        let name = format!("my-{template}");
        let made = project(folder.path(), &name, &["--template", template]);
        let templates = root().join("new/templates").join(template);
        let written = names(&made.join("src"));
        let mut sources = names(&templates);
        sources.retain(|name| name != "notes.md");
        assert_eq!(written, sources);
        for file in written {
            let [a, b] = [made.join("src").join(&file), templates.join(&file)];
            assert_eq!(
                fs::read(a).unwrap(),
                fs::read(b).unwrap(),
                "{template}: {file}"
            );
        }
        // With the same versions, no registry is needed.
        fs::copy(root().join("Cargo.lock"), made.join("Cargo.lock")).unwrap();
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--offline", "--depth", "1", "--prefix", "none"])
            .current_dir(&made)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let tree = text(&output.stdout);
        let ramie = format!(
            "ramie v{} ({})",
            env!("CARGO_PKG_VERSION"),
            root().display()
        );
        assert!(tree.starts_with(&format!("{name} v0.1.0 ")), "{tree}");
        assert!(tree.lines().any(|line| line == ramie), "{tree}");
    }
}

/// A program of a template.
struct Program<'a> {
    template: &'a str,
    folder: &'a Path,
}

/// The lines that depend on nothing but the computation: the last two, and the metrics.
#[derive(Debug, PartialEq)]
struct Results {
    printed: Vec<String>,
    metrics: Vec<(u64, String)>,
}

impl Program<'_> {
    fn command(&self, out: &str, length: &str, resume: bool) -> Command {
        let mut command = Command::new(example(&format!("new_{}", self.template)));
        let option = match self.template {
            "transformer" => "--steps",
            _ => "--epochs",
        };
        command.args([option, length, "--out", out]);
        if self.template == "cnn" {
            command.args(["--width", "4"]);
        }
        if resume {
            command.arg("--resume");
        }
        command
            .current_dir(self.folder)
            .env("RAMIE_COMPILATION_CACHE", self.folder.join("cache"));
        command
    }

    fn run(&self, out: &str, length: &str, resume: bool) -> (Results, String) {
        let output = self.command(out, length, resume).output().unwrap();
        let (said, errors) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{}: {said}{errors}", self.template);
        let lines: Vec<String> = said.lines().map(str::to_owned).collect();
        let printed = lines[lines.len() - 2..].to_vec();
        assert!(
            printed[0].starts_with("Training loss of the last step: "),
            "{said}"
        );
        assert!(printed[1].starts_with("Validation "), "{said}");
        let file = self.folder.join(out).join("metrics.jsonl");
        let mut metrics = Vec::new();
        for line in fs::read_to_string(file).unwrap().lines() {
            let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
            let row = row.as_object_mut().unwrap();
            // The time of the step differs from run to run.
            row.retain(|name, _| !name.contains("time"));
            let step = row["step"].as_u64().unwrap();
            metrics.push((step, serde_json::to_string(row).unwrap()));
        }
        (Results { printed, metrics }, said)
    }

    /// Starts the program, sends it the signal after a checkpoint and before its end, and returns
    /// its exit code and the rest of its output.
    fn stop(&self, out: &str, length: &str, signal: &str) -> (Option<i32>, String) {
        let mut command = self.command(out, length, false);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let checkpoints = self.folder.join(out).join("checkpoints");
        let is_saved = || {
            fs::read_dir(&checkpoints).is_ok_and(|mut entries| {
                entries.any(|e| {
                    e.is_ok_and(|e| e.file_name().to_string_lossy().parse::<u64>().is_ok())
                })
            })
        };
        let seen = lines.by_ref().find(|line| line.is_err() || is_saved());
        let ended = process.try_wait().unwrap();
        assert!(
            seen.is_some() && ended.is_none(),
            "it ended before the signal: {ended:?}"
        );
        let id = process.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
        let rest: Vec<String> = lines.map_while(Result::ok).collect();
        (process.wait().unwrap().code(), rest.join("\n"))
    }

    /// A run that is killed and resumed ends with the bits of an uninterrupted one.
    fn check(&self, length: &str) -> Results {
        let (whole, _) = self.run("whole", length, false);
        let (code, _) = self.stop("killed", length, "-KILL");
        assert_eq!(code, None);
        let (resumed, said) = self.run("killed", length, true);
        assert!(said.contains("Resumed after step "), "{said}");
        assert!(whole.metrics.len() > 20, "{}", whole.metrics.len());
        assert_eq!(resumed, whole, "{}", self.template);
        assert!(self.folder.join("killed/model.safetensors").is_file());
        whole
    }
}

fn check(template: &str, length: &str) -> Results {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    Program { template, folder }.check(length)
}

/// The number in the last line.
fn score(results: &Results) -> f64 {
    let number = results.printed[1]
        .split(' ')
        .find_map(|word| word.parse().ok());
    number.expect("a number")
}

#[test]
fn mlp_trains_and_resumes() {
    assert!(score(&check("mlp", "12")) > 0.9);
}

#[test]
fn cnn_trains_and_resumes() {
    assert!(score(&check("cnn", "8")) > 0.25);
}

#[test]
fn table_trains_and_resumes() {
    // The prices are from 72,100 to 937,000.
    assert!(score(&check("table", "40")) < 40_000.0);
}

/// A program predicts from the files of a run alone, and an unknown category is an error.
#[test]
fn table_predicts_rows_of_new_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let template = "table";
    Program { template, folder }.run("out", "20", false);
    let predict = |rows: &str| {
        fs::write(folder.join("new.csv"), rows).unwrap();
        let mut command = Command::new(example("new_table"));
        command.args(["--predict", "new.csv"]).current_dir(folder);
        command.output().unwrap()
    };
    let output = predict("region,age,rooms,area\nvillage,50,2,60\ncity,5,6,180\n");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let prices: Vec<f64> = said.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(prices.len(), 2, "{said}");
    assert!(
        (50e3..250e3).contains(&prices[0]) && (600e3..950e3).contains(&prices[1]),
        "{said}"
    );

    let output = predict("region,age,rooms,area\ncastle,50,2,60\n");
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        errors.contains("new.csv, row 2: column \"region\" is \"castle\""),
        "{errors}"
    );
    assert!(errors.contains("city, suburb, village"), "{errors}");
}

#[test]
fn transformer_trains_and_resumes() {
    // A uniform distribution over its characters has 4.3 nats.
    assert!(score(&check("transformer", "120")) < 3.5);
}

#[test]
fn finetune_trains_and_resumes() {
    assert!(score(&check("finetune", "8")) > 0.85);
}

/// A program that is started again by mistake changes nothing, and a new run moves the old one.
#[test]
fn a_second_start_keeps_a_finished_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let program = Program {
        template: "mlp",
        folder,
    };
    let (first, _) = program.run("out", "3", false);
    let model = || fs::read(folder.join("out/model.safetensors")).unwrap();
    let before = model();
    let output = program.command("out", "3", false).output().unwrap();
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("finished after step "), "{errors}");
    assert!(errors.contains("moves this one to out.1"), "{errors}");
    assert!(model() == before);

    let new = |length| {
        let mut command = program.command("out", length, false);
        command.arg("--resume=never");
        command
    };
    let mut process = new("1000000").spawn().unwrap();
    while !folder.join("out.1").exists() {
        assert!(process.try_wait().unwrap().is_none());
    }
    process.kill().unwrap();
    process.wait().unwrap();
    let moved = fs::read(folder.join("out.1/model.safetensors")).unwrap();
    assert!(moved == before && folder.join("out.1/checkpoints").is_dir());
    assert!(new("3").status().unwrap().success());
    let (again, _) = program.run("out", "3", true);
    assert_eq!(again, first);
}

/// A file has options, the command line replaces them, and the run writes all of them.
#[test]
fn options_are_read_from_a_file_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = |template: &str, arguments: &[&str]| {
        let program = Program { template, folder };
        let mut command = Command::new(example(&format!("new_{}", program.template)));
        let cache = folder.join("cache");
        command.args(arguments).current_dir(folder);
        let output = command.env("RAMIE_COMPILATION_CACHE", cache).output();
        let output = output.unwrap();
        (output.status.code(), text(&output.stderr))
    };
    fs::write(
        folder.join("a.toml"),
        "epochs = 1\nseed = 5\nlearning_rate = 0.01\n",
    )
    .unwrap();
    let (code, errors) = run("mlp", &["--config", "a.toml", "--seed", "7"]);
    assert_eq!(code, Some(0), "{errors}");
    let written = fs::read_to_string(folder.join("out/options.toml")).unwrap();
    let mut table: toml::Table = written.parse().unwrap();
    assert_eq!(table["epochs"].as_integer(), Some(1), "{written}");
    assert_eq!(table["seed"].as_integer(), Some(7), "{written}");
    assert_eq!(table["learning_rate"].as_float(), Some(0.01), "{written}");
    assert_eq!(table["batch_size"].as_integer(), Some(64), "{written}");
    assert_eq!(table.len(), 5, "{written}");

    // The written file repeats the run.
    let repeat = ["--config", "out/options.toml", "--out", "again"];
    assert_eq!(run("mlp", &repeat).0, Some(0));
    let model = |out: &str| fs::read(folder.join(out).join("model.safetensors")).unwrap();
    assert!(model("out") == model("again"));
    let again = fs::read_to_string(folder.join("again/options.toml")).unwrap();
    table.insert("out".to_owned(), "again".into());
    assert_eq!(again.parse::<toml::Table>().unwrap(), table);

    fs::write(folder.join("b.toml"), "epoch = 1\n").unwrap();
    fs::write(folder.join("c.toml"), "epochs = 'many'\n").unwrap();
    fs::write(folder.join("d.toml"), "epochs =\n").unwrap();
    for template in TEMPLATES {
        for (file, expected) in [
            ("b.toml", "unknown field `epoch`, expected one of "),
            (
                "c.toml",
                if template == "transformer" {
                    "`epochs`"
                } else {
                    "invalid type: string"
                },
            ),
            ("d.toml", "TOML parse error"),
            ("none.toml", "No such file"),
        ] {
            let (code, errors) = run(template, &["--config", file]);
            assert_eq!(code, Some(1), "{template}: {errors}");
            assert!(
                errors.contains(file) && errors.contains(expected),
                "{template}: {errors}"
            );
        }
    }
}

#[test]
fn ctrl_c_saves_and_ends_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let template = "mlp";
    let (code, said) = Program { template, folder }.stop("out", "1000000", "-INT");
    assert_eq!(code, Some(130), "{said}");
    let last = said.lines().last().unwrap_or_default();
    let step = last
        .strip_prefix("Stopped and saved after step ")
        .and_then(|rest| rest.strip_suffix(" in out; a resumed run continues from there"));
    assert!(
        folder
            .join("out/checkpoints")
            .join(step.expect(&said))
            .is_dir(),
        "{said}"
    );
}

#[test]
fn programs_run_on_a_mesh() {
    let folder = tempfile::tempdir().unwrap();
    for template in TEMPLATES {
        let program = Program {
            template,
            folder: folder.path(),
        };
        let mut command = program.command(template, "2", false);
        let output = command.env("RAMIE_NUM_CPU_DEVICES", "4").output().unwrap();
        let errors = text(&output.stderr);
        assert!(output.status.success(), "{template}: {errors}");
    }
}

#[test]
#[ignore = "builds Ramie once more, which takes three minutes of processor time"]
fn a_project_builds_and_trains() {
    let folder = tempfile::tempdir().unwrap();
    for template in TEMPLATES {
        let made = project(
            folder.path(),
            &format!("my-{template}"),
            &["--template", template],
        );
        fs::copy(root().join("Cargo.lock"), made.join("Cargo.lock")).unwrap();
        let length = match template {
            "transformer" => ["--steps", "2"],
            _ => ["--epochs", "1"],
        };
        let output = Command::new(env!("CARGO"))
            .args(["run", "--offline", "--"])
            .args(length)
            .env(
                "CARGO_TARGET_DIR",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/new"),
            )
            .current_dir(&made)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("\nValidation "));
    }
}
