//! Makes certificate authorities and leaves. No file and no network here.
