/**
 * The metrics of an agent with many services, as the endpoints and the status line read them: sums, and the state of the service
 * that is worst off.
 */
import { Effect, Layer } from "effect"
import { AgentMetrics, type ServiceFacts, type Session, type Traffic } from "../observe/AgentMetrics.ts"

type Metrics = AgentMetrics["Service"]

const sum = (numbers: Iterable<number | undefined>) => {
  let total = 0
  for (const one of numbers) total += one ?? 0
  return total
}

/** Those that are to be served: a service that is left behind is another one's past. */
const current = (facts: ReadonlyArray<ServiceFacts>) => facts.filter(({ state }) => state !== "leaving")

const together = (own: Metrics): Metrics => {
  own.services.read = () => []
  const facts = () => own.services.read?.() ?? []
  const all = () => facts().map(({ metrics }) => metrics)
  const sessions = () => current(facts()).map(({ metrics }) => metrics.session)
  const some = <A>(of: (session: Session) => A | undefined): A | undefined => {
    for (const session of sessions()) {
      const value = of(session)
      if (value !== undefined) return value
    }
    return undefined
  }
  const least = <A>(of: (session: Session) => A | undefined) => (isUp() ? some(of) : undefined)
  /** Whether every service is registered. */
  const isUp = () => {
    const served = sessions()
    return served.length > 0 && served.every(({ live }) => live > 0)
  }
  const session: Session = {
    id: own.session.id,
    startedAt: own.session.startedAt,
    get conn() {
      return some(({ conn }) => conn)
    },
    get transport() {
      return some(({ transport }) => (transport === "none" ? undefined : transport)) ?? "none"
    },
    get carrier() {
      return some(({ carrier }) => carrier)
    },
    get live() {
      return isUp() ? sum(sessions().map(({ live }) => live)) : 0
    },
    get registeredSince() {
      return least(({ registeredSince }) => registeredSince)
    },
    get lastSeen() {
      return sessions().reduce<number | undefined>(
        (latest, { lastSeen }) => Math.max(latest ?? 0, lastSeen ?? 0) || undefined,
        undefined
      )
    },
    get refusals() {
      return sum(sessions().map(({ refusals }) => refusals))
    },
    get lastError() {
      const down = current(facts()).find(({ metrics, reason }) => reason !== undefined || metrics.session.live === 0)
      const why = down?.reason ?? down?.metrics.session.lastError
      return down === undefined || why === undefined ? some(({ lastError }) => lastError) : `${down.name}: ${why}`
    }
  }
  const added = (of: (metrics: Metrics) => Readonly<Traffic>): Traffic => {
    const total = { ...of(own) }
    for (const metrics of all())
      for (const [key, value] of Object.entries(of(metrics)) as Array<[keyof Traffic, number]>) total[key] += value
    return total
  }
  return {
    ...own,
    session,
    get traffic() {
      return added(({ traffic }) => traffic)
    },
    requests: {
      get count() {
        return sum(all().map(({ requests }) => requests.count))
      }
    },
    total: () => added((metrics) => metrics.total()),
    tasksLive: () => sum(all().map((metrics) => metrics.tasksLive())),
    faults: () => own.faults() + sum(all().map((metrics) => metrics.faults()))
  }
}

export const layer = Layer.effect(AgentMetrics, Effect.map(AgentMetrics.make, together))
