/**
 * One error class a fact, rendered as RFC 9457 `application/problem+json`.
 *
 * The class holds the facts as typed fields; the sentence that a person reads (`detail`) is derived from them, so no
 * call site writes prose. Status and problem type are fixed by the declaration, never by an instance. This is the one
 * file of the package that asserts types: the factory returns a subclass that TypeScript cannot follow.
 */
import { Effect, Schema } from "effect"
import type { Cause } from "effect"
import type { HttpServerRespondable } from "effect/http"
import { HttpApiError } from "effect/http-api"

/** Prefix of every problem type of this platform; what follows is the tag in kebab case. */
const problemNamespace = "urn:catenet:problem:"

/**
 * The problem type URI of a tag.
 *
 * @example
 * ```ts
 * import { problemType } from "@catenet/domain/values/Problem"
 *
 * if (problemType("HostnameTaken") !== "urn:catenet:problem:hostname-taken") throw new Error("unexpected type")
 * ```
 */
export const problemType = (tag: string): string =>
  problemNamespace + tag.replace(/(?<=[a-z0-9])(?=[A-Z])/gu, "-").toLowerCase()

/** What is fixed for all instances of a problem: its HTTP status, its title, and how its sentence follows from the facts. */
export interface ProblemDeclaration<Status extends number, Facts> {
  readonly status: Status
  readonly title: string
  readonly detail: (facts: Facts) => string
}

/** Facts may not take the names of the standard members, nor those of `Error`. */
export type Facts = Schema.Struct.Fields & {
  readonly [
    Reserved in "type" | "status" | "title" | "detail" | "code" | "instance" | "name" | "message" | "stack" | "cause"
  ]?: never
}

type Members<
  Tag extends string,
  Status extends number,
  Fields extends Schema.Struct.Fields
> = HttpApiError.ProblemFields<
  string,
  Status,
  Fields & {
    readonly code: Schema.tag<Tag>
    readonly detail: Schema.withConstructorDefault<Schema.String>
  }
>

/** The class made by {@link Problem}: a yieldable error, a schema, and its declaration as statics. */
export interface ProblemClass<
  Self,
  Tag extends string,
  Status extends number,
  Fields extends Schema.Struct.Fields
> extends Schema.Class<
  Self,
  Schema.Struct<Members<Tag, Status, Fields>>,
  Cause.YieldableError & HttpServerRespondable.Respondable & { readonly _tag: Tag }
> {
  readonly tag: Tag
  readonly httpStatus: Status
  readonly problemType: string
}

/**
 * Declares a problem class. On the wire: `type`, `title`, `status`, `detail`, `code` (the tag) and the facts.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { Problem } from "@catenet/domain/values/Problem"
 *
 * class SeatTaken extends Problem<SeatTaken>()(
 *   "SeatTaken",
 *   { status: 409, title: "Seat taken", detail: ({ seat }) => `Seat ${seat} is taken.` },
 *   { seat: Schema.Int }
 * ) {}
 *
 * const error = new SeatTaken({ seat: 4 })
 * if (error.detail !== "Seat 4 is taken." || error.status !== 409) throw new Error("unexpected problem")
 * ```
 */
export const Problem =
  <Self>() =>
  <const Tag extends string, const Status extends number, const Fields extends Facts = {}>(
    tag: Tag,
    declaration: ProblemDeclaration<Status, Schema.Struct<Fields>["Type"]>,
    fields?: Fields
  ): ProblemClass<Self, Tag, Status, Fields> => {
    const type = problemType(tag)
    const Declared = HttpApiError.Problem<unknown>()(
      tag,
      { type, status: declaration.status, title: declaration.title },
      {
        ...fields,
        code: Schema.tag(tag),
        detail: Schema.String.pipe(Schema.withConstructorDefault(Effect.succeed("")))
      } as HttpApiError.ProblemExtensionFields
    ) as unknown as Constructor
    class Derived extends Declared {
      static readonly tag = tag
      static readonly httpStatus = declaration.status
      static readonly problemType = type
      constructor(facts: Schema.Struct<Fields>["Type"] & { readonly detail?: string }, options?: unknown) {
        // A problem whose facts are all optional is made without them.
        super({ ...facts, detail: facts?.detail ?? declaration.detail(facts ?? {}) }, options)
      }
    }
    return Derived as unknown as ProblemClass<Self, Tag, Status, Fields>
  }

type Constructor = new (members: object, options?: unknown) => object
