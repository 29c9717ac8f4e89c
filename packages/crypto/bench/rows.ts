/** What the signing and sealing costs: every figure for both suites, measured in turn, native as a multiple of portable. */
import { native } from "../src/native.ts"
import { portable } from "../src/portable.ts"
import { compare, type Row } from "./interleaved.ts"
import * as noise from "./noise.ts"
import * as records from "./records.ts"

const suites = { portable, native }

/** Takes some ten seconds of one core. */
export const rows = async (): Promise<ReadonlyArray<Row>> =>
  [...noise.contests(suites), ...records.contests(suites)].flatMap(compare)
