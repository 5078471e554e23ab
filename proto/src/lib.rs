//! The telemetry protocol between agents and schedulers: generated code, and the codec that
//! sizes its buffers.
//! The rules of the wire stand in `telemetry/v1/telemetry.proto`; what a figure means, in
//! `plimsoll-kernel`; who turns values into messages, in the agent's `report` and in ingest's
//! `wire`.

pub mod codec;

/// Services of telemetry.
pub mod telemetry {
    /// Version 1 of the telemetry protocol.
    #[expect(
        missing_docs,
        unused_qualifications,
        clippy::pedantic,
        clippy::allow_attributes,
        clippy::allow_attributes_without_reason,
        clippy::clone_on_ref_ptr,
        clippy::excessive_nesting,
        reason = "generated code: its documentation and form are those of the proto file"
    )]
    pub mod v1 {
        tonic::include_proto!("plimsoll.telemetry.v1");
    }
}
