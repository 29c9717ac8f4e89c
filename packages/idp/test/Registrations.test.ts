/** How many applications may register themselves, and whose registration ends when there are too many. */
import { Scheduler } from "@catenet/platform/Scheduler"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { maxAgreed, maxRegistered, Registrations } from "../src/Applications.ts"

const before = { ...Scheduler }
let now = 0
beforeEach(() => {
  now = 0
  Object.assign(Scheduler, { monotonicMillis: () => now })
})
afterEach(() => void Object.assign(Scheduler, before))

const month = 30 * 86_400

/** Registers so many applications, and has time pass so that the rate of a network is no bound. */
const register = (registrations: Registrations, ids: ReadonlyArray<string>, from: (n: number) => string) => {
  for (const [n, id] of ids.entries()) {
    now += 3000
    registrations.add(id, { client_name: id }, from(n))
  }
}
const ids = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name}-${n}`)
const known = (registrations: Registrations, all: ReadonlyArray<string>) =>
  all.filter((id) => registrations.find(id) !== undefined).length

describe("applications that register themselves", () => {
  it("of one network fill all places, and another network still registers: the newest of the first gives way", () => {
    const registrations = new Registrations()
    const mine = ids(maxRegistered, "mine")
    register(registrations, mine, () => "192.0.2.1")
    assert.strictEqual(known(registrations, mine), maxRegistered)
    assert.throws(() => register(registrations, ["more"], () => "192.0.2.1"))
    assert.isUndefined(registrations.find("more"))
    register(registrations, ["other"], () => "198.51.100.1")
    assert.isDefined(registrations.find("other"))
    assert.deepStrictEqual(
      [known(registrations, mine), registrations.find(mine.at(-1) ?? "")],
      [maxRegistered - 1, undefined]
    )
  })

  it("of as many networks as there are places do not keep another network out: the oldest gives way", () => {
    const registrations = new Registrations()
    const all = ids(maxRegistered, "app")
    register(registrations, all, (n) => `network ${n}`)
    register(registrations, ["other"], () => "another network")
    assert.isDefined(registrations.find("other"))
    assert.deepStrictEqual([known(registrations, all), registrations.find("app-0")], [maxRegistered - 1, undefined])
    // A network that has one asks in vain for a second one.
    assert.throws(() => register(registrations, ["second"], () => "another network"))
    assert.strictEqual(known(registrations, all), maxRegistered - 1)
  })

  it("to which somebody has agreed stay, however many register after them", () => {
    const registrations = new Registrations()
    register(registrations, ["used"], () => "192.0.2.1")
    registrations.agreed("used", "ada", month)
    register(registrations, ids(maxRegistered + 10, "app"), (n) => `network ${n}`)
    assert.isDefined(registrations.find("used"))
  })

  it("that one account has agreed to leave a place to another account's", () => {
    const registrations = new Registrations()
    const agree = (id: string, account: string, seconds = 10 * month) => {
      register(registrations, [id], () => "192.0.2.1")
      registrations.agreed(id, account, seconds)
    }
    const mine = ids(maxAgreed, "mine")
    for (const id of mine) agree(id, "ada")
    assert.strictEqual(known(registrations, mine), maxAgreed)
    agree("other", "bob")
    assert.deepStrictEqual([known(registrations, mine), known(registrations, ["other"])], [maxAgreed - 1, 1])
    register(registrations, ids(maxRegistered, "app"), (n) => `network ${n}`)
    assert.isDefined(registrations.find("other"))
  })
})
