/** The handshakes with a second implementation, `tools/noise` in Go, as either side of each way to agree the keys of a session. */
import { type Agreement, agree, classical, offerOf, withoutOffers } from "@catenet/crypto/admission/KeyExchange"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { duplexPair } from "node:stream"
import { text } from "node:stream/consumers"
import * as MeshHandshake from "../../../agent/src/mesh/MeshHandshake.ts"
import { NoiseStream } from "../../../agent/src/mesh/NoiseStream.ts"
import { skipped } from "./GoPrograms.ts"

const folder = mkdtempSync(join(tmpdir(), "catenet-noise-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const program = join(folder, "noise")
const source = join(import.meta.dirname, "../../../../tools/noise")
const build = spawnSync("go", ["build", "-C", source, "-trimpath", "-buildvcs=false", "-o", program], {
  env: { ...process.env, GOFLAGS: "", CGO_ENABLED: "0" }
})
const isBuilt = build.status === 0
if (!isBuilt) skipped("a Noise handshake in Go", build.error === undefined ? String(build.stderr) : "there is no `go`")

const offer = offerOf("prefer")
const offered = (isInitiator: boolean) =>
  Result.getOrThrow(agree({ policy: "prefer", own: offer, peer: offer, isInitiator }))

interface Way {
  readonly title: string
  readonly ours: (isInitiator: boolean) => Agreement
  /** Whether the program marks its key. */
  readonly marks: boolean
  readonly keyExchange: string
}
const ways: ReadonlyArray<Way> = [
  { title: "IK as it always was", ours: () => classical, marks: false, keyExchange: "x25519" },
  { title: "IK with a mark of ours", ours: () => withoutOffers("prefer"), marks: false, keyExchange: "x25519" },
  { title: "IK with a mark of theirs", ours: () => classical, marks: true, keyExchange: "x25519" },
  { title: "IK with both marks", ours: () => withoutOffers("require"), marks: true, keyExchange: "x25519mlkem768" },
  { title: "IKhfs with both offers", ours: offered, marks: false, keyExchange: "x25519mlkem768" }
]

const [one, two] = [11, 12].map((byte) => new Uint8Array(32).fill(byte)) as [Uint8Array, Uint8Array]
const ours = native.x25519.keyPair(one)
const theirs = native.x25519.keyPair(two)

/** Our side of a session with the program, and what it said. */
const talk = ({ marks, ours: agreement }: Way, isInitiator: boolean) =>
  Effect.gen(function* () {
    const child = spawn(program, { stdio: ["pipe", "pipe", "pipe"] })
    const said = text(child.stderr)
    const { pattern, prologue } = agreement(isInitiator)
    const request = {
      Side: isInitiator ? "responder" : "initiator",
      Pattern: pattern,
      Marks: marks,
      Prologue: Hex.encode(prologue),
      Static: Hex.encode(two),
      Remote: Hex.encode(ours.publicKey)
    }
    child.stdin.write(`${JSON.stringify(request)}\n`)
    const [stream, other] = duplexPair()
    other.pipe(child.stdin)
    child.stdout.pipe(other)
    const nothing = new Uint8Array()
    const { session } = isInitiator
      ? yield* MeshHandshake.begin(stream, theirs.publicKey, nothing, ours, agreement(true))
      : yield* MeshHandshake.answer(stream, [ours], () => Result.succeed(nothing), theirs.publicKey, agreement(false))
    const hash = Hex.encode(session.transport.handshakeHash)
    const noise = new NoiseStream(stream, session)
    noise.end("from us")
    const heard = yield* Effect.promise(() => text(noise))
    return { hash, heard, keyExchange: session.keyExchange, said: yield* Effect.promise(() => said) }
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto))

describe.skipIf(!isBuilt)("a handshake with a second implementation", () => {
  for (const way of ways)
    it.live.each([true, false])(`${way.title}: agrees on hash, keys and messages (ours begins: %s)`, (isInitiator) =>
      Effect.gen(function* () {
        const { hash, heard, keyExchange, said } = yield* talk(way, isInitiator)
        assert.strictEqual(said, `${hash} ${Hex.encode(ours.publicKey)}\n`)
        assert.strictEqual(heard, "from gofrom us")
        assert.strictEqual(keyExchange, way.keyExchange)
      })
    )
})
