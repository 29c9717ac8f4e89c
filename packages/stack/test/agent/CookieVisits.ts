/** Visits pages as a browser without scripts does: keeps cookies, and goes where it is sent. */

export interface Page {
  readonly url: string
  readonly text: string
}

export type Visit = (url: string, form?: Readonly<Record<string, string>>) => Promise<Page>

/** A visitor without any cookie yet. A form is posted, and a redirect is followed by a GET. */
export const visitor = (): Visit => {
  const jar = new Map<string, string>()
  const visit: Visit = async (url, form) => {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) })
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      jar.set(name, value)
    }
    const location = response.headers.get("location")
    return location === null ? { url, text: await response.text() } : visit(new URL(location, url).href)
  }
  return visit
}
