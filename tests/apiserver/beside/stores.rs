//! What the webhook knows of the cluster: it is not ready before it knows all, and goes on after the API server was away.

use std::time::Duration;

use covenant::controlplane::KUBE_APISERVER;
use serde_json::json;

use super::{GROUP, cluster, database, dynamic, instance, refused};
use crate::support::{Finished as _, eventually};

/// An account that may not read Tenants yet: the list that is missing is named, and the rest is not.
#[test]
fn the_webhook_is_not_ready_before_all_lists_are_in() {
    let cluster = cluster();
    cluster.create(&database("legacy", "main", "old", "owner")).success();
    let role = |resources: &[&str]| {
        let rules =
            json!([{"apiGroups": [GROUP], "resources": resources, "verbs": ["get", "list", "watch"]}]);
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "half"},
            "rules": rules})
    };
    cluster.apply(&role(&["postgresqldatabases", "postgresqlinstances"]));
    cluster.kubectl(&["create", "serviceaccount", "half", "-n", "covenant-system"]).success();
    let binding = ["create", "clusterrolebinding", "half", "--clusterrole=half"];
    cluster.kubectl(&[&binding[..], &["--serviceaccount=covenant-system:half"]].concat()).success();
    let half = cluster.plane.kubeconfig_for_service_account("covenant-system", "half").unwrap();
    let _other = cluster.with_webhook_of(&half);
    let (code, text) = eventually("only Tenants are missing", || {
        let ok = |check: &str| Some(cluster.webhook_health(&format!("/readyz/{check}"))?.0 == 200);
        let others = ok("serving")? && ok("postgresqldatabases")? && ok("postgresqlinstances")?;
        let tenants = cluster.webhook_health("/readyz/postgresqltenants")?;
        (others && tenants.1.contains("cannot list")).then(|| cluster.webhook_health("/readyz"))?
    });
    assert_eq!(code, 503, "{text}");
    assert!(
        text.contains("[-]postgresqltenants failed") && text.contains("cannot list postgresqltenants"),
        "{text}"
    );
    assert!(
        text.contains("[+]postgresqldatabases ok") && text.contains("[+]postgresqlinstances ok"),
        "{text}"
    );
    // Called all the same, it says nothing of what it cannot know, and still refuses what it sees.
    cluster.wait_until_asked();
    let shop = cluster.namespace("half");
    let output = cluster.rehearse(&dynamic(&shop, "orders", "missing"));
    assert!(output.is_success() && output.stderr.is_empty(), "{output:?}");
    let printed = cluster.rehearse(&database("new", "main", "old", "free")).failure();
    assert!(printed.contains("spec.database: Duplicate value"), "{printed}");
    cluster.apply(&role(&["postgresqldatabases", "postgresqlinstances", "postgresqltenants"]));
    eventually("ready once all is listed", || (cluster.webhook_health("/readyz")?.0 == 200).then_some(()));
    let output = cluster.rehearse(&dynamic(&shop, "orders", "missing"));
    assert_eq!(output.stderr, "Warning: spec.provision.instanceRef.name: Not found: \"missing\"\n");
}

#[test]
fn the_stores_survive_a_restart_of_the_api_server() {
    let cluster = cluster();
    let shop = cluster.namespace("restart");
    for object in [instance("main"), database("before", "main", "before", "before")] {
        cluster.create(&object).success();
    }
    refused("a name taken before", || cluster.rehearse(&dynamic(&shop, "before", "main")));
    cluster.plane.stop_process(KUBE_APISERVER, Duration::from_mins(1)).unwrap();
    assert_eq!(cluster.webhook_health("/readyz").unwrap().0, 200, "what is known stays known");
    cluster.plane.start_process_again(KUBE_APISERVER).unwrap();
    cluster.plane.wait_until_ready().unwrap();
    cluster.wait_until_asked();
    let known = cluster.rehearse(&dynamic(&shop, "before", "main")).failure();
    assert!(known.contains("Duplicate value: \"before\""), "{known}");
    cluster.create(&database("after", "main", "after", "after")).success();
    refused("a name taken after", || cluster.rehearse(&dynamic(&shop, "after", "main")));
    cluster.kubectl(&["delete", "postgresqldatabase", "before"]).success();
    eventually("a name that is free again passes", || {
        cluster.rehearse(&dynamic(&shop, "before", "main")).is_success().then_some(())
    });
}
