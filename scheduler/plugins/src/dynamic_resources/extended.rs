//! Extended resources that a class of devices stands behind.
//!
//! Which class it is, and the claim that a pod needs on a node that has no such resource of
//! its own (`extendeddynamicresources.go`).

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::{Catalog, NodeInfo};
use plimsoll_objects::device::{
    AllocationMode, ClaimSpec, ClaimStatus, DeviceRequest, DeviceWish, RequestKind,
};
use plimsoll_objects::pod_claim::{ExtendedContainer, ExtendedRequest, PodClaims};
use plimsoll_objects::resource_name::{DEVICE_CLASS_PREFIX, may_be_devices};
use plimsoll_objects::{
    DeviceClass, ObjectKey, ObjectMeta, OwnerReference, Pod, ResourceClaim, Uid,
};

/// The name of a claim that is not written yet, and no name that a claim can have.
const UNWRITTEN: &str = "<extended-resources>";

/// A container's extended resource and the request of the claim that it is met by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapping {
    /// The container.
    pub container: Arc<str>,
    /// The resource.
    pub resource: Arc<str>,
    /// The request.
    pub request: Arc<str>,
}

/// A claim for extended resources, and what it is for.
#[derive(Debug)]
pub(super) struct Extended {
    /// The claim.
    pub claim: Arc<ResourceClaim>,
    /// Which request is for what.
    pub mappings: Vec<Mapping>,
}

/// The class that stands behind `resource`: the one that names it, the newest if several
/// do, then the first by name; or the one whose own name it is.
pub(crate) fn class_behind<'c>(
    catalog: &'c Catalog,
    resource: &str,
) -> Option<&'c Arc<DeviceClass>> {
    if let Some(name) = resource.strip_prefix(DEVICE_CLASS_PREFIX) {
        return catalog.device_classes.named(name);
    }
    let classes = catalog.device_classes.iter();
    let naming = classes.filter(|class| class.extended_resource.as_deref() == Some(resource));
    // Of equals the first is kept: classes come by name.
    naming.reduce(|best, class| {
        if class.meta.created > best.meta.created {
            class
        } else {
            best
        }
    })
}

/// An extended resource that a pod requests.
#[derive(Debug, Clone)]
pub(super) struct Requested {
    /// Its name.
    pub resource: Arc<str>,
    /// The class behind it, if there is one.
    pub class: Option<Arc<DeviceClass>>,
}

/// The extended resources that `pod` requests; none if no class stands behind any.
pub(super) fn requested(pod: &Pod, catalog: &Catalog) -> Vec<Requested> {
    if catalog.device_classes.is_empty() {
        return Vec::new();
    }
    let scalars = pod.spec.requests.filter.scalar.iter();
    let extended = scalars.filter(|(name, amount)| **amount != 0 && may_be_devices(name));
    let extended: Vec<Requested> = extended
        .map(|(name, _)| Requested {
            resource: Arc::clone(name),
            class: class_behind(catalog, name).cloned(),
        })
        .collect();
    if extended.iter().any(|one| one.class.is_some()) {
        extended
    } else {
        Vec::new()
    }
}

/// Those of the requested resources that `node` has not itself and a class stands behind.
///
/// # Errors
/// One that the node has not, and nothing stands behind.
pub(super) fn needed_on(
    node: &NodeInfo,
    requested: &[Requested],
) -> Result<Vec<Requested>, &'static str> {
    let mut needed = Vec::new();
    for one in requested {
        let own = node.allocatable().scalar.get(&one.resource).copied();
        if own.unwrap_or(0) == 0 && one.class.is_some() {
            needed.push(one.clone());
        } else if own.is_none() {
            return Err("cannot fit resource");
        }
    }
    Ok(needed)
}

/// A claim for `needed`, by name, of `pod` (`createRequestsAndMappings`).
pub(super) fn claim_for(pod: &Pod, wanted: &PodClaims, needed: &[Requested]) -> Extended {
    let mut requests: Vec<DeviceRequest> = Vec::new();
    let mut mappings: Vec<Mapping> = Vec::new();
    for one in needed {
        if let Some(class) = &one.class {
            let drafts = Drafts::of(wanted, &one.resource);
            drafts.add_to(&class.meta.key.name, &mut requests, &mut mappings);
        }
    }
    requests.sort_by(|one, other| one.name.cmp(&other.name));
    let claim = ResourceClaim {
        meta: unwritten(pod),
        for_extended_resources: true,
        spec: ClaimSpec {
            requests: requests.into(),
            ..ClaimSpec::default()
        },
        status: ClaimStatus::default(),
    };
    Extended {
        claim: Arc::new(claim),
        mappings,
    }
}

fn unwritten(pod: &Pod) -> ObjectMeta {
    let owner = OwnerReference {
        api_version: Arc::from("v1"),
        kind: Arc::from("Pod"),
        name: Arc::clone(&pod.key().name),
        uid: pod.uid().clone(),
    };
    ObjectMeta {
        key: ObjectKey {
            namespace: Arc::clone(&pod.key().namespace),
            name: Arc::from(UNWRITTEN),
        },
        uid: Uid(Arc::from(format!("{UNWRITTEN} of {}", pod.uid()))),
        resource_version: Arc::from(""),
        labels: BTreeMap::new(),
        annotations: BTreeMap::new(),
        controller: Some(owner),
        created: None,
        deleted: None,
    }
}

/// The requests for one resource.
#[derive(Default)]
struct Drafts {
    /// Of containers that keep running, by their place.
    lasting: BTreeMap<usize, Draft>,
    /// The largest of containers that end before the others begin.
    passing: Option<Draft>,
    /// Names of the smaller ones, which the largest stands in for.
    replaced: Vec<Arc<str>>,
    /// First those of containers that keep running.
    lasting_mappings: Vec<Mapping>,
    passing_mappings: Vec<Mapping>,
}

#[derive(Clone)]
struct Draft {
    name: Arc<str>,
    count: i64,
}

// === impl Drafts ===

impl Drafts {
    fn of(wanted: &PodClaims, resource: &Arc<str>) -> Self {
        let containers = wanted.extended.iter().filter_map(|container| {
            let mut requests = container.requests.iter();
            let request = requests.find(|request| request.resource == *resource)?;
            Some((container, request))
        });
        let mut drafts = Self::default();
        let (passing, lasting): (Vec<_>, Vec<_>) =
            containers.partition(|(container, _)| container.is_short_lived);
        for (container, request) in lasting {
            let draft = Draft::new(container, request, request.count);
            drafts
                .lasting_mappings
                .push(mapping(container, resource, &draft.name));
            drafts.lasting.insert(container.index, draft);
        }
        for (container, request) in passing {
            drafts.add_passing(container, request);
        }
        drafts
    }

    /// A container that ends early uses what later ones will hold, then asks for the rest.
    fn add_passing(&mut self, container: &ExtendedContainer, request: &ExtendedRequest) {
        let mut reused = 0_i64;
        for draft in self
            .lasting
            .range(container.index..)
            .map(|(_, draft)| draft)
        {
            reused = reused.saturating_add(draft.count);
            let mapping = mapping(container, &request.resource, &draft.name);
            self.passing_mappings.push(mapping);
            if reused >= request.count {
                return;
            }
        }
        let draft = Draft::new(container, request, request.count - reused);
        let mapping = mapping(container, &request.resource, &draft.name);
        self.passing_mappings.push(mapping);
        match &mut self.passing {
            Some(largest) if largest.count >= draft.count => self.replaced.push(draft.name),
            largest => {
                let smaller = largest.replace(draft);
                self.replaced.extend(smaller.map(|smaller| smaller.name));
            }
        }
    }

    fn add_to(
        self,
        class: &Arc<str>,
        requests: &mut Vec<DeviceRequest>,
        mappings: &mut Vec<Mapping>,
    ) {
        let largest = self.passing.as_ref().map(|draft| Arc::clone(&draft.name));
        mappings.extend(self.lasting_mappings);
        mappings.extend(self.passing_mappings.into_iter().map(|mut mapping| {
            if let Some(largest) = &largest
                && self.replaced.contains(&mapping.request)
            {
                mapping.request = Arc::clone(largest);
            }
            mapping
        }));
        let drafts = self.passing.into_iter().chain(self.lasting.into_values());
        requests.extend(drafts.map(|draft| draft.request(class)));
    }
}

// === impl Draft ===

impl Draft {
    fn new(container: &ExtendedContainer, request: &ExtendedRequest, count: i64) -> Self {
        let name = format!("container-{}-request-{}", container.index, request.index);
        Self {
            name: Arc::from(name),
            count,
        }
    }

    fn request(self, class: &Arc<str>) -> DeviceRequest {
        let wish = DeviceWish {
            name: Arc::from(""),
            class: Arc::clone(class),
            selectors: Box::default(),
            mode: AllocationMode::Exact(self.count),
            admin_access: None,
            tolerations: Box::default(),
            capacity: None,
            has_derived_attributes: false,
        };
        DeviceRequest {
            name: self.name,
            kind: RequestKind::Exactly(Box::new(wish)),
        }
    }
}

fn mapping(container: &ExtendedContainer, resource: &Arc<str>, request: &Arc<str>) -> Mapping {
    Mapping {
        container: Arc::clone(&container.name),
        resource: Arc::clone(resource),
        request: Arc::clone(request),
    }
}
