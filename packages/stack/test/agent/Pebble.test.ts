/**
 * A real ACME server validates a host through a real edge and a real agent. Needs `pebble` and `pebble-challtestsrv`, which npm
 * does not bring: CT_PEBBLE names the folder that holds both.
 */
import * as Challenges from "@catenet/agent/certificate/Challenges"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { calculateJwkThumbprint, exportJWK, FlattenedSign, generateKeyPair } from "jose"
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { request } from "node:https"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { makeAuthority } from "../../../agent/test/harness/Authority.ts"
import { eventually, start, temporaryFolder, token } from "../../../edge/test/harness/TestEdge.ts"
import { freePort } from "../../src/Ports.ts"
import { serving } from "./Serving.ts"

const programs = process.env["CT_PEBBLE"]
const host = "app.zone.test"
const authority = makeAuthority()

const running = (program: string, args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(join(programs ?? "", program), args, {
        env: { PEBBLE_VA_NOSLEEP: "1", PEBBLE_AUTHZREUSE: "0" },
        stdio: "ignore"
      })
    ),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )

interface Answer {
  readonly status: number
  readonly nonce: string
  readonly location: string
  readonly body: any
}

const call = (url: string, method: string, body?: string) =>
  new Promise<Answer>((resolve, reject) => {
    const headers = { "content-type": "application/jose+json" }
    const sent = request(url, { method, ca: authority.pem, headers, agent: false }, async (response) => {
      const content = await text(response)
      resolve({
        status: response.statusCode ?? 0,
        nonce: String(response.headers["replay-nonce"]),
        location: String(response.headers.location),
        body: content.startsWith("{") ? JSON.parse(content) : content
      })
    })
    sent.on("error", reject).end(body)
  })

/** An account at the server; `post` signs with its key. */
const account = async (directory: string) => {
  const { newNonce, newAccount, newOrder } = (await call(directory, "GET")).body
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true })
  const jwk = await exportJWK(publicKey)
  let { nonce } = await call(newNonce, "HEAD")
  let kid: string | undefined
  const post = async (url: string, payload?: unknown): Promise<Answer> => {
    const signed = await new FlattenedSign(Buffer.from(payload === undefined ? "" : JSON.stringify(payload)))
      .setProtectedHeader({ alg: "ES256", nonce, url, ...(kid === undefined ? { jwk } : { kid }) })
      .sign(privateKey)
    const answer = await call(url, "POST", JSON.stringify(signed))
    nonce = answer.nonce
    return answer.body?.type?.endsWith(":badNonce") === true ? post(url, payload) : answer
  }
  kid = (await post(newAccount, { termsOfServiceAgreed: true })).location
  return { post, newOrder, thumbprint: await calculateJwkThumbprint(jwk) }
}

if (programs === undefined)
  process.stderr.write("SKIPPED: no ACME server validates a host; set CT_PEBBLE to a folder with pebble\n")

it.live.skipIf(programs === undefined)("pebble validates a host by TLS-ALPN-01", () =>
  Effect.gen(function* () {
    const world = yield* start()
    yield* Effect.promise(() => world.authorize(token("1"), host, "gelb"))
    const agent = yield* serving(world, token("1"), host)
    const folder = yield* temporaryFolder
    const [port, management, dns, dnsManagement] = yield* Effect.replicateEffect(freePort("127.0.0.1"), 4)
    const { cert, key } = authority.leaf("localhost")
    const file = (name: string, content: string) => {
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    }
    const config = {
      pebble: {
        listenAddress: `127.0.0.1:${port}`,
        managementListenAddress: `127.0.0.1:${management}`,
        certificate: file("cert.pem", cert),
        privateKey: file("key.pem", key),
        httpPort: 1,
        tlsPort: world.frontDoor
      }
    }
    yield* running("pebble-challtestsrv", [
      `-dns01=127.0.0.1:${dns}`,
      `-management=127.0.0.1:${dnsManagement}`,
      "-http01=",
      "-https01=",
      "-tlsalpn01=",
      "-defaultIPv6=",
      "-defaultIPv4=127.0.0.1"
    ])
    const described = file("pebble.json", JSON.stringify(config))
    yield* running("pebble", ["-config", described, "-dnsserver", `127.0.0.1:${dns}`, "-strict"])
    const directory = `https://localhost:${port}/dir`
    yield* Effect.promise(() =>
      eventually(
        () =>
          call(directory, "GET").then(
            () => true,
            () => false
          ),
        "pebble answers",
        10_000
      )
    )
    const acme = yield* Effect.promise(() => account(directory))

    /** The end of one authorization. */
    const validated = (answered: boolean) =>
      Effect.gen(function* () {
        const order = yield* Effect.promise(() =>
          acme.post(acme.newOrder, { identifiers: [{ type: "dns", value: host }] })
        )
        const url: string = order.body.authorizations[0]
        const { challenges } = (yield* Effect.promise(() => acme.post(url))).body
        const challenge = challenges.find(({ type }: { type: string }) => type === "tls-alpn-01")
        if (answered) {
          const shown = authority.challenge(host, `${challenge.token}.${acme.thumbprint}`)
          yield* Challenges.offer(agent.stateDir, host, { certificate: shown.cert, key: shown.key })
        }
        let status = "pending"
        yield* Effect.promise(() => acme.post(challenge.url, {}))
        yield* Effect.promise(() =>
          eventually(
            async () => {
              status = (await acme.post(url)).body.status
              return status !== "pending"
            },
            "the authorization ends",
            20_000
          )
        )
        return status
      }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

    assert.strictEqual(yield* validated(false), "invalid")
    assert.strictEqual(yield* validated(true), "valid")
  }).pipe(Effect.scoped)
)
