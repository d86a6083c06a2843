import type { Caller } from "@loopwright/server";

/** Headers that proxies add: the request came from elsewhere. */
const forwarded = ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"];

/** True for a caller of this machine whose request no proxy has passed on. */
export const isFromHere = ({ isLocal }: Caller, { headers }: Request): boolean => isLocal && !forwarded.some((name) => headers.has(name));
