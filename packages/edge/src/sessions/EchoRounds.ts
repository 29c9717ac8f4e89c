/**
 * Schedules echoes about origins: asks one agent of a tunnel after the other until one reaches its origin. Uses callbacks and one
 * sweep over all tunnels, because a timer or fiber per tunnel would be the main cost.
 */
import type { Sight } from "@catenet/domain/tunnels/Reachability"
import { Count } from "@catenet/domain/values/Numbers"
import type { OriginEcho, OriginVerdict } from "@catenet/wire/frames/MuxEcho"
import type { MuxAgent, AgentPool } from "./AgentPool.ts"

/** Interval between rounds of a tunnel, varied by a fifth to spread tunnels that connected together. */
const periodMillis = 15_000
/** Interval while it is down, so that its return is noticed soon. */
const downMillis = 5_000
/** Interval while it is watched, and how long one request counts as watching. */
const watchedMillis = 3_000
const watchMillis = 10_000
/** An agent gives its origin five seconds; an agent that does not answer in this time is silent itself. */
const patienceMillis = 8_000
/** Rounds started per sweep, and concurrent rounds, so that many returning agents are asked one after the other. */
const maxBegun = 500
const maxOpen = 2_000
/** Number of agents of one tunnel asked in a round. */
const maxAgents = 4

interface Round {
  agent: MuxAgent | undefined
  /** The agents to ask next. */
  readonly left: Array<MuxAgent>
  best: Sight
  askedAt: number
}

interface Entry {
  dueAt: number
  watchedUntil: number
  lastAt: number
  round: Round | undefined
}

interface Surroundings {
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Guards callbacks of promises. */
  readonly guarded: (act: (echo: OriginEcho | undefined) => void) => (echo: OriginEcho | undefined) => void
  readonly answered: (verdict: OriginVerdict | "silence") => void
  readonly found: (tunnel: AgentPool, sight: Sight) => void
}

const connected: Sight = { _tag: "Connected" }
const silent: Sight = { _tag: "AgentSilent" }

const ranks = ["Echoed", "Connected", "OriginSilent", "AgentSilent"]
const better = (one: Sight, other: Sight) => (ranks.indexOf(one._tag) <= ranks.indexOf(other._tag) ? one : other)

/** The state of a tunnel by an agent's answer. */
const sightOf = ({ keyExchange, origin, status, verdict }: OriginEcho): Sight => {
  const said = { origin: origin ?? null, ...(keyExchange !== undefined && { key_exchange: keyExchange }) }
  if (verdict === "up") return { _tag: "Echoed", ...said }
  if (verdict === "unasked" || verdict === "unknown") return connected
  return {
    _tag: "OriginSilent",
    ...said,
    fault: verdict,
    http_status: status === undefined ? null : Count.make(status)
  }
}

/** One link per running agent, which may be connected to several processes: owners first, then links of this process. */
const askable = ({ muxes }: AgentPool): Array<MuxAgent> => {
  const found = new Map<unknown, MuxAgent>()
  const inOrder = Array.from(muxes).toSorted(
    (a, b) => Number(b.owner) - Number(a.owner) || Number(a.sibling !== undefined) - Number(b.sibling !== undefined)
  )
  for (const agent of inOrder)
    if (agent.answersEchoes && agent.sibling !== "slots" && !found.has(agent.instance ?? agent))
      found.set(agent.instance ?? agent, agent)
  return Array.from(found.values()).slice(0, maxAgents)
}

/** Whether it is also served by an agent whose origin is unknown. */
const hasUnasked = ({ muxes, parked, carrying }: AgentPool) => {
  if (parked + carrying > 0) return true
  for (const { answersEchoes } of muxes) if (!answersEchoes) return true
  return false
}

/** The tunnel's phase in the period, from 0 to 1, always the same. */
const phaseOf = ({ visitorToken }: AgentPool) => Number.parseInt(visitorToken.slice(-8), 16) / 0x1_0000_0000

export class EchoRounds {
  readonly #around: Surroundings
  readonly #entries = new WeakMap<AgentPool, Entry>()
  #open = 0

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** An agent has arrived: the tunnel is asked at once, or queued if many have arrived. */
  begin(tunnel: AgentPool): void {
    const entry = this.#entryOf(tunnel)
    entry.dueAt = this.#around.now()
    if (entry.round === undefined && this.#open < maxBegun) this.#start(tunnel, entry)
  }

  /** The last agent has left. */
  end(tunnel: AgentPool): void {
    const entry = this.#entries.get(tunnel)
    if (entry?.round !== undefined) this.#close(entry)
  }

  watch(tunnel: AgentPool): void {
    const now = this.#around.now()
    const entry = this.#entryOf(tunnel)
    entry.watchedUntil = now + watchMillis
    entry.dueAt = Math.min(entry.dueAt, entry.lastAt + watchedMillis)
    if (entry.round === undefined && entry.dueAt <= now && this.#open < maxOpen) this.#start(tunnel, entry)
  }

  sweep(tunnels: Iterable<AgentPool>): void {
    const now = this.#around.now()
    let begun = 0
    for (const tunnel of tunnels) {
      if (!tunnel.connected) continue
      const entry = this.#entryOf(tunnel)
      if (entry.round !== undefined) {
        // An agent that has withdrawn need not answer.
        if (entry.round.agent === undefined || !tunnel.muxes.has(entry.round.agent)) this.#again(tunnel, entry)
        else if (now - entry.round.askedAt >= patienceMillis) this.#proceed(tunnel, entry, entry.round, undefined)
      } else if (entry.dueAt <= now && begun < maxBegun && this.#open < maxOpen) {
        begun += 1
        this.#start(tunnel, entry)
      }
    }
  }

  #entryOf(tunnel: AgentPool): Entry {
    const known = this.#entries.get(tunnel)
    if (known !== undefined) return known
    const entry: Entry = { dueAt: this.#around.now(), watchedUntil: 0, lastAt: 0, round: undefined }
    this.#entries.set(tunnel, entry)
    return entry
  }

  #start(tunnel: AgentPool, entry: Entry): void {
    const left = askable(tunnel)
    const now = this.#around.now()
    entry.lastAt = now
    if (left.length === 0) {
      entry.dueAt = now + periodMillis
      return this.#around.found(tunnel, connected)
    }
    const round: Round = { agent: undefined, left, best: hasUnasked(tunnel) ? connected : silent, askedAt: now }
    entry.round = round
    this.#open += 1
    this.#ask(tunnel, entry, round)
  }

  #again(tunnel: AgentPool, entry: Entry): void {
    this.#close(entry)
    this.#start(tunnel, entry)
  }

  #ask(tunnel: AgentPool, entry: Entry, round: Round): void {
    const agent = round.left.shift()
    if (agent === undefined) return this.#finish(tunnel, entry, round.best)
    const askedAt = this.#around.now()
    round.askedAt = askedAt
    round.agent = agent
    const remaining = round.left.length
    const answer = this.#around.guarded((echo) => {
      // Too late: the next agent has been asked, or the round is over.
      if (entry.round !== round || round.left.length !== remaining) return
      this.#proceed(tunnel, entry, round, echo)
    })
    void agent.session.echo(agent.id).then(answer)
  }

  #proceed(tunnel: AgentPool, entry: Entry, round: Round, echo: OriginEcho | undefined): void {
    this.#around.answered(echo?.verdict ?? "silence")
    const sight = echo === undefined ? silent : sightOf(echo)
    round.best = better(sight, round.best)
    if (sight._tag === "Echoed") this.#finish(tunnel, entry, sight)
    else this.#ask(tunnel, entry, round)
  }

  #finish(tunnel: AgentPool, entry: Entry, sight: Sight): void {
    this.#close(entry)
    const now = this.#around.now()
    const isUp = sight._tag === "Echoed" || sight._tag === "Connected"
    const period = now < entry.watchedUntil ? watchedMillis : isUp ? periodMillis : downMillis
    entry.dueAt = now + period * (0.8 + 0.4 * phaseOf(tunnel))
    this.#around.found(tunnel, sight)
  }

  #close(entry: Entry): void {
    entry.round = undefined
    this.#open -= 1
  }
}
