import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import {
  activeLinks,
  mint,
  redeem,
  returnPath,
  revoke,
  sessionHolds,
  type ShareLink,
  stateOf
} from "@catenet/domain/tunnels/ShareLinkMachine"
import { between, history, often, refusal } from "../values/history.ts"

const tunnel = { id: "t1", subject: "Ada", host: "a.example", gelb: true, loginRequired: true, links: [] }
const request = { id: "l1", ttl: "1h", singleUse: false, label: "" }
const link: ShareLink = {
  id: "l1",
  tunnel: "t1",
  host: "a.example",
  label: null,
  singleUse: false,
  expiresAt: 4600,
  opened: false,
  revoked: false
}

const Event = Schema.Union([
  Schema.TaggedStruct("Mint", {
    wait: between(0, 30),
    ttl: Schema.Literals(["1h", "24h", "7d"]),
    singleUse: Schema.Boolean
  }),
  Schema.TaggedStruct("Redeem", {
    wait: between(0, 2000),
    link: between(0, 40),
    host: Schema.Literals(["a.example", "a.example", "b.example"])
  }),
  Schema.TaggedStruct("Redeem", {
    wait: between(0, 30_000),
    link: between(0, 40),
    host: Schema.Literals(["a.example"])
  }),
  Schema.TaggedStruct("Revoke", { wait: between(0, 10), link: between(0, 40) })
])

describe("share links", () => {
  it.prop(
    "a single-use link lets one visitor in, no dead link lets anybody in, sessions end with their link",
    [history(Event)],
    ([events]) => {
      let now = 0
      const lives: Record<string, number> = { "1h": 3600, "24h": 86_400, "7d": 604_800 }
      const links: Array<{ state: ShareLink; until: number; visits: number; revoked: boolean }> = []
      for (const event of events) {
        now += event.wait
        if (event._tag === "Mint") {
          const { ttl, singleUse } = event
          const answer = mint(
            { ...tunnel, links: links.map(({ state }) => state) },
            { id: `l${links.length}`, ttl, singleUse, label: "" },
            now
          )
          links.push({
            state: Result.getOrThrow(answer).next,
            until: now + (lives[ttl] ?? 0),
            visits: 0,
            revoked: false
          })
          continue
        }
        const record = links[event.link % Math.max(links.length, 1)]
        if (record === undefined) continue
        if (event._tag === "Revoke") {
          const { effects, next } = revoke(record.state, "Ada")
          assert.strictEqual(effects.length, record.revoked ? 0 : 1)
          record.state = next
          record.revoked = true
        } else {
          const answer = redeem(record.state, event.host, now)
          const reason =
            event.host !== "a.example"
              ? "wrong host"
              : record.revoked
                ? "revoked"
                : record.state.singleUse && record.visits > 0
                  ? "used"
                  : now >= record.until
                    ? "expired"
                    : undefined
          if (reason !== undefined) assert.deepStrictEqual(answer, Result.fail({ _tag: "ShareLinkDead", reason }))
          else {
            const { effects, next } = Result.getOrThrow(answer)
            const [session] = effects
            assert.deepStrictEqual<unknown>(session, {
              _tag: "GrantSession",
              identity: `share:${next.id}`,
              host: "a.example",
              expiresAt: record.until
            })
            record.state = next
            record.visits++
          }
        }
        assert.isTrue(!record.state.singleUse || record.visits <= 1)
        assert.strictEqual(sessionHolds(record.state, now), !record.revoked && now < record.until)
        assert.strictEqual(
          stateOf(record.state, now),
          record.revoked
            ? "revoked"
            : record.visits > 0 && record.state.singleUse
              ? "used"
              : now >= record.until
                ? "expired"
                : record.visits > 0
                  ? "active, opened"
                  : "active"
        )
      }
    },
    often
  )

  it("a session ends with the second in which its link expires", () => {
    assert.deepStrictEqual(
      [4599, 4600].map((now) => sessionHolds(link, now)),
      [true, false]
    )
  })

  it("an empty label is none", () => {
    assert.deepStrictEqual(Result.getOrThrow(mint(tunnel, { ...request, label: "  " }, 1000)).next, link)
  })

  it("mints with an audit entry that does not tell the token", () => {
    assert.deepStrictEqual(
      mint(tunnel, { ...request, ttl: "7d", singleUse: true, label: " for Bob " }, 1000),
      Result.succeed({
        next: { ...link, label: "for Bob", singleUse: true, expiresAt: 1000 + 604_800 },
        effects: [
          {
            _tag: "Audit" as const,
            action: "share_link_minted",
            actor: "ada",
            target: "t1",
            detail: `{"link":"l1","host":"a.example","ttl":"7d","single_use":true}`
          }
        ]
      })
    )
    assert.deepStrictEqual(Result.getOrThrow(redeem(link, "a.example", 0)).effects[1], {
      _tag: "Audit",
      action: "share_link_redeemed",
      actor: "share:l1",
      target: "t1",
      detail: `{"link":"l1","host":"a.example","single_use":false}`
    })
    assert.deepStrictEqual(revoke(link, "Ada").effects, [
      { _tag: "Audit", action: "share_link_revoked", actor: "ada", target: "t1", detail: "l1" }
    ])
  })

  it("refuses in the order of the checks", () => {
    const open = { ...tunnel, loginRequired: false, host: null, gelb: false }
    assert.strictEqual(refusal(mint(open, { ...request, ttl: "2h", label: "x".repeat(61) }, 0)), "UnknownLife")
    assert.strictEqual(refusal(mint(open, { ...request, ttl: "constructor" }, 0)), "UnknownLife")
    assert.strictEqual(refusal(mint(open, { ...request, label: "x".repeat(61) }, 0)), "InvalidLabel")
    assert.strictEqual(refusal(mint(open, { ...request, label: "a\tb" }, 0)), "InvalidLabel")
    assert.strictEqual(refusal(mint(open, { ...request, label: "x".repeat(60) }, 0)), "LoginNotRequired")
    assert.strictEqual(refusal(mint({ ...open, loginRequired: true }, request, 0)), "NoHostname")
  })

  it("at most fifty links are active; used, expired and revoked ones do not count", () => {
    assert.strictEqual(activeLinks, 50)
    const dead = [
      { ...link, revoked: true },
      { ...link, opened: true, singleUse: true },
      { ...link, expiresAt: 5 }
    ]
    const live = Array.from({ length: 49 }, (_, i) => ({ ...link, opened: i % 2 === 0 }))
    assert.isTrue(Result.isSuccess(mint({ ...tunnel, links: [...dead, ...live] }, request, 5)))
    assert.strictEqual(refusal(mint({ ...tunnel, links: [...live, link] }, request, 5)), "TooManyLinks")
  })

  it("sends a visitor only to paths of the own host", () => {
    const hostile = [
      "//evil.example",
      "/\\evil.example",
      "https://evil.example",
      "",
      "a",
      "/\t/evil.example",
      "/a\nb",
      "\\"
    ]
    for (const text of [...hostile, undefined]) assert.strictEqual(returnPath(text), "/")
    for (const text of ["/", "/a//b", "/a?next=//b#c"]) assert.strictEqual(returnPath(text), text)
  })
})
