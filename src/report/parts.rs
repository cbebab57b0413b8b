use crate::model::shell_word;

/// What runs a bench in parts: its script, and the number of a part as that writes it.
pub struct Parts(&'static str, &'static str);

/// A workflow of GitHub: a matrix of parts, and a job that joins them.
pub const PARTS_GITHUB: Parts = Parts(include_str!("parts/github.yml"), "${{ matrix.part }}");
/// A job array of Slurm: `sbatch` this.
pub const PARTS_SLURM: Parts = Parts(include_str!("parts/slurm.sh"), "\"$SLURM_ARRAY_TASK_ID\"");

impl Parts {
    /// The script for so many parts; `words` follow `mendit bench`.
    #[must_use]
    pub fn script(&self, count: u32, words: &[String]) -> String {
        let Self(form, part) = self;
        let numbers: Vec<String> = (1..=count).map(|it| it.to_string()).collect();
        let words: Vec<_> = words.iter().map(|it| shell_word(it)).collect();
        let words = words.join(" ");
        let line =
            format!("mendit bench {words} --partition {part}/{count} --save part-{part}.json");
        form.replace("@NUMBERS@", &numbers.join(", "))
            .replace("@COUNT@", &count.to_string())
            .replace("@LINE@", &line)
    }
}

#[cfg(test)]
mod tests {
    use super::{PARTS_GITHUB, PARTS_SLURM};

    #[test]
    fn every_engine_runs_every_part_once() {
        let words = ["real", "a set", "--agent", "it's mine"].map(str::to_owned);
        let message = r"mendit bench real 'a set' --agent 'it'\''s mine'";
        let github = PARTS_GITHUB.script(3, &words);
        assert!(github.contains("part: [1, 2, 3]") && github.contains(message));
        assert!(github.contains("--partition ${{ matrix.part }}/3"));
        let slurm = PARTS_SLURM.script(3, &words);
        assert!(slurm.contains("--array=1-3\n") && slurm.contains(message));
    }
}
