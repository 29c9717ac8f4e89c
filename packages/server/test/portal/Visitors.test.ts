/** Pages for everybody: the entrance, the gate, legal pages, and what a browser is shown of a refusal. */
import { server } from "@catenet/testing/server/Accounts"
import { ask as api, person } from "@catenet/testing/server/channels/Asking"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Effect } from "effect"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { backPath } from "../../src/portal/SessionRoutes.ts"
import { english } from "../../src/portal/texts/English.ts"
import { german } from "../../src/portal/texts/German.ts"
import { faults } from "./PageFaults.ts"

const html = "text/html,application/xhtml+xml,*/*;q=0.8"
const zone = { CT_CP_HOSTNAME_ZONE: "zone.example", CT_GATE_COOKIE_DOMAIN: "zone.example" }

const open = (path: string, init: RequestInit = {}) =>
  Effect.gen(function* () {
    const response = yield* TestServer.raw(path, { ...init, headers: { accept: html, ...init.headers } })
    return { status: response.status, headers: response.headers, text: yield* Effect.promise(() => response.text()) }
  })
const form = (path: string, fields: Readonly<Record<string, string>>, more: Readonly<Record<string, string>> = {}) =>
  open(path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...more },
    body: new URLSearchParams(fields).toString()
  })

/** Refusals that no browser meets on a page: of agents, edges, payment providers and callers of the API. */
const ofPrograms = new Set(
  `AdminTokenRefused MetricsTokenRefused WebhookSignatureRefused PaymentUnknown PriceBelowOne AgentAlreadyEnrolled
  JoinProofRefused JoinTokenSpent JoinTokenUnknown BatchCountOutOfRange BootstrapAlreadyRedeemed
  BootstrapProofRefused BootstrapTokenExpired BootstrapTokenSpent BootstrapTokenUnknown AgentNotListed
  ChannelUnknown MemberNotAdmitted InvitationExpired InvitationRefused InvitationSpent NotPipelineOwner
  PipelineIdTaken PipelineNotFound RoleTagRepeated RoleWithoutUnits EdgeCaNotConfigured EdgeCaNotPublished EdgeUnhealthy EdgeUnknown
  NoLiveEdge HeartbeatProofIncomplete HeartbeatRefused TicketKeysRefused HistoryDisabled ReceiptsDisabled LookupAmbiguous
  ChallengeNotBrokered ChallengeNotDelegated DnsBusy DnsNotConverged DnsProviderFailed HostnameUnknown NotAdmitted NotHostnameOwner
  RoutingTokenRevoked ChunkExtensionsTooLarge HeadersTooLarge NotHttp NotServing DirectoryProofRefused
  RangeNotSatisfiable AgentProofRequired HostnameGuarded CallerRefused`.split(/\s+/u)
)
/** A page says of these what it says of nothing. */
const ofNothing = new Set(["TunnelNotFound", "ChannelNotFound", "NetworkUnknown"])

describe("refusals", () => {
  plain("are said in German where a browser can meet them", () => {
    const domain = join(import.meta.dirname, "../../../domain/src")
    const classes = globSync("**/*Errors.ts", { cwd: domain }).flatMap((file) =>
      [...readFileSync(join(domain, file), "utf8").matchAll(/^export class (\w+) extends Problem</gmu)].map(
        ([, name = ""]) => name
      )
    )
    assert.isAbove(classes.length, 100)
    assert.deepStrictEqual(
      classes.filter((name) => !german.problems.has(name) && !ofPrograms.has(name) && !ofNothing.has(name)),
      []
    )
    assert.deepStrictEqual(
      [...ofPrograms].filter((name) => german.problems.has(name) || !classes.includes(name)),
      []
    )
  })
})

describe("where a switch of the language leads back to", () => {
  plain("is the page on which it stands", () => {
    const id = "ab".repeat(16)
    for (const path of ["/", "/docs", "/impressum", "/operators", `/me/topologies/${id}/editor`, "/portal/tunnels"])
      assert.strictEqual(backPath(path, true), path)
    assert.strictEqual(
      backPath("/gate/request-access?host=a.zone.example", false),
      "/gate/request-access?host=a.zone.example"
    )
    for (const path of ["//evil.example", "/gate/request-access?host=a&x=1", "/docs/../x", "https://evil.example/docs"])
      assert.strictEqual(backPath(path, false), "/", path)
    assert.strictEqual(backPath("/portal/tunnels", false), "/")
  })
})

layer(server({ ...zone, CT_PORTAL_SOCIAL_PROVIDERS: "github, google" }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("pages for everybody", (it) => {
  it.effect("are whole in both languages", () =>
    Effect.gen(function* () {
      const made = yield* api(person("gina"), "/me/tunnels", { name: "gated" })
      yield* api(person("gina"), `/me/tunnels/${String(made.body["id"])}`, { require_login: true }, { method: "PATCH" })
      const host = String(made.body["hostname"])
      for (const texts of [english, german])
        for (const [path, status] of [
          ["/", 200],
          ["/portal", 200],
          ["/portal/login", 503],
          ["/portal/callback", 503],
          ["/docs", 200],
          ["/impressum", 200],
          ["/datenschutz", 200],
          ["/nutzungsbedingungen", 200],
          [`/gate/request-access?host=${host}`, 200],
          ["/gate/request-access?host=none.zone.example", 404],
          ["/gate/start?host=none.zone.example", 503],
          ["/gate/callback", 503],
          [`/gate/share?host=${host}&token=${"x".repeat(43)}`, 403],
          ["/nothing", 404],
          ["/me/nothing", 404],
          ["/net/nothing", 404]
        ] as const) {
          const page = yield* open(path, { headers: { "accept-language": texts.language } })
          const about = `${path} ${texts.language}`
          assert.strictEqual(page.status, status, `${about} ${page.text.slice(0, 200)}`)
          assert.deepStrictEqual(faults(page.text, texts), [], about)
          assert.strictEqual(page.headers.get("content-language"), texts.language, about)
          assert.match(page.headers.get("content-security-policy") ?? "", /^default-src 'none'; style-src 'self';/u)
          assert.notInclude(page.headers.get("content-security-policy") ?? "", "unsafe")
          assert.include(page.text, `href="/impressum">${texts.legalNotice}<`, about)
        }
    })
  )

  it.effect("keep the problem for programs", () =>
    Effect.gen(function* () {
      for (const accept of ["*/*", "application/json", "application/json, text/plain"]) {
        const answer = yield* open("/nothing", { headers: { accept } })
        assert.strictEqual(answer.headers.get("content-type"), "application/problem+json", accept)
        assert.deepInclude(JSON.parse(answer.text), { code: "RouteNotFound", status: 404 })
      }
      const wrong = yield* open("/impressum", { method: "POST" })
      assert.deepStrictEqual([wrong.status, wrong.headers.get("allow")], [405, "GET, HEAD, OPTIONS"])
      assert.match(wrong.headers.get("content-type") ?? "", /^text\/html/u)
    })
  )

  it.effect("offer the providers of the setting where nothing else can be offered", () =>
    Effect.gen(function* () {
      const page = yield* open("/portal")
      assert.include(page.text, english.loginMissing)
      for (const provider of ["github", "google"])
        assert.include(page.text, `href="/portal/login?kc_idp_hint=${provider}"`)
      assert.notInclude(page.text, "gitlab")
    })
  )

  it.effect("give the form back in which somebody asks to be let in, with what was typed", () =>
    Effect.gen(function* () {
      const made = yield* api(person("gina"), "/me/tunnels", { name: "asked" })
      const id = String(made.body["id"])
      yield* api(person("gina"), `/me/tunnels/${id}`, { require_login: true }, { method: "PATCH" })
      const host = String(made.body["hostname"])
      for (const email of ["", "no address", `${"x".repeat(300)}@a.example`]) {
        const page = yield* form("/gate/request-access", { host, email, note: "It is me" })
        assert.strictEqual(page.status, 400)
        assert.match(page.text, /aria-describedby="field-email-error"[^>]* autofocus/u)
        assert.include(page.text, ">It is me</textarea>")
      }
      assert.strictEqual((yield* form("/gate/request-access", { host: "no.zone.example", email: "" })).status, 404)
      const program = yield* form("/gate/request-access", { host, email: "" }, { accept: "application/json" })
      assert.strictEqual(program.status, 422)
      const left = yield* api(person("gina"), `/me/tunnels/${id}/access-requests`)
      assert.strictEqual(JSON.stringify(left.body), "[]")
      const asked = yield* form(
        "/gate/request-access",
        { host, email: "vera@a.example", note: "x" },
        { "accept-language": "de" }
      )
      assert.include(asked.text, german.accessAskedText(host, "vera&#64;a.example").replace("&#64;", "@"))
    })
  )
})
