//! The protocol when nothing goes wrong: its order, its budget, its quiet.

use std::sync::Arc;

use super::lab::{DATABASE, INSTANCE, Lab, TENANT, ready, uid};

#[test]
fn a_new_database_is_bound_in_the_order_of_the_protocol() {
    let lab = Arc::new(Lab::running("undisturbed-new"));
    let tenant = lab.tenant("shop");
    let bound = lab.until_bound("shop");
    lab.check();
    let steps = lab.steps();
    assert_eq!(
        steps
            .iter()
            .filter(|step| *step != "database-status" && !step.starts_with("instance"))
            .collect::<Vec<_>>(),
        ["W0", "W1", "W2", "claim-database", "claim-role", "W4", "W3"],
        "{steps:?}"
    );
    let name = format!("tenant-{}", uid(&tenant));
    assert_eq!(bound["status"]["databaseRef"]["name"], name);
    let database = lab.get(DATABASE, &name);
    assert_eq!(database["status"]["phase"], "Bound");
    assert_eq!(ready(&database), Some(("False".into(), "ServerNotObserved".into())));
    assert_eq!(lab.claims().len(), 2);
    lab.restart();
    lab.check();
    assert_eq!(lab.steps(), steps, "a restart writes nothing");

    lab.delete(TENANT, "shop");
    lab.until_gone(TENANT, "shop");
    lab.until(DATABASE, &name, "Released", |database| database["status"]["phase"] == "Released");
    lab.check();
    lab.delete(DATABASE, &name);
    lab.until_gone(DATABASE, &name);
    lab.delete(INSTANCE, "main");
    lab.until_gone(INSTANCE, "main");
}
