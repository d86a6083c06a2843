const space = /[\t\n\r ]*/y;
const token =
  /[{}[\],:]|"(?:[^"\\\p{Cc}]|[\u007F-\u009F]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy;

type Wanted = "value" | "value or ]" | "key" | "key or }" | "colon" | "comma or end" | "nothing";

/**
 * The index of the first token that makes a text invalid as JSON, or the length of the text when it ends too early. Computed here, because
 * `JSON.parse` gives no index for short texts.
 */
export function jsonErrorPlace(text: string): number {
  const open: string[] = [];
  let wanted: Wanted = "value";
  for (let at = 0; ; ) {
    space.lastIndex = at;
    at += space.exec(text)?.[0].length ?? 0;
    token.lastIndex = at;
    const found = token.exec(text)?.[0];
    const next: Wanted | undefined = found === undefined ? undefined : follow(found, wanted, open);
    if (found === undefined || next === undefined) return at;
    wanted = next;
    at += found.length;
  }
}

/** What may come after this token, or `undefined` when it may not be here. Keeps the list of open brackets. */
function follow(found: string, wanted: Wanted, open: string[]): Wanted | undefined {
  const afterValue = (): Wanted => (open.length === 0 ? "nothing" : "comma or end");
  const isKey = wanted === "key" || wanted === "key or }";
  const isValue = wanted === "value" || wanted === "value or ]";
  switch (found) {
    case "{":
    case "[":
      if (!isValue) return undefined;
      open.push(found);
      return found === "{" ? "key or }" : "value or ]";
    case "}":
    case "]":
      if (open.at(-1) !== (found === "}" ? "{" : "[")) return undefined;
      if (wanted !== "comma or end" && wanted !== (found === "}" ? "key or }" : "value or ]")) return undefined;
      open.pop();
      return afterValue();
    case ",":
      if (wanted !== "comma or end") return undefined;
      return open.at(-1) === "{" ? "key" : "value";
    case ":":
      return wanted === "colon" ? "value" : undefined;
    default:
      if (isKey) return found.startsWith('"') ? "colon" : undefined;
      return isValue ? afterValue() : undefined;
  }
}
