package main

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	classNoMode      = "no-mode"      // a class without a binding mode
	classNoTopology  = "no-topology"  // allowed topologies that no node has
	classNoProvision = "no-provision" // waits, has neither provisioner nor volumes
	goneNamespace    = "team-gone"
	crowd            = 1000 // terms, tolerations, constraints of a pod that has far too many
	facets           = 40   // topology keys that every node has
)

// oddBases are the areas whose clusters are bent; the seed takes one.
var oddBases = []func(*gen){
	buildPorts, buildMixed, buildSpread, buildInterPod, buildVolumes, buildPreemption, buildResources,
	buildNodeAffinity, buildTaints, buildDRA, buildImages, buildGates, buildProfiles,
}

// buildOdd bends the objects of another area into shapes that the API lets
// through, or once let through, and that nobody means. All sums stay within
// what an int64 holds.
func buildOdd(g *gen) {
	oddBases[g.seed%uint64(len(oddBases))](g)
	g.oddStorage()
	g.oddDevices()
	for i, n := range g.nodes {
		for j := range facets {
			if n.Labels != nil {
				n.Labels[facet(j)] = fmt.Sprint(i % (j + 2))
			}
		}
	}
	for i, bend := range oddNodes {
		n := g.nodes[(i*3+int(g.seed))%len(g.nodes)]
		if g.chance(60) && n.Labels != nil && n.Status.Allocatable != nil && n.Status.Capacity != nil {
			bend(g, n)
		}
	}
	for i, bend := range oddPlaced {
		if len(g.placed) == 0 {
			break
		}
		bend(g, g.placed[(i*5+int(g.seed))%len(g.placed)])
	}
	for i, p := range g.pending {
		kind := (int(g.seed)*13 + i) % len(oddPending)
		oddPending[kind](g, p)
		if g.chance(20) {
			oddPending[g.r.IntN(len(oddPending))](g, p)
		}
	}
	g.oddControllers()
}

// buildOverflow lets sums and products leave an int64, which Go wraps. Scores
// out of range fail a pod with the text of the first node that has one, which
// may be any.
func buildOverflow(g *gen) {
	buildResources(g)
	sizes := []string{"5Ei", "7Ei", "9223372036854775807", "1E", "8192Pi"}
	cores := []string{"9e15", "9223372036854775807", "1E", "4e15", "9223372036854775808m"}
	for _, n := range g.nodes {
		if g.chance(40) {
			setAllocatable(n, "memory", pick(g, sizes...))
		}
		if g.chance(40) {
			setAllocatable(n, "cpu", pick(g, cores...))
		}
	}
	for _, pods := range [][]*v1.Pod{g.placed, g.pending} {
		for _, p := range pods {
			if g.chance(15) {
				request(p, "memory", pick(g, sizes...))
			}
			if g.chance(15) {
				request(p, "cpu", pick(g, cores...))
			}
			if g.chance(15) {
				p.Spec.InitContainers = append(p.Spec.InitContainers, v1.Container{Name: "all", Image: "registry.example/init:v1", RestartPolicy: new(v1.ContainerRestartPolicyAlways),
					Resources: v1.ResourceRequirements{Requests: list("cpu", pick(g, cores...), "memory", pick(g, sizes...), gpu, "9223372036854775807")}})
			}
		}
	}
}

func facet(i int) string { return fmt.Sprintf("example.com/facet-%d", i) }

var oddNodes = []func(*gen, *v1.Node){
	func(_ *gen, n *v1.Node) { n.Status.Allocatable = nil },
	func(_ *gen, n *v1.Node) { n.Labels = nil },
	func(_ *gen, n *v1.Node) { n.Status.Capacity, n.Status.Conditions = nil, nil },
	func(_ *gen, n *v1.Node) {
		setAllocatable(n, "cpu", "0", "memory", "0", "ephemeral-storage", "0", gpu, "0", "example.com/odd", "0")
	},
	func(_ *gen, n *v1.Node) { // as much as scores can multiply by 100
		setAllocatable(n, "cpu", "90e12", "memory", "80Pi", "ephemeral-storage", "9e16", "pods", "2147483647", gpu, "92233720368547758")
	},
	func(_ *gen, n *v1.Node) {
		setAllocatable(n, "cpu", "0.25e1", "memory", "+4E9", "pods", "1e1", "ephemeral-storage", "1000000000000m")
	},
	func(_ *gen, n *v1.Node) { n.Labels[v1.LabelHostname] = "somebody-else" },
	func(g *gen, n *v1.Node) { n.Labels[v1.LabelHostname] = g.nodes[0].Name },
	func(_ *gen, n *v1.Node) { n.Labels[v1.LabelTopologyZone], n.Labels[v1.LabelHostname] = "", "" },
	func(_ *gen, n *v1.Node) {
		for i := range crowd / 4 {
			n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: fmt.Sprintf("example.com/t-%d", i), Effect: v1.TaintEffectPreferNoSchedule})
		}
	},
	func(g *gen, n *v1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: "example.com/odd", Effect: "NoWay"}, v1.Taint{Key: "example.com/odd", Value: "7", Effect: pick(g, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule)})
	},
	func(_ *gen, n *v1.Node) {
		n.DeletionTimestamp, n.Finalizers = new(metav1.NewTime(epoch)), []string{"example.com/hold"}
		n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionFalse}}
	},
	func(_ *gen, n *v1.Node) {
		for i := range crowd / 4 {
			n.Status.Images = append(n.Status.Images, v1.ContainerImage{Names: []string{fmt.Sprintf("registry.example/i%d:v1", i)}, SizeBytes: int64(i) << 20})
		}
		n.Status.Images = append(n.Status.Images, v1.ContainerImage{SizeBytes: 1 << 30}, v1.ContainerImage{Names: []string{"", "registry.example/web:v1"}, SizeBytes: 1 << 50},
			v1.ContainerImage{Names: []string{"registry.example/web:v1"}, SizeBytes: 300 << 20})
	},
	func(_ *gen, n *v1.Node) { setAllocatable(n, "pods", "0") },
	func(_ *gen, n *v1.Node) {
		n.Status.DeclaredFeatures = []string{"Zebra", declared[2], declared[0], declared[0], ""}
	},
	func(_ *gen, n *v1.Node) { n.Spec.Unschedulable, n.Spec.Taints = true, nil },
	func(g *gen, n *v1.Node) {
		n.Labels["slots"] = pick(g, "9223372036854775807", "9223372036854775808", "007", "")
	},
}

var oddPlaced = []func(*gen, *v1.Pod){
	func(_ *gen, p *v1.Pod) { p.Spec.NodeName = "node-gone" },
	func(_ *gen, p *v1.Pod) { p.Labels = nil },
	func(_ *gen, p *v1.Pod) { p.Namespace = goneNamespace },
	func(_ *gen, p *v1.Pod) { p.Status.Phase = v1.PodUnknown },
	func(_ *gen, p *v1.Pod) { p.Spec.Priority, p.Spec.PriorityClassName = nil, "gone" },
	func(g *gen, p *v1.Pod) { g.manyPodTerms(p, crowd/10, false) },
	func(_ *gen, p *v1.Pod) {
		affinityOf(p).PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: v1.LabelHostname, LabelSelector: nearSelector()}}}
	},
	func(_ *gen, p *v1.Pod) { // no node has the key, every pod is selected
		affinityOf(p).PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: "example.com/nowhere", LabelSelector: &metav1.LabelSelector{}, NamespaceSelector: &metav1.LabelSelector{}}}}
	},
	func(_ *gen, p *v1.Pod) { request(p, "cpu", "1n", "memory", "1m", "example.com/odd", "0") },
	func(_ *gen, p *v1.Pod) { p.Spec.Volumes = append(p.Spec.Volumes, claimVolume("claim-gone")) },
	func(_ *gen, p *v1.Pod) {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, v1.ContainerStatus{Name: "nobody", AllocatedResources: list("cpu", "64")}, v1.ContainerStatus{Name: "main", AllocatedResources: list(), Resources: &v1.ResourceRequirements{}})
	},
	func(_ *gen, p *v1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(epoch.Add(-1000*time.Hour))), new(int64(0))
		p.Finalizers = []string{"example.com/hold"}
	},
}
