// Shared memory for OpenCode: a briefing when a session starts, what is known when a tool fails, and lessons from
// what then helped. It only carries messages to `agent-knowledge hook` and back; all decisions are made there.
// Put it into .opencode/plugins/ or ~/.config/opencode/plugins/. AGENT_KNOWLEDGE_HOOKS=off switches it off.

import { spawn } from "node:child_process"

const PROGRAM = process.env.AGENT_KNOWLEDGE_PROGRAM || "agent-knowledge"
// The program ends by itself after 150 ms; this is for a machine that stands still.
const WAIT_MS = 2000
// Sessions remembered for their briefing; the oldest is forgotten first.
const SESSIONS_MAX = 100
// What a tool printed beyond this changes no answer.
const OUTPUT_MAX = 64 * 1024

/** Asks the program; resolves to the text to show, or "" where there is none. Never rejects. */
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
  const waiting = new Map() // Session id -> what is to stand in its next system prompt.
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
    // OpenCode leaves, and waits for this: it has no event for the end of a session but that it is deleted.
    dispose: async () => { await Promise.all([...begun].map(end)) },
    event: async ({ event }) => {
      if (event.type === "session.deleted") await end(event.properties?.info?.id ?? event.properties?.sessionID)
    },
    "chat.message": async (input, output) => {
      const session_id = input.sessionID
      // A system prompt of ours is gone when OpenCode starts again, whatever the session was told before.
      if (!begun.has(session_id)) await begin(session_id, "clear")
      const prompt = text(output.parts)
      await add(session_id, await ask("UserPromptSubmit", { session_id, cwd: directory, prompt }))
    },
    // Kept for the session: a system prompt that changes is read anew by the model each time.
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
