//! Bytes that are somebody's secret.

use zeroize::Zeroizing;

/// Bytes read from a Secret. They are overwritten when dropped, and there is no way to print, compare, copy or
/// serialise them: whoever must look asks for [`expose`](Self::expose) and keeps what it sees to itself.
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    /// Takes the bytes over.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The bytes, for a rule that must read them. Nothing made from them may leave the rule but a yes or no.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl From<Zeroizing<Vec<u8>>> for SecretBytes {
    fn from(bytes: Zeroizing<Vec<u8>>) -> Self {
        Self(bytes)
    }
}
