//! What the screens look like, cell by cell, at the sizes that count.

use super::stage::Stage;

#[test]
fn look() {
    for (w, h) in [(80, 24), (120, 36), (40, 10)] {
        let mut stage = Stage::rolling(w, h);
        stage.pass_polling(700);
        stage.show();
        println!("{}\n{}", "=".repeat(w.into()), stage.screen());
        stage.press("2 j j j");
        println!("{}\n{}", "=".repeat(w.into()), stage.screen());
        stage.press("enter");
        println!("{}\n{}", "=".repeat(w.into()), stage.screen());
        stage.press("esc x");
        println!("{}\n{}", "=".repeat(w.into()), stage.screen());
        stage.press("h");
        println!("{}\n{}", "=".repeat(w.into()), stage.screen());
        stage.press("esc 0");
        println!("{}\n{}", "=".repeat(w.into()), stage.screen());
        stage.press("?");
        println!("{}\n{}", "=".repeat(w.into()), stage.screen());
    }
}
