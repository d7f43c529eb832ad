//! The cache of binaries: `v<version>/<binary>` under one folder. A file appears in it whole or not at all, and two
//! processes never obtain the same binary at once.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::progress::{Display, Progress};
use super::{Binary, Error, Version};

/// The right to put one binary of one version into the cache. The kernel takes it back when the process dies.
pub(super) struct Slot {
    cache: PathBuf,
    partial: PathBuf,
    // The lock goes with the open file.
    _lock: File,
}

impl Slot {
    /// Gets the right, waiting (and showing that it waits) while another process has it.
    pub(super) fn lock(
        cache: &Path,
        version: Version,
        binary: Binary,
        display: Display,
    ) -> Result<Self, Error> {
        let folder = cache.join(format!("v{version}"));
        fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        let path = folder.join(format!(".{binary}.lock"));
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(Error::file(&path))?;
        let mut waiting: Option<Progress> = None;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {
                    let what = || format!("waiting for {binary} {version}");
                    let how = "another process is obtaining it";
                    waiting.get_or_insert_with(|| Progress::start(display, what(), how)).show(how);
                    std::thread::sleep(Duration::from_millis(200));
                }
                Err(TryLockError::Error(error)) => return Err(Error::File { path, source: error }),
            }
        }
        if let Some(waiting) = waiting {
            waiting.end("done");
        }
        let partial = folder.join(format!(".{binary}.partial"));
        // What a killed process left half-done.
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(Error::file(&partial))?;
        }
        Ok(Self { cache: cache.to_owned(), partial, _lock: lock })
    }

    /// An empty folder on the cache's own file system, to prepare files in.
    pub(super) fn workspace(&self) -> Result<&Path, String> {
        let _ = fs::remove_dir_all(&self.partial);
        fs::create_dir(&self.partial).map_err(|error| format!("{}: {error}", self.partial.display()))?;
        Ok(&self.partial)
    }

    /// Moves a finished file into the cache, as `binary` of `version`.
    pub(super) fn install(&self, file: &Path, binary: Binary, version: Version) -> Result<PathBuf, String> {
        let folder = self.cache.join(format!("v{version}"));
        let target = folder.join(binary.name());
        let explain = |error: std::io::Error| format!("{}: {error}", target.display());
        fs::create_dir_all(&folder).map_err(explain)?;
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).map_err(explain)?;
        fs::rename(file, &target).map_err(explain)?;
        Ok(target)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.partial);
    }
}
