//! The model as a whole: cases by their id, bookkeeping, and properties.

mod bookkeeping;
mod cases;
mod garbage;
mod pods;
mod property;
