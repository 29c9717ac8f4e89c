/**
 * The official A2A SDK at both ends of a tunnel: the agent answers its well-known path with the card of `channel agent-card --a2a`,
 * the SDK reads and verifies it, and calls the skill that its own server offers behind the tunnel. What it read is the contract's
 * card too.
 */
import { AgentCard, SendMessageRequest, verifyAgentCardSignature } from "@a2a-js/sdk"
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory
} from "@a2a-js/sdk/client"
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
  validateVersion
} from "@a2a-js/sdk/server"
import { native } from "@catenet/crypto/native"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { mintPair, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { serving } from "@catenet/testing/stack/agent/Serving"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { request } from "node:https"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { buffer, json } from "node:stream/consumers"

const host = "a2a.zone.test"
const well = "/.well-known/agent-card.json"
const seed = "2f".repeat(32)
const holder = Buffer.from(native.ed25519.publicKey(new Uint8Array(Buffer.from(seed, "hex")))).toString("hex")

/** The one skill: says the text in capitals. */
const shouting: AgentExecutor = {
  execute: async ({ contextId, userMessage }, bus) => {
    const [part] = userMessage.parts
    const said = part?.content?.$case === "text" ? part.content.value : ""
    const { message } = SendMessageRequest.fromJSON({
      message: { messageId: "answer", contextId, role: "ROLE_AGENT", parts: [{ text: said.toUpperCase() }] }
    })
    if (message !== undefined) bus.publish(AgentEvent.message(message))
    bus.finished()
  },
  cancelTask: async () => {}
}

/** An A2A server of the SDK. Of the card it knows what the file says; the path of the card it does not answer. */
const origin = (file: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const card = AgentCard.fromJSON(JSON.parse(readFileSync(file, "utf8")))
      const handler = new JsonRpcTransportHandler(new DefaultRequestHandler(card, new InMemoryTaskStore(), shouting))
      const server = createServer(async (asked, response) => {
        if (asked.method !== "POST") return void response.writeHead(404).end("the origin has no card")
        const requestedVersion = String(asked.headers["a2a-version"])
        validateVersion(requestedVersion, card, "JSONRPC")
        const body = (await json(asked)) as Record<string, unknown>
        const answer = await handler.handle(body, new ServerCallContext({ requestedVersion }))
        response.setHeader("content-type", "application/json").end(JSON.stringify(answer))
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return { port: (server.address() as AddressInfo).port, server }
    }),
    ({ server }) => Effect.sync(() => (server.closeAllConnections(), void server.close()))
  )

/** A fetch whose names all lead to the edge's front door. */
const through =
  ({ frontDoor }: TestEdge, ca: string): typeof fetch =>
  (input, init) =>
    new Promise((resolve, reject) => {
      const { hostname, pathname } = new URL(String(input))
      const asked = request(
        {
          host: "127.0.0.1",
          port: frontDoor,
          servername: hostname,
          ca,
          path: pathname,
          method: init?.method ?? "GET",
          headers: { ...Object.fromEntries(new Headers(init?.headers)), host: hostname }
        },
        (answer) =>
          void buffer(answer).then((body) =>
            resolve(
              new Response(new Uint8Array(body), {
                status: answer.statusCode ?? 0,
                headers: { "content-type": String(answer.headers["content-type"]) }
              })
            )
          )
      )
      asked.on("error", reject).end(init?.body)
    })

const home = Effect.acquireRelease(Effect.promise(makeHome), (made) =>
  Effect.promise(() => made[Symbol.asyncDispose]())
)

/** What a command printed that ended well. */
const printed = (at: Effect.Success<typeof home>, args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  Effect.promise(async () => {
    await using agent = runAgent(at, env, args)
    assert.strictEqual(await agent.exited, 0, agent.lines.join("\n"))
    return agent.stdout()
  })

it.live("the A2A SDK reads the card through a tunnel, verifies it, and calls a skill through the tunnel", () =>
  Effect.gen(function* () {
    const at = yield* home
    const file = join(at.path, well)
    const env = {
      CT_CHANNEL_HOLDER_KEY: seed,
      CT_AGENT_CARD_ROLES: "writer",
      CT_AGENT_CARD_SKILLS: "shout|Says a text in capitals",
      CT_AGENT_CARD_URL: `https://${host}${well}`,
      CT_AGENT_CARD_NAME: "Shouter"
    }
    yield* printed(at, ["channel", "agent-card", "--a2a"], env)

    const world = yield* start()
    yield* Effect.promise(() => world.authorize(token("1"), host))
    const pair = mintPair([host])
    for (const [name, text] of [
      ["fullchain.pem", pair.cert],
      ["privkey.pem", pair.key]
    ] as const)
      writeFileSync(join(at.path, name), text, { mode: 0o600 })
    const { port } = yield* origin(file)
    yield* serving(world, token("1"), host, {
      CT_AGENT_ORIGIN: `127.0.0.1:${port}`,
      CT_AGENT_ORIGIN_TLS: "terminate",
      CT_AGENT_TLS_CERT: join(at.path, "fullchain.pem"),
      CT_AGENT_TLS_KEY: join(at.path, "privkey.pem"),
      CT_AGENT_CARD_FILE: file
    })

    const fetchImpl = through(world, pair.root)
    const factory = new ClientFactory(
      ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [new JsonRpcTransportFactory({ fetchImpl })],
        cardResolver: new DefaultAgentCardResolver({ fetchImpl })
      })
    )
    const client = yield* Effect.promise(() => factory.createFromUrl(`https://${host}`))
    const keys: Array<string> = []
    const verify = verifyAgentCardSignature(async (kid) => {
      keys.push(kid)
      return { kty: "OKP", crv: "Ed25519", x: Buffer.from(kid, "hex").toString("base64url") }
    })
    const card = yield* Effect.promise(() => client.getAgentCard({}, verify))
    assert.deepStrictEqual(keys, [holder])
    assert.deepStrictEqual(
      [card.name, card.skills.map(({ id, tags }) => [id, tags])],
      ["Shouter", [["shout", ["writer"]]]]
    )

    const answer = yield* Effect.promise(() =>
      client.sendMessage(
        SendMessageRequest.fromJSON({ message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hello" }] } })
      )
    )
    assert.deepStrictEqual("parts" in answer && answer.parts[0]?.content, { $case: "text", value: "HELLO" })

    // The same bytes are the contract's card.
    const read = yield* Effect.promise(() => fetchImpl(`https://${host}${well}`).then((response) => response.text()))
    writeFileSync(join(at.path, "read.json"), read)
    const verified = yield* printed(at, ["channel", "agent-card", "--verify", "read.json"])
    assert.include(verified, `valid  holder=${holder}  role_tags=["writer"]`)
  }).pipe(Effect.scoped)
)
