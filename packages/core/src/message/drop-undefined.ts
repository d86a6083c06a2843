/** The members that have a value. A member of a fact, a state or an event without a value is left out, so that it costs no bytes. */
export function present<T extends object>(members: T): { readonly [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const kept: { [Name in keyof T]?: Exclude<T[Name], undefined> } = {};
  for (const name in members) if (members[name] !== undefined) kept[name] = members[name] as Exclude<T[typeof name], undefined>;
  return kept;
}
