import { assert, it } from "@effect/vitest"
import { EventEmitter } from "node:events"
import * as ConnectionLimiter from "../../src/listen/ConnectionLimiter.ts"

const caps = {
  connections: 6,
  connectionsPerAddress: 4,
  connectionRatePerAddress: 0
}

/** A connection that closes when it is destroyed. */
const from = (remoteAddress: string) => {
  const emitter = new EventEmitter()
  return Object.assign(emitter, { remoteAddress, destroy: () => emitter.emit("close") })
}

it("at CT_EDGE_MAX_CONNECTIONS an address that holds fewer connections gets in, and the newest silent one of the address with the most is closed", () => {
  const limiter = ConnectionLimiter.make(caps, undefined)
  const closed: Array<number> = []
  const crowd = Array.from({ length: 4 }, (_, at) => {
    const connection = from("192.0.2.1")
    connection.once("close", () => closed.push(at))
    assert.isTrue(limiter.admit(connection, "front-door"))
    return connection
  })
  const [, , , newest] = crowd
  if (newest !== undefined) ConnectionLimiter.noteUse(newest)
  for (const address of ["192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"])
    assert.isTrue(limiter.admit(from(address), "front-door"), address)
  assert.deepStrictEqual(closed, [2, 1])
  assert.isFalse(limiter.admit(from("192.0.2.5"), "front-door"), "it would hold as many as any other")
  assert.deepStrictEqual(limiter.sheds.get("front-door"), { connections: 3, address: 0, descriptors: 0 })
  assert.strictEqual(limiter.open(), 6)
})

it("below the overall cap an address is refused at CT_EDGE_MAX_CONNECTIONS_PER_IP", () => {
  const limiter = ConnectionLimiter.make(caps, undefined)
  for (let at = 0; at < 4; at++) assert.isTrue(limiter.admit(from("192.0.2.1"), "front-door"))
  assert.isFalse(limiter.admit(from("192.0.2.1"), "front-door"))
  assert.deepStrictEqual(limiter.sheds.get("front-door"), { connections: 0, address: 1, descriptors: 0 })
})
