//! Volumes of pods, persistent volumes, claims, and storage.

mod storage;

use std::sync::Arc;

use serde_json::{Value, json};

use super::garbage::mutations;
use super::pod;
use crate::decode::{persistent_volume, persistent_volume_claim};
use crate::meta::{Labels, ObjectKey, Uid};
use crate::pod_volume::{Disk, InlineMigration, InlineVolume, PodVolume};
use crate::quantity::Quantity;
use crate::volume::{
    ClaimRef, InTreePlugin, Migration, PersistentVolume, PersistentVolumeClaim, VolumeSource,
};

fn labels(pairs: &[(&str, &str)]) -> Labels {
    let pairs = pairs.iter();
    pairs
        .map(|(key, value)| (Arc::from(*key), Arc::from(*value)))
        .collect()
}

fn volume(json: &Value) -> PersistentVolume {
    persistent_volume(json.to_string().as_bytes()).unwrap()
}

fn claim(json: &Value) -> PersistentVolumeClaim {
    persistent_volume_claim(json.to_string().as_bytes()).unwrap()
}

fn pod_with(volumes: &Value) -> Value {
    json!({"metadata": {"name": "a"}, "spec": {"volumes": volumes}})
}

fn inline(disk: Option<Disk>, plugin: InTreePlugin, handle: &str) -> PodVolume {
    PodVolume::Inline(Box::new(InlineVolume {
        name: Arc::from("v"),
        disk,
        migration: Some(InlineMigration {
            plugin,
            handle: Ok(Arc::from(handle)),
        }),
    }))
}

fn every_source() -> Value {
    json!([
        {"name": "v", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
        {"name": "v", "gcePersistentDisk": {"pdName": "d", "readOnly": true}},
        {"name": "v", "awsElasticBlockStore": {"volumeID": "aws://z/vol-1"}},
        {"name": "v", "azureDisk": {"diskName": "d", "diskURI": "/d", "kind": "Managed"}},
        {"name": "v", "azureFile": {"secretName": "s", "shareName": "s"}},
        {"name": "v", "cinder": {"volumeID": "c"}},
        {"name": "v", "portworxVolume": {"volumeID": "p"}},
        {"name": "v", "vsphereVolume": {"volumePath": "/v"}},
    ])
}

#[test]
fn a_pod_keeps_the_volumes_that_bear_on_its_node() {
    let gce = Disk::Gce {
        name: Arc::from("d"),
        read_only: true,
    };
    let ebs = Disk::Ebs {
        id: Arc::from("aws://z/vol-1"),
    };
    let handle = "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d";
    let expected = [
        PodVolume::Claim(Arc::from("c")),
        PodVolume::Ephemeral(Arc::from("v")),
        inline(Some(gce), InTreePlugin::GcePd, handle),
        inline(Some(ebs), InTreePlugin::AwsEbs, "vol-1"),
        inline(None, InTreePlugin::AzureDisk, "/d"),
        inline(None, InTreePlugin::AzureFile, ""),
        inline(None, InTreePlugin::Cinder, "c"),
        inline(None, InTreePlugin::Portworx, "p"),
        inline(None, InTreePlugin::Vsphere, "/v"),
    ];
    assert_eq!(pod(&pod_with(&every_source())).volumes(), expected);
    let others = json!([
        {"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "c"}},
        {"name": "c", "csi": {"driver": "d"}}, {"name": "d", "persistentVolumeClaim": null}, null,
    ]);
    assert!(pod(&pod_with(&others)).spec.constraints.is_none());
}

#[test]
fn a_pod_on_a_node_keeps_its_volumes() {
    let mut placed = pod_with(&every_source());
    placed["spec"]["nodeName"] = "n1".into();
    assert_eq!(pod(&placed).volumes().len(), 9);
}

#[test]
fn claims_are_named_or_made_for_the_pod() {
    let pod = pod(&pod_with(&every_source()));
    let keys: Vec<_> = pod.volumes().iter().map(|v| v.claim_of(&pod)).collect();
    assert_eq!(keys[0], Some(ObjectKey::new("default", "c")));
    assert_eq!(keys[1], Some(ObjectKey::new("default", "a-v")));
    assert!(keys[2..].iter().all(Option::is_none));
}

#[test]
fn iscsi_and_rbd_disks_are_known_by_their_names() {
    let pod = pod(&pod_with(&json!([
        {"name": "v", "iscsi": {"targetPortal": "10.0.0.9:3260", "iqn": "iqn.x", "lun": 0}},
        {"name": "v", "rbd": {"monitors": ["m1", "m2"], "image": "i", "pool": "rbd", "readOnly": true}},
    ])));
    let disks: Vec<_> = pod.volumes().iter().filter_map(PodVolume::disk).collect();
    let iscsi = Disk::Iscsi {
        iqn: Arc::from("iqn.x"),
        read_only: false,
    };
    let rbd = Disk::Rbd {
        monitors: Box::new([Arc::from("m1"), Arc::from("m2")]),
        pool: Arc::from("rbd"),
        image: Arc::from("i"),
        read_only: true,
    };
    assert_eq!(disks, [&iscsi, &rbd]);
}

fn full_volume() -> Value {
    json!({
        "metadata": {
            "name": "pv", "uid": "u", "resourceVersion": "7", "labels": {"grade": "gold"},
            "annotations": {"pv.kubernetes.io/bound-by-controller": "yes"},
        },
        "spec": {
            "capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"],
            "volumeMode": "Block", "storageClassName": "fast", "volumeAttributesClassName": "vac",
            "claimRef": {"namespace": "ns", "name": "c", "uid": "u-c"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": "zone", "operator": "In", "values": ["a", "b"]}]}]}},
            "csi": {"driver": "csi.example.com", "volumeHandle": "h"},
        },
        "status": {"phase": "Available"},
    })
}

#[test]
fn a_volume_is_read_with_everything_that_binding_it_needs() {
    let volume = volume(&full_volume());
    assert_eq!(volume.capacity, "10Gi".parse::<Quantity>().unwrap());
    assert_eq!((&*volume.mode, &*volume.attributes_class), ("Block", "vac"));
    assert_eq!((&*volume.class, &*volume.spec_class), ("fast", "fast"));
    assert!(volume.available && volume.bound_by_controller);
    let claim_ref = ClaimRef {
        key: ObjectKey::new("ns", "c"),
        uid: Some(Uid(Arc::from("u-c"))),
    };
    assert_eq!(volume.claim_ref, Some(claim_ref));
    let source = VolumeSource::Csi {
        driver: Arc::from("csi.example.com"),
        handle: Arc::from("h"),
    };
    assert_eq!(volume.source, source);
    let affinity = volume.affinity.unwrap();
    assert!(affinity.matches(&labels(&[("zone", "b")])));
    assert!(!affinity.matches(&labels(&[("zone", "c")])));
    assert_eq!(affinity.mismatch(), "no matching NodeSelectorTerms");
    let pins = affinity.pins().unwrap();
    assert_eq!(
        (pins.len(), &*pins[0].key, pins[0].values.len()),
        (1, "zone", 2)
    );
}

#[test]
fn an_empty_volume_has_the_defaults() {
    let volume = volume(&json!({"metadata": {"name": "pv"}, "spec": null, "status": {}}));
    assert!(volume.capacity.is_zero() && !volume.available);
    assert_eq!((&*volume.mode, &*volume.class), ("Filesystem", ""));
    assert_eq!((volume.claim_ref, volume.affinity), (None, None));
    assert_eq!(volume.source, VolumeSource::Other);
}

#[test]
fn the_beta_annotation_names_the_class_before_the_field() {
    let mut json = full_volume();
    json["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"] = "old".into();
    let volume = volume(&json);
    assert_eq!((&*volume.class, &*volume.spec_class), ("old", "fast"));
    let mut json = full_claim();
    json["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"] = "".into();
    assert_eq!(claim(&json).class, None);
}

#[test]
fn of_fields_no_term_of_a_volume_asks() {
    let terms = json!([{"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": ["n1"]}]}, {}]);
    let mut json = full_volume();
    json["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] = terms;
    let affinity = volume(&json).affinity.unwrap();
    assert!(affinity.matches(&labels(&[])));
    assert_eq!(affinity.pins(), None);
    json["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] = json!([{}]);
    assert!(!volume(&json).affinity.unwrap().matches(&labels(&[])));
}

#[test]
fn a_mistake_in_the_affinity_matches_no_node_and_is_told() {
    let mut json = full_volume();
    json["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"][0]["operator"] =
        "Near".into();
    let affinity = volume(&json).affinity.unwrap();
    assert!(!affinity.matches(&labels(&[("zone", "a")])));
    let text = affinity.mismatch();
    assert!(
        text.starts_with("nodeSelectorTerms[0].matchExpressions[0].operator: "),
        "{text}"
    );
}

#[test]
fn a_disk_of_a_cloud_has_a_csi_volume_that_stands_for_it() {
    let mut json = full_volume();
    json["spec"]["csi"] = Value::Null;
    json["spec"]["nodeAffinity"] = Value::Null;
    json["spec"]["gcePersistentDisk"] = json!({"pdName": "d"});
    json["metadata"]["labels"] = json!({"failure-domain.beta.kubernetes.io/zone": "eu-west1-b"});
    let VolumeSource::InTree(migration) = volume(&json).source else {
        panic!("a GCE disk is a volume of a plugin that was moved");
    };
    let Migration { plugin, translated } = *migration;
    let translated = translated.unwrap();
    assert_eq!(plugin, InTreePlugin::GcePd);
    assert_eq!(
        &*translated.handle,
        "projects/UNSPECIFIED/zones/eu-west1-b/disks/d"
    );
    let affinity = translated.affinity.unwrap();
    assert!(affinity.matches(&labels(&[("topology.gke.io/zone", "eu-west1-b")])));
    assert!(!affinity.matches(&labels(&[("topology.kubernetes.io/zone", "eu-west1-b")])));
}

#[test]
fn a_disk_that_cannot_be_translated_says_why() {
    let spec = json!({"azureDisk": {"diskName": "d", "diskURI": "/d", "kind": "Dedicated"}});
    let VolumeSource::InTree(migration) = volume(&json!({"spec": spec})).source else {
        panic!("an Azure disk is a volume of a plugin that was moved");
    };
    let text = migration.translated.unwrap_err();
    assert_eq!(&*text, "kind(Dedicated) is not supported in csi migration");
}

fn full_claim() -> Value {
    json!({
        "metadata": {"name": "c", "namespace": "ns", "uid": "u-c", "annotations": {
            "volume.kubernetes.io/selected-node": "n1", "pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {
            "volumeName": "pv", "storageClassName": "fast", "accessModes": ["ReadWriteOncePod"],
            "volumeMode": "Block", "volumeAttributesClassName": "vac",
            "resources": {"requests": {"storage": "5Gi"}},
            "selector": {"matchLabels": {"grade": "gold"}},
        },
        "status": {"phase": "Lost"},
    })
}

#[test]
fn a_claim_is_read_with_everything_that_binding_it_needs() {
    let claim = claim(&full_claim());
    assert_eq!(claim.volume.as_deref(), Some("pv"));
    assert_eq!(claim.class.as_deref(), Some("fast"));
    assert_eq!(claim.requested, Some("5Gi".parse().unwrap()));
    assert_eq!(claim.selected_node.as_deref(), Some("n1"));
    assert!(claim.lost && claim.annotated && claim.is_fully_bound());
    assert!(
        claim
            .selector
            .unwrap()
            .matches(&labels(&[("grade", "gold")]))
    );
    assert!(volume(&full_volume()).is_bound_to(&self::claim(&full_claim())));
}

#[test]
fn an_empty_claim_asks_for_nothing() {
    let claim = claim(&json!({"metadata": {"name": "c"}}));
    assert_eq!(claim.meta.key, ObjectKey::new("default", "c"));
    assert_eq!(
        (claim.volume, claim.class, claim.requested),
        (None, None, None)
    );
    assert_eq!((&*claim.mode, claim.selector), ("Filesystem", None));
    assert!(!claim.lost && !claim.annotated && !claim.bind_completed);
}

#[test]
fn a_mistake_is_told_with_its_path() {
    let mut json = full_claim();
    json["spec"]["resources"]["requests"]["storage"] = "much".into();
    let error = persistent_volume_claim(json.to_string().as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "spec.resources.requests.storage: invalid quantity"
    );
    let mut json = full_volume();
    json["spec"]["accessModes"] = "all".into();
    let error = persistent_volume(json.to_string().as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "spec.accessModes: unexpected JSON");
}

#[test]
fn with_any_field_made_odd_they_are_an_error_or_an_object() {
    let whole = claim(&full_claim());
    let mut in_tree = full_volume();
    in_tree["spec"]["csi"] = Value::Null;
    in_tree["spec"]["awsElasticBlockStore"] = json!({"volumeID": "aws://z/vol-1"});
    for json in [full_volume(), in_tree] {
        mutations(&json, |mutated| {
            if let Ok(volume) = persistent_volume(mutated.to_string().as_bytes()) {
                volume.is_bound_to(&whole);
                if let Some(affinity) = volume.affinity {
                    assert_ne!(affinity.mismatch(), "");
                }
            }
        });
    }
    let volume = volume(&full_volume());
    mutations(&full_claim(), |mutated| {
        if let Ok(claim) = persistent_volume_claim(mutated.to_string().as_bytes()) {
            volume.is_bound_to(&claim);
        }
    });
    mutations(&pod_with(&every_source()), |mutated| {
        if let Ok(pod) = crate::decode::decode_pod(mutated.to_string().as_bytes()) {
            let disks = || pod.volumes().iter().filter_map(PodVolume::disk);
            assert!(disks().all(|disk| disks().any(|other| disk == other)));
        }
    });
}
