/** What the agent registers at an edge, and how an edge refuses. */
import { clause } from "@catenet/domain/values/Sentence"
import type { Enforcement } from "@catenet/wire/frames/MuxPolicy"
import type { OnEcho } from "@catenet/wire/transport/Echoes"
import { Data, type Redacted } from "effect"
import type { KeptPolicy } from "../policy/KeptPolicy.ts"
import type { CertificateReport } from "./CertificatePair.ts"

export interface Registration {
  readonly token: Redacted.Redacted<Uint8Array>
  /** The host name for browsers; undefined in mesh mode. */
  readonly host: string | undefined
  readonly agentId: string
  /** Signs the edge's challenge; undefined if this agent was never enrolled. */
  readonly identity: Redacted.Redacted<Uint8Array> | undefined
  readonly proxyProtocol: boolean
  /** Asks the origin on behalf of the edge; without it echo is not offered. */
  readonly onEcho?: OnEcho
  /** Without it the edge learns nothing about certificates. */
  readonly certificate?: CertificateReport
  /** The policy of the tunnel, and what this agent enforces of it; absent where it does not end the visitors' TLS. */
  readonly policy?: Pick<KeptPolicy, "announced" | "joined">
  readonly enforces?: ReadonlyArray<Enforcement>
  /** 8 bytes that distinguish this running agent from others with the same identity. */
  readonly instance?: Uint8Array
}

/** The edge refused. `final` if retrying cannot help. */
export class RegistrationRefused extends Data.TaggedError("RegistrationRefused")<{
  readonly edge: string
  readonly code: string
  readonly sentence: string
  readonly final: boolean
}> {
  override get message() {
    return `edge ${this.edge} refused the registration (${this.code}): ${this.sentence}`
  }
}

/** The connection broke before the edge answered. */
export class RegistrationLost extends Data.TaggedError("RegistrationLost")<{
  readonly edge: string
  readonly why: string
}> {
  override get message() {
    return `edge ${this.edge}: ${this.why}`
  }
}

/** The remedy; the edge's own sentence says what happened. */
const finalCodes: ReadonlyMap<string, string> = new Map([
  ["revoked", "provision a new tunnel in the portal and set its CT_AGENT_TOKEN"],
  ["host-malformed", "correct CT_AGENT_HOSTNAME"],
  ["version", "update this agent or the edge"],
  ["malformed", "update this agent or the edge"]
])

const advice: ReadonlyMap<string, string> = new Map([
  ["host-not-authorized", "check CT_AGENT_HOSTNAME and CT_AGENT_TOKEN"],
  ["host-taken", "stop the agent that serves it there, or correct CT_AGENT_HOSTNAME"],
  ["bad-proof", "delete this agent's state folder and onboard it again"],
  ["proof-required", "set CT_AGENT_JOIN_TOKEN and start again"],
  ["full", "the agent tries again"],
  ["no", "check CT_AGENT_TOKEN, and let CT_AGENT_TRANSPORTS name mux, which proves the key of an enrolled agent"]
])

/** A refusal with its reason and remedy. */
export const refused = (edge: string, code: string, sentence: string) => {
  const next = finalCodes.get(code) ?? advice.get(code)
  const text = clause(sentence)
  return new RegistrationRefused({
    edge,
    code,
    sentence: [text, next].filter((part) => part !== undefined && part !== "").join("; "),
    final: finalCodes.has(code)
  })
}
