import { assert, describe, it } from "@effect/vitest"
import { AgentPlaces, limitsOf, maxPerTunnel, type Place } from "../../src/sessions/AgentPlaces.ts"

interface Named extends Place {
  readonly name: string
  readonly isClosed: () => boolean
}

const place = (name: string): Named => {
  let closed = false
  return { name, close: () => void (closed = true), isClosed: () => closed }
}

const many = (count: number, name = "place") => Array.from({ length: count }, (_, index) => place(`${name} ${index}`))

const of = (account: string, tunnel: string, isLast = false) => ({
  account,
  tunnel,
  goesLast: () => isLast
})

const closedOf = (places: ReadonlyArray<Named>) => places.filter((each) => each.isClosed()).map(({ name }) => name)

describe("places of agents' connections", () => {
  it("one tunnel has 64, whose oldest gives way; another tunnel of the account is served beside it", () => {
    const places = new AgentPlaces(limitsOf(4_096))
    const all = many(maxPerTunnel)
    for (const each of all) places.settle(each, of("a", "t"))
    assert.deepStrictEqual(closedOf(all), [])
    const next = place("next")
    places.settle(next, of("a", "t"))
    assert.deepStrictEqual(closedOf([...all, next]), ["place 0"])
    const other = place("other")
    places.settle(other, of("a", "u"))
    assert.deepStrictEqual(closedOf([...all, other]), ["place 0"])
  })

  it("the agent that owns the tunnel keeps its place before those that know the token alone", () => {
    const places = new AgentPlaces(limitsOf(4_096))
    const owner = place("owner")
    places.settle(owner, of("a", "t", true))
    const standbys = many(3 * maxPerTunnel)
    for (const each of standbys) places.settle(each, of("a", "t"))
    assert.isFalse(owner.isClosed())
    assert.strictEqual(places.size, maxPerTunnel)
    const owners = many(maxPerTunnel, "owner")
    for (const each of owners) places.settle(each, of("a", "t", true))
    assert.isTrue(owner.isClosed())
    const late = place("late")
    assert.isFalse(places.settle(late, of("a", "t")))
  })

  it("one account has half of all, and those of its largest tunnel give way to another of its tunnels", () => {
    const places = new AgentPlaces(limitsOf(8))
    const small = place("small")
    places.settle(small, of("a", "small"))
    const large = many(3, "large")
    for (const each of large) assert.isTrue(places.settle(each, of("a", "large")))
    assert.deepStrictEqual(closedOf([small, ...large]), [])
    const more = place("more")
    assert.isFalse(places.settle(more, of("a", "large")), "its own tunnel holds most")
    assert.isFalse(more.isClosed(), "the caller closes it")
    assert.isTrue(places.settle(place("next"), of("a", "third")))
    assert.deepStrictEqual(closedOf([small, ...large]), ["large 0"])
    const owner = place("owner")
    assert.isTrue(places.settle(owner, of("a", "large", true)))
    assert.deepStrictEqual(closedOf([small, ...large, owner]), ["large 0", "large 1"])
  })

  it("when all are taken, the account that holds most gives way to another, and its own newcomers are refused", () => {
    const places = new AgentPlaces(limitsOf(8))
    const most = many(4, "most")
    const fewer = many(3, "fewer")
    const one = place("one")
    for (const each of most) places.settle(each, of("a", each.name))
    for (const each of fewer) places.settle(each, of("b", "t"))
    places.settle(one, of("c", "v"))
    assert.isTrue(places.settle(place("newcomer"), of("d", "w")))
    assert.deepStrictEqual(closedOf([...most, ...fewer, one]), ["most 0"])
    assert.isFalse(places.settle(place("fourth"), of("b", "t")))
    assert.strictEqual(places.size, 8)
  })

  it("a tunnel whose account is not known may have all places that others do not need", () => {
    const places = new AgentPlaces(limitsOf(8))
    const all = many(8)
    for (const each of all) assert.isTrue(places.settle(each, of("t", "t")))
    assert.isFalse(places.settle(place("ninth"), of("t", "t")))
    assert.isTrue(places.settle(place("other"), of("u", "u")))
    assert.deepStrictEqual(closedOf(all), ["place 0"])
  })

  it("connections that have named no tunnel cost none of the others a place; the address that holds most gives way", () => {
    const places = new AgentPlaces(limitsOf(8))
    const named = many(8, "named")
    for (const each of named) places.settle(each, of(each.name, each.name))
    const honest = place("honest")
    places.enter(honest, "192.0.2.1")
    const flood = many(40, "flood")
    for (const each of flood) places.enter(each, "198.51.100.1")
    assert.deepStrictEqual(closedOf([...named, honest]), [])
    assert.strictEqual(places.size, 8 + 2)
    for (const each of [...flood, ...named]) places.remove(each)
    for (const each of flood) places.enter(each, "198.51.100.1")
    assert.strictEqual(places.size, 8)
    assert.isFalse(honest.isClosed())
  })
})
