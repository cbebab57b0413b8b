#!/bin/sh
#SBATCH --job-name=mendit-bench
#SBATCH --array=1-@COUNT@
#SBATCH --cpus-per-task=2
#SBATCH --output=part-%a.log
@LINE@ --jobs "$SLURM_CPUS_PER_TASK"
# Then: mendit bench merge part-*.json; a part that is missing: sbatch --array=K
