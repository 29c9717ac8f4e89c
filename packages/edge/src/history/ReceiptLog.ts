/**
 * The receipts of this edge: one hash chain per tunnel, signed with the edge's receipt key. The tip of a chain is its last stored
 * row, so that a killed process continues where it stopped.
 */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Receipt from "@catenet/crypto/receipt/Receipt"
import { Redacted, Result, Schema } from "effect"
import type { Database } from "../sqlite/SqliteDatabase.ts"

const TipRow = Schema.Struct({ seq: Schema.Int, hash: Schema.String })
const LineRow = Schema.Struct({ line: Schema.String })

export const make = (db: Database, edgeId: string, seed: Redacted.Redacted<Uint8Array>) => ({
  pubkey: Hex.encode(native.ed25519.publicKey(Redacted.value(seed))),
  /** Appends an event to the tunnel's chain; call it in the transaction that stores the event. */
  append: (tunnel: string, now: number, event: Receipt.Event): void => {
    const [last] = db.all(TipRow, "select seq, hash from receipts where tunnel = ? order by seq desc limit 1", tunnel)
    const tip = last === undefined ? Receipt.genesis : { seq: BigInt(last.seq), hash: last.hash }
    const chain = { edgeId, routingTokenHash: tunnel }
    const receipt = Result.getOrThrow(Receipt.append(native, seed, chain, tip, BigInt(now), event))
    db.run(
      "insert into receipts (tunnel, seq, ts, hash, line) values (?, ?, ?, ?, ?)",
      tunnel,
      Number(receipt.seq),
      now,
      receipt.hash,
      Receipt.json.write(receipt)
    )
  },
  /** Receipts after `since`, ascending, each as a line of an export. */
  page: (tunnel: string, since: number, limit: number): ReadonlyArray<string> =>
    db
      .all(LineRow, "select line from receipts where tunnel = ? and seq > ? order by seq limit ?", tunnel, since, limit)
      .map(({ line }) => line)
})

export type ReceiptLog = ReturnType<typeof make>
