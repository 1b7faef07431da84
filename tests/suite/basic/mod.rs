//! The console on a control plane that has the runbook's own endpoints and no others.

mod stub;
mod sketched;
mod link;
mod screen;
mod command;
