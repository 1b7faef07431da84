//! Ink: the colours and modifiers a terminal writes with, and the shortest way from one to another.

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

/// What a terminal writes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ink {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

/// Modifiers with the codes that set and that reset them.
const MODIFIERS: [(Modifier, u8, u8); 9] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::RAPID_BLINK, 6, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

/// Modifiers one sees on a space.
pub const SEEN_ON_BLANKS: Modifier = Modifier::UNDERLINED.union(Modifier::REVERSED).union(Modifier::CROSSED_OUT);

impl Ink {
    /// What a terminal writes with after a reset.
    pub const PLAIN: Self = Self { fg: Color::Reset, bg: Color::Reset, modifier: Modifier::empty() };

    /// What `cell` wants. A blank does not care about what one cannot see of it, so it keeps that of `self`.
    pub fn for_cell(self, cell: &Cell) -> Self {
        let wanted = Self { fg: cell.fg, bg: cell.bg, modifier: cell.modifier };
        let seen = (self.modifier | cell.modifier) & SEEN_ON_BLANKS;
        if cell.symbol() == " " && seen.is_empty() {
            return Self { bg: cell.bg, ..self };
        }
        wanted
    }

    /// Appends the shortest sequence that turns `self` into `to`; nothing where they are the same.
    pub fn turn_into(self, to: Self, out: &mut Vec<u8>) {
        if self == to {
            return;
        }
        let steps = self.steps(to);
        let afresh = format!("0{}", prefixed(&Self::PLAIN.steps(to)));
        let shorter = if steps.len() <= afresh.len() { steps } else { afresh };
        let shorter = if shorter == "0" { "" } else { &shorter };
        out.extend_from_slice(format!("\x1b[{shorter}m").as_bytes());
    }

    /// Codes from `self` to `to`, one by one.
    fn steps(self, to: Self) -> String {
        let mut codes: Vec<String> = Vec::new();
        let (gone, mut new) = (self.modifier - to.modifier, to.modifier - self.modifier);
        for (modifier, _, off) in MODIFIERS {
            if gone.contains(modifier) && codes.last() != Some(&off.to_string()) {
                codes.push(off.to_string());
            }
        }
        // 22 ends bold and dim alike, 25 both ways to blink.
        for twins in [Modifier::BOLD | Modifier::DIM, Modifier::SLOW_BLINK | Modifier::RAPID_BLINK] {
            if gone.intersects(twins) {
                new |= to.modifier & twins;
            }
        }
        codes
            .extend(MODIFIERS.iter().filter(|(modifier, ..)| new.contains(*modifier)).map(|(_, on, _)| on.to_string()));
        if self.fg != to.fg {
            codes.push(colour(to.fg, 30));
        }
        if self.bg != to.bg {
            codes.push(colour(to.bg, 40));
        }
        codes.join(";")
    }
}

fn prefixed(codes: &str) -> String {
    if codes.is_empty() { String::new() } else { format!(";{codes}") }
}

/// The code of a colour; `base` is 30 for what is written and 40 for what it stands on.
fn colour(colour: Color, base: u8) -> String {
    let basic = |n: u8| (base + n).to_string();
    let bright = |n: u8| (base + 60 + n).to_string();
    match colour {
        Color::Reset => basic(9),
        Color::Black => basic(0),
        Color::Red => basic(1),
        Color::Green => basic(2),
        Color::Yellow => basic(3),
        Color::Blue => basic(4),
        Color::Magenta => basic(5),
        Color::Cyan => basic(6),
        Color::Gray => basic(7),
        Color::DarkGray => bright(0),
        Color::LightRed => bright(1),
        Color::LightGreen => bright(2),
        Color::LightYellow => bright(3),
        Color::LightBlue => bright(4),
        Color::LightMagenta => bright(5),
        Color::LightCyan => bright(6),
        Color::White => bright(7),
        Color::Indexed(n @ 0..=7) => basic(n),
        Color::Indexed(n @ 8..=15) => bright(n - 8),
        Color::Indexed(n) => format!("{};5;{n}", base + 8),
        Color::Rgb(r, g, b) => format!("{};2;{r};{g};{b}", base + 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ink(fg: Color, modifier: Modifier) -> Ink {
        Ink { fg, modifier, ..Ink::PLAIN }
    }

    fn turned(from: Ink, to: Ink) -> String {
        let mut out = Vec::new();
        from.turn_into(to, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_way_is_short() {
        let red = ink(Color::Red, Modifier::empty());
        let bold_red = ink(Color::Red, Modifier::BOLD);
        assert_eq!(turned(red, red), "");
        assert_eq!(turned(Ink::PLAIN, bold_red), "\x1b[1;31m");
        assert_eq!(turned(bold_red, red), "\x1b[22m");
        assert_eq!(turned(bold_red, Ink::PLAIN), "\x1b[m");
        assert_eq!(turned(red, ink(Color::Rgb(1, 2, 3), Modifier::REVERSED)), "\x1b[7;38;2;1;2;3m");
        assert_eq!(turned(Ink::PLAIN, ink(Color::Indexed(200), Modifier::empty())), "\x1b[38;5;200m");
        assert_eq!(turned(Ink::PLAIN, ink(Color::White, Modifier::empty())), "\x1b[97m");
    }

    #[test]
    fn ending_dim_does_not_end_bold() {
        let both = ink(Color::Red, Modifier::BOLD | Modifier::DIM);
        assert_eq!(turned(both, ink(Color::Red, Modifier::BOLD)), "\x1b[22;1m");
    }

    #[test]
    fn blanks_do_not_care_about_what_one_cannot_see() {
        let red = ink(Color::Red, Modifier::BOLD);
        assert_eq!(red.for_cell(&Cell::new(" ")), red);
        let mut ground = Cell::new(" ");
        ground.set_bg(Color::Blue);
        assert_eq!(red.for_cell(&ground), Ink { bg: Color::Blue, ..red });
        let reversed = ink(Color::Red, Modifier::REVERSED);
        assert_eq!(reversed.for_cell(&Cell::new(" ")), Ink::PLAIN);
        assert_eq!(red.for_cell(&Cell::new("x")), Ink::PLAIN);
    }
}
