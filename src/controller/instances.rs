//! Which PostgreSQLInstances exist, and who must be told when that changes.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use futures::{Stream, stream};
use tokio::sync::broadcast;

use crate::status::database::InstanceSeen;

/// How many changes a reader may fall behind before it looks at everything instead.
const BACKLOG: usize = 256;

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// This Instance appeared, began to go, or went.
    Of(String),
    /// Anything may have changed.
    Any,
}

/// The Instances by name, once they are known.
pub(super) struct Instances {
    known: RwLock<Option<HashMap<String, bool>>>,
    changes: broadcast::Sender<Change>,
}

impl Instances {
    /// Nothing is known yet.
    pub(super) fn new() -> Self {
        Self { known: RwLock::new(None), changes: broadcast::channel(BACKLOG).0 }
    }

    /// What is known of the Instance `name`; `None` while nothing is known of any.
    pub(super) fn seen(&self, name: &str) -> Option<InstanceSeen> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        Some(match known.as_ref()?.get(name) {
            Some(false) => InstanceSeen::Present,
            Some(true) => InstanceSeen::Deleting,
            None => InstanceSeen::Absent,
        })
    }

    /// The Instance `name` exists, and is perhaps being deleted; `None`: it is gone.
    pub(super) fn set(&self, name: &str, deleting: Option<bool>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let instances = known.get_or_insert_default();
        let before = match deleting {
            Some(deleting) => instances.insert(name.to_owned(), deleting),
            None => instances.remove(name),
        };
        if before != deleting {
            // Nobody listens yet: fine.
            let _ = self.changes.send(Change::Of(name.to_owned()));
        }
    }

    /// Every Instance that exists has been set.
    pub(super) fn complete(&self) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
        let _ = self.changes.send(Change::Any);
    }

    /// All changes from now on.
    pub(super) fn changes(&self) -> impl Stream<Item = Change> + Send + use<> {
        stream::unfold(self.changes.subscribe(), |mut receiver| async move {
            let change = match receiver.recv().await {
                Ok(change) => change,
                Err(broadcast::error::RecvError::Lagged(_)) => Change::Any,
                Err(broadcast::error::RecvError::Closed) => return None,
            };
            Some((change, receiver))
        })
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt as _;

    use super::*;

    #[tokio::test]
    async fn nothing_is_said_before_the_list_is_complete() {
        let instances = Instances::new();
        assert_eq!(instances.seen("main"), None);
        let mut changes = Box::pin(instances.changes());
        instances.complete();
        assert_eq!(instances.seen("main"), Some(InstanceSeen::Absent));
        instances.set("main", Some(false));
        instances.set("main", Some(false));
        instances.set("main", Some(true));
        assert_eq!(instances.seen("main"), Some(InstanceSeen::Deleting));
        instances.set("main", None);
        assert_eq!(instances.seen("main"), Some(InstanceSeen::Absent));
        let main = || Change::Of("main".to_owned());
        let seen: Vec<_> = changes.by_ref().take(4).collect().await;
        assert_eq!(seen, [Change::Any, main(), main(), main()]);
    }
}
