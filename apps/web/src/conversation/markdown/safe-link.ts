const linkProtocols: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);
const pictureTypes = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[a-z0-9+/=]+$/i;

/** The address as a browser would read it, when a person may be led there: absolute, on the web or a mailbox; else `undefined`. */
export function safeLink(address: string): string | undefined {
  const url = URL.parse(address.trim());
  if (!url || !linkProtocols.has(url.protocol)) return undefined;
  // Names before the host make one address look like another.
  if (url.protocol !== "mailto:" && (url.username !== "" || url.password !== "")) return undefined;
  return url.href;
}

/**
 * The address of a picture that may be loaded without being asked for: bytes at hand (`data:`, `blob:`) and files of the own server.
 * Anything else would reveal to a third party when a page is read.
 */
export function safePicture(address: string, fileUrl: (blob: string) => string): string | undefined {
  const trimmed = address.trim();
  if (pictureTypes.test(trimmed)) return trimmed;
  const base = globalThis.document?.baseURI ?? "http://localhost/";
  const url = URL.parse(trimmed, base);
  const files = URL.parse(fileUrl("x"), base);
  if (!url || !files) return undefined;
  if (url.protocol === "blob:") return url.origin === files.origin ? url.href : undefined;
  const folder = files.href.slice(0, files.href.lastIndexOf("/") + 1);
  return url.href.startsWith(folder) && !/%2f|\.\./i.test(url.href.slice(folder.length)) ? url.href : undefined;
}
