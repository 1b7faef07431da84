//! The reference node agent: poll, run, deadline, cancel, report.
