//! Routes that can be listed: a router that remembers what was put into it.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, on};

use super::failure::no_method;

/// A router in the making.
pub(super) struct Routes<S> {
    pub(super) router: Router<S>,
    /// Method and path of each, in order.
    pub(super) listed: Vec<(&'static str, &'static str)>,
}

impl<S: Clone + Send + Sync + 'static> Default for Routes<S> {
    fn default() -> Self {
        Self { router: Router::new(), listed: Vec::new() }
    }
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    pub(super) fn get<T: 'static>(self, path: &'static str, handler: impl Handler<T, S>) -> Self {
        self.with("GET", MethodFilter::GET, path, handler)
    }

    /// A GET that is answered to nobody who asks for its head alone: it does something, or does not end.
    pub(super) fn get_whole<T: 'static>(mut self, path: &'static str, handler: impl Handler<T, S>) -> Self {
        self.listed.push(("GET", path));
        self.router = self.router.route(path, on(MethodFilter::GET, handler).on(MethodFilter::HEAD, no_method));
        self
    }

    pub(super) fn post<T: 'static>(self, path: &'static str, handler: impl Handler<T, S>) -> Self {
        self.with("POST", MethodFilter::POST, path, handler)
    }

    pub(super) fn patch<T: 'static>(self, path: &'static str, handler: impl Handler<T, S>) -> Self {
        self.with("PATCH", MethodFilter::PATCH, path, handler)
    }

    pub(super) fn put<T: 'static>(self, path: &'static str, handler: impl Handler<T, S>) -> Self {
        self.with("PUT", MethodFilter::PUT, path, handler)
    }

    pub(super) fn delete<T: 'static>(self, path: &'static str, handler: impl Handler<T, S>) -> Self {
        self.with("DELETE", MethodFilter::DELETE, path, handler)
    }

    fn with<T: 'static>(
        mut self,
        method: &'static str,
        filter: MethodFilter,
        path: &'static str,
        handler: impl Handler<T, S>,
    ) -> Self {
        self.listed.push((method, path));
        self.router = self.router.route(path, on(filter, handler));
        self
    }
}
