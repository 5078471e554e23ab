//! The configurations that flows are run with.

/// One profile, `plimsoll`, with measured load at its usual weight.
pub const PLIMSOLL: &str = "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: plimsoll
  plugins:
    multiPoint:
      enabled:
      - name: ActualLoadScore
        weight: 30
";

/// One profile, `plimsoll`, that keeps off nodes whose cpu would be over 0.85: softly, or with
/// `hard` in place of `soft`, without exception.
pub const SOFT_CAP: &str = "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: plimsoll
  pluginConfig:
  - name: ActualLoadFilter
    args:
      mode: soft
  plugins:
    filter:
      enabled:
      - name: ActualLoadFilter
";

/// One profile, `plimsoll`, that sees what kube-scheduler sees.
pub const REQUESTS_ONLY: &str = "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: plimsoll
";

/// Two profiles: `plimsoll` spreads by requests, `packer` fills the fullest node.
pub const TWO_PROFILES: &str = "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: plimsoll
- schedulerName: packer
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources:
        - name: cpu
          weight: 1
  plugins:
    multiPoint:
      disabled:
      - name: NodeResourcesBalancedAllocation
";

/// Plimsoll's own settings: free ports of this machine alone, the same draw every time.
pub(super) const SETTINGS: &str = "
apiVersion: plimsoll.dev/v1alpha1
kind: PlimsollConfiguration
telemetry: {listen: '127.0.0.1:0'}
admin: {listen: '127.0.0.1:0'}
seed: 1
";
