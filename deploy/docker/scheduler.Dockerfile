# syntax=docker/dockerfile:1
# The scheduler's image: docker build -f deploy/docker/scheduler.Dockerfile -t plimsoll-scheduler:0.1.0 .
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
    cargo build --locked --profile dist -p plimsoll-scheduler --bin plimsoll-scheduler \
    && install -m 0755 target/dist/plimsoll-scheduler /plimsoll-scheduler

FROM gcr.io/distroless/cc-debian12:nonroot
LABEL org.opencontainers.image.title="plimsoll-scheduler" \
      org.opencontainers.image.description="Schedules pods by what nodes really carry" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /plimsoll-scheduler /plimsoll-scheduler
USER 65534:65534
EXPOSE 7443 10259
ENTRYPOINT ["/plimsoll-scheduler"]
