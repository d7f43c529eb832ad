//! The data folder of one control plane: private to the user, locked while it is in use, removed at the end, and
//! swept by a later start when its supervisor was killed.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The lock file in each data folder, and in the folder above them all.
const LOCK: &str = ".lock";
/// What data folders' names start with.
const PREFIX: &str = "run-";

/// A data folder that this process owns until it calls [`DataFolder::remove`] or dies.
pub(super) struct DataFolder {
    root: PathBuf,
    path: PathBuf,
    // The lock goes with the open file; the kernel frees it when this process ends.
    _lock: File,
}

impl DataFolder {
    /// The folder that all data folders of this user are in.
    pub(super) fn default_root() -> PathBuf {
        std::env::temp_dir().join(format!("covenant-{}", rustix::process::getuid().as_raw()))
    }

    /// Makes a new data folder under `root`, after removing those that nobody holds any more.
    pub(super) fn create(root: &Path) -> io::Result<Self> {
        private_folder(root)?;
        let guard = open_lock(root)?;
        guard.lock()?;
        sweep(root)?;
        let path = root.join(format!("{PREFIX}{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&path)?;
        let lock = open_lock(&path)?;
        lock.lock()?;
        Ok(Self { root: root.to_owned(), path, _lock: lock })
    }

    /// The folder itself.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder and all that is in it.
    pub(super) fn remove(self) -> io::Result<()> {
        let guard = open_lock(&self.root)?;
        guard.lock()?;
        fs::remove_dir_all(&self.path)
    }
}

/// Makes `root`, or accepts it if nobody else can have prepared it: the shared temporary folder is open to all users.
fn private_folder(root: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).recursive(true).create(root) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let metadata = fs::symlink_metadata(root)?;
    let ours = metadata.uid() == rustix::process::getuid().as_raw();
    if metadata.is_dir() && ours && metadata.mode() & 0o777 == 0o700 {
        Ok(())
    } else {
        let message = "it must be a folder of this user with mode 700; remove it";
        Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
    }
}

/// Removes each data folder whose lock is free: its supervisor is dead.
fn sweep(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let held = match File::open(entry.path().join(LOCK)).map(|lock| lock.try_lock()) {
            Ok(Err(TryLockError::WouldBlock)) => true,
            Ok(Ok(()) | Err(TryLockError::Error(_))) | Err(_) => false,
        };
        if !held {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

fn open_lock(folder: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).write(true).mode(0o600).open(folder.join(LOCK))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn scratch(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("covenant-folder-test-{name}-{}", std::process::id()))
    }

    #[test]
    fn a_stale_folder_is_swept_and_a_held_one_stays() {
        let root = scratch("sweep");
        let held = DataFolder::create(&root).unwrap();
        let stale = root.join("run-0");
        fs::create_dir_all(stale.join("etcd")).unwrap();
        fs::write(stale.join(LOCK), "").unwrap();
        let stranger = root.join("notes");
        fs::create_dir(&stranger).unwrap();
        sweep(&root).unwrap();
        assert!(held.path().is_dir(), "a folder in use was removed");
        assert!(!stale.exists(), "a stale folder was left");
        assert!(stranger.exists(), "a folder that is none of ours was removed");
        let path = held.path().to_owned();
        held.remove().unwrap();
        assert!(!path.exists());
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_root_that_others_can_enter_is_refused() {
        let root = scratch("open");
        fs::create_dir(&root).unwrap();
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
        let Err(error) = DataFolder::create(&root) else { panic!("a folder open to others was accepted") };
        assert!(error.to_string().contains("mode 700"), "{error}");
        fs::remove_dir_all(&root).unwrap();
    }
}
