//! The fault rig: a proxy between the controller and the API server that fails where a test wants it to.
//!
//! It terminates TLS with an authority of its own and hands every request on with the caller's own token, so the API
//! server sees the controller's rights and the audit log its name. `points` names the writes of the binding protocol.

mod points;
mod proxy;
mod rig;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use covenant::controlplane::ControlPlane;
use tokio::sync::watch;

pub use points::{Write, point};
use proxy::Proxy;

/// What happens to one request.
#[derive(Clone)]
pub enum Fault {
    /// The connection breaks, and the API server has seen nothing.
    FailBefore,
    /// The API server does it, and the answer is lost.
    LoseReply,
    /// The callback runs (it kills the process), and the API server has seen nothing.
    KillBefore(Arc<dyn Fn() + Send + Sync>),
    /// The API server does it, the callback runs (it kills the process), and nobody hears the answer.
    KillAfter(Arc<dyn Fn() + Send + Sync>),
    /// It is handed on after this time.
    Delay(Duration),
    /// The proxy answers by itself, with this HTTP status, as the API server would.
    Answer(u16),
    /// The callback runs first, then it is handed on: something happens between judgement and write.
    First(Arc<dyn Fn() + Send + Sync>),
}

struct Rule {
    matches: Box<dyn Fn(&Write) -> bool + Send>,
    fault: Fault,
    /// How many requests it still meets.
    left: usize,
    hits: usize,
}

/// What is to fail, and what came by.
#[derive(Default)]
struct Plan {
    rules: Vec<Rule>,
    writes: Vec<String>,
}

impl Plan {
    /// Notes a write and finds out what becomes of it.
    fn meet(&mut self, write: &Write) -> Option<Fault> {
        self.writes.push(write.to_string());
        let rule = self.rules.iter_mut().find(|rule| rule.left > 0 && (rule.matches)(write))?;
        rule.left -= 1;
        rule.hits += 1;
        Some(rule.fault.clone())
    }
}

/// The proxy with its plan. It ends with the test.
pub struct Rig {
    plan: Arc<Mutex<Plan>>,
    held: watch::Sender<Vec<String>>,
    /// For the process under test: the proxy's address and authority, the process's own token.
    pub kubeconfig: PathBuf,
    _proxy: Proxy,
}

impl Rig {
    /// A rig in front of `plane` for the service account `covenant-system/account`. `name` is part of a file's name.
    pub fn start(plane: &'static ControlPlane, account: &str, name: &str) -> Self {
        let plan = Arc::new(Mutex::new(Plan::default()));
        let held = watch::Sender::new(Vec::new());
        let proxy = Proxy::start(plane, plan.clone(), held.subscribe());
        let own = plane.kubeconfig_for_service_account("covenant-system", account).expect("a token");
        let text = std::fs::read_to_string(own).expect("the kubeconfig");
        let kubeconfig = plane.folder().join(format!("{name}.rig.kubeconfig"));
        std::fs::write(&kubeconfig, proxy.rewritten(&text)).expect("a kubeconfig");
        Self { plan, held, kubeconfig, _proxy: proxy }
    }

    /// The next `count` writes that `matches` picks meet `fault`. Of several rules the first that still counts decides.
    /// Returns the rule's number for [`hits`](Self::hits).
    pub fn on(&self, count: usize, fault: Fault, matches: impl Fn(&Write) -> bool + Send + 'static) -> usize {
        let mut plan = self.plan.lock().expect("the plan");
        plan.rules.push(Rule { matches: Box::new(matches), fault, left: count, hits: 0 });
        plan.rules.len() - 1
    }

    /// Nothing fails any more.
    pub fn clear(&self) {
        self.plan.lock().expect("the plan").rules.iter_mut().for_each(|rule| rule.left = 0);
    }

    /// How many writes a rule has met.
    pub fn hits(&self, rule: usize) -> usize {
        self.plan.lock().expect("the plan").rules[rule].hits
    }

    /// Every write so far, as `POINT METHOD path`.
    pub fn writes(&self) -> Vec<String> {
        self.plan.lock().expect("the plan").writes.clone()
    }

    /// Holds back the watch events of a resource (`postgresqldatabases`), while reads stay current.
    pub fn hold(&self, resource: &str) {
        self.held.send_modify(|held| held.push(resource.to_owned()));
    }

    /// Lets them come again.
    pub fn release(&self, resource: &str) {
        self.held.send_modify(|held| held.retain(|known| known != resource));
    }
}
