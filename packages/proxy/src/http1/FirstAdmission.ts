/** Whether a visitor's first request may go on, said once: by the login gate, or by the first byte that is forwarded. */
import { guarded, type OnFault } from "@catenet/wire/transport/FaultBoundary"

export class FirstAdmission {
  readonly #onFault: OnFault
  #admitted: (() => void) | undefined
  #verdict: "none" | "admitted" | "over" = "none"

  constructor(onFault: OnFault) {
    this.#onFault = onFault
  }

  /** Calls back once when it is admitted, and never when the visit is over before. */
  whenAdmitted(admitted: () => void): void {
    if (this.#verdict === "none") this.#admitted = admitted
    else if (this.#verdict === "admitted") admitted()
  }

  settle(isAdmitted: boolean): void {
    if (this.#verdict !== "none") return
    this.#verdict = isAdmitted ? "admitted" : "over"
    const admitted = this.#admitted
    this.#admitted = undefined
    // Not within the reading of the request: who serves it begins to read what was forwarded.
    if (isAdmitted && admitted !== undefined) queueMicrotask(guarded(this.#onFault, admitted))
  }
}
