/**
 * `catenet.yaml`: what a platform on a domain of one's own is told. Secrets and everything else that has a variable stand in
 * `catenet.env` beside it, readable by its owner only.
 */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Files } from "@catenet/platform/Files"
import { Effect, Schema } from "effect"
import { join, resolve } from "node:path"

export const defaultFolder = "/etc/catenet"

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const Domain = Schema.String.check(
  Schema.isMaxLength(200),
  Schema.isPattern(new RegExp(`^(?:${label}\\.)+${label}$`), {
    description: "a domain in lower case, such as example.net"
  })
)
const Email = Schema.String.check(
  Schema.isMaxLength(254),
  Schema.isPattern(/^[^@\s]+@[^@\s]+$/, { description: "an e-mail address" })
)

export const PlatformFile = Schema.Struct({
  domain: Domain.annotate({
    description: "The portal is at portal.DOMAIN, sign-in at auth.DOMAIN, tunnels are below DOMAIN."
  }),
  email: Email.annotate({ description: "Address of the owner, who signs in with it and is an operator." }),
  certificates: Schema.optionalKey(
    Schema.String.annotate({
      description: "Authority of the platform's certificates, as in CT_CP_PLATFORM_ACME; letsencrypt if it is left out."
    })
  ),
  registration: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "Who may make an account by signing in by e-mail: closed, open, or domains separated by commas; closed if it is left out."
    })
  ),
  data: Schema.optionalKey(
    Schema.String.annotate({
      description: "Folder for the database, keys and logs; the folder data beside this file if it is left out."
    })
  )
}).annotate({ description: "The platform of one domain, for `catenet up`." })
export type PlatformFile = typeof PlatformFile.Type

export interface Paths {
  readonly folder: string
  readonly file: string
  readonly schema: string
  readonly variables: string
  /** The owner's password at the first sign-in. */
  readonly password: string
}

export const pathsIn = (given: string): Paths => {
  const folder = resolve(given)
  const inside = (name: string) => join(folder, name)
  return {
    folder,
    file: inside("catenet.yaml"),
    schema: inside("catenet.schema.json"),
    variables: inside("catenet.env"),
    password: inside("owner-password")
  }
}

export const isThere = ({ file }: Paths): boolean => Files.existsSync(file)

const decode = Schema.decodeUnknownEffect(PlatformFile, { onExcessProperty: "error" })

const unusable = (path: string, problem: string) =>
  ConfigurationInvalid.of(path, problem, "correct it, or write it again by catenet init in another folder")

const text = (path: string) =>
  Effect.try({ try: () => Files.readFileSync(path, "utf8"), catch: () => unusable(path, "cannot be read") })

/** The file as it is written, checked. */
export const read = Effect.fn("PlatformFile.read")(function* (paths: Paths) {
  const { parse } = yield* Effect.promise(() => import("yaml"))
  const content = yield* text(paths.file)
  const found = yield* Effect.try({
    try: (): unknown => parse(content),
    catch: (error) => unusable(paths.file, `is no YAML (${error instanceof Error ? error.message.split("\n")[0] : ""})`)
  })
  return yield* decode(found).pipe(
    Effect.mapError(({ message }) =>
      unusable(paths.file, `does not say what it must: ${message.replaceAll(/\s+/g, " ")}`)
    )
  )
})

/** The variables beside it; none where there is no such file. */
export const variablesOf = Effect.fn("PlatformFile.variablesOf")(function* ({ variables }: Paths) {
  if (!Files.existsSync(variables)) return {}
  const lines = (yield* text(variables)).split("\n").map((line) => /^\s*([A-Z][A-Z0-9_]*)=(.*?)\s*$/u.exec(line))
  return Object.fromEntries(lines.flatMap((found) => (found === null ? [] : [[found[1] ?? "", found[2] ?? ""]])))
})

/** An answer that the file may hold. */
export const checked = (values: Readonly<Record<string, string>>) => decode(values)

/** The JSON Schema by which editors check the file. */
export const schemaText = (): string => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(PlatformFile, { onExcessProperty: "error" })
  const document = { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema, $defs: definitions }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** The file for these answers, with comments. */
export const written = ({
  certificates,
  domain,
  email
}: PlatformFile): string => `# yaml-language-server: $schema=./catenet.schema.json
# The platform of ${domain}, for \`catenet up\`. Secrets stand in catenet.env beside this file.

# The portal is at portal.${domain}, sign-in at auth.${domain}, tunnels are below *.${domain}.
domain: ${domain}

# The owner, who signs in with this address; the first password is in owner-password.
email: ${JSON.stringify(email)}

# Who issues the certificates of the platform: letsencrypt, zerossl (with an account in catenet.env), or another
# authority as NAME and the URL of its ACME directory.
certificates: ${JSON.stringify(certificates ?? "letsencrypt")}

# Who may make an account by signing in by e-mail, for which CT_CP_SMTP_URL in catenet.env names a mail server: closed,
# open, or domains of addresses. Nobody may if it is left out.
# registration: example.net,example.org

# Where the database, keys and logs are; by default in the folder data beside this file.
# The unit that catenet service up prints wants it there:
# data: /var/lib/catenet-up
`
