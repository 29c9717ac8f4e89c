import { ServiceAccountLimitReached } from "@catenet/domain/identity/AuthenticationErrors"
import { maxServiceAccounts, type Place, reservationSeconds, reserve } from "@catenet/domain/identity/ServiceAccount"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often } from "../values/history.ts"

const Event = Schema.Struct({
  kind: Schema.Literals(["reserve", "reserve", "reserve", "activate", "activate", "release"]),
  wait: between(0, 100),
  account: between(0, 20)
})
const active = (count: number): ReadonlyArray<Place> =>
  Array.from({ length: count }, (_, i) => ({ place: i + 1, reservedAt: null }))

describe("the places of service accounts", () => {
  it.prop(
    "fifty places are never exceeded, and lost reservations come back",
    [history(Event)],
    ([events]) => {
      assert.deepStrictEqual([maxServiceAccounts, reservationSeconds], [50, 600])
      let places: ReadonlyArray<Place> = active(45)
      let now = 0
      for (const { account, kind, wait } of events) {
        now += wait
        const holds = ({ reservedAt }: Place) => reservedAt === null || now - reservedAt < 600
        const held = places.filter(holds)
        const chosen = held.at(-1 - account)
        if (kind === "activate") {
          places = places.map((each) => (each === chosen ? { ...each, reservedAt: null } : each))
        } else if (kind === "release") places = places.filter((each) => each !== chosen)
        else {
          const answer = reserve(places, now)
          if (held.length >= 50) {
            assert.deepStrictEqual(answer, Result.fail(new ServiceAccountLimitReached({ limit: 50 })))
            continue
          }
          const reserved = Result.getOrThrow(answer)
          const taken = new Set(held.map(({ place }) => place))
          const free = Array.from({ length: 50 }, (_, i) => i + 1).filter((place) => !taken.has(place))
          assert.deepStrictEqual(reserved, { place: Math.min(...free), reservedAt: now })
          // As the store does it: a reservation that is too old gives its place back first.
          places = [...held, reserved]
          assert.isTrue(places.length <= 50)
        }
      }
    },
    often
  )

  it("the fiftieth fits, the fifty-first does not", () => {
    const places: Array<Place> = []
    for (let i = 0; i < 50; i++) places.push(Result.getOrThrow(reserve(places, 0)))
    assert.deepStrictEqual(
      places.map(({ place }) => place),
      active(50).map(({ place }) => place)
    )
    assert.isTrue(Result.isFailure(reserve(places, 599)))
    assert.isTrue(Result.isSuccess(reserve(places, 600)))
  })
})
