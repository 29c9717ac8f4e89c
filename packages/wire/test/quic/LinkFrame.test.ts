import { integer, literal, text } from "@catenet/testing/wire/frames/arbitraries"
import { describe } from "@effect/vitest"
import { Arbitrary } from "effect"
import { decode, encode, type LinkFrame } from "../../src/quic/link/LinkFrame.ts"
import { codecSuite } from "../frames/codec.ts"

const number = integer(0, 0xffff_ffff)
const endpoint = Arbitrary.all({ address: text(60), port: integer(0, 0xffff) })
const transport = Arbitrary.all({ idle: number, keepAlive: number, streams: number })
const fields = Arbitrary.all({
  certificate: text(300),
  endpoint,
  kind: literal(["Listen", "Dial", "Incoming", "Stream", "Listening", "Judged", "Connected", "Failed", "Close"]),
  key: text(300),
  name: text(253),
  number,
  transport,
  verdict: literal(["accept", "refuse"])
})

const frames: Arbitrary.Arbitrary<LinkFrame> = Arbitrary.map(fields, (of): LinkFrame => {
  switch (of.kind) {
    case "Listen":
      return { _tag: of.kind, at: of.endpoint, certificate: of.certificate, key: of.key, transport: of.transport }
    case "Dial":
      return { _tag: of.kind, to: of.endpoint, serverName: of.name, roots: of.certificate, transport: of.transport }
    case "Incoming":
      return { _tag: of.kind, listener: of.number, remote: of.endpoint }
    case "Stream":
      return { _tag: of.kind, connection: of.number }
    case "Listening":
      return { _tag: of.kind, at: of.endpoint }
    case "Judged":
      return { _tag: of.kind, verdict: of.verdict }
    case "Connected":
      return { _tag: of.kind, remote: of.endpoint }
    case "Failed":
      return { _tag: of.kind, why: of.name }
    case "Close":
      return { _tag: of.kind, code: of.number, reason: of.name, ...(of.verdict === "accept" && { isIdle: true }) }
  }
})

describe("a frame of the link", () => codecSuite("link frame", { values: frames, encode, decode }))
