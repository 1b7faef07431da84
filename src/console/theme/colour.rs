//! Colours: as theme files write them, as terminals of few colours show them, and how well they can be read.

use ratatui::style::Color;

use super::style::Depth;

/// The sixteen colours of ANSI with the values xterm gives them; `default` is what the terminal uses by itself.
const SIXTEEN: [(&str, Color, [u8; 3]); 16] = [
    ("black", Color::Black, [0, 0, 0]),
    ("red", Color::Red, [205, 0, 0]),
    ("green", Color::Green, [0, 205, 0]),
    ("yellow", Color::Yellow, [205, 205, 0]),
    ("blue", Color::Blue, [0, 0, 238]),
    ("magenta", Color::Magenta, [205, 0, 205]),
    ("cyan", Color::Cyan, [0, 205, 205]),
    ("white", Color::Gray, [229, 229, 229]),
    ("bright-black", Color::DarkGray, [127, 127, 127]),
    ("bright-red", Color::LightRed, [255, 0, 0]),
    ("bright-green", Color::LightGreen, [0, 255, 0]),
    ("bright-yellow", Color::LightYellow, [255, 255, 0]),
    ("bright-blue", Color::LightBlue, [92, 92, 255]),
    ("bright-magenta", Color::LightMagenta, [255, 0, 255]),
    ("bright-cyan", Color::LightCyan, [0, 255, 255]),
    ("bright-white", Color::White, [255, 255, 255]),
];

/// A colour of a palette: 24 bits, one of the sixteen, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Paint {
    rgb: Option<[u8; 3]>,
    named: Option<Color>,
}

impl Paint {
    /// Reads `"#rrggbb"`, a name of the sixteen or `default`, or both with a space between.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut paint = Self { rgb: None, named: None };
        for word in text.split_whitespace() {
            match word.strip_prefix('#') {
                Some(hex) => paint.rgb = Some(rgb(hex).ok_or_else(|| format!("{word} is no colour like #1a2b3c"))?),
                None => paint.named = Some(named(word).ok_or_else(|| format!("there is no colour named {word}"))?),
            }
        }
        if paint.rgb.is_none() && paint.named.is_none() {
            return Err("a colour is #rrggbb, one of the sixteen names, or both".to_owned());
        }
        Ok(paint)
    }

    /// What a terminal of that depth is told; none = no colour.
    pub(super) fn at(self, depth: Depth) -> Option<Color> {
        match (depth, self.rgb, self.named) {
            (Depth::Mono, ..) => None,
            (Depth::True, Some([r, g, b]), _) => Some(Color::Rgb(r, g, b)),
            (Depth::Indexed, Some(rgb), _) => Some(Color::Indexed(indexed(rgb))),
            (Depth::Sixteen, Some(rgb), None) => Some(nearest(rgb)),
            (_, _, named) => named,
        }
    }

    /// Its 24 bits, where it has them.
    pub(super) fn rgb(self) -> Option<[u8; 3]> {
        self.rgb
    }
}

fn rgb(hex: &str) -> Option<[u8; 3]> {
    let part = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    (hex.len() == 6).then(|| Some([part(0)?, part(2)?, part(4)?]))?
}

fn named(word: &str) -> Option<Color> {
    let found = SIXTEEN.iter().find(|(name, ..)| *name == word).map(|(_, colour, _)| *colour);
    found.or_else(|| (word == "default").then_some(Color::Reset))
}

fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

fn nearest(rgb: [u8; 3]) -> Color {
    let best = SIXTEEN.iter().min_by_key(|(_, _, value)| distance(*value, rgb));
    best.map_or(Color::Reset, |(_, colour, _)| *colour)
}

/// The nearest of xterm's cube and grey ramp.
fn indexed(rgb: [u8; 3]) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |v: u8| (0..6).min_by_key(|i| LEVELS[usize::from(*i)].abs_diff(v)).unwrap_or(0);
    let [r, g, b] = rgb.map(level);
    let cube = [r, g, b].map(|i| LEVELS[usize::from(i)]);
    let grey = (0..24u8).min_by_key(|n| distance([8 + 10 * n; 3], rgb)).unwrap_or(0);
    if distance([8 + 10 * grey; 3], rgb) < distance(cube, rgb) { 232 + grey } else { 16 + 36 * r + 6 * g + b }
}

/// Contrast of two colours by WCAG 2: 1 (none) to 21 (black on white).
pub(super) fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn luminance(rgb: [u8; 3]) -> f64 {
    let linear = |v: u8| {
        let v = f64::from(v) / 255.0;
        if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paint_shows_what_the_terminal_can() {
        let paint = Paint::parse("#ff7b72 bright-red").unwrap();
        assert_eq!(paint.at(Depth::True), Some(Color::Rgb(0xff, 0x7b, 0x72)));
        assert_eq!(paint.at(Depth::Sixteen), Some(Color::LightRed));
        assert_eq!(paint.at(Depth::Indexed), Some(Color::Indexed(209)));
        assert_eq!(paint.at(Depth::Mono), None);
        assert_eq!(Paint::parse("#fefefe").unwrap().at(Depth::Sixteen), Some(Color::White));
        assert_eq!(Paint::parse("default").unwrap().at(Depth::True), Some(Color::Reset));
    }

    #[test]
    fn nonsense_is_no_colour() {
        for text in ["", "#12345", "#ggg000", "mauve"] {
            assert!(Paint::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn contrast_is_that_of_wcag() {
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
        assert!((contrast([0x76; 3], [255; 3]) - 4.54).abs() < 0.01);
    }
}
