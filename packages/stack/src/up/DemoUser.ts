/** The one person who can sign in to a fresh stack. The password is made on the first start. */
export const demoUser = { email: "demo@catenet.localhost", name: "Demo" } as const
