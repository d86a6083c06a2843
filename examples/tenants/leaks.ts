/** Words of a user: they name the tenant and the user, wherever they come up. */
export interface Canary {
  readonly scope: string;
  readonly user: string;
}

/** Bytes that the day left somewhere, and whose words may stand in them. */
export interface Artefact {
  readonly kind: "answer" | "stream" | "log line" | "metrics" | "key of Redis" | "file" | "call of the vendor";
  readonly name: string;
  readonly text: string;
  readonly mayHave: (found: Canary) => boolean;
}

const canary = /cnry-([a-z]+)-([a-z]+)-\d+/g;

export const canariesIn = (text: string): readonly Canary[] =>
  [...text.matchAll(canary)].map(([, scope = "", user = ""]) => ({ scope, user }));

/** The forms in which a secret may leave: plain, its beginning, escaped, in hexadecimal, in base64 at each of the three places where it may begin. */
export function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift, "x"), bytes])
      .toString("base64")
      .slice(shift === 0 ? 0 : 4, -4),
  );
  const escaped = [encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), bytes.toString("hex"), bytes.toString("base64url")];
  return [...new Set([secret.slice(0, 12), secret, ...escaped, ...shifted])];
}

/** One sentence for each artefact that has words of another one, or a secret in any form. */
export function leaksIn(artefacts: readonly Artefact[], secrets: readonly string[]): readonly string[] {
  const forms = secrets.flatMap(formsOf);
  return artefacts.flatMap(({ kind, name, text, mayHave }) => {
    const wrong = canariesIn(text).find((found) => !mayHave(found));
    const shown = forms.find((form) => text.includes(form));
    return [
      ...(wrong ? [`The ${kind} ${name} has words of ${wrong.user} in ${wrong.scope}.`] : []),
      ...(shown === undefined ? [] : [`The ${kind} ${name} has the secret ${shown}.`]),
    ];
  });
}
