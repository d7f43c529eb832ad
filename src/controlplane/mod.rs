//! A local Kubernetes control plane of real binaries (etcd, kube-apiserver, kube-controller-manager), for the demo and
//! for tests. Nothing here knows what Covenant installs into it, and nothing here runs inside a cluster.
//!
//! - [`binaries`] finds or obtains the parts for one Kubernetes version and keeps them in a cache.
//! - [`supervise`] is the other process that holds the parts and ends them when this one ends, however it ends.
//! - [`ControlPlane`] starts the parts and hands out kubeconfigs, the audit log, and a way to run `kubectl`.
//!
//! Every function here blocks and none needs an async runtime; from async code call them in `spawn_blocking`.

pub mod audit;
pub mod binaries;
mod blocking;
mod command;
mod error;
mod kubeconfig;
mod kubectl;
mod parts;
mod start;
pub mod supervise;
pub mod version;

pub use binaries::{Binaries, Binary, Provider};
pub use error::Error;
pub use kubectl::Output;
pub use parts::{ETCD, KUBE_APISERVER, KUBE_CONTROLLER_MANAGER};
pub use start::{ControlPlane, Options};
pub use supervise::{ExitStatus, ProcessRequest, Signal};
pub use version::Version;
