/**
 * A cursor over the bytes of a record. It throws `Malformed` on its way; `decode` is the
 * only entry and turns that into a failure, so nothing escapes.
 * @internal
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Integer from "@catenet/crypto/Integer"
import { Malformed } from "@catenet/crypto/SignedRecord"
import { Result } from "effect"

/** Reads the fields of one record in order. */
class ByteReader {
  readonly #record: string
  readonly #bytes: Uint8Array
  #at = 0

  constructor(record: string, bytes: Uint8Array) {
    this.#record = record
    this.#bytes = bytes
  }

  /** Ends the reading as malformed. */
  fail(why: string): never {
    throw new Malformed({ record: this.#record, why })
  }

  /** The next bytes, copied. */
  take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) this.fail("ends within a field")
    return Bytes.copy(this.#bytes, this.#at, (this.#at += length))
  }

  u64le(): bigint {
    return Integer.readU64le(this.take(8), 0)
  }

  /** All that is left. */
  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at)
  }

  /** Nothing may be left. */
  end(): void {
    if (this.#at < this.#bytes.length) this.fail("more bytes behind the record")
  }
}

/** What `read` makes of exactly these bytes. */
export const decode = <A>(
  record: string,
  bytes: Uint8Array,
  read: (reader: ByteReader) => A
): Result.Result<A, Malformed> => {
  try {
    const reader = new ByteReader(record, bytes)
    const value = read(reader)
    reader.end()
    return Result.succeed(value)
  } catch (error) {
    if (error instanceof Malformed) return Result.fail(error)
    throw error
  }
}
