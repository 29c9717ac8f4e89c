/**
 * What is sent when a tunnel goes down or comes back (section 18): the exact body, and the headers that sign it. In addition to
 * the platform's own header it has those of the Standard Webhooks specification, so that receivers can use one of its libraries,
 * with `standardSecret` as the secret.
 */
import { Redacted } from "effect"
import * as Base64 from "../Base64.ts"
import * as Bytes from "../Bytes.ts"
import * as ConstantTime from "../ConstantTime.ts"
import * as Hex from "../Hex.ts"
import * as Json from "../Json.ts"
import type { Suite } from "../Suite.ts"

/** What happened to which tunnel. Times in Unix seconds. */
export interface Alert {
  readonly event: "tunnel.down" | "tunnel.up" | "tunnel.test"
  /** 32 hex. */
  readonly tunnelId: string
  readonly name: string
  readonly since: bigint
  readonly thresholdSecs: bigint
  readonly sentAt: bigint
}

/** A body and its headers. Every attempt of one delivery sends the same. */
export interface Delivery {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

const key = (secret: Redacted.Redacted<string>): Uint8Array => Bytes.fromText(Redacted.value(secret))

/** The signed body: compact, keys in this order. */
const bodyOf = (alert: Alert): string =>
  Json.write({
    event: alert.event,
    tunnel_id: alert.tunnelId,
    name: alert.name,
    since: alert.since,
    threshold_secs: alert.thresholdSecs,
    sent_at: alert.sentAt
  })

/**
 * The body and headers of an alert. `id` names the delivery, the same for all its attempts. The key is the secret as the text that
 * the user sees, not decoded from hex.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as AlertWebhook from "@catenet/crypto/webhook/AlertWebhook"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const secret = Redacted.make("0123456789abcdef".repeat(4))
 * const times = { since: 1700000000n, thresholdSecs: 300n, sentAt: 1700000301n }
 * const alert = { event: "tunnel.down", tunnelId: "0123456789abcdef".repeat(2), name: "my-agent", ...times }
 * const { body, headers } = AlertWebhook.sign(portable, secret, "msg_1", alert)
 * ok(AlertWebhook.verify(portable, secret, headers["x-ct-timestamp"], headers["x-ct-signature"], body))
 * ```
 */
export const sign = (suite: Suite, secret: Redacted.Redacted<string>, id: string, alert: Alert): Delivery => {
  const body = bodyOf(alert)
  const own = suite.hmacSha256(key(secret), Bytes.fromText(`${alert.sentAt}.${body}`))
  const standard = suite.hmacSha256(key(secret), Bytes.fromText(`${id}.${alert.sentAt}.${body}`))
  return {
    body,
    headers: {
      "content-type": "application/json",
      "x-ct-timestamp": alert.sentAt.toString(),
      "x-ct-signature": `sha256=${Hex.encode(own)}`,
      "webhook-id": id,
      "webhook-timestamp": alert.sentAt.toString(),
      "webhook-signature": `v1,${Base64.encode(standard)}`
    }
  }
}

/**
 * For receivers: whether the sender of a body knows the secret. The receiver decides how old it may be.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as AlertWebhook from "@catenet/crypto/webhook/AlertWebhook"
 * import { portable } from "@catenet/crypto/portable"
 *
 * ok(!AlertWebhook.verify(portable, Redacted.make("secret"), "1000", `sha256=${"00".repeat(32)}`, "{}"))
 * ```
 */
export const verify = (
  suite: Suite,
  secret: Redacted.Redacted<string>,
  timestamp: string,
  signature: string,
  body: string
): boolean => {
  if (!body.isWellFormed() || !timestamp.isWellFormed()) return false
  const expected = `sha256=${Hex.encode(suite.hmacSha256(key(secret), Bytes.fromText(`${timestamp}.${body}`)))}`
  return ConstantTime.equal(Bytes.fromText(expected), Bytes.fromText(signature.toWellFormed()))
}

/**
 * The secret in the form that Standard Webhooks libraries expect.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import * as AlertWebhook from "@catenet/crypto/webhook/AlertWebhook"
 *
 * strictEqual(Redacted.value(AlertWebhook.standardSecret(Redacted.make("00ff"))), "whsec_MDBmZg==")
 * ```
 */
export const standardSecret = (secret: Redacted.Redacted<string>): Redacted.Redacted<string> =>
  Redacted.make(`whsec_${Base64.encode(key(secret))}`)
