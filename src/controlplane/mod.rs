//! A local Kubernetes control plane of real binaries, for the demo and for tests.
