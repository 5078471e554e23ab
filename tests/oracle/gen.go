package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

// size is the shape of a generated case.
type size struct {
	nodes, pods, pending int
}

// area fills a generator's cluster with one family of features. It is called
// after the plain nodes and pods exist.
type area struct {
	name string
	// about is a line for the case's description.
	about string
	build func(g *gen)
	// asked areas are left out unless they are named.
	asked bool
}

var areas = []area{
	{name: "resources", about: "requests of every kind against allocatable", build: buildResources},
	{name: "strategies", about: "scoring strategies of NodeResourcesFit and BalancedAllocation", build: buildStrategies},
	{name: "taints", about: "taints, tolerations and unschedulable nodes", build: buildTaints},
	{name: "nodeaffinity", about: "node selectors and node affinity", build: buildNodeAffinity},
	{name: "ports", about: "host ports", build: buildPorts},
	{name: "spread", about: "topology spread constraints", build: buildSpread},
	{name: "interpod", about: "pod affinity and anti-affinity", build: buildInterPod},
	{name: "volumes", about: "persistent volumes, claims and their limits", build: buildVolumes},
	{name: "images", about: "images already on the nodes", build: buildImages},
	{name: "preemption", about: "priorities, disruption budgets and nominated pods", build: buildPreemption},
	{name: "gates", about: "scheduling gates, node names and declared features", build: buildGates},
	{name: "dra", about: "resource claims, slices and device classes", build: buildDRA},
	{name: "profiles", about: "several profiles with their own plugin sets", build: buildProfiles},
	{name: "mixed", about: "everything at once", build: buildMixed},
	{name: "odd", about: "objects of odd shapes in the clusters of other areas", build: buildOdd},
	{name: "overflow", about: "amounts whose sums and products leave an int64", build: buildOverflow, asked: true},
}

func areaByName(name string) (area, error) {
	for _, a := range areas {
		if a.name == name {
			return a, nil
		}
	}
	names := make([]string, len(areas))
	for i, a := range areas {
		names[i] = a.name
	}
	return area{}, fmt.Errorf("no area %q; there are %s", name, strings.Join(names, " "))
}

// areasByName reads a list with commas; an empty one is all areas that need not
// be asked for.
func areasByName(names string) ([]area, error) {
	if names == "" {
		return slices.DeleteFunc(slices.Clone(areas), func(a area) bool { return a.asked }), nil
	}
	var list []area
	for name := range strings.SplitSeq(names, ",") {
		a, err := areaByName(name)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// epoch is the fixed clock of generated objects.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// gen builds one case. All choices come from r, so a seed and an area give the
// same case for ever.
type gen struct {
	r    *rand.Rand
	seed uint64
	size size

	config    map[string]any
	nodes     []*v1.Node
	placed    []*v1.Pod
	pending   []*v1.Pod
	nominated []*v1.Pod
	others    []runtime.Object
	uid       int
}

func generate(a area, seed uint64, s size) (*Case, error) {
	h := fnv.New64a()
	h.Write([]byte(a.name))
	g := &gen{r: rand.New(rand.NewPCG(seed, h.Sum64())), seed: seed, size: s}
	g.baseNamespaces()
	g.baseNodes()
	g.basePods()
	a.build(g)
	return g.finish(fmt.Sprintf("area %s, seed %d: %s", a.name, seed, a.about))
}

func generateCommand(args []string) error {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	seed := flags.Uint64("seed", 1, "seed")
	name := flags.String("area", "mixed", "area")
	var s size
	flags.IntVar(&s.nodes, "nodes", 16, "nodes")
	flags.IntVar(&s.pods, "pods", 60, "placed pods")
	flags.IntVar(&s.pending, "pending", 16, "pending pods")
	if err := flags.Parse(args); err != nil {
		return err
	}
	a, err := areaByName(*name)
	if err != nil {
		return err
	}
	c, err := generate(a, *seed, s)
	if err != nil {
		return err
	}
	data, err := render(c, 2)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(data)
	return err
}

func (g *gen) finish(description string) (*Case, error) {
	c := &Case{Description: description}
	if g.config != nil {
		g.config["apiVersion"] = "kubescheduler.config.k8s.io/v1"
		g.config["kind"] = "KubeSchedulerConfiguration"
		raw, err := json.Marshal(g.config)
		if err != nil {
			return nil, err
		}
		c.Config = raw
	}
	add := func(list *[]json.RawMessage, obj runtime.Object) error {
		kinds, _, err := clientscheme.Scheme.ObjectKinds(obj)
		if err != nil {
			return err
		}
		obj.GetObjectKind().SetGroupVersionKind(kinds[0])
		raw, err := json.Marshal(obj)
		if err != nil {
			return err
		}
		*list = append(*list, raw)
		return nil
	}
	for _, obj := range g.others {
		if err := add(&c.Objects, obj); err != nil {
			return nil, err
		}
	}
	for _, obj := range g.nodes {
		if err := add(&c.Objects, obj); err != nil {
			return nil, err
		}
	}
	for _, obj := range g.placed {
		if err := add(&c.Objects, obj); err != nil {
			return nil, err
		}
	}
	for _, obj := range g.nominated {
		if err := add(&c.Nominated, obj); err != nil {
			return nil, err
		}
	}
	for _, obj := range g.pending {
		if err := add(&c.Pending, obj); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// chance is true with the given probability in percent.
func (g *gen) chance(percent int) bool { return g.r.IntN(100) < percent }

// between returns a number from lo to hi, both included.
func (g *gen) between(lo, hi int) int { return lo + g.r.IntN(hi-lo+1) }

func pick[T any](g *gen, list ...T) T { return list[g.r.IntN(len(list))] }

// some returns n distinct elements of the list, in list order.
func some[T any](g *gen, n int, list ...T) []T {
	index := g.r.Perm(len(list))[:min(n, len(list))]
	slices.Sort(index)
	out := make([]T, 0, len(index))
	for _, i := range index {
		out = append(out, list[i])
	}
	return out
}

func (g *gen) nextUID() types.UID {
	g.uid++
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", g.uid))
}

func qty(s string) resource.Quantity { return resource.MustParse(s) }

// list builds a ResourceList from name, quantity pairs.
func list(pairs ...string) v1.ResourceList {
	out := v1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[v1.ResourceName(pairs[i])] = qty(pairs[i+1])
	}
	return out
}

var (
	namespaces = []string{"default", "team-a", "team-b", "team-c"}
	apps       = []string{"web", "db", "cache", "batch"}
	zones      = []string{"zone-a", "zone-b", "zone-c", "zone-d"}
	tiers      = []string{"front", "back"}
)

func (g *gen) baseNamespaces() {
	labels := map[string]map[string]string{
		"default": {"kubernetes.io/metadata.name": "default"},
		"team-a":  {"kubernetes.io/metadata.name": "team-a", "env": "prod", "team": "a"},
		"team-b":  {"kubernetes.io/metadata.name": "team-b", "env": "prod", "team": "b"},
		"team-c":  {"kubernetes.io/metadata.name": "team-c", "env": "test", "team": "c"},
	}
	for _, name := range namespaces {
		g.others = append(g.others, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels[name], UID: g.nextUID()}})
	}
}

func (g *gen) baseNodes() {
	width := len(fmt.Sprint(g.size.nodes - 1))
	for i := range g.size.nodes {
		name := fmt.Sprintf("node-%0*d", width, i)
		zone := zones[i%len(zones)]
		n := &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: g.nextUID(), CreationTimestamp: metav1.NewTime(epoch), Labels: map[string]string{
				v1.LabelHostname:           name,
				v1.LabelTopologyZone:       zone,
				v1.LabelTopologyRegion:     "region-1",
				v1.LabelArchStable:         pick(g, "amd64", "amd64", "amd64", "arm64"),
				v1.LabelOSStable:           "linux",
				v1.LabelInstanceTypeStable: pick(g, "m.large", "m.xlarge", "c.large"),
			}},
			Status: v1.NodeStatus{
				Capacity:   list("cpu", "8", "memory", "32Gi", "pods", "110", "ephemeral-storage", "100Gi"),
				Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}},
			},
		}
		if g.chance(30) {
			n.Status.Capacity = list("cpu", "4", "memory", "16Gi", "pods", "110", "ephemeral-storage", "50Gi")
		}
		n.Status.Allocatable = maps.Clone(n.Status.Capacity)
		g.nodes = append(g.nodes, n)
	}
}

func (g *gen) node() *v1.Node { return g.nodes[g.r.IntN(len(g.nodes))] }

// setAllocatable replaces single resources of a node.
func setAllocatable(n *v1.Node, pairs ...string) {
	for name, q := range list(pairs...) {
		n.Status.Allocatable[name] = q
		n.Status.Capacity[name] = q
	}
}

func (g *gen) basePods() {
	for i := range g.size.pods {
		p := g.pod(fmt.Sprintf("placed-%03d", i))
		p.Spec.NodeName = g.node().Name
		p.Status.Phase = v1.PodRunning
		p.Status.StartTime = new(metav1.NewTime(epoch.Add(time.Duration(g.r.IntN(100000)) * time.Second)))
		g.placed = append(g.placed, p)
	}
	for i := range g.size.pending {
		p := g.pod(fmt.Sprintf("pending-%03d", i))
		p.Status.Phase = v1.PodPending
		g.pending = append(g.pending, p)
	}
}

// pod returns a small pod with one container.
func (g *gen) pod(name string) *v1.Pod {
	app := pick(g, apps...)
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: pick(g, namespaces[:3]...), UID: g.nextUID(),
			CreationTimestamp: metav1.NewTime(epoch.Add(time.Duration(g.uid) * time.Second)),
			Labels:            map[string]string{"app": app, "tier": pick(g, tiers...)},
		},
		Spec: v1.PodSpec{
			SchedulerName: v1.DefaultSchedulerName,
			Priority:      new(int32(0)),
			Containers: []v1.Container{{
				Name: "main", Image: "registry.example/" + app + ":v1",
				Resources: v1.ResourceRequirements{Requests: list("cpu", pick(g, "50m", "100m", "250m", "500m"), "memory", pick(g, "64Mi", "128Mi", "256Mi", "1Gi"))},
			}},
		},
	}
	if g.chance(10) {
		p.Spec.Containers[0].Resources.Requests = nil
	}
	return p
}

// request sets one resource of the first container.
func request(p *v1.Pod, pairs ...string) {
	c := &p.Spec.Containers[0]
	if c.Resources.Requests == nil {
		c.Resources.Requests = v1.ResourceList{}
	}
	maps.Copy(c.Resources.Requests, list(pairs...))
}

// profile returns a configuration with one profile and the given plugin args.
func profile(args map[string]map[string]any) map[string]any {
	return map[string]any{"profiles": []any{profileNamed(v1.DefaultSchedulerName, args, nil)}}
}

func profileNamed(name string, args map[string]map[string]any, plugins map[string]any) map[string]any {
	p := map[string]any{"schedulerName": name}
	var pluginConfig []any
	for _, plugin := range slices.Sorted(maps.Keys(args)) {
		a := maps.Clone(args[plugin])
		a["apiVersion"] = "kubescheduler.config.k8s.io/v1"
		a["kind"] = plugin + "Args"
		pluginConfig = append(pluginConfig, map[string]any{"name": plugin, "args": a})
	}
	if pluginConfig != nil {
		p["pluginConfig"] = pluginConfig
	}
	if plugins != nil {
		p["plugins"] = plugins
	}
	return p
}
