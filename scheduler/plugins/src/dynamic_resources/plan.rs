//! A claim that is to be allocated, with its classes and selectors looked up.
//!
//! Made once per cycle; every node is searched by it. What is wrong with a request is kept:
//! the attempt fails with it once a node is searched.

use std::sync::Arc;

use plimsoll_framework::Catalog;
use plimsoll_objects::device::{
    AllocationMode, DeviceSelector, DeviceWish, RequestKind, ResourceClaim,
};
use plimsoll_objects::{DeviceClass, ObjectKey};

use super::offers::{Offers, Verdicts};
use super::selectors::{Selector, Selectors};

/// Most devices of one claim (`AllocationResultsMaxSize`).
pub(super) const DEVICES_MAX: usize = 32;

/// One claim.
#[derive(Debug)]
pub(super) struct ClaimPlan {
    /// The claim.
    pub claim: Arc<ResourceClaim>,
    /// Its requests.
    pub requests: Box<[RequestPlan]>,
}

/// One request.
#[derive(Debug)]
pub(super) struct RequestPlan {
    /// What would do, in order of preference; one unless they are alternatives.
    pub options: Box<[Choice]>,
    /// `firstAvailable`.
    pub is_alternatives: bool,
}

/// One way to meet a request: `exactly`, or one of `firstAvailable`.
#[derive(Debug)]
pub(super) struct Choice {
    /// The request, or `request/subrequest`.
    pub full_name: Arc<str>,
    /// What is wanted.
    pub wish: DeviceWish,
    /// The class; `None` if there is none of that name.
    pub class: Option<Arc<DeviceClass>>,
    /// The selectors of the class, then the wish's own.
    pub tests: Box<[Test]>,
    /// What is wrong with it.
    pub refusal: Option<String>,
}

/// One selector.
#[derive(Debug)]
pub(super) struct Test {
    /// The expression.
    pub selector: Arc<Selector>,
    /// What it says of each device.
    pub verdicts: Arc<Verdicts>,
    /// Whose it is, such as `class gpu: selector #0`.
    pub owner: String,
}

/// What plans are made from.
pub(super) struct Planner<'a> {
    /// The classes.
    pub catalog: &'a Catalog,
    /// The devices.
    pub offers: &'a Offers,
    /// The expressions.
    pub selectors: &'a Selectors,
}

// === impl Planner ===

impl Planner<'_> {
    /// The plan for `claim`.
    pub(super) fn plan(&self, claim: &Arc<ResourceClaim>) -> ClaimPlan {
        let requests = claim.spec.requests.iter();
        let requests = requests.map(|request| {
            let (wishes, is_alternatives) = match &request.kind {
                RequestKind::Exactly(wish) => (std::slice::from_ref(&**wish), false),
                RequestKind::FirstAvailable(wishes) => (&**wishes, true),
                RequestKind::Unknown => (&[][..], false),
            };
            let options = wishes.iter().map(|wish| {
                let full_name = if is_alternatives {
                    Arc::from(format!("{}/{}", request.name, wish.name))
                } else {
                    Arc::clone(&request.name)
                };
                self.option(&claim.meta.key, full_name, wish, is_alternatives)
            });
            RequestPlan {
                options: options.collect(),
                is_alternatives,
            }
        });
        ClaimPlan {
            requests: requests.collect(),
            claim: Arc::clone(claim),
        }
    }

    fn option(
        &self,
        claim: &ObjectKey,
        full_name: Arc<str>,
        wish: &DeviceWish,
        is_alternative: bool,
    ) -> Choice {
        let class = self.catalog.device_classes.named(&wish.class).cloned();
        let name = if is_alternative {
            &wish.name
        } else {
            &full_name
        };
        let refusal = refusal(wish, class.is_some());
        let refusal = refusal.map(|problem| format!("claim {claim}, request {name}{problem}"));
        let of_class = class.iter().flat_map(|class| {
            let owner = |index: usize| format!("class {}: selector #{index}", class.meta.key.name);
            self.tests(&class.selectors, owner)
        });
        let own = |index: usize| format!("claim {claim}: selector #{index}");
        let tests = of_class.chain(self.tests(&wish.selectors, own)).collect();
        Choice {
            full_name,
            wish: wish.clone(),
            tests,
            class,
            refusal,
        }
    }

    /// A selector of an unknown kind is refused with the wish; one of a class is as one that
    /// cannot be compiled.
    fn tests(&self, selectors: &[DeviceSelector], owner: impl Fn(usize) -> String) -> Vec<Test> {
        let empty: Arc<str> = Arc::from("");
        let tests = selectors.iter().enumerate().map(|(index, text)| {
            let text = text.as_ref().unwrap_or(&empty);
            Test {
                selector: self.selectors.get(text),
                verdicts: self.offers.verdicts(text),
                owner: owner(index),
            }
        });
        tests.collect()
    }
}

/// What is wrong with a wish whatever the devices, as the end of a sentence.
fn refusal(wish: &DeviceWish, has_class: bool) -> Option<String> {
    if wish.has_derived_attributes {
        let problem = ": cannot handle request with derived attributes, the feature is disabled";
        return Some(problem.to_owned());
    }
    if let Some(index) = wish.selectors.iter().position(Option::is_none) {
        return Some(format!(
            ", selector #{index}: CEL expression empty (unsupported selector type?)"
        ));
    }
    if wish.class.is_empty() {
        return Some(": missing device class name (unsupported request type?)".to_owned());
    }
    if !has_class {
        let class = &wish.class;
        return Some(format!(
            ": could not retrieve device class {class}: \
             deviceclass.resource.k8s.io {class:?} not found"
        ));
    }
    match &wish.mode {
        AllocationMode::Other(mode) => Some(format!(": unsupported count mode {mode}")),
        AllocationMode::Exact(_) | AllocationMode::All => None,
    }
}

// === impl Choice ===

impl Choice {
    /// The name as messages have it: of a subrequest its own, without the request's.
    pub(super) fn own_name(&self) -> &str {
        if self.wish.name.is_empty() {
            &self.full_name
        } else {
            &self.wish.name
        }
    }
}
