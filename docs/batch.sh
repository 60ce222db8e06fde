#!/usr/bin/env bash
# A batch by hand: the same scenario with ten seeds, one process a game. `agentsim report "$out"` reads it like any other.
# Run again after an interruption, it skips what is finished and goes on with what is not. A degraded game (exit 4) is
# finished; any other failure ends the batch with its exit code.
set -euo pipefail
config=${1:-configs/agent_island_bots.toml}
games=${2:-10}
out=${3:-logs/by_hand}

play() {
    local code=0
    agentsim "$@" --logs-dir "$out" --no-html --display none --json || code=$?
    if [ "$code" -ne 0 ] && [ "$code" -ne 4 ]; then exit "$code"; fi
}

for seed in $(seq 1 "$games"); do
    name="seed_$seed"
    if [ -s "$out/$name.jsonl" ]; then
        play resume "$name"
    else
        rm -f "$out/$name.jsonl" # of a run that was killed before its first line
        play run --config "$config" --seed "$seed" --name "$name"
    fi
done
