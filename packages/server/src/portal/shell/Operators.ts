/** Who runs the platform: the accounts of the setting, by their subject or by their verified e-mail address. */
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import type { Email } from "@catenet/domain/values/Email"
import type { Subject } from "@catenet/domain/values/Subject"

export const among = (operators: ReadonlyArray<string> = []) => {
  const subjects = new Set(operators)
  const emails = new Set(operators.map(lowerAscii))
  return ({ email, subject }: { readonly subject: Subject; readonly email: Email | null }): boolean =>
    subjects.has(subject) || (email !== null && emails.has(lowerAscii(email)))
}
