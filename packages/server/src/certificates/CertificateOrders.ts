/**
 * How the control plane orders a certificate at an authority. The program that has an ACME client provides it; without one every
 * order fails.
 */
import { Context, Data, Effect, type Scope } from "effect"
import type { Binding } from "../settings/CertificateVariables.ts"

/** There is no certificate. `why` is a sentence for the operator. */
export class OrderFailed extends Data.TaggedError("OrderFailed")<{
  readonly why: string
  /** Seconds to wait, if the authority said so. */
  readonly retryAfter?: number | undefined
}> {
  override get message() {
    return this.why
  }
}

/** An authority, the roots by which its server is trusted (the system's by default), and the account there. */
export interface Account {
  readonly directory: string
  readonly roots: string | undefined
  readonly binding: Binding | undefined
  /** The account's key, PEM. */
  readonly key: string
  /** The account's URL; undefined at the first order. */
  readonly url: string | undefined
}

export interface Order {
  readonly account: Account
  /** Host name, or `*.` before a zone. */
  readonly host: string
  readonly method: "dns-01" | "tls-alpn-01"
  /** The chain that is renewed. */
  readonly replaces: string | undefined
  /** Publishes the proof while the scope is open, and returns when the authority will see it. */
  readonly prove: (keyAuthorization: string) => Effect.Effect<void, OrderFailed, Scope.Scope>
}

/** Chain and key, PEM, and the account's URL. */
export interface Issued {
  readonly chain: string
  readonly key: string
  readonly url: string
}

export interface AcmeClient {
  readonly order: (order: Order) => Effect.Effect<Issued, OrderFailed>
  /** When the certificate is to be renewed, in Unix seconds; the authority is asked (RFC 9773). */
  readonly dueAt: (chain: string, account: Pick<Account, "directory" | "roots">) => Effect.Effect<number>
}

export const CertificateOrders = Context.Reference<AcmeClient>("server/certificates/CertificateOrders", {
  defaultValue: () => ({
    order: () => Effect.fail(new OrderFailed({ why: "This program has no ACME client." })),
    dueAt: () => Effect.succeed(Number.MAX_SAFE_INTEGER)
  })
})
