/**
 * Restricts the platform to e-mail domains, for sessions and access tokens. A service account has no address and may do
 * what its owner may, by the owner's last known address. Without configured domains every account is allowed.
 */
import { EmailDomainRefused } from "@catenet/domain/identity/AuthenticationErrors"
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import type { Email } from "@catenet/domain/values/Email"
import type { Subject } from "@catenet/domain/values/Ids"
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Settings } from "../settings/Settings.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"

/** Who calls: a person with an address that the provider has verified, or a client of the provider. */
export interface Identity {
  readonly subject: Subject
  readonly email: Email | null
  /** Only of a token that a client has for itself. */
  readonly client: string | undefined
  /** Of a service account: the account that made it, or that made its maker. */
  readonly maker?: Subject
}

/** Subjects whose address was written down by this process. */
const remembered = 10_000

export class EmailDomains extends Context.Service<
  EmailDomains,
  {
    readonly record: (subject: Subject, email: Email) => Effect.Effect<void>
    /** Fails for those who may not. */
    readonly require: (identity: Identity) => Effect.Effect<void, EmailDomainRefused>
  }
>()("server/identity/EmailDomains") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { allowedEmailDomains } = yield* Settings
    const domains = allowedEmailDomains === undefined ? undefined : new Set(allowedEmailDomains.map(lowerAscii))
    const written = new BoundedMap<Subject, Email>(remembered)

    const allows = (email: string | null | undefined): boolean =>
      domains === undefined || (email != null && domains.has(email.slice(email.lastIndexOf("@") + 1)))

    /** An address that changes at the provider changes here, when its owner calls. */
    const record = Effect.fnUntraced(function* (subject: Subject, email: Email) {
      if (written.get(subject) === email) return
      yield* sql`insert into account_emails ${sql.insert({ subject, email })}
      on conflict (subject) do update set email = excluded.email where account_emails.email <> excluded.email`
      written.set(subject, email)
    }, sqlOrDie)

    const ownerOf = Effect.fnUntraced(function* (client: string) {
      const [owner] = yield* sql<{ email: string }>`select e.email from service_accounts s
      join account_emails e on e.subject = s.owner where s.client_id = ${client} and s.state = 'active'`
      return owner?.email
    }, sqlOrDie)

    const check = Effect.fnUntraced(function* ({ client, email, subject }: Identity) {
      if (email !== null) yield* record(subject, email)
      const asked = email === null && client !== undefined ? yield* ownerOf(client) : email
      if (!allows(asked)) return yield* new EmailDomainRefused()
    })

    return {
      record,
      require: (identity: Identity): Effect.Effect<void, EmailDomainRefused> =>
        domains === undefined ? Effect.void : check(identity)
    }
  })

  static readonly layer = Layer.effect(EmailDomains, EmailDomains.make)
}
