//! That the image, the Deployments and the crate agree. `.ci/image` builds the image and runs what is in it.

use std::fs;

use crate::support::{installed, repository, strings};

#[test]
fn the_final_stage_holds_the_binaries_that_the_deployments_start() {
    let dockerfile = fs::read_to_string(repository().join("Dockerfile")).unwrap();
    let (_, last) = dockerfile.rsplit_once("\nFROM ").unwrap();
    let lines: Vec<&str> = last.lines().collect();
    assert_eq!(lines[0], "scratch", "the final stage stands on nothing");
    let copied: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("COPY --from=builder "))
        .map(|line| line.split_whitespace().nth(1).unwrap())
        .collect();
    assert_eq!(copied, ["/covenant-webhook", "/covenant-controller", "/covenant", "/LICENSE"]);
    for deployment in installed("").iter().filter(|document| document.kind() == "Deployment") {
        let command = strings(&deployment.value, "/spec/template/spec/containers/0/command");
        assert!(copied.contains(&command[0].as_str()), "{command:?} is not in the image");
    }
    assert!(lines.contains(&"USER 65532:65532"));
    assert!(!lines.iter().any(|line| line.starts_with("RUN ")), "there is no shell to run anything");
    let version = format!("org.opencontainers.image.version=\"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(last.contains(&version), "the label says another version than Cargo.toml");
}

/// Each process is started with the flags and variables of its Deployment and `--help`, which answers only if it knows
/// all of them.
#[test]
fn the_processes_know_the_flags_that_the_deployments_pass() {
    for deployment in installed("").iter().filter(|document| document.kind() == "Deployment") {
        let spec = "/spec/template/spec/containers/0";
        let binary = match deployment.name() {
            "covenant-webhook" => env!("CARGO_BIN_EXE_covenant-webhook"),
            "covenant-controller" => env!("CARGO_BIN_EXE_covenant-controller"),
            other => panic!("no binary for {other}"),
        };
        let output = std::process::Command::new(binary)
            .args(strings(&deployment.value, &format!("{spec}/args")))
            .arg("--help")
            .output()
            .unwrap();
        let help = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{binary}: {}", String::from_utf8_lossy(&output.stderr));
        for variable in crate::support::list(&deployment.value, &format!("{spec}/env")) {
            let name = variable["name"].as_str().unwrap();
            assert!(help.contains(name), "{binary} --help does not know {name}");
        }
    }
}
