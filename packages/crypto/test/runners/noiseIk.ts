import { initiate, respond } from "@catenet/crypto/noise/Noise"
import { maxMessage, maxPlaintext, type Transport } from "@catenet/crypto/noise/Transport"
import type { Suite } from "@catenet/crypto/Suite"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { encode, FrameDecoder, sendLimit } from "../../src/noise/NoiseFrame.ts"
import { bytes, outcome, type Runners, sameHex } from "./runner.ts"

const ok = Result.getOrThrow
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

/** Both sides of the vector's session, over one suite. */
const sides = (suite: Suite, input: any) => {
  assert.strictEqual(input.protocol, "Noise_IK_25519_ChaChaPoly_BLAKE2s")
  const [left, right] = [input.initiator_static, input.responder_static].map((key) => suite.x25519.keyPair(bytes(key)))
  const shared = { pattern: "IK", prologue: bytes(input.prologue) } as const
  const entropy = (key: string) => bytes(input[key])
  return {
    left: left!,
    right: right!,
    initiator: ok(
      initiate(suite, {
        ...shared,
        static: left!,
        remoteStatic: right!.publicKey,
        entropy: entropy("initiator_ephemeral")
      })
    ),
    responder: ok(respond(suite, { ...shared, static: right!, entropy: entropy("responder_ephemeral") }))
  }
}

/** The published set: payloads in the handshake, then messages in turn, the initiator first. */
const messages = (suite: Suite, input: any, expect: any): void => {
  const { initiator, responder } = sides(suite, input)
  const [first, second, ...rest]: Array<string> = input.payloads
  const one = ok(initiator.writeMessage(bytes(first!)))
  sameHex(ok(responder.readMessage(one)), first!)
  const two = ok(responder.writeMessage(bytes(second!)))
  sameHex(ok(initiator.readMessage(two)), second!)
  const ends = [ok(initiator.finish()), ok(responder.finish())] as const
  const sealed = rest.map((payload, i) => {
    const [from, to] = i % 2 === 0 ? ends : [ends[1], ends[0]]
    const message = ok(from.encrypt(bytes(payload)))
    sameHex(ok(to.decrypt(message)), payload)
    return message
  })
  for (const end of ends) sameHex(end.handshakeHash, expect.handshake_hash)
  for (const [i, message] of [one, two, ...sealed].entries()) sameHex(message, expect.messages[i])
}

/** Ours: empty payloads, and every frame of both directions. */
const frames = (suite: Suite, input: any, expect: any): void => {
  const { left, right, initiator, responder } = sides(suite, input)
  sameHex(left.publicKey, expect.initiator_static_public)
  sameHex(right.publicKey, expect.responder_static_public)
  const one = ok(initiator.writeMessage())
  ok(responder.readMessage(one))
  const two = ok(responder.writeMessage())
  ok(initiator.readMessage(two))
  sameHex(one, expect.message_1)
  sameHex(two, expect.message_2)
  assert.deepStrictEqual([one.length, two.length], [expect.message_1_length, expect.message_2_length])
  const [a, b] = [ok(initiator.finish()), ok(responder.finish())]
  sameHex(a.handshakeHash, expect.handshake_hash)
  sameHex(b.handshakeHash, expect.handshake_hash)
  const directions: ReadonlyArray<[Transport, Transport, Uint8Array, string, Array<string>, Array<string>]> = [
    [a, b, one, expect.key_initiator_to_responder, input.initiator_plaintexts, expect.frames_initiator],
    [b, a, two, expect.key_responder_to_initiator, input.responder_plaintexts, expect.frames_responder]
  ]
  for (const [from, to, handshake, key, plaintexts, expected] of directions) {
    sameHex(ok(encode(handshake)), expected[0]!)
    const sealed = plaintexts.map((plaintext) => ok(from.encryptFrame(text(plaintext))))
    for (const [i, frame] of sealed.entries()) sameHex(frame, expected[i + 1]!)
    const read = ok(new FrameDecoder().push(bytes(expected.slice(1).join(""))))
    const opened = ok(suite.chacha20poly1305.open(bytes(key), new Uint8Array(12), new Uint8Array(0), read[0]!))
    assert.deepStrictEqual(opened, text(plaintexts[0]!))
    assert.deepStrictEqual(
      read.map((message) => ok(to.decrypt(message))),
      plaintexts.map(text)
    )
  }
}

export const noiseIk: Runners = {
  noise: ({ input, expect }, suite) => (input.payloads === undefined ? frames : messages)(suite, input, expect),

  table: ({ expect }) =>
    assert.deepInclude(expect, { max_plaintext: maxPlaintext, max_ciphertext: maxMessage, pump_chunk: sendLimit }),

  "noise-failure": ({ id, input }, suite) => {
    const [ada, bob] = [suite.x25519.keyPair(bytes("51".repeat(32))), suite.x25519.keyPair(bytes("52".repeat(32)))]
    const responder = ok(respond(suite, { pattern: "IK", static: bob, entropy: bytes("62".repeat(32)) }))
    if (id === "wrong-responder-key") {
      sameHex(bob.publicKey, "f68b05ba03f7185e1ba88878682f8dd0b15158f6050889c9481d79c2d7d2fa07")
      assert.strictEqual(input.responder_static, "52".repeat(32))
      assert.strictEqual(outcome(responder.readMessage(bytes(input.message_1))), "AuthenticationFailed")
      assert.strictEqual(outcome(responder.writeMessage()), "HandshakeConsumed")
      return
    }
    assert.strictEqual(id, "attested-key-mismatch")
    const remoteStatic = bob.publicKey
    const initiator = ok(initiate(suite, { pattern: "IK", static: ada, remoteStatic, entropy: bytes("61".repeat(32)) }))
    ok(responder.readMessage(ok(initiator.writeMessage())))
    ok(initiator.readMessage(ok(responder.writeMessage())))
    const transport = ok(responder.finish())
    sameHex(transport.remoteStatic ?? bytes(""), input.actual_initiator)
    assert.notDeepEqual(transport.remoteStatic, bytes(input.expected_initiator))
  }
}
