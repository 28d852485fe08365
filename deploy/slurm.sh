#!/bin/bash
#SBATCH --job-name=isrcheck-gate
#SBATCH --array=1-4
#SBATCH --cpus-per-task=2
#SBATCH --mem=1G
#SBATCH --time=15
#SBATCH --output=gate-%a.txt
# check gate as an array job: task i of n does shard i/n and writes gate-i.json
# into the folder that sbatch was called in, which all nodes share. Arguments go
# to check gate:
#
#   sbatch --wait deploy/slurm.sh --budget 5m
#   check merge gate-*.json
set -euo pipefail
report=gate-$SLURM_ARRAY_TASK_ID.json
rm -f "$report" # one of an earlier run must not be taken for this one's
exec check gate --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --json "$report" "$@"
