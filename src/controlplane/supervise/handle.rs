//! The parent's side: starts the supervisor, sends it commands, and keeps what it tells.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command as OsCommand, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::SUBCOMMAND;
use super::protocol::{Command, Event, ExitStatus, ProcessRequest, Signal};

/// How long the supervisor may take to answer: it only makes folders and forks.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// How long an orderly end of all processes may take before the supervisor is killed.
const END_LIMIT: Duration = Duration::from_mins(1);

/// Why the supervisor or a process it should hold could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SupervisorError {
    /// The `covenant` binary could not be run.
    #[error("cannot start the supervisor {}: {source}", binary.display())]
    Start {
        /// The binary that was tried.
        binary: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The supervisor could not make its data folder.
    #[error("the supervisor has no data folder: {0}")]
    Folder(String),
    /// The supervisor is gone, and with it all that it held.
    #[error("the supervisor has ended, and with it all that it held")]
    Gone,
    /// A process could not be started.
    #[error("cannot start {name}: {message}")]
    Process {
        /// The process's name.
        name: String,
        /// What the system says.
        message: String,
    },
    /// A process did not end in time, or there is none of that name.
    #[error("{name} has not ended within {} s", limit.as_secs())]
    StillRunning {
        /// The process's name.
        name: String,
        /// How long was waited.
        limit: Duration,
    },
}

/// What is known of a process.
enum Known {
    Starting,
    Running(u32),
    Failed(String),
    Exited(ExitStatus),
}

#[derive(Default)]
struct State {
    folder: Option<Result<PathBuf, String>>,
    processes: BTreeMap<String, Known>,
    gone: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// A running supervisor. Dropping it ends all that it holds, in order, and waits until its folder is removed.
pub struct Supervisor {
    shared: Arc<Shared>,
    input: Mutex<Option<ChildStdin>>,
    child: Mutex<Child>,
    pid: u32,
    folder: PathBuf,
}

impl Supervisor {
    /// Starts `binary supervise`, where `binary` is the `covenant` binary.
    pub fn start(binary: &Path) -> Result<Self, SupervisorError> {
        let start_error = |source| SupervisorError::Start { binary: binary.to_owned(), source };
        let mut child = OsCommand::new(binary)
            .arg(SUBCOMMAND)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A reader of this process's own standard error must not have to wait for the supervisor's end.
            .stderr(Stdio::null())
            .spawn()
            .map_err(start_error)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let pid = child.id();
        let shared = Arc::new(Shared::default());
        if let Some(output) = output {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.follow(output));
        }
        let mut supervisor =
            Self { shared, input: Mutex::new(input), child: Mutex::new(child), pid, folder: PathBuf::new() };
        let folder = supervisor.shared.wait(ANSWER_LIMIT, |state| state.folder.clone());
        supervisor.folder = folder.ok_or(SupervisorError::Gone)?.map_err(SupervisorError::Folder)?;
        Ok(supervisor)
    }

    /// The data folder, private to this user; it is removed when the supervisor ends.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The supervisor's process number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Starts a process and returns its number.
    pub fn run(&self, request: ProcessRequest) -> Result<u32, SupervisorError> {
        let name = request.name.clone();
        {
            let mut state = self.shared.lock();
            if let Some(Known::Starting | Known::Running(_)) = state.processes.get(&name) {
                let message = "a process of that name is running already".to_owned();
                return Err(SupervisorError::Process { name, message });
            }
            state.processes.insert(name.clone(), Known::Starting);
        }
        self.send(&Command::Start(request))?;
        let answer = self.shared.wait(ANSWER_LIMIT, |state| match state.processes.get(&name) {
            Some(Known::Running(pid)) => Some(Ok(*pid)),
            Some(Known::Failed(message)) => Some(Err(message.clone())),
            Some(Known::Exited(status)) => Some(Err(format!("it ended at once with {status}"))),
            Some(Known::Starting) | None => None,
        });
        let answer = answer.ok_or(SupervisorError::Gone)?;
        answer.map_err(|message| SupervisorError::Process { name, message })
    }

    /// Sends SIGTERM, after `grace` SIGKILL, and waits for the end.
    pub fn stop(&self, name: &str, grace: Duration) -> Result<ExitStatus, SupervisorError> {
        let grace_milliseconds = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        self.send(&Command::Stop { name: name.to_owned(), grace_milliseconds })?;
        self.wait(name, grace + ANSWER_LIMIT)
    }

    /// Sends a signal and does not wait.
    pub fn signal(&self, name: &str, signal: Signal) -> Result<(), SupervisorError> {
        self.send(&Command::Signal { name: name.to_owned(), signal })
    }

    /// Whether a process of that name runs.
    pub fn is_running(&self, name: &str) -> bool {
        matches!(self.shared.lock().processes.get(name), Some(Known::Running(_)))
    }

    /// Whether the supervisor itself is gone, and with it all that it held.
    pub fn is_gone(&self) -> bool {
        self.shared.lock().gone
    }

    /// How the process ended; none while it runs or when there never was one of that name.
    pub fn exited(&self, name: &str) -> Option<ExitStatus> {
        exit_status(&self.shared.lock(), name)
    }

    /// Waits at most `limit` for a process to end.
    pub fn wait(&self, name: &str, limit: Duration) -> Result<ExitStatus, SupervisorError> {
        let status = self.shared.wait(limit, |state| exit_status(state, name));
        match status {
            Some(status) => Ok(status),
            None if self.shared.lock().gone => Err(SupervisorError::Gone),
            None => Err(SupervisorError::StillRunning { name: name.to_owned(), limit }),
        }
    }

    fn send(&self, command: &Command) -> Result<(), SupervisorError> {
        let mut line = serde_json::to_vec(command).map_err(|_| SupervisorError::Gone)?;
        line.push(b'\n');
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let input = input.as_mut().ok_or(SupervisorError::Gone)?;
        input.write_all(&line).and_then(|()| input.flush()).map_err(|_| SupervisorError::Gone)
    }
}

fn exit_status(state: &State, name: &str) -> Option<ExitStatus> {
    match state.processes.get(name) {
        Some(Known::Exited(status)) => Some(*status),
        _ => None,
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // The end of its input is the supervisor's sign to stop everything.
        drop(self.input.lock().unwrap_or_else(PoisonError::into_inner).take());
        let ended = self.shared.wait(END_LIMIT, |state| state.gone.then_some(()));
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.is_none() {
            let _ = child.kill();
        }
        let _ = child.wait();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `look` finds something; none when the supervisor is gone or the time is up.
    fn wait<T>(&self, limit: Duration, look: impl Fn(&State) -> Option<T>) -> Option<T> {
        let end = Instant::now() + limit;
        let mut state = self.lock();
        loop {
            if let Some(found) = look(&state) {
                return Some(found);
            }
            let left = end.saturating_duration_since(Instant::now());
            if state.gone || left.is_zero() {
                return None;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Reads events until the supervisor ends.
    fn follow(&self, output: ChildStdout) {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { break };
            let Ok(event) = serde_json::from_str(&line) else { continue };
            self.lock().note(event);
            self.changed.notify_all();
        }
        self.lock().gone = true;
        self.changed.notify_all();
    }
}

impl State {
    fn note(&mut self, event: Event) {
        match event {
            Event::Ready { folder } => self.folder = Some(Ok(folder)),
            Event::Unusable { message } => self.folder = Some(Err(message)),
            Event::Started { name, pid } => {
                self.processes.insert(name, Known::Running(pid));
            }
            Event::Failed { name, message } => {
                self.processes.insert(name, Known::Failed(message));
            }
            Event::Exited { name, status } => {
                self.processes.insert(name, Known::Exited(status));
            }
        }
    }
}
