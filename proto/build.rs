//! Takes `telemetry/v1/telemetry.proto`, gives the Rust types, client and server of the
//! telemetry protocol. The compiler is `protox`: no `protoc` is needed on any machine.

use std::error::Error;
use std::path::Path;

const PROTO: &str = "telemetry/v1/telemetry.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={PROTO}");
    let files = protox::compile([Path::new(PROTO)], [Path::new(".")])?;
    tonic_prost_build::configure()
        .codec_path("crate::codec::SmallCodec")
        .compile_fds(files)?;
    Ok(())
}
