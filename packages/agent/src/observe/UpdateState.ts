/** The state of updates, and its text in `/status`. */

export interface UpdateState {
  /** Version of this process. */
  current:
    | { readonly at: "off" | "checking" }
    | { readonly at: "scheduled"; readonly next: number }
    | { readonly at: "up-to-date" | "downloading"; readonly version: string }
    | { readonly at: "applied"; readonly version: string }
    | { readonly at: "check failed" | "apply failed"; readonly reason: string }
}

export const initial = (): UpdateState => ({ current: { at: "off" } })

/** The contract's texts. `now` in Unix milliseconds. */
export const describe = ({ current }: Readonly<UpdateState>, now: number): string => {
  switch (current.at) {
    case "scheduled":
      return `scheduled: next check in ${Math.max(0, Math.ceil((current.next - now) / 1000))}s`
    case "up-to-date":
      return `up-to-date (${current.version})`
    case "downloading":
      return `downloading ${current.version}`
    case "applied":
      return `applied ${current.version}, restarting`
    case "check failed":
    case "apply failed":
      return `${current.at}: ${current.reason}`
    default:
      return current.at
  }
}
