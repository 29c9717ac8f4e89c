/**
 * Names of a tunnel that do not reveal its token. In the session history it is the SHA-256 of the token's 32 bytes.
 */
import { native } from "@catenet/crypto/native"
import * as VisitorToken from "@catenet/crypto/VisitorToken"
import { Redacted } from "effect"
import { createHash } from "node:crypto"

/** `token` is 64 hex digits; so is the name. */
export const tunnelName = (token: string): string => createHash("sha256").update(token, "hex").digest("hex")

/** The visitor token of a routing token, both in hex. */
export const visitorTokenOf = (token: string): string => {
  const routingToken = Redacted.make(new Uint8Array(Buffer.from(token, "hex")))
  return Buffer.from(Redacted.value(VisitorToken.of(native, routingToken))).toString("hex")
}
