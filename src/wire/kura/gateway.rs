//! Gateways as shown: who uses them, and what those that are stuck wait for (K42-K44).

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::kura::advice::{Advice, Incident, on_incident};
use crate::domain::kura::incidents::user_of;
use crate::domain::kura::object::{ACCOUNT_LABEL, REGION_LABEL};
use crate::domain::kura::sight::Sight;
use crate::domain::kura::traffic::Gateway;
use crate::domain::span::Seconds;
use crate::domain::world::World;

/// Where they are listed.
pub const PATH: &str = "/api/kura/gateways/";

/// A gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct GatewayBody {
    /// Its name.
    pub name: String,
    /// The class it serves.
    #[serde(rename = "ingressClassName")]
    pub ingress_class_name: Option<String>,
    /// Whose it is, by its label.
    pub tenant: Option<String>,
    /// Where.
    pub region: Option<String>,
    /// Who uses it; null = nobody.
    pub used_by: Option<String>,
    /// `status.phase`.
    pub phase: Option<String>,
    /// What it says of itself.
    pub message: Option<String>,
    /// How old it is.
    pub age_seconds: Seconds,
    /// What its deletion waits for.
    pub finalizers: Vec<String>,
    /// How long it has been on its way out.
    pub deleting_for_seconds: Option<Seconds>,
    /// Since its controller last reconciled it.
    pub controller_heartbeat_age_seconds: Option<Seconds>,
    /// What can be done.
    pub advice: Option<Advice>,
    /// Why the reading it is from cannot be relied on, with its age; null = it can.
    #[serde(default)]
    pub observation: Option<String>,
}

impl GatewayBody {
    /// Every gateway, by name.
    pub fn all(world: &World, sight: &Sight, now: Timestamp) -> Vec<Self> {
        Self::page(world, sight, "", usize::MAX, now)
    }

    /// At most `limit` of them, by name, those after the name `after`.
    pub fn page(world: &World, sight: &Sight, after: &str, limit: usize, now: Timestamp) -> Vec<Self> {
        let later = sight.gateways.rows.iter().filter(|(name, _)| after.is_empty() || name.as_str() > after);
        later.take(limit).map(|(_, gateway)| Self::of(world, sight, gateway, now)).collect()
    }

    fn of(world: &World, sight: &Sight, gateway: &Gateway, now: Timestamp) -> Self {
        let stamp = &gateway.stamp;
        let label = |name: &str| stamp.label(name).map(str::to_owned);
        let used_by = user_of(gateway, &world.kura, sight);
        let incident = match (stamp.is_leaving(), &used_by) {
            (true, _) if !stamp.finalizers.is_empty() => Some(Incident::StuckGateway { gateway: &stamp.name }),
            (false, None) => Some(Incident::UnusedGateway { gateway: &stamp.name }),
            _ => None,
        };
        Self {
            name: stamp.name.clone(),
            ingress_class_name: gateway.class.clone(),
            tenant: label(ACCOUNT_LABEL),
            region: label(REGION_LABEL).or_else(|| gateway.region.clone()),
            phase: gateway.phase.clone(),
            message: gateway.message.clone(),
            age_seconds: stamp.age(now),
            finalizers: stamp.finalizers.clone(),
            deleting_for_seconds: stamp.deleting_since.map(|at| Seconds::between(at, now)),
            controller_heartbeat_age_seconds: gateway.last_reconciled_at.map(|at| Seconds::between(at, now)),
            advice: incident.map(|incident| on_incident(None, incident)),
            observation: sight.gateways.contact.trouble(now),
            used_by,
        }
    }
}
