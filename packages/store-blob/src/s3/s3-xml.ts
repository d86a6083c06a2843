import type { ListedObject, ObjectPage } from "../conditional-blobs.ts";

/** The objects of an answer to ListObjectsV2. */
export function readListing(xml: string): ObjectPage {
  const objects: ListedObject[] = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].flatMap(([, content = ""]) => {
    const [key, etag] = [elementOf(content, "Key"), elementOf(content, "ETag")];
    return key === undefined ? [] : [{ key, ...(etag === undefined ? {} : { etag }) }];
  });
  return { objects, hasMore: elementOf(xml, "IsTruncated") === "true" };
}

/** The code of an error, for example `SlowDown`; `undefined` for what is no error of S3. */
export function readErrorCode(xml: string): string | undefined {
  const code = elementOf(xml, "Code");
  return code !== undefined && /^[A-Za-z]{1,64}$/.test(code) ? code : undefined;
}

const entities: { readonly [name: string]: string } = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function elementOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>(.*?)</${name}>`, "s").exec(xml)?.[1];
  return text?.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (whole, entity: string) => {
    if (!entity.startsWith("#")) return entities[entity] ?? whole;
    const isHex = /^#x/i.test(entity);
    return String.fromCodePoint(Number.parseInt(entity.slice(isHex ? 2 : 1), isHex ? 16 : 10));
  });
}
