#!/bin/sh
# Appends one lesson to the shared memory for coding agents and prints its id. Takes the flags of
# log-memory (see --help) and needs only that program, which also validates the lesson.
#
#   scripts/log_memory.sh --type error --context 'npm install failed with EACCES' \
#     --command 'sudo chown -R $USER . && npm ci' --lesson 'verify ownership before npm operations'
#
# The program is $LOG_MEMORY if that is set, otherwise log-memory on PATH, otherwise the one built in
# the checkout that contains this script. Exit codes are those of log-memory, and 69 if it is not found.
set -eu

refuse() {
    printf 'log_memory.sh: %s\n' "$@" >&2
    exit 69
}

if [ -n "${LOG_MEMORY:-}" ]; then
    [ -f "$LOG_MEMORY" ] && [ -x "$LOG_MEMORY" ] ||
        refuse "LOG_MEMORY is set to $LOG_MEMORY, which is not a program; correct or unset it"
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

refuse "log-memory was not found on PATH or in $checkout/target; nothing was written" \
    "build it with: cargo build --release --no-default-features --bin log-memory" \
    "or set LOG_MEMORY to its path"
