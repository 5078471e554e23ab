//! Binding the pod's volumes: what is written, and whether all is bound (kube-scheduler
//! `BindPodVolumes`, `checkBindings`).
//!
//! Each write carries the version that it was decided upon, so that whatever the API server
//! shows afterwards under another version has it.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{
    Actions, Catalog, ClusterEvent, Effect, EventResource, ObjectWrite, PreBindOutcome,
    PreBindStep, Rejection, WriteVerb,
};
use plimsoll_objects::volume::{BOUND_BY_CONTROLLER, SELECTED_NODE};
use plimsoll_objects::{
    Node, ObjectKey, ObjectKind, ObjectMeta, PersistentVolume, PersistentVolumeClaim,
};
use serde_json::{Value, json};

use super::find::affinity_on;

/// What is to be bound for a pod that has a node.
#[derive(Debug, Clone)]
pub(super) struct Binding {
    /// The node as it was chosen. `Differs:` kube-scheduler looks at its labels of the moment.
    node: Arc<Node>,
    /// Volumes that are there.
    pub(super) bound: Vec<BoundVolume>,
    /// Volumes that are to be made.
    pub(super) made: Vec<MadeVolume>,
    is_written: bool,
    deadline: Option<Duration>,
}

/// A claim and the volume that is set aside for it.
#[derive(Debug, Clone)]
pub(super) struct BoundVolume {
    /// The claim.
    pub(super) claim: Arc<PersistentVolumeClaim>,
    /// The volume as it is to be.
    pub(super) volume: Arc<PersistentVolume>,
    /// The API server does not have it so.
    pub(super) is_written: bool,
}

/// A claim whose volume is to be made.
#[derive(Debug, Clone)]
pub(super) struct MadeVolume {
    /// The claim as it is to be.
    pub(super) claim: Arc<PersistentVolumeClaim>,
    /// The API server does not have it so.
    pub(super) is_written: bool,
}

// === impl Binding ===

impl Binding {
    /// Nothing to bind on `node`.
    pub(super) fn new(node: Arc<Node>) -> Self {
        Self {
            node,
            bound: Vec::new(),
            made: Vec::new(),
            is_written: false,
            deadline: None,
        }
    }

    /// Writes first, then waits until all is bound, at most `timeout`.
    ///
    /// # Errors
    /// A volume or claim is not as it was written any more, or the time is up.
    pub(super) fn step(
        &mut self,
        step: &PreBindStep<'_>,
        timeout: Duration,
    ) -> Result<PreBindOutcome, Rejection> {
        if !self.is_written {
            self.is_written = true;
            let effects = self.effects();
            if !effects.is_empty() {
                return Ok(PreBindOutcome::Do(effects));
            }
        }
        let fail = |text: &str| Rejection::error(format!("binding volumes: {text}"));
        if self.is_done(step.catalog).map_err(|text| fail(&text))? {
            return Ok(PreBindOutcome::Done);
        }
        let now = step.now.mono;
        let deadline = *self.deadline.get_or_insert(now.saturating_add(timeout));
        if now >= deadline {
            return Err(fail("context deadline exceeded"));
        }
        let events = [
            EventResource::PersistentVolume,
            EventResource::PersistentVolumeClaim,
        ];
        let events = events.map(|resource| {
            let actions = Actions::ADD | Actions::UPDATE | Actions::DELETE;
            ClusterEvent::new(resource, actions)
        });
        Ok(PreBindOutcome::WaitUntil {
            events: events.into(),
            deadline,
        })
    }

    fn effects(&self) -> Vec<Effect> {
        let bound = self.bound.iter().filter(|bound| bound.is_written);
        let volumes = bound.map(|bound| {
            let kind = ObjectKind::PersistentVolume;
            write(kind, &bound.volume.meta.key, bound.patch())
        });
        let made = self.made.iter().filter(|made| made.is_written);
        let claims = made.map(|made| {
            let annotations = json!({SELECTED_NODE: &**self.node.name()});
            let patch = json!({"metadata": metadata(&made.claim.meta, &annotations)});
            write(
                ObjectKind::PersistentVolumeClaim,
                &made.claim.meta.key,
                patch,
            )
        });
        volumes.chain(claims).collect()
    }

    /// Whether every claim is bound.
    fn is_done(&self, catalog: &Catalog) -> Result<bool, String> {
        for bound in &self.bound {
            if !self.is_bound(bound, catalog)? {
                return Ok(false);
            }
        }
        for made in &self.made {
            if !self.is_made(made, catalog)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_bound(&self, bound: &BoundVolume, catalog: &Catalog) -> Result<bool, String> {
        let failed = |text| format!("failed to check binding: {text}");
        let name = &bound.volume.meta.key;
        let volume = catalog.persistent_volumes.stored(name);
        let volume = volume.ok_or_else(|| failed(gone(ObjectKind::PersistentVolume, name)))?;
        let claim = stored_claim(&bound.claim, catalog).map_err(failed)?;
        if bound.is_written && is_older(&volume.meta, &bound.volume.meta) {
            return Ok(false);
        }
        self.check_affinity(volume, catalog)
            .map_err(|error| error.text("failed to translate pv to csi: "))?;
        let to = volume.claim_ref.as_ref();
        if to.and_then(|to| to.uid.as_ref()).is_none() {
            return Err(format!("ClaimRef got reset for pv {:?}", &*name.name));
        }
        Ok(claim.is_fully_bound())
    }

    fn is_made(&self, made: &MadeVolume, catalog: &Catalog) -> Result<bool, String> {
        let claim = stored_claim(&made.claim, catalog)
            .map_err(|text| format!("failed to check provisioning pvc: {text}"))?;
        if made.is_written && is_older(&claim.meta, &made.claim.meta) {
            return Ok(false);
        }
        let name = &*claim.meta.key.name;
        if !claim.annotated {
            return Err(format!("selectedNode annotation reset for PVC {name:?}"));
        }
        if claim.selected_node.as_ref() != Some(self.node.name()) {
            return Err(format!("provisioning failed for PVC {name:?}"));
        }
        if let Some(volume) = &claim.volume {
            let key = ObjectKey::new("", volume);
            // The volume may be later than its claim.
            let Some(volume) = catalog.persistent_volumes.stored(&key) else {
                return Ok(false);
            };
            self.check_affinity(volume, catalog)
                .map_err(|error| error.text(""))?;
        }
        Ok(claim.is_fully_bound())
    }

    /// The node must be able to reach the volume.
    fn check_affinity(&self, volume: &PersistentVolume, catalog: &Catalog) -> Result<(), Unfit> {
        let node = self.node.name();
        let csi_node = || catalog.csi_nodes.called(node).map(|found| &**found);
        let affinity = affinity_on(volume, csi_node)
            .map_err(|mistake| Unfit::Translation(format!("could not translate pv: {mistake}")))?;
        match affinity {
            Some(affinity) if !affinity.matches(&self.node.meta.labels) => {
                let (name, mismatch) = (&*volume.meta.key.name, affinity.mismatch());
                Err(Unfit::Affinity(format!(
                    "pv {name:?} node affinity doesn't match node {:?}: {mismatch}",
                    &**node
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Why a node cannot have a volume.
enum Unfit {
    /// The volume cannot be taken as that of a CSI driver.
    Translation(String),
    /// The node does not reach it.
    Affinity(String),
}

// === impl Unfit ===

impl Unfit {
    /// The text; that of a translation is told where it comes from.
    fn text(self, translation: &str) -> String {
        match self {
            Self::Translation(text) => format!("{translation}{text}"),
            Self::Affinity(text) => text,
        }
    }
}

// === impl BoundVolume ===

impl BoundVolume {
    /// What sets the volume aside for its claim.
    fn patch(&self) -> Value {
        let claim = &self.claim.meta;
        let (kind, version) = (ObjectKind::PersistentVolumeClaim, &*claim.resource_version);
        let (api_version, kind) = kind.type_meta();
        let mut to = json!({
            "apiVersion": api_version,
            "kind": kind,
            "namespace": &*claim.key.namespace,
            "name": &*claim.key.name,
            "uid": &*claim.uid.0,
        });
        if !version.is_empty() {
            to["resourceVersion"] = version.into();
        }
        let annotations = if self.volume.bound_by_controller {
            json!({BOUND_BY_CONTROLLER: "yes"})
        } else {
            json!({})
        };
        let metadata = metadata(&self.volume.meta, &annotations);
        json!({"metadata": metadata, "spec": {"claimRef": to}})
    }
}

/// Metadata of a patch: only the very version that was looked at is changed.
fn metadata(meta: &ObjectMeta, annotations: &Value) -> Value {
    let mut metadata = json!({"annotations": annotations});
    if !meta.resource_version.is_empty() {
        metadata["resourceVersion"] = (*meta.resource_version).into();
    }
    metadata
}

fn write(kind: ObjectKind, key: &ObjectKey, patch: Value) -> Effect {
    let (api_version, kind) = kind.type_meta();
    Effect::Write(ObjectWrite {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        key: key.clone(),
        subresource: String::new(),
        verb: WriteVerb::MergePatch(patch),
    })
}

fn stored_claim<'c>(
    claim: &PersistentVolumeClaim,
    catalog: &'c Catalog,
) -> Result<&'c PersistentVolumeClaim, String> {
    let key = &claim.meta.key;
    let stored = catalog.persistent_volume_claims.stored(key);
    let stored = stored.map(|claim| &**claim);
    stored.ok_or_else(|| gone(ObjectKind::PersistentVolumeClaim, key))
}

fn gone(kind: ObjectKind, key: &ObjectKey) -> String {
    format!("{} \"{key}\" not found", kind.plural())
}

/// Whether `stored` is still what the write was decided upon.
fn is_older(stored: &ObjectMeta, upon: &ObjectMeta) -> bool {
    !upon.resource_version.is_empty() && stored.resource_version == upon.resource_version
}
