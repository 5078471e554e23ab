// Command oracle runs the plugins of the real kube-scheduler on a cluster
// snapshot and prints what they say, or compares it with what another scheduler
// says.
package main

import (
	"fmt"
	"os"
)

const usage = `usage:
  oracle verdict  CASE.json      judge every pending pod against the snapshot
  oracle sequence CASE.json      schedule the pending pods one after another
  oracle config   FILE.yaml      what kube-scheduler makes of a --config file
  oracle compare  --with PROGRAM [--seeds 1-6] [--areas A,B] [CASE.json...]
                                 ask another scheduler and list the differences
  oracle generate --seed N --area A [--nodes K --pods M --pending P]
  oracle golden   --out DIR [--areas A,B] [--seeds 1-6] [--check] ...
  oracle coverage FILE...        what a set of golden files exercises
  oracle bench    --nodes N --pods-per-node M --pending P [--percentage 0|100] [--area A]
  oracle race     --with PROGRAM [--nodes 1000,5000] [--areas A,B]
                                 bench, and another scheduler on the same cluster
A file may be - for standard input and may end in .gz; a case may be a golden file.
`

func main() {
	silenceLogs()
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	commands := map[string]func([]string) error{
		"verdict":  func(args []string) error { return answer(args, 3, func(c *Case) (any, error) { return verdictOf(c) }) },
		"sequence": func(args []string) error { return answer(args, 2, func(c *Case) (any, error) { return sequenceOf(c) }) },
		"config":   configCommand,
		"compare":  compareCommand,
		"generate": generateCommand,
		"golden":   goldenCommand,
		"coverage": coverageCommand,
		"bench":    benchCommand,
		"race":     raceCommand,
	}
	command, ok := commands[os.Args[1]]
	if !ok {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err := command(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func answer(args []string, depth int, run func(*Case) (any, error)) error {
	if len(args) != 1 {
		return fmt.Errorf("want one case file, got %d arguments", len(args))
	}
	c, err := readCase(args[0])
	if err != nil {
		return err
	}
	out, err := run(c)
	if err != nil {
		return err
	}
	data, err := render(out, depth)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(data)
	return err
}
