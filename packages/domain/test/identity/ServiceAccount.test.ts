import {
  ClientId,
  emptyQuota,
  type Quota,
  reservationSeconds,
  maxServiceAccounts,
  transition
} from "@catenet/domain/identity/ServiceAccount"
import { IdentityProviderFailed, ServiceAccountLimitReached } from "@catenet/domain/identity/ServiceAccountErrors"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often } from "../values/history.ts"

const clientOf = (n: number) => ClientId.make(`sa-${n.toString(16).padStart(32, "0")}`)
const Event = Schema.Struct({
  kind: Schema.Literals(["Reserve", "Reserve", "Reserve", "Activate", "Activate", "Release"]),
  wait: between(0, 100),
  account: between(0, 20)
})
const full: Quota = {
  reserved: new Map(),
  active: new Set(Array.from({ length: 45 }, (_, i) => clientOf(1_000_000 + i)))
}

describe("the quota of service accounts", () => {
  it.prop(
    "fifty places are never exceeded, and lost reservations come back",
    [history(Event)],
    ([events]) => {
      assert.deepStrictEqual([maxServiceAccounts, reservationSeconds], [50, 600])
      let quota = full
      let now = 0
      let made = 0
      const places = new Map<string, number | "active">([...full.active].map((id) => [id, "active"]))
      for (const { account, kind, wait } of events) {
        now += wait
        const clientId = clientOf(kind === "Reserve" ? made++ : Math.max(0, made - 1 - account))
        const alive = () => [...places].filter(([, at]) => at === "active" || now - at < 600)
        const place = alive().find(([id]) => id === clientId)?.[1]
        const answer = transition(quota, { _tag: kind, clientId }, now)
        if (kind === "Reserve") {
          if (alive().length >= 50)
            assert.deepStrictEqual(answer, Result.fail(new ServiceAccountLimitReached({ limit: 50 })))
          else places.set(clientId, now)
        } else if (kind === "Activate") {
          if (typeof place === "number") places.set(clientId, "active")
          else assert.deepStrictEqual(answer, Result.fail(new IdentityProviderFailed()))
        } else places.delete(clientId)
        if (Result.isFailure(answer)) continue
        quota = answer.success.next
        assert.deepStrictEqual(answer.success.effects, [])
        assert.deepStrictEqual(
          [...quota.active, ...quota.reserved.keys()].toSorted(),
          alive()
            .map(([id]) => id)
            .toSorted()
        )
        assert.isTrue(quota.active.size + quota.reserved.size <= 50)
      }
    },
    often
  )

  it("the fiftieth fits, the fifty-first does not", () => {
    let quota = emptyQuota
    for (let i = 0; i < 50; i++)
      quota = Result.getOrThrow(transition(quota, { _tag: "Reserve", clientId: clientOf(i) }, 0)).next
    assert.isTrue(Result.isFailure(transition(quota, { _tag: "Reserve", clientId: clientOf(50) }, 599)))
    assert.isTrue(Result.isSuccess(transition(quota, { _tag: "Reserve", clientId: clientOf(50) }, 600)))
  })
})
