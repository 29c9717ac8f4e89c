/** Fields of forms with their labels and hints, and, where one was refused, the sentence that says why. */
import { type Markup, markup } from "@catenet/platform/Markup"
import { Option, Record } from "effect"
import type { Texts } from "../texts/English.ts"
import { type Icon, icon } from "./Icons.ts"

export interface Refused {
  /** What was typed. */
  readonly typed: string
  readonly reason: string
  /** Of several refused fields the first gets the focus. */
  readonly isFirst?: boolean
}

/** A form that was refused: its name on the page, what was typed, and the fields that were refused. */
export interface Sent {
  readonly form: string
  readonly fields: Readonly<Record<string, string | undefined>>
  readonly refused: ReadonlyArray<string>
}

/** What stands in the fields of one form: what was typed before it was refused, else what is so now. */
export const valuesOf =
  (texts: Texts, sent: Sent | undefined, form: string) =>
  (name: string, value = ""): { readonly name: string; readonly value: string; readonly refused?: Refused } => {
    if (sent?.form !== form) return { name, value }
    const typed = Option.getOrElse(Record.get(sent.fields, name), () => undefined) ?? ""
    if (!sent.refused.includes(name)) return { name, value: typed }
    const reasons: Readonly<Record<string, string>> = texts.reasons
    // The same name may mean something else on another form.
    const reason = Option.getOrElse(
      Option.orElse(Record.get(reasons, `${form} ${name}`), () => Record.get(reasons, name)),
      () => texts.reasonUnknown
    )
    return { name, value, refused: { typed, reason, isFirst: sent.refused[0] === name } }
  }

interface Labelled {
  readonly name: string
  readonly label: string
  /** Where the same name stands twice on a page. */
  readonly id?: string
  readonly hint?: string
  readonly refused?: Refused | undefined
}

const attributes = ({ hint, id, name, refused }: Labelled) => {
  const own = `field-${id ?? name}`
  const described = [
    ...(hint === undefined ? [] : [`${own}-hint`]),
    ...(refused === undefined ? [] : [`${own}-error`])
  ].join(" ")
  return {
    id: own,
    description: described === "" ? undefined : markup` aria-describedby="${described}"`,
    invalid:
      refused === undefined
        ? undefined
        : markup` aria-invalid="true"${refused.isFirst === false ? undefined : markup` autofocus`}`
  }
}

const around = (options: Labelled, control: Markup): Markup => {
  const { hint, label, refused } = options
  const { id } = attributes(options)
  return markup`<div class="field">
    <label for="${id}">${label}</label>
    ${hint === undefined ? undefined : markup`<span class="hint" id="${id}-hint">${hint}</span>`}
    ${control}
    ${refused === undefined ? undefined : markup`<p class="error" id="${id}-error">${refused.reason}</p>`}
  </div>`
}

export const field = (
  options: Labelled & {
    readonly type?: "text" | "url" | "number" | "email" | "time" | "datetime-local"
    readonly value?: string
    readonly isOptional?: boolean
  }
): Markup => {
  const { isOptional = false, name, refused, type = "text" } = options
  const { description, id, invalid } = attributes(options)
  return around(
    options,
    markup`<input id="${id}" name="${name}" type="${type}" value="${refused?.typed ?? options.value ?? ""}" autocomplete="off"${
      description
    }${isOptional ? undefined : markup` required`}${invalid}>`
  )
}

export const area = (
  options: Labelled & { readonly value?: string; readonly isOptional?: boolean; readonly longest?: number }
): Markup => {
  const { isOptional = false, longest, name, refused } = options
  const { description, id, invalid } = attributes(options)
  return around(
    options,
    markup`<textarea id="${id}" name="${name}" rows="4" spellcheck="false"${
      longest === undefined ? undefined : markup` maxlength="${String(longest)}"`
    }${description}${
      isOptional ? undefined : markup` required`
    }${invalid}>${refused?.typed ?? options.value ?? ""}</textarea>`
  )
}

export const choice = (
  options: Labelled & { readonly value?: string; readonly options: ReadonlyArray<readonly [string, string]> }
): Markup => {
  const { name, refused, value } = options
  const { description, id, invalid } = attributes(options)
  const chosen = refused?.typed ?? value
  return around(
    options,
    markup`<select id="${id}" name="${name}"${description}${invalid}>${options.options.map(
      ([option, text]) =>
        markup`<option value="${option}"${option === chosen ? markup` selected` : undefined}>${text}</option>`
    )}</select>`
  )
}

export const checkbox = (options: {
  readonly name: string
  readonly label: string
  readonly isChecked?: boolean
  readonly refused?: Refused | undefined
  /** The sentence of a group of boxes, where it stands beside the group. */
  readonly sentence?: string
}) => {
  const { id, invalid } = attributes(options)
  const { isChecked, label, name, refused, sentence } = options
  return markup`<p><label><input type="checkbox" name="${name}" value="1"${
    isChecked === true ? markup` checked` : undefined
  }${refused === undefined ? undefined : markup` aria-describedby="${sentence ?? `${id}-error`}"`}${invalid}> ${label}</label></p>${
    refused === undefined || sentence !== undefined
      ? undefined
      : markup`<p class="error" id="${id}-error">${refused.reason}</p>`
  }`
}

/** A checkbox that is one control: with the script it sends its form by itself, without it the button does. */
export const switchForm = (options: {
  readonly action: string
  readonly label: string
  readonly hint: string
  readonly isOn: boolean
  readonly save: string
}): Markup => {
  const id = `switch-${options.action.split("/").at(-1)}`
  return markup`<form class="setting" method="post" action="${options.action}"><div><label for="${id}"><b>${options.label}</b></label><p class="hint">${options.hint}</p></div>
    <span class="row nowrap"><input class="switch" type="checkbox" role="switch" id="${id}" name="enabled" value="1"${
      options.isOn ? markup` checked` : undefined
    }><button>${options.save}<span class="hidden"> (${options.label})</span></button></span></form>`
}

/** A part of a panel that shows its value in a line and opens on demand. */
export const more = (
  title: string,
  value: string | undefined,
  body: Markup,
  { id, isOpen = false }: { readonly id?: string; readonly isOpen?: boolean } = {}
): Markup =>
  markup`<details class="more"${id === undefined ? undefined : markup` id="${id}"`}${isOpen ? markup` open` : undefined}><summary>${icon("right")}<span>${title}</span>${
    value === undefined ? undefined : markup`<span class="value">${value}</span>`
  }</summary><div>${body}</div></details>`

/** A panel with a sentence below its title, and what stands at the right of them. */
export const section = (
  title: string,
  body: Markup,
  {
    aside,
    id,
    kind = "",
    lead
  }: { readonly aside?: Markup | undefined; readonly id?: string; readonly kind?: string; readonly lead?: string } = {}
): Markup =>
  markup`<section class="panel${kind === "" ? "" : ` ${kind}`}"${id === undefined ? undefined : markup` id="${id}"`}><header><div><h2>${title}</h2>${
    lead === undefined ? undefined : markup`<p class="soft small">${lead}</p>`
  }</div>${aside}</header>${body}</section>`

/** One sentence that asks for attention. */
export const callout = (kind: "info" | "good" | "warn" | "bad", sign: Icon, body: Markup, action?: Markup): Markup =>
  markup`<div class="callout ${kind}">${icon(sign)}<div>${body}</div>${action}</div>`

/** A button of a row: a word for those who see the row, and a name that says what it acts on for those who do not. */
export const named = (text: string, name: string, kind?: "danger"): Markup =>
  markup`<button${kind === undefined ? undefined : markup` class="${kind}"`} aria-label="${name}">${text}</button>`

/** A form of one button; `name` where its text does not say what it acts on. */
export const button = (action: string, text: string, kind?: "danger" | "plain", name?: string): Markup =>
  markup`<form method="post" action="${action}"><button${kind === undefined ? undefined : markup` class="${kind}"`}${
    name === undefined ? undefined : markup` aria-label="${name}"`
  }>${text}</button></form>`

export const panel = (title: string, body: Markup, id?: string): Markup =>
  markup`<section class="panel"${id === undefined ? undefined : markup` id="${id}"`}><header><h2>${title}</h2></header><div class="pad">${body}</div></section>`

/** Links that change the page; the current one is `here`. */
export const tabs = (
  label: string,
  here: string,
  links: ReadonlyArray<readonly [href: string, text: string]>
): Markup =>
  markup`<nav class="tabs" aria-label="${label}">${links.map(
    ([href, text]) => markup`<a href="${href}"${href === here ? markup` aria-current="page"` : undefined}>${text}</a>`
  )}</nav>`

/** The pages of what happens to an account's tunnels. */
export const activityTabs = (texts: Texts, here: string): Markup =>
  tabs(texts.fleet, here, [
    ["/portal/fleet", texts.tunnels],
    ["/portal/fleet?tab=events", texts.events],
    ["/portal/notices", texts.notices],
    ["/portal/usage", texts.usage]
  ])
