/** True if a JSON object has duplicate keys at its top level: parsers differ in which of the values they take. */
export function hasDuplicateKeys(json: string): boolean {
  const keys = new Set<unknown>();
  let depth = 0;
  let before = "";
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/gs)) {
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    const isKey = depth === 1 && token.startsWith('"') && (before === "{" || before === ",");
    if (isKey) {
      const key: unknown = JSON.parse(token);
      if (keys.has(key)) return true;
      keys.add(key);
    }
    before = token;
  }
  return false;
}
