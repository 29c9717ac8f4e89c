import { type Asked, refusalOf } from "@catenet/domain/tunnels/PortAllotment"
import { assert, describe, it } from "@effect/vitest"

const asked: Asked = {
  protocol: "tcp",
  ranges: [
    [20_000, 20_009],
    [30_000, 30_000]
  ],
  wish: undefined,
  isWishTaken: false,
  held: 0,
  heldOfProtocol: 0,
  limit: 5,
  offered: 11,
  free: 11
}

describe("a public port", () => {
  const rows: ReadonlyArray<readonly [string, Partial<Asked>, string | undefined]> = [
    ["is allotted where there is one", {}, undefined],
    ["is refused where no edge offers any", { ranges: [], offered: 0, free: 0 }, "NoPortLeft"],
    ["is allotted up to the limit of the account", { held: 4, heldOfProtocol: 4 }, undefined],
    ["is refused at the limit, which counts both protocols", { held: 5, heldOfProtocol: 1 }, "PortLimitReached"],
    ["may be the first of a range", { wish: 20_000 }, undefined],
    ["may be the last of a range", { wish: 20_009 }, undefined],
    ["may be a range of one", { wish: 30_000 }, undefined],
    ["is refused below a range", { wish: 19_999 }, "PortRefused"],
    ["is refused above a range", { wish: 20_010 }, "PortRefused"],
    ["is refused where another tunnel has it", { wish: 20_000, isWishTaken: true }, "PortTaken"],
    ["is the account's while others can have as many", { held: 3, heldOfProtocol: 3, free: 4 }, undefined],
    ["is kept for accounts with fewer", { held: 3, heldOfProtocol: 3, free: 3 }, "NoPortLeft"],
    ["goes to an account without one to the last", { free: 1 }, undefined],
    ["is refused when none is free", { free: 0 }, "NoPortLeft"]
  ]
  for (const [title, given, refusal] of rows)
    it(title, () => assert.strictEqual(refusalOf({ ...asked, ...given })?._tag, refusal))

  it("is refused with the next step", () => {
    assert.strictEqual(
      refusalOf({ ...asked, protocol: "udp", ranges: [], offered: 0, free: 0 })?.detail,
      "No edge offers public UDP ports; the operator sets CT_EDGE_UDP_PORTS at an edge."
    )
    assert.strictEqual(
      refusalOf({ ...asked, wish: 22 })?.detail,
      "port must be one that edges offer: 20000-20009, 30000."
    )
  })
})
