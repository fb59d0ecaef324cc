//! The command-line tool, run as a user runs it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use ramie_plugins::Platform;
use ramie_testing::targets::installed;

/// `ramie` with an empty home, nothing on `PATH` and no other variable.
fn ramie(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ramie"));
    command
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .env("PATH", home.join("bin"))
        // Keeps a GPU of the machine that runs the tests out of the choice.
        .env("CUDA_VISIBLE_DEVICES", "");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs; gives the exit code, stdout and stderr.
fn run(command: &mut Command) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    (status.code().unwrap(), text(&stdout), text(&stderr))
}

#[test]
fn help_names_the_commands() {
    let home = tempfile::tempdir().unwrap();
    let (code, out, _) = run(&mut ramie(home.path(), &["--help"]));
    assert_eq!(code, 0);
    assert!(
        ["doctor", "plugin", "aot", "ckpt", "inspect"]
            .iter()
            .all(|c| out.contains(&format!("\n  {c} "))),
        "{out}"
    );
    let (code, out, _) = run(&mut ramie(home.path(), &["--version"]));
    assert_eq!(
        (code, out.as_str()),
        (0, concat!("ramie ", env!("CARGO_PKG_VERSION"), "\n"))
    );
}

/// `ramie plugin list | head -1`
#[cfg(unix)]
#[test]
fn the_tool_ends_quietly_when_the_reader_has_gone() {
    use std::os::unix::process::ExitStatusExt;
    let home = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = ramie(home.path(), &["plugin", "list"]);
    let output = command.stdout(writer).output().unwrap();
    let errors = text(&output.stderr);
    assert_eq!((output.status.signal(), errors.as_str()), (Some(13), ""));
}

#[test]
fn an_unknown_platform_is_a_usage_error() {
    let home = tempfile::tempdir().unwrap();
    let (code, _, err) = run(&mut ramie(home.path(), &["plugin", "install", "gpu"]));
    assert_eq!(code, 2);
    assert!(
        err.contains(
            "expected `cpu`, `cuda` (NVIDIA GPUs), `tpu`, `rocm` (AMD GPUs), `oneapi` (Intel GPUs) or \
             `metal` (Apple GPUs)\nhelp: use one of these names\n"
        ),
        "{err}"
    );

    let mut doctor = ramie(home.path(), &["doctor"]);
    let (code, _, err) = run(doctor.env("RAMIE_PLATFORM", "gpu"));
    assert_eq!(code, 1);
    assert!(
        err.starts_with("error: RAMIE_PLATFORM: `gpu` is not a platform"),
        "{err}"
    );
}

#[test]
fn list_tells_how_to_install_what_is_missing() {
    let home = tempfile::tempdir().unwrap();
    let (code, out, err) = run(&mut ramie(home.path(), &["plugin", "list"]));
    assert_eq!((code, err.as_str()), (0, ""));
    for platform in Platform::ALL {
        let line = out.lines().find(|line| line.starts_with(platform.name()));
        let line = line.unwrap_or_else(|| panic!("no line for {platform}: {out}"));
        assert!(line.contains("not installed"), "{line}");
    }
    let mut list = ramie(home.path(), &["plugin", "list"]);
    let (_, out, _) = run(list.env("RAMIE_PJRT_PLUGIN", "/my/plugin.so"));
    assert!(
        out.starts_with("RAMIE_PJRT_PLUGIN is set and takes precedence: /my/plugin.so\n"),
        "{out}"
    );
}

#[test]
fn doctor_tells_why_there_is_no_plugin() {
    let home = tempfile::tempdir().unwrap();
    let mut doctor = ramie(home.path(), &["doctor"]);
    let (code, out, err) = run(doctor.env("RAMIE_PJRT_PLUGIN", ramie_plugins::XLA_CPU));
    assert_eq!(code, 1);
    let cache = home.path().join(".cache/ramie");
    assert!(
        out.contains(&format!("cache     {}\n", cache.display())),
        "{out}"
    );
    assert!(!out.contains("everything works"), "{out}");
    assert!(
        err.starts_with("error: no CPU plugin was found. Tried, in this order:\n"),
        "{err}"
    );
    assert!(err.contains("help: "), "{err}");
}

#[test]
fn doctor_refuses_a_file_that_is_no_plugin() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("plugin.so");
    fs::write(&file, "not a library").unwrap();
    let mut doctor = ramie(home.path(), &["doctor"]);
    let (code, _, err) = run(doctor.env("RAMIE_PJRT_PLUGIN", &file));
    assert_eq!(code, 1);
    assert!(err.contains("plugin.so"), "{err}");
    assert!(err.contains("as a PJRT plugin"), "{err}");
    // The system's reason, in whatever words.
    assert!(
        err.contains("too short") || err.contains("invalid"),
        "{err}"
    );
}

/// The last line of a failing `ramie doctor`.
fn fix(doctor: &mut Command) -> String {
    let (code, _, err) = run(doctor);
    assert_eq!(code, 1, "{err}");
    let last = err.lines().last().unwrap_or_default();
    let command = last.strip_prefix("fix: ");
    command.unwrap_or_else(|| panic!("{err}")).to_owned()
}

#[test]
fn doctor_names_the_command_for_a_wrong_variable() {
    let home = tempfile::tempdir().unwrap();
    let doctor = || ramie(home.path(), &["doctor"]);
    assert_eq!(
        fix(doctor().env("RAMIE_PLATFORM", "gpu")),
        "unset RAMIE_PLATFORM"
    );
    let plugin = home.path().join("plugin.so");
    let unset = "unset RAMIE_PJRT_PLUGIN";
    assert_eq!(fix(doctor().env("RAMIE_PJRT_PLUGIN", &plugin)), unset);
    fs::write(&plugin, "not a library").unwrap();
    assert_eq!(fix(doctor().env("RAMIE_PJRT_PLUGIN", &plugin)), unset);
}

/// A machine on which more and more of the requirements of a download are met.
#[cfg(unix)]
#[test]
fn doctor_names_the_command_for_a_missing_plugin() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let doctor = || {
        let mut doctor = ramie(home.path(), &["doctor"]);
        doctor.env("RAMIE_PJRT_PLUGIN", ramie_plugins::XLA_CPU);
        doctor
    };
    let program = |name: &str, script: &str| {
        let path = home.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    fs::create_dir(home.path().join("bin")).unwrap();
    assert_eq!(fix(&mut doctor()), "export RAMIE_PJRT_PLUGIN=FILE");
    program("apt-get", "exit 1");
    assert_eq!(fix(&mut doctor()), "sudo apt-get install python3-pip");
    program("python3", "exit 1");
    assert_eq!(fix(&mut doctor()), "python3 -m ensurepip --user");
    program("python3", r#"test "$3" = --version"#);
    assert_eq!(fix(&mut doctor()), "ramie plugin install cpu");
    let file = home.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let cache = "export RAMIE_CACHE_DIR=\"$HOME/ramie-cache\"";
    assert_eq!(fix(doctor().env("RAMIE_CACHE_DIR", &file)), cache);
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let mut doctor = ramie(home.path(), &["doctor", "--platform", "cuda"]);
        assert_eq!(fix(&mut doctor), "ramie plugin install cuda");
    }
}

#[test]
fn installing_without_python_fails_with_advice() {
    let home = tempfile::tempdir().unwrap();
    let (code, out, err) = run(&mut ramie(home.path(), &["plugin", "install", "cpu"]));
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(
        err.contains(" is downloaded with pip, but there is no `python3` on PATH\n"),
        "{err}"
    );
    assert!(err.contains("help: install Python 3 with pip"), "{err}");
}

#[test]
fn doctor_runs_a_compiled_program() {
    let home = tempfile::tempdir().unwrap();
    let mut doctor = ramie(home.path(), &["doctor"]);
    if std::env::var_os("RAMIE_PJRT_PLUGIN").is_some() {
        let plugin = ramie_plugins::find(Some(Platform::Cpu)).expect("the CPU plugin");
        doctor.env("RAMIE_PJRT_PLUGIN", plugin.path);
    }
    let (code, out, err) = run(doctor.env("RUST_LOG", "warn,ramie_plugins=debug"));
    assert_eq!(code, 0, "{err}");
    let has = |start: &str| out.lines().any(|line| line.starts_with(start));
    assert!(has("platform  cpu "), "{out}");
    assert!(has("PJRT API  0."), "{out}");
    for label in [
        "device    ",
        "load      ",
        "client    ",
        "compile   ",
        "run       ",
    ] {
        assert!(has(label), "{label}: {out}");
    }
    assert!(out.ends_with("result    everything works\n"), "{out}");
    assert!(
        err.contains("DEBUG ramie_plugins::search: plugin found"),
        "{err}"
    );

    // Without the variable, neither Ramie nor the plugin writes to stderr.
    let (code, _, err) = run(doctor.env_remove("RUST_LOG"));
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn a_wrong_log_filter_is_reported_and_ignored() {
    let home = tempfile::tempdir().unwrap();
    let mut list = ramie(home.path(), &["plugin", "list"]);
    let (code, _, err) = run(list.env("RUST_LOG", "ramie=loud"));
    assert_eq!(code, 0);
    assert!(
        err.starts_with("ramie: RUST_LOG=`ramie=loud` is ignored: "),
        "{err}"
    );
}

#[test]
fn inspect_explains_missing_and_damaged_files() {
    let home = tempfile::tempdir().unwrap();
    let inspect = |name: &str| {
        let path = home.path().join(name);
        let mut inspect = ramie(home.path(), &["inspect"]);
        let (code, out, err) = run(inspect.arg(&path));
        assert_eq!((code, out.as_str()), (1, ""), "{err}");
        let message = err.strip_prefix(&format!("error: {}: ", path.display()));
        let message = message.unwrap_or_else(|| panic!("{err}")).to_owned();
        assert_eq!(message.matches("\n  help: ").count(), 1, "{err}");
        message
    };
    for name in ["file", "run/1/state", "a.safetensors", "a.gguf", "a.pt"] {
        let message = inspect(name);
        assert!(message.starts_with("cannot be read: "), "{message}");
        assert!(message.contains("\n  help: check the path"), "{message}");
    }
    for name in ["file", "a.safetensors", "a.gguf", "a.pt", "a.msgpack"] {
        fs::write(home.path().join(name), "damaged").unwrap();
        inspect(name);
    }
}

/// A program as a function of this process would be lowered.
const SQUARE: &str = "module @square {
  func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] :
      (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %y : tensor<8x8xf32>
  }
}";

#[test]
fn aot_tells_what_is_no_target() {
    let home = tempfile::tempdir().unwrap();
    let refusal = |target: &str| {
        let (code, _, err) = run(&mut ramie(
            home.path(),
            &["aot", "--target", target, "f.mlir"],
        ));
        assert_eq!(code, 2, "{err}");
        err
    };
    for (target, problem) in [
        ("gpu:h200", "`gpu` is neither `tpu` nor `cuda`"),
        (
            "tpu:v5e",
            "a TPU target consists of a generation and a topology",
        ),
        ("tpu:v5e:2xfour", "`four` is not a positive integer"),
        (
            "cuda:h2000",
            "the GPU `h2000` is unknown; known are a100, h100, h200, b200",
        ),
        (
            "cuda:h200:9",
            "`9` is not a valid number of GPUs: it must be 1 to 8, or a multiple of 8",
        ),
    ] {
        let err = refusal(target);
        let expected = format!("`{target}` is not a target: {problem}\n  help: use a TPU topology");
        assert!(err.contains(&expected), "{err}");
    }
    let (code, _, err) = run(&mut ramie(home.path(), &["aot", "f.mlir"]));
    assert!(code == 2 && err.contains("--target <TARGET>"), "{err}");
}

#[test]
fn aot_tells_what_is_no_program() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("step.bin");
    let mut aot = ramie(home.path(), &["aot", "--target", "cuda:h200"]);
    aot.arg(&file);
    let (code, _, err) = run(&mut aot);
    assert_eq!(code, 1);
    assert!(
        err.starts_with(&format!(
            "error: {}: cannot be read: No such file",
            file.display()
        )),
        "{err}"
    );
    fs::write(&file, [0xff; 100]).unwrap();
    let (code, _, err) = run(&mut aot);
    assert_eq!(code, 1);
    let damaged = "for cuda:h200: exported function: the bytes are damaged or truncated";
    assert!(err.contains(damaged), "{err}");
}

#[test]
fn aot_tells_how_to_install_a_plugin() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("square.mlir");
    fs::write(&file, SQUARE).unwrap();
    for (target, platform) in [("tpu:v5e:2x4", "tpu"), ("cuda:h200", "cuda")] {
        let mut aot = ramie(home.path(), &["aot", "--target", target]);
        let (code, _, err) = run(aot.arg(&file));
        assert_eq!(code, 1);
        let name = platform.to_uppercase();
        let expected = format!("square.mlir for {target}: no {name} plugin was found");
        assert!(err.contains(&expected), "{err}");
        assert!(err.contains(&format!("plugin install {platform}")), "{err}");
    }
}

#[test]
fn aot_tells_what_a_program_takes() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("square.mlir");
    fs::write(&file, SQUARE).unwrap();
    for target in installed(&["tpu:v5e:2x4", "cuda:h200"]) {
        let kind = match target.platform() {
            Platform::Tpu => "TPU v5 lite",
            _ => "NVIDIA H200",
        };
        let mut aot = ramie(home.path(), &["aot", "--target", &target.to_string()]);
        aot.env("RAMIE_CACHE_DIR", ramie_plugins::cache_dir())
            .arg(&file);
        let (code, out, err) = run(&mut aot);
        assert_eq!(code, 0, "{err}");
        let first = format!("square for {target}: 1 × {kind}, compiled in ");
        assert!(out.starts_with(&first), "{out}");
        assert!(out.contains("\n  memory       "), "{out}");
        assert!(out.contains("\n  FLOPs        1.02 k"), "{out}");
        assert!(out.ends_with("\n  collectives  none\n"), "{out}");
    }
}
