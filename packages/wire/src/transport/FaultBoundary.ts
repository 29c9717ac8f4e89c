/**
 * The boundary around a connection: what one of its callbacks throws is reported and ends that connection. Beyond it is
 * only the event loop, where a throw ends the process and with it all other connections.
 */
import type { EventEmitter } from "node:events"

/** Takes what was thrown; it must not throw itself. */
export type OnFault = (error: unknown) => void

/** The callback, whose throw goes to `onFault`. For timers, handlers of promises, and callbacks of servers. */
export const guarded =
  <A extends ReadonlyArray<unknown>>(onFault: OnFault, callback: (...args: A) => void) =>
  (...args: A): void => {
    try {
      callback(...args)
    } catch (error) {
      onFault(error)
    }
  }

type Emit = (event: string | symbol, ...args: ReadonlyArray<unknown>) => boolean

/** Contains every listener of the emitter, also those that are added later. An `error` without a listener is a fault, too. */
export const guard = <E extends EventEmitter>(emitter: E, onFault: OnFault): E => {
  const emit: Emit = emitter.emit
  const guarded: Emit = (event, ...args) => {
    try {
      return emit.call(emitter, event, ...args)
    } catch (error) {
      onFault(error)
      return true
    }
  }
  return Object.assign(emitter, { emit: guarded })
}

const emitNothing: Emit = () => false

/**
 * For an emitter that has closed but may be kept for longer: it has no listeners any more, emits nothing, and keeps nothing of
 * what its boundary led to.
 */
export const silence = (emitter: EventEmitter): void => {
  emitter.removeAllListeners()
  Object.assign(emitter, { emit: emitNothing })
}
