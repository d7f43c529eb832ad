//! Who is to be looked at because something else has changed.

use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt as _};
use kube::ResourceExt as _;
use kube::api::DynamicObject;
use kube::runtime::reflector::{ObjectRef, Store};
use tokio::sync::broadcast;

use super::index::Place;
use crate::api::Kind;
use crate::controller::engine::reference;

/// How many a reader may fall behind before it looks at everything instead.
const BACKLOG: usize = 4096;

/// An object that is to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    /// This one.
    One(Kind, Place),
    /// Every object of the kind.
    All(Kind),
}

impl Wake {
    pub(super) fn tenant(place: &Place) -> Self {
        Self::One(Kind::PostgreSQLTenant, place.clone())
    }

    pub(super) fn database(name: &str) -> Self {
        Self::One(Kind::PostgreSQLDatabase, (String::new(), name.to_owned()))
    }

    pub(super) fn instance(name: &str) -> Self {
        Self::One(Kind::PostgreSQLInstance, (String::new(), name.to_owned()))
    }
}

/// Carries wakes from the index to the engines.
pub(super) struct Bus(broadcast::Sender<Wake>);

impl Bus {
    pub(super) fn new() -> Self {
        Self(broadcast::channel(BACKLOG).0)
    }

    pub(super) fn wake(&self, wake: Wake) {
        // Nobody listens yet: then everything is still to be looked at anyway.
        let _ = self.0.send(wake);
    }

    fn wakes(&self, kind: Kind) -> impl Stream<Item = Wake> + Send + use<> {
        stream::unfold(self.0.subscribe(), move |mut receiver| async move {
            let wake = match receiver.recv().await {
                Ok(wake) => wake,
                Err(broadcast::error::RecvError::Lagged(_)) => Wake::All(kind),
                Err(broadcast::error::RecvError::Closed) => return None,
            };
            Some((wake, receiver))
        })
    }

    /// The objects of a kind that are due, out of those in `store`.
    pub(super) fn due(
        &self,
        kind: Kind,
        store: Store<DynamicObject>,
    ) -> BoxStream<'static, ObjectRef<DynamicObject>> {
        let due = move |wake: Wake| match wake {
            Wake::One(of, (namespace, name)) if of == kind => {
                let namespace = Some(namespace.as_str()).filter(|namespace| !namespace.is_empty());
                vec![reference(kind, namespace, &name)]
            }
            Wake::All(of) if of == kind => store
                .state()
                .iter()
                .map(|object| reference(kind, object.namespace().as_deref(), &object.name_any()))
                .collect(),
            Wake::One(..) | Wake::All(_) => Vec::new(),
        };
        self.wakes(kind).flat_map(move |wake| stream::iter(due(wake))).boxed()
    }
}
