//! The entry: draws a frame and says when it would look different by time alone.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::model::Model;
use super::super::theme::Theme;

/// Draws `model` at `now` into `area` of `buffer`.
///
/// Returns the moment at which the same model would look different: the next whole second while a timer is visible,
/// else the threshold at which an age appears, a hold ends or the console disarms. The loop sends `Msg::Clock` then
/// and draws again. None = nothing ticks, an idle terminal gets no byte.
pub fn view(model: &Model, theme: &Theme, now: Timestamp, area: Rect, buffer: &mut Buffer) -> Option<Timestamp> {
    let _ = (model, theme, now, area, buffer);
    None
}
