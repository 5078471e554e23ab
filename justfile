# The verbs of the workshop. Everything here is a plain command: `just` is a convenience.

# Formats everything.
fmt:
    cargo fmt --all

# What CI checks before it runs tests.
lint:
    cargo fmt --all -- --check
    cargo clippy --workspace --all-targets --locked -- -D warnings

# All tests.
test:
    cargo test --workspace --locked

# The story in the terminal.
demo:
    cargo run --release -p plimsoll -- demo

# Every bench; prints the bars.
bench:
    cargo bench -p plimsoll-tests

# Fresh cases of every area against the real kube-scheduler, such as `just parity 100-130`
# (needs Go).
parity seeds *flags:
    tests/oracle/parity {{seeds}} {{flags}}

# Kills, freezes and ends the leader of two replicas in bursts of pods, again and again (needs Go).
faults times="20":
    tests/faults {{times}}

# CPU per pod beside that of the real kube-scheduler, on the same clusters (needs Go).
race *flags:
    tests/oracle/bench {{flags}}

# Throughput, CPU, memory and latency beside the real kube-scheduler, on a real API server
# (needs Go; 25 minutes).
bars *flags:
    tests/race/run {{flags}}

# The documentation of the plugin contract.
doc:
    cargo doc -p plimsoll-framework --no-deps --features test-util

# Licences, advisories, layering of third-party crates (needs cargo-deny).
deny:
    cargo deny check

# What CI runs.
ci:
    .ci/run
