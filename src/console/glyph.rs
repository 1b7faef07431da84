//! Glyphs: the shape that stands beside every word and colour, in two sets of the same width.

macro_rules! glyphs {
    ($($(#[$doc:meta])* $glyph:ident = $fine:literal, $plain:literal;)*) => {
        /// A shape on screen, one column wide.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Glyph {
            $($(#[$doc])* $glyph,)*
        }

        impl Glyph {
            #[cfg(test)]
            const ALL: &'static [Self] = &[$(Self::$glyph,)*];

            /// As text; `ascii` asks for the plain set.
            pub fn text(self, ascii: bool) -> &'static str {
                match (self, ascii) {
                    $((Self::$glyph, false) => $fine, (Self::$glyph, true) => $plain,)*
                }
            }
        }
    };
}

glyphs! {
    /// Done.
    Done = "✓", "+";
    /// Inside its arc.
    Moving = "●", "*";
    /// Waiting for its turn.
    Queued = "○", "o";
    /// Not its turn at all.
    Waiting = "·", ".";
    /// Soaking.
    Settling = "◐", "~";
    /// Held by a person.
    Paused = "‖", "=";
    /// Stopped by a brake.
    Halted = "◆", "#";
    /// A run failed.
    Failed = "✗", "x";
    /// A render failed.
    Errored = "!", "!";
    /// Not heard of any more.
    Offline = "◌", "?";
    /// Needs a look.
    Warning = "▲", "!";
    /// A slot that is held.
    SlotHeld = "■", "#";
    /// A slot that is kept by a settle window.
    SlotSettling = "◧", "~";
    /// A slot that is free.
    SlotFree = "□", "_";
    /// A row whose rows are shown.
    Unfolded = "▾", "v";
    /// A row whose rows are hidden.
    Folded = "▸", ">";
    /// Marks the selected row.
    Selected = "❯", ">";
    /// Stands where text was cut off.
    Ellipsis = "…", "~";
    /// Between facts of one line.
    Dot = "·", "-";
    /// A thin line.
    Rule = "─", "-";
    /// A thin line downwards.
    Bar = "│", "|";
    /// A corner.
    TopLeft = "╭", "+";
    /// A corner.
    TopRight = "╮", "+";
    /// A corner.
    BottomLeft = "╰", "+";
    /// A corner.
    BottomRight = "╯", "+";
    /// More rows above or below.
    More = "↕", ":";
    /// The list is sorted by this column.
    Sorted = "▼", "v";
    /// The same, the other way round.
    SortedBack = "▲", "^";
    /// From one to another.
    Arrow = "→", ">";
}

#[cfg(test)]
mod tests {
    use super::super::text::width;
    use super::*;

    #[test]
    fn every_glyph_is_one_column_wide_in_both_sets() {
        for glyph in Glyph::ALL {
            assert_eq!(width(glyph.text(false)), 1, "{glyph:?}");
            assert_eq!(width(glyph.text(true)), 1, "{glyph:?}");
            assert!(glyph.text(true).is_ascii(), "{glyph:?}");
        }
    }
}
