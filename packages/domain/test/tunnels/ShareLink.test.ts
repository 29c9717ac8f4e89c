import { maxShareLinks } from "@catenet/domain/tunnels/GateErrors"
import { returnPath } from "@catenet/domain/tunnels/GateVisit"
import {
  type KeptShareLink,
  mint,
  redeem,
  revoke,
  ShareLabel,
  ShareTtl,
  stateOf
} from "@catenet/domain/tunnels/ShareLink"
import { Hostname } from "@catenet/domain/values/Hostname"
import { ShareLinkId, Subject, TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often } from "../values/history.ts"

const refusal = (answer: Result.Result<unknown, { readonly code: string }>): string | undefined =>
  Result.isFailure(answer) ? answer.failure.code : undefined
const at = (seconds: number) => UnixSeconds.make(seconds)
const idOf = (n: number) => Schema.decodeSync(ShareLinkId)(n.toString(16).padStart(32, "0"))
const ada = Subject.make("Ada")
const tunnel = {
  id: Schema.decodeSync(TunnelId)("1".repeat(32)),
  subject: ada,
  host: Schema.decodeSync(Hostname)("a.example"),
  isAsked: true,
  loginRequired: true,
  links: []
}
const request = { id: idOf(1), ttl: "1h", singleUse: false, label: null } as const
const link: KeptShareLink = {
  id: idOf(1),
  tunnelId: tunnel.id,
  host: "a.example",
  label: null,
  singleUse: false,
  createdAt: at(1000),
  expiresAt: at(4600),
  opened: false,
  revoked: false
}

const Event = Schema.Union([
  Schema.TaggedStruct("Mint", {
    wait: between(0, 30),
    ttl: Schema.toType(ShareTtl),
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
    "a single-use share link admits one browser, and a dead link admits none",
    [history(Event)],
    ([events]) => {
      let now = at(0)
      const lives: Record<string, number> = { "1h": 3600, "24h": 86_400, "7d": 604_800 }
      const links: Array<{ state: KeptShareLink; until: number; visits: number; revoked: boolean }> = []
      for (const event of events) {
        now = at(now + event.wait)
        if (event._tag === "Mint") {
          const { ttl, singleUse } = event
          const answer = mint(
            { ...tunnel, links: links.map(({ state }) => state) },
            { id: idOf(links.length), ttl, singleUse, label: null },
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
          const answer = revoke(record.state, ada)
          assert.strictEqual(refusal(answer), record.revoked ? "ShareLinkNotFound" : undefined)
          if (Result.isSuccess(answer)) record.state = answer.success.next
          record.revoked = true
        } else {
          const answer = redeem(record.state, event.host, now)
          const isDead =
            event.host !== "a.example" ||
            record.revoked ||
            (record.state.singleUse && record.visits > 0) ||
            now >= record.until
          assert.strictEqual(refusal(answer), isDead ? "ShareLinkRefused" : undefined)
          if (Result.isSuccess(answer)) {
            assert.strictEqual(answer.success.next.expiresAt as number, record.until)
            record.state = answer.success.next
            record.visits++
          }
        }
        assert.isTrue(!record.state.singleUse || record.visits <= 1)
        assert.strictEqual(
          stateOf(record.state, now),
          record.revoked
            ? "revoked"
            : record.visits > 0 && record.state.singleUse
              ? "used"
              : now >= record.until
                ? "expired"
                : record.visits > 0
                  ? "opened"
                  : "active"
        )
      }
    },
    often
  )

  it("a label has 1 to 60 characters", () => {
    const isLabel = (text: string) => Result.isSuccess(Schema.decodeUnknownResult(ShareLabel)(text))
    assert.deepStrictEqual(["x".repeat(60), "x".repeat(61), "", "a\tb"].map(isLabel), [true, false, false, false])
  })

  it("has three lives", () => {
    const isTtl = (text: string) => Result.isSuccess(Schema.decodeUnknownResult(ShareTtl)(text))
    assert.deepStrictEqual(["1h", "24h", "7d", "2h", "constructor"].map(isTtl), [true, true, true, false, false])
  })

  it("mints with an audit entry that does not tell the token", () => {
    assert.deepStrictEqual(
      mint(tunnel, { ...request, ttl: "7d", singleUse: true, label: "for Bob" }, at(1000)),
      Result.succeed({
        next: { ...link, label: "for Bob", singleUse: true, expiresAt: at(1000 + 604_800) },
        effects: [
          {
            _tag: "Audit" as const,
            action: "share_link_minted",
            actor: "ada",
            target: tunnel.id,
            detail: `{"link":"${link.id}","host":"a.example","ttl":"7d","single_use":true}`
          }
        ]
      })
    )
    assert.deepStrictEqual(Result.getOrThrow(redeem(link, "a.example", 0)).effects[0], {
      _tag: "Audit",
      action: "share_link_redeemed",
      actor: `share:${link.id}`,
      target: tunnel.id,
      detail: `{"link":"${link.id}","host":"a.example","single_use":false}`
    })
    assert.deepStrictEqual(Result.getOrThrow(revoke(link, ada)).effects, [
      { _tag: "Audit", action: "share_link_revoked", actor: "ada", target: tunnel.id, detail: link.id }
    ])
  })

  it("refuses in the order of the checks", () => {
    const open = { ...tunnel, loginRequired: false, host: null, isAsked: false }
    assert.strictEqual(refusal(mint(open, request, at(0))), "LoginNotRequired")
    assert.strictEqual(refusal(mint({ ...open, loginRequired: true }, request, at(0))), "TunnelWithoutHostname")
    const links = Array.from({ length: maxShareLinks }, () => link)
    assert.strictEqual(refusal(mint({ ...tunnel, isAsked: false, links }, request, at(0))), "ShareLinkNeedsGelb")
    assert.strictEqual(refusal(mint({ ...tunnel, links }, request, at(0))), "ShareLinkLimitReached")
  })

  it("at most fifty links are active; used, expired and revoked ones do not count", () => {
    assert.strictEqual(maxShareLinks, 50)
    const dead = [
      { ...link, revoked: true },
      { ...link, opened: true, singleUse: true },
      { ...link, expiresAt: at(5) }
    ]
    const live = Array.from({ length: maxShareLinks - 1 }, (_, i) => ({ ...link, opened: i % 2 === 0 }))
    assert.isTrue(Result.isSuccess(mint({ ...tunnel, links: [...dead, ...live] }, request, at(5))))
    assert.strictEqual(refusal(mint({ ...tunnel, links: [...live, link] }, request, at(5))), "ShareLinkLimitReached")
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
