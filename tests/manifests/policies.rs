//! That the admission policies have the form that was measured to work on a real API server, and are in force.

use serde_json::{Value, json};

use crate::support::{Document, documents, list, strings, text};

const NAMES: [&str; 4] = [
    "covenant-contract-author",
    "covenant-database-bind",
    "covenant-database-policy",
    "covenant-database-reopen",
];

fn policies(kind: &str) -> Vec<Document> {
    let mut found: Vec<_> =
        documents("policies").into_iter().filter(|document| document.kind() == kind).collect();
    found.sort_by(|one, other| one.name().cmp(other.name()));
    found
}

fn policy(name: &str) -> Value {
    policies("ValidatingAdmissionPolicy").into_iter().find(|document| document.name() == name).unwrap().value
}

#[test]
fn every_policy_is_bound_and_denies() {
    let bindings = policies("ValidatingAdmissionPolicyBinding");
    assert_eq!(bindings.iter().map(Document::name).collect::<Vec<_>>(), NAMES);
    for binding in bindings {
        assert_eq!(
            binding.value["spec"],
            json!({"policyName": binding.name(), "validationActions": ["Deny"]}),
            "{}",
            binding.name()
        );
    }
}

#[test]
fn every_policy_is_about_our_kinds_alone_and_fails_closed() {
    let policies = policies("ValidatingAdmissionPolicy");
    assert_eq!(policies.iter().map(Document::name).collect::<Vec<_>>(), NAMES);
    for policy in policies {
        let spec = &policy.value["spec"];
        assert_eq!(text(spec, "/failurePolicy"), "Fail", "{}", policy.name());
        let constraints = &spec["matchConstraints"];
        assert_eq!(
            constraints.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["matchPolicy", "resourceRules"]
        );
        let [rule] = list(constraints, "/resourceRules") else { panic!("{}: one rule", policy.name()) };
        let (group, resource) = if policy.name() == "covenant-contract-author" {
            ("secrets.codepop.tech", "secretcontracts")
        } else {
            ("database.ayatori.ddupan.top", "postgresqldatabases")
        };
        assert_eq!(strings(rule, "/apiGroups"), [group]);
        assert_eq!(strings(rule, "/resources"), [resource]);
        assert_eq!(strings(rule, "/apiVersions"), ["v1alpha1"]);
        for validation in list(spec, "/validations") {
            assert_eq!(
                text(validation, "/reason"),
                "Forbidden",
                "{}: kubectl prints Invalid badly",
                policy.name()
            );
            assert!(
                !text(validation, "/message").is_empty(),
                "{}: the text if an expression fails",
                policy.name()
            );
            assert!(
                text(validation, "/expression").matches("authorizer.").count() <= 1,
                "the cost limit of one expression"
            );
            assert!(!text(validation, "/messageExpression").contains("authorizer"), "a message cannot ask");
        }
    }
}

#[test]
fn an_author_is_asked_about_every_object_that_a_contract_can_name() {
    let policy = policy("covenant-contract-author");
    let validations = list(&policy, "/spec/validations");
    assert_eq!(validations.len(), 18, "Secret, ExternalSecret, and sixteen workloads");
    for (index, validation) in validations.iter().enumerate() {
        let expression = text(validation, "/expression");
        assert_eq!(expression.matches("check('get').allowed()").count(), 1, "{expression}");
        assert_eq!(
            text(validation, "/messageExpression"),
            "variables.refusal",
            "the same complete text in each"
        );
        let subject = match index {
            0 => ("resource('secrets')", "variables.secretsAsked[0]".to_owned()),
            1 => ("resource('externalsecrets')", "variables.externalSecretsAsked[0]".to_owned()),
            _ => (".lowerAscii() + 's')", format!("variables.workloadsAsked[{}].name", index - 2)),
        };
        assert!(expression.contains(subject.0) && expression.contains(&subject.1), "{index}: {expression}");
        assert!(expression.contains(".namespace(request.namespace)"), "{index}: {expression}");
        if let Some(workload) = index.checked_sub(2) {
            assert!(
                expression.starts_with(&format!("size(variables.workloadsAsked) <= {workload} ||")),
                "{expression}"
            );
        }
    }
    for variable in list(&policy, "/spec/variables") {
        assert!(!text(variable, "/expression").contains("authorizer"), "a message uses it");
    }
}
