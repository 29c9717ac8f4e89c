import * as Address from "@catenet/crypto/admission/Address"
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import * as Integer from "@catenet/crypto/Integer"
import type { Suite } from "@catenet/crypto/Suite"
import * as Candidate from "@catenet/crypto/upgrade/Candidate"
import * as ControlMessage from "@catenet/crypto/upgrade/ControlMessage"
import { assert } from "@effect/vitest"
import { Option, Result } from "effect"
import * as NetAddress from "effect/net/NetAddress"
import { readFileSync } from "node:fs"
import * as NoiseFrame from "../../src/noise/NoiseFrame.ts"
import * as ForwardFrame from "../records/ForwardFrame.ts"
import * as Schedule from "../records/Schedule.ts"
import { bytes, type Runners, sameHex } from "./runner.ts"

const control = (input: any): ControlMessage.ControlMessage => {
  if (input.type === "offer") return ControlMessage.ControlMessage.Offer({ endpoint: input.endpoint })
  return input.type === "ready" ? ControlMessage.ControlMessage.Ready() : ControlMessage.ControlMessage.Abort()
}

const forward = (input: any): ForwardFrame.ForwardFrame => {
  if (input.open !== undefined) return ForwardFrame.ForwardFrame.Open(input.open)
  return input.data !== undefined
    ? ForwardFrame.ForwardFrame.Data({ id: input.data.id, bytes: bytes(input.data.payload) })
    : ForwardFrame.ForwardFrame.Close({ id: input.close.id, reason: input.close.reason ?? undefined })
}

const shown = ForwardFrame.ForwardFrame.$match({
  Open: ({ id, target }): unknown => ({ open: { id, target } }),
  Data: ({ id, bytes }) => ({ data: { id, payload: Hex.encode(bytes) } }),
  Close: ({ id, reason }) => ({ close: { id, reason: reason ?? null } })
})

const meaning = (plaintext: Uint8Array): string =>
  ControlMessage.TaggedMessage.$match({
    Data: ({ bytes }) => `data: ${Result.getOrThrow(Bytes.toText(bytes))}`,
    Cutover: () => "cutover",
    Control: ({ bytes }) => `control: ${Option.getOrThrow(ControlMessage.decode(bytes))._tag.toLowerCase()}`,
    Ignored: () => "ignored"
  })(ControlMessage.decodeTaggedMessage(plaintext))

/** The transport key that a vector borrows from the Noise vectors. */
const borrowedKey = (keysFrom: string): Uint8Array => {
  const [, id, direction] = /^noise-ik\.json, (\S+), (.*)$/.exec(keysFrom) ?? []
  const noise: any = JSON.parse(readFileSync(new URL("../vectors/noise-ik.json", import.meta.url), "utf8"))
  const { expect } = noise.vectors.find((vector: any) => vector.id === id)
  return bytes(expect[`key_${direction?.replaceAll(" ", "_")}`])
}

const sealed = (suite: Suite, key: Uint8Array, nonce: number, plaintext: Uint8Array): Uint8Array =>
  suite.chacha20poly1305.seal(
    key,
    Bytes.concat(new Uint8Array(4), Integer.u64le(BigInt(nonce))),
    new Uint8Array(0),
    plaintext
  )

export const upgradePump: Runners = {
  "upgrade-message": ({ input, expect }) => {
    const message = control(input)
    sameHex(ControlMessage.encode(message), expect.bytes)
    assert.deepStrictEqual(ControlMessage.decode(bytes(expect.bytes)), Option.some(message))
    if (expect.reflexive !== undefined) {
      const halves = { reflexive: expect.reflexive, local: expect.local }
      assert.deepStrictEqual(Candidate.split(input.endpoint), halves)
      assert.strictEqual(Candidate.join(halves), input.endpoint)
    }
  },
  "upgrade-decode": ({ input, expect }) =>
    assert.strictEqual(Option.getOrNull(ControlMessage.decode(bytes(input.bytes))), expect.result),
  "split-candidates": ({ input, expect }) =>
    assert.deepStrictEqual(Candidate.split(input.endpoint), {
      reflexive: expect.reflexive,
      local: expect.local ?? undefined
    }),
  "select-candidate": ({ input, expect }) =>
    assert.strictEqual(
      Candidate.choose(input.endpoint, NetAddress.ipFromStringUnsafe(input.own_local)) ?? null,
      expect.chosen
    ),
  table: ({ expect }) => {
    for (const endpoint of expect.refused) {
      assert.isFalse(Address.isGlobalEndpoint(endpoint))
      assert.isUndefined(Candidate.choose(endpoint, undefined))
    }
    for (const endpoint of expect.admitted) assert.strictEqual(Candidate.choose(endpoint, undefined), endpoint)
  },
  "multiplexed-frames": ({ input, expect }, suite) => {
    const key = borrowedKey(input.keys_from)
    input.plaintexts.forEach((hex: string, i: number) => {
      const plaintext = bytes(hex)
      const message = sealed(suite, key, input.first_nonce + i, plaintext)
      sameHex(Result.getOrThrow(NoiseFrame.encode(message)), expect.frames[i])
      assert.isTrue(expect.meaning[i].startsWith(meaning(plaintext)), expect.meaning[i])
      const tag = plaintext[0]
      if (tag === undefined || tag < 3)
        sameHex(ControlMessage.encodeTaggedMessage(ControlMessage.decodeTaggedMessage(plaintext)), hex)
    })
  },
  backoff: ({ input, expect }) => {
    const schedule = { base: input.base, max: input.max }
    assert.strictEqual(input.start + Schedule.delay(schedule, 0), expect.first_attempt_at)
    for (const { failures, delay } of expect.delay_after_failure) {
      assert.strictEqual(Schedule.delay(schedule, failures), delay)
    }
  },
  "u16-frame": ({ input, expect }) => sameHex(Result.getOrThrow(NoiseFrame.encode(bytes(input.body))), expect.frame),
  "forward-frame": ({ input, expect }) => {
    const frame = forward(input)
    sameHex(ForwardFrame.encode(frame), expect.bytes)
    const length = expect.bytes.length / 2
    assert.deepStrictEqual(ForwardFrame.read(bytes(expect.bytes)), Result.succeed({ frame, length }))
  },
  "forward-stream": ({ input, expect }) => {
    const stream = bytes(input.stream)
    const frames: Array<unknown> = []
    let at = 0
    for (;;) {
      const next = Result.getOrThrow(ForwardFrame.read(stream.subarray(at)))
      if (next === undefined) break
      frames.push(shown(next.frame))
      at += next.length
    }
    assert.strictEqual(at, stream.length)
    assert.deepStrictEqual(frames, expect.frames)
  },
  "forward-error": ({ input, expect }) => {
    const read = ForwardFrame.read(bytes(input.stream))
    if (expect.error === "end of stream") assert.deepStrictEqual(read, Result.succeed(undefined))
    else assert.isTrue(Result.isFailure(read))
  }
}
