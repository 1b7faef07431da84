//! Colours as numbers: what a terminal makes of its named and numbered colours, for pictures of the screen.

use ratatui::style::Color;

/// Red, green and blue.
pub type Rgb = (u8, u8, u8);

/// The sixteen of ANSI, as xterm shows them.
const ANSI: [Rgb; 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (92, 92, 255),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (128, 128, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

/// Steps of the colour cube of xterm.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The numbers of `colour`; none for the terminal's own.
pub fn rgb(colour: Color) -> Option<Rgb> {
    let named = match colour {
        Color::Reset => return None,
        Color::Rgb(r, g, b) => return Some((r, g, b)),
        Color::Indexed(n) => return Some(indexed(n)),
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
    };
    Some(ANSI[named])
}

fn indexed(n: u8) -> Rgb {
    match n {
        0..=15 => ANSI[usize::from(n)],
        16..=231 => {
            let step = |divisor: u8| STEPS[usize::from((n - 16) / divisor % 6)];
            (step(36), step(6), step(1))
        }
        232..=255 => {
            let grey = 8 + 10 * (n - 232);
            (grey, grey, grey)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cube_and_the_greys_of_xterm() {
        assert_eq!(rgb(Color::Indexed(16)), Some((0, 0, 0)));
        assert_eq!(rgb(Color::Indexed(208)), Some((255, 135, 0)));
        assert_eq!(rgb(Color::Indexed(231)), Some((255, 255, 255)));
        assert_eq!(rgb(Color::Indexed(232)), Some((8, 8, 8)));
        assert_eq!(rgb(Color::Indexed(255)), Some((238, 238, 238)));
        assert_eq!(rgb(Color::Indexed(9)), rgb(Color::LightRed));
        assert_eq!(rgb(Color::Reset), None);
    }
}
