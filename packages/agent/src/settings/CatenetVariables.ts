/** Which variables are read by the programs of this house. */

/** Variables of these programs are never passed on, also when they are named. */
export const isOwn = (name: string): boolean => /^(?:CT_|OTEL_)/i.test(name)
