/** Members of a channel whose ways to the edge are slow, silent, forgetful or lossy: what TCP survives, their sessions survive. */
import * as Hex from "@catenet/crypto/Hex"
import { makeChannel, type Member } from "@catenet/testing/agent/Member"
import { start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { eventually } from "@catenet/testing/Eventually"
import { agent, type Spawned } from "@catenet/testing/stack/e2e/Stack"
import { Effect, Exit, Scope } from "effect"
import { createHash, randomBytes, X509Certificate } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Link } from "./Link.ts"
import { edgeAddress, impossible, PacketLink } from "./PacketLink.ts"

const patient = process.env["CATENET_LONG_OUTAGES"] === "1"
/** What a middlebox forgets, and how long members wait behind it: longer than that, and in the campaign several of its times. */
const forgetting = patient ? { millis: 30_000, waits: 100_000 } : { millis: 11_000, waits: 13_000 }
const blackOutSeconds = patient ? 20 : 8
const blackOutMillis = blackOutSeconds * 1_000
const kilobyte = 1024

const life = Effect.runSync(Scope.make())
const folder = mkdtempSync(join(tmpdir(), "channel-links-"))
let world: TestEdge
let root: string
const makePair = () => {
  const { channel, member, operator } = makeChannel()
  const pair = { caller: member("initiate"), server: member("accept") }
  for (const { attestation, holder, noiseKey } of Object.values(pair))
    world.controlPlane.members.set(`${Hex.encode(channel)} ${Hex.encode(holder)}`, {
      operator_pubkey: Hex.encode(operator),
      noise_pubkey: Hex.encode(noiseKey),
      noise_attestation: Hex.encode(attestation)
    })
  return pair
}

let names = 0
const file = (bytes: Buffer) => {
  const path = join(folder, `input-${names++}`)
  writeFileSync(path, bytes)
  return path
}

/** Runs a member at this address of the edge, with a file on its stdin. */
const run = (
  { env }: Member,
  frontDoor: string,
  more: Readonly<Record<string, string>>,
  input: Buffer,
  behind: ReadonlyArray<string> = []
): Spawned =>
  agent(
    ["channel"],
    {
      ...env,
      // Closed ports are refused at once; by QUIC that takes 5 s.
      CT_CHANNEL_TRANSPORTS: "tls",
      CT_CHANNEL_BROKER: "127.0.0.1:1",
      CT_CHANNEL_RELAY: "127.0.0.1:1",
      CT_CHANNEL_RELAY_ONLY: "1",
      CT_CHANNEL_FRONT_DOOR: frontDoor,
      CT_CHANNEL_FRONT_DOOR_CERT: root,
      CT_CHANNEL_FRONT_DOOR_ONLY: "1",
      CT_AGENT_STATE_DIR: join(folder, `state-${names++}`),
      ...more
    },
    [...behind, "sh", "-c", `exec "$0" "$@" <'${file(input)}'`]
  )

const text = (bytes: number) => Buffer.from(randomBytes(bytes / 2).toString("hex"))
const digest = (value: string | Buffer) => createHash("sha256").update(value).digest("hex")

/** Both say so much to each other at once and end; `during` sees it while it goes on. */
const exchange = async (
  one: (input: Buffer) => Spawned,
  two: (input: Buffer) => Spawned,
  bytes: number,
  during: (heard: () => number) => Promise<void> = () => Promise.resolve()
) => {
  const [a, b] = [text(bytes), text(bytes)]
  const programs = [one(a), two(b)] as const
  try {
    await during(() => programs[0].stdout.length)
    const [first, second] = await Promise.all(programs.map(({ ended }) => ended))
    const said = `${first?.stderr}\n${second?.stderr}`
    assert.deepStrictEqual([first?.code, second?.code], [0, 0], said)
    assert.strictEqual(digest(first?.stdout ?? ""), digest(b), said)
    assert.strictEqual(digest(second?.stdout ?? ""), digest(a), said)
  } finally {
    for (const program of programs) await program.stop("SIGKILL")
  }
}

const withLinks = async (use: (first: Link, second: Link) => Promise<void>) => {
  const links = [await Link.open(world.frontDoor), await Link.open(world.frontDoor)] as const
  try {
    await use(...links)
  } finally {
    for (const link of links) await link.close()
  }
}

const at = ({ port }: Link) => `127.0.0.1:${port}`
const serving = { CT_CHANNEL_SERVE: "1", CT_AGENT_SERVICES: "echo", CT_AGENT_SERVICE_HANDLER_CMD: "tr a-z A-Z" }
const calling = { CT_CHANNEL_CALL_SERVICE: "echo" }

const refusal = impossible()
if (refusal !== undefined)
  process.stderr.write(`SKIPPED: links of packets need user and network namespaces: ${refusal}\n`)

/** Lives all of them at once. */
export const members = () =>
  describe.concurrent("members behind bad links", () => {
    beforeAll(async () => {
      world = await Effect.runPromise(
        Effect.provideService(start({ CT_EDGE_KA_PARK_TTL_SECS: "600" }), Scope.Scope, life)
      )
      root = new X509Certificate(world.meshRoot).raw.toString("hex")
    })
    afterAll(async () => {
      await Effect.runPromise(Scope.close(life, Exit.void))
      rmSync(folder, { recursive: true, force: true })
    })

    it("meet and speak with 200 ms each way, and no byte changes", () =>
      withLinks(async (first, second) => {
        for (const link of [first, second]) link.delayMillis = 200
        const { caller, server } = makePair()
        await exchange(
          (input) => run(server, at(first), {}, input),
          (input) => run(caller, at(second), {}, input),
          512 * kilobyte
        )
      }))

    it(`go on with their session after a black-out of ${blackOutSeconds} s`, () =>
      withLinks(async (first, second) => {
        for (const link of [first, second]) link.delayMillis = 20
        const { caller, server } = makePair()
        await exchange(
          (input) => run(server, at(first), {}, input),
          (input) => run(caller, at(second), {}, input),
          8_192 * kilobyte,
          async (heard) => {
            await eventually(() => heard() > 0, "the session is under way")
            for (const link of [first, second]) link.hold()
            await sleep(blackOutMillis)
            for (const link of [first, second]) link.release()
          }
        )
      }))

    it(`are met after a black-out of ${blackOutSeconds} s while they waited`, () =>
      withLinks(async (first) => {
        const { caller, server } = makePair()
        const waits = run(server, at(first), serving, Buffer.alloc(0))
        try {
          await eventually(() => world.controlPlane.requests.length > 0 && first.flows > 0, "it has joined")
          await sleep(1_000)
          first.hold()
          await sleep(blackOutMillis)
          first.release()
          const { code, stderr, stdout } = await run(caller, `127.0.0.1:${world.frontDoor}`, calling, Buffer.from("x"))
            .ended
          assert.deepStrictEqual([code, stdout], [0, "X\n"], stderr)
        } finally {
          await waits.stop("SIGKILL")
        }
      }))

    it(`wait on behind a middlebox that forgets after ${forgetting.millis / 1_000} s of silence, on one connection`, () =>
      withLinks(async (first) => {
        first.forgetsAfterMillis = forgetting.millis
        const { caller, server } = makePair()
        const waits = run(server, at(first), serving, Buffer.alloc(0))
        try {
          await eventually(() => first.flows === 1, "it has joined")
          await sleep(forgetting.waits)
          assert.strictEqual(first.flows, 1)
          assert.strictEqual(first.opened, 1, "the first connection waits still")
          const { code, stderr, stdout } = await run(caller, `127.0.0.1:${world.frontDoor}`, calling, Buffer.from("x"))
            .ended
          assert.deepStrictEqual([code, stdout], [0, "X\n"], stderr)
        } finally {
          await waits.stop("SIGKILL")
        }
      }))

    it.skipIf(refusal !== undefined)(
      "meet and speak with 5 % loss and 200 ms there and back, and no byte changes",
      async () => {
        const link = await PacketLink.open(folder, "link", world.frontDoor, [])
        try {
          link.weather({ delayMillis: 100, loss: 0.05 })
          const { caller, server } = makePair()
          await exchange(
            (input) => run(server, edgeAddress, {}, input, link.behind),
            (input) => run(caller, `127.0.0.1:${world.frontDoor}`, {}, input),
            128 * kilobyte
          )
        } finally {
          await link.close()
        }
      }
    )
  })
