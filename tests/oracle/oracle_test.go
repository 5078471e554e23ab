package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// lasting are the areas whose answers do not depend on who comes first.
func lasting(t *testing.T) []area {
	list, err := areasByName("")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestGolden builds one golden per area twice: the two must agree to the byte.
// Building one also compares the verdict with the scheduler's own SchedulePod.
func TestGolden(t *testing.T) {
	for _, a := range lasting(t) {
		t.Run(a.name, func(t *testing.T) {
			s := sizeFor(a, 1, size{})
			first, err := golden(a, 1, s)
			if err != nil {
				t.Fatal(err)
			}
			second, err := golden(a, 1, s)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(first, second) {
				t.Error("two runs differ")
			}
			c, err := parseCase(first)
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Pending) != s.pending {
				t.Errorf("got %d pending pods, want %d", len(c.Pending), s.pending)
			}
		})
	}
}

// TestSmallest makes cases of every area that have next to nothing in them.
func TestSmallest(t *testing.T) {
	for _, a := range lasting(t) {
		for seed := range uint64(24) {
			for _, s := range []size{{nodes: 1}, {nodes: 1, pending: 1}, {nodes: 1, pods: 1, pending: 3}, {nodes: 2, pods: 3}} {
				c, err := generate(a, seed, s)
				if err != nil {
					t.Fatal(err)
				}
				if len(c.Pending) != s.pending {
					t.Errorf("%s, seed %d: got %d pending pods, want %d", a.name, seed, len(c.Pending), s.pending)
				}
			}
		}
	}
}

// TestWholeCycle lets the scheduler's own loop handle single pods and compares
// what comes out of it with the verdict.
func TestWholeCycle(t *testing.T) {
	for _, a := range lasting(t) {
		t.Run(a.name, func(t *testing.T) {
			c, err := generate(a, 2, sizeFor(a, 2, size{}))
			if err != nil {
				t.Fatal(err)
			}
			pending := c.Pending
			for i := range pending {
				if c.Pending = pending[i : i+1]; len(c.Nominated) > 0 {
					c.Nominated = nil // they would be popped as well
				}
				v, err := verdictOf(c)
				if err != nil {
					t.Fatal(err)
				}
				node, message, err := runCycle(c)
				if err != nil {
					t.Fatal(err)
				}
				pv := v.Pods[0]
				switch {
				case pv.PreEnqueue != nil || pv.Skipped != "":
					if node != "" {
						t.Errorf("%s: scheduled on %s, should wait", pv.Pod, node)
					}
				case pv.Error != "":
					if message != pv.Error {
						t.Errorf("%s: message %q, want error %q", pv.Pod, message, pv.Error)
					}
				case pv.Feasible == 0:
					if message != pv.Message && len(pv.PostFilter.Tied) < 2 {
						t.Errorf("%s: message %q, want %q", pv.Pod, message, pv.Message)
					}
				case pv.Unscored != nil:
					if node != pv.Unscored.Node {
						t.Errorf("%s: on %q, want %s", pv.Pod, node, pv.Unscored.Node)
					}
				case !slices.Contains(pv.Top, node):
					t.Errorf("%s: on %q, want one of %v", pv.Pod, node, pv.Top)
				}
			}
		})
	}
}

// runCycle runs one ScheduleOne and returns the node or the failure message.
func runCycle(c *Case) (node, message string, err error) {
	w, err := c.decode()
	if err != nil {
		return "", "", err
	}
	cl, err := newCluster(w)
	if err != nil {
		return "", "", err
	}
	defer cl.close()
	if len(cl.sched.SchedulingQueue.PodsInActiveQ()) == 0 {
		return "", "", nil // held back before the queue
	}
	schedulePod := cl.sched.SchedulePod
	cl.sched.SchedulePod = func(ctx context.Context, fw framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		result, err := schedulePod(ctx, fw, state, info)
		node = result.SuggestedHost
		return result, err
	}
	cl.sched.FailureHandler = func(_ context.Context, _ framework.Framework, _ *framework.QueuedPodInfo, status *fwk.Status, _ *fwk.NominatingInfo, _ time.Time) {
		message = status.Message()
	}
	cl.sched.ScheduleOne(cl.ctx)
	return node, message, nil
}

func TestHandWrittenCase(t *testing.T) {
	const text = `{
	  "objects": [
	    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}}},
	    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b"}, "spec": {"unschedulable": true}, "status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "10"}}},
	    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "low"}, "spec": {"nodeName": "a", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}, "status": {"startTime": "2026-01-01T00:00:00Z"}}
	  ],
	  "pending": [
	    {"metadata": {"name": "p"}, "spec": {"priority": 5, "containers": [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}]}}
	  ]
	}`
	c, err := parseCase([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v, err := verdictOf(c)
	if err != nil {
		t.Fatal(err)
	}
	got := v.Pods[0]
	const want = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. preemption: found a potential placement for pod on node a, preempting 1 victims"
	if got.Message != want {
		t.Errorf("message\n got %s\nwant %s", got.Message, want)
	}
	if got.PostFilter == nil || got.PostFilter.NominatedNode != "a" || strings.Join(got.PostFilter.Candidates["a"].Victims, ",") != "default/low" {
		t.Errorf("postFilter %+v", got.PostFilter)
	}
}

// TestFixtures compares with the golden files that the project keeps.
func TestFixtures(t *testing.T) {
	for _, a := range lasting(t) {
		data, err := golden(a, 3, sizeFor(a, 3, size{}))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := readMaybeGzip("../fixtures/parity/" + a.name + "-3.json.gz")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, kept) {
			t.Errorf("%s-3 is not what is kept", a.name)
		}
	}
}

// TestConfig compares with the configuration files that the project keeps.
func TestConfig(t *testing.T) {
	files, err := filepath.Glob("../fixtures/config/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no configuration files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".json")
			if err != nil {
				t.Fatal(err)
			}
			got, err := configReport(data)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestRender(t *testing.T) {
	value := map[string]any{"a": []int{1, 2}, "b": map[string]any{}, "c": `{"x": [1,2]}`}
	data, err := render(value, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := "{\n \"a\": [1,2],\n \"b\": {},\n \"c\": \"{\\\"x\\\": [1,2]}\"\n}\n"
	if string(data) != want {
		t.Errorf("got %q", data)
	}
	var back map[string]any
	if err := json.Unmarshal(data, &back); err != nil {
		t.Error(err)
	}
}

func TestDifferences(t *testing.T) {
	read := func(text string) (value any) {
		if err := decodeExact([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	for _, c := range []struct{ want, is, text string }{
		{`{"a": [1, 2], "b": null}`, `{"b": null, "a": [1, 2]}`, ""},
		{`{"a": 9007199254740993}`, `{"a": 9007199254740992}`, ".a: want 9007199254740993, is 9007199254740992"},
		{`{"a": 1}`, `{"a": 1.0}`, ".a: want 1, is 1.0"},
		{`{"a": null}`, `{}`, ".a: want null, is missing"},
		{`{}`, `{"a": []}`, ".a: want nothing, is []"},
		{`{"top": ["x", "y"]}`, `{"top": ["x"]}`, `.top: want ["x","y"], is ["x"]`},
		{`[{"pod": "ns/p", "feasible": 1}, {"pod": "ns/q"}]`, `[{"pod": "ns/p", "feasible": 2}]`, `[0](ns/p).feasible: want 1, is 2; [1]: want {"pod":"ns/q"}, is missing`},
	} {
		if got := strings.Join(differences("", read(c.want), read(c.is)), "; "); got != c.text {
			t.Errorf("%s and %s: got %q, want %q", c.want, c.is, got, c.text)
		}
	}
}

// TestCompareAgainstItself asks this program, which must agree with itself, and
// one that says nothing, which must not.
func TestCompareAgainstItself(t *testing.T) {
	work, err := seedJobs("gates", "4", size{})
	if err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]int{os.Args[0]: 0, "/bin/true": 2} {
		t.Setenv(answerAsOracle, "1")
		c := &comparison{program: program, keep: t.TempDir(), show: 5, byArea: map[string]*areaCount{}}
		c.runAll(work, 1)
		if c.failure != nil {
			t.Fatal(c.failure)
		}
		n := c.byArea["gates"]
		if n.cases != 1 || n.pods == 0 || n.nodes == 0 || n.differences != want {
			t.Errorf("%s: %+v, want %d differences", program, n, want)
		}
	}
}

// answerAsOracle lets the test program be the oracle.
const answerAsOracle = "ANSWER_AS_ORACLE"

func TestMain(m *testing.M) {
	if os.Getenv(answerAsOracle) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}
