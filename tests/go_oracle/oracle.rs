//! The Go program under `tests/go-oracle`, built and asked.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// One question for Go.
pub struct Question(serde_json::Value);

impl Question {
    pub fn new(kind: &str, text: &[u8]) -> Self {
        Self(serde_json::json!({ "kind": kind, "text": STANDARD.encode(text) }))
    }

    pub fn with_values(mut self, values: &[Vec<u8>]) -> Self {
        self.0["values"] = values.iter().map(|value| STANDARD.encode(value)).collect();
        self
    }
}

/// Go's answer; what does not belong to the kind of question is empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    pub error: String,
    pub matches: Vec<bool>,
    pub nanoseconds: String,
    pub written: String,
    pub json: String,
    pub valid: bool,
}

#[derive(Deserialize)]
struct Version {
    go: String,
    unicode: String,
}

/// A real Go.
#[derive(Clone)]
pub struct Oracle {
    program: PathBuf,
    /// The second number of Go's version.
    minor: u32,
}

impl Oracle {
    /// Builds the program once; `None`, having said why, where that cannot be.
    pub fn find() -> Option<Self> {
        static ORACLE: OnceLock<Option<Oracle>> = OnceLock::new();
        ORACLE
            .get_or_init(|| match Self::build() {
                Ok(oracle) => Some(oracle),
                Err(why) => {
                    say(&format!(
                        "skipped: the comparison with Go needs go 1.25 or later on the PATH: {why}"
                    ));
                    None
                }
            })
            .clone()
    }

    fn build() -> Result<Self, String> {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-oracle");
        let built = Command::new("go")
            .args(["build", "-o"])
            .arg(&program)
            .arg(".")
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/go-oracle"))
            .output()
            .map_err(|error| error.to_string())?;
        if !built.status.success() {
            return Err(String::from_utf8_lossy(&built.stderr).trim().to_owned());
        }
        let mut oracle = Self { program, minor: 0 };
        let (version, _) = oracle.run(&[]);
        oracle.minor = version
            .go
            .strip_prefix("go1.")
            .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>())
            .and_then(|minor| minor.parse().ok())
            .ok_or_else(|| format!("unknown version {}", version.go))?;
        if oracle.minor < 25 {
            return Err(format!("found {}", version.go));
        }
        say(&format!("comparing with {}, Unicode {}", version.go, version.unicode));
        Ok(oracle)
    }

    /// Go 1.25 and 1.26 refuse every script name of several words; 1.27 takes them.
    pub fn knows_long_script_names(&self) -> bool {
        self.minor >= 27
    }

    /// Asks all questions and waits for all answers.
    pub fn ask(&self, questions: &[Question]) -> Vec<Answer> {
        let (_, answers) = self.run(questions);
        assert_eq!(answers.len(), questions.len(), "Go stopped before it had answered everything");
        answers
    }

    fn run(&self, questions: &[Question]) -> (Version, Vec<Answer>) {
        let mut child =
            Command::new(&self.program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (version, answers) = std::thread::scope(|scope| {
            // Written beside the reading, or both sides would wait for the other with their pipes full.
            scope.spawn(move || {
                for question in questions {
                    writeln!(input, "{}", question.0).unwrap();
                }
            });
            let mut lines = output.lines();
            let version = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            (version, lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect())
        });
        assert!(child.wait().unwrap().success());
        (version, answers)
    }
}

/// Says it past the capture of the test harness: a skipped comparison must not look like one that was made.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "go_oracle: {text}");
}
