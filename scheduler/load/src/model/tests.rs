//! The model as a whole: cases by their id, bookkeeping, and properties.

mod bookkeeping;
mod cases;
mod falls;
mod garbage;
mod modes;
mod pods;
mod property;
