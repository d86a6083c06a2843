/** Identifies a session of a tenant. Both are ids (see `isId`); the log refuses anything else with INPUT_INVALID. */
export interface SessionRef {
  readonly scope: string;
  readonly session: string;
}

/** The shape of ids of sessions and scopes: safe in file names, URLs, keys and patterns. */
export const idPattern: RegExp = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** True for 1 to 64 of a-z, 0-9, `_` and `-`, beginning with a letter or digit. */
export const isId = (value: string): boolean => idPattern.test(value);

/** `<scope>/<session>`: a key for maps, unique per session. */
export const refKey = ({ scope, session }: SessionRef): string => `${scope}/${session}`;
