//! The way into a cluster, shared by all that talk to it. One login at a time; what is about to end is renewed before.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kube::Client;
use tokio::sync::Mutex;

use super::credential::Credential;
use super::fault::{ClusterFault, chain};
use super::target::Target;
use crate::control::ports::Clock;

/// How long the API server may take to answer a request, or to begin a stream.
pub const ANSWER_MAX: Duration = Duration::from_secs(30);

/// How long a connection may take to come about.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Credentials that end within this are renewed before they are used.
const RENEW_BEFORE: SignedDuration = SignedDuration::from_secs(60);

/// After a login failed nobody tries again for this long: the streams of one cluster share the answer.
pub const LOGIN_AGAIN_AFTER: Duration = Duration::from_secs(15);

/// A cluster and how to get in. Cheap to clone.
#[derive(Clone)]
pub struct Connection<C> {
    target: Arc<Target>,
    clock: C,
    door: Arc<Mutex<Door>>,
}

/// What the last login came to.
#[derive(Default)]
struct Door {
    open: Option<Open>,
    /// Why it did not open, and when that was.
    shut: Option<(Timestamp, ClusterFault)>,
    /// Counts logins: whoever was turned away with an older client need not have them renewed again.
    turn: u64,
}

#[derive(Clone)]
struct Open {
    client: Client,
    expires: Option<Timestamp>,
}

/// A client, and which login it is from.
#[derive(Clone)]
pub struct Pass {
    client: Client,
    turn: u64,
}

impl<C: Clock> Connection<C> {
    /// Nothing is sent yet.
    pub fn new(target: Target, clock: C) -> Self {
        // A second time it is refused, and the first one stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self { target: Arc::new(target), clock, door: Arc::default() }
    }

    /// Which cluster.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Its clock.
    pub fn clock(&self) -> &C {
        &self.clock
    }

    /// A client with credentials that are good for now.
    pub async fn pass(&self) -> Result<Pass, ClusterFault> {
        let mut door = self.door.lock().await;
        let now = self.clock.now();
        if let Some(open) = door.open.as_ref().filter(|open| open.expires.is_none_or(|end| now + RENEW_BEFORE < end)) {
            return Ok(Pass { client: open.client.clone(), turn: door.turn });
        }
        if let Some((at, fault)) = &door.shut
            && now < *at + LOGIN_AGAIN_AFTER
        {
            return Err(fault.clone());
        }
        match self.log_in().await {
            Ok(open) => {
                door.turn += 1;
                door.open = Some(open.clone());
                door.shut = None;
                Ok(Pass { client: open.client, turn: door.turn })
            }
            Err(fault) => {
                door.open = None;
                door.shut = Some((now, fault.clone()));
                Err(fault)
            }
        }
    }

    /// Does something with a client within `ANSWER_MAX`, and says what went wrong as the rest of this part knows it.
    pub async fn ask<T, F>(&self, deed: impl FnOnce(Client) -> F) -> Result<T, ClusterFault>
    where
        F: Future<Output = Result<T, kube::Error>> + Send,
    {
        let pass = self.pass().await?;
        let done = tokio::select! {
            done = deed(pass.client.clone()) => done,
            () = self.clock.sleep(ANSWER_MAX) => return Err(ClusterFault::Silent { after: ANSWER_MAX }),
        };
        match done {
            Ok(done) => Ok(done),
            Err(error) => Err(self.understand(&pass, &error).await),
        }
    }

    /// What an error means; after a 401 the next pass is a new one.
    pub(super) async fn understand(&self, pass: &Pass, error: &kube::Error) -> ClusterFault {
        match ClusterFault::of(error) {
            Some(fault) => fault,
            None => self.turned_away_from(pass).await,
        }
    }

    /// After a 401.
    pub(super) async fn turned_away_from(&self, pass: &Pass) -> ClusterFault {
        let mut door = self.door.lock().await;
        let fault = self.turned_away();
        if door.turn == pass.turn {
            door.open = None;
            // A plugin may have something newer; a token that is written down will be the same in a moment.
            door.shut = self.target.exec().is_none().then(|| (self.clock.now(), fault.clone()));
        }
        fault
    }

    fn turned_away(&self) -> ClusterFault {
        ClusterFault::LogIn {
            what: format!("{} does not take these credentials", self.target.server()),
            command: format!("{} version", self.target.kubectl()),
        }
    }

    async fn log_in(&self) -> Result<Open, ClusterFault> {
        let mut config = self.target.config();
        config.connect_timeout = Some(CONNECT_MAX);
        let credential = match self.target.exec() {
            Some(exec) => Some(Credential::ask(&self.target, exec).await?),
            None => None,
        };
        if let Some(credential) = &credential {
            credential.give(&mut config.auth_info);
        }
        let client = Client::try_from(config).map_err(|error| ClusterFault::Misconfigured { what: chain(&error) })?;
        Ok(Open { client, expires: credential.and_then(|credential| credential.expires) })
    }
}

impl Pass {
    /// The client.
    pub fn client(&self) -> &Client {
        &self.client
    }
}
