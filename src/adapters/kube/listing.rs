//! Everything there is of one kind, at one version: in pages, where the server does not stream it.

use std::collections::BTreeMap;

use kube::core::Request;
use kube::core::params::ListParams;
use serde::Deserialize;

use super::connection::Connection;
use super::fault::ClusterFault;
use super::object::Watched;
use super::stream::Place;
use crate::control::ports::Clock;

/// Objects in one page of a list.
pub const PAGE: u32 = 500;

/// Objects of one kind that are kept. More are not looked at, and said.
pub const ROWS_MAX: usize = 100_000;

/// All objects of a kind, and the version to watch from.
pub(super) struct Listing<R> {
    pub(super) rows: BTreeMap<String, R>,
    pub(super) version: String,
}

#[derive(Deserialize)]
struct Page<T> {
    metadata: PageMeta,
    #[serde(default = "Vec::new")]
    items: Vec<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageMeta {
    #[serde(default)]
    resource_version: String,
    #[serde(default, rename = "continue")]
    more: String,
}

impl<R> Listing<R> {
    /// Reads page after page. Pages of one list are of one version; if the server forgets it on the way, that is
    /// `Expired`, and nothing of it is kept.
    pub(super) async fn read<C: Clock, T: Watched<Row = R>>(
        connection: &Connection<C>,
        place: &Place,
    ) -> Result<Self, ClusterFault> {
        let mut rows = BTreeMap::new();
        let mut params = ListParams::default().limit(PAGE);
        (params.field_selector, params.label_selector) = (place.fields.clone(), place.labels.clone());
        loop {
            let request = Request::new(&*place.path).list(&params).map_err(kube::Error::BuildRequest);
            let read = |client: kube::Client| async move { client.request::<Page<T>>(request?).await };
            let page = connection.ask(read).await?;
            rows.extend(page.items.into_iter().filter_map(|object| {
                let name = object.name_and_version().0.to_owned();
                Some((name, object.row(&place.namespace)?))
            }));
            if rows.len() > ROWS_MAX {
                return Err(ClusterFault::TooMany { limit: ROWS_MAX });
            }
            if page.metadata.more.is_empty() {
                return Ok(Self { rows, version: page.metadata.resource_version });
            }
            params = params.continue_token(&page.metadata.more);
        }
    }
}
