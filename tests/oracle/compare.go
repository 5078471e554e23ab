package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// answerTime is what the other program may take for one case; the largest cases
// take it well under a second.
const answerTime = 2 * time.Minute

// comparison asks another scheduler about cases and collects where it differs.
type comparison struct {
	program string
	keep    string
	show    int

	mu      sync.Mutex
	byArea  map[string]*areaCount
	slowest slowRun
	failure error
}

// areaCount is what was compared in one area.
type areaCount struct {
	cases, pods, nodes, placements, differences int
	shown                                       []string
	kept                                        []string
}

type slowRun struct {
	took time.Duration
	what string
}

// caseJob is one case to compare; make gives it with the scheduler's answers.
type caseJob struct {
	area, name string
	make       func() ([]byte, error)
}

func compareCommand(args []string) error {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	c := &comparison{byArea: map[string]*areaCount{}}
	flags.StringVar(&c.program, "with", "", "program that answers `verdict FILE` and `sequence FILE`")
	names := flags.String("areas", "", "areas, comma separated; empty means all")
	seeds := flags.String("seeds", "1-6", "first and last seed")
	flags.StringVar(&c.keep, "keep", filepath.Join(os.TempDir(), "oracle-differences"), "folder for the cases that differ")
	flags.IntVar(&c.show, "show", 5, "differences shown per area")
	jobs := flags.Int("jobs", 2*runtime.NumCPU(), "cases at a time; each waits most of the time")
	var s size
	s.addFlags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if c.program == "" {
		return errors.New("compare: --with is missing")
	}
	work, err := fileJobs(flags.Args())
	if err == nil && len(work) == 0 {
		work, err = seedJobs(*names, *seeds, s)
	}
	if err != nil {
		return err
	}
	start := time.Now()
	c.runAll(work, *jobs)
	if c.failure != nil {
		return c.failure
	}
	return c.report(time.Since(start))
}

// seedJobs generates cases.
func seedJobs(names, seeds string, s size) ([]caseJob, error) {
	first, last, err := seedRange(seeds)
	if err != nil {
		return nil, err
	}
	list, err := areasByName(names)
	if err != nil {
		return nil, err
	}
	var work []caseJob
	for _, a := range list {
		for seed := first; seed <= last; seed++ {
			work = append(work, caseJob{a.name, fmt.Sprintf("%s-%d", a.name, seed), func() ([]byte, error) { return golden(a, seed, sizeFor(a, seed, s)) }})
		}
	}
	return work, nil
}

// fileJobs reads cases from files.
func fileJobs(paths []string) ([]caseJob, error) {
	var work []caseJob
	for _, path := range paths {
		name := filepath.Base(path)
		if i := strings.Index(name, ".json"); i > 0 {
			name = name[:i]
		}
		work = append(work, caseJob{"files", name, func() ([]byte, error) {
			one, err := readCase(path)
			if err != nil {
				return nil, err
			}
			return goldenOf(one)
		}})
	}
	return work, nil
}

// runAll compares all cases, some at a time.
func (c *comparison) runAll(work []caseJob, jobs int) {
	queue := make(chan caseJob)
	var workers sync.WaitGroup
	for range max(jobs, 1) {
		workers.Go(func() {
			for job := range queue {
				if err := c.run(job); err != nil {
					c.mu.Lock()
					if c.failure == nil {
						c.failure = fmt.Errorf("%s: %w", job.name, err)
					}
					c.mu.Unlock()
				}
			}
		})
	}
	for _, job := range work {
		queue <- job
	}
	close(queue)
	workers.Wait()
}

// run compares one case. An error is one of this program or of the machine;
// whatever the other program does wrong is a difference.
func (c *comparison) run(job caseJob) error {
	whole, err := job.make()
	if err != nil {
		return err
	}
	var parts struct {
		Case              json.RawMessage
		Verdict, Sequence any
	}
	if err := decodeExact(whole, &parts); err != nil {
		return err
	}
	file, err := os.CreateTemp("", job.name+"-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(parts.Case)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	var found []string
	answers := map[string][]byte{}
	for _, part := range []struct {
		verb string
		want any
	}{{"verdict", parts.Verdict}, {"sequence", parts.Sequence}} {
		answer, problem := c.ask(job.name, part.verb, file.Name())
		answers[part.verb] = answer
		if problem != "" {
			found = append(found, fmt.Sprintf("%s %s: %s", job.name, part.verb, problem))
			continue
		}
		var is any
		if err := decodeExact(answer, &is); err != nil {
			found = append(found, fmt.Sprintf("%s %s: the answer is no JSON: %v", job.name, part.verb, err))
			continue
		}
		for _, d := range differences("", part.want, is) {
			found = append(found, fmt.Sprintf("%s %s%s", job.name, part.verb, d))
		}
	}
	var kept string
	if len(found) > 0 {
		if kept, err = c.keepCase(job.name, whole, answers); err != nil {
			return err
		}
	}
	c.count(job.area, parts.Verdict, parts.Sequence, found, kept)
	return nil
}

// ask runs the other program; the text is what went wrong.
func (c *comparison) ask(name, verb, file string) ([]byte, string) {
	ctx, stop := context.WithTimeout(context.Background(), answerTime)
	defer stop()
	var out, complaint bytes.Buffer
	command := exec.CommandContext(ctx, c.program, verb, file)
	command.Stdout, command.Stderr = &out, &complaint
	start := time.Now()
	err := command.Run()
	took := time.Since(start)
	c.mu.Lock()
	if took > c.slowest.took {
		c.slowest = slowRun{took, name + " " + verb}
	}
	c.mu.Unlock()
	if ctx.Err() != nil {
		return out.Bytes(), fmt.Sprintf("no answer within %s", answerTime)
	}
	if err != nil {
		text, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
		return out.Bytes(), fmt.Sprintf("%v: %s", err, text)
	}
	return out.Bytes(), ""
}

// keepCase saves a golden file and what the other program said of its case.
func (c *comparison) keepCase(name string, whole []byte, answers map[string][]byte) (string, error) {
	if err := os.MkdirAll(c.keep, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(c.keep, name+".json")
	err := os.WriteFile(path, whole, 0o644)
	for verb, answer := range answers {
		err = errors.Join(err, os.WriteFile(filepath.Join(c.keep, name+"."+verb+".json"), answer, 0o644))
	}
	return path, err
}

func (c *comparison) count(area string, verdict, sequence any, found []string, kept string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.byArea[area]
	if n == nil {
		n = &areaCount{}
		c.byArea[area] = n
	}
	n.cases++
	pods, _ := verdict.(map[string]any)["pods"].([]any)
	n.pods += len(pods)
	for _, pod := range pods {
		nodes, _ := pod.(map[string]any)["nodes"].(map[string]any)
		n.nodes += len(nodes)
	}
	placements, _ := sequence.(map[string]any)["placements"].([]any)
	n.placements += len(placements)
	n.differences += len(found)
	n.shown = append(n.shown, found[:min(len(found), max(c.show-len(n.shown), 0))]...)
	if kept != "" {
		n.kept = append(n.kept, kept)
	}
}

// report prints what was compared; the error says that something differs.
func (c *comparison) report(took time.Duration) error {
	const row = "%-14s %6v %7v %8v %11v %12v\n"
	fmt.Printf(row, "area", "cases", "pods", "nodes", "placements", "differences")
	var total areaCount
	for _, area := range slices.Sorted(maps.Keys(c.byArea)) {
		n := c.byArea[area]
		fmt.Printf(row, area, n.cases, n.pods, n.nodes, n.placements, n.differences)
		total.cases, total.pods, total.nodes = total.cases+n.cases, total.pods+n.pods, total.nodes+n.nodes
		total.placements, total.differences = total.placements+n.placements, total.differences+n.differences
		total.kept = append(total.kept, n.kept...)
	}
	fmt.Printf(row, "all", total.cases, total.pods, total.nodes, total.placements, total.differences)
	fmt.Printf("%.0f s; slowest answer: %s in %.2f s\n", took.Seconds(), c.slowest.what, c.slowest.took.Seconds())
	if total.differences == 0 {
		return nil
	}
	for _, area := range slices.Sorted(maps.Keys(c.byArea)) {
		for _, text := range c.byArea[area].shown {
			fmt.Println(text)
		}
	}
	return fmt.Errorf("%d of %d cases differ; they are kept in %s", len(total.kept), total.cases, c.keep)
}
