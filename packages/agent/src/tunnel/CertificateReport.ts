/**
 * What this agent says of its certificate to the edges that it is registered at: with each registration as it is then, and once
 * to each whenever it changes. Edges of before do not hear it.
 */
import type { CertificateState } from "@catenet/wire/frames/MuxCertificate"
import { Effect } from "effect"

/** One registration. */
interface Listener {
  readonly heeds: boolean
  /** Resolves when the edge has read it, or is gone. */
  readonly say: (state: CertificateState) => Promise<unknown>
}

/** An edge that is slow to read keeps no order waiting for longer. */
const readMillis = 3_000

export class CertificateReport {
  readonly #listeners = new Set<Listener>()
  #state: CertificateState | undefined

  get state(): CertificateState | undefined {
    return this.#state
  }

  /** Whether every edge gives a validation to the agent with the open order. */
  get isHeeded(): boolean {
    for (const { heeds } of this.#listeners) if (!heeds) return false
    return this.#listeners.size > 0
  }

  /** `said` is what the registration was made with. Returns how to leave. */
  join(listener: Listener, state: CertificateState | undefined): () => void {
    this.#listeners.add(listener)
    if (this.#state !== undefined && this.#state !== state) void listener.say(this.#state)
    return () => void this.#listeners.delete(listener)
  }

  /** Says a state that is another one, and waits until the edges have read it. */
  report(state: CertificateState): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { certificate, order } = this.#state ?? {}
      if (certificate === state.certificate && order === state.order) return Effect.void
      this.#state = state
      const read = Effect.promise(() => Promise.all(Array.from(this.#listeners, ({ say }) => say(state))))
      return Effect.ignore(Effect.timeoutOption(read, readMillis))
    })
  }
}
