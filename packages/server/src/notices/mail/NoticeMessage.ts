/**
 * The mail about an account's new notices: text and HTML, in the account's language, with the header fields of RFC 8058 by
 * which a mail program unsubscribes with one click. No header field holds what an account or a visitor wrote.
 */
import { markup } from "@catenet/platform/Markup"
import MailComposer from "nodemailer/lib/mail-composer"
import type { Notice } from "../Notices.ts"

/** The mail about notices, in German. */
const german: MailTexts = {
  subject: (count) => (count === 1 ? "Catenet: ein neuer Hinweis" : `Catenet: ${count} neue Hinweise`),
  heading: "Neues zu Ihrem Konto",
  kinds: {
    access: (name, who) => `${who} bittet um Zugang zu ${name}.`,
    claim: (name) => `Sie sind eingeladen, Mitglied des Kanals ${name.slice(0, 8)} zu werden.`,
    grant: (name, who) => `Die Erlaubnis von ${who.slice(0, 8)} für den Kanal ${name.slice(0, 8)} endet bald.`,
    certificate: (name) => `Für ${name} gibt es kein Zertifikat.`,
    down: (name) => `Besucher erreichen den Dienst von ${name} nicht.`
  },
  toNotices: "Alle Hinweise, und was sich tun lässt:",
  why: "Sie bekommen diese E-Mail, weil sie in Ihrem Konto eingeschaltet ist. Jeder Hinweis kommt einmal.",
  unsubscribe: "Keine solche E-Mail mehr:"
}

/** The mail about notices, in English. */
const english = {
  subject: (count: number) => (count === 1 ? "Catenet: one new notice" : `Catenet: ${count} new notices`),
  heading: "What is new for your account",
  kinds: {
    access: (name: string, who: string) => `${who} asks for access to ${name}.`,
    claim: (name: string) => `You are invited to become a member of the channel ${name.slice(0, 8)}.`,
    grant: (name: string, who: string) =>
      `The grant of ${who.slice(0, 8)} for the channel ${name.slice(0, 8)} is about to end.`,
    certificate: (name: string) => `There is no certificate for ${name}.`,
    down: (name: string) => `Visitors do not reach the service of ${name}.`
  },
  toNotices: "All notices, and what can be done:",
  why: "You get this mail because it is switched on in your account. You get each notice once.",
  unsubscribe: "No more mail like this:"
}

export type MailTexts = typeof english

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
