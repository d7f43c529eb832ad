//! The scenarios that a Tenant's plan alone decides: a world as a crash, a race or an edit leaves it, and the one step.

use super::build::*;
use crate::binding::{
    Claims, Database, Listing, Lookup, Namespace, ObservedDatabase, Outcome, Step, StepName, Tenant,
    TenantWorld, plan_tenant,
};

macro_rules! scenarios {
    ($($name:ident: $world:expr => $step:expr;)+) => {
        $(#[test]
        fn $name() {
            assert_eq!(tenant_step(&$world), $step);
        })+
    };
}

pub(super) fn alone(tenant: Tenant) -> TenantWorld {
    world(tenant, vec![])
}

pub(super) fn with(tenant: Tenant, database: Database) -> TenantWorld {
    world(tenant, vec![database.seen()])
}

/// A world in which `legacy` was verified and holds its claims.
pub(super) fn wanting_legacy(tenant: Tenant, database: Database) -> TenantWorld {
    TenantWorld { claims: held_by("d9"), observation: verified(), ..with(tenant, database) }
}

pub(super) fn claimed(world: TenantWorld) -> TenantWorld {
    TenantWorld { claims: held_by("d1"), ..world }
}

/// The role is somebody else's, who lives; the database is ours or free.
pub(super) fn role_taken(world: TenantWorld, database: Lookup<crate::binding::Claim>) -> TenantWorld {
    let role = claim(&claim_names().role, "d5", Lookup::Found("d5".to_owned()));
    TenantWorld { claims: Claims { database, role }, ..world }
}

pub(super) fn after(step: StepName, outcome: Outcome, world: TenantWorld) -> TenantWorld {
    TenantWorld { tried: Some(tried(step, outcome)), ..world }
}

pub(super) fn refused() -> Outcome {
    Outcome::Refused { message: "exceeded quota".to_owned() }
}

pub(super) fn other() -> Database {
    available().carrying("t2").on_record("t2")
}

pub(super) fn bound() -> TenantWorld {
    claimed(with(tenant().bound_to("tenant-t1", "d1"), made().on_record("t1")))
}

scenarios! {
    p01_before_w0: alone(tenant()) => "AddTenantFinalizer";
    p01_before_w0_existing: wanting_legacy(tenant_for_legacy(), available()) => "AddTenantFinalizer";
    p02_after_w0: alone(tenant().protected()) => "BeginBinding Binding/Binding";
    p03_after_w1: alone(tenant().binding()) => "CreateDatabase";
    p03_after_w1_existing: wanting_legacy(tenant_for_legacy().binding(), available()) => "BindDatabase";
    p05_after_w2_own_uid_is_enough: claimed(with(tenant().binding(), made())) => "CompleteBinding Bound/BindingComplete";
    p05_after_w2_existing: {
        // No longer Available, and the observed generation lags.
        let mut database = available().carrying("t1");
        database.metadata.generation = 2;
        wanting_legacy(tenant_for_legacy().binding(), database)
    } => "CompleteBinding Bound/BindingComplete";
    p06_reply_lost_but_applied: claimed(after(
        StepName::CreateDatabase, Outcome::Changed, with(tenant().binding(), made())
    )) => "CompleteBinding Bound/BindingComplete";
    p07_reply_lost_and_not_applied: after(StepName::CreateDatabase, Outcome::Changed, alone(tenant().binding()))
        => "CreateDatabase";
    p08_after_w3: claimed(with(tenant().binding(), made().on_record("t1"))) => "CompleteBinding Bound/BindingComplete";
    p13_name_is_taken_by_ourselves: with(tenant().binding(), made()) => "TakeClaim";
    p14_squatter: with(tenant().binding(), Database { tenant_ref: None, ..made() }) => "BackToPending Pending/Conflict";
    p15_own_but_deleting: claimed(with(tenant().binding(), made().deleting())) => "ReportStatus Binding/DatabaseDeleting";
    p16_refused: after(StepName::CreateDatabase, refused(), alone(tenant().binding()))
        => "BackToPending Pending/AdmissionDenied";
    p16_next_pass_probes: alone(tenant().protected().phase("Pending", "AdmissionDenied")) => "dry CreateDatabase";
    p16_probe_passes: after(
        StepName::CreateDatabase, Outcome::Admitted, alone(tenant().protected().phase("Pending", "AdmissionDenied"))
    ) => "BeginBinding Binding/Binding";
    p16_probe_unanswered: after(
        StepName::CreateDatabase, Outcome::Unavailable, alone(tenant().protected().phase("Pending", "AdmissionDenied"))
    ) => "Wait";
    p17_deleted_before_w4_is_begun_again: alone(tenant().binding().phase("Binding", "DatabaseDeleting"))
        => "BeginBinding Binding/Binding";
    p17_a_notice_is_taken_back_before_w4: claimed(
        with(tenant().binding().phase("Binding", "DatabaseDeleting"), made())
    ) => "BeginBinding Binding/Binding";
    p18_w3_fails_for_ever: claimed(with(tenant().binding(), made())) => "CompleteBinding Bound/BindingComplete";
    p20_only_what_is_stored_counts: with(tenant().binding(), Database { database: "x".to_owned(), ..made() })
        => "BackToPending Pending/Conflict";
    p22_by_hand_first_w0: with(tenant_for_legacy(), legacy().carrying("t1")) => "AddTenantFinalizer";
    p22_by_hand_then_w1: with(tenant_for_legacy().protected(), legacy().carrying("t1"))
        => "BeginBinding Binding/Binding";
    p22_by_hand_then_the_databases_finalizer: with(tenant_for_legacy().binding(), legacy().carrying("t1"))
        => "AddDatabaseFinalizer";
    p24_webhook_lags: after(StepName::CreateDatabase, Outcome::NotSeenYet { times: 2 }, alone(tenant().binding()))
        => "Wait";
    p24_webhook_lags_for_long: after(
        StepName::CreateDatabase, Outcome::NotSeenYet { times: 3 }, alone(tenant().binding())
    ) => "ReportStatus Binding/AdmissionUnavailable";

    r01_loser: wanting_legacy(tenant_for_legacy(), other()) => "ReportStatus Pending/Conflict";
    r02_loser_is_deleted: wanting_legacy(tenant_for_legacy().binding().deleting(), other()) => "RemoveTenantFinalizer";
    r03_released_is_not_free: wanting_legacy(
        tenant_for_legacy().phase("Pending", "Conflict"), other().phase("Released", "Released")
    ) => "ReportStatus Pending/NotAvailable";
    r04_free_again: wanting_legacy(tenant_for_legacy().phase("Pending", "NotAvailable"), available())
        => "AddTenantFinalizer";
    r05_gone: alone(tenant_for_legacy().phase("Pending", "Conflict")) => "ReportStatus Pending/NotAvailable";
    r06_the_namespace_is_part_of_the_identity: {
        let mut database = made();
        database.tenant_ref.as_mut().unwrap().namespace = "elsewhere".to_owned();
        with(tenant().binding(), database)
    } => "BackToPending Pending/Conflict";
    r10_instance_made_anew: {
        let mut database = made().on_record("t1");
        database.status.instance_uid = Some("i0".to_owned());
        with(tenant().binding(), database)
    } => "ReportStatus Binding/InstanceIdentityChanged";
    r11_live_read_decides: wanting_legacy(tenant_for_legacy().binding(), other()) => "BackToPending Pending/Conflict";
    r13_made_for_somebody_else: {
        let mut tenant = tenant_for_legacy();
        tenant.target = crate::binding::Target::Existing { name: "tenant-t2".to_owned() };
        let mut database = made().carrying("t2");
        database.metadata.name = "tenant-t2".to_owned();
        with(tenant, database)
    } => "ReportStatus Pending/Conflict";
    r14_deleted_during_w2: with(tenant_for_legacy().binding(), available().carrying("t1").deleting())
        => "ReportStatus Binding/DatabaseDeleting";
    r15_a_definite_loss_unfreezes: wanting_legacy(tenant_for_legacy().binding(), other())
        => "BackToPending Pending/Conflict";
    r16_judged_first: role_taken(alone(tenant()), Lookup::Absent) => "ReportStatus Pending/Conflict";
    r16_loser_deletes_what_was_never_used: role_taken(
        with(tenant().binding(), made()), claim(&claim_names().database, "d1", Lookup::Unknown)
    ) => "DeleteDatabase";
    r16_loser_goes_back: role_taken(with(tenant().binding(), made().deleting()), Lookup::Absent)
        => "BackToPending Pending/Conflict";
    r16_loser_with_work_begun_deletes_nothing: role_taken(
        with(tenant().binding(), made().attempted()), claim(&claim_names().database, "d1", Lookup::Unknown)
    ) => "BackToPending Pending/Conflict";
    r17_two_carry_the_uid: world(tenant().binding(), vec![made().seen(), legacy().carrying("t1").seen()])
        => "BackToPending Pending/Conflict";
    r17_bound_and_another_carries: world(
        tenant().bound_to("tenant-t1", "d1"), vec![made().seen(), legacy().carrying("t1").seen()]
    ) => "ReportStatus Bound/Conflict";

    c01_before_the_claims: with(tenant().binding(), made()) => "TakeClaim";
    c02_between_the_claims: TenantWorld {
        claims: Claims { role: Lookup::Absent, ..held_by("d1") }, ..with(tenant().binding(), made())
    } => "TakeClaim";
    c03_after_the_claims: claimed(with(tenant().binding(), made())) => "CompleteBinding Bound/BindingComplete";
    c06_stale_claim: TenantWorld {
        claims: Claims { database: claim("x", "d0", Lookup::Absent), ..free() }, ..with(tenant().binding(), made())
    } => "DropStaleClaim";
    c06_stale_claim_does_not_block: TenantWorld {
        claims: Claims { database: claim("x", "d0", Lookup::Absent), ..free() }, ..alone(tenant())
    } => "AddTenantFinalizer";
    c06_a_holder_that_cannot_be_read_is_not_gone: TenantWorld {
        claims: Claims { database: claim("x", "d0", Lookup::Unknown), ..free() }, ..with(tenant().binding(), made())
    } => "Wait";

    d01_before_w0: alone(tenant().deleting()) => "Idle";
    d02_after_w0: alone(tenant().protected().deleting()) => "RemoveTenantFinalizer";
    d03_after_w1: alone(tenant().binding().deleting()) => "RemoveTenantFinalizer";
    d03_unless_the_list_failed: TenantWorld {
        carrying: Listing::Unknown, ..alone(tenant().binding().deleting())
    } => "Wait";
    d04_half_bound: with(tenant().binding().deleting(), made()) => "RecordRelease Releasing/Releasing";
    d05_w2_landed_late: with(tenant().protected().deleting(), made()) => "RecordRelease Releasing/Releasing";
    d06_bound: with(tenant().bound_to("tenant-t1", "d1").deleting(), made().on_record("t1"))
        => "RecordRelease Releasing/Releasing";
    d08_after_x3: with(tenant().bound_to("tenant-t1", "d1").deleting(), made().released("Retain", true))
        => "RemoveTenantFinalizer";
    d13_namespace_terminating: TenantWorld { namespace: Namespace::Terminating, ..alone(tenant()) } => "Idle";
    d17_no_server_is_asked: TenantWorld {
        instance: Lookup::Unknown, claims: Claims::default(),
        ..with(tenant().bound_to("tenant-t1", "d1").deleting(), made().on_record("t1"))
    } => "RecordRelease Releasing/Releasing";
    d18_delivery_that_cannot_be_read_waits: TenantWorld {
        delivered: Listing::Unknown, ..alone(tenant().binding().deleting())
    } => "Wait";
    d19_never_owned: wanting_legacy(
        tenant_for_legacy().protected().phase("Pending", "Conflict").deleting(), other()
    ) => "RemoveTenantFinalizer";
    d21_namespace_terminating_while_binding: TenantWorld {
        namespace: Namespace::Terminating, ..alone(tenant().binding())
    } => "Idle";
    d21_namespace_not_known: TenantWorld { namespace: Namespace::Unknown, ..alone(tenant()) } => "Wait";

    e02_database_deleting: with(tenant().bound_to("tenant-t1", "d1"), made().on_record("t1").deleting())
        => "ReportStatus Bound/DatabaseDeleting";
    e03_lost: alone(tenant().bound_to("tenant-t1", "d1")) => "ReportStatus Lost/DatabaseLost";
    e03_not_because_a_read_failed: TenantWorld {
        named: Lookup::Unknown, ..alone(tenant().bound_to("tenant-t1", "d1"))
    } => "Wait";
    e04_the_name_is_not_the_database: wanting_legacy(
        tenant_for_legacy().bound_to("legacy", "d0").phase("Lost", "DatabaseLost"), available()
    ) => "ReportStatus Lost/DatabaseLost";
    e05_made_anew_between_w2_and_w4: with(tenant_for_legacy().binding(), legacy())
        => "BackToPending Pending/NotAvailable";
    e06_tenant_ref_removed: with(
        tenant().bound_to("tenant-t1", "d1"), Database { tenant_ref: None, ..made().on_record("t1") }
    ) => "ReportStatus Bound/Conflict";
    e07_tenant_ref_replaced_the_old: with(tenant().bound_to("tenant-t1", "d1"), made().carrying("t2"))
        => "ReportStatus Bound/Conflict";
    e07_tenant_ref_replaced_the_new: with(
        Tenant { target: tenant_for_legacy().target, ..tenant() }.binding(), legacy().on_record("t2").carrying("t1")
    ) => "BackToPending Pending/Conflict";
    e07_replaced_and_the_record_lost: world(
        tenant_for_legacy().binding(), vec![legacy().carrying("t1").seen_with(&["t2"])]
    ) => "BackToPending Pending/Conflict";
    e15_instance_deleting: {
        let mut instance = instance();
        instance.metadata.is_deleting = true;
        TenantWorld { instance: Lookup::Found(instance), ..alone(tenant()) }
    } => "ReportStatus Pending/InstanceDeleting";
    instance_missing: TenantWorld { instance: Lookup::Absent, ..alone(tenant()) }
        => "ReportStatus Pending/InstanceNotFound";

    f01_released: wanting_legacy(tenant_for_legacy(), other().phase("Released", "Released"))
        => "ReportStatus Pending/NotAvailable";
    f02_reopened_but_not_archived: wanting_legacy(
        tenant_for_legacy(), Database { tenant_ref: None, ..available().released("Retain", true) }
    ) => "ReportStatus Pending/NotAvailable";
    f09_a_restored_database_holds_the_name: role_taken(alone(tenant()), Lookup::Absent)
        => "ReportStatus Pending/Conflict";
    f10_restored_status: with(tenant().bound_to("tenant-t1", "d0"), Database { tenant_ref: None, ..made() })
        => "ReportStatus Lost/DatabaseLost";
    f11_instance_made_anew: {
        let mut database = made().on_record("t1");
        database.status.instance_uid = Some("i0".to_owned());
        with(tenant().bound_to("tenant-t1", "d1"), database)
    } => "ReportStatus Bound/InstanceIdentityChanged";

    g03_webhook_away: after(StepName::CreateDatabase, Outcome::Unavailable, alone(tenant().binding()))
        => "ReportStatus Binding/AdmissionUnavailable";
    g03_webhook_back: alone(tenant().binding().phase("Binding", "AdmissionUnavailable")) => "CreateDatabase";
    g04_verb_missing: after(
        StepName::BindDatabase, refused(), wanting_legacy(tenant_for_legacy().binding(), available())
    ) => "BackToPending Pending/AdmissionDenied";
    g04_claim_refused: after(StepName::TakeClaim, refused(), with(tenant().binding(), made()))
        => "ReportStatus Binding/AdmissionDenied";

    h02_forged_record: wanting_legacy(tenant_for_legacy().bound_to("legacy", "d9"), other())
        => "ReportStatus Bound/Conflict";
    h03_status_alone_is_no_proof: TenantWorld {
        observation: crate::binding::Observation::NotYet, ..wanting_legacy(tenant_for_legacy(), available())
    } => "ReportStatus Pending/NotAvailable";
    h03_nor_without_claims: TenantWorld { claims: free(), ..wanting_legacy(tenant_for_legacy(), available()) }
        => "ReportStatus Pending/NotAvailable";
    h10_role_of_another: role_taken(alone(tenant()), Lookup::Absent) => "ReportStatus Pending/Conflict";
    undecodable_spec: alone(Tenant {
        target: crate::binding::Target::Invalid, fault: Some("spec: bad".to_owned()), ..tenant()
    }) => "ReportStatus Pending/InvalidSpec";
    n9_status_lost_and_spec_changed: with(
        Tenant { target: tenant_for_legacy().target, ..tenant() }.protected(), made().on_record("t1")
    ) => "ReportStatus Pending/Conflict";
    n9_a_record_of_another_blocks: TenantWorld {
        claims: held_by("d9"), observation: verified(),
        ..world(tenant_for_legacy(), vec![available().seen_with(&["t2"])])
    } => "ReportStatus Pending/NotAvailable";
    a_false_record_of_release_is_left_to_the_database: with(tenant().binding(), made().released("Retain", true))
        => "Idle";
}

#[test]
fn unknown_reads_change_nothing_n6() {
    let known = claimed(with(tenant().binding(), made()));
    let unknown: [fn(TenantWorld) -> TenantWorld; 6] = [
        |world| TenantWorld { tenant: Lookup::Unknown, ..world },
        |world| TenantWorld { carrying: Listing::Unknown, ..world },
        |world| TenantWorld { named: Lookup::Unknown, ..world },
        |world| TenantWorld { instance: Lookup::Unknown, ..world },
        |world| TenantWorld { claims: Claims::default(), ..world },
        |world| {
            let database = world.named.found().unwrap().database.clone();
            let seen = ObservedDatabase { database, referrers: Listing::Unknown };
            TenantWorld { named: Lookup::Found(seen), ..world }
        },
    ];
    for forget in unknown {
        assert_eq!(plan_tenant(&forget(known.clone()), now()), Step::Wait);
    }
}
