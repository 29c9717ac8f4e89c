/**
 * The public DNS for tests: an authoritative server for what a test publishes, over UDP on loopback. Names that end in
 * `.failing.test` are never answered well.
 */
import { Context, Effect, Layer } from "effect"
import { createSocket } from "node:dgram"

const types = { 5: "CNAME", 16: "TXT" } as const
type Type = (typeof types)[keyof typeof types]

const labelsOf = (bytes: Buffer) => {
  const labels: Array<string> = []
  let at = 12
  while (bytes[at] !== 0) {
    labels.push(bytes.toString("latin1", at + 1, at + 1 + bytes[at]!))
    at += 1 + bytes[at]!
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 }
}

const wire = (name: string) =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.alloc(1)
  ])

const dataOf = (type: Type, value: string) =>
  type === "CNAME" ? wire(value) : Buffer.concat([Buffer.from([value.length]), Buffer.from(value, "latin1")])

export class PublicDns extends Context.Service<
  PublicDns,
  {
    /** For CT_CP_DNS_RESOLVERS. */
    readonly address: string
    /** How many questions came. */
    readonly asked: () => number
    readonly publish: (type: Type, name: string, ...values: ReadonlyArray<string>) => Effect.Effect<void>
    readonly behave: (how: "well" | "failing" | "silent") => Effect.Effect<void>
  }
>()("test/PublicDns") {
  static readonly layer = Layer.effect(
    PublicDns,
    Effect.gen(function* () {
      const records = new Map<string, ReadonlyArray<string>>()
      let how = "well"
      let asked = 0
      const socket = createSocket("udp4")
      socket.on("message", (bytes, from) => {
        asked++
        if (how === "silent") return
        const { end, name } = labelsOf(bytes)
        const type = types[bytes.readUInt16BE(end) as keyof typeof types]
        const found = records.get(`${type} ${name}`) ?? []
        const isThere = [...records.keys()].some((key) => key.endsWith(` ${name}`))
        const fails = how === "failing" || name.endsWith(".failing.test")
        const head = Buffer.alloc(12)
        bytes.copy(head, 0, 0, 2)
        head.writeUInt16BE(0x8580 | (fails ? 2 : isThere ? 0 : 3), 2)
        head.writeUInt16BE(1, 4)
        const answers = fails ? [] : found.map((value) => dataOf(type, value))
        head.writeUInt16BE(answers.length, 6)
        const kind = bytes.subarray(end, end + 4)
        const written = answers.map((data) =>
          Buffer.concat([Buffer.from("c00c", "hex"), kind, Buffer.from([0, 0, 0, 60, 0, data.length]), data])
        )
        socket.send(Buffer.concat([head, bytes.subarray(12, end + 4), ...written]), from.port, from.address)
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void socket.bind(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => socket.close())
      )
      return {
        address: `127.0.0.1:${socket.address().port}`,
        asked: () => asked,
        publish: (type, name, ...values) =>
          Effect.sync(() => {
            if (values.length === 0) records.delete(`${type} ${name}`)
            else records.set(`${type} ${name}`, values)
          }),
        behave: (next) => Effect.sync(() => void (how = next))
      }
    })
  )
}
