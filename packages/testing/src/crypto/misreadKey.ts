/**
 * A key of one character that JSON escapes, as it stands in a text. V8 takes it for another one that it has just seen, so a
 * test that reads any keys with the runtime's reader leaves such texts out; `@catenet/crypto/Json` reads them right.
 */
export const misreadKey = /"\\(?:["\\bfnrt]|u[0-9a-f]{4})":/
