//! A journal that is kept short by whoever holds its seat: what an old entry came to stays, the entry does not.

use std::time::Duration;

use jiff::Timestamp;

use super::host::ServerHost;
use crate::adapters::journal::compaction::{Keep, compact};
use crate::adapters::journal::open::JournalUrl;
use crate::control::host::Host;
use crate::control::ports::{Clock, JournalError};
use crate::control::service::{Loop, Service};
use crate::control::trouble::sentence;
use crate::domain::ids::AccountId;

/// Between two compactions.
const SHORTEN_EVERY: Duration = Duration::from_secs(3_600);

/// Entries that stay in a cluster where nobody says otherwise: its objects, and the head that lists them, have an end.
pub const KEPT_IN_A_CLUSTER: u64 = 50_000;

/// The most days that make sense: a century.
const DAYS_MAX: u32 = 36_500;

const DAY: Duration = Duration::from_secs(86_400);

/// What stays an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::Args)]
pub struct Keeping {
    /// Keep the entries of the last so many days. With --keep-entries: what either keeps is kept.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(..=i64::from(DAYS_MAX)))]
    keep_days: Option<u32>,
    /// Keep the newest so many entries of each account.
    #[arg(long, value_name = "N")]
    keep_entries: Option<u64>,
}

impl Keeping {
    /// Of a process that lives on this journal; none = nothing ever goes by itself.
    pub fn by_itself(self, journal: &JournalUrl) -> Option<Self> {
        let is_told = self != Self::default();
        let usual = Self { keep_entries: Some(KEPT_IN_A_CLUSTER), ..self };
        match journal {
            _ if is_told => Some(self),
            JournalUrl::Kubernetes(_) => Some(usual),
            _ => None,
        }
    }

    /// At this moment.
    pub fn at(self, now: Timestamp) -> Keep {
        let ago = |days: u32| now.checked_sub(DAY * days).unwrap_or(Timestamp::MIN);
        Keep { entries: self.keep_entries.unwrap_or(0), since: self.keep_days.map(ago) }
    }
}

/// The loop that compacts the journal of a service while the seat is here, where anything is to go by itself.
pub fn shortening<C: Clock>(keeping: Option<Keeping>, service: &Service<ServerHost<C>>) -> Option<Loop> {
    let (keeping, service) = (keeping?, service.clone());
    Some(Loop { name: "shortening", future: Box::pin(run_shortening(keeping, service)) })
}

async fn run_shortening<C: Clock>(keeping: Keeping, service: Service<ServerHost<C>>) {
    let mut epochs = service.held.epochs();
    loop {
        let due = async {
            if epochs.wait_for(Option::is_some).await.is_err() {
                std::future::pending::<()>().await;
            }
            shorten(keeping, service.host().as_ref(), service.account()).await;
            service.host().clock().sleep(SHORTEN_EVERY).await;
        };
        tokio::select! {
            biased;
            // A compaction that is dropped anywhere leaves a journal that is whole.
            () = service.stop.asked() => return,
            () = due => {}
        }
    }
}

/// What fails is tried again at the next hour.
async fn shorten<C: Clock>(keeping: Keeping, host: &ServerHost<C>, account: AccountId) {
    let keep = keeping.at(host.clock().now());
    let archived: Result<_, JournalError> = compact(host.journal(), account, keep, |_| {}).await;
    match archived {
        Ok(archived) if archived.entries > 0 => {
            let (entries, links, oldest) = (archived.entries, archived.links, archived.oldest);
            tracing::info!(%account, entries, links, oldest, "old entries of the journal are archived");
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%account, why = %sentence(&error), "the journal could not be compacted"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(days: Option<u32>, entries: Option<u64>) -> Keeping {
        Keeping { keep_days: days, keep_entries: entries }
    }

    #[test]
    fn nothing_goes_by_itself_but_in_a_cluster_unless_somebody_says_so() {
        let [file, cluster] = ["sqlite:kura.db", "kubernetes://ops/kura"].map(|url| url.parse::<JournalUrl>().unwrap());
        assert_eq!(told(None, None).by_itself(&file), None);
        assert_eq!(told(None, None).by_itself(&cluster), Some(told(None, Some(KEPT_IN_A_CLUSTER))));
        for said in [told(Some(30), None), told(None, Some(7)), told(Some(30), Some(7))] {
            assert_eq!((said.by_itself(&file), said.by_itself(&cluster)), (Some(said), Some(said)));
        }
    }

    #[test]
    fn days_are_counted_back_from_now_and_never_off_the_line_of_time() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        assert_eq!(told(Some(30), None).at(now).since, Some("2026-01-30T12:00:00Z".parse().unwrap()));
        assert_eq!(told(Some(DAYS_MAX), None).at(Timestamp::MIN).since, Some(Timestamp::MIN));
        let keep = told(None, Some(9)).at(now);
        assert_eq!((keep.entries, keep.since), (9, None));
    }
}
