#!/bin/sh
# Appends one lesson to the shared memory of coding agents and prints its id. Takes the flags of
# log-memory (see --help) and needs nothing but that program. Not here: any rule about a lesson.
#
#   scripts/log_memory.sh --type error --context 'npm install failed with EACCES' \
#     --command 'sudo chown -R $USER . && npm ci' --lesson 'verify ownership before npm operations'
#
# The program is $LOG_MEMORY where that is set, else log-memory on PATH, else the one built in the
# checkout this script stands in. Exit codes are those of log-memory; 69 where it is not found.
set -eu

refuse() {
    printf 'log_memory.sh: %s\n' "$@" >&2
    exit 69
}

if [ -n "${LOG_MEMORY:-}" ]; then
    [ -f "$LOG_MEMORY" ] && [ -x "$LOG_MEMORY" ] ||
        refuse "LOG_MEMORY is set to $LOG_MEMORY, which is no program; correct or unset it"
    exec "$LOG_MEMORY" "$@"
fi

if command -v log-memory >/dev/null 2>&1; then
    exec log-memory "$@"
fi

case $0 in
*/*) checkout=${0%/*}/.. ;;
*) checkout=.. ;;
esac
for program in "$checkout/target/release/log-memory" "$checkout/target/debug/log-memory"; do
    if [ -f "$program" ] && [ -x "$program" ]; then
        exec "$program" "$@"
    fi
done

refuse "log-memory was found neither on PATH nor in $checkout/target; nothing was written" \
    "build it with: cargo build --release --no-default-features --bin log-memory" \
    "or set LOG_MEMORY to where it is"
