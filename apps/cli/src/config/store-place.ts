import { resolve } from "node:path";
import { AgentError } from "@loopwright/core";
import { oneLine } from "../terminal/neutralise.ts";

/** Where sessions are kept. */
export type StorePlace =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "redis"; readonly url: string }
  | { readonly kind: "files"; readonly folder: string }
  | { readonly kind: "s3"; readonly bucket: string; readonly prefix: string };

const defaultFile = ".loopwright/sessions.db";

/**
 * The place that a text names: `redis://host`, `s3://bucket/prefix`, `file:folder`, `sqlite:file`, or the path of a SQLite file.
 * @throws AgentError CONFIG_INVALID; what may hold a password is not repeated
 */
export function storePlaceOf(text: string | undefined, directory: string): StorePlace {
  const named = text?.trim() ?? "";
  if (named === "" || named === "sqlite" || named === "sqlite:") return { kind: "sqlite", file: resolve(directory, defaultFile) };
  if (/^rediss?:/i.test(named)) return { kind: "redis", url: redisUrlOf(named, "the store") };
  if (/^s3:/i.test(named)) return bucketOf(named);
  if (/^file:/i.test(named)) return { kind: "files", folder: resolve(directory, pathIn(named, "file")) };
  if (/^sqlite:/i.test(named)) return { kind: "sqlite", file: resolve(directory, pathIn(named, "sqlite")) };
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(named)?.[1];
  if (scheme === undefined) return { kind: "sqlite", file: resolve(directory, named) };
  throw new AgentError("CONFIG_INVALID", {
    message: `No store is known by \`${oneLine(scheme, 20)}://\`.`,
    fix: "Name a SQLite file, `redis://host`, `file:folder` or `s3://bucket`, with `--store` or LOOPWRIGHT_STORE.",
  });
}

/** The path of `file:folder`, `file:/folder` or `file:///folder`. */
const pathIn = (text: string, scheme: string): string => text.slice(scheme.length + 1).replace(/^\/\/(?=\/)/, "");

function bucketOf(text: string): StorePlace {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/?#@]+)(?:\/([^?#]*))?$/i.exec(text) ?? [];
  if (bucket === "")
    throw new AgentError("CONFIG_INVALID", {
      message: "The store is no `s3://bucket` or `s3://bucket/prefix`.",
      fix: "Keys and endpoint come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL_S3.",
    });
  return { kind: "s3", bucket, prefix: path === "" || path.endsWith("/") ? path : `${path}/` };
}

/** A Redis address, as it was given. @throws AgentError CONFIG_INVALID, without the address: it may hold a password */
export function redisUrlOf(text: string, what: string): string {
  if (/^rediss?:\/\//i.test(text) && URL.canParse(text) && new URL(text).hostname !== "") return text;
  throw new AgentError("CONFIG_INVALID", {
    message: `The address of ${what} is not that of a Redis.`,
    fix: "Pass one such as `redis://localhost:6379`, or `rediss://user:password@host:6380`.",
  });
}

/** Whether several processes may use it at once. */
export const isShared = ({ kind }: StorePlace): boolean => kind !== "files";

/** The place for people, without user and password. */
export function storeText(place: StorePlace): string {
  switch (place.kind) {
    case "sqlite":
      return place.file;
    case "redis":
      return withoutSecret(place.url);
    case "files":
      return place.folder;
    case "s3":
      return `s3://${place.bucket}/${place.prefix}`;
    default:
      return place satisfies never;
  }
}

/** An address without user, password and query. */
export function withoutSecret(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}
