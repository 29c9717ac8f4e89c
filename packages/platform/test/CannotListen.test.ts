import { assert, describe, it } from "@effect/vitest"
import { CannotListen } from "../src/CannotListen.ts"

const address = { host: "::1", port: 443 }
const said = (reason: string) => CannotListen.of("CT_X_LISTEN", address, new Error(reason)).message

describe("a listener that cannot open its address", () => {
  it("names the address, what the system says, and the variable that moves it", () => {
    assert.strictEqual(
      said("listen EADDRINUSE: address already in use ::1:443"),
      "[::1]:443 cannot be opened (listen EADDRINUSE: address already in use ::1:443); move it with CT_X_LISTEN."
    )
    assert.strictEqual(
      CannotListen.of("CT_X_LISTEN", address, "gone").message,
      "[::1]:443 cannot be opened (gone); move it with CT_X_LISTEN."
    )
  })

  it("says what mends a right that is missing, and a limit that is reached", () => {
    assert.match(
      said("listen EACCES: permission denied ::1:443"),
      /; give this program the right .*, or move it with CT_X/u
    )
    assert.match(
      said("listen EMFILE: too many open files ::1:443"),
      /; raise the limit .*ulimit.*, or move it with CT_X/u
    )
  })
})
