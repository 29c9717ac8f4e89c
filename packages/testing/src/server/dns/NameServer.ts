/**
 * A name server for tests that holds one zone in memory: it takes signed updates, answers questions, and can be set to
 * refuse, to be slow to show what it took, or to be silent. It reads the bytes by its own rules, not by the codec.
 */
import { Context, Effect, Layer } from "effect"
import { createHmac } from "node:crypto"
import { createSocket } from "node:dgram"

export const secret = Buffer.alloc(32, 7)
export const keyName = "catenet-test"
const keyWire = Buffer.concat([Buffer.from([keyName.length]), Buffer.from(keyName), Buffer.from([0])])
const algorithmWire = Buffer.from("0b686d61632d73686132353600", "hex")

const nameAt = (bytes: Buffer, from: number) => {
  const labels: Array<string> = []
  let at = from
  while (bytes[at] !== 0) {
    labels.push(bytes.toString("latin1", at + 1, at + 1 + bytes[at]!))
    at += 1 + bytes[at]!
  }
  return { name: labels.join("."), end: at + 1 }
}

const hmac = (...parts: ReadonlyArray<Uint8Array>) => createHmac("sha256", secret).update(Buffer.concat(parts)).digest()

/** The signature is the last record, of a length that is known. */
const opened = (bytes: Buffer) => {
  const length = keyWire.length + 10 + algorithmWire.length + 10 + 32 + 6
  const start = bytes.length - length
  const data = start + keyWire.length + 10 + algorithmWire.length
  const timers = bytes.subarray(data, data + 8)
  const mac = bytes.subarray(data + 10, data + 42)
  const unsigned = Buffer.from(bytes.subarray(0, start))
  unsigned.writeUInt16BE(0, 10)
  const variables = [keyWire, Buffer.from("00ff00000000", "hex"), algorithmWire, timers, Buffer.alloc(4)]
  return { unsigned, mac, timers, isGood: hmac(unsigned, ...variables).equals(mac) }
}

const signed = (answer: Buffer, requestMac: Buffer, timers: Buffer) => {
  const variables = [keyWire, Buffer.from("00ff00000000", "hex"), algorithmWire, timers, Buffer.alloc(4)]
  const mac = hmac(Buffer.from([0, 32]), requestMac, answer, ...variables)
  const data = Buffer.concat([algorithmWire, timers, Buffer.from([0, 32]), mac, answer.subarray(0, 2), Buffer.alloc(4)])
  const whole = Buffer.concat([
    answer,
    keyWire,
    Buffer.from("00fa00ff00000000", "hex"),
    Buffer.from([0, data.length]),
    data
  ])
  whole.writeUInt16BE(1, 10)
  return whole
}

export class NameServer extends Context.Service<
  NameServer,
  {
    readonly port: number
    /** The texts in the zone. */
    readonly texts: Map<string, string>
    /** The addresses in the zone as hex, by name and type. */
    readonly addresses: Map<string, ReadonlyArray<string>>
    /** `hidden`: takes updates and does not show them. */
    readonly behave: (how: "well" | "refusing" | "hidden" | "silent" | "unsigned") => Effect.Effect<void>
  }
>()("test/NameServer") {
  static readonly layer = Layer.effect(
    NameServer,
    Effect.gen(function* () {
      const texts = new Map<string, string>()
      const addresses = new Map<string, ReadonlyArray<string>>()
      let how = "well"
      const socket = createSocket("udp4")
      const head = (bytes: Buffer, flags: number, counts: ReadonlyArray<number>) => {
        const out = Buffer.alloc(12)
        bytes.copy(out, 0, 0, 2)
        out.writeUInt16BE(flags, 2)
        counts.forEach((count, n) => out.writeUInt16BE(count, 4 + 2 * n))
        return out
      }

      const updated = (bytes: Buffer) => {
        const { isGood, mac, timers, unsigned } = opened(bytes)
        if (!isGood || how === "refusing") return head(bytes, 0xa800 | 9, [0, 0, 0, 0])
        const zone = nameAt(unsigned, 12)
        const emptied = nameAt(unsigned, zone.end + 4)
        const type = unsigned.readUInt16BE(emptied.end)
        const data: Array<Buffer> = []
        for (let at = emptied.end + 10, left = unsigned.readUInt16BE(8) - 1; left > 0; left--) {
          const start = nameAt(unsigned, at).end + 10
          at = start + unsigned.readUInt16BE(start - 2)
          data.push(unsigned.subarray(start, at))
        }
        if (type === 16) {
          texts.delete(emptied.name)
          for (const text of data) texts.set(emptied.name, text.toString("latin1", 1))
        } else {
          const key = `${emptied.name} ${type === 1 ? "A" : "AAAA"}`
          addresses.delete(key)
          if (data.length > 0)
            addresses.set(
              key,
              data.map((each) => each.toString("hex"))
            )
        }
        const answer = head(bytes, 0xa800, [0, 0, 0, 0])
        return how === "unsigned" ? answer : signed(answer, mac, timers)
      }

      const asked = (bytes: Buffer) => {
        const { end, name } = nameAt(bytes, 12)
        const question = bytes.subarray(12, end + 4)
        const text = how === "hidden" ? undefined : texts.get(name)
        if (text === undefined) return Buffer.concat([head(bytes, 0x8403, [1, 0, 0, 0]), question])
        const data = Buffer.concat([Buffer.from([text.length]), Buffer.from(text, "latin1")])
        const record = Buffer.concat([Buffer.from("c00c001000010000003c", "hex"), Buffer.from([0, data.length]), data])
        return Buffer.concat([head(bytes, 0x8400, [1, 1, 0, 0]), question, record])
      }

      socket.on("message", (bytes, from) => {
        if (how === "silent") return
        socket.send((bytes[2]! & 0x78) === 0x28 ? updated(bytes) : asked(bytes), from.port, from.address)
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void socket.bind(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => socket.close())
      )
      return { port: socket.address().port, texts, addresses, behave: (next) => Effect.sync(() => void (how = next)) }
    })
  )
}
