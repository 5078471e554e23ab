package main

import (
	"fmt"
	"math"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nearSelector is a selector with an operator that does not exist.
func nearSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near", Values: []string{"web"}}}}
}

func claimVolume(claim string) v1.Volume {
	return v1.Volume{Name: "odd-" + claim, VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}
}

func requiredNodes(p *v1.Pod, terms ...v1.NodeSelectorTerm) {
	affinityOf(p).NodeAffinity = &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: terms}}
}

func preferredNodes(p *v1.Pod, terms ...v1.PreferredSchedulingTerm) {
	a := affinityOf(p)
	if a.NodeAffinity == nil {
		a.NodeAffinity = &v1.NodeAffinity{}
	}
	a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = terms
}

func byExpression(key string, op v1.NodeSelectorOperator, values ...string) v1.NodeSelectorTerm {
	return v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}}
}

var oddPending = []func(*gen, *v1.Pod){
	func(g *gen, p *v1.Pod) {
		switch g.r.IntN(4) {
		case 0:
			request(p, "cpu", "9e15")
		case 1:
			request(p, "memory", "4Ei")
		case 2:
			request(p, gpu, "4611686018427387904")
		case 3:
			request(p, "ephemeral-storage", "4611686018427387904", "memory", "8191Pi")
		}
	},
	func(_ *gen, p *v1.Pod) { request(p, "cpu", "1n", "memory", "1m", "ephemeral-storage", "1m") },
	func(_ *gen, p *v1.Pod) {
		request(p, "cpu", "0", "memory", "0", "ephemeral-storage", "0", gpu, "0", "example.com/nowhere", "0", hugeTwo, "0")
	},
	func(g *gen, p *v1.Pod) { // far too many terms, of which the last fits
		var terms []v1.NodeSelectorTerm
		for i := range crowd {
			terms = append(terms, byExpression(fmt.Sprintf("absent-%d", i), v1.NodeSelectorOpExists))
		}
		requiredNodes(p, append(terms, byExpression(facet(1), v1.NodeSelectorOpIn, "0", "1"))...)
	},
	func(g *gen, p *v1.Pod) {
		var terms []v1.PreferredSchedulingTerm
		for i := range crowd {
			terms = append(terms, v1.PreferredSchedulingTerm{Weight: int32(i%100 + 1), Preference: byExpression(facet(i%facets), v1.NodeSelectorOpIn, fmt.Sprint(i%7))})
		}
		preferredNodes(p, terms...)
	},
	func(_ *gen, p *v1.Pod) { // as many constraints as there are keys
		p.Spec.TopologySpreadConstraints = nil
		for i := range facets {
			for _, when := range []v1.UnsatisfiableConstraintAction{v1.DoNotSchedule, v1.ScheduleAnyway} {
				p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, v1.TopologySpreadConstraint{
					MaxSkew: int32(20 + i%3), TopologyKey: facet(i), WhenUnsatisfiable: when, LabelSelector: &metav1.LabelSelector{},
				})
			}
		}
	},
	func(_ *gen, p *v1.Pod) { // keys that no node has
		p.Spec.TopologySpreadConstraints = nil
		for i := range crowd {
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, v1.TopologySpreadConstraint{
				MaxSkew: 1, TopologyKey: fmt.Sprintf("example.com/k-%d", i), WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			})
		}
	},
	func(g *gen, p *v1.Pod) { g.manyPodTerms(p, crowd/4, true) },
	func(_ *gen, p *v1.Pod) {
		for i := range crowd {
			p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: fmt.Sprintf("example.com/t-%d", i*2), Operator: v1.TolerationOpExists})
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule, TolerationSeconds: new(int64(-1))})
	},
	func(_ *gen, p *v1.Pod) {
		for i := range int32(crowd / 4) {
			p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, v1.ContainerPort{ContainerPort: i + 1, HostPort: 65535 - i, Protocol: v1.ProtocolUDP})
		}
		p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, v1.ContainerPort{ContainerPort: 80, HostPort: 80, HostIP: "::ffff:10.0.0.1"})
	},
	func(_ *gen, p *v1.Pod) { // selectors that select nothing or everything
		none, all := (*metav1.LabelSelector)(nil), &metav1.LabelSelector{}
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: v1.LabelTopologyRegion, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: none},
			{MaxSkew: 5, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: all},
		}
		affinityOf(p).PodAffinity = &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{
			{Weight: 1, PodAffinityTerm: v1.PodAffinityTerm{TopologyKey: v1.LabelHostname, LabelSelector: none}},
			{Weight: 100, PodAffinityTerm: v1.PodAffinityTerm{TopologyKey: v1.LabelHostname, LabelSelector: all, NamespaceSelector: all}},
		}}
		affinityOf(p).PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: v1.LabelHostname, LabelSelector: none, NamespaceSelector: all}}}
		preferredNodes(p, v1.PreferredSchedulingTerm{Weight: 3}, v1.PreferredSchedulingTerm{Weight: 0, Preference: byExpression("disk", v1.NodeSelectorOpExists)})
	},
	func(_ *gen, p *v1.Pod) { requiredNodes(p) },
	func(g *gen, p *v1.Pod) { // an operator that does not exist, before or after a term that fits
		terms := []v1.NodeSelectorTerm{byExpression(v1.LabelTopologyZone, v1.NodeSelectorOpIn, "zone-a"), byExpression("disk", "Near", "ssd")}
		if g.chance(50) {
			terms[0], terms[1] = terms[1], terms[0]
		}
		requiredNodes(p, terms...)
	},
	func(_ *gen, p *v1.Pod) {
		preferredNodes(p, v1.PreferredSchedulingTerm{Weight: 5, Preference: byExpression("disk", "Near", "ssd")})
	},
	func(_ *gen, p *v1.Pod) {
		requiredNodes(p, v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.namespace", Operator: v1.NodeSelectorOpIn, Values: []string{"default"}}}})
	},
	func(g *gen, p *v1.Pod) {
		requiredNodes(p, v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: pick(g, v1.NodeSelectorOpIn, v1.NodeSelectorOpExists, v1.NodeSelectorOpGt), Values: []string{g.nodes[0].Name, g.nodes[1%len(g.nodes)].Name}},
		}})
	},
	func(g *gen, p *v1.Pod) { // bounds that are no whole numbers
		requiredNodes(p, byExpression("slots", pick(g, v1.NodeSelectorOpGt, v1.NodeSelectorOpLt), pick(g, "1.5", "", "0x10", "9223372036854775808", "-9223372036854775808", "1_000")),
			byExpression("slots", v1.NodeSelectorOpGt, "9223372036854775806"))
	},
	func(_ *gen, p *v1.Pod) { // values that no label can have
		requiredNodes(p, byExpression("disk", v1.NodeSelectorOpNotIn, "not a label value!", strings.Repeat("x", 64)))
	},
	func(g *gen, p *v1.Pod) {
		for _, op := range []v1.TolerationOperator{"Near", "Gt", "Lt"} {
			p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: "example.com/odd", Operator: op, Value: pick(g, "5", "9", "many"), Effect: v1.TaintEffectNoSchedule})
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: "example.com/odd", Operator: v1.TolerationOpExists, Value: "7", Effect: "NoWay"})
	},
	func(_ *gen, p *v1.Pod) {
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: nearSelector()}}
	},
	func(_ *gen, p *v1.Pod) {
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: nearSelector()}}
	},
	func(_ *gen, p *v1.Pod) { // neither action
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: "Perhaps", LabelSelector: &metav1.LabelSelector{}}}
	},
	func(g *gen, p *v1.Pod) { // a namespace that is gone, terms that ask for its labels
		p.Namespace = goneNamespace
		term := v1.PodAffinityTerm{TopologyKey: v1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{}, NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"env": "prod"}}}
		affinityOf(p).PodAffinity = &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 9, PodAffinityTerm: term}}}
		p.Spec.Volumes, p.Spec.ResourceClaims = nil, nil
	},
	func(_ *gen, p *v1.Pod) {
		term := v1.PodAffinityTerm{TopologyKey: v1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{}, Namespaces: []string{goneNamespace, "", "team-never"}}
		affinityOf(p).PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}
	},
	func(_ *gen, p *v1.Pod) {
		term := v1.PodAffinityTerm{TopologyKey: v1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{}, NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "env", Operator: metav1.LabelSelectorOpDoesNotExist}}}}
		affinityOf(p).PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}
	},
	func(g *gen, p *v1.Pod) { g.oddClaim(p, 0) },
	func(g *gen, p *v1.Pod) { g.oddClaim(p, 1) },
	func(g *gen, p *v1.Pod) { g.oddClaim(p, 2) },
	func(g *gen, p *v1.Pod) { g.oddClaim(p, 3) },
	func(g *gen, p *v1.Pod) { g.oddClaim(p, 4) },
	func(g *gen, p *v1.Pod) { g.oddClaim(p, 5) },
	func(g *gen, p *v1.Pod) { g.oddClaim(p, 6) },
	func(g *gen, p *v1.Pod) { g.oddClaim(p, 7) },
	func(g *gen, p *v1.Pod) { g.oddClaim(p, 8) },
	func(_ *gen, p *v1.Pod) { p.Status.NominatedNodeName = "node-gone" },
	func(g *gen, p *v1.Pod) {
		p.Spec.Priority = new(int32(pick(g, math.MinInt32, math.MaxInt32)))
		request(p, "cpu", "3")
	},
	func(_ *gen, p *v1.Pod) { p.Spec.Priority = nil },
	func(_ *gen, p *v1.Pod) {
		for i := range crowd / 4 {
			c := v1.Container{Name: fmt.Sprintf("i%d", i), Image: "registry.example/init:v1", Resources: v1.ResourceRequirements{Requests: list("cpu", fmt.Sprintf("%dm", i), "memory", "1Mi")}}
			if i%50 == 0 {
				c.RestartPolicy = new(v1.ContainerRestartPolicyAlways)
			}
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
	},
	func(_ *gen, p *v1.Pod) { // a message longer than an event
		for i := range 60 {
			request(p, fmt.Sprintf("example.com/unheard-of-%02d", i), "1")
		}
	},
	func(_ *gen, p *v1.Pod) {
		p.Spec.SchedulingGates = nil
		for i := range 100 {
			p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, v1.PodSchedulingGate{Name: fmt.Sprintf("example.com/gate-%d", i)})
		}
	},
	func(_ *gen, p *v1.Pod) {
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{
			{MaxSkew: math.MaxInt32, MinDomains: new(int32(math.MaxInt32)), TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{}},
			{MaxSkew: math.MaxInt32, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{}},
		}
	},
	func(_ *gen, p *v1.Pod) { // a minimum that no cluster reaches
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{
			{MaxSkew: 1, MinDomains: new(int32(math.MaxInt32)), TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		}
	},
	func(g *gen, p *v1.Pod) {
		p.Spec.Containers[0].Image = pick(g, "registry.example/web:", "REGISTRY.example/Web:v1", "registry.example/web@sha256:", ":", "registry.example:5000/web", "registry.example/web:v1@sha256:00")
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: "web", Image: "registry.example/web:v1"}, v1.Container{Name: "huge", Image: "registry.example/i200:v1"})
	},
	func(g *gen, p *v1.Pod) { g.oddDeviceClaim(p) },
	func(_ *gen, p *v1.Pod) { // keys of labels that the pod has not
		p.Labels = nil
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, MatchLabelKeys: []string{"app", "pod-template-hash"}}}
	},
	func(_ *gen, p *v1.Pod) { p.Spec.Overhead = list("cpu", "1000", gpu, "1", "example.com/nowhere", "0") },
	func(_ *gen, p *v1.Pod) {
		p.Spec.Resources = &v1.ResourceRequirements{Requests: list("cpu", "0", "memory", "0")}
	},
	func(_ *gen, p *v1.Pod) {
		p.Spec.NodeSelector = map[string]string{"disk": "", "example.com/facet-0": "0"}
	},
	func(_ *gen, p *v1.Pod) {
		p.Spec.NodeSelector = map[string]string{}
		for i := range facets {
			p.Spec.NodeSelector[facet(i)] = "0"
		}
	},
	func(g *gen, p *v1.Pod) { // everything twice
		c := g.claim(p, classLocal, "1Gi")
		use(p, c.Name)
		use(p, c.Name)
		port := v1.ContainerPort{ContainerPort: 8080, HostPort: 8080}
		p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, port, port)
		term := v1.WeightedPodAffinityTerm{Weight: 7, PodAffinityTerm: v1.PodAffinityTerm{TopologyKey: v1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{}}}
		affinityOf(p).PodAntiAffinity = &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{term, term}}
		p.Spec.Tolerations = append(p.Spec.Tolerations, p.Spec.Tolerations...)
	},
	func(_ *gen, p *v1.Pod) { p.Name += strings.Repeat("-long", 48) },
	func(_ *gen, p *v1.Pod) { // an affinity with nothing in it
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{}, PodAffinity: &v1.PodAffinity{}, PodAntiAffinity: &v1.PodAntiAffinity{}}
	},
	func(_ *gen, p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: "example.com/nowhere", LabelSelector: &metav1.LabelSelector{}, NamespaceSelector: &metav1.LabelSelector{}}}}}
	},
}

// manyPodTerms gives a pod n terms each of required anti-affinity and, if it
// shall wait, of both preferred kinds.
func (g *gen) manyPodTerms(p *v1.Pod, n int, preferred bool) {
	a := affinityOf(p)
	a.PodAffinity, a.PodAntiAffinity = nil, &v1.PodAntiAffinity{}
	if preferred {
		a.PodAffinity = &v1.PodAffinity{}
	}
	for i := range n {
		term := v1.PodAffinityTerm{TopologyKey: facet(i % facets), LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprintf("app-%d", i)}}}
		a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, term)
		if !preferred {
			continue
		}
		weighted := v1.WeightedPodAffinityTerm{Weight: int32(i%100 + 1), PodAffinityTerm: v1.PodAffinityTerm{TopologyKey: facet(i % facets), LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": apps[i%len(apps)]}}}}
		if i%3 == 0 {
			a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, weighted)
		} else {
			a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, weighted)
		}
	}
}
