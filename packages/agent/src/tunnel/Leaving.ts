/** When a tunnel that this process serves is left, while the process goes on. */
import { Context, Effect, Exit, Fiber } from "effect"

/** Visitors go elsewhere once it has begun, and running visits take as long as they need. */
export class Departure {
  readonly #waiting = new Set<() => void>()
  #hasBegun = false

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  begin(): void {
    this.#hasBegun = true
    for (const begins of this.#waiting) begins()
    this.#waiting.clear()
  }

  /** Calls back when it begins, at once where it has begun. Returns how that is called off. */
  onBegin(begins: () => void): () => void {
    if (this.#hasBegun) begins()
    else this.#waiting.add(begins)
    return () => void this.#waiting.delete(begins)
  }
}

/** Interrupts it when the departure begins, in the only fiber that this takes. */
export const untilLeft = Effect.fnUntraced(function* <A, E, R>(leaving: Departure, self: Effect.Effect<A, E, R>) {
  const running = yield* Effect.forkChild(self)
  const callOff = leaving.onBegin(() => running.interruptUnsafe())
  const exit = yield* Fiber.await(running).pipe(
    Effect.onInterrupt(() => Fiber.interrupt(running)),
    Effect.ensuring(Effect.sync(callOff))
  )
  if (!leaving.hasBegun || !Exit.hasInterrupts(exit)) yield* exit
})

/** Never begins by default. */
export const Leaving = Context.Reference<Departure>("agent/tunnel/Registrar/Leaving", {
  defaultValue: () => new Departure()
})
