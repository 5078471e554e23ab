package main

import (
	"encoding/json"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var benchAreas = []string{"plain", "spread", "interpod", "mixed"}

// workload is what bench schedules.
type workload struct {
	area                       string
	nodes, podsPerNode, warmup int
	pending                    int
}

// write saves the workload as a case, for other schedulers to run.
func (w workload) write(path string) error {
	c := &Case{Description: fmt.Sprintf("benchmark workload %s, %d nodes", w.area, w.nodes)}
	nodes, placed, pending := w.build()
	add := func(list *[]json.RawMessage, obj k8sruntime.Object, kind string) error {
		obj.GetObjectKind().SetGroupVersionKind(v1.SchemeGroupVersion.WithKind(kind))
		raw, err := json.Marshal(obj)
		*list = append(*list, raw)
		return err
	}
	for _, n := range nodes {
		if err := add(&c.Objects, n, "Node"); err != nil {
			return err
		}
	}
	for _, p := range placed {
		if err := add(&c.Objects, p, "Pod"); err != nil {
			return err
		}
	}
	for _, p := range pending {
		if err := add(&c.Pending, p, "Pod"); err != nil {
			return err
		}
	}
	data, err := render(c, 2)
	if err != nil {
		return err
	}
	return writeFile(path, data)
}

func (w workload) world() (*world, error) {
	cfg, err := decodeConfig(nil)
	if err != nil {
		return nil, err
	}
	nodes, placed, pending := w.build()
	w2 := &world{config: cfg, objects: map[schema.GroupVersionResource][]k8sruntime.Object{}, pending: pending}
	for _, n := range nodes {
		w2.objects[nodeResource] = append(w2.objects[nodeResource], n)
	}
	for _, p := range slices.Concat(placed, pending) {
		w2.objects[podResource] = append(w2.objects[podResource], p)
	}
	return w2, nil
}

var colors = []string{"green", "blue", "red", "yellow"}

// build makes nodes of 4 cpu and 32 GiB in three zones, pods of 100m and 500 MiB
// on them, and pending pods of the same size with the area's constraints.
func (w workload) build() (nodes []*v1.Node, placed, pending []*v1.Pod) {
	for i := range w.nodes {
		name := fmt.Sprintf("node-%05d", i)
		nodes = append(nodes, &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name, v1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3)}},
			Status: v1.NodeStatus{
				Capacity:    list("cpu", "4", "memory", "32Gi", "pods", "110"),
				Allocatable: list("cpu", "4", "memory", "32Gi", "pods", "110"),
				Conditions:  []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}},
			},
		})
	}
	for i := range w.nodes * w.podsPerNode {
		p := w.pod(fmt.Sprintf("placed-%06d", i), i)
		p.Spec.NodeName = nodes[i%w.nodes].Name
		p.Status.Phase = v1.PodRunning
		if w.area == "interpod" || w.area == "mixed" {
			switch i % 16 { // some of the pods that are there have terms too
			case 1:
				preferNear(p, v1.LabelHostname)
			case 2:
				preferAway(p, v1.LabelHostname)
			case 3:
				requireAway(p)
			}
		}
		placed = append(placed, p)
	}
	for i := range w.warmup + w.pending {
		p := w.pod(fmt.Sprintf("pending-%06d", i), i)
		switch w.area {
		case "spread":
			spreadOver(p)
		case "interpod":
			near(p, i)
		case "mixed":
			switch i % 4 {
			case 1:
				spreadOver(p)
			case 2:
				near(p, i/4)
			case 3:
				p.Spec.Tolerations = []v1.Toleration{{Key: "dedicated", Operator: v1.TolerationOpExists}}
				affinityOf(p).NodeAffinity = &v1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{
					{Weight: 10, Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpIn, Values: []string{"zone-1"}}}}},
				}}
			}
		}
		pending = append(pending, p)
	}
	return nodes, placed, pending
}

func (w workload) pod(name string, i int) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: v1.NamespaceDefault, Labels: map[string]string{"color": colors[i%len(colors)]}},
		Spec: v1.PodSpec{Containers: []v1.Container{{
			Name: "pause", Image: "registry.example/pause:v1",
			Resources: v1.ResourceRequirements{Requests: list("cpu", "100m", "memory", "500Mi"), Limits: list("cpu", "100m", "memory", "500Mi")},
		}}},
	}
	completePod(p)
	return p
}

func byColor(color string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"color": color}}
}

// spreadOver makes a pod spread over zones, and if possible over nodes.
func spreadOver(p *v1.Pod) {
	p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{
		{MaxSkew: 5, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: byColor(p.Labels["color"])},
		{MaxSkew: 1, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: byColor(p.Labels["color"])},
	}
}

// near gives a pod one of three kinds of pod affinity.
func near(p *v1.Pod, i int) {
	switch i % 3 {
	case 0:
		affinityOf(p).PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: v1.LabelTopologyZone, LabelSelector: byColor("blue")}}}
	case 1:
		preferNear(p, v1.LabelHostname)
	case 2:
		preferAway(p, v1.LabelHostname)
	}
}

func preferNear(p *v1.Pod, key string) {
	affinityOf(p).PodAffinity = &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: v1.PodAffinityTerm{TopologyKey: key, LabelSelector: byColor("red")}}}}
}

func preferAway(p *v1.Pod, key string) {
	affinityOf(p).PodAntiAffinity = &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: v1.PodAffinityTerm{TopologyKey: key, LabelSelector: byColor("yellow")}}}}
}

func requireAway(p *v1.Pod) {
	affinityOf(p).PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: v1.LabelHostname, LabelSelector: byColor("violet")}}}
}
