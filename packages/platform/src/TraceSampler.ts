/** Which traces are sent, by the samplers that OpenTelemetry's specification names. */
import { Option, Tracer } from "effect"
import type { samplers } from "./TelemetrySettings.ts"

export type Sampler = (typeof samplers)[number]

/** The last 56 bits of an id are random. */
const digits = 14

/** The same answer in every program that takes part in the trace, for the same ratio. */
const isWithin = (traceId: string, ratio: number) => {
  const random = Number.parseInt(traceId.slice(-digits), 16) / 16 ** digits
  return random >= 1 - ratio
}

/** The same tracer, which sends no others. */
export const sampling = (tracer: Tracer.Tracer, sampler: Sampler, ratio: number): Tracer.Tracer => {
  const isParentBased = sampler.startsWith("parentbased_")
  const kind = isParentBased ? sampler.slice("parentbased_".length) : sampler
  const span: Tracer.Tracer["span"] = (options) => {
    const given = (sampled: boolean) => tracer.span({ ...options, sampled })
    const parent = Option.getOrUndefined(options.parent)
    // A span below a parent that is not sent comes with `sampled: false` already.
    if (isParentBased && parent !== undefined) return tracer.span(options)
    if (kind !== "traceidratio") return given(kind === "always_on")
    if (parent !== undefined) return given(isWithin(parent.traceId, ratio))
    const root = given(true)
    return isWithin(root.traceId, ratio) ? root : given(false)
  }
  return Tracer.make({ ...tracer, span })
}
