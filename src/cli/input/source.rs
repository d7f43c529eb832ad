//! Where text comes from: files, folders, standard input. Finds and reads it; what it means is others' work.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The largest text that is read, in bytes: 512 MiB.
pub const MAX_BYTES: u64 = 512 << 20;

/// The ending of a name that makes a file of a folder an input.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// One text to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// What is piped in.
    StandardInput,
    /// A file.
    File(PathBuf),
}

/// A file or folder that cannot be read. The text is one line that names it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {problem}")]
pub struct Unusable {
    /// The file, as it was named; `-` is standard input.
    pub name: String,
    /// What is wrong and what to do.
    pub problem: String,
    /// Line, from 1, where the text stops being text; 1 where that says nothing.
    pub line: u32,
}

impl Source {
    /// The name for people: the path as it was given, or `-`.
    pub fn name(&self) -> String {
        match self {
            Self::StandardInput => "-".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// The whole text, without a byte-order mark.
    pub fn read(&self) -> Result<String, Unusable> {
        let unusable = |problem: String, line: u32| Unusable { name: self.name(), problem, line };
        let mut bytes = Vec::new();
        let read = match self {
            Self::StandardInput => io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes),
            Self::File(path) => {
                File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            }
        };
        read.map_err(|error| unusable(words(&error), 1))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(unusable(format!("is larger than {} MiB; split it", MAX_BYTES >> 20), 1));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
            unusable("is not text in UTF-8; convert it".to_owned(), line_after(valid))
        })?;
        if let Some(place) = text.find('\0') {
            let before = text.as_bytes().get(..place).unwrap_or_default();
            return Err(unusable("is not text: it holds a zero byte".to_owned(), line_after(before)));
        }
        Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        })
    }
}

fn line_after(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.split(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// The operating system's words, without its number.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder; check the path".to_owned(),
        io::ErrorKind::PermissionDenied => "may not be read; check its permissions".to_owned(),
        _ => {
            let text = error.to_string();
            let end = text.find(" (os error").unwrap_or(text.len());
            format!("cannot be read: {}", text.get(..end).unwrap_or_default())
        }
    }
}

/// What `paths` name, in this order: a file itself whatever it is called, `-` standard input, and of a folder every
/// file below it whose name ends in `.yaml`, `.yml` or `.json`, sorted by name. Links are followed; a folder or file
/// that is reached a second time in one walk is left out, so a loop of links ends.
pub fn find(paths: &[PathBuf]) -> Vec<Result<Source, Unusable>> {
    let mut found = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            found.push(Ok(Source::StandardInput));
        } else if path.is_dir() {
            let mut walk = Walk { seen: fs::canonicalize(path).into_iter().collect(), ..Walk::default() };
            walk.folder(path);
            found.append(&mut walk.found);
        } else {
            found.push(Ok(Source::File(path.clone())));
        }
    }
    found
}

/// How deep folders are followed.
const MAX_FOLDERS: usize = 64;

#[derive(Default)]
struct Walk {
    /// Real paths of folders and files that have been seen.
    seen: HashSet<PathBuf>,
    depth: usize,
    found: Vec<Result<Source, Unusable>>,
}

impl Walk {
    fn folder(&mut self, folder: &Path) {
        if self.depth >= MAX_FOLDERS {
            self.fail(folder, format!("folders nest deeper than {MAX_FOLDERS} levels; name the inner one"));
            return;
        }
        self.depth += 1;
        match sorted(folder) {
            Ok(children) => children.iter().for_each(|child| self.child(child)),
            Err(error) => self.fail(folder, words(&error)),
        }
        self.depth -= 1;
    }

    fn child(&mut self, path: &Path) {
        let is_folder = path.is_dir();
        let wanted = path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
        if !is_folder && !wanted {
            return;
        }
        if !is_folder && path.exists() && !path.is_file() {
            // A pipe or a socket would be waited for, for ever.
            self.fail(
                path,
                "is no file but a pipe, a socket or a device; name it itself if it is meant".to_owned(),
            );
            return;
        }
        match fs::canonicalize(path) {
            Ok(real) => {
                let first = self.seen.insert(real);
                if first && is_folder {
                    self.folder(path);
                } else if first {
                    self.found.push(Ok(Source::File(path.to_owned())));
                }
            }
            // A link that leads nowhere, or round in a circle, is told when it is read.
            Err(_) => self.found.push(Ok(Source::File(path.to_owned()))),
        }
    }

    fn fail(&mut self, path: &Path, problem: String) {
        self.found.push(Err(Unusable { name: path.display().to_string(), problem, line: 1 }));
    }
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut children =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    children.sort();
    Ok(children)
}
