#!/usr/bin/env bash
# Tests our MCP server with the command line of the MCP Inspector, in both protocol eras.
#
#   drive_inspector.sh SERVER_COMMAND...
#
# Needs AGENT_KNOWLEDGE_TEST_CLIENTS, the directory from scripts/install-clients. The caller sets a hermetic HOME, or
# passes the store as an argument of the server, because the Inspector passes on only HOME and PATH.
# Prints `ok NAME` or `FAILED NAME` for each check.
set -euo pipefail

inspector=${AGENT_KNOWLEDGE_TEST_CLIENTS:?must name the directory from scripts/install-clients}/bin/mcp-inspector
server=("$@")
call_seconds_max=60 # Node alone needs seconds to start on a busy machine. A hang must still end.
passed=0 failed=0
reply=$(mktemp)
trap 'rm -f "$reply"' EXIT

main() {
  if ((${#server[@]} == 0)); then sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 64; fi
  for era in legacy modern; do drive; done
  echo "$passed passed, $failed failed"
  ((failed == 0))
}

drive() {
  local word="quoxel$era"
  local saved="{\"repo\":\"inspector-check\",\"event_type\":\"error\",\"context\":\"the $word build stopped\",
    \"command\":\"make $word\",\"lesson\":\"always clean $word before building\",\"tags\":[\"$word\"]}"
  # --strict rejects schemas that other model providers would reject.
  check tools_list_is_strict '"memory_search"' --method tools/list --strict
  check save_answers '"content"' --method tools/call --tool-name memory_save --tool-args-json "$saved"
  check search_finds_it "always clean $word" --method tools/call --tool-name memory_search \
    --tool-args-json "{\"query\":\"$word build stopped\",\"repo\":\"inspector-check\",\"limit\":\"3\"}"
  check templates_are_listed 'memory://item/{id}' --method resources/templates/list
  check recent_is_read "always clean $word" --method resources/read --uri memory://recent
  check recall_takes_a_topic "$word" --method prompts/get --prompt-name recall --prompt-args "topic=$word"
  check context_briefs "always clean $word" --method tools/call --tool-name memory_context \
    --tool-args-json "{\"repo\":\"inspector-check\",\"task\":\"mend the $word build\"}"
  check handoff_begins_with_the_briefing "always clean $word" --method prompts/get --prompt-name handoff \
    --prompt-args "repo=inspector-check"
  check a_file_is_read '"memories' --method resources/read --uri memory://file/src/main.rs
}

# check NAME EXPECTED ARGUMENTS...: the call must succeed without a tool error, and its reply must contain EXPECTED.
check() {
  local name=$1 expected=$2 status=0
  shift 2
  limited "$inspector" --cli "${server[@]}" --protocol-era "$era" --quiet "$@" \
    >"$reply" 2>&1 </dev/null || status=$?
  if ((status == 0)) && grep -qF -- "$expected" "$reply" && ! grep -q '"isError": *true' "$reply"; then
    echo "ok $era/$name"
    passed=$((passed + 1))
  else
    echo "FAILED $era/$name: exit code $status, expected '$expected' in:"
    head -c 1000 "$reply"
    echo
    failed=$((failed + 1))
  fi
}

limited() {
  if command -v timeout >/dev/null; then timeout "$call_seconds_max" "$@"; else "$@"; fi
}

main
