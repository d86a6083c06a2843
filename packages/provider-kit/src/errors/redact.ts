/** Longest piece of a vendor's own text that an error carries, in characters. */
export const vendorTextMax = 500;

const removed = "[removed]";

/** What looks like a key wherever it stands: known prefixes, bearer tokens, `key=` in addresses, values masked with stars. */
const secretLike: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|hf|nvapi|r8|tvly|pplx|fw|csk|ghp|gho|AIza|ya29)[-_.]?[A-Za-z0-9][A-Za-z0-9_\-*.]{7,}/g,
  /\bbearer\s+[^\s"',;]+/gi,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)?/g,
  /([?&](?:key|api[-_]?key|access[-_]?token|token)=)[^\s&"']+/gi,
  /[^\s"']*\*{3,}[^\s"']*/g,
];

/** Shorter ones are words of the language, as `none` is: they are taken out only where they stand alone, and the shortest not at all. */
const verbatimMin = 8;
const secretMin = 4;

function withoutSecret(text: string, secret: string): string {
  if (secret.length < secretMin) return text;
  if (secret.length >= verbatimMin) return text.replaceAll(secret, removed);
  const literal = secret.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, "gu"), removed);
}

/** A vendor's own sentence without secrets, on one line, cut to `vendorTextMax`. `secrets` are taken out first, also in base64 and as in an address. */
export function vendorText(text: string, secrets: readonly string[] = []): string {
  // A page of a proxy may be megabytes: cut before the searches, with room for what they take out.
  let clean = text.slice(0, vendorTextMax * 4);
  for (const spelling of secrets.flatMap(spellingsOf)) clean = withoutSecret(clean, spelling);
  for (const pattern of secretLike) clean = clean.replace(pattern, (_, prefix) => (typeof prefix === "string" ? prefix : "") + removed);
  clean = clean.replace(/\s+/g, " ").trim();
  return clean.length > vendorTextMax ? `${clean.slice(0, vendorTextMax - 1)}…` : clean;
}

/** A secret as it is, in an address, and in base64: of its own, and as a part of a longer text, where it stands at one of three offsets. */
function spellingsOf(secret: string): readonly string[] {
  if (secret.length < verbatimMin) return [secret];
  const bytes = new TextEncoder().encode(secret);
  const encoded = [0, 1, 2].flatMap((offset) => {
    const text = btoa(String.fromCharCode(...new Uint8Array(offset), ...bytes)).replace(/=+$/, "");
    // The first characters hold bits of what stands before the secret, the last one of what stands behind it.
    const inner = text.slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + bytes.length) * 4) / 3));
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return [...new Set([secret, encodeURIComponent(secret), encodeURI(secret), ...encoded])];
}
