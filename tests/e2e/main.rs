//! Tests against a real Kubernetes control plane: the programs that are shipped, with the
//! rights that the chart gives them, on etcd and kube-apiserver.

mod agents;
mod api_server;
mod beside;
mod controlplane;
mod crash;
mod deploy;
mod devices;
mod dump;
mod extender;
mod kubectl;
mod leader;
mod memory;
mod preemption;
mod rig;
mod schedulers;
mod topology;
mod volumes;
mod words;
