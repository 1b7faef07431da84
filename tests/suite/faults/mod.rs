//! Faults for real: the program with its journals, and what happens to processes, wires, services and disks on a bad night.
//! Whatever it was, the journal is judged afterwards: every rule holds, nothing that was acknowledged is lost, nothing is
//! done twice, one process ticks at a time.

mod load;
mod judge;
mod ground;
mod frozen;
mod killed;
mod wires;
mod services;
mod console;
mod hung_up;
mod agents;
mod mount;
mod full;
mod read_only;
