/** `catenet init`: writes what `catenet up` needs for a domain of one's own, and says which DNS records are missing. */
import * as Prompts from "@catenet/agent/internal/terminal/Prompts"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Entropy } from "@catenet/platform/Entropy"
import { Files } from "@catenet/platform/Files"
import * as PrivateFile from "@catenet/platform/PrivateFile"
import { Console, Effect, Option, Schedule } from "effect"
import { Command, Flag } from "effect/cli"
import * as Logs from "../Logs.ts"
import * as DnsRecords from "../platform/DnsRecords.ts"
import * as PlatformFile from "../platform/PlatformFile.ts"
import { isFree } from "../Ports.ts"
import { makeInFolder } from "../StartFailed.ts"
import { root } from "./root.ts"

const flags = {
  domain: Flag.String("domain").pipe(
    Flag.optional,
    Flag.withDescription("Domain of the platform, such as example.net")
  ),
  email: Flag.String("email").pipe(Flag.optional, Flag.withDescription("E-mail address of the owner")),
  certificates: Flag.String("certificates").pipe(
    Flag.optional,
    Flag.withDescription("Certificate authority, as in CT_CP_PLATFORM_ACME (default: letsencrypt)")
  ),
  folder: Flag.String("folder").pipe(
    Flag.withDescription("Folder for the configuration"),
    Flag.withDefault(PlatformFile.defaultFolder)
  ),
  yes: Flag.Boolean("yes").pipe(
    Flag.withDescription("Ask nothing; take what is not given by its default"),
    Flag.withDefault(false)
  ),
  wait: Flag.Boolean("wait").pipe(
    Flag.withDescription("Wait until the DNS records are there; --no-wait only prints those that are missing"),
    Flag.withDefault(true)
  )
}

const needed = (name: string) =>
  ConfigurationInvalid.of(`--${name}`, "is not set", `give it as catenet init --yes --${name} ...`)

/** The flag, or the answer of a person. */
const answered = Effect.fnUntraced(function* (
  name: "domain" | "email",
  given: Option.Option<string>,
  question: string,
  yes: boolean
) {
  if (Option.isSome(given)) return given.value.trim()
  if (yes) return yield* needed(name)
  const prompts = yield* Prompts.Prompts
  const answer = yield* prompts.ask(question, false)
  return Option.isNone(answer) ? yield* needed(name) : answer.value.trim()
})

const write = (paths: PlatformFile.Paths, file: PlatformFile.PlatformFile) =>
  makeInFolder("--folder", () => {
    Files.mkdirSync(paths.folder, { recursive: true, mode: 0o711 })
    PrivateFile.replaceNow(paths.password, `${Entropy.randomBytes(15).toString("base64url")}\n`)
    PrivateFile.replaceNow(
      paths.variables,
      "# Variables of the control plane and the edge, which go before everything else: docs/operations.md lists them.\n" +
        "# CT_CP_DATABASE_URL=postgres://... uses a PostgreSQL of your own.\n"
    )
    Files.writeFileSync(paths.schema, PlatformFile.schemaText())
    // The last one: a folder with it is complete.
    Files.writeFileSync(paths.file, PlatformFile.written(file), { flag: "wx" })
  })

const ports = [443, 4433] as const

const warnOfPorts = Effect.forEach(
  ports,
  (port) =>
    Effect.flatMap(isFree("0.0.0.0", port), (free) =>
      free
        ? Effect.void
        : Console.error(`Port ${port} cannot be opened here: another program uses it, or this user may not.`)
    ),
  { discard: true }
)

const pollEvery = "10 seconds"

const showRecords = Effect.fnUntraced(function* (domain: string, wait: boolean) {
  const lines = yield* DnsRecords.missing(domain)
  if (lines.length === 0) return
  yield* Console.log(`These DNS records are missing:\n\n${lines.map((line) => `  ${line}`).join("\n")}\n`)
  if (!wait) return
  yield* Console.error("Waiting for them; Ctrl-C ends this, everything is written.")
  yield* DnsRecords.missing(domain).pipe(
    Effect.repeat({ schedule: Schedule.spaced(pollEvery), until: (missing) => missing.length === 0 })
  )
})

export const init = Command.make(
  "init",
  flags,
  Effect.fn(function* ({ certificates, domain, email, folder, wait, yes }) {
    const { logFormat } = yield* root
    const paths = PlatformFile.pathsIn(folder)
    yield* Effect.gen(function* () {
      if (PlatformFile.isThere(paths))
        return yield* ConfigurationInvalid.of(
          paths.file,
          "is already there",
          "edit it, or name another folder by --folder"
        )
      const answers = {
        domain: (yield* answered("domain", domain, "Domain, such as example.net: ", yes)).toLowerCase(),
        email: yield* answered("email", email, "E-mail address of the owner: ", yes),
        ...(Option.isSome(certificates) ? { certificates: certificates.value } : {})
      }
      const file = yield* PlatformFile.checked(answers).pipe(
        Effect.mapError(() =>
          ConfigurationInvalid.of(
            "--domain or --email",
            "cannot be used",
            "the domain is like example.net and the address like you@example.net"
          )
        )
      )
      yield* write(paths, file)
      yield* Console.log(`Wrote ${paths.file}; the owner's password is in ${paths.password}.`)
      yield* warnOfPorts
      yield* showRecords(file.domain, wait)
      yield* Console.log(`Now start the platform: catenet up --folder ${paths.folder}`)
    }).pipe(Effect.provide(Prompts.Prompts.layer), Effect.scoped, Effect.provide(Logs.layer(logFormat, "catenet-init")))
  })
).pipe(
  Command.withDescription(
    "Writes catenet.yaml, its schema, catenet.env for secrets and the owner's first password to a folder, from a domain and an\n" +
      "e-mail address; says which DNS records are missing and waits for them. `catenet up --folder` starts the platform."
  ),
  Command.withShortDescription("Prepare a platform on your own domain"),
  Command.withExamples([
    { command: "catenet init", description: "Asks, and writes to /etc/catenet" },
    { command: "catenet init --yes --domain example.net --email you@example.net", description: "For scripts" }
  ])
)
