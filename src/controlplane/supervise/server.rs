//! The supervisor process itself: one loop on the main thread that starts, signals and reaps the held processes.
//!
//! All processes are started from the main thread, because Linux ties the parent-death signal to the thread that
//! forked. A process is reaped only by this loop, so a signal can never reach a stranger that got the same number.

use std::fs::File;
use std::io::{self, BufRead as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Child, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, kill_process, waitid};

use super::exec;
use super::folder::DataFolder;
use super::protocol::{Command, Event, ProcessRequest, Signal, StopMode};

/// How long a process has between SIGTERM and SIGKILL when the supervisor ends.
const GRACE: Duration = Duration::from_secs(5);
/// How long the kernel gets to end a process after SIGKILL.
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// What the loop waits for.
enum Input {
    Command(Command),
    /// The process with this number has ended and waits to be reaped.
    Exited(Pid),
    /// The parent is gone, or this process was told to end.
    End,
}

/// A running process.
struct Held {
    name: String,
    pid: Pid,
    child: Child,
    stop: StopMode,
    kill_at: Option<Instant>,
}

struct Server {
    held: Vec<Held>,
    sender: Sender<Input>,
    receiver: Receiver<Input>,
}

/// Serves until the end of standard input or a signal, then stops everything and removes the folder.
pub(super) fn run() -> ExitCode {
    let root = DataFolder::default_root();
    let folder = match DataFolder::create(&root) {
        Ok(folder) => folder,
        Err(error) => {
            tell(&Event::Unusable { message: format!("{}: {error}", root.display()) });
            return ExitCode::FAILURE;
        }
    };
    tell(&Event::Ready { folder: folder.path().to_owned() });
    let (sender, receiver) = channel();
    read_commands(sender.clone());
    watch_signals(sender.clone());
    let mut server = Server { held: Vec::new(), sender, receiver };
    server.serve();
    server.shut_down();
    match folder.remove() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Reads standard input on a thread of its own.
fn read_commands(sender: Sender<Input>) {
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            match serde_json::from_str(&line) {
                Ok(command) => {
                    let _ = sender.send(Input::Command(command));
                }
                Err(error) => tell(&Event::Failed { name: String::new(), message: error.to_string() }),
            }
        }
        let _ = sender.send(Input::End);
    });
}

/// Turns the signals that ask a process to end into the same orderly end. Without them (no runtime to be had) the
/// default stands: this process dies and the kernel kills the held ones.
fn watch_signals(sender: Sender<Input>) {
    use tokio::signal::unix::{SignalKind, signal};

    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut terminate = signal(SignalKind::terminate())?;
            let mut interrupt = signal(SignalKind::interrupt())?;
            let mut hangup = signal(SignalKind::hangup())?;
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                _ = hangup.recv() => {}
            }
            let _ = sender.send(Input::End);
            io::Result::Ok(())
        })
    });
}

impl Server {
    fn serve(&mut self) {
        loop {
            let wait = self.held.iter().filter_map(|held| held.kill_at).min();
            let wait =
                wait.map_or(Duration::from_hours(1), |at| at.saturating_duration_since(Instant::now()));
            match self.receiver.recv_timeout(wait) {
                Ok(Input::Command(command)) => self.obey(command),
                Ok(Input::Exited(pid)) => self.reap(pid),
                Err(RecvTimeoutError::Timeout) => self.kill_overdue(),
                Ok(Input::End) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Start(request) => {
                let name = request.name.clone();
                match self.start(request) {
                    Ok(pid) => tell(&Event::Started { name, pid }),
                    Err(error) => tell(&Event::Failed { name, message: error.to_string() }),
                }
            }
            // A process that is not there has just exited: its event is on the way.
            Command::Stop { name, grace_milliseconds } => {
                if let Some(held) = self.find(&name) {
                    held.terminate();
                    held.kill_at = Some(Instant::now() + Duration::from_millis(grace_milliseconds));
                }
            }
            Command::Signal { name, signal } => {
                if let Some(held) = self.find(&name) {
                    held.signal(signal);
                }
            }
        }
    }

    fn find(&mut self, name: &str) -> Option<&mut Held> {
        self.held.iter_mut().find(|held| held.name == name)
    }

    fn start(&mut self, request: ProcessRequest) -> io::Result<u32> {
        let ProcessRequest { name, program, args, env, log, stop } = request;
        if self.find(&name).is_some() {
            return Err(io::Error::other(format!("a process called {name} is running already")));
        }
        if !program.is_file() {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("{} is no file", program.display())));
        }
        let log = File::options().create(true).append(true).mode(0o600).open(&log)?;
        // The link still leads to this binary when its file was replaced by a newer build.
        let own = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { std::env::current_exe()? };
        let mut command = exec::command(&own, &program);
        command.env_clear();
        for variable in ["PATH", "HOME", "TMPDIR", "LANG"] {
            if let Some(value) = std::env::var_os(variable) {
                command.env(variable, value);
            }
        }
        command.args(args).envs(env).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn()?;
        let pid = Pid::from_child(&child);
        let number = child.id();
        self.held.push(Held { name, pid, child, stop, kill_at: None });
        let sender = self.sender.clone();
        std::thread::spawn(move || {
            // Waits without reaping: the number stays taken until the loop has seen the end.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), options), Err(rustix::io::Errno::INTR)) {}
            let _ = sender.send(Input::Exited(pid));
        });
        Ok(number)
    }

    fn reap(&mut self, pid: Pid) {
        let Some(index) = self.held.iter().position(|held| held.pid == pid) else { return };
        let mut held = self.held.remove(index);
        if let Ok(status) = held.child.wait() {
            tell(&Event::Exited { name: held.name, status: status.into() });
        }
    }

    fn kill_overdue(&mut self) {
        let now = Instant::now();
        for held in &mut self.held {
            if held.kill_at.is_some_and(|at| at <= now) {
                held.signal(Signal::Kill);
                held.kill_at = None;
            }
        }
    }

    /// Ends the held processes one after the other, the youngest first.
    fn shut_down(&mut self) {
        while let Some(last) = self.held.last_mut() {
            let pid = last.pid;
            if last.stop == StopMode::Graceful {
                last.terminate();
                self.wait_for(pid, GRACE);
            }
            if let Some(held) = self.held.iter().find(|held| held.pid == pid) {
                held.signal(Signal::Kill);
                self.wait_for(pid, KILL_LIMIT);
            }
            // Not even SIGKILL ended it (it hangs in the kernel): the others must still be stopped.
            self.held.retain(|held| held.pid != pid);
        }
    }

    fn wait_for(&mut self, pid: Pid, limit: Duration) {
        let end = Instant::now() + limit;
        while self.held.iter().any(|held| held.pid == pid) {
            match self.receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Input::Exited(exited)) => self.reap(exited),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}

impl Held {
    /// Asks for an end in order; a frozen process is woken so that it can hear it.
    fn terminate(&self) {
        self.signal(Signal::Terminate);
        self.signal(Signal::Continue);
    }

    fn signal(&self, signal: Signal) {
        let signal = match signal {
            Signal::Terminate => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
            Signal::Stop => rustix::process::Signal::STOP,
            Signal::Continue => rustix::process::Signal::CONT,
        };
        // The only possible failure is that the process has ended already, which its own event tells.
        let _ = kill_process(self.pid, signal);
    }
}

/// Writes one event. A parent that is gone does not read it; the end of standard input tells the same.
fn tell(event: &Event) {
    if let Ok(mut line) = serde_json::to_vec(event) {
        line.push(b'\n');
        let mut output = io::stdout().lock();
        let _ = output.write_all(&line).and_then(|()| output.flush());
    }
}
