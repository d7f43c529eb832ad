//! Fetches one file with `curl`, which knows the machine's proxies and certificates, and computes its checksum.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use aws_lc_rs::digest::{Algorithm, Context};

use super::Provider;
use super::progress::Progress;
use super::stream::stream;
use crate::controlplane::supervise;

/// How patient a fetch is.
#[derive(Clone, Copy)]
pub(super) enum Patience {
    /// A small file: where there is no network, a few seconds must settle it.
    Small,
    /// A large file: as long as it takes, while something arrives.
    Large,
}

impl Provider {
    /// Fetches `url` into `file`. The reason of a failure is one line.
    pub(super) fn fetch(
        &self,
        url: &str,
        file: &Path,
        patience: Patience,
        progress: &mut Progress,
    ) -> Result<(), String> {
        let curl = self.sources.program("curl").ok_or_else(|| "curl is not installed".to_owned())?;
        let mut command = supervise::tied_command(&self.covenant, curl);
        command.args(["--fail", "--silent", "--show-error", "--location", "--connect-timeout", "4"]);
        match patience {
            Patience::Small => command.args(["--max-time", "15", "--speed-limit", "1", "--speed-time", "4"]),
            Patience::Large => command.args(["--speed-limit", "1024", "--speed-time", "20"]),
        };
        command.arg("--output").arg(file).arg(url);
        let streamed = stream(command, |_| {
            let size = fs::metadata(file).map_or(0, |metadata| metadata.len());
            progress.show(format!("{} MB", size / 1_000_000));
        });
        let streamed = streamed.map_err(|error| format!("curl: {error}"))?;
        if streamed.status.success() {
            Ok(())
        } else {
            let said = streamed.last_lines.last().map_or("curl failed", String::as_str);
            Err(format!("{url}: {said}"))
        }
    }
}

/// The checksum of a file in lower-case hexadecimal.
pub(super) fn checksum(algorithm: &'static Algorithm, file: &Path) -> std::io::Result<String> {
    use std::fmt::Write as _;

    let mut context = Context::new(algorithm);
    let mut file = File::open(file)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        let Some(bytes @ [_, ..]) = buffer.get(..read) else { break };
        context.update(bytes);
    }
    let mut text = String::with_capacity(128);
    for byte in context.finish().as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
