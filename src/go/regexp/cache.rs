//! Compiled patterns kept between evaluations, bounded by the memory they hold: contracts are judged again and again,
//! and their patterns seldom change.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{PatternError, Program};

/// The memory that a cache holds unless told otherwise, in bytes.
pub const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// What an entry costs beyond its program and its two copies of the pattern, in bytes: map nodes and their keys.
const ENTRY_BYTES: usize = 256;

/// Programs by their patterns; the least recently used ones leave when their memory is needed.
#[derive(Debug)]
pub struct Cache {
    limit: usize,
    held: usize,
    /// Counts the uses, so that each has a number of its own.
    uses: u64,
    entries: HashMap<Arc<str>, Entry>,
    /// The patterns by the number of their last use.
    by_use: BTreeMap<u64, Arc<str>>,
}

#[derive(Debug)]
struct Entry {
    program: Arc<Program>,
    last_use: u64,
}

impl Cache {
    /// An empty cache that holds up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, held: 0, uses: 0, entries: HashMap::new(), by_use: BTreeMap::new() }
    }

    /// The program of `pattern`, compiled if it is not at hand. Faulty patterns are not remembered: they are found out
    /// before anything is matched.
    pub fn program(&mut self, pattern: &str) -> Result<Arc<Program>, PatternError> {
        self.uses += 1;
        if let Some(entry) = self.entries.get_mut(pattern) {
            if let Some(key) = self.by_use.remove(&entry.last_use) {
                self.by_use.insert(self.uses, key);
            }
            entry.last_use = self.uses;
            return Ok(Arc::clone(&entry.program));
        }
        let program = Arc::new(Program::compile(pattern)?);
        let cost = cost(pattern, &program);
        // One that would fill the cache alone is better compiled again.
        if cost <= self.limit {
            self.make_room(cost);
            let key: Arc<str> = pattern.into();
            self.held += cost;
            self.by_use.insert(self.uses, Arc::clone(&key));
            self.entries.insert(key, Entry { program: Arc::clone(&program), last_use: self.uses });
        }
        Ok(program)
    }

    /// The memory that the cache holds, in bytes; never more than its limit.
    pub fn size_bytes(&self) -> usize {
        self.held
    }

    fn make_room(&mut self, cost: usize) {
        while self.held + cost > self.limit
            && let Some((_, pattern)) = self.by_use.pop_first()
        {
            if let Some(entry) = self.entries.remove(&pattern) {
                self.held -= self::cost(&pattern, &entry.program);
            }
        }
    }
}

impl Default for Cache {
    /// A cache of [`CACHE_BYTES`].
    fn default() -> Self {
        Self::new(CACHE_BYTES)
    }
}

fn cost(pattern: &str, program: &Program) -> usize {
    program.size_bytes() + pattern.len() + ENTRY_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the cache still has the very program it gave before.
    fn kept(cache: &mut Cache, pattern: &str, program: &Arc<Program>) -> bool {
        Arc::ptr_eq(&cache.program(pattern).unwrap(), program)
    }

    #[test]
    fn a_pattern_is_compiled_once() {
        let mut cache = Cache::default();
        let program = cache.program("a+").unwrap();
        let held = cache.size_bytes();
        assert!(kept(&mut cache, "a+", &program));
        assert_eq!(cache.size_bytes(), held);
        assert!(held > program.size_bytes());
    }

    #[test]
    fn faulty_patterns_leave_nothing_behind() {
        let mut cache = Cache::default();
        assert!(cache.program("a(").is_err());
        assert_eq!(cache.size_bytes(), 0);
    }

    #[test]
    fn the_least_recently_used_leaves_first() {
        let one = cost("a", &Program::compile("a").unwrap());
        let mut cache = Cache::new(2 * one);
        let a = cache.program("a").unwrap();
        let b = cache.program("b").unwrap();
        assert!(kept(&mut cache, "a", &a));
        let c = cache.program("c").unwrap();
        assert!(kept(&mut cache, "a", &a));
        assert!(kept(&mut cache, "c", &c));
        assert!(!kept(&mut cache, "b", &b));
        assert_eq!(cache.size_bytes(), 2 * one);
    }

    #[test]
    fn memory_stays_within_the_limit() {
        const LIMIT: usize = 56 * 1024;
        let mut cache = Cache::new(LIMIT);
        for count in 1..=1_000 {
            // The larger ones do not fit at all.
            cache.program(&format!("x{{{count}}}y{{1000}}z{{1000}}w{{1000}}v{{1000}}")).unwrap();
            cache.program(&format!("{count}")).unwrap();
            assert!(cache.size_bytes() <= LIMIT);
        }
        assert!(cache.size_bytes() > LIMIT / 2);
        assert_eq!(cache.entries.len(), cache.by_use.len());
    }
}
