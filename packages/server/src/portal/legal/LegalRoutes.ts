/**
 * Legal pages, `llms.txt`, `security.txt` and the metadata of RFC 9728. All come from configuration and are read once;
 * what is not configured is left out.
 */
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Files } from "@catenet/platform/Files"
import { Markup, markup } from "@catenet/platform/Markup"
import { DateTime, Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { join } from "node:path"
import { Settings } from "../../settings/Settings.ts"
import type { Page } from "../shell/Shell.ts"
import * as VisitorPages from "../shell/VisitorPages.ts"
import { english, type Texts } from "../texts/English.ts"
import { german } from "../texts/German.ts"
import * as English from "./EnglishLegal.ts"
import type { Operator } from "./EnglishLegal.ts"
import * as German from "./GermanLegal.ts"

/** `/llms.txt`: what a coding agent has to know to use this installation, with its own addresses in it. */
interface Facts {
  readonly origin: string
  readonly issuer: string | undefined
  readonly meshEdgePort: number
  readonly channelBrokerPort: number | undefined
}

const tokens = ({ issuer, origin }: Facts) =>
  issuer === undefined
    ? "This installation has no identity provider configured; the routes below /me answer 404."
    : `A person signs in at ${origin}/portal. Without a browser, get an access token from
${issuer}/protocol/openid-connect/token (a service account uses grant_type=client_credentials) and send it as
\`Authorization: Bearer <ACCESS_TOKEN>\`. The server that issues tokens is also named at
${origin}/.well-known/oauth-protected-resource.`

const broker = ({ channelBrokerPort }: Facts) =>
  channelBrokerPort === undefined ? "" : `, the channel broker on port ${channelBrokerPort}`

const llmsTxt = (facts: Facts): string => `# Catenet

> A network of networks: tunnels bring the public internet to a service behind NAT, channels bring one agent to another.
> This installation is ${facts.origin}. This text is for coding agents.

## What you can and cannot do without a person

You can read ${facts.origin}/status, /network-info, /registry/pipelines and /registry/agents, redeem join and bootstrap
tokens that you received, and redeem a channel invitation with your own keys. You need a person, or a service account
that a person made, for everything below /me.

${tokens(facts)}

## Tools

- The API, described: ${facts.origin}/openapi.json for programs, ${facts.origin}/docs for people.
- The agent program \`ct-agent\`: it enrolls, serves a tunnel and gets its certificate. It needs the control plane address
  ${facts.origin}; edges are reached on port ${facts.meshEdgePort}${broker(facts)}.
- Errors are application/problem+json with a stable \`code\` and a \`detail\` that tells what to do.
- A POST that creates something takes an \`Idempotency-Key\` header: repeating it does not do it twice.

## A. Register in the directory

The operator registers you: POST /registry/agents with {holder_pubkey, card_url, role_tags, skill_ids} takes the
operator's token in x-ct-admin-token. Find others with GET /registry/agents and ?role= or ?skill=.

## B. Join a pipeline's channels and serve a role

GET /registry/pipelines names pipelines and their owners. An owner grants you a channel, or gives you an invitation:
POST /channel/invite/challenge, sign, POST /channel/invite/redeem.

## C. Publish a pipeline

POST /me/pipelines with {spec}, which holds {id, roles, operator_pubkey_hex, selection_policy}.

## D. Publish a site on its own hostname

POST /me/tunnels with {name, hostname} makes a tunnel. A hostname outside the zone of this installation is pending until one
of the records in its hostname_proof is in DNS and POST /me/tunnels/:id/verify-hostname has seen it. POST /me/tunnels/:id/install answers what an agent needs to serve
it, with a join token that works once. A hostname is first offline (rot), then edge-terminated (gelb): served with a
shared certificate, so the edge can read requests; then end-to-end (gruen): the agent has its own certificate and the
edge passes connections through unread.

## E. Call tools of another agent

Channels carry MCP, JSON-RPC 2.0, end to end encrypted between the two members.

## See also

- ${facts.origin}/nutzungsbedingungen
- ${facts.origin}/datenschutz
`

/** `/.well-known/security.txt` (RFC 9116). */
interface SecurityTxtFacts {
  readonly origin: string
  readonly contact: string
  readonly policy: URL | undefined
}

/** Days for which the file says that it holds; the standard recommends less than a year. */
const validDays = 180

const securityTxt = ({ contact, origin, policy }: SecurityTxtFacts, now: DateTime.Utc): string => {
  const expires = DateTime.add(DateTime.startOf(now, "day"), { days: validDays })
  return [
    `Contact: ${contact}`,
    `Expires: ${DateTime.formatIso(expires)}`,
    "Preferred-Languages: en, de",
    `Canonical: ${origin}/.well-known/security.txt`,
    ...(policy === undefined ? [] : [`Policy: ${policy.href}`])
  ]
    .map((line) => `${line}\n`)
    .join("")
}

/** A legal page in the shell: a heading and the operator's or our own prose. It is the same for everybody. */
const legalPage = (title: string, main: Markup): Page => ({
  title,
  isStill: true,
  main: markup`<h1>${title}</h1>
    <div class="panel pad prose">${main}</div>`
})

/** The metadata by which a client that was refused finds the authorization server (RFC 9728). */
interface ResourceFacts {
  readonly origin: string
  readonly issuer: string
}

const protectedResource = ({ issuer, origin }: ResourceFacts): string =>
  JSON.stringify({
    resource: origin,
    authorization_servers: [issuer],
    bearer_methods_supported: ["header"],
    resource_name: "Catenet",
    resource_documentation: `${origin}/docs`,
    resource_policy_uri: `${origin}/datenschutz`,
    resource_tos_uri: `${origin}/nutzungsbedingungen`
  })

const cached = { "cache-control": "public, max-age=300" }
const plain = "text/plain; charset=utf-8"

/** The operator's own file in place of ours. */
const replaced = (folder: string | undefined, file: string) =>
  folder === undefined
    ? Effect.succeed(undefined)
    : Effect.tryPromise(() => Files.readFile(join(folder, file), "utf8")).pipe(
        Effect.orElseSucceed((): string | undefined => undefined)
      )

const notThere = HttpServerRespondable.toResponse(new RouteNotFound())

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const settings = yield* Settings
    const {
      legalFolder,
      oidcIssuer: issuer,
      portalBaseUrl,
      securityContact: contact,
      securityPolicy: policy
    } = settings
    const { origin } = portalBaseUrl
    const operator: Operator = {
      name: settings.operatorName,
      address: settings.operatorAddress ?? [],
      email: settings.operatorEmail,
      phone: settings.operatorPhone,
      vatId: settings.operatorVatId,
      responsible: settings.operatorResponsible
    }

    const pages = [
      ["/impressum", "legalNotice", { de: German.impressum, en: English.impressum }],
      ["/datenschutz", "privacy", { de: German.datenschutz, en: English.datenschutz }],
      ["/nutzungsbedingungen", "terms", { de: German.nutzungsbedingungen, en: English.nutzungsbedingungen }]
    ] as const
    for (const [path, title, ours] of pages) {
      const theirs = yield* replaced(legalFolder, `${path.slice(1)}.html`)
      const answer = (texts: Texts) => {
        const own = texts.language === "de" ? ours.de : ours.en
        const body = theirs === undefined ? own(operator) : new Markup(theirs)
        return VisitorPages.show(texts, legalPage(texts[title], body), { back: path, headers: cached })
      }
      const answers = new Map([english, german].map((texts) => [texts.language, answer(texts)]))
      const chosen = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
        const texts = VisitorPages.textsOf(request)
        return answers.get(texts.language) ?? answer(texts)
      })
      yield* router.add("GET", path, chosen)
    }

    const { channelBrokerPort, meshEdgePort } = settings
    const llms =
      (yield* replaced(legalFolder, "llms.txt")) ?? llmsTxt({ origin, issuer, meshEdgePort, channelBrokerPort })
    yield* router.add(
      "GET",
      "/llms.txt",
      Effect.succeed(HttpServerResponse.text(llms, { contentType: plain, headers: cached }))
    )

    yield* router.add(
      "GET",
      "/.well-known/security.txt",
      contact === undefined
        ? notThere
        : Effect.map(DateTime.now, (now) =>
            HttpServerResponse.text(securityTxt({ origin, contact, policy }, now), {
              contentType: plain,
              headers: cached
            })
          )
    )

    yield* router.add(
      "GET",
      "/.well-known/oauth-protected-resource",
      issuer === undefined
        ? notThere
        : Effect.succeed(
            HttpServerResponse.text(protectedResource({ origin, issuer }), {
              contentType: "application/json",
              headers: cached
            })
          )
    )
  })
)
