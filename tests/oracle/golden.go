package main

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Golden is a case with what the scheduler says about it.
type Golden struct {
	Case     *Case     `json:"case"`
	Verdict  *Verdict  `json:"verdict"`
	Sequence *Sequence `json:"sequence,omitempty"`
}

func goldenCommand(args []string) error {
	flags := flag.NewFlagSet("golden", flag.ContinueOnError)
	out := flags.String("out", "", "folder to write to")
	names := flags.String("areas", "", "areas, comma separated; empty means all")
	seeds := flags.String("seeds", "1-6", "first and last seed")
	suffix := flags.String("suffix", ".json.gz", "file name suffix; .gz packs")
	var s size
	s.addFlags(flags)
	check := flags.Bool("check", false, "write nothing; compare with the files that are there")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" {
		return fmt.Errorf("golden: --out is missing")
	}
	first, last, err := seedRange(*seeds)
	if err != nil {
		return err
	}
	list, err := areasByName(*names)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	for _, a := range list {
		for seed := first; seed <= last; seed++ {
			name := fmt.Sprintf("%s-%d%s", a.name, seed, *suffix)
			data, err := golden(a, seed, sizeFor(a, seed, s))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			path := filepath.Join(*out, name)
			if !*check {
				if err := writeFile(path, data); err != nil {
					return err
				}
				continue
			}
			have, err := readMaybeGzip(path)
			if err != nil {
				return err
			}
			if !bytes.Equal(have, data) {
				return fmt.Errorf("%s differs from what is generated now", path)
			}
		}
	}
	return nil
}

func golden(a area, seed uint64, s size) ([]byte, error) {
	c, err := generate(a, seed, s)
	if err != nil {
		return nil, err
	}
	return goldenOf(c)
}

// goldenOf is a case and all that is said of it, with one line per object, per
// node verdict and per placement.
func goldenOf(c *Case) ([]byte, error) {
	verdict, err := verdictOf(c)
	if err != nil {
		return nil, err
	}
	sequence, err := sequenceOf(c)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for i, part := range []struct {
		name  string
		value any
		depth int
	}{{"case", c, 2}, {"verdict", verdict, 4}, {"sequence", sequence, 2}} {
		data, err := render(part.value, part.depth)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%s%q: %s", []string{"{\n", ",\n", ",\n"}[i], part.name, bytes.TrimSpace(data))
	}
	out.WriteString("\n}\n")
	return out.Bytes(), nil
}

func (s *size) addFlags(flags *flag.FlagSet) {
	flags.IntVar(&s.nodes, "nodes", 0, "nodes; 0 picks 12 to 24")
	flags.IntVar(&s.pods, "pods", 0, "placed pods; 0 picks 40 to 80")
	flags.IntVar(&s.pending, "pending", 0, "pending pods; 0 picks 12 to 20")
}

// sizeFor fills in the sizes that were left open.
func sizeFor(a area, seed uint64, s size) size {
	h := fnv.New64a()
	h.Write([]byte("size/" + a.name))
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	fill := func(n *int, lo, hi int) {
		if v := lo + r.IntN(hi-lo+1); *n == 0 {
			*n = v
		}
	}
	fill(&s.nodes, 12, 24)
	fill(&s.pods, 40, 80)
	fill(&s.pending, 12, 20)
	return s
}

func seedRange(text string) (first, last uint64, err error) {
	lo, hi, found := strings.Cut(text, "-")
	if !found {
		hi = lo
	}
	if first, err = strconv.ParseUint(lo, 10, 64); err != nil {
		return 0, 0, err
	}
	last, err = strconv.ParseUint(hi, 10, 64)
	return first, last, err
}
