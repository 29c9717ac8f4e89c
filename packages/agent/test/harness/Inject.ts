/** Loaded before the agent: makes callbacks throw where bytes of a stream say so, or in a timer that belongs to no stream. */
import { MuxReader } from "@catenet/wire/transport/MuxReader"
import { MuxStream } from "@catenet/wire/transport/MuxStream"
import { Socket } from "node:net"

const failOn = (owner: object, method: string, mark: string) => {
  const original = Reflect.get(owner, method) as (...args: ReadonlyArray<unknown>) => unknown
  Object.defineProperty(owner, method, {
    configurable: true,
    writable: true,
    value: function (this: unknown, ...args: ReadonlyArray<unknown>) {
      const [chunk] = args
      if (chunk instanceof Uint8Array && Buffer.from(chunk).includes("fail in a timer"))
        setTimeout(() => {
          throw new Error("injected: a timer")
        }, 1)
      if (chunk instanceof Uint8Array && Buffer.from(chunk).includes(mark)) throw new Error(`injected: ${mark}`)
      return Reflect.apply(original, this, args)
    }
  })
}

failOn(MuxReader.prototype, "feed", "fail at the session")
failOn(Socket.prototype, "write", "fail at the client")
failOn(MuxStream.prototype, "write", "fail at the origin".toUpperCase())
