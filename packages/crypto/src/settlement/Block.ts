/**
 * A block of the settlement ledger (section 8.7): transfers in order, tied to the block before by its hash. A block is not
 * signed; its hash is checked when it is read.
 */
import { Result } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Integer from "../Integer.ts"
import * as Preimage from "../Preimage.ts"
import * as Reader from "../Reader.ts"
import { Malformed } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"
import * as Transfer from "./Transfer.ts"

/** A block; its hash is computed, never stored beside it. */
export interface Block {
  readonly height: bigint
  /** 32 bytes, zeros for the genesis block. */
  readonly previous: Uint8Array
  readonly transfers: ReadonlyArray<Transfer.Transfer>
}

/** The block every ledger begins with. */
export const genesis: Block = { height: 0n, previous: new Uint8Array(32), transfers: [] }

const fields = (block: Block) => [
  Integer.u64le(block.height),
  Preimage.fixed32(block.previous),
  Preimage.list(block.transfers, Transfer.encode)
]

/**
 * The hash of a block.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hex from "@catenet/crypto/Hex"
 * import * as Block from "@catenet/crypto/settlement/Block"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const expected = "7fc9ce6c43dd38a2ced6d102f6bc9a308ab866e600e8dac47e726d794df85b6f"
 * strictEqual(Hex.encode(Block.hash(portable, Block.genesis)), expected)
 * ```
 */
export const hash = (suite: Suite, block: Block): Uint8Array =>
  suite.sha256(Preimage.raw("ct-settlement-block-v1", ...fields(block)))

/**
 * The wire form: the fields, then the hash.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Block from "@catenet/crypto/settlement/Block"
 * import { portable } from "@catenet/crypto/portable"
 *
 * strictEqual(Block.encode(portable, Block.genesis).length, 8 + 32 + 4 + 32)
 * ```
 */
export const encode = (suite: Suite, block: Block): Uint8Array => Bytes.concat(...fields(block), hash(suite, block))

/**
 * Reads a wire form whose hash is that of its fields. The transfers' signatures are not verified.
 *
 * ```ts
 * import { deepStrictEqual, ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Block from "@catenet/crypto/settlement/Block"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const wire = Block.encode(portable, Block.genesis)
 * deepStrictEqual(Result.getOrThrow(Block.decode(portable, wire)), Block.genesis)
 * ok(Result.isFailure(Block.decode(portable, wire.fill(1, 0, 1))))
 * ```
 */
export const decode = (suite: Suite, bytes: Uint8Array): Result.Result<Block, Malformed> =>
  Result.flatMap(
    Reader.decode("block", bytes, (reader) => {
      const height = reader.u64le()
      const previous = reader.take(32)
      const transfers: Array<Transfer.Transfer> = []
      for (let left = reader.u32le(); left > 0; left--) transfers.push(Transfer.read(reader))
      return { block: { height, previous, transfers }, claimed: reader.take(32) }
    }),
    ({ block, claimed }) =>
      Bytes.equal(claimed, hash(suite, block))
        ? Result.succeed(block)
        : Result.fail(new Malformed({ record: "block", why: "the hash is not that of its fields" }))
  )
