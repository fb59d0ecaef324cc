//! Checks of files and directories whose contents this process runs as native code.
//!
//! Plugins and compiled programs are native code. A process that loads them from a directory
//! which another user can modify runs that user's code with its own privileges. The rule is the
//! one that ssh applies to its keys: a file or directory is trusted if it is owned by this user
//! or root, and neither its group nor others may write to it. Parent directories need no check: a
//! user who replaces the directory owns the new one.
//!
//! On Windows nothing is checked: neither the owner nor the access control list of a file is read. A new
//! file or directory inherits its parent's list, which in the user's profile, where caches are by default,
//! gives access only to this user, administrators and the system.

use std::fmt;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

/// A file or directory that another user can modify.
#[derive(Clone, PartialEq, Eq)]
pub struct Untrusted {
    path: PathBuf,
    problem: String,
    remedy: String,
}

ramie_base::debug_is_message!(Untrusted);

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhelp: {}", self.reason(), self.remedy)
    }
}

impl Untrusted {
    /// Returns the message without its advice.
    pub(crate) fn reason(&self) -> String {
        format!(
            "`{}` {}, so another user could place native code there that this process would run",
            self.path.display(),
            self.problem
        )
    }

    /// Returns the advice.
    pub(crate) fn remedy(&self) -> &str {
        &self.remedy
    }
}

impl std::error::Error for Untrusted {}

/// Checks that no other user can modify the file or directory that `meta` describes.
///
/// # Errors
/// Returns [`Untrusted`] if another user owns it, or if its group or others may write to it.
#[cfg(unix)]
pub fn check(path: &Path, meta: &Metadata) -> Result<(), Untrusted> {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid().as_raw();
    let untrusted = |problem: String, remedy: String| Untrusted {
        path: path.to_owned(),
        problem,
        remedy,
    };
    if meta.uid() != user && meta.uid() != 0 {
        return Err(untrusted(
            format!(
                "belongs to the user with id {}, and this process runs as the user with id {user}",
                meta.uid()
            ),
            "use a directory of your own".to_owned(),
        ));
    }
    let mode = meta.mode() & 0o7777;
    if mode & 0o022 != 0 {
        let writers = match (mode & 0o020 != 0, mode & 0o002 != 0) {
            (true, true) => "its group and all other users",
            (true, false) => "its group",
            (false, _) => "all other users",
        };
        return Err(untrusted(
            format!("is writable by {writers} (mode {mode:04o})"),
            format!(
                "run `chmod go-w {}`, or use a directory of your own",
                path.display()
            ),
        ));
    }
    Ok(())
}

/// Does nothing on other systems, which have other permissions.
#[cfg(not(unix))]
pub fn check(_: &Path, _: &Metadata) -> Result<(), Untrusted> {
    Ok(())
}

/// Creates a directory and its missing parents, accessible only by this user (mode 0700). An
/// existing directory is not changed.
///
/// # Errors
/// Returns the operating system's error.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown};

    fn checked(path: &Path) -> Result<(), Untrusted> {
        check(path, &fs::metadata(path).unwrap())
    }

    #[test]
    fn every_mode_that_lets_others_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        fs::write(&file, "code").unwrap();
        for mode in 0..0o1000 {
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            assert_eq!(checked(&file).is_ok(), mode & 0o022 == 0, "{mode:o}");
        }
        fs::set_permissions(&file, Permissions::from_mode(0o664)).unwrap();
        let text = checked(&file).unwrap_err().to_string();
        let expected = format!(
            "`{}` is writable by its group (mode 0664), so",
            file.display()
        );
        assert!(text.starts_with(&expected), "{text}");
        assert!(text.contains("help: run `chmod go-w "), "{text}");
        // The sticky bit does not prevent others from creating files.
        fs::set_permissions(&file, Permissions::from_mode(0o1777)).unwrap();
        assert!(checked(&file).is_err());
    }

    #[test]
    fn a_file_of_another_user_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        fs::write(&file, "code").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        // Only root can change the owner of a file.
        if chown(&file, Some(12345), None).is_ok() {
            let text = checked(&file).unwrap_err().to_string();
            assert!(text.contains("belongs to the user with id 12345"), "{text}");
        }
        let root = Path::new("/");
        assert_eq!(checked(root), Ok(()), "root is trusted by everyone");
    }

    #[test]
    fn folders_are_created_for_this_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        create_folder(&inner).unwrap();
        create_folder(&inner).unwrap();
        for path in [inner.as_path(), inner.parent().unwrap()] {
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", path.display());
        }
    }
}
