//! What a pod will use before it is measured.
//!
//! Takes a pod, gives an estimate from what it asks for: its request times the expected
//! use of a request, bounded by its limit; kube-scheduler's scoring defaults where a
//! container requests nothing; for bandwidth what the pod declares.

use plimsoll_framework::PodEstimate;
use plimsoll_objects::Pod;
use plimsoll_objects::resources::{DEFAULT_MEMORY, DEFAULT_MILLICORES};

use crate::figures::amount;
use crate::options::LoadOptions;

/// The estimate of `pod`.
pub(crate) fn estimate(pod: &Pod, options: &LoadOptions) -> PodEstimate {
    let requests = &pod.spec.requests;
    let ratio = amount(options.prior_ratio).unwrap_or(crate::options::PRIOR_RATIO);
    let cpu = requests.placed.cpu.max(requests.placed_scoring.cpu);
    let memory = requests.placed.memory.max(requests.placed_scoring.memory);
    let declared = &pod.spec.bandwidth;
    PodEstimate {
        cpu: bounded(cpu, DEFAULT_MILLICORES, requests.limits.cpu, ratio),
        memory: bounded(memory, DEFAULT_MEMORY, requests.limits.memory, ratio),
        rx: declared.ingress.map_or(0.0, |rate| rate as f64),
        tx: declared.egress.map_or(0.0, |rate| rate as f64),
    }
}

/// A pod whose requests are zero uses something all the same: the `default`. A limit of
/// zero is no limit.
fn bounded(request: i64, default: i64, limit: Option<i64>, ratio: f64) -> f64 {
    let request = if request > 0 { request } else { default };
    let expected = request as f64 * ratio;
    let bound = limit.filter(|limit| *limit > 0);
    let estimate = bound.map_or(expected, |limit| expected.min(limit as f64));
    amount(estimate).unwrap_or(request as f64)
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::PodEstimate;
    use plimsoll_objects::decode_pod;

    use super::estimate;
    use crate::options::LoadOptions;
    use crate::world::pod;

    const MIB: i64 = 1024 * 1024;

    #[test]
    fn a_request_is_taken_at_its_word() {
        let mut pod = pod("a", 500);
        pod.spec.requests.placed.memory = 64 * MIB;
        pod.spec.requests.placed_scoring.memory = 64 * MIB;
        let expected = PodEstimate {
            cpu: 500.0,
            memory: (64 * MIB) as f64,
            rx: 0.0,
            tx: 0.0,
        };
        assert_eq!(estimate(&pod, &LoadOptions::default()), expected);
    }

    #[test]
    fn a_pod_with_no_request_is_expected_to_use_what_scoring_assumes() {
        let estimate = estimate(&pod("a", 0), &LoadOptions::default());
        assert_eq!(estimate.cpu, 100.0);
        assert_eq!(estimate.memory, (200 * MIB) as f64);
    }

    #[test]
    fn a_container_without_a_request_adds_the_default_to_the_others() {
        let mut pod = pod("a", 500);
        pod.spec.requests.placed_scoring.cpu = 600;
        assert_eq!(estimate(&pod, &LoadOptions::default()).cpu, 600.0);
    }

    #[test]
    fn a_pod_as_the_api_server_stores_it_is_estimated_container_by_container() {
        let json = br#"{"metadata": {"name": "a"}, "spec": {"containers": [
            {"name": "asks", "resources": {"requests": {"cpu": "500m"}}},
            {"name": "does not"}]}}"#;
        let estimate = estimate(&decode_pod(json).unwrap(), &LoadOptions::default());
        assert_eq!(estimate.cpu, 600.0);
        assert_eq!(estimate.memory, (400 * MIB) as f64);
    }

    #[test]
    fn a_limit_bounds_the_estimate() {
        let mut pod = pod("a", 0);
        pod.spec.requests.limits.cpu = Some(50);
        pod.spec.requests.limits.memory = Some(0);
        let estimate = estimate(&pod, &LoadOptions::default());
        assert_eq!(estimate.cpu, 50.0);
        assert_eq!(estimate.memory, (200 * MIB) as f64);
    }

    #[test]
    fn bandwidth_is_what_the_pod_declares() {
        let mut pod = pod("a", 0);
        pod.spec.bandwidth.ingress = Some(125_000_000);
        let estimate = estimate(&pod, &LoadOptions::default());
        assert_eq!((estimate.rx, estimate.tx), (125e6, 0.0));
    }

    #[test]
    fn a_ratio_scales_requests_and_one_that_is_no_number_counts_as_none() {
        let options = |prior_ratio| LoadOptions {
            prior_ratio,
            ..LoadOptions::default()
        };
        assert_eq!(estimate(&pod("a", 1_000), &options(0.85)).cpu, 850.0);
        assert_eq!(estimate(&pod("a", 1_000), &options(f64::NAN)).cpu, 1_000.0);
    }
}
