/**
 * The server that the control plane is measured against: `node:http`, the usual driver with prepared statements, the
 * usual library for tokens, and for each route the statements, checks and answer of the control plane's own handler,
 * written straight down. It counts nothing, limits no caller, describes nothing, refuses in one way only, and looks up one
 * thing with one statement.
 */
import { jwtVerify } from "jose"
import { createPublicKey, createCipheriv, hash, randomBytes, timingSafeEqual } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { createRequire } from "node:module"

type Row = Readonly<Record<string, unknown>>
interface Statement {
  readonly name: string
  readonly text: string
}
interface Connection {
  query(
    statement: Statement & { readonly values?: ReadonlyArray<unknown> }
  ): Promise<{ readonly rows: ReadonlyArray<Row> }>
}
interface Driver {
  readonly Pool: new (options: { readonly connectionString: string; readonly max: number }) => Connection
  readonly types: { readonly setTypeParser: (oid: number, parse: (text: string) => unknown) => void }
}

const env = (name: string) => process.env[name] ?? ""
const driver: Driver = createRequire(env("DRIVER"))("pg")
driver.types.setTypeParser(20, Number)
const pool = new driver.Pool({ connectionString: env("DATABASE_URL"), max: Number(env("POOL")) })
const key = createPublicKey(readFileSync(env("KEY_PATH")))
const adminToken = Buffer.from(env("ADMIN_TOKEN"), "hex")
const remembered = env("REMEMBERS") === "" ? undefined : new Map<string, { subject: string; expiresAt: number }>()

class Refused extends Error {}

const hex32 = /^[0-9a-f]{32}$/i
const hex64 = /^[0-9a-f]{64}$/i
const digest = (text: string) => hash("sha256", text)
const now = () => Math.floor(Date.now() / 1000)

const subjectOf = async ({ headers }: IncomingMessage): Promise<string> => {
  const token = headers.authorization?.slice("Bearer ".length) ?? ""
  const known = remembered?.get(token)
  if (known !== undefined && known.expiresAt > now()) return known.subject
  const { payload } = await jwtVerify(token, key, {
    algorithms: ["RS256"],
    issuer: env("ISSUER"),
    audience: env("AUDIENCE"),
    requiredClaims: ["exp", "sub"],
    clockTolerance: 30
  })
  if (payload["typ"] !== "Bearer" || payload.sub === undefined) throw new Refused()
  remembered?.set(token, { subject: payload.sub, expiresAt: payload.exp ?? 0 })
  return payload.sub
}

const bodyOf = (request: IncomingMessage): Promise<Row> =>
  new Promise((resolve, reject) => {
    let text = ""
    request.setEncoding("utf8")
    request.on("data", (chunk: string) => (text += chunk))
    request.on("end", () => resolve(JSON.parse(text)))
    request.on("error", reject)
  })

const textIn = (body: Row, name: string, pattern: RegExp): string => {
  const value = body[name]
  if (typeof value !== "string" || !pattern.test(value)) throw new Refused()
  return value.toLowerCase()
}

const statement = (name: string, text: string) => {
  const prepared = { name, text }
  return (connection: Connection, ...values: ReadonlyArray<unknown>) =>
    connection.query({ ...prepared, values }).then(({ rows }) => rows)
}

const memberAt = statement(
  "member-at",
  `select c.operator_pubkey, m.noise_pubkey, m.noise_attestation
   from channel_members m join channels c on c.channel = m.channel where m.channel = $1 and m.holder = $2`
)
const describeChannel = statement(
  "describe-channel",
  `select channel, operator_pubkey, (select count(*) from channel_members m where m.channel = c.channel) as members
   from channels c where channel = $1 and owner = $2`
)
const visible = `t.id in (select id from tunnels where subject = $2
  union all select tunnel_id from tunnel_grants where grantee = $3)`
const agentProof =
  "case when t.allow_unproved_agents then 'lifted' when t.agent_proved_at is not null then 'required' else 'optional' end"
/** The hostnames of the bench are given by the platform, so none waits for a proof. */
const shown = `select t.id, t.name, t.hostname, c.proved_at as hostname_proof, coalesce(h.status, 'rot') as status,
  h.deadline as claim_deadline, t.require_login, t.allow_any_login, t.bridge_mode, t.subject = $1 as owned, t.created_at,
  coalesce(p.protocol, 'http') as kind, p.port, null as port_host, ${agentProof} as agent_proof, coalesce((t.options ->> 'http_only')::boolean, false) as http_only
  from tunnels t left join public_ports p on p.tunnel_id = t.id
    left join hosts h on h.hostname = t.hostname and h.routing_token = t.routing_token
    left join hostname_claims c on c.tunnel_id = t.id`
const listTunnels = statement("list-tunnels", `${shown} where ${visible} order by t.created_at, t.id`)
const shownTunnel = statement("shown-tunnel", `${shown} where t.id = $4 and ${visible}`)
const registerChannel = statement(
  "register-channel",
  "select is_new, refusal from channel_register($1, $2, $3, $4, $5, $6, $7)"
)
const enrolTunnel = statement(
  "enrol-tunnel",
  `with claimed as (
    insert into idempotent_answers (key_hash, request_hash, caller, nonce, sealed, created_at)
      values ($6, $7, $8, $9, $10, $5) on conflict (key_hash) do nothing returning key_hash),
  changed as (
    insert into tunnels (id, subject, name, routing_token, created_at) select $1, $2, $3, $4, $5
      from claimed where tunnels_admit($2, $11) returning 1)
  select audit_append($2, 'tunnel_enrolled', $1, '', $5) as refusal from changed`
)

const most = 1_000_000
const seal = (sealingKey: Buffer, text: string) => {
  const nonce = randomBytes(12)
  const cipher = createCipheriv("chacha20-poly1305", sealingKey, nonce, { authTagLength: 16 })
  cipher.setAAD(Buffer.from("bare"), { plaintextLength: Buffer.byteLength(text) })
  return { nonce, sealed: Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]) }
}

const createTunnel = async (request: IncomingMessage) => {
  const subject = await subjectOf(request)
  const body = await bodyOf(request)
  const name = textIn(body, "name", /^.{1,60}$/u)
  const given = String(request.headers["idempotency-key"])
  const keyHash = digest(JSON.stringify(["key", subject, "create-tunnel", given]))
  const sealingKey = hash("sha256", JSON.stringify(["seal", subject, "create-tunnel", given]), "buffer")
  const requestHash = digest(JSON.stringify([JSON.stringify(body)]))
  const id = randomBytes(16).toString("hex")
  const token = randomBytes(32).toString("hex")
  const at = now()
  const fixed = { claim_deadline: null, require_login: false, allow_any_login: false, bridge_mode: "off", owned: true }
  const tunnel = {
    id,
    name,
    hostname: null,
    hostname_proof: null,
    status: "rot",
    ...fixed,
    created_at: at,
    kind: "http",
    port: null,
    port_host: null,
    agent_proof: "optional",
    http_only: false
  }
  const { nonce, sealed } = seal(sealingKey, JSON.stringify({ id, token, hostname: null, calls: [], tunnel }))
  const row = [id, subject, name, token, at]
  const [made] = await enrolTunnel(pool, ...row, keyHash, requestHash, digest(subject), nonce, sealed, most)
  if (made === undefined) throw new Refused()
  return JSON.stringify(tunnel)
}

const createChannel = async (request: IncomingMessage) => {
  const subject = await subjectOf(request)
  const body = await bodyOf(request)
  const channel = textIn(body, "channel", hex64)
  const operator = textIn(body, "operator_pubkey", hex64)
  const [made] = await registerChannel(pool, channel, subject, operator, most, subject, "channel_registered", now())
  if (made?.["is_new"] !== true) throw new Refused()
  return ""
}

const authorize = async (request: IncomingMessage) => {
  const given = Buffer.from(String(request.headers["x-ct-admin-token"]), "hex")
  if (given.length !== adminToken.length || !timingSafeEqual(given, adminToken)) throw new Refused()
  const body = await bodyOf(request)
  const [member] = await memberAt(pool, textIn(body, "channel", hex64), textIn(body, "holder", hex64))
  if (member === undefined) throw new Refused()
  return JSON.stringify(member)
}

const getChannel = async (request: IncomingMessage, channel: string) => {
  const subject = await subjectOf(request)
  if (!hex64.test(channel)) throw new Refused()
  const [found] = await describeChannel(pool, channel.toLowerCase(), subject)
  if (found === undefined) throw new Refused()
  return JSON.stringify(found)
}

const getTunnels = async (request: IncomingMessage) => {
  const subject = await subjectOf(request)
  return JSON.stringify(await listTunnels(pool, subject, subject, subject))
}

const getTunnel = async (request: IncomingMessage, id: string) => {
  const subject = await subjectOf(request)
  if (!hex32.test(id)) throw new Refused()
  const [found] = await shownTunnel(pool, subject, subject, subject, id.toLowerCase())
  if (found === undefined) throw new Refused()
  return JSON.stringify(found)
}

let status = "{}"

const route = (request: IncomingMessage): Promise<string> | string => {
  const { method, url = "/" } = request
  if (method === "GET") {
    if (url === "/status") return status
    if (url === "/me/tunnels") return getTunnels(request)
    if (url.startsWith("/me/tunnels/")) return getTunnel(request, url.slice("/me/tunnels/".length))
    if (url.startsWith("/me/channels/")) return getChannel(request, url.slice("/me/channels/".length))
  } else if (method === "POST") {
    if (url === "/me/tunnels") return createTunnel(request)
    if (url === "/me/channels") return createChannel(request)
    if (url === "/internal/channel/authorize") return authorize(request)
  } else if (method === "PUT" && url === "/status")
    return bodyOf(request).then((body) => (status = JSON.stringify(body)))
  throw new Refused()
}

const answer = async (request: IncomingMessage, response: ServerResponse) => {
  try {
    const body = await route(request)
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "cache-control": "no-store"
    })
    response.end(body)
  } catch (error) {
    response.writeHead(400, { "content-type": "text/plain", "content-length": 0 }).end()
    if (!(error instanceof Refused)) process.stderr.write(`${String(error)}\n`)
  }
}

createServer({ keepAliveTimeout: 65_000 }, (request, response) => void answer(request, response)).listen(
  Number(env("PORT")),
  "127.0.0.1"
)
process.once("SIGTERM", () => process.exit(0))
