/** Variables of the connections to the database; those of TLS have the names that libpq gives them. */
import * as Parser from "@catenet/platform/Parser"
import * as SecretParser from "@catenet/platform/SecretParser"
import { defaulted, optional, required } from "@catenet/platform/Variable"

/** How connections are encrypted, as libpq names it; `no-verify` is node-postgres's name for `require`. */
export const modes = ["disable", "allow", "prefer", "require", "no-verify", "verify-ca", "verify-full"] as const
export type Mode = (typeof modes)[number]

export const variables = {
  databaseUrl: required("CT_CP_DATABASE_URL", SecretParser.databaseUrl, "URL of the PostgreSQL database."),
  databaseDirectUrl: optional(
    "CT_CP_DATABASE_DIRECT_URL",
    SecretParser.databaseUrl,
    "URL of the same database without a connection pooler, for notifications and backups."
  ),
  databaseRole: optional(
    "CT_CP_DATABASE_ROLE",
    Parser.text,
    "Role that runs the server; `catenet migrate` grants it the rights that it needs, and no others."
  ),
  databasePool: defaulted(
    "CT_CP_DATABASE_POOL",
    Parser.whole(2, 500),
    "10",
    "Number of database connections that are kept open."
  ),
  sslMode: optional(
    "PGSSLMODE",
    Parser.literal(...modes),
    "TLS mode of the database if its URL has no sslmode; if both are unset, disable on this machine and prefer elsewhere."
  ),
  sslRootCertificate: optional(
    "PGSSLROOTCERT",
    Parser.path,
    "File with the root certificates for the database, or system, if its URL has no sslrootcert."
  ),
  sslCertificate: optional(
    "PGSSLCERT",
    Parser.path,
    "File with the client certificate for the database, if its URL has no sslcert."
  ),
  sslKey: optional("PGSSLKEY", Parser.path, "File with the key of the client certificate, if the URL has no sslkey.")
} as const
