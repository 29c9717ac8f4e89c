import { server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { grantBy, idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { type As, headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { english } from "../../src/portal/texts/English.ts"
import { unixSeconds } from "../../src/runtime/UnixClock.ts"

const ivy = person("channels-ivy")
const joe = person("channels-joe")
const nameless: As = { session: "channels-nameless", email: null }

const send = (as: As, path: string, form?: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const headers = { accept: "text/html", ...(yield* headersOf(as)) }
    const response = yield* TestServer.raw(
      path,
      form === undefined
        ? { headers }
        : {
            method: "POST",
            headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
            body: new URLSearchParams(form).toString()
          }
    )
    const text = yield* Effect.promise(() => response.text())
    return { status: response.status, location: response.headers.get("location"), text, headers: response.headers }
  })

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("channels of the portal", (it) => {
  it.effect("are registered, filled, re-keyed and ended by forms", () =>
    Effect.gen(function* () {
      const channel = idOf("portal channel")
      const own = `/portal/channels/${channel}`
      const operator_pubkey = keyOf("op")
      const refused = yield* send(ivy, "/portal/channels", { operator_pubkey: "no key", channel })
      assert.strictEqual(refused.status, 400)
      assert.match(refused.text, /value="no key"[^>]* aria-invalid="true" autofocus/u)
      const made = yield* send(ivy, "/portal/channels", { operator_pubkey, channel })
      assert.deepStrictEqual([made.status, made.location], [303, own])
      const named = yield* send(ivy, "/portal/channels", { operator_pubkey, channel: "" })
      assert.match(named.location ?? "", /^\/portal\/channels\/[0-9a-f]{64}$/u)
      const material = materialOf(channel, "member")
      for (const [part, form, status] of [
        ["members", material, 303],
        ["members", { ...material, noise_attestation: "0".repeat(128) }, 400],
        ["members", { ...material, holder: "x" }, 400],
        ["allowlist", { email: "joe" }, 400],
        ["allowlist", { email: "channels-joe@people.example" }, 303],
        ["grants", { holder: material.holder, grant: "zz" }, 400],
        ["grants", { holder: material.holder, grant: grantBy("op", channel, "other") }, 400],
        ["grants", { holder: material.holder, grant: grantBy("op", channel, "member") }, 303],
        ["label", { label: "x".repeat(61) }, 400],
        ["label", { label: " Support <tools> " }, 303],
        ["rekey", { operator_pubkey: keyOf("second") }, 400],
        ["rekey", { operator_pubkey: "", confirm_rekey: "1" }, 400],
        ["rekey", { operator_pubkey: keyOf("second"), confirm_rekey: "1" }, 303],
        ["claim-invites", { ...materialOf(channel, "late"), label: "x".repeat(65) }, 400],
        ["deregister", {}, 400]
      ] as const)
        assert.strictEqual((yield* send(ivy, `${own}/${part}`, form)).status, status, `${part} ${JSON.stringify(form)}`)
      for (const [tab, text] of [
        ["", material.holder],
        ["", "<h1>Support &#60;tools&#62;</h1>"],
        ["?tab=invitations", "channels-joe@people.example"],
        ["?tab=settings", keyOf("second")]
      ] as const)
        assert.include((yield* send(ivy, `${own}${tab}`)).text, text, tab)
      assert.notInclude((yield* send(ivy, own)).text, english.noGrant)
      assert.strictEqual((yield* send(ivy, `${own}/label`, { label: "" })).location, `${own}?tab=settings`)
      assert.include((yield* send(ivy, own)).text, `<h1 class="mono">${channel.slice(0, 8)}…${channel.slice(-6)}</h1>`)
      assert.strictEqual((yield* send(joe, own)).status, 404, "a page of another account")
      assert.strictEqual((yield* send(ivy, `${own}/members/${material.holder}/remove`, {})).status, 303)
      assert.notInclude((yield* send(ivy, own)).text, material.holder)
      assert.strictEqual((yield* send(ivy, `${own}/deregister`, { confirm: "1" })).location, "/portal/channels")
      assert.strictEqual((yield* send(ivy, own)).status, 404)
    })
  )

  it.effect("are listed by their labels, found by label and id, and filtered by role", () =>
    Effect.gen(function* () {
      const lou = person("channels-lou")
      const empty = yield* send(lou, "/portal/channels")
      assert.include(empty.text, english.channelsEmptyTitle)
      const [zoo, ant] = [idOf("list zoo"), idOf("list ant")]
      const operator_pubkey = keyOf("op")
      yield* send(lou, "/portal/channels", { operator_pubkey, channel: zoo, label: "zoo" })
      yield* send(lou, "/portal/channels", { operator_pubkey, channel: ant, label: "ant" })
      const material = materialOf(zoo, "keeper")
      yield* send(lou, `/portal/channels/${zoo}/members`, material)
      const grant = grantBy("op", zoo, "keeper", BigInt((yield* unixSeconds) + 3 * 86_400 + 60))
      yield* send(lou, `/portal/channels/${zoo}/grants`, { holder: material.holder, grant })
      const { text } = yield* send(lou, "/portal/channels")
      assert.isBelow(text.indexOf(ant), text.indexOf(zoo))
      assert.include(text, english.inDays(3 * 86_400))
      const everywhere = (yield* send(lou, "/portal/search?q=ZO")).text
      assert.include(everywhere, `href="/portal/channels/${zoo}">zoo</a>`)
      assert.notInclude(everywhere, ant)
      assert.notInclude((yield* send(joe, "/portal/search?q=zo")).text, zoo)
      for (const [query, found, missing] of [
        ["q=ZO", zoo, ant],
        [`q=${ant.slice(0, 12)}`, ant, zoo],
        ["role=joined", english.noChannelFits, zoo],
        ["role=mine&page=7", english.noChannelFits, zoo]
      ] as const) {
        const shown = (yield* send(lou, `/portal/channels?${query}`)).text
        assert.include(shown, found, query)
        assert.notInclude(shown, missing, query)
      }
    })
  )

  it.effect("list what a verified address is invited to, and nothing for others, without an error", () =>
    Effect.gen(function* () {
      const channel = idOf("portal claims")
      yield* ask(account("channels-ivy"), "/me/channels", { channel, operator_pubkey: keyOf("op") })
      yield* ask(account("channels-ivy"), `/me/channels/${channel}/allowlist`, { email: "channels-joe@people.example" })
      const pending = yield* send(joe, "/portal/channels")
      assert.include(pending.text, "Pending: claim your membership to use the channel")
      assert.include(pending.text, `/portal/channels/${channel}/claim"`)
      const none = yield* send(nameless, "/portal/channels")
      assert.deepStrictEqual([none.status, none.text.includes(english.channelsNoEmail)], [200, true])
      const claimed = yield* send(joe, `/portal/channels/${channel}/claim-form`, materialOf(channel, "joe"))
      assert.include(claimed.text, english.claimedText)
      const after = yield* send(joe, "/portal/channels?notice=claimed")
      assert.include(after.text, "Claimed: your agent is a member</td>")
      assert.include(after.text, `/portal/channels/${channel}/grants"`)
    })
  )

  it.effect("show an invite without spending it, and say 410 when it is spent, 404 when there is none", () =>
    Effect.gen(function* () {
      const channel = idOf("portal invites")
      yield* send(ivy, "/portal/channels", { operator_pubkey: keyOf("op"), channel })
      const minted = yield* send(ivy, `/portal/channels/${channel}/claim-invites`, {
        ...materialOf(channel, "guest"),
        label: "Garden"
      })
      assert.deepStrictEqual([minted.status, minted.headers.get("cache-control")], [200, "no-store"])
      const invite = /\/portal\/claim\?invite=([\w-]+)/u.exec(minted.text)?.[1] ?? ""
      const path = `/portal/claim?invite=${invite}`
      const away = yield* send("anonymous", path)
      assert.deepStrictEqual([away.status, away.location], [303, `/portal?next=${encodeURIComponent(path)}`])
      assert.strictEqual((yield* send(nameless, path)).status, 403)
      for (let times = 0; times < 2; times++) {
        const shown = yield* send(joe, path)
        assert.deepStrictEqual([shown.status, shown.headers.get("referrer-policy")], [200, "no-referrer"])
        for (const text of ["Garden", channel, keyOf("guest")]) assert.include(shown.text, text)
      }
      const confirmed = yield* send(joe, "/portal/claim/confirm", { invite })
      assert.strictEqual(confirmed.location, "/portal/channels?notice=claimed")
      assert.strictEqual((yield* send(joe, path)).status, 410)
      for (const none of ["", "nonsense", "A".repeat(43)])
        assert.strictEqual((yield* send(joe, `/portal/claim?invite=${none}`)).status, 404, none)
    })
  )

  it.effect("make rooms of 2 to 12 holders, shown as a matrix of their pairs", () =>
    Effect.gen(function* () {
      const [a, b, c] = [keyOf("room a"), keyOf("room b"), keyOf("room c")]
      const operator_pubkey = keyOf("room op")
      for (const [holders, status] of [
        ["", 400],
        [a, 400],
        [`${a} x`, 400],
        [`${a}\n${a}`, 400],
        [`${a}\n${b}, ${c}`, 303]
      ] as const)
        assert.strictEqual((yield* send(ivy, "/portal/rooms", { operator_pubkey, holders })).status, status, holders)
      const { text } = yield* send(ivy, "/portal/channels")
      assert.lengthOf([...text.matchAll(/<td><a href="\/portal\/channels\/[0-9a-f]{64}"/gu)], 6)
    })
  )

  it.effect("say that the platform manages no service accounts where it does not", () =>
    Effect.gen(function* () {
      const own = "/portal/account/service-accounts"
      assert.strictEqual((yield* send(ivy, own, { name: "" })).status, 400)
      assert.strictEqual((yield* send(ivy, own, { name: "backup" })).status, 503)
      const unknown = `${own}/sa-${"0".repeat(32)}`
      for (const part of ["rotate", "delete"])
        assert.strictEqual((yield* send(ivy, `${unknown}/${part}`, {})).status, 404, part)
    })
  )
})
