/** TLS-ALPN-01 (RFC 8737) from a certificate authority's connection to the front door through a real edge and a real agent. */
import { mintRoot, pem } from "@catenet/crypto/x509/Certificate"
import { start, token } from "@catenet/testing/edge/TestEdge"
import { serving } from "@catenet/testing/stack/agent/Serving"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { generateKeyPairSync } from "node:crypto"
import { connect, type TLSSocket } from "node:tls"
import * as Challenges from "../../src/certificate/Challenges.ts"

const host = "app.zone.test"

/** Any certificate will do: what the authority reads in it is not the edge's and not the agent's business. */
const challenge = () => {
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  const certificate = pem(mintRoot("challenge", key, { from: Date.now() - 60_000, until: Date.now() + 60_000 }))
  return { certificate, key: key.export({ format: "pem", type: "pkcs8" }).toString() }
}

const validate = (port: number, alpn: string) =>
  Effect.promise(
    () =>
      new Promise<string>((resolve) => {
        const socket: TLSSocket = connect(
          { port, host: "127.0.0.1", servername: host, ALPNProtocols: [alpn], rejectUnauthorized: false },
          () => {
            resolve(`${String(socket.alpnProtocol)} ${socket.getPeerCertificate().subject.CN}`)
            socket.destroy()
          }
        )
        socket.on("error", (error) => resolve(error.message))
      })
  )

for (const tier of ["gelb", "passthrough"] as const)
  it.live(`a ${tier} host is validated while a challenge is pending, and refused by an alert before and after`, () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(token("1"), host, tier === "gelb" ? tier : undefined))
      const agent = yield* serving(world, token("1"), host)
      assert.include(yield* validate(world.frontDoor, "acme-tls/1"), "no application protocol")
      yield* Effect.scoped(
        Effect.andThen(
          Challenges.offer(agent.stateDir, host, challenge()),
          Effect.map(validate(world.frontDoor, "acme-tls/1"), (seen) =>
            assert.strictEqual(seen, "acme-tls/1 challenge")
          )
        )
      ).pipe(Effect.provide(NodeFileSystem.layer))
      assert.include(yield* validate(world.frontDoor, "acme-tls/1"), "no application protocol")
    }).pipe(Effect.scoped)
  )
