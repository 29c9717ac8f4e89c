/**
 * An ACME server for one machine (RFC 8555, RFC 9773): it validates as a public authority does and issues from the development
 * root, so that a tunnel gets its certificate here in the way in which it will elsewhere. It keeps everything in memory: its
 * accounts and orders end with it.
 */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { certificateId } from "@catenet/crypto/x509/CertificateId"
import * as CertificateRequest from "@catenet/crypto/x509/CertificateRequest"
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { Entropy } from "@catenet/platform/Entropy"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { Option } from "effect"
import type { JWK } from "jose"
import { createHash, type KeyObject, X509Certificate } from "node:crypto"
import { AcmeProblem, type Reply } from "./AcmeProblem.ts"
import { decode, Finalize, NewAccount, NewOrder, Revocation } from "./AcmeRequest.ts"
import * as AcmeRequest from "./AcmeRequest.ts"

type Method = "tls-alpn-01" | "dns-01"

export interface Options {
  /** Below which its addresses are: `https://localhost:14000`, without a slash at the end. */
  readonly base: string
  readonly issuer: { readonly commonName: string; readonly root: string; readonly key: KeyObject }
  readonly lifetimeMillis: number
  /** The external account that every new one must be bound to. */
  readonly binding: { readonly kid: string; readonly hmac: Uint8Array } | undefined
  /** Fails with an `AcmeProblem` unless the name shows the proof. */
  readonly validate: (method: Method, name: string, keyAuthorization: string) => Promise<void>
  readonly methods: ReadonlyArray<Method>
  readonly now: () => number
  /** So many orders an account may place in so many seconds; without it there is no limit. */
  readonly limit?: { readonly orders: number; readonly seconds: number }
}

interface Challenge {
  readonly type: Method
  readonly token: string
  status: "pending" | "processing" | "valid" | "invalid"
  error?: AcmeProblem
}

interface Order {
  readonly id: string
  readonly account: string
  readonly name: string
  readonly challenges: ReadonlyArray<Challenge>
  status: "pending" | "ready" | "valid" | "invalid"
  chain?: string
}

const maxKept = 10_000
/** Of the orders of an account, the latest. */
const maxListed = 100
const day = 86_400_000

const hostForm = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/

const json = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(value)
})

const newId = () => Entropy.randomBytes(16).toString("base64url")

export class AcmeServer {
  readonly #options: Options
  readonly #nonces = new BoundedMap<string, true>(maxKept)
  readonly #accounts = new Map<string, JWK>()
  readonly #accountOf = new Map<string, string>()
  readonly #orders = new Map<string, Order>()
  /** When an account placed its orders, where that is limited. */
  readonly #placed = new Map<string, ReadonlyArray<number>>()
  readonly #issued = new Map<string, X509Certificate>()
  /** The account that ordered a certificate, by its SHA-256. */
  readonly #holders = new Map<string, string>()
  readonly #revoked = new Set<string>()

  constructor(options: Options) {
    this.#options = options
  }

  /** Answers one request; `path` begins with a slash, below the base. */
  async answer(method: string, path: string, body: string): Promise<Reply> {
    const { headers, ...reply } = await this.#routed(method, path, body).catch((error: unknown) =>
      error instanceof AcmeProblem ? error.reply : new AcmeProblem("serverInternal", "the server has a fault").reply
    )
    const index = `<${this.#options.base}/directory>;rel="index"`
    const { link: own, ...others } = headers ?? {}
    const link = own === undefined ? index : `${index}, ${own}`
    const common = { "replay-nonce": this.#newNonce(), "cache-control": "no-store", link }
    return { ...reply, headers: { ...common, ...others } }
  }

  #newNonce() {
    const nonce = newId()
    this.#nonces.set(nonce, true)
    return nonce
  }

  async #routed(method: string, path: string, body: string): Promise<Reply> {
    const { base, binding } = this.#options
    const url = `${base}${path}`
    const [, first = "", id = "", ...rest] = path.split("/")
    if (method === "GET" && path === "/directory")
      return json(200, {
        newNonce: `${base}/new-nonce`,
        newAccount: `${base}/new-account`,
        newOrder: `${base}/new-order`,
        revokeCert: `${base}/revoke-cert`,
        renewalInfo: `${base}/renewal-info`,
        meta: { externalAccountRequired: binding !== undefined }
      })
    // Not of RFC 8555: what a list of revoked certificates would say, by their SHA-256.
    if (method === "GET" && path === "/revoked") return json(200, [...this.#revoked])
    if (path === "/new-nonce") return { status: method === "HEAD" ? 200 : 204 }
    if (method === "GET" && first === "renewal-info") return this.#renewalInfo(id)
    if (method !== "POST") throw new AcmeProblem("malformed", "requests are signed, so they are POST")
    const signed = await AcmeRequest.verify(
      body,
      url,
      (nonce) => this.#nonces.delete(nonce),
      (kid) => this.#accounts.get(kid) ?? this.#missing("accountDoesNotExist", "there is no such account")
    )
    if (path === "/new-account") return this.#newAccount(signed, url)
    const account = signed.kid ?? this.#missing("malformed", "the request names no account")
    if (path === "/new-order") return this.#newOrder(account, signed.payload)
    if (path === "/revoke-cert") return this.#revoke(account, decode(Revocation, signed.payload).certificate)
    if (url === account) return json(200, this.#account(account))
    if (url === this.#account(account).orders) return json(200, { orders: this.#ordersOf(account) })
    const order = this.#orders.get(id)
    if (order === undefined || order.account !== account) throw new AcmeProblem("malformed", "there is nothing here")
    switch (first) {
      case "order":
        return json(200, this.#orderOf(order))
      case "authorization":
        return json(200, this.#authorizationOf(order))
      case "challenge":
        return this.#validate(order, rest[0], signed)
      case "finalize":
        return this.#finalize(order, decode(Finalize, signed.payload).csr)
      case "certificate":
        return order.chain === undefined
          ? this.#missing("orderNotReady", "there is no certificate yet")
          : { status: 200, headers: { "content-type": "application/pem-certificate-chain" }, body: order.chain }
      default:
        return this.#missing("malformed", "there is nothing here")
    }
  }

  #missing(kind: string, detail: string): never {
    throw new AcmeProblem(kind, detail)
  }

  #account(url: string) {
    return { status: "valid", orders: url.replace(/(?<=\/)account(?=\/[^/]+$)/, "orders") }
  }

  #ordersOf(account: string): ReadonlyArray<string> {
    const own = [...this.#orders.values()].filter((order) => order.account === account)
    return own.slice(-maxListed).map(({ id }) => `${this.#options.base}/order/${id}`)
  }

  async #newAccount({ jwk, payload, thumbprint }: AcmeRequest.Signed, url: string): Promise<Reply> {
    const { base, binding } = this.#options
    const { externalAccountBinding, onlyReturnExisting } = decode(NewAccount, payload)
    const known = this.#accountOf.get(thumbprint)
    if (known !== undefined) return json(200, this.#account(known), { location: known })
    if (onlyReturnExisting === true) throw new AcmeProblem("accountDoesNotExist", "there is no such account")
    if (binding !== undefined) await AcmeRequest.checkBinding(externalAccountBinding, jwk, url, binding)
    if (this.#accounts.size >= maxKept) throw new AcmeProblem("rateLimited", "too many accounts")
    const location = `${base}/account/${newId()}`
    this.#accounts.set(location, jwk)
    this.#accountOf.set(thumbprint, location)
    return json(201, this.#account(location), { location })
  }

  #newOrder(account: string, payload: unknown): Reply {
    const [{ value: name }] = decode(NewOrder, payload).identifiers
    if (!hostForm.test(name))
      throw new AcmeProblem("rejectedIdentifier", `no certificate is issued for ${name.slice(0, 253)}`)
    if (this.#orders.size >= maxKept) throw new AcmeProblem("rateLimited", "too many orders")
    const { base, methods } = this.#options
    this.#spendLimit(account)
    const challenges = methods.map((type): Challenge => ({ type, token: newId(), status: "pending" }))
    const order: Order = { id: newId(), account, name, challenges, status: "pending" }
    this.#orders.set(order.id, order)
    return json(201, this.#orderOf(order), { location: `${base}/order/${order.id}` })
  }

  #spendLimit(account: string) {
    const { limit, now } = this.#options
    if (limit === undefined) return
    const at = now()
    const since = at - limit.seconds * 1000
    const placed = (this.#placed.get(account) ?? []).filter((each) => each > since)
    const seconds = Math.ceil(((placed.at(-limit.orders) ?? at) - since) / 1000)
    if (placed.length >= limit.orders) throw new AcmeProblem("rateLimited", "too many orders", seconds)
    this.#placed.set(account, [...placed, at])
  }

  #orderOf({ chain, challenges, id, name, status }: Order) {
    const { base } = this.#options
    const error = challenges.find((challenge) => challenge.error !== undefined)?.error?.document
    return {
      status,
      identifiers: [{ type: "dns", value: name }],
      authorizations: [`${base}/authorization/${id}`],
      finalize: `${base}/finalize/${id}`,
      ...(chain === undefined ? {} : { certificate: `${base}/certificate/${id}` }),
      ...(error === undefined ? {} : { error })
    }
  }

  #challengeOf(id: string, { error, status, token, type }: Challenge) {
    const url = `${this.#options.base}/challenge/${id}/${type}`
    return { type, url, token, status, ...(error === undefined ? {} : { error: error.document }) }
  }

  #authorizationOf({ challenges, id, name, status }: Order) {
    return {
      status: status === "pending" || status === "invalid" ? status : "valid",
      identifier: { type: "dns", value: name },
      challenges: challenges.map((challenge) => this.#challengeOf(id, challenge))
    }
  }

  #validate(order: Order, type: string | undefined, { payload, thumbprint }: AcmeRequest.Signed): Reply {
    const challenge = order.challenges.find((each) => each.type === type)
    if (challenge === undefined) return this.#missing("malformed", "there is no such challenge")
    if (payload !== undefined && order.status === "pending" && challenge.status === "pending") {
      challenge.status = "processing"
      void this.#options.validate(challenge.type, order.name, `${challenge.token}.${thumbprint}`).then(
        () => {
          challenge.status = "valid"
          order.status = "ready"
        },
        (error: unknown) => {
          challenge.status = "invalid"
          challenge.error =
            error instanceof AcmeProblem ? error : new AcmeProblem("serverInternal", "the server has a fault")
          order.status = "invalid"
        }
      )
    }
    // Clients find by it what they are to look at while the challenge is decided (section 7.5.1).
    const link = `<${this.#options.base}/authorization/${order.id}>;rel="up"`
    return json(200, this.#challengeOf(order.id, challenge), { link })
  }

  #finalize(order: Order, csr: string): Reply {
    const { issuer, lifetimeMillis, now } = this.#options
    if (order.status !== "ready") throw new AcmeProblem("orderNotReady", `the order is ${order.status}`)
    const requested = Option.getOrUndefined(CertificateRequest.read(Buffer.from(csr, "base64url")))
    if (requested === undefined || requested.hosts.length !== 1 || requested.hosts[0] !== order.name)
      throw new AcmeProblem("badCSR", "the request is not for the name that was ordered")
    const from = toUnixSeconds(now()) * 1000
    const der = Certificate.mintLeaf(issuer.commonName, issuer.key, requested.key, [order.name], {
      from,
      until: Math.min(from + lifetimeMillis, Date.parse(new X509Certificate(issuer.root).validTo) - day)
    })
    order.chain = `${Certificate.pem(der)}${issuer.root}`
    order.status = "valid"
    const id = Option.getOrUndefined(certificateId(der))
    const certificate = new X509Certificate(der)
    this.#holders.set(certificate.fingerprint256, order.account)
    if (id !== undefined) this.#issued.set(id, certificate)
    return json(200, this.#orderOf(order), { location: `${this.#options.base}/order/${order.id}` })
  }

  /** The account that ordered a certificate takes it back (RFC 8555 section 7.6). */
  #revoke(account: string, encoded: string): Reply {
    const der = Buffer.from(encoded, "base64url")
    const fingerprint = createHash("sha256")
      .update(der)
      .digest("hex")
      .toUpperCase()
      .replace(/..(?!$)/g, "$&:")
    if (this.#revoked.has(fingerprint)) throw new AcmeProblem("alreadyRevoked", "it was revoked before")
    if (this.#holders.get(fingerprint) !== account) throw new AcmeProblem("unauthorized", "another account ordered it")
    this.#revoked.add(fingerprint)
    return { status: 200 }
  }

  /** A window before a third of the life is left. */
  #renewalInfo(id: string): Reply {
    const certificate = this.#issued.get(id)
    if (certificate === undefined) throw new AcmeProblem("malformed", "no such certificate was issued here")
    const [from, until] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()]
    const at = (share: number) => new Date(from + (until - from) * share).toISOString()
    return json(200, { suggestedWindow: { start: at(0.6), end: at(0.65) } }, { "retry-after": "21600" })
  }
}
