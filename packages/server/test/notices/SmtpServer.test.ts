/** The operator's mail server: encrypted, checked, and each of its answers read. */
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { SmtpServer } from "../../src/notices/mail/SmtpServer.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { mailServer, password, roots, user } from "./MailServer.ts"

const settings = (variables: Readonly<Record<string, string>>) =>
  Settings.layer.pipe(
    Layer.provide(
      ConfigProvider.layer(
        ConfigProvider.fromUnknown({ CT_CP_DATABASE_URL: "postgres://localhost/none", ...variables })
      )
    )
  )

const envelope = { from: "no-reply@portal.example", to: "ada@people.example" }
const message = Buffer.from("Subject: x\r\n\r\nHello\r\n")

/** What becomes of a mail: taken, or the error. */
const send = (variables: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const { open } = yield* SmtpServer.make.pipe(Effect.provide(settings(variables)))
    const session = yield* open
    yield* session.send(envelope, message)
  }).pipe(
    Effect.scoped,
    Effect.match({
      onSuccess: () => "taken",
      onFailure: (error) =>
        error._tag === "MailRefused" ? `${error.isForNow ? "later" : "never"}: ${error.message}` : error._tag
    })
  )

layer(Layer.empty, { excludeTestServices: true, timeout: "30 seconds" })("the mail server", (it) => {
  it.effect("takes mail by TLS and by STARTTLS under the roots that are given, and under no others", () =>
    Effect.gen(function* () {
      for (const kind of ["smtps", "starttls"] as const) {
        const { arrived, url } = yield* mailServer(kind)
        assert.strictEqual(yield* send({ CT_CP_SMTP_URL: url(), CT_CP_SMTP_ROOTS: roots }), "taken", kind)
        assert.match(yield* send({ CT_CP_SMTP_URL: url() }), /^later: /u, "another root")
        assert.match(yield* send({ CT_CP_SMTP_URL: url("127.0.0.1"), CT_CP_SMTP_ROOTS: roots }), /^later: /u, "a name")
        assert.lengthOf(arrived, 1, kind)
        assert.deepStrictEqual(arrived[0]?.to, [envelope.to])
      }
    }).pipe(Effect.scoped)
  )

  it.effect("gets neither name nor mail without encryption, unless it is this machine's own", () =>
    Effect.gen(function* () {
      const { arrived, url } = yield* mailServer("plain")
      assert.match(yield* send({ CT_CP_SMTP_URL: url("[::ffff:127.0.0.1]") }), /^later: .*ETLS/u, "no STARTTLS")
      assert.lengthOf(arrived, 0)
      assert.strictEqual(yield* send({ CT_CP_SMTP_URL: url("127.0.0.1") }), "taken")
    }).pipe(Effect.scoped)
  )

  it.effect("refuses for now or for good, by what it answers", () =>
    Effect.gen(function* () {
      const { arrived, state, url } = yield* mailServer("smtps")
      const variables = { CT_CP_SMTP_URL: url(), CT_CP_SMTP_ROOTS: roots }
      const wrong = yield* send({ ...variables, CT_CP_SMTP_URL: url("localhost", `${user}:wrong-secret`) })
      assert.match(wrong, /^later: .*535/u)
      assert.notInclude(wrong, "wrong-secret")
      for (const [mood, said] of [
        [451, /^later: .*451/u],
        [550, /^never: .*550/u]
      ] as const) {
        state.mood = mood
        assert.match(yield* send(variables), said)
      }
      assert.lengthOf(arrived, 0)
      state.mood = "hangs up"
      assert.strictEqual(yield* send(variables), "MailUnanswered", "it may have been taken")
      assert.lengthOf(arrived, 1)
      const away = yield* send({ ...variables, CT_CP_SMTP_URL: "smtp://127.0.0.1:1" })
      assert.match(away, /^later: .*CT_CP_SMTP_URL.*ECONN/u)
    }).pipe(Effect.scoped)
  )

  it.effect("is named in a sentence where its address is none, and the password is not", () =>
    Effect.gen(function* () {
      for (const text of [
        "mail.example.com",
        "https://mail.example.com",
        "smtp://",
        `smtp://${user}:secret-%zz@mail.example.com`,
        `smtp://${user}@mail.example.com`,
        "smtp://mail.example.com/path",
        `smtp://${user}:${encodeURIComponent(`${password}\r\nMAIL FROM:<a@b.example>`)}@mail.example.com`
      ]) {
        const { message: said } = yield* Effect.flip(Effect.scoped(Layer.build(settings({ CT_CP_SMTP_URL: text }))))
        assert.match(said, /^CT_CP_SMTP_URL is not a URL such as smtps:\/\//mu)
        assert.notMatch(said, /secret|p%40ss|mail\.example\.com\/path/u)
      }
      const wrong = yield* Effect.flip(Effect.scoped(Layer.build(settings({ CT_CP_SMTP_ROOTS: "no certificate" }))))
      assert.match(wrong.message, /CT_CP_SMTP_ROOTS is not one or more certificates in PEM/u)
      const sender = yield* Effect.flip(Effect.scoped(Layer.build(settings({ CT_CP_MAIL_FROM: "a b@c" }))))
      assert.match(sender.message, /CT_CP_MAIL_FROM is not an e-mail address/u)
    })
  )
})
