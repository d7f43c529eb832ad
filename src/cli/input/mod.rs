//! Reading what a person hands to the command line: files, folders and standard input, down to single objects.

pub mod object;
pub mod source;
pub mod yaml;
