/**
 * Every error of the API: its status, title and sentence.
 * One file, since it is one table, with a row for each error of the API.
 */
import * as Pipelines from "@catenet/domain/agents/PipelineErrors"
import * as Credits from "@catenet/domain/billing/CreditErrors"
import * as CertificateAdmission from "@catenet/domain/certificates/AdmissionErrors"
import * as Channels from "@catenet/domain/channels/ChannelErrors"
import * as Edges from "@catenet/domain/edges/EdgeErrors"
import * as Enrollment from "@catenet/domain/enrollment/EnrollmentErrors"
import * as Authentication from "@catenet/domain/identity/AuthenticationErrors"
import * as Topologies from "@catenet/domain/topologies/TopologyErrors"
import * as Gate from "@catenet/domain/tunnels/GateErrors"
import * as Hostnames from "@catenet/domain/tunnels/HostnameErrors"
import * as Ports from "@catenet/domain/tunnels/PortErrors"
import * as Tunnels from "@catenet/domain/tunnels/TunnelErrors"
import { problemType } from "@catenet/domain/values/Problem"
import * as Requests from "@catenet/domain/values/RequestErrors"
import { propertyRuns } from "@catenet/testing/runs"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { globSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"

/** All errors have one encoder, so a tenth of the runs for each of them tries it more often than any other. */
const runsOfOne = Math.ceil(propertyRuns / 10)

/** Every condition of the service contract's error table, by status; the platform adds what its own rows say. */
const contract = {
  400: [
    "grant ids not matching the path",
    "attestation not verifying",
    "room holder count below 2 or above 12",
    "malformed pubkey",
    "duplicate holder",
    "mode unrecognised",
    "suggest budget above 16",
    "suggest with more than 64 agents",
    "channel note not 64 hex",
    "alert URL or threshold invalid",
    "share link while login is not required",
    "share link while 50 are active",
    "issue price below 1",
    "agent-bridge grant mismatches"
  ],
  401: ["not logged in on a session-only route"],
  402: ["issue with insufficient balance"],
  403: [
    "channel owned by another subject",
    "non-owner of a channel on registry routes",
    "claim by an e-mail that is not allow-listed",
    "bad routing token on issuance-complete",
    "token not the recorded owner of the host name",
    "invitation verification failures",
    "non-owner of an agent on topology assign",
    "invalid, used, revoked or wrong-host share token"
  ],
  404: [
    "foreign or unknown topology",
    "foreign or unknown service account",
    "foreign or unknown tunnel",
    "unknown claim invite",
    "bad proof on operator bind",
    "topology edge delete failure",
    "unknown net_uuid",
    "unknown channel on redeem",
    "topology-unkeyed admission",
    "disabled or unknown badge",
    "ungated host",
    "no bridge grant stored",
    "account routes without a verifier",
    "billing trio without an admin token"
  ],
  409: [
    "agent already assigned",
    "edge add failure",
    "operator mismatch without confirm_rekey",
    "room pair owned by another subject",
    "suggest in baseline mode"
  ],
  410: ["used or expired claim invite", "expired channel invitation"],
  429: ["alert delivery budget spent"],
  502: ["receipts export that the edge cannot supply"],
  503: ["no bridge identity configured", "access window closed"]
} as const

/** Class, status, and the conditions it stands for: rows of the contract, or (in parentheses) what the platform adds. */
const table = [
  [
    Requests.MalformedRequest,
    400,
    ["malformed pubkey", "mode unrecognised", "channel note not 64 hex", "(a request that cannot be read)"]
  ],
  [Requests.LimitReached, 403, ["(more of a kind than may be kept)"]],
  [Requests.WrongShape, 422, ["(a member missing or of another type)"]],
  [Requests.UnsupportedMediaType, 415, ["(another media type)"]],
  [Requests.BodyTooLarge, 413, ["(a body above 2 MiB)"]],
  [
    Requests.RouteNotFound,
    404,
    ["account routes without a verifier", "billing trio without an admin token", "(an unknown path)"]
  ],
  [Requests.MethodNotAllowed, 405, ["(a known path with another method)"]],
  [Requests.RangeNotSatisfiable, 416, ["(bytes beyond the end of a file)"]],
  [Requests.RateLimited, 429, ["(too many requests)"]],
  [Requests.InternalFailure, 500, ["(a fault of the service)"]],
  [Requests.DatabaseUnreachable, 503, ["(readiness)"]],
  [Requests.NotHttp, 400, ["(no request of HTTP/1.1)"]],
  [Requests.RequestTimeout, 408, ["(a request that does not arrive in time)"]],
  [Requests.ChunkExtensionsTooLarge, 413, ["(extensions of chunks too long)"]],
  [Requests.HeadersTooLarge, 431, ["(headers above 16 KiB)"]],
  [Requests.NotServing, 503, ["(before the routes come and after they go)"]],
  [Authentication.Unauthenticated, 401, ["not logged in on a session-only route"]],
  [Authentication.AdminTokenRefused, 401, ["(admin header)"]],
  [Authentication.MetricsTokenRefused, 401, ["(metrics)"]],
  [Authentication.CrossSiteRequest, 403, ["(a cookie on a write from elsewhere)"]],
  [Authentication.VerifiedEmailRequired, 403, ["claim by an e-mail that is not allow-listed"]],
  [Enrollment.JoinProofRefused, 403, ["(join proof)"]],
  [Enrollment.JoinTokenUnknown, 404, ["(join token)"]],
  [Enrollment.JoinTokenSpent, 409, ["(join token)"]],
  [Enrollment.AgentAlreadyEnrolled, 409, ["(join token, by the agent that redeemed it)"]],
  [Enrollment.BatchCountOutOfRange, 400, ["(batch of 1 to 100)"]],
  [Requests.FormSentBefore, 409, ["(form)"]],
  [Requests.IdempotencyKeyReused, 409, ["(idempotency key)"]],
  [Enrollment.BootstrapProofRefused, 403, ["(bootstrap token with a key that did not sign it)"]],
  [Enrollment.BootstrapAlreadyRedeemed, 409, ["(bootstrap token, by the agent that redeemed it)"]],
  [Enrollment.BootstrapTokenUnknown, 404, ["(bootstrap token)"]],
  [Enrollment.BootstrapTokenSpent, 409, ["(bootstrap token)"]],
  [Enrollment.BootstrapTokenExpired, 410, ["(bootstrap token)"]],
  [Hostnames.HostnameTaken, 409, ["(host name of another tunnel)"]],
  [Edges.EdgeUnavailable, 502, ["(edge on authorize-host)"]],
  [Edges.EdgeCaNotPublished, 503, ["(CA before the edge published it)"]],
  [Edges.EdgeCaNotConfigured, 503, ["(CA that no setting names)"]],
  [
    CertificateAdmission.NotHostnameOwner,
    403,
    ["bad routing token on issuance-complete", "token not the recorded owner of the host name"]
  ],
  [CertificateAdmission.HostnameUnknown, 404, ["(admission of an unknown host name)"]],
  [CertificateAdmission.NotAdmitted, 425, ["(DNS-01 before admission)"]],
  [CertificateAdmission.DnsProviderFailed, 502, ["(DNS-01)"]],
  [CertificateAdmission.DnsBusy, 503, ["(DNS-01)"]],
  [CertificateAdmission.DnsNotConverged, 504, ["(DNS-01)"]],
  [Channels.MemberNotAdmitted, 404, ["topology-unkeyed admission"]],
  [Edges.HeartbeatRefused, 403, ["(pinned edge key)"]],
  [Edges.HeartbeatProofIncomplete, 400, ["(edge key without signature)"]],
  [Edges.TicketKeysRefused, 403, ["(pinned edge key)"]],
  [Edges.LookupAmbiguous, 400, ["(edge look-up)"]],
  [Edges.NoLiveEdge, 404, ["(edge look-up)"]],
  [Edges.EdgeUnknown, 404, ["(edge rebind)"]],
  [Edges.RefusedOrderUnknown, 404, ["(operators: orders)"]],
  [Edges.HistoryDisabled, 404, ["(edge without history)"]],
  [Edges.ReceiptsDisabled, 404, ["(edge without receipts)"]],
  [Edges.EdgeUnhealthy, 503, ["(edge health)"]],
  [Channels.NotChannelOwner, 403, ["channel owned by another subject", "non-owner of a channel on registry routes"]],
  [Channels.ChannelNotFound, 404, ["(claim invite of a foreign or unknown channel)"]],
  [Channels.ChannelLimitReached, 403, ["(channels of an account)"]],
  [Channels.OperatorMismatch, 409, ["operator mismatch without confirm_rekey"]],
  [Channels.OperatorProofRefused, 403, ["(operator proof that does not hold)"]],
  [Channels.LinkOperatorDiffers, 409, ["(link channel under another key than the bound one)"]],
  [Channels.ClaimProofRefused, 403, ["(claim proof that does not hold)"]],
  [Channels.AttestationRefused, 400, ["attestation not verifying"]],
  [Channels.GrantUndecodable, 400, ["agent-bridge grant mismatches", "(bytes that form no grant)"]],
  [Channels.GrantMismatch, 400, ["grant ids not matching the path", "agent-bridge grant mismatches"]],
  [Channels.MemberNotFound, 404, ["(grant for a holder that is no member)"]],
  [Channels.RoomSizeOutOfRange, 400, ["room holder count below 2 or above 12"]],
  [Channels.HolderRepeated, 400, ["duplicate holder"]],
  [Channels.RoomPairTaken, 409, ["room pair owned by another subject"]],
  [Channels.NotAllowListed, 403, ["claim by an e-mail that is not allow-listed"]],
  [Channels.HolderClaimedElsewhere, 409, ["(holder of another account)"]],
  [Channels.NothingClaimed, 404, ["(grants without a claim)"]],
  [Channels.ClaimInviteUnknown, 404, ["unknown claim invite"]],
  [Channels.ClaimInviteGone, 410, ["used or expired claim invite"]],
  [Channels.ChannelUnknown, 404, ["unknown channel on redeem"]],
  [Channels.InvitationRefused, 403, ["invitation verification failures"]],
  [Channels.InvitationExpired, 410, ["expired channel invitation"]],
  [Channels.InvitationSpent, 409, ["(invitation redeemed twice)"]],
  [Topologies.TopologyNotFound, 404, ["foreign or unknown topology", "bad proof on operator bind"]],
  [Topologies.TopologyLimitReached, 403, ["(topologies of an account)"]],
  [Topologies.NetworkUnknown, 404, ["unknown net_uuid"]],
  [Topologies.NotAgentOwner, 403, ["non-owner of an agent on topology assign"]],
  [Topologies.PlacementProofInvalid, 403, ["(a proof of placement that does not hold)"]],
  [Topologies.AgentAssigned, 409, ["agent already assigned"]],
  [Topologies.AgentNotAssigned, 404, ["(agent elsewhere)"]],
  [Topologies.EdgeRefused, 409, ["edge add failure"]],
  [Topologies.EdgeNotFound, 404, ["topology edge delete failure"]],
  [Topologies.ChannelUnrelated, 403, ["(note that names a foreign channel)"]],
  [Topologies.NothingToSuggest, 409, ["suggest in baseline mode"]],
  [Topologies.ShortcutBudgetTooLarge, 400, ["suggest budget above 16"]],
  [Topologies.TooManyAgents, 400, ["suggest with more than 64 agents"]],
  [Topologies.ShareNotFound, 404, ["(share that was never made)"]],
  [Pipelines.PipelineNotFound, 404, ["(pipeline)"]],
  [Pipelines.NotPipelineOwner, 403, ["(pipeline id of another account)"]],
  [Pipelines.PipelineIdTaken, 409, ["(pipeline id of another owner)"]],
  [Pipelines.RoleTagRepeated, 400, ["(pipeline roles)"]],
  [Pipelines.RoleWithoutUnits, 400, ["(pipeline roles)"]],
  [Pipelines.AgentNotListed, 404, ["(directory)"]],
  [Pipelines.DirectoryProofRefused, 400, ["(proof of the holder key)"]],
  [Authentication.SessionNotFound, 404, ["(sessions of an account)"]],
  [Authentication.ServiceAccountNotFound, 404, ["foreign or unknown service account"]],
  [Authentication.ServiceAccountLimitReached, 400, ["(51st service account)"]],
  [Authentication.IdentityProviderFailed, 502, ["(identity provider)"]],
  [Authentication.IdentityProviderNotConfigured, 503, ["(identity provider)"]],
  [Credits.PriceBelowOne, 400, ["issue price below 1"]],
  [Credits.InsufficientCredits, 402, ["issue with insufficient balance"]],
  [Credits.CreditsOutOfRange, 400, ["(credits below 1)"]],
  [Credits.AccountUnknown, 404, ["(account)"]],
  [Credits.PaymentUnknown, 404, ["(payment)"]],
  [Credits.WebhookSignatureRefused, 401, ["(payment webhook)"]],
  [Hostnames.HostnameReserved, 409, ["(host name that no tunnel can have)"]],
  [Hostnames.HostnameNotProved, 409, ["(host name without its DNS record)"]],
  [Hostnames.HostnameHeld, 409, ["(tunnel that has a host name of its owner's own)"]],
  [Hostnames.NoHostnameToVerify, 409, ["(tunnel without a host name of its owner's own)"]],
  [Hostnames.DnsUnanswered, 502, ["(resolver)"]],
  [CertificateAdmission.ChallengeNotBrokered, 403, ["(challenge of a host name that its owner brought)"]],
  [CertificateAdmission.ChallengeNotDelegated, 409, ["(challenge of a wildcard without a record that delegates it)"]],
  [Hostnames.RoutingTokenRevoked, 409, ["(token of a deleted tunnel)"]],
  [Tunnels.TunnelNotFound, 404, ["foreign or unknown tunnel"]],
  [Tunnels.TunnelLimitReached, 403, ["(tunnels of an account)"]],
  [Ports.PortRefused, 400, ["(public port)"]],
  [Ports.PortTaken, 409, ["(public port)"]],
  [Ports.NoPortLeft, 409, ["(public port)"]],
  [Ports.PortLimitReached, 403, ["(public ports of an account)"]],
  [CertificateAdmission.AgentProofRequired, 403, ["(call of a tunnel whose agents prove a key)"]],
  [CertificateAdmission.HostnameGuarded, 409, ["(completion of a host name with a login)"]],
  [CertificateAdmission.ClaimNotLapsed, 409, ["(reclaim)"]],
  [Tunnels.GrantNotFound, 404, ["(grantee or access request)"]],
  [Tunnels.AlertRefused, 400, ["alert URL or threshold invalid"]],
  [Tunnels.AlertNotFound, 404, ["(alert)"]],
  [Tunnels.DeliveryBudgetSpent, 429, ["alert delivery budget spent"]],
  [Tunnels.AccessRefused, 400, ["(access window)"]],
  [Tunnels.RulesRefused, 400, ["(rules)"]],
  [Tunnels.RuleLimitReached, 403, ["(rules)"]],
  [Gate.LoginNotRequired, 400, ["share link while login is not required"]],
  [Gate.TunnelWithoutHostname, 400, ["(share link without a host name)"]],
  [Gate.ShareLinkNeedsHost, 400, ["(share link of a tunnel with a wildcard)"]],
  [Gate.ShareLinkNeedsGelb, 400, ["(share link of a tunnel that is not gelb)"]],
  [Gate.ShareLinkLimitReached, 400, ["share link while 50 are active"]],
  [Gate.ShareLinkNotFound, 404, ["(share link)"]],
  [Tunnels.BadgeNotFound, 404, ["disabled or unknown badge"]],
  [Tunnels.ReceiptsUnavailable, 502, ["receipts export that the edge cannot supply"]],
  [Channels.BridgeNotConfigured, 503, ["no bridge identity configured"]],
  [Channels.BridgeGrantMissing, 404, ["no bridge grant stored"]],
  [Channels.BridgeCallFailed, 502, ["(bridge call)"]],
  [Gate.HostNotGated, 404, ["ungated host"]],
  [Gate.ShareLinkRefused, 403, ["invalid, used, revoked or wrong-host share token"]],
  [Gate.GateCodeRefused, 403, ["(gate)"]],
  [Gate.VisitorNotAllowed, 403, ["(gate)"]],
  [Gate.CallerRefused, 403, ["(access token at an agent)"]],
  [Authentication.SignInRefused, 403, ["(sign-in)"]],
  [Authentication.SignInCancelled, 403, ["(sign-in)"]],
  [Authentication.EmailDomainRefused, 403, ["(sign-in)"]],
  [Authentication.SignInFailed, 502, ["(sign-in)"]],
  [Authentication.SignInNotConfigured, 503, ["(sign-in)"]],
  [Gate.GateNotConfigured, 503, ["(gate)"]],
  [Gate.AccessWindowClosed, 503, ["access window closed"]]
] as const

const modules = {
  AuthenticationErrors: Authentication,
  AdmissionErrors: CertificateAdmission,
  ChannelErrors: Channels,
  CreditErrors: Credits,
  EdgeErrors: Edges,
  EnrollmentErrors: Enrollment,
  GateErrors: Gate,
  HostnameErrors: Hostnames,
  PortErrors: Ports,
  PipelineErrors: Pipelines,
  RequestErrors: Requests,
  TopologyErrors: Topologies,
  TunnelErrors: Tunnels
}

describe("the table of refusals", () => {
  it("has a row for every error class of the package, once", () => {
    const files = globSync("*/*Errors.ts", { cwd: fileURLToPath(new URL("../../src", import.meta.url)) })
    assert.sameMembers(
      files.map((file) => basename(file, ".ts")),
      Object.keys(modules)
    )
    const declared = Object.values(modules).flatMap((module) =>
      Object.values(module).filter((own) => typeof own === "function" && "problemType" in own)
    )
    assert.deepStrictEqual(new Set(table.map(([error]) => error as unknown)), new Set<unknown>(declared))
    assert.strictEqual(table.length, declared.length)
  })

  it("has a class for every row of the contract, with its status", () => {
    for (const [status, conditions] of Object.entries(contract)) {
      for (const condition of conditions) {
        const classes = table.filter(([, , rows]) => (rows as ReadonlyArray<string>).includes(condition))
        assert.isNotEmpty(classes, condition)
        for (const [error, given] of classes) assert.strictEqual(String(given), status, `${error.tag}: ${condition}`)
      }
    }
    const known = new Set<string>(Object.values(contract).flat())
    for (const [error, , rows] of table) {
      for (const row of rows) assert.isTrue(row.startsWith("(") || known.has(row), `${error.tag}: ${row}`)
    }
  })

  it("gives every class a tag and a type of its own", () => {
    assert.strictEqual(new Set(table.map(([error]) => error.tag)).size, table.length)
    assert.strictEqual(new Set(table.map(([error]) => error.problemType)).size, table.length)
  })
})

/** What follows from the declaration and the facts. */
const derived = new Set(["detail", "instance"])

for (const [error, status] of table) {
  describe(error.tag, () => {
    it("has its status", () => assert.strictEqual(error.httpStatus, status))

    const schema: Schema.Codec<{ readonly _tag: string }> = error as never
    const encode = Schema.encodeSync(Schema.toCodecJson(schema))
    const decode = Schema.decodeUnknownSync(Schema.toCodecJson(schema))
    const heading = `${status} ${problemType(error.tag)} ${error.tag}`
    it.prop(
      "travels as a problem with a sentence, and comes back as itself",
      [Arbitrary.schema(schema)],
      ([generated]) => {
        const facts = Object.fromEntries(Object.entries(generated).filter(([key]) => !derived.has(key)))
        const problem: typeof generated = Reflect.construct(error as never, [facts])
        const text = JSON.stringify(encode(problem))
        const { code, detail, title, type, ...wire } = JSON.parse(text)
        assert.strictEqual(`${wire.status} ${type} ${code}`, heading)
        assert.isTrue(title !== "" && detail !== "" && !detail.includes("undefined"), text)
        const back = decode(JSON.parse(text))
        assert.instanceOf(back, error as never)
        assert.strictEqual(JSON.stringify(encode(back)), text)
      },
      { arbitrary: { runs: runsOfOne }, timeout: 60_000 + runsOfOne * 60 }
    )
  })
}
