package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// cluster is a real scheduler.Scheduler fed through its own informers from a
// client that only lists; nothing it writes goes anywhere.
type cluster struct {
	sched    *scheduler.Scheduler
	snapshot *internalcache.Snapshot
	factory  informers.SharedInformerFactory
	stop     context.CancelFunc
	ctx      context.Context
}

func newCluster(w *world, opts ...scheduler.Option) (*cluster, error) {
	ctx, stop := context.WithCancel(context.Background())
	ctx = klog.NewContext(ctx, klog.Background())

	c := &cluster{
		snapshot: internalcache.NewEmptySnapshot(),
		stop:     stop,
		ctx:      ctx,
	}
	client := newClient(w.objects)
	c.factory = scheduler.NewInformerFactory(client, 0, nil)
	recorders := func(string) events.EventRecorderLogger { return silentRecorder{} }
	cfg := w.config
	opts = append([]scheduler.Option{
		scheduler.WithComponentConfigVersion(cfg.TypeMeta.APIVersion),
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore),
		scheduler.WithParallelism(cfg.Parallelism),
		scheduler.WithPodInitialBackoffSeconds(cfg.PodInitialBackoffSeconds),
		scheduler.WithPodMaxBackoffSeconds(cfg.PodMaxBackoffSeconds),
		scheduler.WithNodeInfoSnapshot(c.snapshot),
	}, opts...)
	sched, err := scheduler.New(ctx, client, c.factory, nil, recorders, opts...)
	if err != nil {
		stop()
		return nil, err
	}
	c.sched = sched
	for _, fw := range sched.Profiles {
		if dp := preemptionPlugin(fw); dp != nil {
			dp.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error) {
				return false, nil
			}
		}
	}
	c.factory.Start(ctx.Done())
	c.factory.WaitForCacheSync(ctx.Done())
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		stop()
		return nil, err
	}
	if err := c.refresh(); err != nil {
		stop()
		return nil, err
	}
	return c, nil
}

// refresh brings the snapshot up to date with the scheduler's cache.
func (c *cluster) refresh() error {
	return c.sched.Cache.UpdateSnapshot(klog.FromContext(c.ctx), c.snapshot)
}

func (c *cluster) close() {
	c.stop()
	c.sched.SchedulingQueue.Close()
	_ = c.sched.Profiles.Close()
	c.factory.Shutdown()
}

// newClient returns a client whose lists are exactly the given objects in the
// given order and whose writes are accepted and dropped.
func newClient(objects map[schema.GroupVersionResource][]runtime.Object) *fake.Clientset {
	client := fake.NewSimpleClientset()
	client.PrependReactor("list", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		kind := action.(clienttesting.ListActionImpl).Kind
		list, err := clientscheme.Scheme.New(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err != nil {
			return true, nil, err
		}
		items := make([]runtime.Object, 0, len(objects[action.GetResource()]))
		for _, obj := range objects[action.GetResource()] {
			items = append(items, obj.DeepCopyObject())
		}
		return true, list, meta.SetList(list, items)
	})
	client.PrependReactor("create", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, action.(clienttesting.CreateAction).GetObject(), nil
	})
	client.PrependReactor("update", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, action.(clienttesting.UpdateAction).GetObject(), nil
	})
	client.PrependReactor("patch", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		for _, obj := range objects[action.GetResource()] {
			m, err := meta.Accessor(obj)
			patch := action.(clienttesting.PatchAction)
			if err == nil && m.GetName() == patch.GetName() && m.GetNamespace() == patch.GetNamespace() {
				return true, obj.DeepCopyObject(), nil
			}
		}
		return true, nil, errors.New("patch of an unknown object")
	})
	client.PrependReactor("delete", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, nil
	})
	return client
}

// nodeInfos returns the nodes of the snapshot by name.
func (c *cluster) nodeInfos() ([]fwk.NodeInfo, error) {
	list, err := c.snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b fwk.NodeInfo) int {
		return compareStrings(a.Node().Name, b.Node().Name)
	})
	return list, nil
}

// frameworkFor returns the profile that serves the pod.
func (c *cluster) frameworkFor(pod *v1.Pod) (framework.Framework, error) {
	fw, ok := c.sched.Profiles[pod.Spec.SchedulerName]
	if !ok {
		return nil, fmt.Errorf("profile not found for scheduler name %q", pod.Spec.SchedulerName)
	}
	return fw, nil
}

// pluginInstances reads the plugins a profile was built with. The framework
// runs plugins but has no call that hands them out, so its map is read by
// reflection; it is never changed.
func pluginInstances(fw framework.Framework) map[string]fwk.Plugin {
	field := reflect.ValueOf(fw).Elem().FieldByName("pluginsMap")
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface().(map[string]fwk.Plugin)
}

func preemptionPlugin(fw framework.Framework) *defaultpreemption.DefaultPreemption {
	dp, _ := pluginInstances(fw)[defaultpreemption.Name].(*defaultpreemption.DefaultPreemption)
	return dp
}

// silentRecorder drops events.
type silentRecorder struct{}

func (silentRecorder) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {
}

func (r silentRecorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }

// silenceLogs drops everything the scheduler logs.
func silenceLogs() {
	utilruntime.ErrorHandlers = nil
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}
