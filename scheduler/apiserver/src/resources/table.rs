//! The table of resources, and the words it is written in.

use super::{
    Alias, Field,
    Quirk::{
        self, ConditionalUpdate, CreateOnUpdate, Generation, InAll, LabelName, ResetsStatus,
        ReturnsDeleted,
    },
    Resource,
    Subresource::{self, Binding, Eviction, Scale, Status},
    alias, fields,
};

pub(super) static RESOURCES: &[Resource] = &[
    core("pods", "Pod")
        .namespaced()
        .short(&["po"])
        .fields(fields::POD)
        .parts(&[Status, Binding, Eviction])
        .quirks(&[ResetsStatus, Generation, ReturnsDeleted, InAll]),
    core("nodes", "Node")
        .short(&["no"])
        .fields(fields::NODE)
        .parts(&[Status]),
    core("namespaces", "Namespace")
        .short(&["ns"])
        .fields(fields::PHASE)
        .parts(&[Status])
        .quirks(&[LabelName]),
    core("services", "Service")
        .namespaced()
        .short(&["svc"])
        .parts(&[Status])
        .quirks(&[LabelName, ReturnsDeleted, InAll]),
    core("events", "Event")
        .namespaced()
        .short(&["ev"])
        .fields(fields::EVENT)
        .quirks(&[CreateOnUpdate]),
    core("configmaps", "ConfigMap").namespaced().short(&["cm"]),
    core("persistentvolumeclaims", "PersistentVolumeClaim")
        .namespaced()
        .short(&["pvc"])
        .parts(&[Status])
        .quirks(&[ResetsStatus, ReturnsDeleted]),
    core("persistentvolumes", "PersistentVolume")
        .short(&["pv"])
        .parts(&[Status])
        .quirks(&[ResetsStatus, ReturnsDeleted]),
    core("serviceaccounts", "ServiceAccount")
        .namespaced()
        .short(&["sa"])
        .quirks(&[ReturnsDeleted]),
    core("replicationcontrollers", "ReplicationController")
        .namespaced()
        .short(&["rc"])
        .parts(&[Scale, Status])
        .quirks(&[ResetsStatus, Generation, InAll]),
    group("apps", "deployments", "Deployment")
        .namespaced()
        .short(&["deploy"])
        .parts(&[Scale, Status])
        .quirks(&[ResetsStatus, Generation, InAll]),
    group("apps", "replicasets", "ReplicaSet")
        .namespaced()
        .short(&["rs"])
        .parts(&[Scale, Status])
        .quirks(&[ResetsStatus, Generation, InAll]),
    group("apps", "statefulsets", "StatefulSet")
        .namespaced()
        .short(&["sts"])
        .parts(&[Scale, Status])
        .quirks(&[ResetsStatus, Generation, InAll]),
    group("apps", "daemonsets", "DaemonSet")
        .namespaced()
        .short(&["ds"])
        .parts(&[Status])
        .quirks(&[ResetsStatus, Generation, InAll]),
    group("events.k8s.io", "events", "Event")
        .namespaced()
        .short(&["ev"])
        .fields(fields::EVENT)
        .quirks(&[CreateOnUpdate])
        .alias(&alias::EVENTS),
    group("coordination.k8s.io", "leases", "Lease")
        .namespaced()
        .quirks(&[CreateOnUpdate, ConditionalUpdate]),
    group("policy", "poddisruptionbudgets", "PodDisruptionBudget")
        .namespaced()
        .short(&["pdb"])
        .parts(&[Status])
        .quirks(&[ResetsStatus, Generation, ConditionalUpdate]),
    group("storage.k8s.io", "storageclasses", "StorageClass").short(&["sc"]),
    group("storage.k8s.io", "csinodes", "CSINode").quirks(&[ConditionalUpdate]),
    group("storage.k8s.io", "csidrivers", "CSIDriver").quirks(&[ConditionalUpdate, Generation]),
    group(
        "storage.k8s.io",
        "csistoragecapacities",
        "CSIStorageCapacity",
    )
    .namespaced(),
    group("storage.k8s.io", "volumeattachments", "VolumeAttachment")
        .parts(&[Status])
        .quirks(&[ResetsStatus, ConditionalUpdate]),
    group("scheduling.k8s.io", "priorityclasses", "PriorityClass")
        .short(&["pc"])
        .quirks(&[Generation]),
];

impl Resource {
    const fn namespaced(mut self) -> Self {
        self.namespaced = true;
        self
    }

    const fn short(mut self, names: &'static [&'static str]) -> Self {
        self.short_names = names;
        self
    }

    const fn parts(mut self, parts: &'static [Subresource]) -> Self {
        self.subresources = parts;
        self
    }

    const fn fields(mut self, fields: &'static [Field]) -> Self {
        self.fields = fields;
        self
    }

    const fn alias(mut self, alias: &'static Alias) -> Self {
        self.alias = Some(alias);
        self
    }

    const fn quirks(mut self, quirks: &'static [Quirk]) -> Self {
        self.quirks = quirks;
        self
    }
}

const fn core(plural: &'static str, kind: &'static str) -> Resource {
    group("", plural, kind)
}

const fn group(group: &'static str, plural: &'static str, kind: &'static str) -> Resource {
    Resource {
        group,
        version: "v1",
        plural,
        kind,
        namespaced: false,
        short_names: &[],
        subresources: &[],
        fields: &[],
        alias: None,
        quirks: &[],
    }
}
