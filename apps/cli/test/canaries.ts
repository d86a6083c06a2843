import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { constants, inflateRawSync } from "node:zlib";

/** Bytes that a run left somewhere. */
export interface Artefact {
  readonly name: string;
  readonly bytes: Buffer;
}

/** The forms in which a secret may leave: plain, its beginning, escaped, in hexadecimal, in base64 at each of the three places where it may begin. */
export function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift, "x"), bytes]).toString("base64");
    const inside = text.slice(shift === 0 ? 0 : 4, -4);
    return [inside, inside.replaceAll("+", "-").replaceAll("/", "_")];
  });
  const hex = bytes.toString("hex");
  const escaped = [encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), hex, hex.toUpperCase()];
  return [...new Set([secret.slice(0, 12), secret, ...escaped, ...shifted])];
}

/** One sentence for each artefact that has a secret in any form, also compressed with gzip, wherever that begins. */
export function leaksIn(artefacts: readonly Artefact[], secrets: readonly string[]): readonly string[] {
  const forms = secrets.flatMap((secret) => formsOf(secret).map((form) => ({ secret, form })));
  return artefacts.flatMap(({ name, bytes }) => {
    const texts = [bytes.toString("latin1"), ...unpacked(bytes)];
    const found = forms.find(({ form }) => texts.some((text) => text.includes(form)));
    return found ? [`${name} has ${found.secret} as ${found.form}.`] : [];
  });
}

const gzipHead = Buffer.from([0x1f, 0x8b, 0x08]);

/** What the streams of gzip in these bytes hold, as far as they are whole. */
function unpacked(bytes: Buffer): readonly string[] {
  const texts: string[] = [];
  for (let at = bytes.indexOf(gzipHead); at !== -1; at = bytes.indexOf(gzipHead, at + 1))
    try {
      const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * 1024 * 1024 };
      texts.push(inflateRawSync(bytes.subarray(at + headLength(bytes, at)), options).toString("latin1"));
    } catch {
      // These three bytes began no stream.
    }
  return texts;
}

/** Of the head of a stream of gzip (RFC 1952): ten bytes, and a field, a name and a comment where its flags announce them. */
function headLength(bytes: Buffer, at: number): number {
  const flags = bytes[at + 3] ?? 0;
  let length = 10;
  if (flags & 4) length += 2 + bytes.readUInt16LE(at + length);
  for (const flag of [8, 16]) if (flags & flag) length = bytes.indexOf(0, at + length) + 1 - at;
  return flags & 2 ? length + 2 : length;
}

/** Every file of a folder and of those in it. */
export function filesIn(folder: string): readonly Artefact[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ name: path.slice(folder.length + 1), bytes: readFileSync(path) }));
}
