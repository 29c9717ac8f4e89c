/**
 * The pages of the portal, as a person sees them.
 * One file, since all cases share one server and one person at it.
 */
import { server } from "@catenet/testing/server/Accounts"
import { ask, person } from "@catenet/testing/server/channels/Asking"
import { type As, headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Addresses from "../../src/portal/Addresses.ts"
import { programOf } from "../../src/portal/pages/AccountPage.ts"
import { textsFor } from "../../src/portal/shell/Language.ts"
import { english } from "../../src/portal/texts/English.ts"
import { german } from "../../src/portal/texts/German.ts"

const ada = person("ada")
const bob = person("bob")
const zone = { CT_CP_HOSTNAME_ZONE: "zone.example", CT_CP_TUNNELS_PER_ACCOUNT: "3" }

const html = "text/html,application/xhtml+xml"

const answered = (response: Response) =>
  Effect.map(
    Effect.promise(() => response.text()),
    (text) => ({ status: response.status, location: response.headers.get("location"), text, headers: response.headers })
  )

const open = (as: As, path: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(headersOf(as), (own) =>
    Effect.flatMap(TestServer.raw(path, { headers: { accept: html, ...own, ...headers } }), answered)
  )

const post = (as: As, path: string, form: Readonly<Record<string, string>> = {}, more: Record<string, string> = {}) =>
  Effect.flatMap(headersOf(as), (own) =>
    Effect.flatMap(
      TestServer.raw(path, {
        method: "POST",
        headers: { accept: html, "content-type": "application/x-www-form-urlencoded", ...own, ...more },
        body: new URLSearchParams(form).toString()
      }),
      answered
    )
  )

const onceOf = (text: string) => /name="once" value="([0-9a-f]{32})"/u.exec(text)?.[1] ?? ""
const idsOf = (text: string) => [
  ...new Set([...text.matchAll(/href="\/portal\/tunnels\/([0-9a-f]{32})"/gu)].map(([, id]) => id ?? ""))
]

describe("what a saved form answers", () => {
  plain("is written for addresses of forms alone", () => {
    assert.includeMembers([...Addresses.forms], Object.keys(english.saved))
  })
})

describe("the sessions of an account", () => {
  plain("name the program and its system, and what is not known as it was sent", () => {
    const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)"
    for (const [sent, en, de] of [
      [
        "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
        "Firefox on Linux",
        "Firefox unter Linux"
      ],
      [
        `Mozilla/5.0 (Linux; Android 15) ${webkit} Chrome/140.0 Mobile Safari/537.36`,
        "Chrome on Android",
        "Chrome unter Android"
      ],
      [
        `Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/140.0 Safari/537.36 Edg/140.0`,
        "Edge on Windows",
        "Edge unter Windows"
      ],
      [
        `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Version/18.0 Safari/605.1`,
        "Safari on macOS",
        "Safari unter macOS"
      ],
      ["curl/8.9", "curl/8.9", "curl/8.9"],
      ["", "–", "–"]
    ] as const) {
      assert.strictEqual(programOf(english, sent), en)
      assert.strictEqual(programOf(german, sent), de)
    }
  })
})

describe("the language of a page", () => {
  plain("has every text in both languages, and no text twice", () => {
    const flat = (texts: object): ReadonlyArray<readonly [string, unknown]> =>
      Object.entries(texts).flatMap(([key, value]) =>
        typeof value === "object" && value !== null
          ? flat(value).map(([k, v]) => [`${key}.${k}`, v] as const)
          : [[key, value] as const]
      )
    const [en, de] = [new Map(flat(english)), new Map(flat(german))]
    assert.sameMembers([...de.keys()], [...en.keys()])
    // The same word in both languages.
    const same = new Set([
      "subject",
      "columnName",
      "renameTitle",
      "columnState",
      "sessionBrowser",
      "version",
      "apiAddress",
      "tunnel"
    ])
    for (const [key, text] of en) {
      const other = de.get(key)
      assert.notStrictEqual(other, "", key)
      if (typeof text === "string" && !same.has(key)) assert.notStrictEqual(other, text, key)
    }
  })

  plain("is that of what became of an alert's delivery, too", () => {
    const source = readFileSync(join(import.meta.dirname, "../../src/tunnels/alerts/AlertDeliveries.ts"), "utf8")
    const said = [
      ...(/const outcomes = \{([^}]*)\}/u.exec(source)?.[1] ?? "").matchAll(/"([^"]+)"/gu),
      ...source.matchAll(/"skipped", "([^"]+)"/gu)
    ].map(([, text = ""]) => text)
    assert.lengthOf(said, 4)
    for (const text of said) {
      assert.strictEqual(english.deliveryDetail(text), text)
      assert.notStrictEqual(german.deliveryDetail(text), text)
    }
  })

  plain("is the chosen one, else the first of the browser's, else English", () => {
    for (const [chosen, accepted, language] of [
      ["de", "en", "de"],
      [undefined, "de-AT,en;q=0.5", "de"],
      [undefined, "fr, en;q=0.4, de;q=0.9", "de"],
      [undefined, "de;q=0, en", "en"],
      [undefined, "fr", "en"],
      ["xx", undefined, "en"],
      [undefined, "de;q=nonsense", "en"],
      ["constructor", "__proto__", "en"]
    ] as const)
      assert.strictEqual(textsFor(chosen, accepted).language, language, `${chosen} ${accepted}`)
  })
})

layer(server(zone), { excludeTestServices: true, timeout: "60 seconds" })("pages of the portal", (it) => {
  it.effect("stand in one shell under a strict policy, and their style sheet may be kept for good", () =>
    Effect.gen(function* () {
      const front = yield* open("anonymous", "/", { "accept-language": "de" })
      assert.strictEqual(front.status, 200)
      assert.match(front.text, /<html lang="de">/u)
      assert.include(front.text, german.frontTitle)
      assert.strictEqual(front.headers.get("cache-control"), "no-store")
      const policy = front.headers.get("content-security-policy") ?? ""
      assert.match(policy, /^default-src 'none'; style-src 'self';/u)
      assert.notInclude(policy, "unsafe")
      assert.notMatch(front.text, /<script(?! type="module" src="\/portal\/static\/)| style="| on[a-z]+="/u)
      const sheet = /<link rel="stylesheet" href="([^"]+)"/u.exec(front.text)?.[1] ?? ""
      const styles = yield* open("anonymous", sheet)
      assert.strictEqual(styles.status, 200)
      assert.strictEqual(styles.headers.get("cache-control"), "public, max-age=31536000, immutable")
      assert.match(styles.headers.get("content-type") ?? "", /^text\/css/u)
    })
  )

  it.effect("lead to the sign-in without a session, and say so where there is nothing", () =>
    Effect.gen(function* () {
      const id = "0".repeat(32)
      for (const [path, location] of [
        ["/portal/home", "/portal"],
        ["/portal/tunnels", "/portal"],
        ["/portal/account", "/portal?next=%2Fportal%2Faccount"],
        [`/portal/tunnels/${id}`, `/portal?next=${encodeURIComponent(`/portal/tunnels/${id}`)}`],
        ["/portal/logout", "/"]
      ] as const) {
        const { location: there, status } = yield* open("anonymous", path)
        assert.deepStrictEqual([status, there], [303, location], path)
      }
      assert.strictEqual((yield* post("anonymous", "/portal/tunnels", { name: "x" })).location, "/portal")
      const nothing = yield* open(ada, "/portal/nothing")
      assert.strictEqual(nothing.status, 404)
      assert.include(nothing.text, english.notFoundTitle)
      const program = yield* open(ada, "/portal/nothing", { accept: "*/*" })
      assert.deepInclude(JSON.parse(program.text), { code: "RouteNotFound", status: 404 })
      const wrong = yield* open(ada, `/portal/tunnels/${id}/badge/enable`, { accept: "*/*" })
      assert.deepStrictEqual([wrong.status, wrong.headers.get("allow")], [405, "OPTIONS, POST"])
    })
  )

  it.effect("keep the language that was chosen, for requests of the portal itself", () =>
    Effect.gen(function* () {
      const chosen = yield* post(ada, "/portal/language", { language: "de", back: "/portal/account" })
      assert.deepStrictEqual([chosen.status, chosen.location], [303, "/portal/account"])
      assert.match(chosen.headers.get("set-cookie") ?? "", /^__Host-ct_language=de; Max-Age=31536000;/u)
      const { cookie = "" } = yield* headersOf(ada)
      const page = yield* open("anonymous", "/portal/account", { cookie: `${cookie}; __Host-ct_language=de` })
      assert.match(page.text, /<html lang="de">/u)
      const away = yield* post(ada, "/portal/language", { language: "de", back: "https://evil.example/" })
      assert.strictEqual(away.location, "/portal/home")
      assert.isNull((yield* post(ada, "/portal/language", { language: "xx" })).headers.get("set-cookie"))
      const foreign = yield* post(ada, "/portal/language", { language: "de" }, { "sec-fetch-site": "same-site" })
      assert.strictEqual(foreign.status, 403)
    })
  )

  it.effect("act on several ticked tunnels at once, and delete them only when they ask again", () =>
    Effect.gen(function* () {
      const bea = person("bulk-bea")
      const made = yield* Effect.forEach(["one", "two", "three"], (name) => ask(bea, "/me/tunnels", { name }))
      const [a = "", b = "", c = ""] = made.map(({ body }) => String(body["id"]))
      const bulk = (form: Readonly<Record<string, string>>) => post(bea, "/portal/tunnels/bulk", form)
      const isGated = (id: string) => Effect.map(ask(bea, `/me/tunnels/${id}`), ({ body }) => body["require_login"])
      const list = yield* open(bea, "/portal/tunnels")
      for (const id of [a, b, c]) assert.include(list.text, `form="bulk" name="${id}" value="1"`)
      assert.strictEqual((yield* bulk({ action: "login-on" })).status, 400)
      assert.strictEqual((yield* bulk({ action: "burn", [a]: "1" })).status, 400)
      const foreign = String((yield* ask(person("bulk-bob"), "/me/tunnels", { name: "his" })).body["id"])
      assert.strictEqual((yield* bulk({ action: "login-on", [a]: "1", [foreign]: "1" })).status, 404)
      assert.isFalse(yield* isGated(a), "nothing is changed where one is another's")
      const gated = yield* bulk({ action: "login-on", [a]: "1", [b]: "1" })
      assert.deepStrictEqual([gated.status, gated.location], [303, "/portal/tunnels"])
      assert.deepStrictEqual([yield* isGated(a), yield* isGated(b), yield* isGated(c)], [true, true, false])
      const asked = yield* bulk({ action: "delete", [a]: "1", [b]: "1" })
      assert.strictEqual(asked.status, 200)
      assert.include(asked.text, english.bulkDelete(2))
      assert.strictEqual((yield* ask(bea, `/me/tunnels/${a}`)).status, 200)
      assert.strictEqual((yield* bulk({ action: "delete", [a]: "1", [b]: "1", confirm: "1" })).status, 303)
      assert.deepStrictEqual(
        yield* Effect.forEach([a, b, c], (id) => Effect.map(ask(bea, `/me/tunnels/${id}`), ({ status }) => status)),
        [404, 404, 200]
      )
    })
  )

  it.effect("create a tunnel once however often its form is sent, within the account's limit", () =>
    Effect.gen(function* () {
      const cleo = person("cleo")
      const empty = yield* open(cleo, "/portal/tunnels")
      assert.include(empty.text, english.noTunnels)
      const once = onceOf(empty.text)
      const answers = yield* Effect.all(
        Array.from({ length: 6 }, () => post(cleo, "/portal/tunnels", { name: "photos", once })),
        { concurrency: "unbounded" }
      )
      for (const { location, status } of answers) assert.deepStrictEqual([status, location], [303, "/portal/tunnels"])
      const listed = yield* open(cleo, "/portal/tunnels")
      assert.lengthOf(idsOf(listed.text), 1)
      assert.match(listed.text, /photos-[0-9a-f]{8}\.zone\.example/u)

      for (const name of ["", "   ", "x".repeat(61), "a\u0007b"]) {
        const refused = yield* post(cleo, "/portal/tunnels", { name, once })
        assert.strictEqual(refused.status, 400, JSON.stringify(name))
        assert.match(
          refused.text,
          /aria-describedby="field-name-hint field-name-error" required aria-invalid="true" autofocus/u
        )
        assert.include(refused.text, english.nameRefused)
      }
      const typed = yield* post(cleo, "/portal/tunnels", { name: `<b>"${"x".repeat(60)}` })
      assert.include(typed.text, 'value="&#60;b&#62;&#34;xxx')
      assert.strictEqual((yield* post(cleo, "/portal/tunnels", { name: "photos" })).status, 409)
      for (const name of ["x".repeat(60), "b"])
        assert.strictEqual((yield* post(cleo, "/portal/tunnels", { name, once })).status, 303)
      const over = yield* post(cleo, "/portal/tunnels", { name: "c" })
      assert.strictEqual(over.status, 403)
      assert.include(over.text, english.limitReached(3))
      assert.lengthOf(idsOf((yield* open(cleo, "/portal/tunnels")).text), 3)
    })
  )

  it.effect("say once what a form has saved, and never what nobody has sent", () =>
    Effect.gen(function* () {
      const gil = person("saved-gil")
      const id = String((yield* ask(gil, "/me/tunnels", { name: "attic" })).body["id"])
      const own = `/portal/tunnels/${id}`
      const { cookie: session } = yield* headersOf(gil)
      const given = (headers: Headers) => /__Host-ct_saved=[^;]*/u.exec(headers.getSetCookie().join("\n"))?.[0] ?? ""
      const taken = yield* post(gil, `${own}/rename`, { name: "loft" })
      const cookie = `${session}; ${given(taken.headers)}`
      const next = yield* open(gil, `${own}?tab=settings`, { cookie, "accept-language": "de" })
      assert.include(
        next.text,
        `role="status"><svg class="i" aria-hidden="true"><use href="#i-check"/></svg>${german.saved["/portal/tunnels/:id/rename"]}</p>`
      )
      assert.strictEqual(given(next.headers), "__Host-ct_saved=", "it is forgotten")
      assert.notInclude(
        (yield* open(gil, own, { cookie: `${session}; __Host-ct_saved=x%3Cb%3E` })).text,
        'class="flash"'
      )
      const refused = yield* post(gil, `${own}/rename`, { name: "" })
      assert.strictEqual(given(refused.headers), "")
      assert.strictEqual(given((yield* post("anonymous", `${own}/rename`, { name: "x" })).headers), "")
    })
  )

  it.effect(
    "take a host name of the owner's own, show the records to copy, and look for them while they are open",
    () =>
      Effect.gen(function* () {
        const ivy = person("domain-ivy")
        const { body } = yield* ask(ivy, "/me/tunnels", { name: "attic" })
        const own = `/portal/tunnels/${String(body["id"])}`
        const settings = Effect.map(open(ivy, `${own}?tab=settings`), ({ text }) => text)
        assert.include(yield* settings, `action="${own}/hostname"`)
        const sent = yield* post(ivy, `${own}/hostname`, { hostname: " WWW.Ivy.example " })
        assert.strictEqual(sent.headers.get("location"), `${own}?tab=settings#domain`)
        const asked = yield* settings
        assert.include(asked, `data-check="${own}/verify-hostname"`)
        assert.match(asked, /<code data-copy="[^"]+" data-copied="[^"]+">_catenet-challenge\.www\.ivy\.example</u)
        assert.include(asked, String(body["hostname"]), "the name before leads there")
        assert.strictEqual((yield* post(ivy, `${own}/hostname`, { hostname: "com" })).status, 409)
        yield* post(ivy, `${own}/hostname/remove`, {})
        assert.notInclude(yield* settings, "data-check")
      })
  )

  it.effect("find, filter and sort tunnels by what the address asks for, and keep it in every link", () =>
    Effect.gen(function* () {
      const fay = person("list-fay")
      for (const name of ["kitchen", "garden 100%", "garage"]) yield* ask(fay, "/me/tunnels", { name })
      const shown = (query: string) =>
        Effect.map(open(fay, `/portal/tunnels${query}`), ({ text }) =>
          [...text.matchAll(/class="name mono"[^>]*>([^<]*)</gu)].map(([, name = ""]) => name.split("-")[0])
        )
      assert.deepStrictEqual(yield* shown("?q=GAR"), ["garage", "garden"])
      for (const [asked, found] of [
        ["100%25", ["garden"]],
        ["%25", ["garden"]],
        ["_", []],
        ["%00", ["garage", "garden", "kitchen"]],
        ["x".repeat(400), []]
      ] as const)
        assert.deepStrictEqual(yield* shown(`?q=${asked}`), [...found], asked)
      assert.deepStrictEqual(yield* shown("?state=up"), [], "no edge says that one is up")
      assert.lengthOf(yield* shown("?state=other"), 3)
      const { text } = yield* open(fay, "/portal/tunnels?q=gar&sort=name")
      assert.include(text, 'href="/portal/tunnels?q=gar&#38;state=down&#38;sort=name"')
      assert.include(text, `value="gar"`)
      assert.include((yield* open(fay, '/portal/tunnels?q="><b>')).text, "&#34;&#62;&#60;b&#62;")
    })
  )

  it.effect("show a tunnel to its owner, and the same bytes to everybody else as for no tunnel at all", () =>
    Effect.gen(function* () {
      const made = yield* ask(ada, "/me/tunnels", { name: "cam" })
      const id = String(made.body["id"])
      const own = `/portal/tunnels/${id}`
      const page = yield* open(ada, own)
      assert.strictEqual(page.status, 200)
      for (const [tab, text] of [
        ["", english.reachEdgeSilent(undefined)],
        ["?tab=access", english.loginPublic],
        ["?tab=agents", english.agentProofAllow],
        ["?tab=certificate", english.tiers.gelb],
        ["?tab=settings", english.alertNone],
        ["/uptime", english.badgeOff]
      ] as const)
        assert.include((yield* open(ada, `${own}${tab}`)).text, text)
      const unknown = `/portal/tunnels/${"ab".repeat(16)}`
      for (const part of ["", "/delete", "/install"]) {
        const [theirs, none] = [yield* open(bob, `${own}${part}`), yield* open(bob, `${unknown}${part}`)]
        assert.deepStrictEqual([theirs.status, theirs.text], [404, none.text], part)
      }
      for (const part of ["/rename", "/delete", "/install", "/require-login"]) {
        const form = { name: "mine", port: "80" }
        const [theirs, none] = [yield* post(bob, `${own}${part}`, form), yield* post(bob, `${unknown}${part}`, form)]
        assert.deepStrictEqual([theirs.status, theirs.text], [404, none.text], part)
      }
      assert.deepStrictEqual((yield* post(ada, `${own}/rename`, { name: " Garden " })).location, `${own}?tab=settings`)
      assert.include((yield* open(ada, own)).text, "Garden")
      const refused = yield* post(ada, `${own}/rename`, { name: "x".repeat(61) })
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, "x".repeat(61))
      assert.strictEqual((yield* post(ada, `${own}/require-login`, { enabled: "1" })).status, 303)
      assert.match((yield* open(ada, `${own}?tab=access`)).text, /name="enabled" value="1" checked/u)
      assert.strictEqual((yield* post(ada, `${own}/require-login`)).status, 303)
      assert.notMatch((yield* open(ada, `${own}?tab=access`)).text, /name="enabled" value="1" checked/u)
      assert.strictEqual((yield* open(ada, `${own}/delete`)).status, 200)
      const elsewhere = yield* post(ada, `${own}/delete`, {}, { "sec-fetch-site": "cross-site" })
      assert.strictEqual(elsewhere.status, 403)
      assert.deepStrictEqual((yield* post(ada, `${own}/delete`)).location, "/portal/tunnels")
      assert.strictEqual((yield* open(ada, own)).status, 404)
    })
  )

  it.effect("make a line whose token gives the tunnel's secret once", () =>
    Effect.gen(function* () {
      const made = yield* ask(ada, "/me/tunnels", { name: "line" })
      const path = `/portal/tunnels/${String(made.body["id"])}/install`
      assert.notInclude((yield* open(ada, path)).text, "CT_BOOTSTRAP", "looking makes no token")
      for (const port of ["0", "65536", "x", "-1", "8080;ls"])
        assert.strictEqual((yield* post(ada, path, { port })).status, 400, port)
      for (const port of ["1", "65535"]) {
        const { headers, status, text } = yield* post(ada, path, { port })
        assert.deepStrictEqual([status, headers.get("cache-control")], [200, "no-store"])
        assert.match(text, new RegExp(`CT_AGENT_ORIGIN=127\\.0\\.0\\.1:${port} npx --yes ct-agent`, "u"))
        const token = /CT_BOOTSTRAP=([0-9a-f]{64}) /u.exec(text)?.[1]
        const [shown = "", file = ""] = text.split("<details>")
        assert.notMatch(shown, /CT_AGENT_TOKEN|CT_AGENT_JOIN_TOKEN/u, "no lasting secret beside the line")
        const block = (/<pre[^>]*>([^]*?)<\/pre>/u.exec(file)?.[1] ?? "").split("\n").map((line) => line.split("="))
        assert.deepStrictEqual(
          block.map(([name]) => name),
          [
            ...["JOIN_TOKEN", "TOKEN", "ID", "CP_URL", "EDGE_CERT_URL", "EDGE"].map((name) => `CT_AGENT_${name}`),
            ...["HOSTNAME", "MODE", "ORIGIN_TLS"].map((name) => `CT_AGENT_${name}`),
            "CT_ACME_CERT_OUT_DIR",
            "CT_AGENT_ORIGIN"
          ]
        )
        const redeemed = yield* ask("anonymous", "/bootstrap/redeem", { token })
        assert.match(String(redeemed.body["secret"]), /^CT_JOIN_TOKEN=[0-9a-f]{64};CT_AGENT_TOKEN=[0-9a-f]{64}$/u)
        assert.strictEqual((yield* ask("anonymous", "/bootstrap/redeem", { token })).status, 409)
      }
      const many = yield* Effect.all(
        // Some may be made again while a busy machine makes these.
        Array.from({ length: 60 }, () => post(ada, path, { port: "80" })),
        { concurrency: 4 }
      )
      const last = many.findLast(({ status }) => status !== 200)
      assert.strictEqual(last?.status, 429)
      const seconds = last?.headers.get("retry-after") ?? ""
      assert.match(seconds, /^[1-9]\d?$/u)
      assert.include(last?.text, `Try again in ${seconds} second${seconds === "1" ? "" : "s"}.`)
      // A link of a page answers in the words of its reader, too.
      const german = yield* post(ada, path, { port: "80" }, { "accept-language": "de" })
      assert.match(german.text, /Versuchen Sie es in [1-9]\d? Sekunden? noch einmal\./u)
    })
  )

  it.effect("list the sessions of an account, end the others, and delete the account when that is typed", () =>
    Effect.gen(function* () {
      const dora = person("dora")
      const sessions = [yield* headersOf(dora), yield* headersOf(dora), yield* headersOf(dora)] as const
      const as = (n: 0 | 1 | 2) => sessions[n] as Record<string, string>
      const page = yield* open("anonymous", "/portal/account", as(0))
      assert.strictEqual(page.status, 200)
      const others = [...page.text.matchAll(/\/portal\/account\/sessions\/([0-9a-f]{32})\/end/gu)].map(([path]) => path)
      assert.lengthOf(others, 2)
      assert.strictEqual((yield* post(bob, others[0] ?? "")).status, 404, "a session of another account")
      assert.strictEqual((yield* post("anonymous", others[0] ?? "", {}, as(0))).status, 303)
      assert.strictEqual((yield* post("anonymous", others[0] ?? "", {}, as(0))).status, 404)
      assert.strictEqual((yield* post("anonymous", "/portal/account/sessions/end-others", {}, as(0))).status, 303)
      assert.strictEqual((yield* open("anonymous", "/portal/account", as(1))).status, 303)
      assert.strictEqual((yield* open("anonymous", "/portal/account", as(2))).status, 303)

      for (const confirm of ["", "delete", "DELETE "])
        assert.strictEqual((yield* post("anonymous", "/portal/account/delete", { confirm }, as(0))).status, 400)
      assert.strictEqual((yield* open("anonymous", "/portal/account", as(0))).status, 200)
      const gone = yield* post("anonymous", "/portal/account/delete", { confirm: "DELETE" }, as(0))
      assert.strictEqual(gone.status, 200)
      assert.include(gone.text, english.accountDeleted)
      assert.match(gone.headers.get("set-cookie") ?? "", /^__Host-ct_portal_session=;/u)
      assert.strictEqual((yield* open("anonymous", "/portal/account", as(0))).status, 303)
    })
  )
})
