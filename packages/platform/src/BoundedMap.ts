/**
 * A map of at most so many entries: of more, the one that was set longest ago is dropped. For what is cheap to find out again; where
 * there is a look-up behind it, `effect`'s `Cache` is. Which entry gives way is nobody's choice, so a map that several parties
 * fill needs fair shares instead if a dropped entry refuses or reveals something.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { BoundedMap } from "@catenet/platform/BoundedMap"
 *
 * const map = new BoundedMap<string, number>(2)
 * map.set("a", 1).set("b", 2).set("a", 3).set("c", 4)
 * assert.deepEqual([...map], [["a", 3], ["c", 4]])
 * ```
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number

  constructor(most: number) {
    super()
    this.#most = most
  }

  /** The entry stands last from now on, whether it was there or not. */
  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > this.#most) for (const oldest of this.keys()) return this.#drop(oldest)
    return this
  }

  #drop(key: Key): this {
    this.delete(key)
    return this
  }
}
