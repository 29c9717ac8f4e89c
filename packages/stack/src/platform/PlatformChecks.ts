/** What `catenet doctor` asks of a platform, from its files outward to its visitors. Nothing is changed. */
import * as CertificateStatusCheck from "@catenet/agent/internal/doctor/CertificateStatusCheck"
import * as DoctorCheck from "@catenet/agent/internal/doctor/DoctorCheck"
import * as NetworkChecks from "@catenet/agent/internal/doctor/NetworkChecks"
import { Refused, StateUnusable, Unreachable } from "@catenet/agent/internal/Failure"
import { certificateAuthorities } from "@catenet/domain/certificates/CertificateAuthorities"
import { bytesText, durationText } from "@catenet/domain/values/Format"
import { ended } from "@catenet/domain/values/Sentence"
import { Files } from "@catenet/platform/Files"
import { Http } from "@catenet/platform/Http"
import * as OutgoingHttp from "@catenet/server/internal/http/OutgoingHttp"
import { Clock, Effect, Option, Result, Schema } from "effect"
import * as Environments from "../up/Environments.ts"
import type { Listen } from "../up/Settings.ts"
import * as DnsRecords from "./DnsRecords.ts"
import * as PlatformBackup from "./PlatformBackup.ts"
import type { PlatformConfiguration } from "./PlatformConfiguration.ts"
import { here, hosts, origin } from "./PlatformEnvironments.ts"
import type * as PlatformFile from "./PlatformFile.ts"

const boundMillis = 5_000
const open = "Open the port in the firewall (ufw, firewalld, the provider's security group)."

/** The files that hold secrets are their owner's alone. */
const secretFiles = ({ password, variables }: PlatformFile.Paths, { folder }: PlatformConfiguration) =>
  DoctorCheck.run(
    "secrets",
    Effect.suspend(() => {
      const there = [password, variables, folder.secrets].filter((path) => Files.existsSync(path))
      const shown = there.find((path) => (Files.statSync(path).mode & 0o077) !== 0)
      return shown === undefined
        ? Effect.succeed(`${there.length} files, readable by their owner only`)
        : Effect.fail(new StateUnusable({ path: shown, detail: `others can read it. Run: chmod 600 ${shown}` }))
    })
  )

const freeBytes = 1024 ** 3

const disk = ({ folder }: PlatformConfiguration) =>
  DoctorCheck.run(
    "disk",
    Effect.suspend(() => {
      const { bavail, bsize } = Files.statfsSync(Files.existsSync(folder.root) ? folder.root : "/")
      const left = bytesText(bavail * bsize)
      return bavail * bsize >= freeBytes
        ? Effect.succeed(`${left} are free for ${folder.root}`)
        : Effect.fail(
            new StateUnusable({ path: folder.root, detail: `only ${left} are free. Make room, or move the folder.` })
          )
    })
  )

const records = ({ file: { domain } }: PlatformConfiguration) =>
  DoctorCheck.run(
    "DNS records",
    Effect.flatMap(DnsRecords.missing(domain), (lines) =>
      lines.length === 0
        ? Effect.succeed(`portal, auth and * of ${domain} resolve`)
        : Effect.fail(new Unreachable({ detail: `These are missing: ${lines.join("; ")}.` }))
    )
  )

const decodeProcesses = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Int)))

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

const programs = ({ folder }: PlatformConfiguration, paths: PlatformFile.Paths) =>
  DoctorCheck.run(
    "programs",
    Effect.suspend(() => {
      const text = Files.existsSync(folder.processes) ? Files.readFileSync(folder.processes, "utf8") : ""
      const found = Option.getOrElse(decodeProcesses(text), (): Readonly<Record<string, number>> => ({}))
      const names = Object.keys(found)
      const stopped = Object.entries(found).flatMap(([name, pid]) => (isAlive(pid) ? [] : [name]))
      if (names.length === 0)
        return Effect.fail(
          new Unreachable({ detail: `None runs. Start the platform: catenet up --folder ${paths.folder}` })
        )
      return stopped.length === 0
        ? Effect.succeed(`${names.join(", ")} run`)
        : Effect.fail(
            new Unreachable({ detail: `Not running: ${stopped.join(", ")}. Their logs are in ${folder.logs}.` })
          )
    })
  )

const fetched = OutgoingHttp.fetchOf(OutgoingHttp.longestAnswer)

/** The text of a 2xx. */
const answer = (what: string, url: string, log: string) =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetched(url, { signal })
      const text = await response.text()
      if (response.ok) return text
      throw new Error(`it answered ${response.status}`)
    },
    catch: (error) => error
  }).pipe(
    Effect.timeout(boundMillis),
    Effect.mapError((error) => {
      const why = error instanceof Error ? error.message : String(error)
      return new Unreachable({ detail: `${what} does not serve at ${url} (${why}). Its log is ${log}.` })
    })
  )

const controlPlane = ({ folder, settings }: PlatformConfiguration) =>
  DoctorCheck.run(
    "control plane",
    Effect.as(
      answer(
        "The control plane",
        `${Environments.url(here(settings.controlPlane))}/readyz`,
        `${folder.logs}/control-plane.log`
      ),
      "serves, and its database answers"
    )
  )

const decodeIssuer = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ issuer: Schema.String })))

const signIn = ({ file, folder, settings }: PlatformConfiguration) =>
  DoctorCheck.run(
    "sign-in",
    Effect.gen(function* () {
      const path = `/realms/${Environments.realm}`
      const url = `${Environments.url(here(settings.identityProvider))}${path}/.well-known/openid-configuration`
      const found = decodeIssuer(yield* answer("Sign-in", url, `${folder.logs}/idp.log`))
      const issuer = `${origin(hosts(file).signIn, settings)}${path}`
      if (Option.isSome(found) && found.value.issuer === issuer) return `serves as ${issuer}`
      const other = Option.isSome(found) ? found.value.issuer : "nobody"
      return yield* new Refused({
        detail: `It serves as ${other}, and people sign in at ${issuer}. Unset CT_IDP_PUBLIC_URL and start again.`
      })
    })
  )

const authorityOf = ({ file, given }: PlatformConfiguration) => {
  const [name = "", url] = (given["CT_CP_PLATFORM_ACME"] ?? file.certificates ?? "letsencrypt").trim().split(/\s+/)
  return { name, url: url ?? certificateAuthorities.find((known) => known.name === name)?.directoryUrl }
}

/** The `Date` of its directory. */
const dateOf = (url: string, roots: string | undefined) =>
  Effect.callback<number, Unreachable>((resume) => {
    const { hostname, pathname, port, search } = new URL(url)
    const request = Http.secureRequest(
      {
        host: hostname,
        port: port === "" ? 443 : Number(port),
        path: `${pathname}${search}`,
        timeout: boundMillis,
        agent: false,
        ...(roots === undefined ? {} : { ca: roots })
      },
      (response) => {
        resume(Effect.succeed(Date.parse(response.headers.date ?? "")))
        response.destroy()
      }
    )
    const failed = (why: string) =>
      resume(
        Effect.fail(
          new Unreachable({
            detail: `${url} does not answer (${why}). Let this machine reach it; renewals wait for it.`
          })
        )
      )
    request.once("timeout", () => (failed(`nothing within ${boundMillis / 1_000} s`), request.destroy()))
    request.once("error", ({ message }) => failed(message))
    request.end()
    return Effect.sync(() => request.destroy())
  })

const clockMillis = 60_000

const authority = (configuration: PlatformConfiguration) => {
  const { name, url } = authorityOf(configuration)
  const roots = configuration.given["CT_CP_PLATFORM_ACME_CA_FILE"]
  return url === undefined
    ? Effect.succeed(DoctorCheck.skipped("authority", `${name} is not one that this program knows`))
    : DoctorCheck.run(
        "authority",
        Effect.gen(function* () {
          const theirs = yield* dateOf(url, roots === undefined ? undefined : Files.readFileSync(roots, "utf8"))
          const apart = Math.round(((yield* Clock.currentTimeMillis) - theirs) / 1_000)
          if (Math.abs(apart) * 1_000 > clockMillis)
            return yield* new Refused({
              detail: `This machine's clock is ${Math.abs(apart)} s ${apart > 0 ? "ahead" : "behind"}. Start its time service.`
            })
          return `${name} answers, and this machine's clock agrees with it`
        })
      )
}

/** The certificate that visitors of a host of the platform see. */
const certificate = (what: string, host: string, { folder, settings }: PlatformConfiguration) =>
  DoctorCheck.run(
    what,
    Effect.gen(function* () {
      const shown = yield* NetworkChecks.certificate(here(settings.frontDoor), host)
      if (shown === undefined)
        return yield* new Unreachable({
          detail: `The edge shows none for ${host}. ${folder.logs}/control-plane.log says why it is missing.`
        })
      const judged = CertificateStatusCheck.judge(shown, host, yield* Clock.currentTimeMillis)
      return Result.isSuccess(judged)
        ? `of ${host} ${judged.success}`
        : yield* new Refused({ detail: ended(`The certificate of ${host} ${judged.failure}`) })
    })
  )

/** Through the name that everybody uses. A network without a way back to its own address fails this although others come in. */
const port = (what: string, host: string, listen: Listen) =>
  DoctorCheck.run(
    what,
    Effect.as(NetworkChecks.accepts({ host, port: listen.port }, open), `${host}:${listen.port} accepts connections`)
  )

const backupDays = 2

const backups = (configuration: PlatformConfiguration) =>
  configuration.settings.backups === 0
    ? Effect.succeed(DoctorCheck.skipped("backup", "CT_STACK_BACKUPS=0 makes none"))
    : DoctorCheck.run(
        "backup",
        Effect.gen(function* () {
          const at = PlatformBackup.newest(configuration)
          const { logs, root } = configuration.folder
          if (at === undefined)
            return yield* new StateUnusable({
              path: `${root}/backups`,
              detail: "there is none yet; the first is made soon after the platform has started."
            })
          const seconds = ((yield* Clock.currentTimeMillis) - at) / 1_000
          if (seconds < backupDays * 86_400) return `the newest is ${durationText(seconds)} old`
          return yield* new StateUnusable({
            path: `${root}/backups`,
            detail: `the newest is ${durationText(seconds)} old. The log of \`catenet up\` says why (${logs}).`
          })
        })
      )

/** All checks, in the order in which they are shown. */
export const all = (paths: PlatformFile.Paths, configuration: PlatformConfiguration) => {
  const { file, settings } = configuration
  const names = hosts(file)
  return [
    secretFiles(paths, configuration),
    disk(configuration),
    programs(configuration, paths),
    controlPlane(configuration),
    signIn(configuration),
    records(configuration),
    port("visitors' port", names.portal, settings.frontDoor),
    port("agents' port", names.portal, settings.mesh),
    authority(configuration),
    certificate("portal's certificate", names.portal, configuration),
    certificate("sign-in's certificate", names.signIn, configuration),
    backups(configuration)
  ]
}
