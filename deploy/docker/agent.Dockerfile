# syntax=docker/dockerfile:1
# The agent's image: docker build -f deploy/docker/agent.Dockerfile -t plimsoll-agent:0.1.0 .
# One binary and the C library: no shell, no package manager, nothing that is written to.

FROM rust:1.95.0-bookworm AS build
WORKDIR /src
COPY Cargo.toml Cargo.lock ./
COPY proto proto
COPY agent agent
COPY scheduler scheduler
COPY tests tests
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,target=/src/target,id=plimsoll-target,sharing=locked \
    cargo build --locked --profile dist -p plimsoll-agent --bin plimsoll-agent \
    && install -m 0755 target/dist/plimsoll-agent /plimsoll-agent

FROM gcr.io/distroless/cc-debian12:nonroot
LABEL org.opencontainers.image.title="plimsoll-agent" \
      org.opencontainers.image.description="Measures what a node really carries and streams it to the scheduler" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /plimsoll-agent /plimsoll-agent
USER 65534:65534
EXPOSE 9464
ENTRYPOINT ["/plimsoll-agent"]
