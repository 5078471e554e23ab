//! The fast tests that span crates: the shape of the project, and whole flows in process.

mod chart_images;
mod chart_rights;
mod dashboards;
mod flow_bindings;
mod flow_burst;
mod flow_fail;
mod flow_health;
mod flow_leader;
mod flow_load;
mod flow_place;
mod flow_races;
mod flow_shutdown;
mod flow_telemetry;
mod flow_watches;
mod layering;
mod operations;
mod rpc;
mod stock_pages;
mod tables;
mod tidy;
mod wire;
