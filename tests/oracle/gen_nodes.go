package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	taintKeys    = []string{"dedicated", "example.com/gpu", "node.kubernetes.io/disk-pressure", "maintenance"}
	taintValues  = []string{"", "infra", "ml"}
	taintEffects = []v1.TaintEffect{v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute, v1.TaintEffectPreferNoSchedule, v1.TaintEffectPreferNoSchedule}
)

func buildTaints(g *gen) {
	for _, n := range g.nodes {
		g.taint(n, 30)
	}
	for _, p := range g.pending {
		g.tolerate(p)
	}
}

// taint puts up to three taints on a node; percent of the nodes stay clean.
func (g *gen) taint(n *v1.Node, clean int) {
	if g.chance(12) {
		n.Spec.Unschedulable = true
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
		if g.chance(30) {
			n.Spec.Taints = nil
		}
	}
	if g.chance(clean) {
		return
	}
	seen := map[string]bool{}
	for range g.between(1, 3) {
		t := v1.Taint{Key: pick(g, taintKeys...), Value: pick(g, taintValues...), Effect: pick(g, taintEffects...)}
		if id := t.Key + string(t.Effect); !seen[id] {
			seen[id] = true
			n.Spec.Taints = append(n.Spec.Taints, t)
		}
	}
}

// tolerate gives a pod up to five tolerations of all forms.
func (g *gen) tolerate(p *v1.Pod) {
	if g.chance(10) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Operator: v1.TolerationOpExists, Effect: pick(g, append(taintEffects, "")...)})
	}
	if g.chance(20) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: v1.TaintNodeUnschedulable, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule})
	}
	for range g.between(0, 5) {
		t := v1.Toleration{Key: pick(g, taintKeys...), Operator: pick(g, "", v1.TolerationOpEqual, v1.TolerationOpExists, v1.TolerationOpExists), Effect: pick(g, append(taintEffects, "", "")...)}
		if t.Operator != v1.TolerationOpExists {
			t.Value = pick(g, taintValues...)
		}
		if t.Effect == v1.TaintEffectNoExecute && g.chance(50) {
			t.TolerationSeconds = new(int64(300))
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, t)
	}
}

func buildNodeAffinity(g *gen) {
	for _, n := range g.nodes {
		g.affinityLabels(n)
	}
	for _, p := range g.pending {
		g.nodeAffinity(p, 60, 60)
	}
	added := map[string]any{}
	switch g.seed % 3 {
	case 1:
		added["requiredDuringSchedulingIgnoredDuringExecution"] = v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{
			{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "disk", Operator: v1.NodeSelectorOpExists}}},
			{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "slots", Operator: v1.NodeSelectorOpGt, Values: []string{"3"}}}},
		}}
	case 2:
		added["preferredDuringSchedulingIgnoredDuringExecution"] = []v1.PreferredSchedulingTerm{
			{Weight: 40, Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "disk", Operator: v1.NodeSelectorOpIn, Values: []string{"ssd"}}}}},
			{Weight: 7, Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpNotIn, Values: []string{"zone-a"}}}}},
		}
	default:
		return
	}
	g.config = profile(map[string]map[string]any{"NodeAffinity": {"addedAffinity": added}})
}

func (g *gen) affinityLabels(n *v1.Node) {
	if g.chance(80) {
		n.Labels["disk"] = pick(g, "ssd", "hdd", "nvme")
	}
	if g.chance(80) {
		n.Labels["slots"] = pick(g, "1", "2", "3", "4", "5", "8", "16", "-2", "many")
	}
	if g.chance(30) {
		n.Labels["special"] = ""
	}
}

func (g *gen) nodeRequirement() v1.NodeSelectorRequirement {
	switch g.r.IntN(9) {
	case 0:
		return v1.NodeSelectorRequirement{Key: pick(g, "slots", "slots", "absent"), Operator: v1.NodeSelectorOpGt, Values: []string{pick(g, "0", "1", "2", "2", "3", "3", "4", "4", "7", "-5")}}
	case 1:
		return v1.NodeSelectorRequirement{Key: pick(g, "slots", "slots", "disk"), Operator: v1.NodeSelectorOpLt, Values: []string{pick(g, "3", "5", "100")}}
	case 2:
		return v1.NodeSelectorRequirement{Key: pick(g, "disk", "special", "slots"), Operator: v1.NodeSelectorOpExists}
	case 3:
		return v1.NodeSelectorRequirement{Key: pick(g, "disk", "special", "absent"), Operator: v1.NodeSelectorOpDoesNotExist}
	case 4, 5:
		return v1.NodeSelectorRequirement{Key: pick(g, "disk", "slots", v1.LabelTopologyZone), Operator: v1.NodeSelectorOpNotIn, Values: some(g, 2, "ssd", "hdd", "3", "zone-a", "zone-b")}
	default:
		return v1.NodeSelectorRequirement{Key: "disk", Operator: v1.NodeSelectorOpIn, Values: some(g, 2, "ssd", "hdd", "nvme")}
	}
}

func (g *gen) nodeTerm() v1.NodeSelectorTerm {
	t := v1.NodeSelectorTerm{}
	for range g.between(1, 2) {
		t.MatchExpressions = append(t.MatchExpressions, g.nodeRequirement())
	}
	return t
}

// nodeAffinity gives a pod required and preferred node affinity with the given
// chances in percent.
func (g *gen) nodeAffinity(p *v1.Pod, required, preferred int) {
	if g.chance(25) {
		p.Spec.NodeSelector = pick(g,
			map[string]string{"disk": "ssd"},
			map[string]string{v1.LabelTopologyZone: pick(g, zones...)},
			map[string]string{"disk": "nvme", v1.LabelArchStable: "amd64"},
			map[string]string{"special": ""},
			map[string]string{"nowhere": "x"},
			map[string]string{})
	}
	affinity := &v1.NodeAffinity{}
	if g.chance(required) {
		sel := &v1.NodeSelector{}
		for range g.between(1, 3) {
			sel.NodeSelectorTerms = append(sel.NodeSelectorTerms, g.nodeTerm())
		}
		switch {
		case g.chance(25): // node names, for one term or all of them
			for i := range sel.NodeSelectorTerms {
				if i == 0 || g.chance(60) {
					sel.NodeSelectorTerms[i].MatchFields = []v1.NodeSelectorRequirement{g.nameField()}
					if g.chance(50) {
						sel.NodeSelectorTerms[i].MatchExpressions = nil
					}
				}
			}
		case g.chance(6): // two names in one term exclude each other
			sel.NodeSelectorTerms = []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
				{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{g.nodes[0].Name}},
				{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{g.nodes[1%len(g.nodes)].Name}},
			}}}
		case g.chance(6): // a term without requirements matches nothing
			sel.NodeSelectorTerms = append(sel.NodeSelectorTerms[:1], v1.NodeSelectorTerm{})
		}
		affinity.RequiredDuringSchedulingIgnoredDuringExecution = sel
	}
	if g.chance(preferred) {
		for range g.between(1, 3) {
			affinity.PreferredDuringSchedulingIgnoredDuringExecution = append(affinity.PreferredDuringSchedulingIgnoredDuringExecution,
				v1.PreferredSchedulingTerm{Weight: int32(g.between(1, 100)), Preference: g.nodeTerm()})
		}
		if g.chance(10) {
			affinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Preference = v1.NodeSelectorTerm{}
		}
	}
	if affinity.RequiredDuringSchedulingIgnoredDuringExecution != nil || affinity.PreferredDuringSchedulingIgnoredDuringExecution != nil {
		affinityOf(p).NodeAffinity = affinity
	}
}

func (g *gen) nameField() v1.NodeSelectorRequirement {
	return v1.NodeSelectorRequirement{
		Key:      metav1.ObjectNameField,
		Operator: pick(g, v1.NodeSelectorOpIn, v1.NodeSelectorOpIn, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn),
		Values:   []string{pick(g, g.node().Name, g.node().Name, g.node().Name, "node-gone")},
	}
}

func affinityOf(p *v1.Pod) *v1.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &v1.Affinity{}
	}
	return p.Spec.Affinity
}

func buildPorts(g *gen) {
	for _, p := range g.placed {
		if g.chance(70) {
			g.hostPorts(p)
		}
	}
	for _, p := range g.pending {
		if g.chance(85) {
			g.hostPorts(p)
		}
	}
}

// hostPorts gives a pod host ports from a small pool.
func (g *gen) hostPorts(p *v1.Pod) {
	port := func() v1.ContainerPort {
		n := int32(pick(g, 80, 443, 8080, 9090))
		return v1.ContainerPort{
			ContainerPort: n, HostPort: n,
			HostIP:   pick(g, "", "", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::"),
			Protocol: pick(g, v1.ProtocolTCP, v1.ProtocolTCP, v1.ProtocolUDP, v1.ProtocolSCTP, ""),
		}
	}
	c := &p.Spec.Containers[0]
	for range g.between(1, 2) {
		c.Ports = append(c.Ports, port())
	}
	if g.chance(20) {
		c.Ports = append(c.Ports, v1.ContainerPort{ContainerPort: 7000})
	}
	if g.chance(20) {
		ic := v1.Container{Name: "side", Image: "registry.example/side:v1", Ports: []v1.ContainerPort{port()}}
		if g.chance(60) {
			ic.RestartPolicy = new(v1.ContainerRestartPolicyAlways)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, ic)
	}
}

func buildImages(g *gen) {
	sizes := map[string]int64{}
	var names []string
	for i := range 8 {
		name := fmt.Sprintf("registry.example:5000/img-%d:%s", i, pick(g, "v1", "latest"))
		names = append(names, name)
		sizes[name] = int64(pick(g, 5, 22, 24, 90, 300, 700, 1500, 4000)) * 1024 * 1024
	}
	for _, n := range g.nodes {
		if g.chance(10) {
			continue
		}
		for _, name := range some(g, g.between(1, 5), names...) {
			digest := name[:len(name)-len(name[lastColon(name):])] + "@sha256:" + fmt.Sprintf("%064x", sizes[name])
			n.Status.Images = append(n.Status.Images, v1.ContainerImage{Names: []string{digest, name}, SizeBytes: sizes[name]})
		}
	}
	for _, p := range g.pending {
		p.Spec.Containers = p.Spec.Containers[:1]
		use := func() string {
			name := pick(g, names...)
			switch {
			case g.chance(20):
				return name[:lastColon(name)] // no tag means latest
			case g.chance(15):
				return name[:lastColon(name)] + "@sha256:" + fmt.Sprintf("%064x", sizes[name])
			case g.chance(10):
				return "registry.example:5000/unknown:v9"
			}
			return name
		}
		p.Spec.Containers[0].Image = use()
		for i := range g.between(0, 2) {
			p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: fmt.Sprintf("c%d", i), Image: use()})
		}
		if g.chance(30) {
			p.Spec.InitContainers = append(p.Spec.InitContainers, v1.Container{Name: "init", Image: use()})
		}
		if g.chance(25) {
			p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: "image", VolumeSource: v1.VolumeSource{Image: &v1.ImageVolumeSource{Reference: use(), PullPolicy: v1.PullIfNotPresent}}})
		}
	}
}

func lastColon(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ':' {
			return i
		}
	}
	return len(s)
}
