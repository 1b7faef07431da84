//! The control plane that dies, and the console that is left, with the rights of whoever sits at it.

use std::path::Path;

use serde_json::Value;

use super::super::served::bed::{Served, journal_by};
use crate::e2e::command::kura;
use crate::e2e::database::{journal, one_ticks_at_a_time};
use crate::e2e::screen::A_WHILE;
use crate::pty::driver::Driver;

/// What people say why.
pub(super) const REASON: &str = "the server is gone";

/// Everything of one test.
pub(super) struct Night {
    pub(super) served: Served,
    /// The journal as the control plane gets at it.
    pub(super) url: String,
}

impl Night {
    /// None where there is no cluster to be had.
    pub(super) fn falls() -> Option<Self> {
        let (served, url) = Served::kept_in_its_cluster()?;
        Some(Self { served, url })
    }

    /// A console of whoever has this kubeconfig.
    pub(super) fn console(&self, config: &Path) -> Driver {
        let url = journal_by(&self.served.lease, config);
        let config = config.display().to_string();
        let launch = self.served.plane.console("operator").size(120, 36).args(&["--tick-seconds", "1"]);
        launch.args(&["--journal", &url, "--kubeconfig", &config, "--namespace", &self.served.lease.namespace]).start()
    }

    /// The control plane is back, and has the seat again; the console follows it, and is left.
    pub(super) fn ends(&mut self, mut console: Driver) {
        self.served.plane.start_again();
        console.wait_until("handed back", A_WHILE, |screen| screen.contents().contains("fallback ready"));
        let back = |seat: &Value| seat["holder"].as_str().is_some_and(|holder| holder.starts_with("serve@"));
        let seat = self.served.plane.get_until("/api/seat", "it takes the seat", back);
        assert_eq!(seat["epoch"], 3, "{seat}");
        self.served.plane.get_until("/api/seat", "it ticks", |seat| !seat["last_tick"].is_null());
        console.send("q");
        assert_eq!(console.wait_exit().code, Some(0));
    }

    /// One straight story: the journal and the audit are whole, and each tick was that of whoever had the seat. What was
    /// done by whom: the verbs with their reasons, without those of the control plane's own tokens.
    pub(super) fn story(&self) -> Vec<[String; 3]> {
        let plane = &self.served.plane;
        let exported = journal(plane.folder(), &self.url, &["export"]);
        assert_eq!(one_ticks_at_a_time(&exported.stdout), [1, 2, 3]);
        let verified = journal(plane.folder(), &self.url, &["verify"]);
        assert!(verified.stdout.contains("nothing is wrong"), "{verified:?}");
        let audit = ["audit", "verify", "--journal", &self.url, "--account", "default"];
        let verified = kura(plane.folder(), &[], &audit);
        assert!(verified.stdout.contains("none broken"), "{verified:?}");
        let links = plane.get("/api/audit?limit=50");
        let links = links.as_array().expect("links").iter().filter(|link| link["by"] != "owner");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        links.map(|link| [text(&link["by"]), text(&link["cause"]["name"]), text(&link["cause"]["reason"])]).collect()
    }
}
