/** True if an object of JSON has a name twice at its top: parsers do not agree on which of the two counts. */
export function hasRepeatedNames(json: string): boolean {
  const names = new Set<unknown>();
  let depth = 0;
  let before = "";
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/gs)) {
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    const isName = depth === 1 && token.startsWith('"') && (before === "{" || before === ",");
    if (isName) {
      const name: unknown = JSON.parse(token);
      if (names.has(name)) return true;
      names.add(name);
    }
    before = token;
  }
  return false;
}
