/**
 * Registration over the multiplexed carrier: the agent names its token, hosts and identity; the edge accepts with its
 * terms or refuses with a code and a sentence. One session carries several registrations.
 */
import { Result } from "effect"
import { Buffer } from "node:buffer"
import { type Malformed, malformed, view } from "./Frame.ts"
import { decodeCertificate, encodeCertificate, type HostCertificate } from "./MuxCertificate.ts"
import { decodeFields, encodeFields, type Field, readBytes, readText, readU32, text, u32 } from "./MuxFields.ts"
import { decodeEnforcement, encodeEnforcement, type Enforcement } from "./MuxPolicy.ts"
import { type Reason, type RefusalCode, RefusalReason } from "./MuxReason.ts"
import { maxHostBytes, tokenBytes } from "./Role.ts"

/** Possession of the agent key: an Ed25519 signature over {@link proofMessage}. */
export interface Proof {
  readonly publicKey: Uint8Array
  readonly signature: Uint8Array
}

export interface RegisterRequest {
  readonly token: Uint8Array
  /** Hosts to bind to the token; none for a mesh-only registration. At most 32. */
  readonly hosts: ReadonlyArray<string>
  /** At most {@link maxAgentIdBytes}. */
  readonly agentId: string
  readonly proof?: Proof
  readonly wishes: {
    /** The origin understands PROXY protocol v2, so the client's address is wanted in every open header. */
    readonly proxyProtocol: boolean
  }
  /** The agent answers streams that are `challengeOnly` from an order of its own, or refuses them. */
  readonly answersChallenges?: boolean
  /** The agent answers echoes: it says whether its origin can be reached. */
  readonly answersEchoes?: boolean
  /** What the agent says of its certificates now; a host that it says nothing of is one like those of before. At most 32. */
  readonly certificates?: ReadonlyArray<HostCertificate>
  /** The agent's own version, for status pages. */
  readonly version?: string
  /** 8 bytes, the same in all registrations of one running agent, so that they are not taken for several. */
  readonly instance?: Uint8Array
  /** What the agent enforces where it ends the visitors' TLS. At most 16. */
  readonly enforces?: ReadonlyArray<Enforcement>
}

export interface Registered {
  /** Names the session in the edge's logs and status. */
  readonly sessionId: string
  /** How often the edge echoes; an agent that gets nothing for three of these may reconnect. */
  readonly keepAliveMillis: number
  readonly maxStreams: number
  /** The edge lets mesh clients in by visitor tokens too, so a capability need not carry the routing token. */
  readonly visitorTokens?: boolean
  /** The edge heeds what agents say of their certificates: a validation reaches the one that has an order open. */
  readonly heedsCertificates?: boolean
  /** The edge tells agents that enforce the policy when it changes, by a frame. */
  readonly announcesPolicy?: boolean
}

export interface Refusal extends Reason<RefusalCode> {
  /** The host the refusal is about. */
  readonly host?: string
}

const maxHosts = 32
/** Bytes of the name under which an agent registers. */
export const maxAgentIdBytes = 128
const instanceBytes = 8
const maxEnforced = 16
const tags = {
  token: 1,
  host: 2,
  agentId: 3,
  publicKey: 4,
  signature: 5,
  proxyProtocol: 6,
  version: 7,
  instance: 8,
  answersChallenges: 9,
  answersEchoes: 10,
  certificate: 11,
  enforces: 12
} as const
const answerTags = {
  sessionId: 1,
  keepAliveMillis: 2,
  maxStreams: 3,
  visitorTokens: 4,
  heedsCertificates: 5,
  announcesPolicy: 6
} as const

export const encodeRegister = (request: RegisterRequest): Buffer => {
  const fields: Array<Field> = [[tags.token, request.token]]
  for (const host of request.hosts) fields.push([tags.host, text(host)])
  fields.push([tags.agentId, text(request.agentId)])
  if (request.proof !== undefined) {
    fields.push([tags.publicKey, request.proof.publicKey], [tags.signature, request.proof.signature])
  }
  if (request.wishes.proxyProtocol) fields.push([tags.proxyProtocol, Uint8Array.of(1)])
  if (request.answersChallenges === true) fields.push([tags.answersChallenges, Uint8Array.of(1)])
  if (request.answersEchoes === true) fields.push([tags.answersEchoes, Uint8Array.of(1)])
  for (const certificateFields of request.certificates ?? [])
    fields.push([tags.certificate, encodeCertificate(certificateFields)])
  if (request.version !== undefined) fields.push([tags.version, text(request.version).subarray(0, 64)])
  if (request.instance !== undefined) fields.push([tags.instance, request.instance])
  for (const each of request.enforces ?? []) fields.push([tags.enforces, encodeEnforcement(each)])
  return encodeFields(fields)
}

/** Host names come out as they were sent; the edge judges them and refuses by name. */
export const decodeRegister = (bytes: Uint8Array): Result.Result<RegisterRequest, Malformed> => {
  const fields = decodeFields(bytes)
  if (fields === undefined) return malformed("registration fields")
  const token = readBytes(fields, tags.token, tokenBytes)
  const agentId = fields.get(tags.agentId)?.[0]
  const hosts = fields.get(tags.host) ?? []
  const publicKey = readBytes(fields, tags.publicKey, 32)
  const signature = readBytes(fields, tags.signature, 64)
  if (token === undefined) return malformed("registration token")
  if (agentId === undefined || agentId.length > maxAgentIdBytes) return malformed("registration agent id")
  if (hosts.length > maxHosts) return malformed("too many hosts")
  if (hosts.some((host) => host.length < 1 || host.length > maxHostBytes)) return malformed("host length")
  if ((publicKey === undefined) !== (signature === undefined)) return malformed("half a proof")
  const certificateFields = fields.get(tags.certificate) ?? []
  if (certificateFields.length > maxHosts) return malformed("too many certificates")
  const certificates = Result.all(certificateFields.map(decodeCertificate))
  if (Result.isFailure(certificates)) return Result.fail(certificates.failure)
  const enforced = fields.get(tags.enforces) ?? []
  if (enforced.length > maxEnforced) return malformed("too many that are enforced")
  const enforces = Result.all(enforced.map(decodeEnforcement))
  if (Result.isFailure(enforces)) return Result.fail(enforces.failure)
  const version = readText(fields, tags.version)
  const instance = readBytes(fields, tags.instance, instanceBytes)
  return Result.succeed({
    token,
    hosts: hosts.map((host) => host.toString("utf8")),
    agentId: agentId.toString("utf8"),
    wishes: { proxyProtocol: fields.get(tags.proxyProtocol)?.[0]?.[0] === 1 },
    ...(publicKey && signature && { proof: { publicKey, signature } }),
    ...(fields.get(tags.answersChallenges)?.[0]?.[0] === 1 && { answersChallenges: true }),
    ...(fields.get(tags.answersEchoes)?.[0]?.[0] === 1 && { answersEchoes: true }),
    ...(certificateFields.length > 0 && { certificates: certificates.success }),
    ...(version !== undefined && { version: version.slice(0, 64) }),
    ...(instance && { instance }),
    ...(enforced.length > 0 && { enforces: enforces.success })
  })
}

export const encodeRegistered = (answer: Registered): Buffer =>
  encodeFields([
    [answerTags.sessionId, text(answer.sessionId)],
    [answerTags.keepAliveMillis, u32(answer.keepAliveMillis)],
    [answerTags.maxStreams, u32(answer.maxStreams)],
    ...(answer.visitorTokens === true ? [[answerTags.visitorTokens, Uint8Array.of(1)] as const] : []),
    ...(answer.heedsCertificates === true ? [[answerTags.heedsCertificates, Uint8Array.of(1)] as const] : []),
    ...(answer.announcesPolicy === true ? [[answerTags.announcesPolicy, Uint8Array.of(1)] as const] : [])
  ])

export const decodeRegistered = (bytes: Uint8Array): Result.Result<Registered, Malformed> => {
  const fields = decodeFields(bytes)
  if (fields === undefined) return malformed("answer fields")
  const sessionId = readText(fields, answerTags.sessionId)
  const keepAliveMillis = readU32(fields, answerTags.keepAliveMillis)
  const maxStreams = readU32(fields, answerTags.maxStreams)
  if (sessionId === undefined || keepAliveMillis === undefined || maxStreams === undefined) return malformed("answer")
  const visitorTokens = fields.get(answerTags.visitorTokens)?.[0]?.[0] === 1
  const heedsCertificates = fields.get(answerTags.heedsCertificates)?.[0]?.[0] === 1
  const announcesPolicy = fields.get(answerTags.announcesPolicy)?.[0]?.[0] === 1
  return Result.succeed({
    sessionId,
    keepAliveMillis,
    maxStreams,
    ...(visitorTokens && { visitorTokens }),
    ...(heedsCertificates && { heedsCertificates }),
    ...(announcesPolicy && { announcesPolicy })
  })
}

/** host length u8, host, then the reason. */
export const encodeRefusal = (refusal: Refusal): Buffer => {
  const host = text(refusal.host ?? "").subarray(0, maxHostBytes)
  return Buffer.concat([Uint8Array.of(host.length), host, RefusalReason.encode(refusal)])
}

export const decodeRefusal = (bytes: Uint8Array): Result.Result<Refusal, Malformed> => {
  const buffer = view(bytes)
  const length = buffer[0]
  if (length === undefined || length > maxHostBytes || buffer.length < 1 + length) return malformed("refusal")
  const host = buffer.toString("utf8", 1, 1 + length)
  return Result.map(RefusalReason.decode(buffer.subarray(1 + length)), (reason) =>
    length === 0 ? reason : { ...reason, host }
  )
}

const proofLabel = Buffer.from("catenet mux registration v1\0", "latin1")

/**
 * The bytes an agent signs: bound to the edge's challenge and, by `binding` (exporter of the TLS session), to this one
 * connection, so that a relayed or recorded proof is refused.
 */
export const proofMessage = (parts: {
  readonly token: Uint8Array
  readonly agentId: string
  readonly challenge: Uint8Array
  readonly binding: Uint8Array
}): Buffer => {
  const agentId = text(parts.agentId)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(agentId.length)
  return Buffer.concat([proofLabel, parts.token, parts.challenge, parts.binding, length, agentId])
}
