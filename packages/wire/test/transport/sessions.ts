/** Sessions for tests: an agent and an edge that know each other already. */
import { assert } from "@effect/vitest"
import { Result } from "effect"
import type { Duplex } from "node:stream"
import type { OpenHeader } from "../../src/frames/MuxOpen.ts"
import { Mux } from "../../src/transport/Mux.ts"
import type { MuxOptions } from "../../src/transport/MuxOptions.ts"
import type { MuxStream } from "../../src/transport/MuxStream.ts"

export const header: OpenHeader = { registration: 1, kind: "visitor", tls: "passthrough", host: "demo.test" }

export interface Sessions {
  readonly agent: Mux
  readonly edge: Mux
  /** Opens a stream at the edge and waits for it at the agent. */
  readonly open: () => Promise<{ readonly near: MuxStream; readonly far: MuxStream }>
}

export const sessions = async (
  [a, b]: readonly [Duplex, Duplex],
  options: { readonly agent?: Partial<MuxOptions>; readonly edge?: Partial<MuxOptions> } = {}
): Promise<Sessions> => {
  const waiting: Array<(stream: MuxStream) => void> = []
  const agent = new Mux(a, {
    side: "dialler",
    keepAlive: false,
    onStream: (stream) => waiting.shift()!(stream),
    ...options.agent
  })
  const edge = new Mux(b, { side: "acceptor", challenge: Buffer.alloc(32, 1), keepAlive: false, ...options.edge })
  const ready = await Promise.all([agent.ready, edge.ready])
  assert.isTrue(ready.every(Result.isSuccess))
  const open = async () => {
    const { promise, resolve } = Promise.withResolvers<MuxStream>()
    waiting.push(resolve)
    const near = Result.getOrThrow(edge.open(header))
    return { near, far: await promise }
  }
  return { agent, edge, open }
}

/** Everything a stream delivers until its end. */
export const collect = async (stream: Duplex): Promise<Buffer> => {
  const pieces: Array<Buffer> = []
  for await (const piece of stream.iterator({ destroyOnReturn: false })) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Waits for an event that may come after an error, which `events.once` would reject with. */
export const occurs = (stream: Duplex, ...events: ReadonlyArray<string>): Promise<void> =>
  new Promise((resolve) => {
    if (events.includes("close") && stream.closed) resolve()
    for (const event of events) stream.once(event, () => resolve())
  })
