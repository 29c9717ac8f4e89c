/**
 * `bigint` columns as JavaScript numbers. All of ours hold unix seconds, counts and identities, which stay far below
 * 2^53; a value beyond that is refused instead of rounded.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

const range = (value: bigint | number) =>
  new PgTypes.CodecError({ message: `int8 value ${value} does not fit a JavaScript number` })

const encode = (value: bigint | number): Result.Result<Uint8Array, PgTypes.CodecError> => {
  if (typeof value === "number" && !Number.isSafeInteger(value)) return Result.fail(range(value))
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value))
  return Result.succeed(bytes)
}

const decode = (bytes: Uint8Array): Result.Result<bigint | number, PgTypes.CodecError> => {
  const value = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigInt64(0)
  const number = Number(value)
  return Number.isSafeInteger(number) ? Result.succeed(number) : Result.fail(range(value))
}

/** The codecs of a connection whose `int8` are numbers. */
export const registry = (): PgTypes.Registry => {
  const types = PgTypes.makeRegistry()
  types.register<bigint | number>(PgTypes.OID.int8, { encode, decode }, { arrayOid: PgTypes.OID.int8Array })
  return types
}
