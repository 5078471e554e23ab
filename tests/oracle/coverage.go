package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// tally counts what a group of golden files exercises.
type tally struct {
	files, pods, pairs, feasible, ties, unfit, errors, gated, preempted int
	reasons                                                             map[string]int
	scores                                                              map[string]int
}

var fileName = regexp.MustCompile(`^(?:.*-)?([a-z]+)-\d+\.json(?:\.gz)?$`)

// variable parts of reasons are cut out so that equal kinds fall together.
var variable = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`\b0/\d+ nodes are available: .*`), "0/N nodes are available: ..."},
	{regexp.MustCompile(`"[^"]*"`), `"..."`},
	{regexp.MustCompile(`(team-[abc]|default)/pending-\d+(-[a-z0-9-]+)?`), "POD"},
	{regexp.MustCompile(`(team-[abc]|default)/device-claim-\d+`), "CLAIM"},
	{regexp.MustCompile(`node-\d+`), "NODE"},
	{regexp.MustCompile(`unheard-of-\d+`), "unheard-of-N"},
	{regexp.MustCompile(`preempting \d+ victims`), "preempting N victims"},
	{regexp.MustCompile(`\[\d+\]\.matchExpressions.*`), "[i].matchExpressions[j]... Invalid value ..."},
	{regexp.MustCompile(`waiting for scheduling gates: .*`), "waiting for scheduling gates: [...]"},
}

func general(reason string) string {
	for _, v := range variable {
		reason = v.re.ReplaceAllString(reason, v.to)
	}
	return reason
}

// coverageCommand prints, per area, which reasons occurred and which score
// plugins told nodes apart.
func coverageCommand(files []string) error {
	byArea := map[string]*tally{}
	for _, path := range files {
		match := fileName.FindStringSubmatch(filepath.Base(path))
		if match == nil {
			return fmt.Errorf("%s is not named area-seed.json", path)
		}
		data, err := readMaybeGzip(path)
		if err != nil {
			return err
		}
		var g Golden
		if err := json.Unmarshal(data, &g); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		t := byArea[match[1]]
		if t == nil {
			t = &tally{reasons: map[string]int{}, scores: map[string]int{}}
			byArea[match[1]] = t
		}
		t.files++
		for i := range g.Verdict.Pods {
			t.add(&g.Verdict.Pods[i])
		}
	}
	fmt.Println("| area | cases | pods | pairs | feasible % | pods that tie | pods that fit nowhere | preempting | gated | errors |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, name := range slices.Sorted(maps.Keys(byArea)) {
		t := byArea[name]
		fmt.Printf("| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", name, t.files, t.pods, t.pairs,
			100*t.feasible/max(t.pairs, 1), t.ties, t.unfit, t.preempted, t.gated, t.errors)
	}
	fmt.Println()
	fmt.Println("| area | score plugins with differing scores (pods) | reasons (count) |")
	fmt.Println("|---|---|---|")
	for _, name := range slices.Sorted(maps.Keys(byArea)) {
		t := byArea[name]
		fmt.Printf("| %s | %s | %s |\n", name, counts(t.scores, ", "), counts(t.reasons, "<br>"))
	}
	return nil
}

func (t *tally) add(pv *PodVerdict) {
	t.pods++
	count := func(s *Status, each int) {
		for _, reason := range s.Reasons {
			t.reasons[strings.TrimPrefix(s.Plugin+": ", ": ")+general(reason)] += each
		}
	}
	if pv.PreEnqueue != nil {
		t.gated++
		count(pv.PreEnqueue, 1)
		return
	}
	if pv.Error != "" {
		t.errors++
		t.reasons["(error) "+general(pv.Error)]++
	}
	if pv.Message != "" {
		t.unfit++
	}
	if pv.PreFilter != nil {
		count(&pv.PreFilter.Status, 1)
	}
	if pv.PostFilter != nil {
		count(&pv.PostFilter.Status, 1)
		if pv.PostFilter.NominatedNode != "" {
			t.preempted++
		}
	}
	if len(pv.Top) > 1 {
		t.ties++
	}
	low, high := make([]int64, len(pv.ScorePlugins)), make([]int64, len(pv.ScorePlugins))
	seen := false
	for _, nv := range pv.Nodes {
		t.pairs++
		if nv.Total == nil {
			count(&nv.Status, 1)
			continue
		}
		t.feasible++
		for i, n := range nv.Norm {
			if !seen {
				low[i], high[i] = n, n
			}
			low[i], high[i] = min(low[i], n), max(high[i], n)
		}
		seen = true
	}
	if pv.Nodes == nil && pv.PreFilter != nil {
		t.pairs++
	}
	for i, p := range pv.ScorePlugins {
		if low[i] != high[i] {
			t.scores[p.Name]++
		}
	}
}

func counts(m map[string]int, separator string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s (%d)", strings.ReplaceAll(k, "|", "\\|"), m[k]))
	}
	return strings.Join(out, separator)
}
