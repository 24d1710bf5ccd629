// Hands opencode's calls and questions to the gate service of Interlock on this machine, and its answers back.
// A call that the service denies is not run, and the model reads why. What the service leaves open is opencode's own to ask.
// If the service is gone, calls that opencode asks about are asked in its own prompt; the others are not run.
import { spawn } from "node:child_process"

const SOCKET = @SOCKET@
const START = @START@
const STARTING_MS = 8000

async function post(body) {
  const response = await fetch("http://gate/opencode", {
    unix: SOCKET,
    method: "POST",
    headers: { "content-type": "application/json", "x-interlock-agent-pid": String(process.pid) },
    body: JSON.stringify(body),
    timeout: false,
    keepalive: false,
  })
  if (!response.ok) throw new Error(`the gate service answered with ${response.status}`)
  return await response.json()
}

let starting = null

// the service says with its exit that it listens, or that another one does
function started() {
  starting ??= new Promise((resolve) => {
    const { INTERLOCK_AGENT, INTERLOCK_CALL, ...env } = process.env
    const child = spawn(START[0], START.slice(1), { detached: true, stdio: "ignore", env })
    const over = () => resolve(undefined)
    child.on("exit", over)
    child.on("error", over)
    child.unref()
    setTimeout(over, STARTING_MS)
  }).finally(() => setTimeout(() => (starting = null), STARTING_MS))
  return starting
}

const LOST = "Interlock: its gate service did not answer, so this call was not run. Trying it once more may help; " +
  'for the person: "interlock doctor opencode" tells what is wrong, "interlock disconnect opencode" takes the gate away.'
const NOT_THERE = ["ENOENT", "ECONNREFUSED", "ConnectionRefused", "FailedToOpenSocket"]

// `lost`: the answer to a call that must not run when the service is lost. It is not put again when it was held: with nobody
// there to hold it a second time it would run
async function told(body, lost) {
  try {
    return await post(body)
  } catch (error) {
    if (lost && !NOT_THERE.includes(error?.code)) return lost
  }
  try {
    await started()
    return await post(body)
  } catch {
    return lost ?? {}
  }
}

// whether opencode's own settings make it ask before this tool; what cannot be seen counts as asking
function asks(permission, tool) {
  if (typeof permission === "string") return permission === "ask"
  if (permission === null || typeof permission !== "object") return false
  const name = ["write", "patch", "multiedit", "apply_patch"].includes(tool) ? "edit" : tool
  const rule = permission[name] ?? permission["*"]
  if (typeof rule === "string") return rule === "ask"
  return rule !== null && typeof rule === "object" && Object.values(rule).includes("ask")
}

export const InterlockGate = async ({ client, directory, worktree }) => {
  let permission = {}
  const running = new Set()
  const base = { directory, worktree, pid: process.pid, headless: process.argv.includes("run") }
  // a session that `interlock opencode` watches over its own connection is asked about there
  const attached = Boolean(process.env.INTERLOCK_ATTACHED)

  const reply = async (asked, answer) => {
    const body = { reply: answer.reply, ...(answer.message ? { message: answer.message } : {}) }
    const request = { path: { requestID: asked.id }, query: { directory }, body }
    if (client.permission?.reply) await client.permission.reply({ requestID: asked.id, directory, ...body })
    else await client._client.post({ url: "/permission/{requestID}/reply", ...request })
  }

  // opencode's own record of a call that is over
  const part = (one) => {
    const state = one.type === "tool" ? one.state : undefined
    if (!state || !["completed", "error"].includes(state.status) || !running.delete(one.callID)) return
    told({
      ...base,
      event: "tool.part",
      sessionID: one.sessionID,
      callID: one.callID,
      status: state.status,
      error: state.error,
      exit: state.metadata?.exit,
      durationMs: state.time?.end - state.time?.start,
      bytes: typeof state.output === "string" ? state.output.length : 0,
    })
  }

  return {
    config: async (config) => {
      permission = config.permission ?? {}
    },
    event: async ({ event }) => {
      if (event.type === "permission.asked" && !attached) {
        // not awaited: opencode's own prompt must not wait for it
        told({ ...base, event: event.type, properties: event.properties }).then(async (answer) => {
          if (answer.reply) await reply(event.properties, answer).catch(() => {})
        })
      } else if (event.type === "message.part.updated") {
        part(event.properties.part)
      } else if (["permission.replied", "session.idle", "session.deleted"].includes(event.type)) {
        told({ ...base, event: event.type, properties: event.properties })
      }
    },
    "tool.execute.before": async (input, output) => {
      running.add(input.callID)
      const asked = attached || asks(permission, input.tool)
      const call = { ...base, event: "tool.execute.before", tool: input.tool, args: output.args, asks: asked }
      const about = { sessionID: input.sessionID, callID: input.callID }
      const answer = await told({ ...call, ...about }, asked ? undefined : { decision: "deny", message: LOST })
      if (answer.decision === "deny") throw new Error(answer.message || "Denied by the person at Interlock. Nothing was run.")
    },
  }
}
