import { extname } from "node:path";

const mediaTypes: { readonly [extension: string]: string } = {
  ...{ ".txt": "text/plain", ".md": "text/markdown", ".markdown": "text/markdown", ".csv": "text/csv" },
  ...{ ".html": "text/html", ".htm": "text/html", ".json": "application/json", ".pdf": "application/pdf" },
  ...{ ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp" },
};

/** The media type of a file, by the ending of its name. */
export const mediaTypeOf = (path: string): string => mediaTypes[extname(path).toLowerCase()] ?? "application/octet-stream";
