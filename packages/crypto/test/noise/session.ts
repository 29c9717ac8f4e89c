/** Two sides of a handshake in one process, with keys by name. */
import { native } from "@catenet/crypto/native"
import type { Handshake } from "@catenet/crypto/noise/Handshake"
import { entropyLength, initiate, respond, type Options } from "@catenet/crypto/noise/Noise"
import type { Transport } from "@catenet/crypto/noise/Transport"
import { portable } from "@catenet/crypto/portable"
import type { Suite } from "@catenet/crypto/Suite"
import { Result } from "effect"
import { patternOf, usesStatic, type PatternName } from "../../src/noise/HandshakePattern.ts"

/** 32 equal bytes, as a secret or as entropy. */
export const secret = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)

export const ok = Result.getOrThrow

/** The tag of a refusal, or `"ok"`. */
export const tag = (result: Result.Result<unknown, { readonly _tag: string }>): string =>
  Result.isSuccess(result) ? "ok" : result.failure._tag

/** Every way in which the suites can meet: the initiator's first. */
export const meetings: ReadonlyArray<readonly [string, Suite, Suite]> = [
  ["native to native", native, native],
  ["native to portable", native, portable],
  ["portable to native", portable, native],
  ["portable to portable", portable, portable]
]

export interface Pair {
  readonly initiator: Handshake
  readonly responder: Handshake
}

export interface Setup {
  readonly pattern?: PatternName
  readonly hash?: "BLAKE2s" | "SHA256"
  readonly suites?: readonly [Suite, Suite]
  readonly prologues?: readonly [Uint8Array, Uint8Array]
  /** The responder key the initiator believes in, if not the right one. */
  readonly believed?: Uint8Array
}

export const staticKeys = () => ({
  initiator: native.x25519.keyPair(secret(0x51)),
  responder: native.x25519.keyPair(secret(0x52))
})

/** What each side brings to a pattern. */
export const optionsOf = (setup: Setup): { readonly initiator: Options; readonly responder: Options } => {
  const name = setup.pattern ?? "IK"
  const { pattern } = patternOf(name)
  const shared = { pattern: name, ...(setup.hash === undefined ? {} : { hash: setup.hash }) }
  const { initiator, responder } = staticKeys()
  return {
    initiator: {
      ...shared,
      ...(setup.prologues === undefined ? {} : { prologue: setup.prologues[0] }),
      ...(usesStatic(pattern, "initiator") ? { static: initiator } : {}),
      ...(pattern.known.includes("responder") ? { remoteStatic: setup.believed ?? responder.publicKey } : {}),
      entropy: new Uint8Array(entropyLength(name)).fill(0x61)
    },
    responder: {
      ...shared,
      ...(setup.prologues === undefined ? {} : { prologue: setup.prologues[1] }),
      ...(usesStatic(pattern, "responder") ? { static: responder } : {}),
      ...(pattern.known.includes("initiator") ? { remoteStatic: initiator.publicKey } : {}),
      entropy: new Uint8Array(entropyLength(name)).fill(0x62)
    }
  }
}

export const pairOf = (setup: Setup = {}): Pair => {
  const [left, right] = setup.suites ?? [native, native]
  const options = optionsOf(setup)
  return { initiator: ok(initiate(left, options.initiator)), responder: ok(respond(right, options.responder)) }
}

/** Exchanges the messages that are left, with empty payloads, and finishes both sides: the initiator's transport first. */
export const complete = ({ initiator, responder }: Pair): readonly [Transport, Transport] => {
  while (initiator.next !== "finish") {
    const [from, to] = initiator.next === "write" ? [initiator, responder] : [responder, initiator]
    ok(to.readMessage(ok(from.writeMessage())))
  }
  return [ok(initiator.finish()), ok(responder.finish())]
}

export const sessionOf = (setup: Setup = {}): readonly [Transport, Transport] => complete(pairOf(setup))
