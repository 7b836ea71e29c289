//! The files that flags name: certificates, keys, tokens. What is wrong with one is said
//! with its flag and its path, never with anything that is in it. It knows no form of file.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Far more than any of them needs.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A file that is not as it must be. Its path is for whoever has given it: a log tells the flag.
#[derive(Debug, thiserror::Error)]
#[error("{flag} {}: {why}", path.display())]
pub struct FileError {
    pub(super) flag: &'static str,
    path: PathBuf,
    pub(super) why: String,
}

/// A file, and the flag that names it.
#[derive(Clone, Debug)]
pub(super) struct NamedFile {
    pub(super) flag: &'static str,
    pub(super) path: PathBuf,
}

impl NamedFile {
    /// The file of a flag that is given.
    pub(super) fn new(flag: &'static str, path: Option<&PathBuf>) -> Option<Self> {
        path.cloned().map(|path| Self { flag, path })
    }

    /// What is wrong with it.
    pub(super) fn wrong(&self, why: impl Into<String>) -> FileError {
        FileError { flag: self.flag, path: self.path.clone(), why: why.into() }
    }

    /// What is in it.
    ///
    /// # Errors
    /// When it can't be read, is no regular file, or has more than 1 MiB.
    pub(super) fn read(&self) -> Result<Vec<u8>, FileError> {
        let failed = |error: io::Error| self.wrong(format!("can't be read: {error}"));
        // A pipe would keep the reader waiting, and be empty when it is read again.
        if !fs::metadata(&self.path).map_err(failed)?.is_file() {
            return Err(self.wrong("is no regular file"));
        }
        let mut bytes = Vec::new();
        let file = File::open(&self.path).map_err(failed)?;
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(self.wrong(format!("has more than {MAX_FILE_BYTES} bytes")));
        }
        Ok(bytes)
    }

    /// Warns when everyone on this machine can read it.
    pub(super) fn warn_if_public(&self) {
        const READABLE_BY_OTHERS: u32 = 0o004;
        let mode = fs::metadata(&self.path).map(|metadata| metadata.permissions().mode());
        if mode.is_ok_and(|mode| mode & READABLE_BY_OTHERS != 0) {
            tracing::warn!(flag = self.flag, "everyone on this machine can read the file: chmod o-r");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(path: PathBuf) -> NamedFile {
        NamedFile { flag: "--flag", path }
    }

    #[test]
    fn what_is_wrong_is_said_with_flag_and_path() {
        let missing = named("no/such/file".into()).read().unwrap_err().to_string();
        assert!(missing.starts_with("--flag no/such/file: can't be read: No such file"), "{missing}");
        let folder = named(std::env::temp_dir()).read().unwrap_err().to_string();
        assert!(folder.ends_with(": is no regular file"), "{folder}");
    }

    #[test]
    fn a_file_has_a_mebibyte_at_most() {
        let path = std::env::temp_dir().join(format!("taquin-files-{}", std::process::id()));
        for (bytes, fits) in [(1 << 20, true), ((1 << 20) + 1, false)] {
            fs::write(&path, vec![b'x'; bytes]).unwrap();
            assert_eq!(named(path.clone()).read().is_ok(), fits);
        }
        fs::remove_file(path).unwrap();
    }
}
