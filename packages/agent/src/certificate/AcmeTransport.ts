/**
 * HTTPS to one ACME server. Requests go only to the origin of its directory, so a response cannot direct the agent elsewhere; no
 * redirects; responses are limited in size and to 30 s.
 */
import { readBounded } from "@catenet/platform/BoundedRead"
import { Http } from "@catenet/platform/Http"
import { Clock, Effect } from "effect"
import type { IncomingMessage } from "node:http"
import { createConnection, proxyFor } from "../carrier/OutgoingProxy.ts"
import { type AcmeFailed, unknownIssuer, unreachable, untrusted } from "./AcmeFailed.ts"

const callBound = "30 seconds"
/** Bytes of an answer: a chain of certificates is the longest. */
const longestAcmeAnswer = 131_072
/** Nothing is waited for longer than this many seconds. */
const longestWait = 86_400

export interface Answer {
  readonly status: number
  readonly body: string
  readonly nonce: string | undefined
  readonly location: string | undefined
  /** Seconds, from `Retry-After`. */
  readonly retryAfter: number | undefined
  /** The server's clock in Unix milliseconds; undefined if it sent none. */
  readonly date: number | undefined
}

export interface AcmeTransport {
  /** The server's name in sentences: the host of its directory. */
  readonly server: string
  readonly call: (method: "GET" | "HEAD" | "POST", url: string, body?: string) => Effect.Effect<Answer, AcmeFailed>
}

const single = (header: string | ReadonlyArray<string> | undefined) =>
  typeof header === "string" ? header : header?.[0]

const dateOf = (text: string | undefined) => {
  const date = Date.parse(text ?? "")
  return Number.isNaN(date) ? undefined : date
}

/** A number of seconds or a date (RFC 9110 section 10.2.3), which is the server's. */
const secondsOf = (text: string | undefined, now: number) => {
  if (text === undefined) return undefined
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - now) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), longestWait)
}

const read = async (response: IncomingMessage) => {
  const answer = await readBounded(response, longestAcmeAnswer)
  if (answer === undefined) throw new Error(`its answer is longer than ${longestAcmeAnswer} bytes`)
  return answer.toString("utf8")
}

const describe = (error: unknown) => {
  if (!(error instanceof Error)) return String(error)
  // After the semicolon, Node appends advice for people who start Node themselves.
  return "code" in error && error.message === "" ? String(error.code) : error.message.replace(/;.*$/s, "")
}

/** Node's error codes for a certificate with an untrusted root. */
const unknownRoot = new Set<unknown>([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
])

const failedCall = (server: string, error: Error) =>
  "code" in error && unknownRoot.has(error.code)
    ? unknownIssuer(server, describe(error))
    : unreachable(server, describe(error))

/** `ca` are the trusted roots, PEM; by default those of the system. */
export const make = (directory: string, ca: string | undefined): AcmeTransport => {
  const { host: server, origin } = new URL(directory)

  const send = Effect.fnUntraced(function* (method: string, url: URL, body: string | undefined) {
    const proxy = yield* proxyFor({ host: url.hostname.replace(/^\[|\]$/gu, ""), port: Number(url.port) || 443 })
    return yield* Effect.callback<IncomingMessage, AcmeFailed>((resume) => {
      const sent = Http.secureRequest(url, {
        method,
        ...(proxy === undefined ? { agent: false } : { createConnection: createConnection(proxy, { url, ca }) }),
        headers: {
          "user-agent": "ct-agent",
          accept: "application/json, application/pem-certificate-chain, application/problem+json",
          ...(body === undefined
            ? {}
            : { "content-type": "application/jose+json", "content-length": Buffer.byteLength(body) })
        },
        ...(ca === undefined ? {} : { ca })
      })
      sent.on("error", (error) => resume(Effect.fail(failedCall(server, error))))
      sent.once("response", (response) => resume(Effect.succeed(response)))
      sent.end(body)
      return Effect.sync(() => void sent.destroy())
    })
  })

  const call = Effect.fnUntraced(
    function* (method: "GET" | "HEAD" | "POST", address: string, body?: string) {
      const url = URL.parse(address)
      if (url?.protocol !== "https:" || url.origin !== origin || url.username !== "" || url.password !== "")
        return yield* untrusted(
          server,
          `it names ${address.slice(0, 200)}, which is not https and at the directory's own address`
        )
      const response = yield* send(method, url, body)
      const { headers, statusCode: status = 0 } = response
      const content = yield* Effect.tryPromise({
        try: (signal) => {
          signal.addEventListener("abort", () => void response.destroy())
          return read(response)
        },
        catch: (error) => untrusted(server, describe(error))
      })
      if (status >= 300 && status < 400)
        return yield* untrusted(server, `it answered ${status}, and no redirect is followed`)
      const date = dateOf(single(headers.date))
      return {
        status,
        date,
        body: content,
        nonce: single(headers["replay-nonce"]),
        location: single(headers.location),
        retryAfter: secondsOf(single(headers["retry-after"]), date ?? (yield* Clock.currentTimeMillis))
      }
    },
    (calling) =>
      Effect.timeoutOrElse(calling, {
        duration: callBound,
        orElse: () => Effect.fail(unreachable(server, `no answer within ${callBound}`))
      })
  )
  return { server, call }
}
