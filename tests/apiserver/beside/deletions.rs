//! Deletions of what is in use are refused before anything is marked; the rest passes, and so does everything while the
//! webhook is away.

use covenant::controlplane::supervise::StopMode;
use covenant::controlplane::{ProcessRequest, Signal};
use serde_json::{Value, json};

use super::{Cluster, cluster, database, dynamic, existing, instance, refused};
use crate::installation::Installation;
use crate::support::{Finished as _, eventually};

/// A controller that runs; dropped, it is killed.
struct Controller(&'static Installation);

impl Drop for Controller {
    fn drop(&mut self) {
        self.0.plane.signal_process("controller", Signal::Kill).unwrap();
        self.0.plane.wait_for_process("controller", std::time::Duration::from_secs(30)).unwrap();
    }
}

impl Cluster {
    /// Starts the controller as it runs in production, with its own service account.
    fn start_controller(&self) -> Controller {
        let kubeconfig =
            self.plane.kubeconfig_for_service_account("covenant-system", "covenant-controller").unwrap();
        let args = vec![
            format!("--kubeconfig={}", kubeconfig.display()),
            "--metrics-listen=127.0.0.1:0".to_owned(),
            "--leader-elect=false".to_owned(),
        ];
        let request = ProcessRequest {
            name: "controller".to_owned(),
            program: env!("CARGO_BIN_EXE_covenant-controller").into(),
            args,
            env: std::collections::BTreeMap::new(),
            log: self.plane.log_file("controller"),
            stop: StopMode::Immediate,
        };
        self.plane.start_process(request).unwrap();
        Controller(self.covenant)
    }

    fn get(&self, arguments: &[&str]) -> Option<Value> {
        let output = self.kubectl(&[&["get", "-o", "json"], arguments].concat());
        output.is_success().then(|| serde_json::from_str(&output.stdout).unwrap())
    }

    fn delete(&self, arguments: &[&str]) -> covenant::controlplane::Output {
        self.kubectl(&[&["delete", "--wait=false"], arguments].concat())
    }
}

fn denied(what: &str) -> String {
    format!(
        "Error from server (Forbidden): admission webhook \"protect.database.ayatori.ddupan.top\" denied the request: {what}\n"
    )
}

fn bound_text(database: &str) -> String {
    denied(&format!(
        "PostgreSQLDatabase \"{database}\" is bound and in use; delete the PostgreSQLTenant that spec.tenantRef names first, \
         then delete this one if its reclaim policy has kept it"
    ))
}

/// With a real controller, which binds the Tenant; its writes of status and finalizers never come to the webhook.
#[test]
fn what_the_controller_has_bound_is_protected_until_its_tenant_goes() {
    let cluster = cluster();
    let shop = cluster.namespace("protected");
    let controller = cluster.start_controller();
    cluster.create(&instance("main")).success();
    let uid = cluster.created(&dynamic(&shop, "bound", "main"));
    let name = format!("tenant-{uid}");
    eventually("the Tenant is bound", || {
        let tenant = cluster.get(&["postgresqltenant", "bound", "-n", &shop])?;
        (tenant["status"]["phase"] == "Bound").then_some(())
    });
    for dry_run in [&["--dry-run=server"][..], &[]] {
        let printed = refused("the Database's deletion", || {
            cluster.delete(&[&["postgresqldatabase", &name], dry_run].concat())
        });
        assert_eq!(printed, bound_text(&name));
        let printed = refused("the Instance's deletion", || {
            cluster.delete(&[&["postgresqlinstance", "main"], dry_run].concat())
        });
        let text = format!(
            "PostgreSQLInstance \"main\" is still referred to by 1 PostgreSQLDatabase (\"{name}\"); delete them first"
        );
        assert_eq!(printed, denied(&text));
    }
    let found = cluster.get(&["postgresqldatabase", &name]).unwrap();
    assert_eq!(found["metadata"]["deletionTimestamp"], Value::Null, "nothing was marked");

    // A Tenant may always go, here with its namespace.
    cluster.kubectl(&["delete", "namespace", &shop, "--wait=false"]).success();
    eventually("the namespace is gone", || cluster.get(&["namespace", &shop]).is_none().then_some(()));
    let phase = eventually("the Database is released", || {
        let database = cluster.get(&["postgresqldatabase", &name])?;
        let phase = database["status"]["phase"].as_str()?.to_owned();
        (phase == "Released").then_some(phase)
    });
    assert_eq!(phase, "Released");
    eventually("a released Database may be deleted", || {
        cluster.delete(&["postgresqldatabase", &name]).is_success().then_some(())
    });
    eventually("it is gone", || cluster.get(&["postgresqldatabase", &name]).is_none().then_some(()));
    eventually("an Instance that nothing refers to may be deleted", || {
        cluster.delete(&["postgresqlinstance", "main"]).is_success().then_some(())
    });
    drop(controller);

    assert_eq!(cluster.reviews("PostgreSQLTenant", "bound"), ["create allowed"]);
    let mut of_database = cluster.reviews("PostgreSQLDatabase", &name);
    of_database.retain(|review| !review.starts_with("delete"));
    assert_eq!(of_database, ["create allowed"], "status and finalizers are never asked about");
}

#[test]
fn only_what_is_in_use_is_protected_and_nothing_while_the_webhook_is_away() {
    let cluster = cluster();
    let shop = cluster.namespace("unprotected");
    let held = |mut object: Value| {
        object["metadata"]["finalizers"] = json!(["covenant.test/hold"]);
        object
    };
    cluster.create(&instance("main")).success();
    cluster.create(&instance("unused")).success();
    let uid = cluster.created(&held(database("legacy", "main", "old", "owner")));
    cluster.create(&database("free", "main", "free", "free")).success();
    let user = existing(&shop, "legacy", "legacy");
    cluster.create(&user).success();
    cluster.create(&dynamic(&shop, "waiting", "main")).success();

    // A Tenant that only asks for a Database does not hold it.
    cluster.delete(&["postgresqldatabase", "legacy", "--dry-run=server"]).success();
    cluster.set_status(&user, &json!({"phase": "Bound", "databaseRef": {"name": "legacy", "uid": uid}}));
    let delete = |more: &[&str]| cluster.delete(&[&["postgresqldatabase", "legacy"], more].concat());
    assert_eq!(refused("the Database's deletion", || delete(&["--dry-run=server"])), bound_text("legacy"));
    let printed = cluster.delete(&["postgresqlinstance", "main"]).failure();
    let text = "PostgreSQLInstance \"main\" is still referred to by 2 PostgreSQLDatabases (\"free\", \"legacy\") and 1 \
                PostgreSQLTenant without a database yet; delete them first";
    assert_eq!(printed, denied(text));
    cluster.delete(&["postgresqldatabase", "free"]).success();
    cluster.delete(&["postgresqlinstance", "unused"]).success();
    cluster.delete(&["postgresqltenant", "legacy", "waiting", "-n", &shop, "--dry-run=server"]).success();

    cluster.kill_webhook();
    delete(&[]).success();
    cluster.delete(&["postgresqlinstance", "main"]).success();
    let found = cluster.get(&["postgresqldatabase", "legacy"]).expect("its finalizer is the real guard");
    assert!(found["metadata"]["deletionTimestamp"].is_string());
    cluster.start_webhook();
    cluster.ready();
    // What is being deleted anyway is not refused a second time.
    delete(&[]).success();
}
