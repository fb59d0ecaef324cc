//! Damaged downloads and damaged installations.

use std::fs::{self, File};
use std::path::Path;

use ramie_plugins::{DiscoverError, FileState, InstallError, Origin, Platform};
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::sandbox::{CPU_LIBRARY, Sandbox, write_wheel};

/// Installs, and returns the error, having seen that nothing was left.
fn refused(sandbox: &Sandbox) -> InstallError {
    let error = sandbox.env().install(Platform::Cpu).unwrap_err();
    assert_eq!(sandbox.in_cache(), [""; 0], "{error}");
    assert!(sandbox.env().installed(Platform::Cpu).is_none());
    error
}

fn edit_wheel(sandbox: &Sandbox, edit: impl FnOnce(&mut Vec<u8>)) {
    let file = sandbox.wheel_file("xla-cpu-pjrt");
    let mut bytes = fs::read(&file).unwrap();
    edit(&mut bytes);
    fs::write(&file, bytes).unwrap();
}

#[test]
fn a_replaced_wheel_is_refused() {
    let sandbox = Sandbox::new();
    edit_wheel(&sandbox, |bytes| bytes.push(0));
    let error = refused(&sandbox);
    let InstallError::WrongHash {
        wheel,
        expected,
        found,
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(wheel, "xla-cpu-pjrt-1.0-py3-none-any.whl");
    assert_eq!(expected, sandbox.releases()[0].package().sha256);
    assert!(found != expected && found.len() == 64);
    assert!(error.to_string().contains("pip cache purge"), "{error}");
}

#[test]
fn a_truncated_wheel_is_refused() {
    let mut sandbox = Sandbox::new();
    edit_wheel(&sandbox, |bytes| bytes.truncate(bytes.len() / 2));
    assert!(matches!(refused(&sandbox), InstallError::WrongHash { .. }));
    // Even if it were the pinned one.
    sandbox.pin_again();
    let error = refused(&sandbox);
    assert!(matches!(error, InstallError::BadWheel { .. }), "{error}");
    assert!(error.to_string().contains("cannot be unpacked"), "{error}");
}

#[test]
fn damaged_contents_are_refused() {
    let mut sandbox = Sandbox::new();
    // Within the compressed data of the first large file, after the local headers.
    edit_wheel(&sandbox, |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
    });
    sandbox.pin_again();
    let error = refused(&sandbox);
    assert!(matches!(error, InstallError::BadWheel { .. }), "{error}");
}

#[test]
fn a_wheel_without_the_plugin_is_refused() {
    let mut sandbox = Sandbox::new();
    write_wheel(
        &sandbox.wheel_file("xla-cpu-pjrt"),
        &[("other.so", 0o644, b"")],
    );
    sandbox.pin_again();
    let text = refused(&sandbox).to_string();
    assert!(
        text.contains("it does not contain `xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so`"),
        "{text}"
    );
}

#[test]
fn a_wheel_that_leads_out_of_its_folder_is_refused() {
    let prefix = CPU_LIBRARY.rsplit_once('/').unwrap().0;
    for path in [
        "../evil.so".to_owned(),
        "/tmp/ramie-evil.so".to_owned(),
        format!("{prefix}/../../../evil.so"),
        "a\\..\\..\\evil.so".to_owned(),
        "C:evil.so".to_owned(),
    ] {
        let mut sandbox = Sandbox::new();
        let files: &[(&str, u32, &[u8])] = &[(CPU_LIBRARY, 0o644, b"x"), (&path, 0o644, b"evil")];
        write_wheel(&sandbox.wheel_file("xla-cpu-pjrt"), files);
        sandbox.pin_again();
        let text = refused(&sandbox).to_string();
        assert!(
            text.contains("is outside of its directory"),
            "{path}: {text}"
        );
        assert!(!sandbox.plugins().join("evil.so").exists());
    }
}

#[test]
fn a_wheel_with_a_link_is_refused() {
    let mut sandbox = Sandbox::new();
    let file = fs::File::create(sandbox.wheel_file("xla-cpu-pjrt")).unwrap();
    let mut zip = ZipWriter::new(file);
    zip.add_symlink(CPU_LIBRARY, "/etc/passwd", SimpleFileOptions::default())
        .unwrap();
    zip.finish().unwrap();
    sandbox.pin_again();
    let text = refused(&sandbox).to_string();
    assert!(text.contains("is a link"), "{text}");
}

#[test]
fn a_pip_that_leaves_no_wheel_is_reported() {
    let sandbox = Sandbox::new();
    sandbox.python("bin", "echo all is well; exit 0");
    let text = refused(&sandbox).to_string();
    assert!(text.contains("it succeeded, but left no wheel"), "{text}");
    assert!(text.contains("| all is well"), "{text}");
}

#[test]
fn a_damaged_installation_is_replaced() {
    let sandbox = Sandbox::new();
    let path = sandbox.env().install(Platform::Cpu).unwrap().path;
    let folder = path.ancestors().nth(3).unwrap().to_owned();
    let damages: [(&str, &dyn Fn()); 3] = [
        ("cannot be read", &|| fs::remove_file(&path).unwrap()),
        ("is damaged", &|| {
            fs::write(folder.join("manifest.json"), "{").unwrap()
        }),
        ("cannot be read", &|| {
            fs::remove_file(folder.join("manifest.json")).unwrap()
        }),
    ];
    for (index, (problem, damage)) in damages.into_iter().enumerate() {
        damage();
        assert_eq!(
            sandbox.env().install(Platform::Cpu).unwrap().origin,
            Origin::Download,
            "{problem}"
        );
        assert_eq!(fs::read(&path).unwrap(), [7; 50_000]);
        assert_eq!(sandbox.calls("pip download"), index + 2);
        let told = sandbox.told();
        let told = told
            .lines()
            .rev()
            .find(|line| line.contains("is not usable"))
            .unwrap();
        assert!(told.contains(problem), "{told}");
        assert_eq!(sandbox.in_cache(), [sandbox.releases()[0].folder()]);
    }
}

/// However a file was changed, it is not loaded, and an installation replaces it.
#[test]
fn a_changed_installation_is_refused() {
    let sandbox = Sandbox::new();
    let path = sandbox.env().install(Platform::Cpu).unwrap().path;
    let renamed = path.with_extension("other");
    let write = |contents: &[u8]| fs::write(&path, contents).unwrap();
    let with_old_time = |change: &dyn Fn()| {
        let before = path.metadata().unwrap().modified().unwrap();
        change();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(before).unwrap();
    };
    let damages: [(&str, &dyn Fn()); 5] = [
        ("has 10 bytes instead of 50000", &|| write(&[7; 10])),
        ("has 0 bytes instead of 50000", &|| {
            with_old_time(&|| write(&[]))
        }),
        ("has SHA-256 ", &|| write(&[8; 50_000])),
        // Not even if size and time are those of the installation,
        ("has SHA-256 ", &|| with_old_time(&|| write(&[8; 50_000]))),
        // or another file takes its name.
        ("has SHA-256 ", &|| {
            with_old_time(&|| {
                fs::write(&renamed, [9; 50_000]).unwrap();
                fs::rename(&renamed, &path).unwrap();
            })
        }),
    ];
    for (index, (problem, damage)) in damages.into_iter().enumerate() {
        damage();
        let error = sandbox.find().unwrap_err();
        let DiscoverError::Refused(refused) = &error else {
            panic!("{index}: {error}");
        };
        let text = refused.to_string();
        assert!(
            text.contains(&format!("`{}` {problem}", path.display())),
            "{text}"
        );
        assert!(
            text.contains("help: run `ramie plugin install cpu`"),
            "{text}"
        );
        assert!(sandbox.env().verify(Platform::Cpu).is_err(), "{index}");
        assert!(sandbox.env().installed(Platform::Cpu).is_none());
        let installed = sandbox.env().install(Platform::Cpu).unwrap();
        assert_eq!(installed.origin, Origin::Download);
        assert_eq!(fs::read(&path).unwrap(), [7; 50_000]);
        let found = sandbox.find().unwrap();
        assert_eq!(found.sha256.map(|hash| hash.len()), Some(64));
        sandbox.env().verify(Platform::Cpu).unwrap();
    }
}

/// A change that leaves no mark is found by reading all files, as `ramie doctor` does.
#[test]
fn verification_reads_every_file() {
    let sandbox = Sandbox::new();
    let path = sandbox.env().install(Platform::Cpu).unwrap().path;
    let manifest = path.ancestors().nth(3).unwrap().join("manifest.json");
    // The state of the changed file passes for that of the installation.
    fs::write(&path, [8; 50_000]).unwrap();
    let text = fs::read_to_string(&manifest).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let state = serde_json::to_value(FileState::of(&path).unwrap()).unwrap();
    for (name, mark) in state.as_object().unwrap() {
        value["files"][0][name] = mark.clone();
    }
    fs::write(&manifest, value.to_string()).unwrap();
    assert_eq!(sandbox.find().unwrap().origin, Origin::Cache);
    let error = sandbox.env().verify(Platform::Cpu).unwrap_err();
    assert!(matches!(error, DiscoverError::Refused(_)), "{error}");
}

#[cfg(unix)]
#[test]
fn an_installation_that_others_can_change_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let path = sandbox.env().install(Platform::Cpu).unwrap().path;
    let folder = path.ancestors().nth(3).unwrap().to_owned();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    assert_eq!((mode(&sandbox.plugins()), mode(&folder)), (0o700, 0o700));
    for exposed in [&path, &folder, &folder.join("manifest.json")] {
        let before = mode(exposed);
        set(exposed, before | 0o020);
        let text = sandbox.find().unwrap_err().to_string();
        let expected = format!("`{}` is writable by its group", exposed.display());
        assert!(text.contains(&expected), "{text}");
        assert!(text.contains("help: run `chmod go-w "), "{text}");
        set(exposed, before);
        assert_eq!(sandbox.find().unwrap().origin, Origin::Cache);
    }
    // Nothing is installed where another user could replace it.
    set(&sandbox.plugins(), 0o777);
    let error = sandbox.env().reinstall(Platform::Cpu).unwrap_err();
    assert!(matches!(error, InstallError::Untrusted(_)), "{error}");
}

#[test]
fn an_installation_of_other_wheels_is_replaced() {
    let mut sandbox = Sandbox::new();
    sandbox.env().install(Platform::Cpu).unwrap();
    write_wheel(
        &sandbox.wheel_file("xla-cpu-pjrt"),
        &[(CPU_LIBRARY, 0o644, b"newer")],
    );
    sandbox.pin_again();
    assert!(sandbox.find().is_err());
    let found = sandbox.env().install(Platform::Cpu).unwrap();
    assert_eq!(found.origin, Origin::Download);
    assert_eq!(fs::read(found.path).unwrap(), b"newer");
}

#[test]
fn a_failed_replacement_keeps_what_was_there() {
    let sandbox = Sandbox::new();
    let path = sandbox.env().install(Platform::Cpu).unwrap().path;
    edit_wheel(&sandbox, |bytes| bytes.push(0));
    sandbox.env().reinstall(Platform::Cpu).unwrap_err();
    assert_eq!(fs::read(path).unwrap(), [7; 50_000]);
    assert_eq!(sandbox.find().unwrap().origin, Origin::Cache);
}

#[test]
fn a_cache_that_cannot_be_written_is_reported() {
    let mut sandbox = Sandbox::new();
    sandbox.set("RAMIE_CACHE_DIR", sandbox.path("bin/python3/cache"));
    let text = sandbox
        .env()
        .install(Platform::Cpu)
        .unwrap_err()
        .to_string();
    assert!(text.contains("cannot create the folder `"), "{text}");
    assert!(
        text.contains("help: set RAMIE_CACHE_DIR to use another directory"),
        "{text}"
    );
}
