//! Every "no" about Kura servers: its kind, its sentence, the field it names and what to do instead.

use std::fmt;

use super::super::ids::ServerId;
use super::super::refusal::RefusalKind;

/// Why the core says no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KuraRefusal {
    /// No such server.
    NoServer(ServerId),
    /// No such gateway, instance or finalizer, as far as can be seen.
    NotThere {
        /// What it is and how it is called.
        what: String,
    },
    /// Nobody released this tag here.
    NoTag(String),
    /// A text that cannot be a tag or a name.
    BadText {
        /// Of the request.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The tenant has a server in this region.
    Duplicate {
        /// The server.
        server: String,
    },
    /// K13, K25: the server is being moved.
    Moving {
        /// The server.
        server: String,
        /// The phase of the move.
        phase: &'static str,
    },
    /// K25: the server is being taken down, or is gone.
    Leaving {
        /// The server.
        server: String,
        /// Its status.
        status: &'static str,
    },
    /// K24: a deployment of this tag is open.
    AlreadyOpen {
        /// The server.
        server: String,
        /// The tag.
        tag: String,
    },
    /// There is nothing to apply again: the server never got a tag.
    NothingToApply {
        /// The server.
        server: String,
    },
    /// K42: somebody names the class of this gateway.
    InUse {
        /// The gateway.
        gateway: String,
        /// An instance or a server.
        by: String,
    },
    /// K44: nobody has asked for it to be deleted.
    NotLeaving {
        /// What it is and how it is called.
        what: String,
    },
    /// K44: several finalizers are in the way, and one is taken off at a time.
    WhichFinalizer {
        /// What it is and how it is called.
        what: String,
        /// All of them, in their order.
        finalizers: String,
    },
    /// K45: somebody claims the instance.
    NotAnOrphan {
        /// The instance.
        instance: String,
        /// Who claims it.
        by: String,
    },
    /// K44: what cannot be taken back is recorded with its reason.
    ReasonMissing,
    /// K43: what the cluster looks like is not known well enough.
    Unseen {
        /// What cannot be read, and why.
        why: String,
    },
    /// A limit is reached.
    Full {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl KuraRefusal {
    /// The family it belongs to.
    pub fn kind(&self) -> RefusalKind {
        match self {
            Self::BadText { .. } | Self::ReasonMissing | Self::WhichFinalizer { .. } => RefusalKind::Invalid,
            Self::NoServer(_) | Self::NotThere { .. } | Self::NoTag(_) => RefusalKind::Missing,
            _ => RefusalKind::Conflict,
        }
    }

    /// The field of the request that is to blame.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::BadText { field, .. } => Some(field),
            Self::NoTag(_) => Some("image_tag"),
            Self::AlreadyOpen { .. } => Some("force"),
            Self::ReasonMissing => Some("reason"),
            Self::WhichFinalizer { .. } => Some("finalizer"),
            _ => None,
        }
    }

    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoServer(_) => "no_server",
            Self::NotThere { .. } => "not_there",
            Self::NoTag(_) => "no_tag",
            Self::BadText { .. } => "bad_name",
            Self::Duplicate { .. } => "duplicate",
            Self::Moving { .. } => "moving",
            Self::Leaving { .. } => "leaving",
            Self::AlreadyOpen { .. } => "already_open",
            Self::NothingToApply { .. } => "nothing_to_apply",
            Self::InUse { .. } => "in_use",
            Self::NotLeaving { .. } => "not_leaving",
            Self::WhichFinalizer { .. } => "which_finalizer",
            Self::NotAnOrphan { .. } => "not_an_orphan",
            Self::ReasonMissing => "reason_missing",
            Self::Unseen { .. } => "unseen",
            Self::Full { .. } => "full",
        }
    }

    /// What to do instead, most useful first.
    pub fn hints(&self) -> &'static [&'static str] {
        match self {
            Self::NoServer(_) => &["list them with GET /api/kura/servers/"],
            Self::NoTag(_) => &["release it first with POST /api/kura/runtime-tags/"],
            Self::NotThere { .. } => &["look again: it may be gone already"],
            Self::BadText { .. } => &["use 1 to 63 letters, digits, '.', '-' and '_'"],
            Self::Duplicate { .. } => &["configure the one that exists"],
            Self::Moving { .. } => &["wait until the move is over: the next tick then schedules the newest tag"],
            Self::Leaving { .. } => &["add the server anew once it is gone"],
            Self::AlreadyOpen { .. } => &[
                "already open; use force to apply it again in its place",
                "same image, not forced: nothing would be applied",
            ],
            Self::NothingToApply { .. } => &["deploy a tag to it"],
            Self::InUse { .. } => &["lead that one to another class first"],
            Self::NotLeaving { .. } => &["delete it first; a finalizer is only in the way of a deletion"],
            Self::WhichFinalizer { .. } => {
                &["name the one whose controller is gone: the others clean up by themselves"]
            }
            Self::NotAnOrphan { .. } => &["destroy its server instead"],
            Self::ReasonMissing => &["say why: it is all that those who come after will find"],
            Self::Unseen { .. } => &["mend the connection to the cluster, then try again"],
            Self::Full { .. } => &["remove what is no longer used"],
        }
    }
}

impl fmt::Display for KuraRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoServer(id) => write!(f, "there is no server {id}"),
            Self::NotThere { what } => write!(f, "there is no {what}"),
            Self::NoTag(tag) => write!(f, "the runtime tag {tag} was not released here"),
            Self::BadText { field, problem } => write!(f, "{field} {problem}"),
            Self::Duplicate { server } => write!(f, "server {server} exists already"),
            Self::Moving { server, phase } => write!(f, "{server} is being moved ({phase})"),
            Self::Leaving { server, status } => write!(f, "{server} is {status}"),
            Self::AlreadyOpen { server, tag } => {
                write!(f, "a deployment of {tag} to {server} is already open; use force to apply it again")
            }
            Self::NothingToApply { server } => write!(f, "{server} never got a tag"),
            Self::InUse { gateway, by } => write!(f, "gateway {gateway} is in use by {by}"),
            Self::NotLeaving { what } => write!(f, "{what} is not being deleted"),
            Self::WhichFinalizer { what, finalizers } => {
                write!(f, "{what} waits for several finalizers, and it has to be said which: {finalizers}")
            }
            Self::NotAnOrphan { instance, by } => write!(f, "instance {instance} belongs to {by}"),
            Self::ReasonMissing => f.write_str("a reason is needed: this cannot be taken back"),
            Self::Unseen { why } => write!(f, "the cluster cannot be judged: {why}"),
            Self::Full { what, limit } => write!(f, "there are {limit} {what} already, which is the limit"),
        }
    }
}
