//! One of several replicas acts.

use serde_json::Value;

use super::{Controller, get};
use crate::support::eventually;

fn holder() -> Option<String> {
    let lease = get(&["leases", "-n", "covenant-system"]);
    let items = lease["items"].as_array()?;
    let ours = items.iter().find(|lease| lease["metadata"]["name"] == "covenant-controller")?;
    ours["spec"]["holderIdentity"].as_str().map(str::to_owned)
}

fn leads(controller: &Controller) -> bool {
    controller.metric("covenant_leader") > 0.0
}

#[test]
fn a_second_one_waits_and_takes_over() {
    // They look at a namespace without contracts, so they are in nobody's way.
    let arguments = ["--watch-namespace", "kube-public"];
    let first = Controller::start("first", &arguments);
    eventually("the first leads", || leads(&first).then_some(()));
    let second = Controller::start("second", &arguments);
    eventually("the second has seen the Lease", || {
        second.log().contains("waiting for the Lease").then_some(())
    });
    assert_eq!(second.http("/readyz"), (200, "ok".to_owned()), "whoever waits is ready");
    assert!(!leads(&second));

    // In order: the Lease is given up, and nobody waits for it to run out.
    assert_eq!(first.stop(), Some(0));
    eventually("the second leads", || leads(&second).then_some(()));
    let lease = get(&["lease", "covenant-controller", "-n", "covenant-system"]);
    assert_eq!(lease["spec"]["leaseTransitions"], Value::from(1));
    assert!(holder().is_some_and(|holder| holder.starts_with("controller-second")));

    // Without warning: the Lease runs out first.
    let third = Controller::start("third", &arguments);
    second.kill();
    eventually("the third leads", || leads(&third).then_some(()));

    // Somebody takes it: who leads must not go on.
    let patch = r#"{"spec":{"holderIdentity":"somebody else"}}"#;
    super::kubectl(&[
        "patch",
        "lease",
        "covenant-controller",
        "-n",
        "covenant-system",
        "--type=merge",
        "-p",
        patch,
    ]);
    let status =
        third.plane.wait_for_process(&third.name, std::time::Duration::from_secs(30)).expect("it ends");
    assert_eq!(status.code, Some(1));
    assert!(
        third.log().contains("leadership is lost: the Lease is now held by \"somebody else\""),
        "{}",
        third.log()
    );
}
