import { basename } from "node:path";
import type { LoopwrightClient } from "@loopwright/client";
import { AgentError, type UserMessage } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { localScope } from "../../compose/kept-sessions.ts";
import { oneLine } from "../../terminal/neutralise.ts";
import { mediaTypeOf } from "./media-type.ts";
import { readWhole } from "./read-whole.ts";

/** A file that `--attach` names. */
interface AttachedFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: string;
  readonly name: string;
}

/** The files of these paths. @throws AgentError INPUT_INVALID for one that cannot be read or is empty, PAYLOAD_TOO_LARGE */
async function filesAt(paths: readonly string[]): Promise<readonly AttachedFile[]> {
  return Promise.all(
    paths.map(async (path) => {
      const bytes = await readWhole(path);
      if (bytes.byteLength === 0)
        throw new AgentError("INPUT_INVALID", {
          message: `The file \`${oneLine(path, 200)}\` is empty.`,
          fix: "Attach one that holds something.",
        });
      return { bytes, mediaType: typeOf(path, bytes), name: basename(path) };
    }),
  );
}

/** By the ending of its name; source code and all else that is text has no ending of its own. */
function typeOf(path: string, bytes: Uint8Array): string {
  const known = mediaTypeOf(path);
  return known === "application/octet-stream" && isUtf8(bytes) ? "text/plain" : known;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    return !bytes.includes(0) && new TextDecoder("utf-8", { fatal: true }).decode(bytes) !== "";
  } catch {
    return false;
  }
}

/** The question with these files, which are kept in the store. @throws AgentError INPUT_INVALID, PAYLOAD_TOO_LARGE, MEDIA_TYPE_UNSUPPORTED, STORE_* */
export async function questionWithFiles(question: string, paths: readonly string[], store: SessionStore): Promise<string | UserMessage> {
  if (paths.length === 0) return question;
  const { attachFiles, keepFile } = await import("@loopwright/server");
  const keys: string[] = [];
  for (const file of await filesAt(paths)) keys.push((await keepFile(store, localScope, { ...file, at: Date.now(), by: localScope })).blob);
  return attachFiles(store, localScope, { content: question, keys });
}

/** Brings these files to a server; returns their keys. @throws AgentError INPUT_INVALID, PAYLOAD_TOO_LARGE, and what the server refuses */
export async function uploadedFiles(paths: readonly string[], client: LoopwrightClient): Promise<readonly string[]> {
  const keys: string[] = [];
  for (const { bytes, mediaType, name } of await filesAt(paths))
    keys.push((await client.uploadFile(new Blob([bytes], { type: mediaType }), name)).blob);
  return keys;
}
