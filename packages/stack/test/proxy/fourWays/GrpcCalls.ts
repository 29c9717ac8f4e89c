/** A gRPC server, without TLS and with it, called by the client of the same project. */
import { mintPair } from "@catenet/testing/edge/TestEdge"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { once } from "node:events"
import { createRequire } from "node:module"
import { installGrpc } from "../../../../../scripts/install.mjs"
import * as Ways from "../Ways.ts"
import type { Path, Way } from "../Ways.ts"
import type { Call, ClientCall, Grpc } from "./GrpcTypes.ts"

installGrpc()
const grpc = createRequire(new URL("../../../../../tools/grpc/package.json", import.meta.url))("@grpc/grpc-js") as Grpc

const asIs = (bytes: Buffer) => bytes
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: `/catenet.test.Echo/${name}`,
  requestStream,
  responseStream,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs
})
const service = {
  Unary: method("Unary", false, false),
  Refuse: method("Refuse", false, false),
  Down: method("Down", false, true),
  Up: method("Up", true, false),
  Both: method("Both", true, true)
}

const schemes = { "grpc-h2c": "h2c://", "grpc-https": "https://" } as const

const serverOf = Effect.fnUntraced(function* (scheme: "h2c://" | "https://") {
  const pair = mintPair(["localhost"])
  const ends: Array<string> = []
  const server = new grpc.Server()
  server.addService(service, {
    Unary: (call: Call, answer: (error: unknown, value?: Buffer, trailer?: unknown) => void) => {
      const trailer = new grpc.Metadata()
      trailer.set("x-behind", String(call.metadata.get("x-forwarded-for")[0]))
      answer(null, call.request, trailer)
    },
    Refuse: (_call: Call, answer: (error: unknown) => void) => answer({ code: 7, details: "not for you" }),
    Down: (call: Call) => {
      for (let n = 0; n < 50; n++) call.write(Buffer.alloc(40_000, n))
      call.end()
    },
    Up: (call: Call, answer: (error: unknown, value?: Buffer) => void) => {
      let bytes = 0
      call.on("data", (chunk: Buffer) => void (bytes += chunk.length))
      call.on("end", () => answer(null, Buffer.from(String(bytes))))
      call.on("cancelled", () => ends.push("up cancelled"))
    },
    Both: (call: Call) => {
      call.on("data", (chunk: Buffer) => call.write(chunk))
      call.on("end", () => call.end())
      call.on("cancelled", () => ends.push("both cancelled"))
    }
  })
  const credentials =
    scheme === "h2c://"
      ? grpc.ServerCredentials.createInsecure()
      : grpc.ServerCredentials.createSsl(null, [
          { cert_chain: Buffer.from(pair.cert), private_key: Buffer.from(pair.key) }
        ])
  const port = yield* Effect.acquireRelease(
    Effect.callback<number, Error>((resume) =>
      server.bindAsync("127.0.0.1:0", credentials, (error, bound) =>
        resume(error === null ? Effect.succeed(bound) : Effect.fail(error))
      )
    ),
    () => Effect.sync(() => server.forceShutdown())
  )

  return { to: `${scheme}127.0.0.1:${port}`, options: scheme === "https://" ? ["insecure: true"] : [], ends }
})

/** A gRPC server without TLS, and one with it. */
export class GrpcServers extends Context.Service<
  GrpcServers,
  Record<keyof typeof schemes, Effect.Success<ReturnType<typeof serverOf>>>
>()("stack/test/proxy/fourWays/GrpcServers") {
  static readonly layer = Layer.effect(
    GrpcServers,
    Effect.all({ "grpc-h2c": serverOf("h2c://"), "grpc-https": serverOf("https://") })
  )
}

const clientOf = (way: Way) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const Client = grpc.makeGenericClientConstructor(service, "Echo")
      return new Client(`127.0.0.1:${way.port}`, grpc.credentials.createSsl(Buffer.from(way.ca)), {
        "grpc.ssl_target_name_override": way.host,
        "grpc.default_authority": way.host
      })
    }),
    (client) => Effect.sync(() => client.close())
  )

const collected = (call: ClientCall) =>
  Effect.promise(async () => {
    const chunks: Array<Buffer> = []
    call.on("data", (chunk: Buffer) => chunks.push(chunk))
    await once(call, "end")
    return chunks
  })

const callsOf = (name: keyof typeof schemes, path: Path) => ({
  "makes gRPC calls of all four kinds, with their trailers and refusals": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo(name, path)
    const client = yield* clientOf(way)
    const unary = yield* Effect.callback<readonly [Buffer, string]>((resume) => {
      let value: Buffer = Buffer.alloc(0)
      const call = client.Unary(Buffer.from("hello"), (error: Error | null, answer: Buffer) => {
        if (error !== null) resume(Effect.die(error))
        value = answer
      })
      call.on("status", ({ metadata }) => resume(Effect.succeed([value, String(metadata.get("x-behind")[0])])))
    })
    assert.deepStrictEqual([String(unary[0]), unary[1]], ["hello", "127.0.0.1"])
    const refused = yield* Effect.callback<{ readonly code: number; readonly details: string }>(
      (resume) => void client.Refuse(Buffer.alloc(0), (error) => resume(Effect.succeed(error as never)))
    )
    assert.deepInclude({ code: refused.code, details: refused.details }, { code: 7, details: "not for you" })
    const down = yield* collected(client.Down(Buffer.alloc(0)))
    assert.deepStrictEqual(
      down.map((chunk) => [chunk.length, chunk[0]]),
      Array.from({ length: 50 }, (_, n) => [40_000, n])
    )
    const up = yield* Effect.callback<string>((resume) => {
      const call = client.Up((error, answer) =>
        resume(error === null ? Effect.succeed(String(answer)) : Effect.die(error))
      )
      for (let n = 0; n < 50; n++) call.write(Buffer.alloc(40_000))
      call.end()
    })
    assert.strictEqual(up, "2000000")
  }),

  "gets the answer of a gRPC stream before it sends the next request of it": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo(name, path)
    const call = (yield* clientOf(way)).Both()
    for (let n = 0; n < 20; n++) {
      const answer = once(call, "data")
      call.write(Buffer.from(`turn ${n}`))
      const [said] = (yield* Effect.promise(() => answer)) as [Buffer]
      assert.strictEqual(String(said), `turn ${n}`)
    }
    call.end()
    call.resume()
    const [status] = (yield* Effect.promise(() => once(call, "status"))) as [{ readonly code: number }]
    assert.strictEqual(status.code, 0)
  }),

  "cancels a gRPC call, of which the server hears, and makes others": Effect.gen(function* () {
    const way = (yield* Ways.Services).wayTo(name, path)
    const { ends } = (yield* GrpcServers)[name]
    const client = yield* clientOf(way)
    const call = client.Both()
    call.on("error", () => undefined)
    const answer = once(call, "data")
    call.write(Buffer.from("first"))
    yield* Effect.promise(() => answer)
    call.cancel()
    yield* Effect.promise(() => Ways.eventually(() => ends.includes("both cancelled"), "the server hears of it"))
    ends.length = 0
    assert.lengthOf(yield* collected(client.Down(Buffer.alloc(0))), 50)
  })
})

export const cases = (path: Path) => {
  if (path.version === "1.1") return {}
  const named = (Object.keys(schemes) as ReadonlyArray<keyof typeof schemes>).flatMap((name) =>
    Object.entries(callsOf(name, path)).map(
      ([title, run]) => [`${title}, of a server at ${schemes[name]}`, run] as const
    )
  )
  return Object.fromEntries(named)
}
