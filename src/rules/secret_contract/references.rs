//! SHAPE of what a contract refers to: Secret, ExternalSecret, workloads, rotation.

use crate::api::raw::Indexed;
use crate::api::secret_contract::effective::{EffectiveContract, EffectiveWorkload};
use crate::format::{dns_label, dns_subdomain, qualified_name};
use crate::go::duration;
use crate::rules::field::FieldPath;
use crate::rules::finding::{Finding, Findings, Shown};
use crate::rules::id::RuleId;
use crate::rules::{Installation, grammar, limits};

/// Judges every reference.
pub(super) fn check(contract: &EffectiveContract<'_>, installation: &Installation, findings: &mut Findings) {
    subdomain(contract.secret_name, RuleId::ContractSecretName, "spec.secretRef.name", findings);
    if let Some(reference) = contract.external_secret {
        let rule = RuleId::ContractExternalSecretName;
        subdomain(reference.name, rule, "spec.externalSecretRef.name", findings);
        if let Some(version) = reference.api_version {
            external_secret_version(version, installation, findings);
        }
    }
    for workload in &contract.workloads {
        check_workload(workload, findings);
    }
    rotation(contract, findings);
}

fn subdomain(name: Option<&str>, rule: RuleId, field: &'static str, findings: &mut Findings) {
    let Some(name) = name else { return };
    for detail in grammar(name, limits::NAME_CHARACTERS, dns_subdomain) {
        findings.push(Finding::invalid(rule, FieldPath::dotted(field), Shown::text(name), detail));
    }
}

fn external_secret_version(version: &str, installation: &Installation, findings: &mut Findings) {
    let supported = &installation.external_secret_api_versions;
    if !supported.iter().any(|known| known == version) {
        let field = FieldPath::dotted("spec.externalSecretRef.apiVersion");
        let rule = RuleId::ContractExternalSecretVersion;
        findings.push(Finding::not_supported(rule, field, Shown::text(version), supported));
    }
}

/// Where a workload reference stands; it is identified by version, kind and name together.
fn path(workload: &EffectiveWorkload<'_>) -> FieldPath {
    let refs = FieldPath::dotted("spec.workloadRefs");
    match (workload.api_version, workload.kind, workload.name) {
        (Some(version), Some(kind), Some(name)) => {
            refs.keyed_item(workload.index, format!("{version} {} {name}", kind.as_str()))
        }
        _ => refs.item(workload.index),
    }
}

fn check_workload(workload: &EffectiveWorkload<'_>, findings: &mut Findings) {
    let path = path(workload);
    if let Some(name) = workload.name {
        for detail in grammar(name, limits::NAME_CHARACTERS, dns_subdomain) {
            let field = path.child("name");
            findings.push(Finding::invalid(RuleId::ContractWorkloadName, field, Shown::text(name), detail));
        }
    }
    for Indexed { index, value } in &workload.containers {
        for detail in grammar(value, limits::LABEL_CHARACTERS, dns_label) {
            let field = path.child("containers").keyed_item(*index, *value);
            findings.push(Finding::invalid(RuleId::ContractContainerName, field, Shown::text(value), detail));
        }
    }
}

fn rotation(contract: &EffectiveContract<'_>, findings: &mut Findings) {
    if let Some(age) = contract.max_age {
        for detail in grammar(age, limits::MAX_AGE_CHARACTERS, |age| max_age_fault(age).into_iter().collect())
        {
            let field = FieldPath::dotted("spec.rotation.maxAge");
            findings.push(Finding::invalid(RuleId::ContractMaxAge, field, Shown::text(age), detail));
        }
    }
    let Some(annotation) = contract.rotated_at_annotation else { return };
    let field = FieldPath::dotted("spec.rotation.rotatedAtAnnotation");
    let rule = RuleId::ContractRotatedAtAnnotation;
    for detail in grammar(annotation, limits::ANNOTATION_CHARACTERS, annotation_faults) {
        findings.push(Finding::invalid(rule, field.clone(), Shown::text(annotation), detail));
    }
    if contract.max_age.is_none() {
        findings.push(Finding::forbidden(rule, field, "may not be set without maxAge"));
    }
}

/// Why a text is no maximum age.
fn max_age_fault(age: &str) -> Option<String> {
    match duration::parse(age) {
        Err(error) => Some(format!("must be a Go duration (e.g. '720h'): {error}")),
        Ok(age) if age.nanoseconds() <= 0 => Some("must be greater than 0".to_owned()),
        Ok(age) if age.nanoseconds() > limits::MAX_AGE_NANOSECONDS => {
            Some("must be less than or equal to 87600h (10 years)".to_owned())
        }
        Ok(_) => None,
    }
}

/// Why a text is no annotation that a team may declare its rotation in.
fn annotation_faults(annotation: &str) -> Vec<String> {
    let mut faults = qualified_name(annotation);
    match annotation.split_once('/') {
        None => faults.push("must have a prefix (e.g. 'example.com/rotated-at')".to_owned()),
        Some((prefix, _)) => {
            let is_inside = |domain: &&str| {
                prefix.strip_suffix(*domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            };
            if let Some(domain) = ["kubernetes.io", "k8s.io"].into_iter().find(is_inside) {
                faults.push(format!("must not be in the domain {domain}, which is Kubernetes' own"));
            }
        }
    }
    faults
}
