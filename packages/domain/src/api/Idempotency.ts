/** The `Idempotency-Key` header of creating POSTs: a repeated request is answered as the first one was. */
import { Schema } from "effect"
import { line } from "../values/Text.ts"

/** Scoped to the caller. Where the body has an `idempotency_key` too, the body's wins. */
export const idempotencyHeader = { "idempotency-key": Schema.optionalKey(line(255)) }
