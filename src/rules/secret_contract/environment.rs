//! SHAPE of the environment variables that keys map to.

use std::collections::HashMap;

use super::keys;
use crate::api::secret_contract::effective::{Consumption, EffectiveContract};
use crate::format::{env_name, secret_key};
use crate::rules::finding::{Finding, Findings, Shown};
use crate::rules::id::RuleId;
use crate::rules::{grammar, limits};

/// Judges every `envName`, and warns of keys that cannot be consumed as they are.
pub(super) fn check(contract: &EffectiveContract<'_>, findings: &mut Findings) {
    portable(contract, findings);
    unique(contract, findings);
    not_portable(contract, findings);
}

fn portable(contract: &EffectiveContract<'_>, findings: &mut Findings) {
    for key in &contract.keys {
        let Some(name) = key.env_name else { continue };
        for detail in grammar(name, limits::NAME_CHARACTERS, env_name::messages) {
            let field = keys::path(key).child("envName");
            findings.push(Finding::invalid(RuleId::ContractEnvNameGrammar, field, Shown::text(name), detail));
        }
    }
}

/// A variable has one source. A key without `envName` takes its own name, if that is a portable one; against such a name
/// it is the explicit `envName` that is at fault, wherever it stands.
fn unique(contract: &EffectiveContract<'_>, findings: &mut Findings) {
    let implicit: HashMap<&str, usize> = contract
        .keys
        .iter()
        .filter(|key| key.env_name.is_none())
        .filter_map(|key| Some((key.name?, key.index)))
        .filter(|(name, _)| env_name::is_portable(name))
        .collect();
    let mut explicit: HashMap<&str, usize> = HashMap::new();
    for key in &contract.keys {
        let Some(name) = key.env_name else { continue };
        let repeated = explicit.insert(name, key.index).is_some();
        if repeated || implicit.contains_key(name) {
            let field = keys::path(key).child("envName");
            findings.push(Finding::duplicate(RuleId::ContractEnvNameUnique, field, Shown::text(name)));
        }
    }
}

/// Legal, but suspicious: the kubelet would take the key's name as a variable that not every program can read.
fn not_portable(contract: &EffectiveContract<'_>, findings: &mut Findings) {
    let consumes_variables = contract
        .workloads
        .iter()
        .any(|workload| matches!(workload.consumption, Consumption::EnvVars | Consumption::Any));
    if !consumes_variables {
        return;
    }
    for key in contract.keys.iter().filter(|key| key.env_name.is_none()) {
        let Some(name) = key.name else { continue };
        if secret_key(name).is_empty() && !env_name::is_portable(name) {
            let detail = "is no portable variable name; give it an envName if a container reads it as one";
            let field = keys::path(key).child("name");
            let finding = Finding::invalid(RuleId::ContractNonPortableKey, field, Shown::text(name), detail);
            findings.push(finding.as_warning());
        }
    }
}
