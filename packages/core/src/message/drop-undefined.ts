/** The members that have a value. Facts, states and events leave out members without a value, to save bytes. */
export function present<T extends object>(members: T): { readonly [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const kept: { [Name in keyof T]?: Exclude<T[Name], undefined> } = {};
  for (const name in members) if (members[name] !== undefined) kept[name] = members[name] as Exclude<T[typeof name], undefined>;
  return kept;
}
