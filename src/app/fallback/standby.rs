//! What a console carries on with: the journal of its control plane, and the cluster it looks at.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;

use super::agents::{Agents, Reserved, Serving};
use crate::adapters::clock::SystemClock;
use crate::adapters::journal::open::JournalUrl;
use crate::adapters::remote::far_clock::FarClock;
use crate::app::cluster::ServerCluster;
use crate::app::console::person;
use crate::app::host::{Footing, ServerHost, process_name};
use crate::app::shortening::{Keeping, shortening};
use crate::app::store::journal::ServerJournal;
use crate::app::store::open::Store;
use crate::control::embedded::{Embedded, Standby};
use crate::control::known::Known;
use crate::control::local::{Introduction, LocalLink};
use crate::control::picture::Role;
use crate::control::ports::{Clock, Journal};
use crate::control::service::{Service, Settings};
use crate::control::trouble::sentence;
use crate::domain::fallback::AgentRoutes;
use crate::domain::ids::AccountId;
use crate::wire::problem::Problem;

/// How long agents may take to hear the answers that were begun: whoever sends half a report and waits is not waited for.
const AGENTS_LIMIT: Duration = Duration::from_millis(500);

/// How long what was begun may take once the seat is handed back.
const LOOPS_LIMIT: Duration = Duration::from_secs(5);

/// From so many tries on that failed it is carried on without agents.
const DEAF_AFTER: u32 = 3;

/// How long a journal may take to be looked at or opened.
const OPEN_LIMIT: Duration = Duration::from_secs(20);

/// The account where nobody named one.
const USUAL: &str = "default";

/// The cluster of a console, whose times are shown by the clock of whatever is looked at.
pub(super) type OwnCluster = ServerCluster<FarClock<SystemClock>>;

/// The host of what is embedded.
type OwnHost = ServerHost<FarClock<SystemClock>>;

/// What there is to carry on with.
pub struct JournalStandby {
    pub(super) ground: Option<Ground>,
    pub(super) agents: Option<Agents>,
    /// Why agents could not be served when that was tried last.
    pub(super) deaf: Deaf,
    /// What is shown is shown by this clock.
    pub(super) shown: FarClock<SystemClock>,
    pub(super) own: SystemClock,
}

/// Why agents cannot be served, and how often that was found in a row.
#[derive(Debug, Clone, Default)]
pub(super) struct Deaf(Arc<Mutex<(Option<String>, u32)>>);

impl Deaf {
    fn why(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// What it takes to serve agents; none where nobody asked for it, or where it cannot be had and that is not new.
    ///
    /// # Errors
    /// Why it cannot be had, which may be over in a moment: then it is worth another try.
    async fn reserve(&self, agents: Option<&Agents>) -> Result<Option<Reserved>, String> {
        let Some(agents) = agents else { return Ok(None) };
        let reserved = agents.reserve().await;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match reserved {
            Ok(reserved) => {
                *known = (None, 0);
                Ok(Some(reserved))
            }
            Err(problem) => {
                tracing::warn!(why = problem.message, "agents cannot be served here");
                *known = (Some(problem.message.clone()), known.1.saturating_add(1));
                if known.1 < DEAF_AFTER { Err(problem.message) } else { Ok(None) }
            }
        }
    }
}

/// The journal, and everything that is needed to open it.
#[derive(Clone)]
pub(super) struct Ground {
    pub(super) url: JournalUrl,
    /// The account, where the control plane never named it.
    pub(super) account: Option<String>,
    pub(super) cluster: Arc<OwnCluster>,
    pub(super) clock: SystemClock,
    /// The period of the tick.
    pub(super) tick_every: Duration,
}

impl Standby for JournalStandby {
    type Link = LocalLink<OwnHost>;

    fn over(&self) -> Option<String> {
        self.ground.as_ref().map(|ground| ground.url.to_string())
    }

    fn agents(&self) -> AgentRoutes {
        match (&self.agents, self.deaf.why()) {
            (None, _) => AgentRoutes::Nowhere,
            (Some(_), Some(why)) => AgentRoutes::Refused(why),
            (Some(agents), None) => AgentRoutes::At(agents.address()),
        }
    }

    fn look(&self, known: Option<Known>) -> impl Future<Output = Result<(), String>> + Send + 'static {
        let (ground, agents, deaf) = (self.ground.clone(), self.agents.clone(), self.deaf.clone());
        async move {
            let Some(ground) = ground else { return Err(NO_JOURNAL.to_owned()) };
            within(async {
                drop(deaf.reserve(agents.as_ref()).await);
                let (journal, account) = ground.journal(known).await?;
                let writable = journal.takes_writes().await;
                journal.close().await;
                writable.map_err(|why| format!("the journal can be read from here and not written: {why}"))?;
                tracing::info!(account, "the journal can be carried on over from here");
                Ok(())
            })
            .await
        }
    }

    fn open(
        &self,
        known: Option<Known>,
    ) -> impl Future<Output = Result<Embedded<Self::Link>, String>> + Send + 'static {
        let (ground, agents, deaf) = (self.ground.clone(), self.agents.clone(), self.deaf.clone());
        async move {
            let Some(ground) = ground else { return Err(NO_JOURNAL.to_owned()) };
            within(async {
                let reserved = deaf.reserve(agents.as_ref()).await?;
                ground.embedded(known, agents.zip(reserved)).await
            })
            .await
        }
    }

    fn is_shown(&self) {
        self.shown.hear(self.own.now());
    }
}

/// What is said where there is nothing to carry on over.
const NO_JOURNAL: &str = "no journal was named: --journal URL, as serve names it";

async fn within<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let late = || format!("it does not answer within {} s", OPEN_LIMIT.as_secs());
    timeout(OPEN_LIMIT, work).await.unwrap_or_else(|_| Err(late()))
}

fn said(problem: Problem) -> String {
    problem.message
}

impl Ground {
    /// The journal, if it is the one that `known` was seen of, and whose account it is. Nothing comes into being.
    async fn journal(&self, known: Option<Known>) -> Result<(ServerJournal, String), String> {
        let name = known.as_ref().map(|known| known.account.clone()).or_else(|| self.account.clone());
        let name = name.unwrap_or_else(|| USUAL.to_owned());
        let journal = ServerJournal::existing(&self.url).await.map_err(said)?;
        let head = journal.head(AccountId::named(&name)).await.map_err(|error| sentence(&error))?;
        if head.revision == 0 {
            return Err(format!("the journal holds nothing of account {name}: --account names another one"));
        }
        if let Some(known) = known {
            known.is_in(&journal, head).await?;
        }
        Ok((journal, name))
    }

    /// A service over the journal that stands by, with everything that has to run for it.
    async fn embedded(
        self,
        known: Option<Known>,
        agents: Option<(Agents, Reserved)>,
    ) -> Result<Embedded<LocalLink<OwnHost>>, String> {
        let (journal, name) = self.journal(known).await?;
        let account = AccountId::named(&name);
        let world = journal.load(account).await.map_err(|error| sentence(&error))?;
        // The cluster is that of an account that has anything in one.
        let writer = journal.writer().await;
        let person = writer.clone().unwrap_or_else(person);
        let has_cluster = world.kura.home.is_some() || !world.kura.is_empty() || !world.rolls.is_empty();
        let footing = Footing {
            store: Store::around(journal).await.map_err(said)?,
            cluster: if has_cluster { Arc::clone(&self.cluster) } else { Arc::new(ServerCluster::Absent) },
            account,
            process: format!("{} of {person}", process_name("console")),
            serves_agents: agents.is_some(),
        };
        let host = Arc::new(ServerHost::on(footing, self.clock));
        let settings = Settings { stands: false, tick_every: self.tick_every };
        let (service, loops) = Service::new(Arc::clone(&host), account, settings);
        let serving = match agents {
            Some((agents, reserved)) => {
                Some(agents.serve(reserved, &name, service.clone(), self.tick_every).await.map_err(said)?)
            }
            None => None,
        };
        let introduction = Introduction { endpoint: self.url.to_string(), account: name, role: Role::Owner };
        let (link, painter) = service.link(introduction);
        let shortening = shortening(Keeping::default().by_itself(&self.url), &service);
        let mut running = JoinSet::new();
        for each in loops.into_iter().chain([painter]).chain(shortening) {
            running.spawn(each.future);
        }
        Ok(Embedded::of(&service, link).ordered_by(writer).closed_by(end(service, serving, running)))
    }
}

/// Ends everything in order: nobody comes in, what was asked is decided, the seat is given up, the journal closed.
async fn end(service: Service<OwnHost>, serving: Option<Serving>, mut running: JoinSet<()>) {
    service.desk.let_go.ask();
    if let Some(serving) = serving {
        let _ = timeout(AGENTS_LIMIT, serving.end()).await;
    }
    service.stop.ask();
    let loops = async { while running.join_next().await.is_some() {} };
    if timeout(LOOPS_LIMIT, loops).await.is_err() {
        tracing::warn!(seconds = LOOPS_LIMIT.as_secs(), "some loops were not finished in time");
    }
    service.host().close().await;
}
