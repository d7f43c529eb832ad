//! SHAPE: what a contract must be, judged from the contract alone. Every fault is found in one pass.

use serde_json::Value;

use super::{environment, keys, references};
use crate::api::secret_contract::effective::EffectiveContract;
use crate::rules::field::FieldPath;
use crate::rules::finding::{Finding, Findings, Shown};
use crate::rules::id::RuleId;
use crate::rules::{Installation, limits};

/// The fields of the kind, in the order of its table: findings are told in this order.
pub const ORDER: &[&str] = &[
    "metadata",
    "spec",
    "spec.secretRef",
    "spec.secretRef.name",
    "spec.requiredKeys",
    "spec.requiredKeys.name",
    "spec.requiredKeys.required",
    "spec.requiredKeys.nonEmpty",
    "spec.requiredKeys.minLength",
    "spec.requiredKeys.maxLength",
    "spec.requiredKeys.pattern",
    "spec.requiredKeys.format",
    "spec.requiredKeys.envName",
    "spec.externalSecretRef",
    "spec.externalSecretRef.name",
    "spec.externalSecretRef.apiVersion",
    "spec.workloadRefs",
    "spec.workloadRefs.apiVersion",
    "spec.workloadRefs.kind",
    "spec.workloadRefs.name",
    "spec.workloadRefs.containers",
    "spec.workloadRefs.includeInitContainers",
    "spec.workloadRefs.consumption",
    "spec.injection",
    "spec.injection.mode",
    "spec.rotation",
    "spec.rotation.restartOnChange",
    "spec.rotation.maxAge",
    "spec.rotation.rotatedAtAnnotation",
    "spec.policy",
    "spec.policy.requireExternalSecretReady",
    "spec.policy.requireWorkloadReference",
    "spec.policy.requireRotationPolicy",
    "status",
];

/// Every rule beyond the schema.
pub fn shape(object: &Value, installation: &Installation) -> Findings {
    let contract = EffectiveContract::of_object(object);
    let mut findings = Findings::new();
    references::check(&contract, installation, &mut findings);
    // More keys than the schema allows are one fault, told by the schema; each of them is not judged as well.
    for key in contract.keys.iter().filter(|key| key.index < limits::KEYS) {
        keys::check(key, &mut findings);
    }
    environment::check(&contract, &mut findings);
    later_versions(&contract, &mut findings);
    policy(object, &contract, &mut findings);
    findings
}

/// Fields that a later version gives a meaning to.
fn later_versions(contract: &EffectiveContract<'_>, findings: &mut Findings) {
    if !contract.injection_mode.is_known() {
        let shown = Shown::text(contract.injection_mode.as_str());
        let field = FieldPath::dotted("spec.injection.mode");
        let detail = "must be Disabled in this version";
        findings.push(Finding::invalid(RuleId::ContractInjectionMode, field, shown, detail));
    }
    if contract.restart_on_change {
        let field = FieldPath::dotted("spec.rotation.restartOnChange");
        let detail = "must be false in this version";
        findings.push(Finding::invalid(RuleId::ContractRestartOnChange, field, Shown::plain(true), detail));
    }
}

/// A policy that requires a check must find that check configured. A block that is there but broken has its own fault,
/// so only an absent one is reported here.
fn policy(object: &Value, contract: &EffectiveContract<'_>, findings: &mut Findings) {
    let is_set = |pointer: &str| object.pointer(pointer).is_some_and(|value| !value.is_null());
    let has_workloads = object
        .pointer("/spec/workloadRefs")
        .is_some_and(|refs| refs.as_array().is_none_or(|refs| !refs.is_empty()))
        && is_set("/spec/workloadRefs");
    let policy = &contract.policy;
    let mut require = |required: bool, configured: bool, field: &'static str, by: &str| {
        if required && !configured {
            let detail = format!("required by policy.{by}");
            let field = FieldPath::dotted(field);
            findings.push(Finding::required(RuleId::ContractPolicyConfig, field, detail));
        }
    };
    require(
        policy.require_external_secret_ready,
        is_set("/spec/externalSecretRef"),
        "spec.externalSecretRef",
        "requireExternalSecretReady",
    );
    require(
        policy.require_workload_reference,
        has_workloads,
        "spec.workloadRefs",
        "requireWorkloadReference",
    );
    require(
        policy.require_rotation_policy,
        is_set("/spec/rotation/maxAge"),
        "spec.rotation.maxAge",
        "requireRotationPolicy",
    );
}
