/// Lines of a screen that a program may go back over.
const MOST: usize = 100;

/// Which lines of a log were written over or wiped out later, as programs do that redraw what they show: each by
/// its place among the lines. Empty where nothing moves the cursor up.
pub(super) fn redrawn(text: &str) -> Vec<bool> {
    if !moves_up(text) {
        return Vec::new();
    }
    let mut screen = Screen {
        rows: Vec::new(),
        at: 0,
        shown: Vec::new(),
        gone: Vec::new(),
    };
    for (line, raw) in text.split('\n').enumerate() {
        screen.at += usize::from(line > 0);
        if screen.at == screen.rows.len() {
            screen.rows.push(None);
        }
        screen.shown.push(0);
        screen.gone.push(false);
        let mut rest = raw;
        while let Some(next) = rest.chars().next() {
            let Some((end, parameter, command)) = sequence(rest) else {
                if !next.is_control() {
                    screen.put(screen.at, line);
                }
                rest = rest.get(next.len_utf8()..).unwrap_or_default();
                continue;
            };
            screen.obey(line, parameter, command);
            rest = rest.get(end..).unwrap_or_default();
        }
    }
    screen.gone
}

fn moves_up(text: &str) -> bool {
    let mut starts = text.match_indices("\u{1b}[");
    starts.any(|(at, _)| {
        let found = text.get(at..).and_then(sequence);
        found.is_some_and(|(_, _, command)| command == 'A')
    })
}

// A control sequence at the start of a text: where it ends, its number and its command.
fn sequence(text: &str) -> Option<(usize, usize, char)> {
    let inner = text.strip_prefix("\u{1b}[")?;
    let end = inner.find(|c: char| !(' '..='?').contains(&c))?;
    let command = inner.get(end..)?.chars().next()?;
    let number = inner.get(..end)?.parse().unwrap_or(0);
    Some((2 + end + command.len_utf8(), number, command))
}

struct Screen {
    // Of each row the line of the log that it shows, if any.
    rows: Vec<Option<usize>>,
    at: usize,
    // Of each line how many rows show it.
    shown: Vec<u32>,
    gone: Vec<bool>,
}

impl Screen {
    fn obey(&mut self, line: usize, number: usize, command: char) {
        let last = self.rows.len() - 1;
        match command {
            'A' => {
                let first = self.rows.len().saturating_sub(MOST);
                self.at = self.at.saturating_sub(number.max(1)).max(first);
            }
            'B' => self.at = self.at.saturating_add(number.max(1)).min(last),
            'K' => self.put(self.at, line),
            'J' if number == 0 => (self.at..=last).for_each(|row| self.put(row, line)),
            _ => {}
        }
    }

    fn put(&mut self, row: usize, line: usize) {
        let Some(shows) = self.rows.get_mut(row).filter(|it| **it != Some(line)) else {
            return;
        };
        let before = shows.replace(line);
        if let Some(count) = self.shown.get_mut(line) {
            *count += 1;
        }
        let Some(before) = before else { return };
        if let (Some(count), Some(gone)) = (self.shown.get_mut(before), self.gone.get_mut(before)) {
            *count = count.saturating_sub(1);
            *gone = *count == 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::{sanitize_log, sanitize_whole_log};

    #[test]
    fn what_is_redrawn_is_read_as_a_screen_shows_it_at_the_end() {
        for (log, shown) in [
            ("a 1\nb 1\n\x1b[2Aa 2\nb 2\nend\n", "\n\na 2\nb 2\nend\n"),
            (
                "x\na 1\n\x1b[2K\x1b[1A\x1b[2K\x1b[Ga 2\nend\n",
                "x\n\na 2\nend\n",
            ),
            ("x\na\nb\n\x1b[2A\x1b[Jc\n", "x\n\n\nc\n"),
            ("x\n\x1b[1A\x1b[1By\n", "x\ny\n"),
            ("x\x1b[2K\x1b[31my\n", "xy\n"),
        ] {
            assert_eq!(sanitize_log(log.as_bytes()), shown, "{log:?}");
        }
        // For a proof nothing is written over.
        let forged = b"1 failed in 0.1s\n\x1b[1A\x1b[J1 passed in 0.1s\n";
        assert_eq!(
            sanitize_whole_log(forged),
            "1 failed in 0.1s\n1 passed in 0.1s\n"
        );
    }

    #[test]
    fn a_screen_that_is_wiped_at_each_line_takes_no_longer_than_it_is_long() {
        let log = "x\n\x1b[500A\x1b[J".repeat(20_000);
        assert_eq!(sanitize_log(log.as_bytes()).matches('\n').count(), 20_000);
    }
}
