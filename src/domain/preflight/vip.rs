//! The check of the node that answers for the cluster: it goes last (R165).

use super::check::Check;
use crate::domain::fleet::Machine;
use crate::domain::observed::Observed;
use crate::domain::world::World;

/// Shows who holds the VIP, and says what has to be done about it.
pub(super) fn holder(world: &World, observed: &Observed) -> Check {
    let holds = |machine: &&Machine| observed.nodes.get(&machine.node).is_some_and(|node| node.holds_vip);
    let Some(holder) = world.machines.values().filter(|m| m.place().is_some()).find(holds) else {
        let hint = "find out which node holds it: that one goes last";
        return Check::warn("vip-holder", "no node says that it holds the VIP", hint);
    };
    match &holder.paused {
        Some(_) => {
            let sentence = format!("{} holds the VIP and is paused: unpause it when no other is left", holder.hostname);
            Check::pass("vip-holder", sentence)
        }
        None => Check::warn(
            "vip-holder",
            format!("{} holds the VIP: the API goes away with it", holder.hostname),
            "move the VIP when its turn comes, or pause it at the start and unpause it when no other is left",
        ),
    }
}
