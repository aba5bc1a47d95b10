#!/usr/bin/env bash
# Adds our MCP server to Claude Code, with no login and an empty home, and checks that it connects.
#
#   drive_claude.sh SERVER_COMMAND...
#
# Needs AGENT_KNOWLEDGE_TEST_CLIENTS, the directory from scripts/install-clients, and an absolute path to the server.
# No model is called. Prints `ok NAME` or `FAILED NAME` for each check.
set -euo pipefail

claude=${AGENT_KNOWLEDGE_TEST_CLIENTS:?must name the directory from scripts/install-clients}/bin/claude
server=("$@")
call_seconds_max=60 # Claude's own timeout for a server that does not answer is 30 s.
passed=0 failed=0

main() {
  if ((${#server[@]} == 0)); then sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 64; fi
  world=$(mktemp -d)
  trap 'rm -rf "$world"' EXIT
  mkdir "$world/home" "$world/project"
  cd "$world/project"

  check add_is_accepted memory mcp add memory -- "${server[@]}"
  check broken_is_accepted broken mcp add broken -- "$world/no-such-program"
  check list_says_connected 'memory: .*Connected' mcp list
  # Without this check, "Connected" would prove nothing.
  check list_sees_a_broken_one 'broken: .*Failed to connect' mcp list
  check get_shows_the_command "Command: ${server[0]}" mcp get memory
  check remove_is_accepted memory mcp remove memory
  echo "$passed passed, $failed failed"
  ((failed == 0))
}

# check NAME PATTERN ARGUMENTS...: runs Claude, which must succeed and print a line that matches PATTERN.
check() {
  local name=$1 pattern=$2 status=0 output
  shift 2
  output=$(in_its_world "$claude" "$@" 2>&1 </dev/null) || status=$?
  if ((status == 0)) && grep -q -- "$pattern" <<<"$output"; then
    echo "ok $name"
    passed=$((passed + 1))
  else
    echo "FAILED $name: exit code $status, expected '$pattern' in:"
    head -c 1000 <<<"$output"
    failed=$((failed + 1))
  fi
}

# Passes only what Claude needs: no settings, keys or session of the user who runs the tests.
in_its_world() {
  limited env -i HOME="$world/home" PATH="$PATH" TERM=dumb LANG=C.UTF-8 \
    DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 "$@"
}

limited() {
  if command -v timeout >/dev/null; then timeout "$call_seconds_max" "$@"; else "$@"; fi
}

main
