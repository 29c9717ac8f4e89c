/** The cookie of a portal session: of this host alone, sent over TLS alone. */
export const sessionCookie = "__Host-ct_portal_session"
