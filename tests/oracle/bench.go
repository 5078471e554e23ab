package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// benchResult is what bench prints.
type benchResult struct {
	Kubernetes  string  `json:"kubernetes"`
	Area        string  `json:"area"`
	Nodes       int     `json:"nodes"`
	PodsPerNode int     `json:"podsPerNode"`
	Pending     int     `json:"pending"`
	Percentage  int     `json:"percentage"`
	GOMAXPROCS  int     `json:"gomaxprocs"`
	Scheduled   int     `json:"scheduled"`
	Seconds     float64 `json:"seconds"`
	PodsPerSec  float64 `json:"podsPerSecond"`
	MeanMicros  float64 `json:"meanMicros"`
	P50Micros   float64 `json:"p50Micros"`
	P99Micros   float64 `json:"p99Micros"`
	AllocsPod   float64 `json:"allocsPerPod"`
	BytesPod    float64 `json:"bytesPerPod"`
	CPUMicros   float64 `json:"cpuMicrosPerPod"`
	GCs         uint32  `json:"gcRuns"`
}

func benchCommand(args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	var w workload
	flags.IntVar(&w.nodes, "nodes", 1000, "nodes")
	flags.IntVar(&w.podsPerNode, "pods-per-node", 10, "placed pods on every node")
	flags.IntVar(&w.pending, "pending", 1000, "pods to schedule")
	flags.IntVar(&w.warmup, "warmup", 100, "pods scheduled before the clock starts")
	flags.StringVar(&w.area, "area", "plain", "plain, spread, interpod or mixed")
	percentage := flags.Int("percentage", 0, "percentageOfNodesToScore; 0 adapts to the cluster size")
	writeCase := flags.String("write-case", "", "write the workload as a case to this file and stop")
	cpuProfile := flags.String("cpuprofile", "", "write a CPU profile of the measured part to this file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !slices.Contains(benchAreas, w.area) {
		return fmt.Errorf("bench: no area %q; there are %v", w.area, benchAreas)
	}
	if *writeCase != "" {
		return w.write(*writeCase)
	}
	result, err := w.run(*percentage, *cpuProfile)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// run schedules the workload with a real scheduler.Scheduler: ScheduleOne for
// every pod, with the default profile except for a binder that does nothing.
func (w workload) run(percentage int, cpuProfile string) (*benchResult, error) {
	world, err := w.world()
	if err != nil {
		return nil, err
	}
	world.config.PercentageOfNodesToScore = new(int32(percentage))
	for i := range world.config.Profiles {
		world.config.Profiles[i].PercentageOfNodesToScore = nil
	}
	useBinder(world.config)
	binder := &nopBinder{}
	registry := frameworkruntime.Registry{nopBinderName: func(context.Context, k8sruntime.Object, fwk.Handle) (fwk.Plugin, error) { return binder, nil }}
	c, err := newCluster(world, scheduler.WithFrameworkOutOfTreeRegistry(registry))
	if err != nil {
		return nil, err
	}
	defer c.close()

	for range w.warmup {
		c.sched.ScheduleOne(c.ctx)
	}
	binder.settle()
	if cpuProfile != "" {
		f, err := os.Create(cpuProfile)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		defer pprof.StopCPUProfile()
	}
	runtime.GC()
	before := binder.bound()
	times := make([]time.Duration, w.pending)
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	cpu0 := cpuTime()
	start := time.Now()
	for i := range times {
		t := time.Now()
		c.sched.ScheduleOne(c.ctx)
		times[i] = time.Since(t)
	}
	binder.settle()
	elapsed := time.Since(start)
	cpu1 := cpuTime()
	runtime.ReadMemStats(&m1)

	slices.Sort(times)
	n := float64(w.pending)
	micros := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	return &benchResult{
		Kubernetes: kubernetesVersion, Area: w.area, Nodes: w.nodes, PodsPerNode: w.podsPerNode, Pending: w.pending,
		Percentage: percentage, GOMAXPROCS: runtime.GOMAXPROCS(0), Scheduled: binder.bound() - before,
		Seconds: elapsed.Seconds(), PodsPerSec: n / elapsed.Seconds(), MeanMicros: micros(elapsed) / n,
		P50Micros: micros(times[len(times)/2]), P99Micros: micros(times[len(times)*99/100]),
		AllocsPod: float64(m1.Mallocs-m0.Mallocs) / n, BytesPod: float64(m1.TotalAlloc-m0.TotalAlloc) / n,
		CPUMicros: micros(cpu1-cpu0) / n, GCs: m1.NumGC - m0.NumGC,
	}, nil
}

const nopBinderName = "NopBinder"

// useBinder puts the no-op binder in the place of the default one.
func useBinder(cfg *config.KubeSchedulerConfiguration) {
	for i := range cfg.Profiles {
		p := cfg.Profiles[i].Plugins
		p.MultiPoint.Enabled = slices.DeleteFunc(p.MultiPoint.Enabled, func(p config.Plugin) bool { return p.Name == names.DefaultBinder })
		p.Bind.Enabled = []config.Plugin{{Name: nopBinderName}}
	}
}

// nopBinder is a Bind plugin that only counts.
type nopBinder struct {
	mu    sync.Mutex
	count int
}

func (*nopBinder) Name() string { return nopBinderName }

func (b *nopBinder) Bind(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	b.mu.Lock()
	b.count++
	b.mu.Unlock()
	return nil
}

// settle waits until the binding cycles under way have come to the binder.
func (b *nopBinder) settle() {
	for n := -1; n != b.bound(); {
		n = b.bound()
		time.Sleep(200 * time.Microsecond)
	}
}

func (b *nopBinder) bound() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

// cpuTime returns the processor time this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
