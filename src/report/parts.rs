use crate::model::shell_word;

/// A bench that is run in parts.
pub struct Parts<'a> {
    /// How many.
    pub count: u32,
    /// What follows `mendit bench`.
    pub words: &'a [String],
}

impl Parts<'_> {
    // One part as a line for a shell; `part` is its number as that shell writes it.
    fn line(&self, part: &str) -> String {
        let words: Vec<_> = self.words.iter().map(|it| shell_word(it)).collect();
        let words = words.join(" ");
        let count = self.count;
        format!("mendit bench {words} --partition {part}/{count} --save part-{part}.json")
    }

    fn numbers(&self) -> String {
        let all: Vec<String> = (1..=self.count).map(|it| it.to_string()).collect();
        all.join(", ")
    }
}

/// A workflow of GitHub: a matrix of parts, and a job that joins them.
#[must_use]
pub fn parts_github(parts: &Parts<'_>) -> String {
    format!(
        "\
name: bench
on: workflow_dispatch
permissions:
  contents: read
jobs:
  part:
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix:
        part: [{numbers}]
    steps:
      - uses: actions/checkout@v4
      # Install mendit and bring the clones here.
      - run: {line} || true
      - uses: actions/upload-artifact@v4
        with:
          name: part-${{{{ matrix.part }}}}
          path: part-*.json
  merge:
    needs: part
    if: always()
    runs-on: ubuntu-latest
    steps:
      - uses: actions/download-artifact@v4
        with:
          merge-multiple: true
      # Install mendit here. A part that is missing is named; re-run its job alone.
      - run: mendit bench merge part-*.json --format markdown >> \"$GITHUB_STEP_SUMMARY\"
",
        numbers = parts.numbers(),
        line = parts.line("${{ matrix.part }}"),
    )
}

/// A job array of Slurm: `sbatch` this.
#[must_use]
pub fn parts_slurm(parts: &Parts<'_>) -> String {
    format!(
        "\
#!/bin/sh
#SBATCH --job-name=mendit-bench
#SBATCH --array=1-{count}
#SBATCH --cpus-per-task=2
#SBATCH --output=part-%a.log
{line} --jobs \"$SLURM_CPUS_PER_TASK\"
# Then: mendit bench merge part-*.json; a part that is missing: sbatch --array=K
",
        count = parts.count,
        line = parts.line("\"$SLURM_ARRAY_TASK_ID\""),
    )
}

#[cfg(test)]
mod tests {
    use super::{Parts, parts_github, parts_slurm};

    #[test]
    fn every_engine_runs_every_part_once() {
        let words = ["real", "a set", "--agent", "it's mine"].map(str::to_owned);
        let parts = Parts {
            count: 3,
            words: &words,
        };
        let said = r"mendit bench real 'a set' --agent 'it'\''s mine'";
        let github = parts_github(&parts);
        assert!(github.contains("part: [1, 2, 3]") && github.contains(said));
        assert!(github.contains("--partition ${{ matrix.part }}/3"));
        let slurm = parts_slurm(&parts);
        assert!(slurm.contains("--array=1-3\n") && slurm.contains(said));
    }
}
