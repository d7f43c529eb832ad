//! How a log line is written: the fixed fields `time`, `level`, `target`, `message`, and where they apply `uid`, `kind`,
//! `namespace`, `name`, `operation`, `verdict`, `rules`, `seconds`, `error`. A field of another name (from a library)
//! becomes part of the message.

use std::fmt::{self, Write as _};

use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::clock;
use super::telemetry::LogFormat;

/// The fields that stand by themselves beside the message.
const FIELDS: [&str; 9] =
    ["uid", "kind", "namespace", "name", "operation", "verdict", "rules", "seconds", "error"];

/// Writes one line an event.
#[derive(Clone, Copy, Debug)]
pub struct Lines(LogFormat);

impl Lines {
    /// Lines of this form.
    pub const fn new(format: LogFormat) -> Self {
        Self(format)
    }
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut found = Found::default();
        event.record(&mut found);
        let metadata = event.metadata();
        let head = Head {
            time: &clock::now().to_string(),
            level: metadata.level().as_str(),
            target: metadata.target(),
        };
        let line = match self.0 {
            LogFormat::Json => json(&head, &found),
            LogFormat::Text => text(&head, &found),
        };
        writeln!(writer, "{line}")
    }
}

struct Head<'a> {
    time: &'a str,
    level: &'a str,
    target: &'a str,
}

/// What an event carries.
#[derive(Default)]
struct Found {
    message: String,
    fields: Vec<(&'static str, Value)>,
}

impl Found {
    fn take(&mut self, field: &Field, value: Value) {
        match field.name() {
            "message" => self.message.insert_str(0, &plain(&value)),
            name if FIELDS.contains(&name) => self.fields.push((name, value)),
            name => {
                let _ = write!(self.message, " {name}={}", plain(&value));
            }
        }
    }
}

impl Visit for Found {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.take(field, Value::String(format!("{value:?}")));
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, value.into());
    }
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.take(field, value.into());
    }
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.take(field, value.into());
    }
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.take(field, value.into());
    }
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.take(field, value.into());
    }
    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.take(field, Value::String(value.to_string()));
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn json(head: &Head<'_>, found: &Found) -> String {
    let mut line = format!(
        "{{\"time\":{},\"level\":{},\"target\":{},\"message\":{}",
        quoted(head.time),
        quoted(head.level),
        quoted(head.target),
        quoted(&found.message)
    );
    for (name, value) in &found.fields {
        let _ = write!(line, ",{}:{value}", quoted(name));
    }
    line.push('}');
    line
}

fn text(head: &Head<'_>, found: &Found) -> String {
    let mut line =
        format!("{} {:<5} {}: {}", head.time, head.level, head.target, found.message.escape_debug());
    for (name, value) in &found.fields {
        let _ = write!(line, " {name}={value}");
    }
    line
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);
    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: LogFormat, emit: impl FnOnce()) -> String {
        let sink = Sink::default();
        let writer = sink.clone();
        let layer = tracing_subscriber::fmt::layer()
            .event_format(Lines::new(format))
            .with_writer(move || writer.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), emit);
        let bytes = sink.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn json_has_the_fixed_fields_and_stays_on_one_line() {
        let line = logged(LogFormat::Json, || {
            tracing::info!(kind = "SecretContract", seconds = 0.5, other = 3, "line one\nline \"two\"");
        });
        assert_eq!(line.lines().count(), 1, "{line}");
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["level"], "INFO");
        assert_eq!(value["kind"], "SecretContract");
        assert_eq!(value["seconds"], 0.5);
        assert_eq!(value["message"], "line one\nline \"two\" other=3");
        assert!(value["target"].as_str().unwrap().starts_with("covenant::process"));
        assert!(value["time"].as_str().unwrap().ends_with('Z'));
        assert_eq!(value.as_object().unwrap().len(), 6);
    }

    #[test]
    fn text_stays_on_one_line() {
        let line = logged(LogFormat::Text, || tracing::warn!(name = "a", "one\ntwo"));
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(line.contains(" WARN  covenant::process::log_format::tests: one\\ntwo name=\"a\""), "{line}");
    }
}
