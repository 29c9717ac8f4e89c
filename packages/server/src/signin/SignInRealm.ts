/** The keys, clients, applications and users of the platform's own identity provider. */
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Sealing } from "../store/Sealing.ts"

export interface Key {
  readonly id: string
  readonly purpose: "signing" | "cookie"
  readonly secret: string
  /** Unix seconds. */
  readonly at: number
}

export interface User {
  readonly id: string
  readonly username: string
  readonly email: string
  readonly emailVerified: boolean
  readonly name: string
  readonly passwordHash?: string
  readonly managementRoles: ReadonlyArray<string>
}

interface UserRow extends Omit<User, "passwordHash"> {
  readonly passwordHash: string | null
}

const userOf = ({ passwordHash, ...user }: UserRow): User => ({
  ...user,
  ...(passwordHash === null ? {} : { passwordHash })
})

interface ApplicationRow {
  readonly id: string
  readonly holder: string
  readonly content: string
  readonly agreedBy: string | null
  readonly agreedUntil: number | null
}

/** A client as the provider keeps it; only these two are looked for. */
export interface Client {
  readonly id: string
  readonly clientId: string
}

const dependencies = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sealing = yield* Sealing
  return { run: Effect.runPromiseWith(yield* Effect.context()), sealing, sql }
})

export const make = Effect.map(dependencies, ({ run, sealing, sql }) => {
  const opened = (place: "sign_in_clients.content" | "sign_in_keys.key", text: string) =>
    Result.getOrThrow(sealing.open(place, text))

  const keys = {
    all: () =>
      run(
        Effect.map(
          sql<Omit<Key, "secret"> & { readonly key: string }>`
            select id, purpose, key, created_at as at from sign_in_keys order by created_at desc, id`,
          (rows) => rows.map(({ key, ...row }): Key => ({ ...row, secret: opened("sign_in_keys.key", key) }))
        )
      ),
    put: ({ at, id, purpose, secret }: Key) =>
      run(
        Effect.asVoid(sql`insert into sign_in_keys (id, purpose, key, created_at)
          values (${id}, ${purpose}, ${sealing.seal("sign_in_keys.key", secret)}, ${at}) on conflict do nothing`)
      ),
    remove: (id: string) => run(Effect.asVoid(sql`delete from sign_in_keys where id = ${id}`))
  }

  interface Content {
    readonly content: string
  }
  const clientsOf = <C>(rows: ReadonlyArray<Content>) =>
    rows.map(({ content }) => JSON.parse(opened("sign_in_clients.content", content)) as C)
  const clients = <C extends Client>() => ({
    all: () => run(Effect.map(sql<Content>`select content from sign_in_clients order by client_id`, clientsOf<C>)),
    byClientId: (clientId: string) =>
      run(
        Effect.map(
          sql<Content>`select content from sign_in_clients where client_id = ${clientId}`,
          (rows) => clientsOf<C>(rows)[0]
        )
      ),
    put: (client: C) =>
      run(
        Effect.asVoid(sql`insert into sign_in_clients (id, client_id, content)
          values (${client.id}, ${client.clientId}, ${sealing.seal("sign_in_clients.content", JSON.stringify(client))})
          on conflict (id) do update set client_id = excluded.client_id, content = excluded.content`)
      ),
    remove: (id: string) => run(Effect.asVoid(sql`delete from sign_in_clients where id = ${id}`))
  })

  const user = sql`id, username, email, email_verified, name, password_hash, management_roles`
  const firstUser = (rows: ReadonlyArray<UserRow>) => (rows[0] === undefined ? undefined : userOf(rows[0]))
  const users = {
    byId: (id: string) => run(Effect.map(sql<UserRow>`select ${user} from sign_in_users where id = ${id}`, firstUser)),
    bySignIn: (name: string) =>
      run(
        Effect.map(
          sql<UserRow>`select ${user} from sign_in_users where email = ${name}
            union select ${user} from sign_in_users where username = ${name} limit 1`,
          firstUser
        )
      ),
    put: ({ email, emailVerified, id, managementRoles, name, passwordHash = undefined, username }: User) =>
      run(
        Effect.asVoid(sql`
          insert into sign_in_users (id, username, email, email_verified, name, password_hash, management_roles)
          values (${id}, ${username}, ${email}, ${emailVerified}, ${name}, ${passwordHash ?? null},
            array(select jsonb_array_elements_text(${JSON.stringify(managementRoles)}::jsonb)))
          on conflict (id) do update set username = excluded.username, email = excluded.email,
            email_verified = excluded.email_verified, name = excluded.name, password_hash = excluded.password_hash,
            management_roles = excluded.management_roles`)
      )
  }

  const applications = {
    holderOf: (network: string) => sealing.pseudonym("sign_in_applications.holder", network),
    all: () =>
      run(
        Effect.gen(function* () {
          const now = yield* unixSeconds
          const rows = yield* sql<ApplicationRow>`
            select id, holder, content, agreed_by, agreed_until from sign_in_applications order by created_at, id`
          return rows.map(({ agreedBy, agreedUntil, content, holder, id }) => {
            const agreed = agreedBy === null ? undefined : { by: agreedBy, seconds: (agreedUntil ?? Infinity) - now }
            return { id, holder, payload: JSON.parse(content) as Record<string, unknown>, agreed }
          })
        })
      ),
    agree: (id: string, accountId: string, seconds: number) =>
      run(
        Effect.flatMap(unixSeconds, (now) =>
          Effect.asVoid(sql`update sign_in_applications set agreed_by = ${accountId},
            agreed_until = ${Number.isFinite(seconds) ? now + seconds : null} where id = ${id}`)
        )
      ),
    put: (id: string, holder: string, payload: Readonly<Record<string, unknown>>) =>
      run(
        Effect.flatMap(unixSeconds, (now) =>
          Effect.asVoid(sql`insert into sign_in_applications (id, holder, content, created_at)
            values (${id}, ${holder}, ${JSON.stringify(payload)}, ${now})`)
        )
      ),
    remove: (id: string) => run(Effect.asVoid(sql`delete from sign_in_applications where id = ${id}`))
  }

  const links = {
    find: (issuer: string, subject: string) =>
      run(
        Effect.map(
          sql<{ readonly userId: string }>`
            select user_id from sign_in_links where issuer = ${issuer} and subject = ${subject}`,
          (rows) => rows[0]?.userId
        )
      ),
    put: (issuer: string, subject: string, userId: string) =>
      run(
        Effect.asVoid(sql`insert into sign_in_links (issuer, subject, user_id) values (${issuer}, ${subject}, ${userId})
          on conflict do nothing`)
      )
  }

  return { keys, clients, users, applications, links }
})
