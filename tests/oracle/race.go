package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// race measures the real scheduler and another program on the same workloads.
type race struct {
	program                             string
	podsPerNode, pending, atAll, warmup int
	bar                                 float64
}

// raceResult is what the other program prints for a workload: one line of JSON.
type raceResult struct {
	Scheduled int     `json:"scheduled"`
	CPUMicros float64 `json:"cpuMicrosPerPod"`
}

func raceCommand(args []string) error {
	flags := flag.NewFlagSet("race", flag.ContinueOnError)
	var r race
	flags.StringVar(&r.program, "with", "", "program that runs `--case FILE --warmup N` and prints scheduled and cpuMicrosPerPod")
	nodes := flags.String("nodes", "1000,5000", "cluster sizes, comma separated")
	names := flags.String("areas", strings.Join(benchAreas, ","), "areas, comma separated")
	flags.IntVar(&r.podsPerNode, "pods-per-node", 10, "placed pods on every node")
	flags.IntVar(&r.pending, "pending", 3000, "pods to schedule: enough for several garbage collections")
	flags.IntVar(&r.atAll, "pending-at-100", 500, "pods to schedule where kube-scheduler looks at all nodes; 0 leaves that out")
	flags.IntVar(&r.warmup, "warmup", 100, "pods scheduled before the clock starts")
	flags.Float64Var(&r.bar, "at-least", 0, "fail where the ratio is less, mixed left out")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if r.program == "" {
		return errors.New("race: --with is missing")
	}
	fmt.Println("microseconds of CPU per pod on one thread; plimsoll looks at all nodes")
	fmt.Printf("%6s %-9s %9s %15s %6s %15s %6s\n", "nodes", "area", "plimsoll", "kube, adaptive", "ratio", "kube, 100 %", "ratio")
	var slow []string
	for size := range strings.SplitSeq(*nodes, ",") {
		count, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		for area := range strings.SplitSeq(*names, ",") {
			ratio, err := r.run(area, count)
			if err != nil {
				return fmt.Errorf("%s on %d nodes: %w", area, count, err)
			}
			if ratio < r.bar && area != "mixed" {
				slow = append(slow, fmt.Sprintf("%s on %d nodes", area, count))
			}
		}
	}
	if len(slow) > 0 {
		return fmt.Errorf("less than %g times: %s", r.bar, strings.Join(slow, ", "))
	}
	return nil
}

// run measures one workload and prints its row; the ratio is to the real
// scheduler at its own share of nodes.
func (r race) run(area string, nodes int) (float64, error) {
	other, err := r.measureOther(area, nodes)
	if err != nil {
		return 0, err
	}
	adaptive, err := r.measureReal(area, nodes, r.pending, 0)
	if err != nil {
		return 0, err
	}
	ratio := adaptive.CPUMicros / other.CPUMicros
	fmt.Printf("%6d %-9s %9.1f %15.0f %6.1f", nodes, area, other.CPUMicros, adaptive.CPUMicros, ratio)
	if r.atAll > 0 {
		all, err := r.measureReal(area, nodes, r.atAll, 100)
		if err != nil {
			return 0, err
		}
		fmt.Printf(" %15.0f %6.1f", all.CPUMicros, all.CPUMicros/other.CPUMicros)
	}
	fmt.Println()
	return ratio, nil
}

func (r race) measureOther(area string, nodes int) (*raceResult, error) {
	folder, err := os.MkdirTemp("", "race")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "case.json")
	w := workload{area: area, nodes: nodes, podsPerNode: r.podsPerNode, warmup: r.warmup, pending: r.pending}
	if err := w.write(path); err != nil {
		return nil, err
	}
	return measured(exec.Command(r.program, "--case", path, "--warmup", strconv.Itoa(r.warmup)), r.pending)
}

// measureReal benches in a process of its own, on one thread: the garbage of
// other workloads would count otherwise.
func (r race) measureReal(area string, nodes, pending, percentage int) (*raceResult, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.Command(self, "bench", "--area", area, "--nodes", strconv.Itoa(nodes), "--pods-per-node", strconv.Itoa(r.podsPerNode),
		"--pending", strconv.Itoa(pending), "--warmup", strconv.Itoa(r.warmup), "--percentage", strconv.Itoa(percentage))
	command.Env = append(os.Environ(), "GOMAXPROCS=1")
	return measured(command, pending)
}

func measured(command *exec.Cmd, pending int) (*raceResult, error) {
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, os.Stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	result := &raceResult{}
	if err := json.Unmarshal(out.Bytes(), result); err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	if result.Scheduled != pending || result.CPUMicros <= 0 {
		return nil, fmt.Errorf("%s scheduled %d of %d pods", command, result.Scheduled, pending)
	}
	return result, nil
}
