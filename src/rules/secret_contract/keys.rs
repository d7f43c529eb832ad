//! SHAPE of one entry of `requiredKeys`: its name, its bounds, its pattern.

use crate::api::secret_contract::effective::EffectiveKey;
use crate::format::secret_key;
use crate::go::regexp;
use crate::rules::field::FieldPath;
use crate::rules::finding::{Finding, Findings, Shown};
use crate::rules::id::RuleId;
use crate::rules::{grammar, limits};

/// Where an entry stands; it is identified by its name.
pub(super) fn path(key: &EffectiveKey<'_>) -> FieldPath {
    let keys = FieldPath::dotted("spec.requiredKeys");
    match key.name {
        Some(name) => keys.keyed_item(key.index, name),
        None => keys.item(key.index),
    }
}

/// Judges one entry.
pub(super) fn check(key: &EffectiveKey<'_>, findings: &mut Findings) {
    let path = path(key);
    if let Some(name) = key.name {
        for detail in grammar(name, limits::NAME_CHARACTERS, secret_key) {
            let field = path.child("name");
            findings.push(Finding::invalid(RuleId::ContractKeyName, field, Shown::text(name), detail));
        }
    }
    bounds(key, &path, findings);
    if let Some(pattern) = key.pattern {
        check_pattern(pattern, path.child("pattern"), findings);
    }
}

/// Bounds that contradict each other. Each bound alone is the schema's.
fn bounds(key: &EffectiveKey<'_>, path: &FieldPath, findings: &mut Findings) {
    let Some(maximum) = key.max_length else { return };
    let field = path.child("maxLength");
    if maximum == 0 && key.non_empty {
        let detail = "must be at least 1 unless nonEmpty is false";
        let shown = Shown::plain(maximum);
        findings.push(Finding::invalid(RuleId::ContractNonEmptyMaxLength, field.clone(), shown, detail));
    }
    if let Some(minimum) = key.min_length
        && minimum > maximum
    {
        let detail = format!("must be greater than or equal to minLength ({minimum})");
        findings.push(Finding::invalid(RuleId::ContractLengthBounds, field, Shown::plain(maximum), detail));
    }
}

fn check_pattern(pattern: &str, field: FieldPath, findings: &mut Findings) {
    if pattern.len() > limits::PATTERN_BYTES {
        // The schema counts code points; the limit of the API version is in bytes.
        if pattern.chars().count() <= limits::PATTERN_BYTES {
            let limit = limits::PATTERN_BYTES as u64;
            findings.push(Finding::too_long(RuleId::ContractPattern, field, pattern.len(), limit, "byte"));
        }
        return;
    }
    if let Err(error) = regexp::Program::compile(pattern) {
        let detail = format!("must be a Go regular expression: {error}");
        findings.push(Finding::invalid(RuleId::ContractPattern, field, Shown::text(pattern), detail));
    }
}
