//! Plugins of other schedulers and of old kube-schedulers, and what to use instead: the
//! names that people bring along in files they already have.

/// A name and the advice of its group.
const PLUGINS: [(&str, &str); 38] = [
    // Trimaran of scheduler-plugins: pods by measured load.
    ("TargetLoadPacking", PACK),
    ("LoadVariationRiskBalancing", SPREAD),
    ("LowRiskOverCommitment", SPREAD),
    ("Peaks", SPREAD),
    // Koordinator, Crane, Volcano.
    ("LoadAwareScheduling", LOAD_AWARE),
    ("DynamicScheduler", LOAD_AWARE),
    ("Dynamic", LOAD_AWARE),
    ("usage", LOAD_AWARE),
    ("Reservation", KOORDINATOR),
    ("NodeNUMAResource", NUMA),
    ("DeviceShare", DEVICES),
    ("DefaultPreBind", KOORDINATOR),
    ("ElasticQuota", QUOTA),
    // scheduler-plugins.
    ("Coscheduling", GANG),
    ("gang", GANG),
    ("CapacityScheduling", QUOTA),
    ("NodeResourceTopologyMatch", NUMA),
    ("NodeResourcesAllocatable", ALLOCATABLE),
    ("NetworkOverhead", NETWORK),
    ("TopologicalSort", NETWORK),
    ("PreemptionToleration", ELSEWHERE),
    ("QOSSort", ELSEWHERE),
    ("PodState", ELSEWHERE),
    ("SySched", ELSEWHERE),
    ("CrossNodePreemption", ELSEWHERE),
    // kube-scheduler before v1.
    ("NodeResourcesLeastAllocated", FIT),
    ("NodeResourcesMostAllocated", FIT),
    ("RequestedToCapacityRatio", FIT),
    ("NodePreferAvoidPods", AVOID),
    ("NodeLabel", LABEL),
    ("ServiceAffinity", LABEL),
    ("SelectorSpread", SPREAD_PODS),
    ("DefaultPodTopologySpread", SPREAD_PODS),
    ("NodeResourceLimits", GONE),
    ("EBSLimits", LIMITS),
    ("GCEPDLimits", LIMITS),
    ("AzureDiskLimits", LIMITS),
    ("CinderLimits", LIMITS),
];

const PACK: &str = "it is Trimaran's; here `ActualLoadScore` with `strategy: pack` and \
     `packTarget` fills nodes to a measured load, without a metrics provider";
const SPREAD: &str = "it is Trimaran's; here `ActualLoadScore` prefers nodes with little \
     measured load, without a metrics provider";
const LOAD_AWARE: &str = "here `ActualLoadScore` scores nodes by measured load and \
     `ActualLoadFilter` takes the place of its usage thresholds";
const GANG: &str = "this build has no gang scheduling: leave pods of a group to a scheduler \
     that has it, and put no queue order of its own into this file";
const QUOTA: &str = "this build has no elastic quotas: a ResourceQuota bounds a namespace, and \
     priority with DefaultPreemption decides who yields";
const NUMA: &str = "this build does not see NUMA zones: leave pods that need them aligned to a \
     scheduler that does";
const DEVICES: &str = "here devices are claimed with DynamicResources, or counted as extended \
     resources by NodeResourcesFit";
const KOORDINATOR: &str = "it is Koordinator's and serves its own objects, which this build does \
     not read: leave it out";
const ALLOCATABLE: &str = "here NodeResourcesFit scores by requests (`scoringStrategy`) and \
     ActualLoadScore by measured load";
const NETWORK: &str = "here `network` is one of the resources that ActualLoadScore and \
     ActualLoadFilter look at; dependencies between services are not known";
const ELSEWHERE: &str = "it is one of scheduler-plugins, which this build does not have: leave \
     it out, or compile it in as a plugin of your own";
const FIT: &str = "it is gone since v1beta3: set `scoringStrategy.type` in the args of \
     `NodeResourcesFit`";
const AVOID: &str = "it is gone since v1beta3: use a taint with effect PreferNoSchedule";
const LABEL: &str = "it went with the Policy file: use node affinity, also as `addedAffinity` \
     in the args of `NodeAffinity`";
const SPREAD_PODS: &str = "it is gone since v1beta3: `PodTopologySpread` spreads pods of a \
     service by default";
const GONE: &str = "it is gone: `NodeResourcesFit` looks at requests";
const LIMITS: &str = "it is gone: `NodeVolumeLimits` counts the volumes of CSI drivers";

/// What to use in place of a plugin that no build of this scheduler has ever had; `None`
/// where the name is not known at all.
pub(super) fn instead_of(name: &str) -> Option<&'static str> {
    let known = PLUGINS.iter().find(|(own, _)| *own == name);
    known.map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{PLUGINS, instead_of};

    #[test]
    fn every_name_is_there_once_and_has_a_sentence() {
        let names: BTreeSet<_> = PLUGINS.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), PLUGINS.len());
        assert!(
            instead_of("Coscheduling")
                .unwrap()
                .contains("no gang scheduling")
        );
        assert_eq!(instead_of("NodePorts"), None);
    }
}
