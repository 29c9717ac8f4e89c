/**
 * Whether an agent may register (data-plane 2.3): the token is not revoked, each host is well formed and given to this
 * token, and a possession proof, where one is given, holds. The visitor token of a capability registers nothing. Where the control plane has named the keys enrolled for a
 * tunnel, one of them must be proved. The byte protocol knows no proof; its agents stand by until an enrolled agent has
 * proved its key once, and are refused from then on, unless the owner lets them in.
 * Binding the hosts is part of the answer.
 */
import { native } from "@catenet/crypto/native"
import * as VisitorToken from "@catenet/crypto/VisitorToken"
import { PublicKey } from "@catenet/domain/values/Keys"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { normalServedHost } from "@catenet/wire/frames/HostName"
import type { RefusalCode } from "@catenet/wire/frames/MuxReason"
import { proofMessage, type RegisterRequest } from "@catenet/wire/frames/MuxRegister"
import { Context, Effect, FiberSet, Layer, Schedule, Schema, Semaphore } from "effect"
import { HttpClientError } from "effect/http"
import { ControlPlane } from "../control/ControlPlane.ts"
import { Routes } from "../routes/Routes.ts"
import { Settings } from "../settings/Settings.ts"
import { needsProof, refusalOf } from "./AgentAuthorization.ts"
import { TunnelOwnership } from "./TunnelOwnership.ts"

// Reports to the control plane that an agent has proved its key, so that it can require a proof from every agent of the tunnel.
// Only if the control plane knows the tunnel and does not require proofs yet.

/** Maximum number of waiting reports; further ones are dropped, and repeated at the agent's next registration. */
const maxWaiting = 10_000
const atOnce = 8

const again = Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("30 seconds")]).pipe(Schedule.jittered)
/** A control plane without this route does not get it later. */
const isFinal = (error: unknown) =>
  HttpClientError.isHttpClientError(error) && [400, 404].includes(error.response?.status ?? 0)
const readToken = Schema.decodeUnknownSync(RoutingToken)
const readKey = Schema.decodeUnknownSync(PublicKey)

class ProofReports extends Context.Service<
  ProofReports,
  {
    /** An agent has proved the key (hex) for the token (hex). */
    readonly proved: (token: string, key: string) => void
  }
>()("edge/sessions/AgentAdmissions/ProofReports") {
  static readonly make = Effect.gen(function* () {
    const routes = yield* Routes
    const { client } = yield* ControlPlane
    const run = yield* FiberSet.makeRuntime<never>()
    const permits = yield* Semaphore.make(atOnce)
    const waiting = new Set<string>()

    const matters = (token: string) =>
      (routes.agentProof(token) ?? (routes.knows(token) ? "optional" : undefined)) === "optional"

    const report = (token: string, key: string) =>
      client === undefined
        ? Effect.void
        : Effect.suspend(() => {
            if (!matters(token)) return Effect.void
            const payload = { token: readToken(token), key: readKey(key) }
            return permits.withPermit(client.agentProved({ payload }))
          }).pipe(Effect.retry({ schedule: again, while: (error) => !isFinal(error) }), Effect.ignore)

    return ProofReports.of({
      proved: (token, key) => {
        const name = `${token} ${key}`
        if (client === undefined || !matters(token) || waiting.has(name) || waiting.size >= maxWaiting) return
        waiting.add(name)
        run(
          Effect.ensuring(
            report(token, key),
            Effect.sync(() => waiting.delete(name))
          )
        )
      }
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(Layer.provide([Routes.layer]))
}

export interface Refused {
  readonly code: RefusalCode
  readonly sentence: string
  readonly host?: string
}

/** An admitted registration. */
export interface Admitted {
  readonly hosts: ReadonlySet<string>
  /** The key (hex) it proved, if it proved one. */
  readonly key: string | undefined
  /** It proved the key that owns the tunnel. */
  readonly owner: boolean
}

export type AdmissionVerdict = Admitted | Refused

/** Values of the carrier: its challenge, and the value that binds the proof to this connection. */
export interface ProofContext {
  readonly challenge: Uint8Array
  readonly binding: Uint8Array
}

const sentences: Partial<Record<RefusalCode, string>> = {
  revoked: "this tunnel was revoked",
  "host-malformed": "this is not a host name",
  "host-not-authorized": "the control plane has not given this host to this tunnel",
  "host-taken": "this host belongs to another tunnel",
  "bad-proof": "the possession proof does not hold, or its key is not enrolled for this tunnel",
  "proof-required": "only an agent that was enrolled for this tunnel may serve it",
  full: "this tunnel has as many registrations as it may have, or newer ones have taken their place",
  malformed: "this is the token of a capability; it is for visitors"
}

/** A refusal with its sentence. */
export const refused = (code: RefusalCode, host?: string): Refused => ({
  code,
  sentence: sentences[code] ?? code,
  ...(host === undefined ? {} : { host })
})

export class AgentAdmissions extends Context.Service<
  AgentAdmissions,
  {
    /** Admits an agent of the byte protocol: by token and at most one host. */
    readonly bytes: (token: string, host: string | undefined) => Refused | undefined
    /** Admits a multiplexed registration and normalizes its hosts. */
    readonly mux: (request: RegisterRequest, context: ProofContext) => AdmissionVerdict | Promise<AdmissionVerdict>
  }
>()("edge/sessions/AgentAdmissions") {
  static readonly make = Effect.gen(function* () {
    const { requireAgentProof } = yield* Settings
    const routes = yield* Routes
    const keys = yield* TunnelOwnership
    const reports = yield* ProofReports

    const bind = (token: string, hosts: ReadonlyArray<string>): ReadonlySet<string> | Refused => {
      if (routes.isRevoked(token)) return refused("revoked")
      const bound = new Set<string>()
      for (const given of hosts) {
        const host = normalServedHost(given)
        if (host === undefined) return refused("host-malformed")
        const refusal = routes.bind(host, token)
        if (refusal !== undefined) return refused(refusal, host)
        bound.add(host)
      }
      return bound
    }

    const proves = ({ proof, token, agentId }: RegisterRequest, context: ProofContext) =>
      proof === undefined ||
      native.ed25519.verify(proof.publicKey, proofMessage({ token, agentId, ...context }), proof.signature)

    return AgentAdmissions.of({
      bytes: (token, host) => {
        if (VisitorToken.is(Buffer.from(token, "hex"))) return refused("malformed")
        const demanded = requireAgentProof && routes.agentKeys(token).size > 0
        if (demanded || routes.agentProof(token) === "required") return refused("proof-required")
        const bound = bind(token, host === undefined ? [] : [host])
        return "code" in bound ? bound : undefined
      },
      mux: (request, context) => {
        if (VisitorToken.is(request.token)) return refused("malformed")
        const token = Buffer.from(request.token).toString("hex")
        const key = request.proof && Buffer.from(request.proof.publicKey).toString("hex")
        // The tables are checked first: a proof costs a signature check, and anyone may send one.
        const known = routes.isRevoked(token) ? "revoked" : refusalOf(routes, token, key)
        if (known !== undefined) return refused(known)
        if (!proves(request, context)) return refused("bad-proof")
        const admit = (owns: boolean): AdmissionVerdict => {
          const refusal = refusalOf(routes, token, key)
          if (refusal !== undefined) return refused(refusal)
          const hosts = bind(token, request.hosts)
          if ("code" in hosts) return hosts
          if (key !== undefined) reports.proved(token, key)
          return { hosts, key, owner: owns || (key !== undefined && routes.agentKeys(token).has(key)) }
        }
        if (key === undefined || needsProof(routes, token)) return admit(false)
        const refusal = admit(false)
        if ("code" in refusal) return refusal
        const owns = keys.owns(token, key)
        return typeof owns === "boolean" ? admit(owns) : owns.then(admit)
      }
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(Layer.provide([Routes.layer, ProofReports.layer]))
}
