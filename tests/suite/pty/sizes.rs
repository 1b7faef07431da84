//! Any size, and any change of size: nothing falls over, and the whole screen is right again afterwards.

use super::attached::{LOST, attached};

#[test]
fn it_starts_and_speaks_at_any_size() {
    for (columns, rows) in [(80, 24), (40, 10), (20, 5), (3, 2), (1, 1), (300, 100)] {
        let mut driver = attached().size(columns, rows).start();
        driver.wait_until("a frame", super::driver::PATIENCE, |screen| !screen.contents().trim().is_empty());
        if columns >= 20 {
            driver.wait_for(LOST);
        }
        driver.send("q");
        assert_eq!(driver.wait_exit().code, Some(0), "{columns}x{rows}");
    }
}

#[test]
fn it_follows_the_terminal_there_and_back() {
    let mut driver = attached().start();
    driver.wait_for(LOST);
    for (columns, rows) in [(40, 10), (20, 5), (1, 1), (20, 5), (200, 60)] {
        driver.resize(columns, rows);
    }
    driver.resize(20, 5);
    driver.wait_for(LOST);
    driver.resize(80, 24);
    let text = driver.wait_for(LOST);
    assert!(text.lines().count() <= 24, "{text}");
}

#[test]
fn a_storm_of_sizes_passes() {
    let mut driver = attached().start();
    driver.wait_for(LOST);
    for n in 0..200u16 {
        driver.resize(1 + n % 97, 1 + n % 31);
    }
    driver.resize(80, 24);
    driver.wait_for(LOST);
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
    assert!(driver.modes_as_before());
}
