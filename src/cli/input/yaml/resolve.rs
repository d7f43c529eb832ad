//! What a scalar means: the reading of the API server's tools, which is YAML 1.1.
//!
//! kubectl turns YAML into JSON before it sends anything, and reads a plain `yes`, `on`, `y`, `0777` or `1_000` as a
//! boolean or a number. What counts here is what the cluster will see, so the same table is used, and not that of YAML
//! 1.2. Where a word differs between the two (`on` as a string for 1.2), the schema's type fault shows it.

use base64::Engine as _;
use serde_json::Number;

use super::node::Data;

/// Why a scalar has no meaning. The text of the scalar is in no message: it may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unresolved {
    /// A tag such as `!!int` on a text that is none.
    Tag,
    /// `.nan` or `.inf`, which JSON cannot hold.
    NotFinite,
}

/// The tags of YAML's own types that change how a scalar is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarTag {
    /// None: a plain scalar is guessed, a quoted one is text.
    None,
    /// `!!str`, `!!timestamp` and every tag of somebody's own: text.
    Text,
    /// `!!bool`.
    Bool,
    /// `!!int`.
    Int,
    /// `!!float`.
    Float,
    /// `!!null`.
    Null,
    /// `!!binary`: base64 of text.
    Binary,
}

impl ScalarTag {
    /// The tag for the suffix after `!!`.
    pub(super) fn of(core: Option<&str>) -> Self {
        match core {
            Some("bool") => Self::Bool,
            Some("int") => Self::Int,
            Some("float") => Self::Float,
            Some("null") => Self::Null,
            Some("binary") => Self::Binary,
            _ => Self::Text,
        }
    }
}

/// What a scalar means.
pub(super) fn resolve(text: &str, plain: bool, tag: ScalarTag) -> Result<Data, Unresolved> {
    match tag {
        ScalarTag::None if plain => guess(text),
        ScalarTag::None | ScalarTag::Text => Ok(Data::Text(text.to_owned())),
        ScalarTag::Binary => {
            let packed: String = text.split_ascii_whitespace().collect();
            let bytes =
                base64::engine::general_purpose::STANDARD.decode(packed).map_err(|_| Unresolved::Tag)?;
            String::from_utf8(bytes).map(Data::Text).map_err(|_| Unresolved::Tag)
        }
        ScalarTag::Bool | ScalarTag::Int | ScalarTag::Float | ScalarTag::Null => {
            let data = guess(text)?;
            let right = match (&data, tag) {
                (Data::Bool(_), ScalarTag::Bool)
                | (Data::Null, ScalarTag::Null)
                | (Data::Number(_), ScalarTag::Float) => true,
                (Data::Number(_), ScalarTag::Int) => integer(&text.replace('_', "")).is_some(),
                _ => false,
            };
            if right { Ok(data) } else { Err(Unresolved::Tag) }
        }
    }
}

/// The key that a mapping key means in JSON; `None` for what cannot be one.
pub(super) fn key(text: &str, plain: bool, tag: ScalarTag) -> Option<String> {
    match resolve(text, plain, tag).ok()? {
        Data::Text(text) => Some(text),
        Data::Bool(flag) => Some(flag.to_string()),
        Data::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn guess(text: &str) -> Result<Data, Unresolved> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Data::Null),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(Data::Bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(Data::Bool(false));
        }
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(Unresolved::NotFinite);
    }
    Ok(number(text).map_or_else(|| Data::Text(text.to_owned()), Data::Number))
}

fn number(text: &str) -> Option<Number> {
    match text.bytes().next()? {
        // Underscores are ignored in whatever begins with a digit or a sign, but not after a leading point.
        b'0'..=b'9' | b'+' | b'-' => {
            let digits = text.replace('_', "");
            integer(&digits).or_else(|| float(&digits))
        }
        b'.' => float(text),
        _ => None,
    }
}

/// A whole number with Go's prefixes: `0x`, `0o`, `0b`, and `0` alone for octal.
fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    // `from_str_radix` would take a second sign.
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    match i64::try_from(magnitude) {
        Ok(value) if negative => Some(Number::from(-value)),
        Ok(value) => Some(Number::from(value)),
        Err(_) if negative => (magnitude == i64::MIN.unsigned_abs()).then(|| Number::from(i64::MIN)),
        // The API server holds whole numbers in 64 bits with a sign, and all beyond as floating point.
        Err(_) if !text.starts_with('+') => approximate(magnitude),
        Err(_) => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "the API server loses the same digits")]
fn approximate(magnitude: u64) -> Option<Number> {
    Number::from_f64(magnitude as f64)
}

/// Up to here Go's JSON writes a whole number without an exponent, and it comes back as an integer.
const WHOLE: f64 = 9_223_372_036_854_774_784.0;

/// A decimal floating-point number; whole ones are whole numbers, because JSON writes them alike.
fn float(text: &str) -> Option<Number> {
    if !is_decimal(text) {
        return None;
    }
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    if value.fract() == 0.0 && value.abs() <= WHOLE {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 64 bits")]
        return Some(Number::from(value as i64));
    }
    Number::from_f64(value)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_decimal(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let right_exponent = exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)));
    let right_mantissa = match mantissa.split_once('.') {
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
        None => digits(mantissa),
    };
    right_exponent && right_mantissa
}
