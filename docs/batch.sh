#!/usr/bin/env bash
# A batch by hand: the same scenario with ten seeds, one process a game. `agentsim report "$out"` reads it like any other.
# Run again after an interruption, it skips what is finished and goes on with what is not.
set -euo pipefail
config=${1:-configs/agent_island_bots.toml}
games=${2:-10}
out=${3:-logs/by_hand}

for seed in $(seq 1 "$games"); do
    name="seed_$seed"
    if [ -s "$out/$name.jsonl" ]; then
        agentsim resume "$name" --logs-dir "$out" --no-html --display none --json
    else
        rm -f "$out/$name.jsonl" # of a run that was killed before its first line
        agentsim run --config "$config" --seed "$seed" --name "$name" --logs-dir "$out" --no-html --display none --json
    fi
done
