/** The relayed sessions of members, which can be ended by channel, by member or by time. */
import type { SpliceCounters } from "@catenet/wire/transport/Splice"
import type { Counters } from "../observe/Counters.ts"
import type { Member } from "./Member.ts"

/** Counts the bytes of a session while they flow. */
export class ChannelMeter implements SpliceCounters {
  readonly #counters: Pick<Counters["Service"], "channelRelayBytes">
  #toB = 0
  #toA = 0

  constructor(counters: Pick<Counters["Service"], "channelRelayBytes">) {
    this.#counters = counters
  }

  get aToB() {
    return this.#toB
  }

  set aToB(bytes: number) {
    this.#counters.channelRelayBytes += bytes - this.#toB
    this.#toB = bytes
  }

  get bToA() {
    return this.#toA
  }

  set bToA(bytes: number) {
    this.#counters.channelRelayBytes += bytes - this.#toA
    this.#toA = bytes
  }
}

type Members = readonly [Member, Member] | readonly [Member]

export interface ChannelSession {
  readonly channel: string
  /** Both members, or the one with a relay node. */
  readonly members: Members
  readonly controller: AbortController
}

export class ChannelSessions {
  readonly #live = new Map<string, Set<ChannelSession>>()

  open(members: Members): ChannelSession {
    const { channel } = members[0]
    const session = { channel, members, controller: new AbortController() }
    this.#live.set(channel, (this.#live.get(channel) ?? new Set()).add(session))
    return session
  }

  close(session: ChannelSession): void {
    const ofChannel = this.#live.get(session.channel)
    ofChannel?.delete(session)
    if (ofChannel?.size === 0) this.#live.delete(session.channel)
  }

  /** The sessions of a channel, or all. */
  all(channel?: string): ReadonlyArray<ChannelSession> {
    if (channel !== undefined) return Array.from(this.#live.get(channel) ?? [])
    return Array.from(this.#live.values()).flatMap((sessions) => Array.from(sessions))
  }
}
