/** Somebody who is signed in, reads pages and sends the forms on them. */
import { type As, headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { Effect } from "effect"

export interface Answered {
  readonly status: number
  readonly location: string | null
  readonly cookie: string | null
  readonly text: string
}

const answered = (response: Response) =>
  Effect.promise(async (): Promise<Answered> => ({
    status: response.status,
    location: response.headers.get("location"),
    cookie: response.headers.get("set-cookie"),
    text: await response.text()
  }))

/** One session for all requests, and one language. */
export const personAt = (as: As, language = "en") =>
  Effect.map(headersOf(as), (credentials) => ({ ...credentials, "accept-language": language })).pipe(
    Effect.map((own) => ({
      get: (path: string) =>
        Effect.flatMap(TestServer.raw(path, { headers: { accept: "text/html", ...own } }), answered),
      post: (path: string, form: Readonly<Record<string, string>>) =>
        Effect.flatMap(
          TestServer.raw(path, {
            method: "POST",
            headers: { "content-type": "application/x-www-form-urlencoded", ...own },
            body: new URLSearchParams(form).toString()
          }),
          answered
        )
    }))
  )

/** The forms of a page with this action. */
export const formsOf = (page: string, action: string): ReadonlyArray<string> =>
  page
    .split("<form")
    .slice(1)
    .map((form) => form.split("</form>")[0] ?? "")
    .filter((form) => form.includes(`action="${action}"`))

/** The token that the form with this action carries. */
export const tokenOf = (page: string, action: string): string =>
  /name="once" value="([0-9a-f]{32})"/u.exec(formsOf(page, action)[0] ?? "")?.[1] ?? ""
