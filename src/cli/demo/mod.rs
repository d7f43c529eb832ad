//! `covenant demo`: a whole local control plane with webhook and controller, installed from what is shipped, shown at
//! work, and left running for a person to try.
//!
//! `programs` has the binaries, `manifests` what is installed and `install` how, `processes` runs webhook and controller,
//! `scenes` is what is shown and `stage` where.

mod install;
mod manifests;
mod processes;
mod programs;
mod scenes;
mod stage;

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::exit::{Code, Failure};
use crate::controlplane::binaries::Display as Progress;
use crate::controlplane::version::NEWEST;
use crate::controlplane::{self, Binaries, Binary, ControlPlane, Options, Provider, Version};
use install::Installer;
use manifests::Manifests;
use processes::Entrance;
use programs::Programs;
use stage::Stage;

/// Start a local Kubernetes control plane with Covenant in it, show it at work, and keep it up until Ctrl-C.
///
/// It needs no cluster and no container: etcd and kube-apiserver are found, fetched or built, and kept in the cache.
/// Exit code: 0 at the end, 1 when something shown was not as expected, 2 when it cannot start.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    /// End after everything has been shown, with exit code 0 only if it was as expected.
    #[arg(long)]
    pub once: bool,

    /// Kubernetes release: a minor such as 1.34, or its pinned patch.
    #[arg(long, value_name = "VERSION", default_value_t = NEWEST, value_parser = version)]
    pub kubernetes_version: Version,
}

fn version(text: &str) -> Result<Version, String> {
    Version::resolve(text).map_err(|error| error.to_string())
}

/// Runs the command.
pub fn run(flags: &Flags) -> Result<Code, Failure> {
    let stage = Stage::new();
    stage.say(format_args!("Covenant on Kubernetes {}", flags.kubernetes_version));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| stopped("no threads to run on", error))?;
    // Exactly one provider of cryptography; a second call finds the first one in place.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let programs = stage.told_step("this version's programs are there", Programs::ready)?;
    let provider = Provider::new(flags.kubernetes_version, &programs.covenant).map_err(cannot_start)?;
    let binaries = stage.told_step("etcd, kube-apiserver and kubectl are there", || obtain(&provider));
    let mut binaries = binaries.map_err(cannot_start)?;
    let manager = binaries.kube_controller_manager.take();
    let options = Options { covenant: programs.covenant.clone(), binaries };
    let plane = stage.step("the API server answers", || ControlPlane::start(options));
    let plane = plane.map_err(|error| stopped("the control plane", error))?;
    let manifests = Manifests::shipped();
    let later = match &manager {
        None => announce(provider, flags.once, &stage),
        Some(_) => None,
    };
    let (shown, joined) = std::thread::scope(|scope| {
        // Nothing that is shown first needs it, so nobody waits for it.
        let joining = manager.map(|program| scope.spawn(|| join(&plane, Ok(program))));
        let shown = install(&plane, &programs, &manifests, &runtime, &stage).and_then(|()| {
            scenes::show(&plane, &manifests, &stage).map_err(|error| stopped("kubectl", error))
        });
        (shown, joining.map(std::thread::ScopedJoinHandle::join))
    });
    let differences = shown?;
    if let Some(Ok(Err(error))) = joined {
        return Err(stopped("kube-controller-manager", error));
    }
    if flags.once {
        return Ok(conclude(&plane, &differences, &stage));
    }
    stay(&plane, &programs, later, &runtime, &stage)
}

fn cannot_start(error: controlplane::Error) -> Failure {
    Failure::new(format!("cannot start: {error}"), "nothing was started")
}

/// What must be there before anything can be shown. kube-controller-manager comes along if it is there already.
fn obtain(provider: &Provider) -> Result<Binaries, controlplane::Error> {
    let mut binaries = provider.required()?;
    if binaries.kubectl.is_none() {
        binaries.kubectl = provider.ensure(&[Binary::Kubectl])?.into_iter().next();
    }
    Ok(binaries)
}

/// What comes later than the rest: kube-controller-manager, while it is fetched or built.
type Later = Receiver<Result<PathBuf, String>>;

/// Says what does not work without kube-controller-manager, and obtains it unless the demo ends before it would come.
fn announce(provider: Provider, once: bool, stage: &Stage) -> Option<Later> {
    stage.say(
        "          There is no kube-controller-manager yet: no garbage is collected, no namespace ends, and",
    );
    stage.say("          roles are not aggregated.");
    if once {
        return None;
    }
    stage.say("          It is fetched or built meanwhile and joins when it is there.");
    let provider = provider.display(Progress::Lines);
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let obtained = provider.ensure(&[Binary::KubeControllerManager]).map_err(|error| error.to_string());
        let program = obtained
            .and_then(|programs| programs.into_iter().next().ok_or("nothing was obtained".to_owned()));
        sender.send(program)
    });
    Some(receiver)
}

fn install(
    plane: &ControlPlane,
    programs: &Programs,
    manifests: &Manifests,
    runtime: &Runtime,
    stage: &Stage,
) -> Result<(), Failure> {
    let process = |error: processes::Error| stopped("cannot go on", error);
    let entrance = Entrance::prepare(plane.folder()).map_err(process)?;
    let objects = manifests.objects(entrance.port).map_err(|error| stopped("manifests", error))?;
    stage
        .step("definitions, roles, policies and webhook configuration are installed", || {
            runtime.block_on(apply(plane, &objects, &entrance.authority))
        })
        .map_err(|error| stopped("manifests", error))?;
    stage
        .step("covenant-webhook is ready", || processes::start_webhook(plane, programs, &entrance))
        .map_err(process)?;
    stage
        .step("covenant-controller is ready", || processes::start_controller(plane, programs))
        .map_err(process)?;
    stage
        .step("the API server asks the webhook", || runtime.block_on(wait_until_asked(plane, manifests)))
        .map_err(|error| stopped("cannot go on", error))
}

async fn apply(
    plane: &ControlPlane,
    objects: &[Value],
    authority: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut installer = Installer::new(plane.client().await?);
    installer.apply_all(objects).await?;
    let bundle = base64::engine::general_purpose::STANDARD.encode(authority);
    installer.set_authority(objects, &bundle).await?;
    installer.wait_until_served().await?;
    Ok(())
}

/// How long the API server is tried before the demo gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// As shipped, the configuration lets pass what the webhook does not answer, and the API server needs a moment to take
/// notice of it: so a faulty contract is tried, as a dry run, until it is refused.
async fn wait_until_asked(
    plane: &ControlPlane,
    manifests: &Manifests,
) -> Result<(), Box<dyn std::error::Error>> {
    let faulty = manifests.contract_that_only_the_webhook_refuses()?;
    let client = plane.client().await?;
    let end = Instant::now() + PATIENCE;
    loop {
        let why = match install::refusal(&client, &faulty).await {
            Some(refusal) if refusal.contains("is invalid") => return Ok(()),
            Some(other) => other,
            None => "the API server lets it pass".to_owned(),
        };
        if Instant::now() >= end {
            return Err(
                format!("the API server does not ask the webhook about a faulty contract: {why}").into()
            );
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The end of `--once`.
fn conclude(plane: &ControlPlane, differences: &[String], stage: &Stage) -> Code {
    let mut differences = differences.to_vec();
    differences.extend(processes::ended(plane).map(|error| error.to_string()));
    if differences.is_empty() {
        stage.say("\nEverything was as expected.");
        return Code::Good;
    }
    stage.heading("Not as expected:");
    for difference in &differences {
        stage.say(format_args!("- {difference}"));
    }
    Code::Found
}

/// Stays up until somebody asks for the end.
fn stay(
    plane: &ControlPlane,
    programs: &Programs,
    later: Option<Later>,
    runtime: &Runtime,
    stage: &Stage,
) -> Result<Code, Failure> {
    let signals = runtime.block_on(async {
        std::io::Result::Ok([signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?])
    });
    let mut signals = signals.map_err(|error| stopped("no signals", error))?;
    stage.heading("It stays up until Ctrl-C. In another terminal:");
    stage.say(format_args!("export KUBECONFIG={}", plane.kubeconfig().display()));
    stage.say(format_args!("Logs, and the audit log: {}/*.log", plane.folder().display()));
    let mut later = later;
    while !runtime.block_on(asked_to_end(&mut signals)) {
        match processes::ended(plane) {
            None => {}
            // A Deployment would start it again as well; it ends by itself when it loses its Lease.
            Some(processes::Error::Ended { name, status, .. }) if name == crate::api::names::CONTROLLER => {
                stage.say(format_args!("{name} ended with {status}; starting it again"));
                processes::start_controller(plane, programs)
                    .map_err(|error| stopped("cannot go on", error))?;
            }
            Some(error) => return Err(stopped("cannot go on", error)),
        }
        if let Some(obtained) = later.as_ref().and_then(|later| later.try_recv().ok()) {
            later = None;
            match join(plane, obtained) {
                Ok(()) => stage.say("kube-controller-manager has joined"),
                Err(error) => stage.say(format_args!("still without kube-controller-manager: {error}")),
            }
        }
    }
    stage.say("\nstopping");
    Ok(Code::Good)
}

/// Waits a moment for a signal.
async fn asked_to_end(signals: &mut [Signal; 2]) -> bool {
    let [interrupt, terminate] = signals;
    tokio::select! {
        _ = interrupt.recv() => true,
        _ = terminate.recv() => true,
        () = tokio::time::sleep(Duration::from_millis(500)) => false,
    }
}

/// Lets kube-controller-manager join.
fn join(plane: &ControlPlane, obtained: Result<PathBuf, String>) -> Result<(), String> {
    obtained
        .and_then(|program| plane.start_kube_controller_manager(&program).map_err(|error| error.to_string()))
}

/// Something went wrong after the start: exit code 1.
fn stopped(what: &str, error: impl Display) -> Failure {
    Failure::stopped(format!("{what}: {error}"))
}
