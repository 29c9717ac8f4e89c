/**
 * The mail about an account's new notices: text and HTML, in the account's language, with the header fields of RFC 8058 by
 * which a mail program unsubscribes with one click. No header field holds what an account or a visitor wrote.
 */
import { markup } from "@catenet/platform/Markup"
import MailComposer from "nodemailer/lib/mail-composer"
import type { Notice } from "../Notices.ts"
import { english, type MailTexts } from "./EnglishMail.ts"
import { german } from "./GermanMail.ts"

export interface NoticeMail {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly language: "en" | "de"
  readonly notices: ReadonlyArray<Notice>
  /** The origin of the portal. */
  readonly portal: string
  /** Where the mail is switched off. */
  readonly unsubscribe: string
}

/** Lines of a mail; the page has them all. */
const maxLines = 20

/** Text in one line: what others wrote begins no line of its own. */
const oneLine = (text: string) =>
  text
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, 200)

const sentenceOf = ({ kinds }: MailTexts, { kind, name, who }: Notice) => kinds[kind](oneLine(name), oneLine(who ?? ""))

/** The message as it is sent. */
export const compose = async (mail: NoticeMail): Promise<Buffer> => {
  const { from, id, language, notices, portal, to, unsubscribe } = mail
  const texts = language === "de" ? german : english
  const sentences = notices.slice(0, maxLines).map((notice) => sentenceOf(texts, notice))
  const page = `${portal}/portal/notices`
  const text = [
    texts.heading,
    "",
    ...sentences.map((sentence) => `- ${sentence}`),
    ...(notices.length > maxLines ? ["- …"] : []),
    "",
    `${texts.toNotices} ${page}`,
    "",
    texts.why,
    `${texts.unsubscribe} ${unsubscribe}`,
    ""
  ].join("\n")
  const html = markup`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><title>${texts.subject(notices.length)}</title></head>
<body><h1>${texts.heading}</h1>
<ul>${sentences.map((sentence) => markup`<li>${sentence}</li>`)}${notices.length > maxLines ? markup`<li>…</li>` : undefined}</ul>
<p>${texts.toNotices} <a href="${page}">${page}</a></p>
<p>${texts.why}<br>${texts.unsubscribe} <a href="${unsubscribe}">${unsubscribe}</a></p></body></html>
`.text
  return await new MailComposer({
    from: { name: "Catenet", address: from },
    to: { name: "", address: to },
    subject: texts.subject(notices.length),
    messageId: `<${id}@${from.slice(from.lastIndexOf("@") + 1)}>`,
    headers: {
      "Auto-Submitted": "auto-generated",
      "Content-Language": language,
      // In one line: a mail program may take the first part of a folded address for the whole.
      "List-Unsubscribe": { prepared: true, foldLines: false, value: `<${unsubscribe}>` },
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"
    },
    text,
    html,
    disableFileAccess: true,
    disableUrlAccess: true
  })
    .compile()
    .build()
}
