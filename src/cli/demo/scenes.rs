//! What the demo shows: commands that a person would type, and what must come of them.

use std::time::Instant;

use super::manifests::{FIVE_FAULTS, Manifests};
use super::stage::Stage;
use crate::controlplane::{self, ControlPlane, Output};

/// One command and what must come of it.
struct Scene {
    /// What a person sees before the command.
    heading: Option<&'static str>,
    arguments: Vec<String>,
    /// Whether it succeeds.
    succeeds: bool,
    /// What must be in its output, standard error included.
    contains: &'static [&'static str],
    /// How often one text must be in it.
    counts: Option<(&'static str, usize)>,
}

impl Scene {
    fn new(arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Self { heading: None, arguments, succeeds: true, contains: &[], counts: None }
    }

    fn under(mut self, heading: &'static str) -> Self {
        self.heading = Some(heading);
        self
    }

    fn refused(mut self) -> Self {
        self.succeeds = false;
        self
    }

    fn with(mut self, contains: &'static [&'static str]) -> Self {
        self.contains = contains;
        self
    }

    fn counting(mut self, text: &'static str, count: usize) -> Self {
        self.counts = Some((text, count));
        self
    }

    /// What differs from what must come.
    fn differences(&self, output: &Output) -> Vec<String> {
        let text = format!("{}{}", output.stdout, output.stderr);
        let mut differences = Vec::new();
        if output.is_success() != self.succeeds {
            let code = output.code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
            let expected = if self.succeeds { "success" } else { "a refusal" };
            differences.push(format!("{code}, expected {expected}"));
        }
        let missing = self.contains.iter().filter(|part| !text.contains(**part));
        differences.extend(missing.map(|part| format!("the output lacks {part:?}")));
        if let Some((part, expected)) = self.counts {
            let count = text.matches(part).count();
            if count != expected {
                differences.push(format!("the output has {part:?} {count} times, expected {expected}"));
            }
        }
        differences
    }
}

/// Shows every scene; gives what was not as expected, one line each.
pub fn show(
    plane: &ControlPlane,
    manifests: &Manifests,
    stage: &Stage,
) -> Result<Vec<String>, controlplane::Error> {
    let mut differences = Vec::new();
    for scene in scenes(manifests) {
        if let Some(heading) = scene.heading {
            stage.heading(heading);
        }
        let line = command_line(&scene.arguments);
        stage.command(&line);
        let begun = Instant::now();
        let arguments: Vec<_> = scene.arguments.iter().map(String::as_str).collect();
        let output = plane.kubectl(&arguments, None)?;
        for text in [&output.stdout, &output.stderr] {
            if !text.trim_end().is_empty() {
                stage.say(text.trim_end());
            }
        }
        if scene.arguments.first().is_some_and(|verb| verb == "wait") {
            stage.say(format_args!("({:.1} s)", begun.elapsed().as_secs_f64()));
        }
        for difference in scene.differences(&output) {
            let difference = format!("{line}: {difference}");
            stage.difference(&difference);
            differences.push(difference);
        }
    }
    Ok(differences)
}

/// As a person types it: `kubectl` and its arguments, quoted where a shell wants it.
fn command_line(arguments: &[String]) -> String {
    let mut line = "kubectl".to_owned();
    for argument in arguments {
        let plain = |character: char| character.is_ascii_alphanumeric() || "-_=./:,@".contains(character);
        line.push(' ');
        if argument.chars().all(plain) {
            line.push_str(argument);
        } else {
            line.push('\'');
            line.push_str(argument);
            line.push('\'');
        }
    }
    line
}

fn scenes(manifests: &Manifests) -> Vec<Scene> {
    let sample = |name: &str| manifests.sample(name);
    let five = sample(FIVE_FAULTS);
    let reserved = sample("refused/contract-reserved.yaml");
    let tenant = sample("refused/tenant-both-sources.yaml");
    let contract = sample("accepted/contract.yaml");
    let without_secret = sample("accepted/contract-of-existence.yaml");
    let instance = sample("accepted/instance.yaml");
    let claim = sample("accepted/tenant-dynamic.yaml");
    let dry_run = ["apply", "--dry-run=server", "-f"];
    vec![
        Scene::new(&[&dry_run[..], &[&five]].concat())
            .under("A contract with five faults is refused, and all five are named at once")
            .refused()
            .counting("\n* ", 5)
            .with(&[
                "The SecretContract \"five-faults\" is invalid:",
                "spec.requiredKeys[0].envName: Invalid value: \"9-USERNAME\": ",
                "spec.requiredKeys[2].envName: Duplicate value: \"DB_PASSWORD\"",
                "spec.requiredKeys[3].maxLength: Invalid value: 32: ",
                "spec.requiredKeys[4].pattern: Invalid value: \"(https\": ",
                "spec.externalSecretRef: Required value: ",
            ]),
        Scene::new(&[&dry_run[..], &[&tenant]].concat())
            .under("A claim for a new and for an existing database at once is refused")
            .refused()
            .with(&["The PostgreSQLTenant \"both\" is invalid: spec.databaseRef: Forbidden: "]),
        Scene::new(&[&dry_run[..], &[&five, "-f", &reserved]].concat())
            .under("Two faulty objects in one run: one line each, still complete")
            .refused()
            .counting("SecretContract.secrets.codepop.tech", 2)
            .with(&[
                "SecretContract.secrets.codepop.tech \"five-faults\" is invalid: [spec.requiredKeys[0].envName: ",
                "spec.externalSecretRef: Required value: ",
                "SecretContract.secrets.codepop.tech \"reserved\" is invalid: [",
                "spec.rotation.maxAge: Invalid value: \"30d\": ",
            ]),
        Scene::new(&["apply", "-f", &contract])
            .under("A good contract and its Secret: Ready as soon as the controller has looked")
            .with(&["secret/web created", "secretcontract.secrets.codepop.tech/web created"]),
        Scene::new(&["wait", "--for=condition=Ready", "secretcontract/web", "--timeout=30s"])
            .with(&["secretcontract.secrets.codepop.tech/web condition met"]),
        Scene::new(&["get", "sctr"]).with(&["web", "True"]),
        Scene::new(&["patch", "secret", "web", "--type=merge", "--patch={\"stringData\":{\"password\":\"short\"}}"])
            .under("The Secret changes, and the contract says what is wrong, without a word of the value")
            .with(&["secret/web patched"]),
        Scene::new(&["wait", "--for=condition=Ready=False", "secretcontract/web", "--timeout=30s"])
            .with(&["condition met"]),
        Scene::new(&["get", "sctr", "web", "--output=jsonpath={.status.violations}{\"\\n\"}"])
            .with(&["\"key\":\"password\"", "\"rule\":\"minLength\""])
            .counting("short\"", 0),
        Scene::new(&["apply", "-f", &contract]).under("The Secret is mended").with(&["secret/web configured"]),
        Scene::new(&["wait", "--for=condition=Ready", "secretcontract/web", "--timeout=30s"])
            .with(&["condition met"]),
        Scene::new(&["create", "rolebinding", "authors", "--clusterrole=covenant-contract-editor", "--user=dev"])
            .under("Whoever may not read a Secret may not declare a contract about it")
            .with(&["authors created"]),
        Scene::new(&["apply", "--as=dev", "-f", &without_secret]).refused().with(&[
            "is forbidden: ValidatingAdmissionPolicy 'covenant-contract-author'",
            "user \"dev\" must be allowed to get each of: secrets \"registry-login\"",
        ]),
        Scene::new(&["apply", "-f", &without_secret])
            .under("A contract whose Secret is not there yet")
            .with(&["secretcontract.secrets.codepop.tech/registry-login created"]),
        Scene::new(&["wait", "--for=condition=Ready=False", "secretcontract/registry-login", "--timeout=30s"])
            .with(&["condition met"]),
        Scene::new(&["get", "sctr"]).with(&["registry-login", "SecretNotFound"]),
        Scene::new(&["apply", "-f", &instance, "-f", &claim])
            .under("A server and a claim on it: bound to a database of its own, which no server has confirmed here")
            .with(&["postgresqlinstance.database.ayatori.ddupan.top/main created", "shop created"]),
        Scene::new(&["wait", "--for=jsonpath={.status.phase}=Bound", "postgresqltenant/shop", "--timeout=30s"])
            .with(&["condition met"]),
        Scene::new(&["get", "postgresqldatabases,postgresqltenants"])
            .with(&["tenant-", "default/shop", "Bound", "False"]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_that_is_shown_is_shipped() {
        let manifests = Manifests::shipped();
        for scene in scenes(&manifests) {
            let samples = scene.arguments.iter().filter(|argument| argument.contains("/samples/"));
            for sample in samples {
                assert!(std::path::Path::new(sample).is_file(), "{sample}");
            }
        }
    }

    #[test]
    fn what_differs_is_told() {
        let scene = Scene::new(&["get", "x"]).with(&["one", "two"]).counting("o", 2);
        let output =
            |code, stdout: &str| Output { code: Some(code), stdout: stdout.into(), stderr: String::new() };
        assert_eq!(scene.differences(&output(0, "one two")), [] as [&str; 0]);
        assert_eq!(scene.differences(&output(1, "one")).len(), 3);
        assert_eq!(
            Scene::new(&[]).refused().differences(&output(0, "")),
            ["exit code 0, expected a refusal"]
        );
    }

    #[test]
    fn commands_can_be_typed_as_they_are_shown() {
        let line = command_line(&["patch".to_owned(), "--patch={\"a\": 1}".to_owned()]);
        assert_eq!(line, "kubectl patch '--patch={\"a\": 1}'");
    }
}
