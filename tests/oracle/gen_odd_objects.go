package main

import (
	"fmt"
	"math"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// oddStorage adds classes, drivers and capacities that lack something.
func (g *gen) oddStorage() {
	wait := new(storagev1.VolumeBindingWaitForFirstConsumer)
	add := func(obj runtime.Object) { g.others = append(g.others, obj) }
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, UID: g.nextUID()} }
	has := false
	for _, obj := range g.others {
		if sc, ok := obj.(*storagev1.StorageClass); ok && sc.Name == classLocal {
			has = true
		}
	}
	if !has {
		add(&storagev1.StorageClass{ObjectMeta: meta(classLocal), Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: wait})
	}
	add(&storagev1.StorageClass{ObjectMeta: meta(classNoMode), Provisioner: csiDriver})
	add(&storagev1.StorageClass{ObjectMeta: meta(classNoProvision), VolumeBindingMode: wait})
	add(&storagev1.StorageClass{ObjectMeta: meta(classNoTopology), Provisioner: csiDriver, VolumeBindingMode: wait,
		AllowedTopologies: []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: "example.com/nowhere", Values: []string{"x"}}}}}})
	add(&storagev1.CSINode{ObjectMeta: meta("node-gone"), Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: csiDriver, NodeID: "gone", Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(0))}}}}})
	add(&storagev1.VolumeAttachment{ObjectMeta: meta("attach-gone"), Spec: storagev1.VolumeAttachmentSpec{Attacher: csiDriver, NodeName: "node-gone", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new("pv-gone")}}})
	add(&storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Name: "cap-empty", Namespace: "kube-system", UID: g.nextUID()}, StorageClassName: classNoTopology, NodeTopology: &metav1.LabelSelector{}})
}

// oddClaim gives a pod a claim that lacks something.
func (g *gen) oddClaim(p *v1.Pod, kind int) {
	c := g.claim(p, classLocal, "1Gi")
	use(p, c.Name)
	switch kind {
	case 0: // no class: nothing was there to fill it in
		c.Spec.StorageClassName = nil
	case 1: // the class with the empty name
		c.Spec.StorageClassName = new("")
	case 2:
		c.Spec.StorageClassName = new(classNoMode)
	case 3:
		c.Spec.StorageClassName = new(classNoProvision)
	case 4:
		c.Spec.StorageClassName = new(classNoTopology)
	case 5: // asks for nothing
		c.Spec.Resources, c.Spec.AccessModes, c.Spec.VolumeMode = v1.VolumeResourceRequirements{}, nil, nil
	case 6: // bound, to a volume that no node reaches
		pv := g.volume(c.Name, csiDriver, "")
		pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{}}
		bind(c, pv)
	case 7: // bound, to a volume with nothing in it that belongs to another claim
		pv := g.volume(c.Name, "", "")
		bind(c, pv)
		pv.Spec.CSI, pv.Spec.Capacity, pv.Spec.AccessModes, pv.Spec.ClaimRef.UID = nil, nil, nil, "someone-else"
		pv.Labels = map[string]string{v1.LabelTopologyZone: "", v1.LabelTopologyRegion: "__"}
	case 8: // a volume mode and a size that nothing has
		c.Spec.Resources.Requests = list("storage", "8191Pi")
		c.Spec.VolumeMode = new(v1.PersistentVolumeMode("Perhaps"))
	}
}

// oddDevices adds pools that cannot be used.
func (g *gen) oddDevices() {
	has := false
	for _, obj := range g.others {
		if c, ok := obj.(*resourcev1.DeviceClass); ok && c.Name == gpuClass {
			has = true
		}
	}
	if !has {
		g.devicePools()
	}
	gone := g.slice(gpuDriver, "node-gone", 1)
	gone.Spec.Devices = []resourcev1.Device{{Name: "gpu-0"}}
	old := g.slice(gpuDriver, g.nodes[0].Name, 1) // the generation before the one that counts
	old.Name += "-old"
	old.Spec.Pool.Generation = 0
	old.Spec.Devices = []resourcev1.Device{{Name: "gpu-old"}}
	for i, n := range g.nodes { // half a pool, and a pool with nothing in it
		switch i % 4 {
		case 1:
			g.slice("half.example.com", n.Name, 2).Spec.Devices = []resourcev1.Device{{Name: "half-0"}}
		case 2:
			g.slice("empty.example.com", n.Name, 1)
		}
	}
	for _, name := range []string{"half", "empty"} {
		g.others = append(g.others, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name, UID: g.nextUID()}, Spec: resourcev1.DeviceClassSpec{Selectors: cel(fmt.Sprintf("device.driver == %q", name+".example.com"))}})
	}
	g.others = append(g.others, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "anything", UID: g.nextUID()}})
}

// oddDeviceClaim gives a pod a claim that asks for more than there can be, for
// pools that are not whole, or for nothing.
func (g *gen) oddDeviceClaim(p *v1.Pod) {
	switch g.r.IntN(7) {
	case 0:
		useClaim(p, g.resourceClaim(p.Namespace, exactly("many", gpuClass, 33)).Name)
	case 1:
		useClaim(p, g.resourceClaim(p.Namespace, exactly("all", gpuClass, math.MaxInt64)).Name)
	case 2:
		useClaim(p, g.resourceClaim(p.Namespace, exactly("half", "half", 1)).Name)
	case 3:
		r := exactly("empty", "empty", 0)
		r.Exactly.AllocationMode = resourcev1.DeviceAllocationModeAll
		useClaim(p, g.resourceClaim(p.Namespace, r).Name)
	case 4:
		useClaim(p, g.resourceClaim(p.Namespace).Name)
	case 5: // the same claim twice
		c := g.resourceClaim(p.Namespace, exactly("one", "anything", 1))
		useClaim(p, c.Name)
		useClaim(p, c.Name)
	case 6: // an attribute that no device has must be equal
		c := g.resourceClaim(p.Namespace, exactly("a", gpuClass, 1), exactly("b", gpuClass, 1))
		c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: new(resourcev1.FullyQualifiedName(gpuDriver + "/nowhere"))}}
		useClaim(p, c.Name)
	}
}

// oddControllers adds controllers and budgets whose selectors select nothing,
// and deletes a namespace that has pods.
func (g *gen) oddControllers() {
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: "team-c", UID: g.nextUID()}
	}
	g.others = append(g.others,
		&v1.Service{ObjectMeta: meta("odd-all"), Spec: v1.ServiceSpec{Selector: map[string]string{}}},
		&v1.Service{ObjectMeta: meta("odd-none")},
		&appsv1.ReplicaSet{ObjectMeta: meta("odd-nil")},
		&appsv1.StatefulSet{ObjectMeta: meta("odd-near"), Spec: appsv1.StatefulSetSpec{Selector: nearSelector()}},
		&v1.ReplicationController{ObjectMeta: meta("odd-nil")},
		&policyv1.PodDisruptionBudget{ObjectMeta: meta("odd-nil"), Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromString("100%"))}},
		&policyv1.PodDisruptionBudget{ObjectMeta: meta("odd-near"), Spec: policyv1.PodDisruptionBudgetSpec{Selector: nearSelector()}},
		&policyv1.PodDisruptionBudget{ObjectMeta: meta("odd-negative"), Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}, Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: -3}},
	)
	for i, kind := range []string{"ReplicaSet", "StatefulSet", "ReplicationController", "Job"} {
		if len(g.pending) == 0 {
			break
		}
		p := g.pending[(i*3)%len(g.pending)]
		if p.Namespace == goneNamespace || p.Spec.Volumes != nil || p.Spec.ResourceClaims != nil {
			continue // its claims are elsewhere
		}
		p.Namespace = "team-c"
		name := map[string]string{"StatefulSet": "odd-near"}[kind]
		if name == "" {
			name = "odd-nil"
		}
		version := map[string]string{"ReplicationController": "v1", "Job": "batch/v1"}[kind]
		if version == "" {
			version = "apps/v1"
		}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: name, UID: "odd", Controller: new(true)}}
	}
	kept := g.others[:0]
	for _, obj := range g.others {
		if ns, ok := obj.(*v1.Namespace); ok {
			if ns.Name == "team-b" && g.seed%2 == 0 {
				continue
			}
			if ns.Name == "team-a" {
				ns.DeletionTimestamp = new(metav1.NewTime(epoch))
				ns.Status.Phase = v1.NamespaceTerminating
			}
		}
		kept = append(kept, obj)
	}
	g.others = kept
}
