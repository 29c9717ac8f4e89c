/** Notices by mail: each once, however many replicas, to the verified address, until one click ends it. */
import { until } from "@catenet/testing/Eventually"
import { database, server } from "@catenet/testing/server/Accounts"
import { ask, person } from "@catenet/testing/server/channels/Asking"
import { type As, headersOf } from "@catenet/testing/server/Contract"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { compose } from "../../src/notices/mail/NoticeMessage.ts"
import { english } from "../../src/portal/texts/English.ts"
import { german } from "../../src/portal/texts/German.ts"
import { englishOn } from "../portal/EnglishWords.ts"
import { controlsOf } from "../portal/FormControls.ts"
import { formsOf } from "../portal/PersonAtForms.ts"
import { type Arrived, mailServer, roots } from "./MailServer.ts"

const variables = {
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_GATE_COOKIE_DOMAIN: "zone.example",
  CT_CP_MAIL_TICK_SECS: "1",
  CT_PORTAL_BASE_URL: "https://portal.example"
}

const form = (as: As, path: string, fields: Readonly<Record<string, string>>, language = "en") =>
  Effect.gen(function* () {
    const headers = {
      accept: "text/html",
      "accept-language": language,
      "content-type": "application/x-www-form-urlencoded",
      ...(yield* headersOf(as))
    }
    const body = new URLSearchParams(fields).toString()
    const response = yield* TestServer.raw(path, { method: "POST", headers, body })
    return { status: response.status, text: yield* Effect.promise(() => response.text()) }
  })
const shown = (as: As, path: string) =>
  Effect.gen(function* () {
    const response = yield* TestServer.raw(path, { headers: { accept: "text/html", ...(yield* headersOf(as)) } })
    return { status: response.status, text: yield* Effect.promise(() => response.text()), headers: response.headers }
  })

/** A tunnel behind a login, at which visitors can ask for access. */
const tunnelOf = (owner: As) =>
  Effect.gen(function* () {
    const { body } = yield* ask(owner, "/me/tunnels", { name: "photos" })
    yield* ask(owner, `/me/tunnels/${String(body["id"])}`, { require_login: true }, { method: "PATCH" })
    return { id: String(body["id"]), host: String(body["hostname"]) }
  })
const requestBy = (host: string, email: string) => form("anonymous", "/gate/request-access", { host, email, note: "" })
const switched = (as: As, enabled: boolean, language?: string) =>
  form(as, "/portal/account/notice-mail", enabled ? { enabled: "1" } : {}, language)

const headOf = ({ text }: Arrived) => (text.split("\r\n\r\n")[0] ?? "").replaceAll(/\r\n[ \t]+/gu, " ")
const fieldOf = (mail: Arrived, name: string) =>
  [...headOf(mail).matchAll(new RegExp(`^${name}: (.*)$`, "gimu"))].map(([, value]) => value)
const linkOf = (mail: Arrived) => /\?token=[0-9a-f]{64}/u.exec(fieldOf(mail, "List-Unsubscribe")[0] ?? "")?.[0] ?? ""
const mailsIn = (arrived: ReadonlyArray<Arrived>, count: number) =>
  until(
    Effect.sync(() => arrived),
    ({ length }) => length >= count
  )
const states = (subject: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ state: string; dueAt: number }>`
      select state, due_at from notice_mails where subject = ${subject} order by created_at, id`
  ).pipe(Effect.provide(Layer.fresh(database)), Effect.orDie)
const looked = (subject: string) =>
  Effect.gen(function* () {
    const due = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql<{ dueAt: number }>`select due_at from mail_accounts where subject = ${subject}`
    ).pipe(
      Effect.map(([row]) => row?.dueAt ?? 0),
      Effect.provide(Layer.fresh(database)),
      Effect.orDie
    )
    const before = yield* due
    yield* until(due, (now) => now >= before + 2)
  })
const wantedBy = (subject: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ wanted: boolean }>`select wanted from mail_accounts where subject = ${subject}`
  ).pipe(Effect.provide(Layer.fresh(database)), Effect.orDie)
const now = (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
    Effect.provide(Layer.fresh(database)),
    Effect.orDie
  )

layer(server(variables), { excludeTestServices: true, timeout: "60 seconds" })("notices by mail", (it) => {
  it.effect("come once each, in the account's language, and end by one click", () =>
    Effect.gen(function* () {
      const { issuer } = yield* TestIssuer
      const { arrived, url } = yield* mailServer("smtps")
      const settings = {
        ...variables,
        CT_OIDC_ISSUER: issuer,
        CT_CP_SMTP_URL: url(),
        CT_CP_SMTP_ROOTS: roots,
        CT_CP_MAIL_FROM: "mail@portal.example"
      }
      const replica = Layer.fresh(TestServer.replica(settings))
      yield* Layer.build(Layer.fresh(TestServer.replica(settings)))
      yield* Effect.gen(function* () {
        const mia = person("mia")
        const { host, id } = yield* tunnelOf(mia)
        yield* requestBy(host, "vera@a.example")
        assert.include((yield* shown(mia, "/portal/notices")).text, english.mailTitle)
        const nameless: As = { session: "mia-no-mail", email: null }
        for (const texts of [english, german]) {
          const refused = yield* switched(nameless, true, texts.language)
          assert.strictEqual(refused.status, 400, "no verified address")
          const [sent = ""] = formsOf(refused.text, "/portal/account/notice-mail")
          const box = controlsOf(refused.text, sent).find(({ name }) => name === "enabled")
          assert.deepInclude(box, { isChecked: true, isInvalid: true, hasFocus: true })
          assert.strictEqual(box?.sentence, texts.reasons["mail enabled"])
        }
        assert.strictEqual((yield* switched(nameless, false)).status, 303)
        assert.deepStrictEqual(yield* wantedBy("mia-no-mail"), [{ wanted: false }])
        assert.strictEqual((yield* switched(mia, true, "de")).status, 303)
        const [first] = yield* mailsIn(arrived, 1)
        assert(first !== undefined)
        assert.deepStrictEqual(first.to, ["mia@people.example"])
        assert.deepStrictEqual(fieldOf(first, "Subject"), ["Catenet: ein neuer Hinweis"])
        assert.deepStrictEqual(fieldOf(first, "From"), ["Catenet <mail@portal.example>"])
        assert.deepStrictEqual(fieldOf(first, "List-Unsubscribe-Post"), ["List-Unsubscribe=One-Click"])
        assert.match(
          fieldOf(first, "List-Unsubscribe")[0] ?? "",
          /^<https:\/\/portal\.example\/portal\/unsubscribe\?token=[0-9a-f]{64}>$/u
        )
        assert.deepStrictEqual(fieldOf(first, "Auto-Submitted"), ["auto-generated"])
        assert.match(first.text, /text\/plain[^]*vera@a\.example bittet[^]*text\/html[^]*vera@a\.example bittet/u)

        yield* requestBy(host, "hans@b.example")
        yield* form(mia, "/portal/language", { language: "en", back: "/portal/account" })
        const [, second] = yield* mailsIn(arrived, 2)
        assert(second !== undefined)
        assert.deepStrictEqual(fieldOf(second, "Subject"), ["Catenet: one new notice"])
        assert.include(second.text, "hans@b.example asks for access")
        assert.notInclude(second.text, "vera@a.example")
        yield* looked("mia")
        assert.lengthOf(arrived, 2, "each once")

        const unsubscribe = `/portal/unsubscribe${linkOf(second)}`
        for (let visit = 0; visit < 2; visit++) {
          const page = yield* shown("anonymous", unsubscribe)
          assert.strictEqual(page.status, 200, "a look at the page spends nothing")
          assert.include(page.text, english.unsubscribeButton)
          assert.strictEqual(page.headers.get("referrer-policy"), "no-referrer")
        }
        const oneClick = TestServer.raw(unsubscribe, {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body: "List-Unsubscribe=One-Click"
        })
        const clicks = yield* Effect.all(
          Array.from({ length: 6 }, () => oneClick),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(clicks.map(({ status }) => status).toSorted(), [200, 410, 410, 410, 410, 410])
        assert.strictEqual((yield* shown("anonymous", unsubscribe)).status, 410)
        for (const token of ["", "?token=", "?token=zz", `?token=${"0".repeat(64)}`])
          assert.strictEqual((yield* shown("anonymous", `/portal/unsubscribe${token}`)).status, 404, token)
        assert.notInclude((yield* shown(mia, "/portal/account")).text, " checked")

        yield* requestBy(host, "otto@c.example")
        yield* switched(mia, true)
        yield* mailsIn(arrived, 3)
        const spentAgain = yield* oneClick
        assert.strictEqual(spentAgain.status, 410, "an old link does not end what was switched on anew")
        assert.include((yield* shown(mia, "/portal/account")).text, " checked")

        yield* form(mia, `/portal/tunnels/${id}/access-requests/otto%40c.example/dismiss`, {})
        yield* looked("mia")
        yield* requestBy(host, "otto@c.example")
        yield* mailsIn(arrived, 4)
        assert.include(arrived[3]?.text ?? "", "otto@c.example", "what came again is new")

        yield* form(mia, "/portal/account/delete", { confirm: "DELETE" })
        assert.deepStrictEqual(yield* states("mia"), [], "nothing is left of a deleted account")
      }).pipe(Effect.provide(replica))
    }).pipe(Effect.scoped)
  )

  it.effect("wait for a server that refuses for now, and are given up where it is not known whether they came", () =>
    Effect.gen(function* () {
      const { issuer } = yield* TestIssuer
      const { arrived, state, url } = yield* mailServer("starttls")
      const settings = { ...variables, CT_OIDC_ISSUER: issuer, CT_CP_SMTP_URL: url(), CT_CP_SMTP_ROOTS: roots }
      yield* Effect.gen(function* () {
        const rita = person("rita")
        const { host } = yield* tunnelOf(rita)
        const waits = until(states("rita"), ([row]) => row?.state === "pending" && row.dueAt > 4_000_000_000 / 3)
        state.mood = 451
        yield* switched(rita, true)
        yield* requestBy(host, "a@a.example")
        yield* waits
        yield* until(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql<{ detail: string }>`select detail from notice_mails where subject = 'rita'`
          ).pipe(Effect.provide(Layer.fresh(database)), Effect.orDie),
          ([row]) => row?.detail.includes("451") === true
        )
        state.mood = "takes"
        yield* now("update notice_mails set due_at = 0 where subject = 'rita'")
        yield* mailsIn(arrived, 1)
        yield* until(states("rita"), ([row]) => row?.state === "sent")

        state.mood = 550
        yield* requestBy(host, "b@b.example")
        yield* until(states("rita"), (rows) => rows.some((row) => row.state === "failed"))

        state.mood = "hangs up"
        yield* requestBy(host, "c@c.example")
        yield* until(states("rita"), (rows) => rows.some((row) => row.state === "unknown"))
        state.mood = "takes"
        yield* now("update notice_mails set due_at = 0 where subject = 'rita'")
        yield* looked("rita")
        assert.lengthOf(arrived, 2, "it may have come, so it is not sent again")

        // A process that died while it handed a mail over leaves it marked; it is not sent again either.
        yield* now("update notice_mails set state = 'sending', due_at = 0 where subject = 'rita'")
        yield* looked("rita")
        assert.lengthOf(arrived, 2)
      }).pipe(Effect.provide(Layer.fresh(TestServer.replica(settings))))
    }).pipe(Effect.scoped)
  )

  it.effect("are not offered without a mail server", () =>
    Effect.gen(function* () {
      const sam = person("sam")
      assert.notInclude((yield* shown(sam, "/portal/account")).text, english.mailTitle)
      assert.notInclude((yield* shown(sam, "/portal/notices")).text, english.mailTitle)
      assert.strictEqual((yield* switched(sam, true)).status, 404)
      assert.notStrictEqual(german.mailTitle, english.mailTitle)
    })
  )

  it.effect("put nothing that others wrote into a header, and escape it in HTML", () =>
    Effect.promise(async () => {
      const hostile = "x\r\nBcc: evil@e.example\r\n\r\n<script>alert(1)</script>"
      const kinds = ["access", "claim", "grant", "certificate", "down"] as const
      const raw = await compose({
        id: "ab".repeat(16),
        from: "mail@portal.example",
        to: "mia@people.example",
        language: "en",
        notices: kinds.map((kind) => ({ kind, about: hostile, name: hostile, who: hostile, note: hostile, at: 1 })),
        portal: "https://portal.example",
        unsubscribe: `https://portal.example/portal/unsubscribe?token=${"0".repeat(64)}`
      })
      const text = raw.toString("utf8")
      const spoken = async (language: "en" | "de") => {
        const all = kinds.map((kind) => ({ kind, about: "a", name: "cam", who: "vera@a.example", note: null, at: 1 }))
        const facts = { id: "ab".repeat(16), from: "mail@portal.example", to: "mia@people.example", language }
        const links = { portal: "https://portal.example", unsubscribe: "https://portal.example/portal/unsubscribe" }
        const mail = (await compose({ ...facts, ...links, notices: all })).toString("utf8")
        return englishOn(mail.slice(mail.indexOf("<!doctype html>")).split("</html>")[0] ?? "")
      }
      assert.deepStrictEqual(await spoken("de"), [])
      assert.isAbove((await spoken("en")).length, 3)
      assert.notMatch(text, /^Bcc:/imu)
      assert.notInclude(text.slice(text.indexOf("text/html")), "<script>")
      assert.notInclude(headOf({ to: [], text }), "evil")
    })
  )
})
