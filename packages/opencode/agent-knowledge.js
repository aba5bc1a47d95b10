// Shared memory for OpenCode. This plugin gives a briefing when a session starts, shows known lessons when a tool fails,
// and saves the fix as a candidate lesson. It only passes events to `agent-knowledge hook` and shows the answers.
// Install it in .opencode/plugins/ or ~/.config/opencode/plugins/. AGENT_KNOWLEDGE_HOOKS=off disables it.

import { spawn } from "node:child_process"

const PROGRAM = process.env.AGENT_KNOWLEDGE_PROGRAM || "agent-knowledge"
// The program stops itself after 150 ms. This timeout only matters on a machine that is badly overloaded.
const WAIT_MS = 2000
// How many sessions the plugin keeps state for. The oldest is dropped first.
const SESSIONS_MAX = 100
// Only the end of long tool output is sent: more would not change the answer.
const OUTPUT_MAX = 64 * 1024

/** Sends an event to the program. Resolves to the text to show, or "" if there is none. Never rejects. */
function ask(event, fields) {
  return new Promise((resolve) => {
    let said = ""
    const child = spawn(PROGRAM, ["hook", "--agent", "opencode", "--event", event], {
      cwd: fields.cwd,
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    })
    const timer = setTimeout(() => child.kill(), WAIT_MS)
    child.on("error", () => { clearTimeout(timer); resolve("") })
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => { said += data })
    child.on("close", () => { clearTimeout(timer); resolve(contextIn(said)) })
    child.stdin.end(JSON.stringify({ hook_event_name: event, ...fields }))
  })
}

function contextIn(said) {
  try {
    return JSON.parse(said).hookSpecificOutput.additionalContext || ""
  } catch {
    return ""
  }
}

const text = (parts) => (parts || []).filter((part) => part.type === "text").map((part) => part.text).join("\n")

export const AgentKnowledge = async ({ directory }) => {
  const waiting = new Map() // Session id -> text for its system prompt.
  const begun = new Set()

  const begin = async (session_id, source) => {
    if (begun.size >= SESSIONS_MAX) begun.delete(begun.values().next().value)
    begun.add(session_id)
    await add(session_id, await ask("SessionStart", { session_id, cwd: directory, source }))
  }
  const add = async (session_id, said) => {
    if (!said) return
    if (waiting.size >= SESSIONS_MAX) waiting.delete(waiting.keys().next().value)
    waiting.set(session_id, [waiting.get(session_id), said].filter(Boolean).join("\n"))
  }

  const end = async (session_id) => {
    waiting.delete(session_id)
    if (begun.delete(session_id)) await ask("SessionEnd", { session_id, cwd: directory })
  }

  return {
    // OpenCode waits for this when it exits. The only event for the end of a session is its deletion.
    dispose: async () => { await Promise.all([...begun].map(end)) },
    event: async ({ event }) => {
      if (event.type === "session.deleted") await end(event.properties?.info?.id ?? event.properties?.sessionID)
    },
    "chat.message": async (input, output) => {
      const session_id = input.sessionID
      // A restart of OpenCode loses our system prompt, so the briefing is needed again in a resumed session.
      if (!begun.has(session_id)) await begin(session_id, "clear")
      const prompt = text(output.parts)
      await add(session_id, await ask("UserPromptSubmit", { session_id, cwd: directory, prompt }))
    },
    // The text stays in every prompt of the session, because a changed system prompt cannot be served from the model's cache.
    "experimental.chat.system.transform": async (input, output) => {
      const said = waiting.get(input.sessionID)
      if (said) output.system.push(said)
    },
    "tool.execute.after": async (input, output) => {
      const exit = output.metadata?.exit
      const failed = typeof exit === "number" ? exit !== 0 : Boolean(output.metadata?.error)
      const printed = String(output.output ?? "").slice(-OUTPUT_MAX)
      const said = await ask(failed ? "PostToolUseFailure" : "PostToolUse", {
        session_id: input.sessionID,
        cwd: directory,
        tool_name: input.tool === "bash" ? "Bash" : input.tool,
        tool_input: input.args ?? {},
        tool_use_id: input.callID,
        ...(failed ? { error: printed } : { tool_response: printed }),
      })
      if (said) output.output = `${output.output ?? ""}\n\n${said}`
    },
    "experimental.session.compacting": async (input, output) => {
      const said = await ask("PreCompact", { session_id: input.sessionID, cwd: directory, trigger: "auto" })
      if (said) output.context.push(said)
    },
  }
}
