package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// PostFilter is the outcome of the PostFilter point.
type PostFilter struct {
	Status
	// NominatedNode is the node preemption makes room on. Among equally good
	// nodes the scheduler takes any; this is the first by name, and the message
	// names it too.
	NominatedNode string `json:"nominatedNode,omitempty"`
	// Tied lists all nodes the scheduler could have nominated.
	Tied []string `json:"tied,omitempty"`
	// Candidates lists every node on which preemption would help.
	Candidates map[string]Candidate `json:"candidates,omitempty"`
	// ClearsNomination is set when status.nominatedNodeName is reset to "".
	ClearsNomination bool `json:"clearsNomination,omitempty"`
}

// Candidate is a node with the pods that would be preempted on it, most
// important first.
type Candidate struct {
	Victims       []string `json:"victims"`
	PDBViolations int64    `json:"pdbViolations"`
}

// postFilter runs the PostFilter plugins and lists all preemption candidates.
// It completes the message of fit.
func (c *cluster) postFilter(fw framework.Framework, state fwk.CycleState, pod *v1.Pod, fit *framework.FitError) (*PostFilter, error) {
	victims, failure := c.candidates(fw, state, pod, fit)
	result, status := fw.RunPostFilterPlugins(c.ctx, state, pod, fit.Diagnosis.NodeToStatus)
	fit.Diagnosis.PostFilterMsg = status.Message()
	if dp := preemptionPlugin(fw); dp != nil {
		// Preemption is actuated in the background; let it end.
		for !dp.PreEnqueue(c.ctx, pod).IsSuccess() {
			time.Sleep(time.Millisecond)
		}
	}
	out := &PostFilter{Status: statusOf(status)}
	if failure != nil && status.Code() != fwk.Error {
		return nil, failure
	}
	if result != nil && result.NominatingInfo != nil && result.NominatingMode == fwk.ModeOverride {
		out.NominatedNode = result.NominatedNodeName
		out.ClearsNomination = result.NominatedNodeName == ""
	}
	if out.NominatedNode == "" {
		if len(victims) > 0 && !status.IsSuccess() {
			return nil, fmt.Errorf("dry run found candidates, PostFilter nominated none: %s", status.Message())
		}
		return out, nil
	}
	out.Tied = bestNodes(victims)
	if !slices.Contains(out.Tied, out.NominatedNode) {
		return nil, fmt.Errorf("PostFilter nominated %s, not among the best %v", out.NominatedNode, out.Tied)
	}
	chosen := out.NominatedNode
	out.NominatedNode = out.Tied[0]
	rename := strings.NewReplacer("on node "+chosen+",", "on node "+out.NominatedNode+",")
	fit.Diagnosis.PostFilterMsg = rename.Replace(fit.Diagnosis.PostFilterMsg)
	for i := range out.Reasons {
		out.Reasons[i] = rename.Replace(out.Reasons[i])
	}
	out.Candidates = make(map[string]Candidate, len(victims))
	for node, v := range victims {
		candidate := Candidate{PDBViolations: v.NumPDBViolations, Victims: []string{}}
		for _, p := range v.Pods {
			candidate.Victims = append(candidate.Victims, p.Namespace+"/"+p.Name)
		}
		out.Candidates[node] = candidate
	}
	return out, nil
}

// candidates dry-runs preemption on every node that may profit from it.
func (c *cluster) candidates(fw framework.Framework, state fwk.CycleState, pod *v1.Pod, fit *framework.FitError) (map[string]*extenderv1.Victims, error) {
	dp := preemptionPlugin(fw)
	if dp == nil || !slices.ContainsFunc(fw.ListPlugins().PostFilter.Enabled, isPreemption) {
		return nil, nil
	}
	statuses := fit.Diagnosis.NodeToStatus
	if ok, _ := dp.PodEligibleToPreemptOthers(c.ctx, pod, statuses.Get(pod.Status.NominatedNodeName)); !ok {
		return nil, nil
	}
	potential, err := statuses.NodesForStatusCode(c.snapshot.NodeInfos(), fwk.Unschedulable)
	if err != nil || len(potential) == 0 {
		return nil, err
	}
	pdbs, err := dp.Evaluator.PdbLister.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	list, _, err := dp.Evaluator.DryRunPreemption(c.ctx, state, pod, potential, pdbs, 0, int32(len(potential)))
	if err != nil {
		return nil, err
	}
	return dp.CandidatesToVictimsMap(list), nil
}

// bestNodes returns all nodes that share the best rank: fewest PDB violations,
// lowest top victim priority, lowest sum of priorities, fewest victims, latest
// start among the top priority victims.
func bestNodes(victims map[string]*extenderv1.Victims) []string {
	rank := func(node string) [5]int64 {
		v := victims[node]
		var sum int64
		for _, p := range v.Pods {
			sum += int64(corev1helpers.PodPriority(p)) + math.MaxInt32 + 1
		}
		start := int64(math.MaxInt64)
		if t := util.GetEarliestPodStartTime(v); t != nil {
			start = -t.UnixNano()
		}
		return [5]int64{v.NumPDBViolations, int64(corev1helpers.PodPriority(v.Pods[0])), sum, int64(len(v.Pods)), start}
	}
	compare := func(a, b string) int {
		ra, rb := rank(a), rank(b)
		return slices.Compare(ra[:], rb[:])
	}
	nodes := slices.Collect(maps.Keys(victims))
	slices.SortFunc(nodes, func(a, b string) int { return cmp.Or(compare(a, b), cmp.Compare(a, b)) })
	for i := range nodes {
		if compare(nodes[0], nodes[i]) != 0 {
			return nodes[:i]
		}
	}
	return nodes
}

func isPreemption(p config.Plugin) bool { return p.Name == defaultpreemption.Name }
