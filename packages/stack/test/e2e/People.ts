/** People of a running stack: accounts at its embedded provider, and what they call with an access token. */
import type { Stack } from "@catenet/testing/stack/e2e/Stack"

const provider = (stack: Stack) => `http://localhost:${stack.ports.identityProvider}`

const tokenOf = async (stack: Stack, form: Readonly<Record<string, string>>) => {
  const response = await fetch(`${provider(stack)}/realms/catenet/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams(form)
  })
  const { access_token } = (await response.json()) as { readonly access_token: string }
  return access_token
}

export const demo = (stack: Stack) => ({
  email: "demo@catenet.localhost",
  password: stack.secrets["demoPassword"] ?? ""
})

/** Another person, whose address the provider has verified. */
export const newcomer = async (stack: Stack, email: string) => {
  const bearer = await tokenOf(stack, {
    grant_type: "client_credentials",
    client_id: "catenet-manager",
    client_secret: stack.secrets["managerClientSecret"] ?? ""
  })
  const users = `${provider(stack)}/admin/realms/catenet/users`
  const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" }
  const made = await fetch(users, {
    method: "POST",
    headers,
    body: JSON.stringify({ username: email, email, emailVerified: true, enabled: true })
  })
  const password = "correct horse"
  const id = made.headers.get("location")?.split("/").at(-1)
  await fetch(`${users}/${id}/reset-password`, {
    method: "PUT",
    headers,
    body: JSON.stringify({ type: "password", value: password, temporary: false })
  })
  return { email, password }
}

/** An access token of the person who owns the demo tunnel. */
export const ownersToken = (stack: Stack) => {
  const { email, password } = demo(stack)
  return tokenOf(stack, { grant_type: "password", client_id: "admin-cli", username: email, password })
}

/** Calls of that person. */
export const owner = async (stack: Stack) => {
  const bearer = await ownersToken(stack)
  return async (method: string, path: string, body?: unknown): Promise<any> => {
    const response = await fetch(stack.url(path), {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    const text = await response.text()
    return text === "" ? undefined : JSON.parse(text)
  }
}
