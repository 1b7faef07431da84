//! Rendering for each machine: the release from the Vault, the values from the world, the secrets from the Vault again.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Mutex;

use super::super::contents::Contents;
use super::super::desk::DeskError;
use super::super::host::Host;
use super::super::observe::Observer;
use super::super::ports::{ApplyResult, Clock, JournalError, Vault};
use super::super::trouble::sentence;
use super::cache::{Cache, Inputs, Key};
use super::content::ReleaseContent;
use super::prepared::Prepared;
use super::renderer::Renderer;
use super::secret::{MASK, Masks, Secret, Secrets};
use super::template::MACHINE_FIELDS;
use super::values::{Facts, mention_machine};
use crate::domain::decide::decide;
use crate::domain::fleet::Machine;
use crate::domain::ids::{AccountId, MachineId, Revision};
use crate::domain::input::{Input, Poll, Rendered};
use crate::domain::lane::LaneKey;
use crate::domain::release::{Digest, Release};
use crate::domain::verdict::Reply;
use crate::domain::world::World;

/// Renders for each machine, once for the same inputs.
pub struct Rendering<H> {
    host: Arc<H>,
    account: AccountId,
    observer: Observer<H>,
    contents: Contents,
    cache: Cache,
    larder: Mutex<Larder>,
}

/// What was fetched and taken apart last. Who holds it renders; the others wait and mostly find it done.
#[derive(Debug, Default)]
struct Larder {
    /// A release; none where its content is no folder of files and is served as it is.
    prepared: Option<(Digest, Option<Arc<Prepared>>)>,
    secrets: Option<(Revision, Arc<Known>)>,
}

/// The secrets of the account as they were at a revision.
#[derive(Debug)]
struct Known {
    secrets: Secrets,
    masks: Masks,
}

/// One machine on its way to a content.
struct Order<'a> {
    world: &'a World,
    release: &'a Release,
    machine: &'a Machine,
    lane: LaneKey,
}

/// What is left to do once nobody else has to wait for it.
enum Filled {
    Done(Rendered),
    Fresh { inputs: Arc<Inputs>, key: Key, content: Vec<u8> },
}

impl<H: Host> Rendering<H> {
    pub(in super::super) fn new(host: Arc<H>, account: AccountId, observer: Observer<H>, contents: Contents) -> Self {
        Self { host, account, observer, contents, cache: Cache::default(), larder: Mutex::default() }
    }

    /// Whether a machine would be served at all: for the others nothing is rendered, fetched or kept.
    fn is_due(&self, order: &Order<'_>) -> bool {
        let poll = Poll { machine: order.machine.id, have: None, rendered: Rendered::Nothing, release: None };
        let verdict =
            decide(order.world, &self.observer.observe(order.world), &Input::Poll(poll), self.host.clock().now());
        verdict.reply == Reply::RenderAgain
    }

    async fn rendered(&self, order: &Order<'_>) -> Result<Rendered, String> {
        match self.filled(order).await? {
            Filled::Done(outcome) => Ok(outcome),
            Filled::Fresh { inputs, key, content } => {
                let kept = self.host.vault().keep(content).await;
                let outcome = Rendered::Content(kept.map_err(|error| sentence(&error))?);
                inputs.keep(key, &outcome);
                self.cache.keep(order.machine, order.lane, &inputs, &outcome);
                Ok(outcome)
            }
        }
    }

    async fn filled(&self, order: &Order<'_>) -> Result<Filled, String> {
        let mut larder = self.larder.lock().await;
        let Order { world, release, machine, lane } = *order;
        let Some(inputs) = self.cache.inputs(world, release, lane) else { return Ok(Filled::Done(Rendered::Nothing)) };
        let done = |outcome: Rendered| {
            self.cache.keep(machine, lane, &inputs, &outcome);
            Ok(Filled::Done(outcome))
        };
        let Some(prepared) = self.prepared(&mut larder, release).await? else {
            return done(Rendered::Content(release.content.clone()));
        };
        let known = self.secrets(&mut larder, world).await.map_err(|error| sentence(&error))?;
        let facts = inputs.facts(machine);
        let selection = prepared.select(&facts, &inputs.vars, &known.secrets);
        let key = Key { selection, looked_up: looked_up(&prepared, &inputs, &facts) };
        if let Some(outcome) = inputs.outcome(&key) {
            return done(outcome);
        }
        match prepared.fill(&key.selection, &facts, &inputs.vars, &known.secrets) {
            Ok(content) => {
                let content = content.canonical().map_err(|error| error.to_string())?;
                Ok(Filled::Fresh { inputs, key, content })
            }
            Err(missing) => {
                let outcome = Rendered::Missing(missing);
                inputs.keep(key, &outcome);
                done(outcome)
            }
        }
    }

    /// A release, taken apart; none where it is served as it is. One that the Vault never had is handed out as it was
    /// published, which says so.
    async fn prepared(&self, larder: &mut Larder, release: &Release) -> Result<Option<Arc<Prepared>>, String> {
        if let Some((digest, prepared)) = &larder.prepared
            && *digest == release.content
        {
            return Ok(prepared.clone());
        }
        let content = match self.contents.fetch(self.host.vault(), &release.content).await {
            Ok(content) => content,
            Err(DeskError::Gone(_)) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let prepared = match ReleaseContent::read(&content).map(|content| Prepared::of(&content)).transpose() {
            Ok(prepared) => prepared.map(Arc::new),
            Err(bad) => return Err(format!("the release {} cannot be rendered: {bad}", release.git_ref)),
        };
        larder.prepared = Some((release.content.clone(), prepared.clone()));
        Ok(prepared)
    }

    async fn secrets(&self, larder: &mut Larder, world: &World) -> Result<Arc<Known>, JournalError> {
        if let Some((revision, known)) = &larder.secrets
            && *revision == world.secrets_revision
        {
            return Ok(Arc::clone(known));
        }
        let mut secrets = BTreeMap::new();
        for (name, mark) in &world.secrets {
            let Some(value) = self.host.vault().secret(self.account, mark.version).await? else { continue };
            let previous = match mark.previous {
                Some(version) => self.host.vault().secret(self.account, version).await?,
                None => None,
            };
            secrets.insert(name.clone(), Secret { value, previous });
        }
        let secrets = Secrets(secrets);
        let known = Arc::new(Known { masks: secrets.masks(), secrets });
        larder.secrets = Some((world.secrets_revision, Arc::clone(&known)));
        Ok(known)
    }
}

impl<H: Host> Renderer for Rendering<H> {
    async fn render(&self, world: &World, release: &Release, machine: MachineId) -> Rendered {
        let Some(machine) = world.machines.get(&machine) else { return Rendered::Nothing };
        let Some(lane) = machine.place() else { return Rendered::Nothing };
        if let Some(outcome) = self.cache.known(world, release, machine, lane) {
            return outcome;
        }
        let order = Order { world, release, machine, lane };
        if !self.is_due(&order) {
            return Rendered::Nothing;
        }
        self.rendered(&order).await.unwrap_or_else(|why| {
            // Nothing is served and nothing is recorded: the next poll is the retry.
            tracing::warn!(machine = %machine.hostname, %why, "a machine could not be rendered");
            Rendered::Nothing
        })
    }

    async fn conceal(&self, world: &World, result: ApplyResult) -> ApplyResult {
        if world.secrets.is_empty() {
            return result;
        }
        match self.secrets(&mut *self.larder.lock().await, world).await {
            Ok(known) => known.masks.conceal(result),
            Err(error) => {
                tracing::warn!(why = %sentence(&error), "secrets cannot be masked, so a report is kept without its texts");
                withheld(result)
            }
        }
    }
}

/// The fields of a machine that its content depends on.
fn looked_up(prepared: &Prepared, inputs: &Inputs, facts: &Facts) -> Vec<(String, String)> {
    let everything = mention_machine(&inputs.vars);
    let fields = MACHINE_FIELDS.iter().filter(|field| everything || prepared.fields().contains(**field));
    fields.map(|field| ((*field).to_owned(), facts.get(field).unwrap_or_default().to_owned())).collect()
}

/// Without anything an agent wrote itself.
fn withheld(mut result: ApplyResult) -> ApplyResult {
    result.log_tail = MASK.to_owned();
    for state in &mut result.failed_states {
        for text in [&mut state.id, &mut state.name, &mut state.comment] {
            *text = MASK.to_owned();
        }
    }
    result
}
