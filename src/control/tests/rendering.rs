//! Rendering at the desk: who is rendered, how often, and what a holder keeps.

use std::time::Duration;

use super::bed::{Bed, account, pause, start, verb};
use super::driver::Driver;
use super::store::TestHost;
use crate::control::render::content::ReleaseContent;
use crate::control::service::{Service, Settings};
use crate::domain::fleet::ConfigValues;
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId};
use crate::domain::input::Verb;
use crate::domain::release::{Contract, Digest};
use crate::domain::span::Seconds;

/// A desk on a world in which a release of templates runs.
struct Stage {
    bed: Bed,
    service: Service<TestHost>,
    driver: Driver,
}

impl Stage {
    fn set(files: &[(&str, &str)]) -> Self {
        let bed = Bed::new();
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let digest = Digest("templates".to_owned());
        bed.store.lock().contents.insert(digest.clone(), ReleaseContent::of(files).canonical().unwrap());
        let publish = Verb::PublishRelease {
            id: ReleaseId::named("v3"),
            git_ref: "v3".to_owned(),
            commit: "c0ffee".to_owned(),
            engine: "sh".to_owned(),
            timeout_seconds: Seconds(0),
            notes: String::new(),
            target_version: None,
            content: digest,
            contract: Contract::default(),
        };
        let setup = bed.process("setup");
        for input in [verb(publish), start("r1", "v3")] {
            setup.one(input).unwrap();
        }
        let settings = Settings { stands: false, ..Settings::default() };
        let (service, loops) = Service::new(bed.host("a"), account(), settings);
        let mut driver = Driver::new(&bed.clock);
        loops.into_iter().for_each(|each| driver.add(each.future));
        driver.run(1);
        Self { bed, service, driver }
    }

    /// What a machine is served.
    fn served(&mut self, machine: &str) -> Option<String> {
        let poll = self.service.desk.poll(MachineId::named(machine), None, Duration::ZERO);
        let assignment = self.driver.until(poll).unwrap().assignment?;
        let content = ReleaseContent::read(&assignment.content).expect("a folder of files");
        Some(content.files.into_iter().map(|file| format!("{}={}", file.path, file.content)).collect())
    }

    fn values(&mut self, name: &str, value: &str) {
        let values = ConfigValues::from([(name.to_owned(), value.into())]);
        let (environment, config_values) = (EnvironmentId::named("pine"), Some(values));
        let patch = Verb::PatchEnvironment { environment, name: None, promotion_order: None, config_values };
        self.driver.until(self.service.door.ask(verb(patch))).unwrap();
    }

    /// Contents in the Vault, and how often one was fetched from it.
    fn vault(&self) -> (usize, usize) {
        let store = self.bed.store.lock();
        (store.contents.len(), store.fetched)
    }
}

#[test]
fn a_machine_is_rendered_when_its_turn_comes_and_once_for_the_same_inputs() {
    let mut stage = Stage::set(&[("a.sls", "vip: {{ vars.VIP }}")]);
    stage.values("VIP", "10.0.0.1");
    let before = stage.vault();
    assert_eq!(stage.served("ash").as_deref(), Some("a.sls=vip: 10.0.0.1"));
    assert_eq!(stage.vault(), (before.0 + 1, before.1 + 2), "the release and what became of it");
    for _ in 0..3 {
        assert!(stage.served("ash").is_some());
        assert_eq!(stage.served("birch"), None, "the slot is taken");
    }
    assert_eq!(stage.vault(), (before.0 + 1, before.1 + 2), "nobody else was rendered, nothing was read again");
}

#[test]
fn a_holder_keeps_its_content_and_the_next_one_gets_the_new_values() {
    // R17
    let mut stage = Stage::set(&[("a.sls", "{{ machine.hostname }} {{ vars.VIP }}")]);
    stage.values("VIP", "old");
    assert_eq!(stage.served("ash").as_deref(), Some("a.sls=ash old"));
    stage.values("VIP", "newer");
    assert_eq!(stage.served("ash").as_deref(), Some("a.sls=ash old"));
    stage.driver.until(stage.service.door.ask(pause("ash"))).unwrap();
    assert_eq!(stage.served("birch").as_deref(), Some("a.sls=birch newer"));
}

#[test]
fn a_head_that_cannot_be_rendered_is_served_as_soon_as_it_can() {
    // R148
    let mut stage = Stage::set(&[("a.sls", "{{ vars.VIP }} {{ secrets.T }}")]);
    assert_eq!(stage.served("ash"), None);
    let missing = |stage: &Stage| {
        let world = stage.bed.world();
        let error = world.machines.get(&MachineId::named("ash")).and_then(|machine| machine.render_error.clone());
        error.map(|error| error.missing).unwrap_or_default()
    };
    assert_eq!(missing(&stage), ["secrets.T", "vars.VIP"]);
    assert!(stage.bed.holders().is_empty());
    stage.values("VIP", "10.0.0.1");
    assert_eq!(stage.served("ash"), None);
    assert_eq!(missing(&stage), ["secrets.T"]);
}
