//! Is a value a PEM text (RFC 7468, with the headers of RFC 1421)? Syntax alone: what the base64 holds, a key or a
//! certificate or nothing of sense, is not looked at. Certificates that this program itself serves are read elsewhere.
//!
//! Stricter than most readers, because those skip what they do not understand: a truncated block or a stray line would
//! pass as "no certificate" instead of failing.

/// Whether `value` is one or more PEM blocks with nothing but white space (space, tab, CR, LF) outside them.
///
/// A block is a `-----BEGIN label-----` line, optionally `Key: value` lines and a blank line, padded base64 with white
/// space anywhere in it, and an `-----END label-----` line with the same label. Both boundary lines begin at the line
/// start and hold nothing else but white space behind. An empty body is accepted. Lines end in LF or CR LF.
/// Time grows linearly.
pub fn is_valid(value: &[u8]) -> bool {
    let mut place = Place::Outside { complete: false };
    // A line keeps its CR: it counts as white space wherever white space is allowed.
    for line in value.split(|&byte| byte == b'\n') {
        match place.behind(line) {
            Some(next) => place = next,
            None => return false,
        }
    }
    matches!(place, Place::Outside { complete: true })
}

/// Where in the text a line stands.
enum Place<'a> {
    /// Before, between or behind blocks; `complete` once a whole block has been read.
    Outside { complete: bool },
    /// Right behind a BEGIN line.
    Start { label: &'a [u8] },
    /// Behind a header line.
    Headers { label: &'a [u8] },
    /// Where only base64 or the END line may follow.
    Body { label: &'a [u8], base64: Base64 },
}

impl<'a> Place<'a> {
    /// The place behind `line`; `None` where that line may not stand.
    fn behind(self, line: &'a [u8]) -> Option<Self> {
        match self {
            Self::Outside { .. } if is_blank(line) => Some(self),
            Self::Outside { .. } => boundary(line, b"-----BEGIN ").map(|label| Self::Start { label }),
            Self::Start { label } | Self::Headers { label } if is_header(line) => {
                Some(Self::Headers { label })
            }
            Self::Start { label } => Base64::default().line(label, line),
            Self::Headers { label } if is_blank(line) => {
                Some(Self::Body { label, base64: Base64::default() })
            }
            Self::Headers { .. } => None,
            Self::Body { label, base64 } => base64.line(label, line),
        }
    }
}

/// How much of a base64 body has been read: only counts, never what it decodes to.
#[derive(Default, Clone, Copy)]
struct Base64 {
    /// Letters and padding so far, modulo four.
    position: u8,
    /// Padding characters so far.
    padding: u8,
}

impl Base64 {
    /// Takes one line of a body, which may be its END line.
    fn line<'a>(mut self, label: &'a [u8], line: &'a [u8]) -> Option<Place<'a>> {
        if line.starts_with(b"-") {
            let ends = boundary(line, b"-----END ") == Some(label) && self.position == 0;
            return ends.then_some(Place::Outside { complete: true });
        }
        for &byte in line {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if self.padding == 0 => {}
                // Padding stands in the last two places of a group of four.
                b'=' if self.position >= 2 => self.padding += 1,
                b' ' | b'\t' | b'\r' => continue,
                _ => return None,
            }
            self.position = (self.position + 1) % 4;
        }
        Some(Place::Body { label, base64: self })
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|&byte| is_space(byte))
}

/// The label of a boundary line that begins with `opening`.
fn boundary<'a>(line: &'a [u8], opening: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(opening)?;
    let end = rest.windows(5).position(|five| five == b"-----")?;
    let (label, closing) = rest.split_at_checked(end)?;
    (is_label(label) && is_blank(closing.strip_prefix(b"-----")?)).then_some(label)
}

/// RFC 7468: empty, or visible characters with single hyphens or spaces between them.
fn is_label(label: &[u8]) -> bool {
    label.is_empty()
        || label
            .split(|&byte| byte == b'-' || byte == b' ')
            .all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_graphic))
}

/// `Key: value` on one line. A line that begins with white space would be a folded header, which is refused.
fn is_header(line: &[u8]) -> bool {
    let Some(colon) = line.iter().position(|&byte| byte == b':') else {
        return false;
    };
    let Some((key, value)) = line.split_at_checked(colon) else {
        return false;
    };
    !key.is_empty()
        && key.iter().all(u8::is_ascii_graphic)
        && value.iter().all(|&byte| is_space(byte) || !byte.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const VALID: &[&str] = &[
        "-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\r\nTUlJQg==\r\n-----END CERTIFICATE-----\r\n",
        "\n \t\r\n-----BEGIN A-----\nTUlJ\n-----END A-----  \t\n\n\n-----BEGIN B C-----\nTUlJ\n-----END B C-----\n ",
        "-----BEGIN A-----\n-----END A-----\n",
        "-----BEGIN A-----\n\n-----END A-----\n",
        "-----BEGIN -----\nTUlJ\n-----END -----\n",
        "-----BEGIN X.509-2 #1-----\nTUlJ\n-----END X.509-2 #1-----\n",
        "-----BEGIN A-----\nT\nU l\tJ\n  Q\ng\n=\n=\n-----END A-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nTUlJ\n-----END RSA PRIVATE KEY-----\n",
        "-----BEGIN A-----\nKey:\n \nTUlJ\n-----END A-----\n",
        "-----BEGIN A-----\nKey: value\r\n\r\n-----END A-----\r\n",
    ];

    const INVALID: &[&str] = &[
        "",
        " \n",
        "TUlJ",
        "-----BEGIN A-----",
        "-----BEGIN A-----\n",
        "-----BEGIN A-----\nTUlJ\n",
        "-----END A-----\n",
        "x\n-----BEGIN A-----\nTUlJ\n-----END A-----\n",
        "-----BEGIN A-----\nTUlJ\n-----END A-----\nx",
        "-----BEGIN A-----\nTUlJ\n-----END A-----\n-----BEGIN B-----\n",
        "\u{feff}-----BEGIN A-----\nTUlJ\n-----END A-----\n",
        " -----BEGIN A-----\nTUlJ\n-----END A-----\n",
        "-----BEGIN A-----\nTUlJ\n -----END A-----\n",
        "-----BEGIN A-----\rTUlJ\r-----END A-----\r",
        "-----BEGIN A----- TUlJ -----END A-----",
        "-----BEGIN A-----TUlJ\n-----END A-----\n",
        "-----BEGIN A-----\nTUlJ-----END A-----\n",
        "-----BEGIN A-----\nTUlJ\n-----END A----------BEGIN B-----\nTUlJ\n-----END B-----\n",
        "-----BEGIN A-----\nTUlJ\n-----END B-----\n",
        "-----BEGIN A-----\nTUlJ\n-----END A----\n",
        "----BEGIN A-----\nTUlJ\n-----END A-----\n",
        "-----BEGIN A------\nTUlJ\n-----END A-----\n",
        "-----BEGIN A--B-----\nTUlJ\n-----END A--B-----\n",
        "-----BEGIN  A-----\nTUlJ\n-----END  A-----\n",
        "-----BEGIN A -----\nTUlJ\n-----END A -----\n",
        "-----BEGIN é-----\nTUlJ\n-----END é-----\n",
        "-----BEGIN A-----\nTUl\n-----END A-----\n",
        "-----BEGIN A-----\nTUlJQg=\n-----END A-----\n",
        "-----BEGIN A-----\nTUlJQ===\n-----END A-----\n",
        "-----BEGIN A-----\nTUlJ====\n-----END A-----\n",
        "-----BEGIN A-----\nTU==TUlJ\n-----END A-----\n",
        "-----BEGIN A-----\nTU=J\n-----END A-----\n",
        "-----BEGIN A-----\nTU-_\n-----END A-----\n",
        "-----BEGIN A-----\nTUlJ\u{b}\n-----END A-----\n",
        "-----BEGIN A-----\nTUlJ\n-----BEGIN B-----\nTUlJ\n-----END B-----\n-----END A-----\n",
        "-----BEGIN A-----\nKey: value\nTUlJ\n-----END A-----\n",
        "-----BEGIN A-----\nKey: value\n-----END A-----\n",
        "-----BEGIN A-----\nKey: value\n folded\n\nTUlJ\n-----END A-----\n",
        "-----BEGIN A-----\n: value\n\nTUlJ\n-----END A-----\n",
        "-----BEGIN A-----\nA key: value\n\nTUlJ\n-----END A-----\n",
        "-----BEGIN A-----\nTUlJ\nKey: value\n\nTUlJ\n-----END A-----\n",
    ];

    #[test]
    fn takes_whole_blocks_and_nothing_else() {
        for text in VALID {
            assert!(is_valid(text.as_bytes()), "{text:?}");
        }
        for text in INVALID {
            assert!(!is_valid(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn a_line_of_a_megabyte_is_judged() {
        let body = "TUlJ".repeat(1 << 18);
        assert!(is_valid(format!("-----BEGIN A-----\n{body}\n-----END A-----\n").as_bytes()));
        assert!(!is_valid("-----BEGIN ".repeat(1 << 16).as_bytes()));
        assert!(!is_valid("-----BEGIN A-----\n".repeat(1 << 16).as_bytes()));
    }

    proptest! {
        #[test]
        fn any_bytes_have_an_answer(value in "(-----(BEGIN|END) A-----|[-\n\r :=A]|TUlJ){0,12}") {
            is_valid(value.as_bytes());
        }

        #[test]
        fn a_truncated_block_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..80), cut in any::<prop::sample::Index>()) {
            use base64::Engine as _;
            let body = base64::engine::general_purpose::STANDARD.encode(bytes);
            let whole = format!("-----BEGIN KEY-----\n{body}\n-----END KEY-----");
            prop_assert!(is_valid(whole.as_bytes()));
            let end = cut.index(whole.len());
            prop_assert!(!is_valid(&whole.as_bytes()[..end]));
        }
    }
}
