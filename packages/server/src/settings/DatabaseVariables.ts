/** Variables of the connections to the database; those of TLS have the names that libpq gives them. */
import * as Parser from "@catenet/platform/Parser"
import * as SecretParser from "@catenet/platform/SecretParser"
import { defaulted, optional, required } from "@catenet/platform/Variable"

/** How connections are encrypted, as libpq names it; `no-verify` is node-postgres's name for `require`. */
export const modes = ["disable", "allow", "prefer", "require", "no-verify", "verify-ca", "verify-full"] as const
export type Mode = (typeof modes)[number]

export const variables = {
  databaseUrl: required("CT_CP_DATABASE_URL", SecretParser.databaseUrl, "The PostgreSQL database."),
  databaseDirectUrl: optional(
    "CT_CP_DATABASE_DIRECT_URL",
    SecretParser.databaseUrl,
    "The same database without a connection pooler between: notifications and backups go there."
  ),
  databaseRole: optional(
    "CT_CP_DATABASE_ROLE",
    Parser.text,
    "Role under which the server will run; `catenet migrate` gives it what it needs, and no more."
  ),
  databasePool: defaulted("CT_CP_DATABASE_POOL", Parser.whole(2, 500), "10", "Connections kept to the database."),
  sslMode: optional(
    "PGSSLMODE",
    Parser.literal(...modes),
    "TLS to the database where its URL has no sslmode; without both none on this machine, and prefer elsewhere."
  ),
  sslRootCertificate: optional(
    "PGSSLROOTCERT",
    Parser.path,
    "File with the roots that the database's certificate must lead to, or system, where its URL has no sslrootcert."
  ),
  sslCertificate: optional(
    "PGSSLCERT",
    Parser.path,
    "File with our certificate for the database, where its URL has no sslcert."
  ),
  sslKey: optional("PGSSLKEY", Parser.path, "File with the key of that certificate, where the URL has no sslkey.")
} as const
