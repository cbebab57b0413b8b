/// A bench that is run in parts.
pub struct Parts<'a> {
    /// How many.
    pub count: u32,
    /// What follows `mendit bench`.
    pub words: &'a [String],
    /// The image with mendit in it.
    pub image: &'a str,
}

impl Parts<'_> {
    // One part as a line for a shell; `part` is its number as that shell writes it.
    fn line(&self, part: &str) -> String {
        let words: Vec<String> = self.words.iter().map(|it| shell_word(it)).collect();
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

/// An indexed job of Kubernetes. Parts are told by `JOB_COMPLETION_INDEX`, counted from 0.
#[must_use]
pub fn parts_kubernetes(parts: &Parts<'_>) -> String {
    let words: Vec<String> = parts.words.iter().map(|it| shell_word(it)).collect();
    let script = format!(
        "mendit bench {} --save /out/part-$((JOB_COMPLETION_INDEX + 1)).json; \
         test -s /out/part-$((JOB_COMPLETION_INDEX + 1)).json",
        words.join(" ")
    );
    format!(
        "\
apiVersion: batch/v1
kind: Job
metadata:
  name: mendit-bench
spec:
  completionMode: Indexed
  completions: {count}
  parallelism: {count}
  backoffLimitPerIndex: 1
  maxFailedIndexes: {count}
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: part
          image: {image}
          command: [sh, -c, {script}]
          env:
            - name: JOB_COMPLETIONS
              value: \"{count}\"
          volumeMounts:
            - name: out
              mountPath: /out
            - name: clones
              mountPath: /clones
              readOnly: true
      volumes:
        - name: out
          persistentVolumeClaim:
            claimName: mendit-bench-out
        - name: clones
          persistentVolumeClaim:
            claimName: mendit-bench-clones
            readOnly: true
",
        count = parts.count,
        image = yaml(parts.image),
        script = yaml(&script),
    )
}

/// A line for GNU parallel; `--sshlogin` spreads it over machines. The job log says which are done,
/// and `--resume-failed` runs the others again.
#[must_use]
pub fn parts_parallel(parts: &Parts<'_>) -> String {
    format!(
        "seq {count} | parallel --joblog parts.log --resume-failed --jobs 1 {line}\n\
         mendit bench merge part-*.json\n",
        count = parts.count,
        line = shell_word(&parts.line("{}")),
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

/// A word as a POSIX shell takes it.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_./+@=:,".contains(char);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn yaml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::{Parts, parts_github, parts_kubernetes, parts_parallel, parts_slurm};

    #[test]
    fn every_engine_runs_every_part_once() {
        let words = ["real", "a set", "--agent", "it's mine"].map(str::to_owned);
        let parts = Parts {
            count: 3,
            words: &words,
            image: "mendit:1",
        };
        let said = r"mendit bench real 'a set' --agent 'it'\''s mine'";
        let github = parts_github(&parts);
        assert!(github.contains("part: [1, 2, 3]") && github.contains(said));
        assert!(github.contains("--partition ${{ matrix.part }}/3"));
        let kubernetes = parts_kubernetes(&parts);
        assert!(kubernetes.contains("completions: 3\n") && kubernetes.contains("value: \"3\""));
        let parallel = parts_parallel(&parts);
        assert!(parallel.starts_with("seq 3 |") && parallel.contains("--partition {}/3"));
        let slurm = parts_slurm(&parts);
        assert!(slurm.contains("--array=1-3\n") && slurm.contains(said));
    }
}
