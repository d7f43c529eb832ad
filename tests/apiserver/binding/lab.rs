//! A control plane with the protocol's controllers in it, and everything that a scenario does to them.

use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use covenant::binding::{Database, Instance, InstanceObservation, Observation};
use covenant::controller::{BindingProcess, Observe};
use covenant::controlplane::ControlPlane;
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::history::History;
use crate::fault::{Fault, Rig};
use crate::support::{Finished as _, eventually, start_control_plane};

const MANIFESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests");
pub const GROUP: &str = "database.ayatori.ddupan.top";
pub const TENANT: &str = "PostgreSQLTenant";
pub const DATABASE: &str = "PostgreSQLDatabase";
pub const INSTANCE: &str = "PostgreSQLInstance";

/// The control planes that are not in use; as many are started as tests run at once, up to the limit.
struct Pool {
    free: Mutex<(Vec<&'static ControlPlane>, usize)>,
    returned: Condvar,
}

/// How many control planes there are at most: more would only share the same processors.
const PLANES: usize = 2;

static POOL: LazyLock<Pool> =
    LazyLock::new(|| Pool { free: Mutex::new((Vec::new(), 0)), returned: Condvar::new() });

/// A control plane that nobody else uses.
struct Plane(&'static ControlPlane);

impl Plane {
    fn take() -> Self {
        let mut free = POOL.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(plane) = free.0.pop() {
                return Self(plane);
            }
            if free.1 < PLANES {
                free.1 += 1;
                drop(free);
                return Self(Box::leak(Box::new(Self::start())));
            }
            free = POOL.returned.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn start() -> ControlPlane {
        let plane = start_control_plane().expect("a control plane");
        for folder in ["crds", "namespace", "rbac", "policies"] {
            let path = format!("{MANIFESTS}/{folder}");
            plane.kubectl(&["apply", "-k", &path], None).expect("kubectl runs").success();
        }
        let wait = ["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"];
        plane.kubectl(&wait, None).expect("kubectl runs").success();
        plane
    }
}

impl Deref for Plane {
    type Target = ControlPlane;
    fn deref(&self) -> &ControlPlane {
        self.0
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        POOL.free.lock().unwrap_or_else(PoisonError::into_inner).0.push(self.0);
        POOL.returned.notify_one();
    }
}

/// What the test says that was seen on servers: the port that a data plane will fill.
#[derive(Default)]
pub struct Observer {
    /// The UIDs of the Instances whose databases are verified, each in its present generation.
    verified: Mutex<Vec<String>>,
}

impl Observer {
    /// What counts as verified.
    pub fn verified_mut(&self) -> MutexGuard<'_, Vec<String>> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observe for Observer {
    fn database(&self, database: &Database) -> Observation {
        let verified = self.verified.lock().unwrap();
        match verified.first() {
            Some(instance_uid) => Observation::Verified {
                generation: database.metadata.generation,
                instance_uid: instance_uid.clone(),
            },
            None => Observation::NotObserved,
        }
    }

    fn instance(&self, _: &Instance) -> InstanceObservation {
        InstanceObservation::NotObserved
    }
}

/// Controllers that are running.
pub struct Running {
    runtime: Runtime,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Running {
    fn start(kubeconfig: &Path, observer: Arc<Observer>) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        runtime.block_on(async {
            let client =
                covenant::cluster::client::connect(Some(kubeconfig), "covenant-controller").await.unwrap();
            let process = BindingProcess::new(client, "covenant-system", "lab", observer);
            let readiness = process.readiness();
            process.start(&tasks, &stop);
            let ready = async {
                while !readiness.is_ready() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            tokio::time::timeout(crate::support::PATIENCE, ready).await.expect("the controllers are ready");
        });
        Self { runtime, stop, tasks }
    }

    /// Ends in the middle of whatever it does.
    pub fn kill(self) {
        self.runtime.shutdown_background();
    }

    /// Ends as a process does that is asked to.
    pub fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.runtime.block_on(self.tasks.wait());
        self.runtime.shutdown_background();
    }
}

/// One test's world.
pub struct Lab {
    pub namespace: String,
    pub rig: Rig,
    pub observer: Arc<Observer>,
    history: History,
    running: Mutex<Option<Running>>,
    admin: Client,
    runtime: Runtime,
    plane: Plane,
}

impl Lab {
    /// A lab with no controller running yet. `id` names the namespace.
    pub fn new(id: &str) -> Self {
        let plane = Plane::take();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let rig = Rig::start(plane.0, "covenant-controller", id);
        let admin = runtime.block_on(plane.client()).expect("a client");
        let history = History::follow(&runtime, admin.clone());
        let namespace = id.to_lowercase();
        let lab = Self {
            namespace,
            rig,
            observer: Arc::default(),
            history,
            running: Mutex::new(None),
            admin,
            runtime,
            plane,
        };
        let name = lab.namespace.clone();
        let made = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        lab.post("", "v1", "Namespace", None, &made);
        lab
    }

    /// A lab whose controllers run, with an Instance `main`.
    pub fn running(id: &str) -> Self {
        let lab = Self::new(id);
        lab.instance("main");
        lab.start();
        lab
    }

    fn running_lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the controllers behind the rig.
    pub fn start(&self) {
        let running = Running::start(&self.rig.kubeconfig, self.observer.clone());
        assert!(self.running_lock().replace(running).is_none(), "they run already");
    }

    /// Starts further controllers, as a second replica that does not know of the first.
    pub fn second(&self) -> Running {
        Running::start(&self.rig.kubeconfig, self.observer.clone())
    }

    /// Whether controllers of the lab's own run.
    pub fn is_running(&self) -> bool {
        self.running_lock().is_some()
    }

    /// Kills the controllers.
    pub fn kill(&self) {
        if let Some(running) = self.running_lock().take() {
            running.kill();
        }
    }

    /// Kills and starts them again.
    pub fn restart(&self) {
        self.kill();
        self.start();
    }

    /// A fault that kills the controllers instead of, or after, the write.
    pub fn kill_at(self: &Arc<Self>, after: bool) -> Fault {
        let lab = Arc::downgrade(self);
        let kill: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
            if let Some(lab) = lab.upgrade() {
                lab.kill();
            }
        });
        if after { Fault::KillAfter(kill) } else { Fault::KillBefore(kill) }
    }

    fn api(&self, group: &str, version: &str, kind: &str, namespace: Option<&str>) -> Api<DynamicObject> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let resource = match kind {
            TENANT | DATABASE | INSTANCE => {
                ApiResource { plural: format!("{}s", kind.to_lowercase()), ..resource }
            }
            _ => resource,
        };
        match namespace {
            Some(namespace) => Api::namespaced_with(self.admin.clone(), namespace, &resource),
            None => Api::all_with(self.admin.clone(), &resource),
        }
    }

    /// The API of one of our kinds, as the administrator. A Tenant's `name` may say its namespace: `other/shop`.
    fn ours<'a>(&self, kind: &str, name: &'a str) -> (Api<DynamicObject>, &'a str) {
        let (namespace, name) = name.split_once('/').unwrap_or((&self.namespace, name));
        (self.api(GROUP, "v1alpha1", kind, (kind == TENANT).then_some(namespace)), name)
    }

    /// One more namespace.
    pub fn another_namespace(&self, name: &str) {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        self.post("", "v1", "Namespace", None, &object);
    }

    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    fn post(&self, group: &str, version: &str, kind: &str, namespace: Option<&str>, object: &Value) -> Value {
        let api = self.api(group, version, kind, namespace);
        let object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        let made = self.wait(api.create(&PostParams::default(), &object)).expect("it is created");
        serde_json::to_value(made).unwrap()
    }

    /// Creates one of our objects.
    pub fn create(&self, kind: &str, name: &str, spec: &Value) -> Value {
        self.try_create(kind, name, spec).expect("it is created")
    }

    pub fn try_create(&self, kind: &str, name: &str, spec: &Value) -> Result<Value, kube::Error> {
        let (api, name) = self.ours(kind, name);
        let object = json!({"apiVersion": format!("{GROUP}/v1alpha1"), "kind": kind,
            "metadata": {"name": name}, "spec": spec});
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        let made = self.wait(async { api.create(&PostParams::default(), &object).await })?;
        Ok(serde_json::to_value(made).unwrap())
    }

    pub fn instance(&self, name: &str) -> Value {
        let spec = json!({
            "endpoint": {"host": "db.example.com", "hostaddr": "192.0.2.10"},
            "adminCredentialRef": {"name": "admin"},
        });
        self.create(INSTANCE, name, &spec)
    }

    /// A Tenant that asks for a new database on `main`.
    pub fn tenant(&self, name: &str) -> Value {
        self.create(TENANT, name, &json!({"provision": {"instanceRef": {"name": "main"}}}))
    }

    /// A Tenant that asks for an existing Database.
    pub fn claimant(&self, name: &str, database: &str) -> Value {
        self.create(TENANT, name, &json!({"databaseRef": {"name": database}}))
    }

    /// A Database on `main` that an administrator has made.
    pub fn database(&self, name: &str) -> Value {
        self.create(DATABASE, name, &Self::database_spec(name))
    }

    pub fn database_spec(name: &str) -> Value {
        json!({"instanceRef": {"name": "main"}, "database": name, "loginRole": name, "source": "Provision"})
    }

    /// Every database counts as verified on the Instance `main` as it is now.
    pub fn verified(&self) {
        let uid = uid(&self.get(INSTANCE, "main"));
        *self.observer.verified.lock().unwrap() = vec![uid];
    }

    #[track_caller]
    pub fn get(&self, kind: &str, name: &str) -> Value {
        self.find(kind, name).unwrap_or_else(|| panic!("there is no {kind} {name}"))
    }

    pub fn find(&self, kind: &str, name: &str) -> Option<Value> {
        let (api, name) = self.ours(kind, name);
        let found = self.wait(api.get_opt(name)).expect("a read");
        found.map(|object| serde_json::to_value(object).unwrap())
    }

    pub fn all(&self, kind: &str) -> Vec<Value> {
        let everywhere = self.api(GROUP, "v1alpha1", kind, None);
        let list = self.wait(async { everywhere.list(&ListParams::default()).await }).expect("a list");
        list.items.into_iter().map(|item| serde_json::to_value(item).unwrap()).collect()
    }

    /// A merge patch.
    pub fn patch(&self, kind: &str, name: &str, patch: &Value) -> Result<Value, kube::Error> {
        let (api, name) = self.ours(kind, name);
        let patched =
            self.wait(async { api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await })?;
        Ok(serde_json::to_value(patched).unwrap())
    }

    /// A merge patch of an object that may be gone.
    pub fn patch_if_there(&self, kind: &str, name: &str, patch: &Value) {
        match self.patch(kind, name, patch) {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            result => drop(result.expect("it is patched")),
        }
    }

    /// Every Event of the lab's namespace.
    pub fn events(&self) -> Vec<Value> {
        self.events_in(&self.namespace)
    }

    /// Every Event of a namespace; those about objects without one are in `default`.
    pub fn events_in(&self, namespace: &str) -> Vec<Value> {
        let api = self.api("events.k8s.io", "v1", "Event", Some(namespace));
        let list = self.wait(async { api.list(&ListParams::default()).await }).expect("a list");
        list.items.into_iter().map(|item| serde_json::to_value(item).unwrap()).collect()
    }

    pub fn patch_status(&self, kind: &str, name: &str, status: &Value) -> Value {
        let patch = json!({"status": status});
        let (api, name) = self.ours(kind, name);
        let patch = Patch::Merge(&patch);
        let patched = self.wait(async { api.patch_status(name, &PatchParams::default(), &patch).await });
        serde_json::to_value(patched.expect("the status is patched")).unwrap()
    }

    pub fn delete(&self, kind: &str, name: &str) {
        let (api, name) = self.ours(kind, name);
        self.wait(async { api.delete(name, &DeleteParams::default()).await }).expect("it is deleted");
    }

    /// As `delete`, in a manner of its own.
    pub fn delete_with(&self, kind: &str, name: &str, parameters: &DeleteParams) {
        let (api, name) = self.ours(kind, name);
        self.wait(async { api.delete(name, parameters).await }).expect("it is deleted");
    }

    pub fn delete_namespace(&self, name: &str) {
        let api = self.api("", "v1", "Namespace", None);
        self.wait(async { api.delete(name, &DeleteParams::default()).await }).expect("it is deleted");
    }

    #[track_caller]
    pub fn until_namespace_gone(&self, name: &str) {
        let api = self.api("", "v1", "Namespace", None);
        eventually(&format!("namespace {name} is gone"), || {
            self.wait(api.get_opt(name)).expect("a read").is_none().then_some(())
        });
    }

    /// The administrator's guarded edit that opens a Released Database again, as its message prints it.
    pub fn reopen(&self, database: &str, uid: &str) -> Result<(), kube::Error> {
        let edit = json!([
            {"op": "test", "path": "/spec/tenantRef/uid", "value": uid},
            {"op": "remove", "path": "/spec/tenantRef"},
        ]);
        let patch: Patch<()> = Patch::Json(serde_json::from_value(edit).unwrap());
        let (api, name) = self.ours(DATABASE, database);
        self.wait(async { api.patch(name, &PatchParams::default(), &patch).await }).map(drop)
    }

    /// The claims' API.
    pub fn leases(&self) -> Api<DynamicObject> {
        self.api("coordination.k8s.io", "v1", "Lease", Some("covenant-system"))
    }

    /// The claims that are held now: each with its holder.
    pub fn claims(&self) -> Vec<Value> {
        let api = self.api("coordination.k8s.io", "v1", "Lease", Some("covenant-system"));
        let list =
            self.wait(api.list(&ListParams::default().labels(&format!("{GROUP}/claim")))).expect("a list");
        list.items.into_iter().map(|item| serde_json::to_value(item).unwrap()).collect()
    }

    /// Waits until an object is as told.
    #[track_caller]
    pub fn until(&self, kind: &str, name: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let last = std::cell::RefCell::new(Value::Null);
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            eventually(&format!("{kind} {name}: {what}"), || {
                let found = self.find(kind, name)?;
                last.replace(found["status"].clone());
                holds(&found).then_some(found)
            })
        }));
        found.unwrap_or_else(|_| panic!("{kind} {name}: not {what}, but {:#}", last.borrow()))
    }

    /// Waits until Ready has this reason.
    #[track_caller]
    pub fn until_reason(&self, kind: &str, name: &str, reason: &str) -> Value {
        self.until(kind, name, reason, |object| ready(object).is_some_and(|(_, found)| found == reason))
    }

    /// Waits until a Tenant is bound, and checks that both sides agree.
    #[track_caller]
    pub fn until_bound(&self, tenant: &str) -> Value {
        let tenant = self.until_reason(TENANT, tenant, "BindingComplete");
        assert_eq!(tenant["status"]["phase"], "Bound");
        let record = &tenant["status"]["databaseRef"];
        let database = self.get(DATABASE, record["name"].as_str().unwrap());
        assert_eq!(record["uid"], database["metadata"]["uid"]);
        assert_eq!(database["spec"]["tenantRef"]["uid"], tenant["metadata"]["uid"]);
        tenant
    }

    /// Waits until an object is gone.
    #[track_caller]
    pub fn until_gone(&self, kind: &str, name: &str) {
        eventually(&format!("{kind} {name} is gone"), || self.find(kind, name).is_none().then_some(()));
    }

    /// Waits until nothing is written any more.
    pub fn quiet(&self) {
        let mut before = self.rig.writes().len();
        loop {
            std::thread::sleep(Duration::from_millis(700));
            let now = self.rig.writes().len();
            if now == before {
                return;
            }
            before = now;
        }
    }

    /// The writes of the controllers so far, by their names in the protocol.
    pub fn steps(&self) -> Vec<String> {
        let points = self.rig.writes().into_iter().map(|write| write.split(' ').next().unwrap().to_owned());
        points.filter(|point| point != "other").collect()
    }

    /// The test breaks the invariants itself from here on; up to here they held.
    pub fn pardon(&self) {
        self.history.pardon();
    }

    /// Gives a user one of the shipped ClusterRoles.
    fn grant(&self, user: &str, role: &str) {
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": user}, "subjects": [{"kind": "User", "name": user}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}});
        let text = binding.to_string();
        self.plane.kubectl(&["apply", "-f", "-"], Some(&text)).expect("kubectl runs").success();
    }

    /// A JSON patch of a cluster-scoped object of ours by a user who has one of the shipped ClusterRoles.
    pub fn json_patch_as(
        &self,
        user: &str,
        role: &str,
        kind: &str,
        name: &str,
        patch: &Value,
    ) -> Result<Value, kube::Error> {
        self.grant(user, role);
        let request = http::Request::patch(format!("{}/{name}", covenant_path(kind)))
            .header("content-type", "application/json-patch+json")
            .header("impersonate-user", user)
            .body(patch.to_string().into_bytes())
            .unwrap();
        self.wait(self.admin.request::<Value>(request))
    }

    /// Creates one of our cluster-scoped objects as a user who has one of the shipped ClusterRoles.
    pub fn try_create_as(
        &self,
        user: &str,
        role: &str,
        kind: &str,
        name: &str,
        spec: &Value,
    ) -> Result<Value, kube::Error> {
        self.grant(user, role);
        let object = json!({"apiVersion": format!("{GROUP}/v1alpha1"), "kind": kind,
            "metadata": {"name": name}, "spec": spec});
        let (path, body) = (covenant_path(kind), object.to_string().into_bytes());
        let request = http::Request::post(path)
            .header("content-type", "application/json")
            .header("impersonate-user", user)
            .body(body)
            .unwrap();
        self.wait(self.admin.request::<Value>(request))
    }

    /// Waits for quiet and checks every invariant.
    #[track_caller]
    pub fn check(&self) {
        self.quiet();
        self.history.check();
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.kill();
        self.history.stop();
        // Whatever holds an object is taken off it, so that the next test finds nothing.
        for kind in [TENANT, DATABASE, INSTANCE] {
            let everywhere = self.api(GROUP, "v1alpha1", kind, None);
            let Ok(list) = self.wait(everywhere.list(&ListParams::default())) else { continue };
            for object in list {
                let namespace = object.metadata.namespace.clone();
                let api = self.api(GROUP, "v1alpha1", kind, namespace.as_deref());
                let name = object.metadata.name.unwrap_or_default();
                let off = json!({"metadata": {"finalizers": null}});
                let _ = self.wait(api.patch(&name, &PatchParams::default(), &Patch::Merge(&off)));
                let _ = self.wait(api.delete(&name, &DeleteParams::default()));
            }
        }
        let leases = self.api("coordination.k8s.io", "v1", "Lease", Some("covenant-system"));
        let _ = self.wait(leases.delete_collection(&DeleteParams::default(), &ListParams::default()));
        let namespaces = self.api("", "v1", "Namespace", None);
        let _ = self.wait(namespaces.delete(&self.namespace, &DeleteParams::default()));
        assert!(std::thread::panicking() || self.plane.folder().exists());
    }
}

/// A lab with the verified, free Database `orders`.
pub fn with_orders(id: &str) -> Arc<Lab> {
    let lab = Arc::new(Lab::running(id));
    lab.verified();
    lab.database("orders");
    lab.until_reason(DATABASE, "orders", "Available");
    lab
}

/// The address of the collection of a cluster-scoped kind of ours.
fn covenant_path(kind: &str) -> String {
    format!("/apis/{GROUP}/v1alpha1/{}s", kind.to_lowercase())
}

pub fn uid(object: &Value) -> String {
    object["metadata"]["uid"].as_str().expect("a uid").to_owned()
}

/// Status and reason of Ready.
pub fn ready(object: &Value) -> Option<(String, String)> {
    let conditions = object["status"]["conditions"].as_array()?;
    let ready = conditions.iter().find(|condition| condition["type"] == "Ready")?;
    Some((ready["status"].as_str()?.to_owned(), ready["reason"].as_str()?.to_owned()))
}

pub fn message(object: &Value) -> String {
    let conditions = object["status"]["conditions"].as_array();
    let ready = conditions.into_iter().flatten().find(|condition| condition["type"] == "Ready");
    ready.and_then(|ready| ready["message"].as_str()).unwrap_or_default().to_owned()
}
