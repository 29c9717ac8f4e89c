/** A control plane for tests: the few routes that an agent calls, over real HTTP, with every call counted. */
import * as Bootstrap from "@catenet/crypto/Bootstrap"
import * as Enrollment from "@catenet/crypto/Enrollment"
import { native } from "@catenet/crypto/native"
import { Redacted } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"

export interface ControlPlane extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly joinTokens: Map<string, "fresh" | "spent">
  readonly bootstrapTokens: Map<string, string | "spent">
  readonly agents: Map<string, string>
  readonly calls: Array<string>
  ca: Uint8Array
  meshPort: number
  /** Where the host name stands on its way to a certificate; without it nothing is answered about one. */
  standing: Readonly<Record<string, unknown>> | undefined
  /** The routing token that took the place of the present one; "away" where that cannot be asked for now. */
  successor: string | undefined
  /** The policy of the tunnel; an older control plane has none. */
  policy: unknown
  /** Called when a join token was spent, before the answer is sent. */
  redeemed: () => void
}

const problem = (status: number, code: string, detail: string, facts: Record<string, string> = {}) => ({
  status,
  type: "application/problem+json",
  body: JSON.stringify({
    type: `urn:catenet:problem:${code.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "-").toLowerCase()}`,
    title: titles[code],
    status,
    detail,
    code,
    ...facts
  })
})

const titles: Record<string, string> = {
  JoinProofRefused: "Join proof refused",
  JoinTokenUnknown: "Join token unknown",
  JoinTokenSpent: "Join token already used",
  AgentAlreadyEnrolled: "Agent already enrolled",
  BootstrapTokenUnknown: "Bootstrap token unknown",
  BootstrapProofRefused: "Bootstrap proof refused",
  BootstrapAlreadyRedeemed: "Bootstrap token already redeemed by this agent",
  BootstrapTokenSpent: "Bootstrap token already used"
}

const json = (value: unknown) => ({ status: 200, type: "application/json", body: JSON.stringify(value) })

const bodyOf = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString() || "{}") as Record<string, string>
}

export const startControlPlane = async (ca: Uint8Array): Promise<ControlPlane> => {
  const joinTokens: ControlPlane["joinTokens"] = new Map()
  const bootstrapTokens: ControlPlane["bootstrapTokens"] = new Map()
  const agents = new Map<string, string>()
  const calls: Array<string> = []
  const redeemedBy = new Map<string, string>()
  const owedSecrets = new Map<string, string>()

  const redeem = ({ token = "", agent = "", pubkey = "", proof = "" }: Record<string, string>) => {
    const holds = Enrollment.verify(
      native,
      Buffer.from(pubkey, "hex"),
      Redacted.make(new Uint8Array(Buffer.from(token, "hex"))),
      Buffer.from(proof, "hex")
    )
    if (!holds) return problem(403, "JoinProofRefused", "The proof does not hold.")
    const state = joinTokens.get(token)
    if (state === undefined) return problem(404, "JoinTokenUnknown", "This join token was never issued here.")
    if (redeemedBy.get(token) === pubkey)
      return problem(409, "AgentAlreadyEnrolled", "This agent is enrolled.", { tenant: "tenant-1" })
    if (state === "spent") return problem(409, "JoinTokenSpent", "This join token has been redeemed.")
    joinTokens.set(token, "spent")
    redeemedBy.set(token, pubkey)
    agents.set(agent, pubkey)
    plane.redeemed()
    return json({ tenant: "tenant-1" })
  }

  const exchange = ({ token = "", pubkey = "", proof = "" }: Record<string, string>) => {
    const holds = Bootstrap.verify(
      native,
      Buffer.from(pubkey, "hex"),
      Redacted.make(new Uint8Array(Buffer.from(token, "hex"))),
      Buffer.from(proof, "hex")
    )
    if (!holds) return problem(403, "BootstrapProofRefused", "The proof does not hold.")
    const secret = bootstrapTokens.get(token)
    const owed = owedSecrets.get(`${token} ${pubkey}`)
    if (owed !== undefined)
      return problem(409, "BootstrapAlreadyRedeemed", "This agent redeemed it before.", { secret: owed })
    if (secret === undefined)
      return problem(404, "BootstrapTokenUnknown", "This bootstrap token was never minted here.")
    if (secret === "spent") return problem(409, "BootstrapTokenSpent", "This bootstrap token has been used.")
    bootstrapTokens.set(token, "spent")
    owedSecrets.set(`${token} ${pubkey}`, secret)
    return json({ secret })
  }

  const waits = { status: "gelb", may_issue_now: false, assigned_ca: null, claim_deadline: null }
  const certificate = (url: string) => {
    if (plane.standing === undefined) return undefined
    if (url.startsWith("/agent/acme-admission/")) return json(waits)
    return url.startsWith("/agent/acme-standing/") ? json(plane.standing) : undefined
  }

  const plane: Pick<ControlPlane, "ca" | "meshPort" | "policy" | "redeemed" | "standing" | "successor"> = {
    ca,
    meshPort: 1,
    policy: undefined,
    redeemed: () => {},
    standing: undefined,
    successor: undefined
  }
  const server = createServer(async (request, response) => {
    calls.push(`${request.method} ${request.url}`)
    const answer =
      request.url === "/agent/routing-token" && plane.successor !== undefined
        ? plane.successor === "away" || request.headers["catenet-agent-proof"] === undefined
          ? { status: 503, type: "text/plain", body: "not now" }
          : json({ routing_token: plane.successor })
        : request.url?.startsWith("/agent/policy?") === true && plane.policy !== undefined
          ? json(plane.policy)
          : request.url === "/enroll/redeem"
            ? redeem(await bodyOf(request))
            : request.url === "/bootstrap/redeem"
              ? exchange(await bodyOf(request))
              : request.url === "/network-info"
                ? json({
                    mesh_edge_port: plane.meshPort,
                    channel_broker_port: 4435,
                    channel_relay_port: 4436,
                    channel_relay_gate_port: 443
                  })
                : request.url === "/pki/ca"
                  ? { status: 200, type: "application/x-x509-ca-cert", body: Buffer.from(plane.ca) }
                  : (certificate(request.url ?? "") ?? { status: 404, type: "text/plain", body: "no such route" })
    response.writeHead(answer.status, { "content-type": answer.type })
    response.end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(plane, {
    url: `http://127.0.0.1:${port}`,
    port,
    joinTokens,
    bootstrapTokens,
    agents,
    calls,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  })
}
