/** The twelve kinds of local events, in the order in which `/metrics` counts them, and what each of them carries. */

/** The fields of every kind besides its stamps. */
export interface Fields {
  readonly registered: {
    readonly edge: string
    readonly transport: string
    readonly carrier: string
    readonly hostname_bound: boolean
  }
  readonly registration_failed: { readonly error: string }
  readonly disconnected: { readonly reason: string }
  readonly transport_switch: { readonly from: string; readonly to: string }
  readonly fallback_exhausted: {}
  readonly direct_refused: { readonly reason: string }
  readonly channel_session: { readonly state: "open" | "close"; readonly peer: string }
  readonly bridge_call: { readonly tool: string; readonly ok: boolean }
  readonly manifest_install: { readonly status: "ok" | "rejected" | "failed" }
  readonly update_check: { readonly result: string }
  readonly update_applied: { readonly version: string }
  readonly credential_degraded: {}
}

export type EventKind = keyof Fields

export const eventKinds = [
  "registered",
  "registration_failed",
  "disconnected",
  "transport_switch",
  "fallback_exhausted",
  "direct_refused",
  "channel_session",
  "bridge_call",
  "manifest_install",
  "update_check",
  "update_applied",
  "credential_degraded"
] as const satisfies ReadonlyArray<EventKind>
