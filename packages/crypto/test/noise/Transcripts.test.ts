/**
 * The published transcripts of the hybrid handshakes (`vectors/noise-hybrid.json`), replayed byte for byte. The native suite draws the
 * encapsulated secret itself, so it replays the side that decapsulates.
 */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { initiate, respond, type Options } from "@catenet/crypto/noise/Noise"
import { portable } from "@catenet/crypto/portable"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { patternOf, sender, type PatternName } from "../../src/noise/HandshakePattern.ts"
import { patterns } from "../../src/noise/HandshakePattern.ts"
import { ok } from "./session.ts"

interface Side {
  readonly static?: string
  readonly remote_static?: string
  readonly entropy: string
}

interface Transcript {
  readonly pattern: PatternName
  readonly marks: boolean
  readonly prologue: string
  readonly initiator: Side
  readonly responder: Side
  /** Each with a payload of its index and its sender's name. */
  readonly messages: ReadonlyArray<{ readonly payload: string; readonly bytes: string }>
  readonly handshake_hash: string
  /** The first message of each side behind the handshake, over the text of its name. */
  readonly transport: { readonly initiator: string; readonly responder: string }
}

const file = new URL("../../vectors/noise-hybrid.json", import.meta.url)
const transcripts = (JSON.parse(readFileSync(file, "utf8")) as { readonly transcripts: ReadonlyArray<Transcript> })
  .transcripts

const bytes = (text: string) => ok(Hex.decode(text))
const text = (name: string) => new TextEncoder().encode(name)

const optionsOf = ({ marks, pattern, prologue }: Transcript, side: Side): Options => ({
  pattern,
  prologue: bytes(prologue),
  entropy: bytes(side.entropy),
  wouldBeHybrid: marks,
  ...(side.static === undefined ? {} : { static: native.x25519.keyPair(bytes(side.static)) }),
  ...(side.remote_static === undefined ? {} : { remoteStatic: bytes(side.remote_static) })
})

describe("a published transcript", () => {
  it("is there for each hybrid pattern, and for the one that both sides reach by their marks", () => {
    const names = transcripts.map(({ marks, pattern }) => `${pattern}${marks ? " marks" : ""}`)
    assert.deepStrictEqual(names, [...Object.keys(patterns).map((name) => `${name}hfs`), "IK marks"])
    for (const { pattern, messages, marks } of transcripts)
      assert.lengthOf(messages, patternOf(pattern).pattern.messages.length + (marks ? 1 : 0))
  })

  it.each(transcripts)("of $pattern, marks $marks, is what either side reads and writes", (transcript) => {
    const encapsulates = transcript.marks ? "initiator" : "responder"
    for (const role of ["initiator", "responder"] as const)
      for (const suite of role === encapsulates ? [portable] : [portable, native]) {
        const start = role === "initiator" ? initiate : respond
        const handshake = ok(start(suite, optionsOf(transcript, transcript[role])))
        for (const [index, { bytes: message, payload }] of transcript.messages.entries())
          if (sender(index) === role)
            assert.strictEqual(Hex.encode(ok(handshake.writeMessage(bytes(payload)))), message, `${role} ${index}`)
          else assert.strictEqual(Hex.encode(ok(handshake.readMessage(bytes(message)))), payload, `${role} ${index}`)
        const session = ok(handshake.finish())
        assert.strictEqual(Hex.encode(session.handshakeHash), transcript.handshake_hash)
        assert.strictEqual(Hex.encode(ok(session.encrypt(text(role)))), transcript.transport[role])
        const peer = role === "initiator" ? "responder" : "initiator"
        assert.deepStrictEqual(ok(session.decrypt(bytes(transcript.transport[peer]))), text(peer))
      }
  })
})
