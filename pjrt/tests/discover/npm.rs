//! Files of npm packages.

use std::fs;
use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use ramie_pjrt::discover::{InstallError, PinnedTarball};

use crate::sandbox::{Sandbox, sha256};

/// A file of an archive: path, kind and contents.
type Entry<'a> = (&'a str, u8, &'a [u8]);

const TEXT: Entry<'static> = ("package/data/text.txt", b'0', b"Call me Ishmael.");

fn tarball(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    for (name, kind, contents) in entries {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        let size = format!("{:011o} ", contents.len());
        header[124..136].copy_from_slice(size.as_bytes());
        header[156] = *kind;
        gz.write_all(&header).unwrap();
        let mut padded = contents.to_vec();
        padded.resize(contents.len().next_multiple_of(512), 0);
        gz.write_all(&padded).unwrap();
    }
    gz.write_all(&[0; 1024]).unwrap();
    gz.finish().unwrap()
}

/// A sandbox with an npm that offers an archive, and the pinned archive.
fn offering(bytes: &[u8]) -> (Sandbox, PinnedTarball) {
    let sandbox = Sandbox::empty();
    fs::write(sandbox.path("wheels/text.tgz"), bytes).unwrap();
    sandbox.npm();
    let pinned = PinnedTarball {
        title: "dataset of a test",
        name: "@books/text",
        version: "1.0.0",
        sha256: sha256(bytes).leak(),
        bytes: bytes.len() as u64,
        keep: &["package/data/text.txt"],
    };
    (sandbox, pinned)
}

fn refused(bytes: &[u8]) -> String {
    let (sandbox, pinned) = offering(bytes);
    let error = sandbox.env().fetch_tarball(&pinned).unwrap_err();
    assert!(matches!(error, InstallError::BadWheel { .. }), "{error}");
    let folder = sandbox.env().cache_dir().join("files/books-text-1.0.0");
    assert!(!folder.exists());
    error.to_string()
}

#[test]
fn a_text_is_fetched_once() {
    let long = vec![7; 5000];
    let bytes = tarball(&[
        ("package/", b'5', b""),
        ("package/other", b'0', &long),
        TEXT,
        ("package/last", b'0', b""),
    ]);
    let (sandbox, pinned) = offering(&bytes);
    let path = sandbox.env().fetch_tarball(&pinned).unwrap();
    assert_eq!(fs::read(&path).unwrap(), TEXT.2);
    let folder = sandbox.env().cache_dir().join("files/books-text-1.0.0");
    assert_eq!(path, folder.join(TEXT.0));
    assert!(!folder.join("package/other").exists());
    assert_eq!(sandbox.calls("pack --ignore-scripts"), 1);
    fs::remove_file(sandbox.path("bin/npm")).unwrap();
    assert_eq!(sandbox.env().fetch_tarball(&pinned).unwrap(), path);
}

#[test]
fn damaged_tarballs_are_refused() {
    let text = refused(&tarball(&[("package/other", b'0', b"x")]));
    assert!(
        text.contains("does not contain `package/data/text.txt`"),
        "{text}"
    );
    let text = refused(&tarball(&[("package/../../x", b'0', b"x"), TEXT]));
    assert!(text.contains("is outside of its directory"), "{text}");
    let text = refused(&tarball(&[("package/link", b'2', b""), TEXT]));
    assert!(text.contains("`package/link` is a link"), "{text}");
    let whole = tarball(&[TEXT]);
    refused(&whole[..whole.len() / 2]);

    let (sandbox, mut pinned) = offering(&whole);
    pinned.sha256 = "0";
    let error = sandbox.env().fetch_tarball(&pinned).unwrap_err();
    assert!(matches!(error, InstallError::WrongHash { .. }), "{error}");
}

#[test]
fn a_missing_npm_is_named() {
    let (sandbox, pinned) = offering(&tarball(&[TEXT]));
    fs::remove_file(sandbox.path("bin/npm")).unwrap();
    assert_eq!(
        sandbox
            .env()
            .fetch_tarball(&pinned)
            .unwrap_err()
            .to_string(),
        "@books/text@1.0.0 is downloaded with npm, but there is no `npm` on PATH\n\
         help: install Node.js with npm"
    );
    sandbox.npm();
    fs::remove_file(sandbox.path("wheels/text.tgz")).unwrap();
    let error = sandbox.env().fetch_tarball(&pinned).unwrap_err();
    assert!(matches!(error, InstallError::Npm { .. }), "{error}");
}
