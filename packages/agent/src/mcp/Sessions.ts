/**
 * The sessions of an endpoint. Callers share a bounded number of places: when all are taken, the caller that would hold the most gives
 * one up. A session without a connection ends after a while, and with it its server, unless several share one.
 */
import { Entropy } from "@catenet/platform/Entropy"
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { Scheduler } from "@catenet/platform/Scheduler"
import type { Caller } from "./Callers.ts"
import { EndpointSession } from "./EndpointSession.ts"
import type { ServerProcess } from "./ServerProcess.ts"

/** Sessions, each of which may have a process of its own. */
export const maxEndpointSessions = 64
/** A session that has no connection and asks nothing for so long ends. */
const idleMillis = 900_000
/** How often open streams get a comment, so that nothing on the way takes them for dead. */
export const beatMillis = 15_000

export interface Launched {
  readonly server: ServerProcess
  readonly close: () => void
}

/** `initialize` opens a session with an id; since 2026-07-28 requests have none, so those of one caller share a server. */
export type Kind = "session" | "requests"

/** Starts a server for a session, for the requests of one caller, or for all. */
export type Launch = (use: Kind | "shared") => Promise<Launched>

export class Sessions {
  readonly #launch: Launch
  readonly #isShared: boolean
  readonly #idle: number
  readonly #places = new FairPlaces(maxEndpointSessions)
  readonly #byId = new Map<string, EndpointSession>()
  /** By the caller, for requests without sessions. */
  readonly #ofRequests = new Map<string, Promise<EndpointSession | undefined>>()
  #shared: Promise<Launched> | undefined
  readonly #timer: NodeJS.Timeout

  constructor(launch: Launch, isShared: boolean, idle = idleMillis) {
    this.#launch = launch
    this.#isShared = isShared
    this.#idle = idle
    this.#timer = Scheduler.setInterval(() => this.#tend(), beatMillis)
  }

  get size(): number {
    return this.#byId.size
  }

  /** The session with this id, if it is the caller's. */
  get(id: string, { key }: Caller): EndpointSession | undefined {
    const session = this.#byId.get(id)
    if (session === undefined || session.caller.key !== key || session.isOver) return undefined
    session.usedAt = Scheduler.monotonicMillis()
    return session
  }

  /** Undefined where the caller holds the most places already. */
  async open(caller: Caller, kind: Kind = "session"): Promise<EndpointSession | undefined> {
    const id = Entropy.randomBytes(24).toString("base64url")
    const holder = {
      isIdle: () => this.#byId.get(id)?.isIdle ?? false,
      evict: () => {
        isEvicted = true
        this.#byId.get(id)?.close()
      }
    }
    let isEvicted = false
    const leave = this.#places.take(caller.key, holder)
    if (leave === undefined) return undefined
    const launched = await this.#server(kind).catch((cause: unknown) => {
      leave()
      throw cause
    })
    const session = new EndpointSession(id, caller, launched.server, Scheduler.monotonicMillis(), () => {
      leave()
      this.#byId.delete(id)
      if (kind === "requests") this.#ofRequests.delete(caller.key)
      launched.close()
    })
    this.#byId.set(id, session)
    if (isEvicted) session.close()
    return isEvicted ? undefined : session
  }

  /** What serves the caller's requests that belong to no session. */
  ofRequests(caller: Caller): Promise<EndpointSession | undefined> {
    const { key } = caller
    const before = this.#ofRequests.get(key) ?? Promise.resolve(undefined)
    const usable = before
      .catch(() => undefined)
      .then((session) => (session === undefined || session.isOver ? this.open(caller, "requests") : session))
    this.#ofRequests.set(key, usable)
    const forget = () => {
      if (this.#ofRequests.get(key) === usable) this.#ofRequests.delete(key)
    }
    usable.then((session) => {
      if (session === undefined) forget()
      else session.usedAt = Scheduler.monotonicMillis()
    }, forget)
    return usable
  }

  close(): void {
    Scheduler.clearInterval(this.#timer)
    for (const session of this.#byId.values()) session.close()
    void this.#shared?.then(({ close }) => close()).catch(() => undefined)
  }

  async #server(kind: Kind): Promise<Launched> {
    if (!this.#isShared) return this.#launch(kind)
    const before = this.#shared ?? Promise.resolve(undefined)
    const usable = before
      .catch(() => undefined)
      .then((known) => (known === undefined || known.server.end !== undefined ? this.#launch("shared") : known))
    this.#shared = usable
    const { server } = await usable
    return { server, close: () => undefined }
  }

  #tend() {
    const now = Scheduler.monotonicMillis()
    for (const session of this.#byId.values()) {
      session.beat()
      if (session.isUsed) session.usedAt = now
      if (session.isOver || now - session.usedAt > this.#idle) session.close()
    }
  }
}
